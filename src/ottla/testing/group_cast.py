"""One simulated group and its members: who is in it, who is added, who dies, and what it should be reading.

A group has a kind for its whole life: members of `classic` and `consumer` ones keep to one protocol, those of
`mixed` ones come with either, which moves the group from the one to the other and back while it works.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from ottla.model.types import TopicPartition
from ottla.testing.classic_member import ClassicMember
from ottla.testing.consumer_member import ConsumerMember

Member = ClassicMember | ConsumerMember

KINDS: Final = ("classic", "classic", "consumer", "consumer", "mixed")

ASSIGNORS: Final = (
    ("range",),
    ("roundrobin",),
    ("sticky",),
    ("cooperative-sticky",),
    ("cooperative-sticky",),
    ("cooperative-sticky", "range"),
)

REGEXES: Final = ("orders|clicks.*", "[a-z]+(-[0-9]+)?", "(orders|late).*")


class GroupCast:
    def __init__(self, client: tuple[Any, ...], books: Any, name: str, kind: str) -> None:
        """`client` is what every simulated client gets: network, clock, address, ledger, report."""
        self.network, self.clock, self.address, self.ledger, self.report = client
        self.random = self.network.scheduler.random
        self.books = books
        self.name = name
        self.kind = kind
        self.members: list[Member] = []
        """Those that are alive, or think so."""
        self.assignors = self.random.choice(ASSIGNORS)
        if kind == "mixed":
            # Without user data, which only the client's own leader could read.
            self.assignors = self.random.choice((("range",), ("roundrobin",), ("range", "roundrobin")))
        self.server_assignor = self.random.choice((None, "uniform", "range"))
        self._number = 0
        self._free_instances: list[str] = []
        """Static names whose process is gone."""
        self._topics_of: dict[str, list[str]] = {}
        """What a static name subscribes to: a classic group takes its member back without a rebalance, and
        would not notice that it wants something else now (KIP-345)."""

    def prune(self) -> None:
        for member in self.members:
            if member.over and member.instance_id is not None:
                self._free_instances.append(member.instance_id)
        self.members = [member for member in self.members if not member.over]

    def add(self, topics: Iterable[str]) -> Member:
        """A new process; perhaps one that comes back under the name of a static member."""
        self.prune()
        rng = self.random
        self._number += 1
        name = f"{self.name}/m{self._number}"
        instance_id = None
        if self._free_instances and rng.random() < 0.8:
            instance_id = self._free_instances.pop(rng.randrange(len(self._free_instances)))
            self.report["static_returns"] += 1
        elif rng.random() < 0.3:
            instance_id = f"{self.name}-static-{self._number}"
        arguments = (
            *(self.network, self.clock, self.address, name, self.ledger, self.report),
            *(self.books, self.name),
        )
        wanted = [topic for topic in topics if rng.random() < 0.9] or list(topics)
        if instance_id is not None:
            wanted = self._topics_of.setdefault(instance_id, wanted)
        newer = self.kind == "consumer" or (self.kind == "mixed" and rng.random() < 0.5)
        member: Member
        if newer:
            regex = rng.choice(REGEXES) if rng.random() < 0.2 else None
            if regex is not None:
                self.report["regex_subscriptions"] += 1
            member = ConsumerMember(
                *arguments,
                topics=[] if regex is not None else wanted,
                regex=regex,
                assignor=self.server_assignor,
                instance_id=instance_id,
                rebalance_timeout_ms=rng.choice((2_000, 5_000)),
            )
        else:
            member = ClassicMember(
                *arguments,
                topics=wanted,
                assignors=self.assignors,
                instance_id=instance_id,
                session_timeout_ms=rng.choice((1_500, 3_000)),
                rebalance_timeout_ms=rng.choice((2_000, 5_000)),
                pure=self.kind == "classic",
            )
        self.members.append(member)
        return member

    def double(self, member: Member) -> Member | None:
        """Another process under the name of a static member that is still there."""
        if member.instance_id is None:
            return None
        self._free_instances.append(member.instance_id)
        return self.add(member.topics or ["orders"])

    def expected(self, partition_counts: Mapping[str, int]) -> set[TopicPartition]:
        """What the living members have to read between them."""
        wanted: set[str] = set()
        for member in self.members:
            wanted.update(member.topics)
            if isinstance(member, ConsumerMember) and member.regex is not None:
                wanted.update(topic for topic in partition_counts if re.fullmatch(member.regex, topic))
        return {
            TopicPartition(topic, index)
            for topic in wanted
            for index in range(partition_counts.get(topic, 0))
        }

    def owned(self) -> list[TopicPartition]:
        """What the living members believe to own; more than once where two do."""
        return [
            tp
            for member in self.members
            for tp in member.positions
            if tp.topic not in self.books.deleted_topics
        ]
