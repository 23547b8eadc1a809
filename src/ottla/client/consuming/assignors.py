"""`partition.assignment.strategy`: the assignors a consumer offers its group, built-in and of the user's own.

A strategy is a list of names (`range`, `roundrobin`, `sticky`, `cooperative-sticky`, or the names of Java's
classes) and of objects with an assignor of the user's:

    class EverythingToTheFirst:
        name = "first"                      # all members of the group must offer this name
        cooperative = False                 # optional: whether members keep what they own while they rejoin

        def assign(self, partition_counts, subscriptions):
            first = min(subscriptions)
            return {first: [TopicPartition(t, p) for t, n in partition_counts.items() for p in range(n)]}

        def user_data(self, topics):        # optional: bytes that the leader finds in its subscription
            return None

The leader of the group, which the coordinator chooses, calls `assign`. What it returns is checked before
it goes to the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ottla.assignors.subscription import Subscription
from ottla.client.errors import IllegalState, InvalidConfig
from ottla.client.membership_classic import ASSIGNORS, OwnAssignor
from ottla.model.types import TopicPartition

__all__ = ["ASSIGNORS", "JAVA_CLASSES", "Strategy", "Subscription", "resolve"]

_PACKAGE: Final = "org.apache.kafka.clients.consumer."
JAVA_CLASSES: Final[Mapping[str, str]] = {
    f"{_PACKAGE}RangeAssignor": "range",
    f"{_PACKAGE}RoundRobinAssignor": "roundrobin",
    f"{_PACKAGE}StickyAssignor": "sticky",
    f"{_PACKAGE}CooperativeStickyAssignor": "cooperative-sticky",
}
"""The built-in assignors under the names that a configuration for Java has."""


class Strategy(NamedTuple):
    names: tuple[str, ...]
    own: Mapping[str, OwnAssignor]
    """Those among the names that are not built in."""


def resolve(assignors: Sequence[Any] | str) -> Strategy:
    """The strategy that a setting means; InvalidConfig where it means none."""
    given = assignors.split(",") if isinstance(assignors, str) else list(assignors)
    names: list[str] = []
    own: dict[str, OwnAssignor] = {}
    for each in given:
        if isinstance(each, str):
            name = JAVA_CLASSES.get(each.strip(), each.strip())
            if name not in ASSIGNORS:
                raise InvalidConfig(
                    f"partition.assignment.strategy: there is no assignor {each!r} (built in: "
                    f"{', '.join(ASSIGNORS)}; or give an object with a name and an assign method)"
                )
        else:
            adapted = _Adapted(each)
            name = adapted.name
            if name in ASSIGNORS or name in own:
                raise InvalidConfig(f"partition.assignment.strategy: the name {name!r} is taken")
            own[name] = adapted
        if name not in names:
            names.append(name)
    if not names:
        raise InvalidConfig("partition.assignment.strategy: name at least one assignor")
    return Strategy(tuple(names), own)


class _Adapted:
    """A user's assignor, with what it may leave out filled in and its results checked."""

    def __init__(self, assignor: Any) -> None:
        name = getattr(assignor, "name", None)
        if not isinstance(name, str) or not name or not callable(getattr(assignor, "assign", None)):
            raise InvalidConfig(
                f"partition.assignment.strategy: {assignor!r} is neither a name nor an object with a name "
                "and an assign method"
            )
        self.name = name
        self.cooperative = bool(getattr(assignor, "cooperative", False))
        self._assignor = assignor

    def user_data(self, topics: frozenset[str]) -> bytes | None:
        make = getattr(self._assignor, "user_data", None)
        data = make(topics) if callable(make) else None
        if data is not None and not isinstance(data, bytes):
            raise IllegalState(
                f"the assignor {self.name!r} gave {type(data).__name__} as user data: give bytes"
            )
        return data

    def assign(
        self, partition_counts: Mapping[str, int], members: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        given = self._assignor.assign(dict(partition_counts), dict(members))
        if not isinstance(given, Mapping):
            raise IllegalState(f"the assignor {self.name!r} has to return partitions by member id")
        result: dict[str, list[TopicPartition]] = {member_id: [] for member_id in members}
        owner: dict[TopicPartition, str] = {}
        for member_id, partitions in given.items():
            if member_id not in result:
                raise IllegalState(
                    f"the assignor {self.name!r} named the member {member_id!r}, who is not there"
                )
            for tp in _partitions(partitions):
                if not 0 <= tp.partition < partition_counts.get(tp.topic, 0):
                    raise IllegalState(f"the assignor {self.name!r} assigned {tp}, which does not exist")
                if tp in owner:
                    raise IllegalState(
                        f"the assignor {self.name!r} gave {tp} to {owner[tp]!r} and to {member_id!r}"
                    )
                owner[tp] = member_id
                result[member_id].append(tp)
        return result


def _partitions(given: Iterable[Any]) -> Iterable[TopicPartition]:
    for each in given:
        yield TopicPartition(*each)
