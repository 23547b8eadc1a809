"""Cuts a topology into stages: parts with at most one stateful node each, which become one Spark query each.

Spark allows no second stateful operator behind one in update mode, so a stateful result that feeds another
stateful node goes through an internal topic, as Kafka Streams does when it distributes records anew. A
changed key alone needs no topic here: Spark shuffles within the query.

Every node has origins: the stateful nodes that it lies behind without another one between, or None where it
can be computed from topics alone. A stage has one origin. Its graph is the program's, as far as it leads
from that origin: of a `merge` behind two aggregates each of their stages has its own half. So every path of
the program is in exactly one stage from cut to cut, and an end that is reached from two origins is an end
in both stages.

What lies before a stateful node and needs only topics is computed by each stage that needs it, for itself;
of a `peek` there, only in the first of them, since its effect is meant once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ottla.streams.errors import TopologyError
from ottla.streams.plan import (
    Apply,
    ForEach,
    GlobalSource,
    InternalTopic,
    Merge,
    Node,
    Repartition,
    Sink,
    Source,
    Stage,
    Step,
    TableGroup,
    Topology,
)
from ottla.streams.serdes import ChangeSerde, Serde
from ottla.streams.shapes import key_serde_for, value_serde_for

Origin = Node | None


def cut(topology: Topology, application_id: str) -> list[Stage]:
    """The stages, in the order of the program: who writes an internal topic comes before who reads it."""
    return _Cutter(topology, application_id).stages()


@dataclass
class _Draft:
    """A stage while it is put together: nodes of the program at which it ends."""

    origin: Origin
    ends: list[Node] = field(default_factory=list)
    """Sinks, effects, repartitions, and nodes that are written to an internal topic."""


class _Cutter:
    def __init__(self, topology: Topology, application_id: str) -> None:
        self.topology = topology
        self.application_id = application_id
        self.nodes = topology.nodes()
        self.position = {id(node): number for number, node in enumerate(self.nodes)}
        self.origins: dict[int, list[Origin]] = {}
        self.written: dict[int, Node] = {}
        """Nodes whose records go through an internal topic of their own, besides the repartitions."""
        self.topics: dict[str, InternalTopic] = {}
        self.peeked: set[int] = set()
        """The peeks before any stateful node that a stage has already."""

    def stages(self) -> list[Stage]:
        for node in self.nodes:
            self.origins[id(node)] = self._origins(node)
        for node in self.nodes:
            if node.stateful:
                for parent in node.parents:
                    self._find_cuts(parent)
        drafts = self._drafts()
        return [self._stage(number, draft) for number, draft in enumerate(drafts)]

    def _origins(self, node: Node) -> list[Origin]:
        if node.stateful:
            return [node]
        if isinstance(node, (Source, Repartition, GlobalSource)):
            return [None]
        found: list[Origin] = []
        for parent in node.parents:
            if not isinstance(parent, GlobalSource):
                found += [origin for origin in self.origins[id(parent)] if origin not in found]
        return found

    def _find_cuts(self, node: Node) -> None:
        """What a stateful node reads: is it stateful itself somewhere, then through a topic."""
        if self.origins[id(node)] == [None]:
            return
        if isinstance(node, Merge):
            for parent in node.parents:
                self._find_cuts(parent)
        else:
            self.written[id(node)] = node

    # --- which end is in which stage ---

    def _ends(self) -> Iterator[tuple[Node, list[Origin]]]:
        ends = {id(end) for end in self.topology.ends}
        for node in self.nodes:
            if isinstance(node, Repartition):
                yield node, self.origins[id(node.parents[0])]
            if id(node) in ends or id(node) in self.written:
                yield node, self.origins[id(node)]

    def _drafts(self) -> list[_Draft]:
        stateful: dict[int, _Draft] = {}
        stateless: list[tuple[set[int], _Draft]] = []
        for end, origins in self._ends():
            for origin in origins:
                if origin is not None:
                    stateful.setdefault(id(origin), _Draft(origin)).ends.append(end)
                    continue
                sources = self._sources(end)
                draft = _Draft(None, [end])
                apart = []
                for others, other in stateless:  # all that share a topic read it once
                    if others & sources:
                        sources |= others
                        draft.ends = [*other.ends, *draft.ends]
                    else:
                        apart.append((others, other))
                stateless = [*apart, (sources, draft)]
        for node in self.nodes:
            if node.stateful and id(node) not in stateful:
                raise TopologyError(
                    f"nothing follows {node.name}"
                )  # an end leads to every node of a topology
        ordered = [(self.position[key], draft) for key, draft in stateful.items()]
        ordered += [(self.position[min(s, key=self.position.__getitem__)], draft) for s, draft in stateless]
        drafts = [draft for _, draft in sorted(ordered, key=lambda pair: pair[0])]
        for draft in drafts:
            draft.ends.sort(key=lambda end: self.position[id(end)])
        return drafts

    def _sources(self, end: Node) -> set[int]:
        """The topics (and repartitions, as what is read from them) that a stateless end is computed from."""
        found: set[int] = set()
        todo = [end.parents[0] if isinstance(end, Repartition) else end]
        while todo:
            node = todo.pop()
            if isinstance(node, (Source, Repartition)):
                found.add(id(node))
            elif not isinstance(node, GlobalSource) and None in self.origins[id(node)]:
                todo += [parent for parent in node.parents if None in self.origins[id(parent)]]
        return found

    # --- the graph of one stage ---

    def _stage(self, number: int, draft: _Draft) -> Stage:
        copies: dict[int, Node] = {}
        ends: list[Node] = []
        topics: list[InternalTopic] = []
        for end in draft.ends:
            if isinstance(end, Repartition):
                parent = self._copy(end.parents[0], draft.origin, copies)
                ends.append(
                    _sink(end, parent, self._topic(end), end.key_serde, end.value_serde, end.topic is None)
                )
            elif isinstance(end, (Sink, ForEach)):
                ends.append(self._copy(end, draft.origin, copies))
                continue
            else:
                key, value = _serdes(end)
                ends.append(
                    _sink(end, self._copy(end, draft.origin, copies), self._topic(end), key, value, True)
                )
            if self._topic(end) in self.topics:
                topics.append(self.topics[self._topic(end)])
        stateful = None if draft.origin is None else copies[id(draft.origin)]
        if draft.origin is not None:
            name = draft.origin.name
        else:
            name = min(
                (node for end in draft.ends for node in self.nodes if id(node) in self._sources(end)),
                key=lambda node: self.position[id(node)],
            ).name
        return Stage(
            number=number, name=name, ends=tuple(ends), stateful=stateful, internal_topics=tuple(topics)
        )

    def _copy(self, node: Node, origin: Origin, copies: dict[int, Node]) -> Node:
        """The node with the part of the graph above it that belongs to this stage."""
        if id(node) in copies:
            return copies[id(node)]
        if isinstance(node, Repartition):
            copy: Node = self._source(node, node.key_serde, node.value_serde)
        elif node is origin:
            parents = tuple(self._input(parent, copies) for parent in node.parents)
            copy = node if parents == node.parents else replace(node, parents=parents)
        elif origin is None and id(node) in self.peeked:
            return self._copy(node.parents[0], origin, copies)
        else:
            if origin is None and isinstance(node, Apply) and node.step is Step.PEEK:
                self.peeked.add(id(node))
            kept = [
                parent
                for parent in node.parents
                if isinstance(parent, GlobalSource) or origin in self.origins[id(parent)]
            ]
            parents = tuple(self._copy(parent, origin, copies) for parent in kept)
            copy = node if parents == node.parents else replace(node, parents=parents)
        copies[id(node)] = copy
        return copy

    def _input(self, node: Node, copies: dict[int, Node]) -> Node:
        """What a stateful node reads: topics and stateless steps, or the topic that another stage writes."""
        if id(node) in self.written:
            if id(node) not in copies:
                copies[id(node)] = self._source(node, *_serdes(node))
            return copies[id(node)]
        if isinstance(node, Merge) and self.origins[id(node)] != [None]:
            if id(node) not in copies:
                parents = tuple(self._input(parent, copies) for parent in node.parents)
                copies[id(node)] = replace(node, parents=parents)
            return copies[id(node)]
        return self._copy(node, None, copies)

    # --- topics between stages ---

    def _topic(self, node: Node) -> str:
        if isinstance(node, Repartition) and node.topic is not None:
            return node.topic
        changelog = node.table and not isinstance(node, (Repartition, TableGroup))
        name = f"{self.application_id}-{node.name}-{'changelog' if changelog else 'repartition'}"
        partitions = node.partitions if isinstance(node, Repartition) else None
        self.topics.setdefault(name, InternalTopic(name=name, partitions=partitions, compacted=changelog))
        return name

    def _source(self, node: Node, key: Serde, value: Serde) -> Source:
        return Source(
            name=f"{node.name}-source",
            topics=(self._topic(node),),
            key_serde=key,
            value_serde=value,
            key_type=node.key_type,
            value_type=node.value_type,
            windowed=node.windowed,
            table=node.table,
            internal=not (isinstance(node, Repartition) and node.topic is not None),
            change=isinstance(node, TableGroup),
        )


def _serdes(node: Node) -> tuple[Serde, Serde]:
    """The serdes of a topic between two stages: they read back exactly what was written."""
    key = key_serde_for(node, None, node.name, internal=True)
    value = value_serde_for(node, None, node.name, internal=True)
    return key, ChangeSerde(value) if isinstance(node, TableGroup) else value


def _sink(node: Node, parent: Node, topic: str, key: Serde, value: Serde, internal: bool) -> Sink:
    return Sink(
        name=f"{node.name}-sink",
        parents=(parent,),
        topic=topic,
        key_serde=key,
        value_serde=value,
        key_type=parent.key_type,
        value_type=parent.value_type,
        windowed=parent.windowed,
        table=parent.table,
        internal=internal,
    )
