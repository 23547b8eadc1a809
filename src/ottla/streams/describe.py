"""A topology as text, in the form of Kafka's TopologyDescription: the same program is the same text.

Each stage is a sub-topology, which is what becomes one query; behind the nodes come the internal topics
between them. Each node says what follows it (-->) and what it follows (<--), what it does, and the types of
its keys and values.
"""

from __future__ import annotations

from typing import Any

from ottla.streams.expressions import Expression
from ottla.streams.plan import (
    OBJECT,
    Aggregate,
    Aggregation,
    Apply,
    Branch,
    ForEach,
    GlobalJoin,
    GlobalSource,
    Merge,
    Node,
    Process,
    Repartition,
    Sink,
    Source,
    Stage,
    StreamJoin,
    StreamTableJoin,
    SuppressTime,
    TableGroup,
    TableJoin,
    Topology,
    ToStream,
    ToTable,
)
from ottla.streams.stages import cut
from ottla.streams.windows import JoinWindows, SessionWindows, SlidingWindows, TimeWindows, Windows


def describe(topology: Topology, application_id: str = "<application_id>") -> str:
    """The stages of a topology and their internal topics."""
    return describe_stages(cut(topology, application_id))


def describe_stages(stages: list[Stage]) -> str:
    lines = ["Topologies:"]
    for stage in stages:
        kind = "stateless" if stage.stateful is None else "stateful"
        lines.append(f"   Sub-topology: {stage.number} ({kind} query {stage.name})")
        nodes = Topology(ends=stage.ends).nodes()
        children: dict[int, list[str]] = {id(node): [] for node in nodes}
        for node in nodes:
            for parent in node.parents:
                if node.name not in children[id(parent)]:
                    children[id(parent)].append(node.name)
        for node in nodes:
            lines += _node_lines(node, children[id(node)])
        lines.append("")
    topics = {topic.name: topic for stage in stages for topic in stage.internal_topics}
    if topics:
        lines.append("Internal topics:")
        for topic in topics.values():
            partitions = "as upstream" if topic.partitions is None else str(topic.partitions)
            policy = "compact" if topic.compacted else "delete"
            lines.append(f"    {topic.name} (partitions: {partitions}, cleanup.policy: {policy})")
        lines.append("")
    return "\n".join(lines)


def _node_lines(node: Node, children: list[str]) -> list[str]:
    lines = [f"    {_title(node)}"]
    if not isinstance(node, (Sink, ForEach)):
        lines.append(f"      --> {', '.join(children) or 'none'}")
    if node.parents:
        lines.append(f"      <-- {', '.join(parent.name for parent in node.parents)}")
    does = _does(node)
    if does:
        lines.append(f"      {does}")
    lines.append(f"      {_types(node)}")
    return lines


def _title(node: Node) -> str:
    match node:
        case Source(pattern=str() as pattern):
            return f"Source: {node.name} (pattern: {pattern})"
        case Source():
            return f"Source: {node.name} (topics: [{', '.join(node.topics)}])"
        case GlobalSource():
            return f"Global source: {node.name} (topics: [{node.topic}])"
        case Sink(topic=str() as topic):
            return f"Sink: {node.name} (topic: {topic})"
        case Sink():
            return f"Sink: {node.name} (extractor class: {_function(node.topic)})"
        case Aggregate():
            return f"Processor: {node.name} (stores: [{node.store}])"
    stores = f"{node.name}-store" if node.stateful else ""
    return f"Processor: {node.name} (stores: [{stores}])"


def _types(node: Node) -> str:
    def shown(type_name: str) -> str:
        return "Python object" if type_name == OBJECT else type_name

    key = f"windowed {shown(node.key_type)}" if node.windowed else shown(node.key_type)
    if isinstance(node, (Sink, Source, GlobalSource)):
        value = f"{shown(node.value_type)} as {node.value_serde.name!r}"
        return f"key: {key} as {node.key_serde.name!r}, value: {value}"
    return f"key: {key}, value: {shown(node.value_type)}"


def _function(thing: Any) -> str:
    """Functions by name, lambdas without one, expressions by their SQL: nothing that changes between two
    runs.
    """
    if isinstance(thing, Expression):
        return thing.sql
    name = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return "lambda" if "<lambda>" in name else str(name).rpartition("<locals>.")[2]


def _aggregation(aggregation: Aggregation) -> str:
    if aggregation.kind == "builtin":
        return _function(aggregation.builtin)
    if aggregation.kind == "count":
        return "count"
    return f"{aggregation.kind} by {_function(aggregation.adder)}"


def _windows(windows: Windows) -> str:
    grace = f"grace {windows.grace_ms} ms"
    match windows:
        case TimeWindows() if windows.size_ms == windows.advance_ms:
            return f"tumbling windows of {windows.size_ms} ms, {grace}"
        case TimeWindows():
            return f"hopping windows of {windows.size_ms} ms every {windows.advance_ms} ms, {grace}"
        case SlidingWindows():
            return f"sliding windows of {windows.difference_ms} ms, {grace}"
        case SessionWindows():
            return f"sessions with a gap of {windows.gap_ms} ms, {grace}"
        case JoinWindows():
            return f"from {windows.before_ms} ms before to {windows.after_ms} ms after, {grace}"
    return grace


def _does(node: Node) -> str:
    match node:
        case Apply(function=None):
            parts = [] if node.key is None else [f"key {_function(node.key)}"]
            parts += [] if node.value is None else [_function(node.value)]
            return f"{node.step.value}: {', '.join(parts)}"
        case Apply():
            return f"{node.step.value} by {_function(node.function)}"
        case Branch(index=int() as index):
            return f"where {_function(node.predicates[index])} is the first of {len(node.predicates)}"
        case Branch():
            return f"where none of {', '.join(_function(predicate) for predicate in node.predicates)}"
        case Merge():
            return "merge"
        case Repartition():
            return "repartition" if node.topic is None else f"through {node.topic}"
        case ToTable():
            return "to table"
        case ToStream():
            return "to stream"
        case Aggregate():
            what = ", ".join(_aggregation(aggregation) for aggregation in node.aggregations)
            over = "" if node.windows is None else f" over {_windows(node.windows)}"
            return what + over + (", when the window closes" if node.emit_final else "")
        case TableGroup():
            return f"group by {_function(node.selector)}"
        case SuppressTime():
            return f"suppress for {node.wait_ms} ms"
        case StreamJoin():
            return f"{node.how} join by {_function(node.joiner)}, {_windows(node.windows)}"
        case TableJoin(foreign_key=None) | StreamTableJoin():
            return f"{node.how} join by {_function(node.joiner)}"
        case TableJoin():
            return (
                f"{node.how} join by {_function(node.joiner)}, foreign key by {_function(node.foreign_key)}"
            )
        case GlobalJoin():
            return f"{node.how} join by {_function(node.joiner)}, key by {_function(node.selector)}"
        case Process():
            return f"process by {_function(node.processor)}"
        case ForEach():
            return f"for_each by {_function(node.function)}"
    return ""
