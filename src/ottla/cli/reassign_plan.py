"""Plans of reassignments: Kafka's JSON form of them, and making one that moves as little as possible.

Pure. `make_plan` keeps every replica that may stay. What has to go is replaced, and what is missing added, by
the broker that leaves the partition best spread (over hosts first, then over racks) and holds least. Where it
is asked to balance, replicas then move from the fullest broker to the emptiest as long as that evens them out
and spreads no partition worse; last, the preferred leaders are evened out by reordering, which copies
nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ottla.model.types import TopicPartition

Replicas = tuple[int, ...]
ANY_DIR: Final = "any"


class BadPlan(ValueError):
    """The plan cannot be read, or cannot be made. The message is one line."""


class Place(NamedTuple):
    """Where a broker stands."""

    host: str
    rack: str | None = None


class Plan(NamedTuple):
    replicas: dict[TopicPartition, Replicas]
    log_dirs: dict[tuple[TopicPartition, int], str]
    """The directory of a replica, where the plan names one."""


# -- Kafka's form


def plan_from_json(text: str) -> Plan:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise BadPlan(f"the plan is not JSON: {error}") from None
    if not isinstance(document, dict) or not isinstance(document.get("partitions"), list):
        raise BadPlan(
            'a plan looks like {"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1]}]}'
        )
    if document.get("version", 1) != 1:
        raise BadPlan(f"Not supported version field value {document['version']}")
    replicas: dict[TopicPartition, Replicas] = {}
    log_dirs: dict[tuple[TopicPartition, int], str] = {}
    for item in document["partitions"]:
        tp, ids = _partition_of(item)
        if tp in replicas:
            raise BadPlan(f"Partition reassignment contains duplicate topic partitions: {tp}")
        if len(set(ids)) != len(ids):
            raise BadPlan(f"Partition replica lists may not contain duplicate entries: {tp} has {ids}")
        if not ids:
            raise BadPlan(f"Partition replica list cannot be empty: {tp}")
        directories = item.get("log_dirs") or [ANY_DIR] * len(ids)
        if not isinstance(directories, list) or len(directories) != len(ids):
            raise BadPlan(
                f"Size of replicas list {ids} is different from size of log dirs list {directories} for "
                f"partition {tp}"
            )
        replicas[tp] = tuple(ids)
        for node, directory in zip(ids, directories, strict=True):
            if directory != ANY_DIR:
                log_dirs[tp, node] = str(directory)
    if not replicas:
        raise BadPlan("Partition reassignment list cannot be empty")
    return Plan(replicas, log_dirs)


def _partition_of(item: Any) -> tuple[TopicPartition, list[int]]:
    if isinstance(item, dict):
        topic, partition, ids = item.get("topic"), item.get("partition"), item.get("replicas")
        if (
            isinstance(topic, str)
            and isinstance(partition, int)
            and isinstance(ids, list)
            and all(isinstance(node, int) and not isinstance(node, bool) for node in ids)
        ):
            return TopicPartition(topic, partition), ids
    raise BadPlan(f"{json.dumps(item)} is no partition with its topic, partition and replicas")


def topics_from_json(text: str) -> list[str]:
    """The topics of a `--topics-to-move-json-file`."""
    try:
        document = json.loads(text)
        names = [item["topic"] for item in document["topics"]]
    except (ValueError, KeyError, TypeError):
        raise BadPlan(
            'the list of topics looks like {"topics":[{"topic":"a"},{"topic":"b"}],"version":1}'
        ) from None
    if document.get("version", 1) != 1:
        raise BadPlan(f"Not supported version field value {document['version']}")
    if len(set(names)) != len(names):
        twice = sorted(name for name, count in Counter(names).items() if count > 1)
        raise BadPlan(f"List of topics to reassign contains duplicate entries: {','.join(twice)}")
    return names


def plan_to_json(
    replicas: Mapping[TopicPartition, Sequence[int]], log_dirs: Mapping[tuple[TopicPartition, int], str]
) -> str:
    """In the order and without the blanks of Kafka's tool."""
    partitions = [
        {
            "topic": tp.topic,
            "partition": tp.partition,
            "replicas": list(replicas[tp]),
            "log_dirs": [log_dirs.get((tp, node), ANY_DIR) for node in replicas[tp]],
        }
        for tp in sorted(replicas)
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


# -- making one


def make_plan(
    current: Mapping[TopicPartition, Sequence[int]],
    brokers: Mapping[int, Place],
    *,
    replication_factor: int | None = None,
    balance: bool = False,
) -> dict[TopicPartition, Replicas]:
    """The partitions that change, with their new replicas on `brokers`."""
    if not brokers:
        raise BadPlan("there is no broker to put replicas on")
    wanted = {tp: replication_factor or len(nodes) for tp, nodes in current.items()}
    most = max(wanted.values(), default=0)
    if most > len(brokers):
        tp = next(tp for tp, count in wanted.items() if count == most)
        raise BadPlan(
            f"{tp} is to have {most} replicas, and there are {len(brokers)} brokers for them: "
            f"{', '.join(map(str, sorted(brokers)))}"
        )
    planner = _Planner(brokers, {tp: [n for n in nodes if n in brokers] for tp, nodes in current.items()})
    for tp in sorted(current):
        planner.fit(tp, wanted[tp])
    if balance:
        planner.even_out()
    planner.even_out_leaders(
        {tp for tp, nodes in current.items() if planner.replicas[tp] != list(nodes)}, balance
    )
    return {
        tp: tuple(planner.replicas[tp]) for tp in sorted(current) if planner.replicas[tp] != list(current[tp])
    }


class _Planner:
    def __init__(self, brokers: Mapping[int, Place], replicas: dict[TopicPartition, list[int]]) -> None:
        self.brokers = brokers
        self.replicas = replicas
        self.load = Counter(dict.fromkeys(brokers, 0))
        for nodes in replicas.values():
            self.load.update(nodes)

    def crowding(self, nodes: Iterable[int]) -> tuple[int, int]:
        """How many replicas share a host with another one, and how many a rack: less is better."""
        places = [self.brokers[node] for node in nodes]
        racks = [place.rack for place in places if place.rack is not None]
        return len(places) - len({place.host for place in places}), len(racks) - len(set(racks))

    def fit(self, tp: TopicPartition, count: int) -> None:
        """Brings a partition to its number of replicas, all of them on the brokers that may have some."""
        nodes = self.replicas[tp]
        while len(nodes) > count:
            # The first is the preferred leader, so it stays if another one can go.
            gone = min(
                nodes[1:] or nodes,
                key=lambda node: (self.crowding(n for n in nodes if n != node), -self.load[node], -node),
            )
            nodes.remove(gone)
            self.load[gone] -= 1
        while len(nodes) < count:
            new = min(
                (node for node in self.brokers if node not in nodes),
                key=lambda node: (self.crowding([*nodes, node]), self.load[node], node),
            )
            nodes.append(new)
            self.load[new] += 1

    def even_out(self) -> None:
        while any(self._moved(full, empty) for full, empty in self._uneven()):
            pass

    def _uneven(self) -> list[tuple[int, int]]:
        """Pairs of which the first holds at least two replicas more, the most uneven ones first."""
        pairs = [
            (self.load[empty] - self.load[full], full, empty)
            for full in self.brokers
            for empty in self.brokers
            if self.load[full] - self.load[empty] > 1
        ]
        return [(full, empty) for _, full, empty in sorted(pairs)]

    def _moved(self, full: int, empty: int) -> bool:
        for nodes in (self.replicas[tp] for tp in sorted(self.replicas)):
            if full not in nodes or empty in nodes:
                continue
            after = [empty if node == full else node for node in nodes]
            if self.crowding(after) <= self.crowding(nodes):
                nodes[:] = after
                self.load[full] -= 1
                self.load[empty] += 1
                return True
        return False

    def even_out_leaders(self, changed: Collection[TopicPartition], everywhere: bool) -> None:
        """Reorders replicas where one broker would lead much more than another; of partitions that stay as
        they are only where the whole was to be evened out.
        """
        leads = Counter(dict.fromkeys(self.brokers, 0))
        leads.update(nodes[0] for nodes in self.replicas.values())
        for tp in sorted(self.replicas if everywhere else changed):
            nodes = self.replicas[tp]
            best = min(nodes, key=lambda node: (leads[node], nodes.index(node)))
            if leads[nodes[0]] - leads[best] > 1:
                leads[nodes[0]] -= 1
                leads[best] += 1
                nodes.remove(best)
                nodes.insert(0, best)


# -- throttles


class Throttled(NamedTuple):
    """Which replicas a throttle is for, in the form of the topics' configurations."""

    leaders: dict[str, str]
    followers: dict[str, str]
    brokers: set[int]


def throttled_replicas(
    current: Mapping[TopicPartition, Sequence[int]],
    target: Mapping[TopicPartition, Sequence[int]],
    adding: Mapping[TopicPartition, Sequence[int]] | None = None,
) -> Throttled:
    """Those that replicas are copied from (any of them may lead), and those that are copied. `adding` are the
    replicas that were already on their way.
    """
    leaders: dict[str, set[tuple[int, int]]] = {}
    followers: dict[str, set[tuple[int, int]]] = {}
    brokers: set[int] = set()
    for tp, nodes in target.items():
        coming = set((adding or {}).get(tp, ()))
        sources = [node for node in current.get(tp, ()) if node not in coming]
        arriving = (set(nodes) - set(sources)) | coming
        leaders.setdefault(tp.topic, set()).update((tp.partition, node) for node in sources)
        followers.setdefault(tp.topic, set()).update((tp.partition, node) for node in arriving)
        brokers.update(sources, arriving)

    def texts(found: dict[str, set[tuple[int, int]]]) -> dict[str, str]:
        return {
            topic: ",".join(f"{partition}:{node}" for partition, node in sorted(pairs))
            for topic, pairs in found.items()
            if pairs
        }

    return Throttled(texts(leaders), texts(followers), brokers)
