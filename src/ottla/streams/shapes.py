"""What two steps that meet have to agree on: types of keys, windows, serdes, numbers of partitions."""

from __future__ import annotations

from typing import Any

from ottla.streams.errors import TopologyError
from ottla.streams.plan import OBJECT, Aggregate, Apply, Node, Repartition, Source, Step
from ottla.streams.serdes import Serde, SerdeLike, UserSerde, WindowedSerde, natural_serde, serde_of
from ottla.streams.windows import SessionWindows, SlidingWindows, TimeWindows


def same_record(key: Any, value: Any) -> tuple[Any, Any]:
    return key, value


def same_key(key: Any, value: Any) -> Any:
    return key


def object_copy(node: Node, name: str, key_type: str, value_type: str) -> Node:
    """The stream with other types: the same records, through a step in Python that changes nothing. Into
    OBJECT everything fits; into another type only what is of it, and the rest fails on its record.
    """
    if (node.key_type, node.value_type) == (key_type, value_type):
        return node
    if node.windowed and node.key_type != key_type:
        raise TopologyError(
            f"{name}: the windowed keys of one side are {node.key_type}, of the other {key_type}"
        )
    if node.key_type == key_type:
        return Apply(
            name=name,
            parents=(node,),
            step=Step.MAP_VALUES,
            function=same_value,
            key_type=key_type,
            value_type=value_type,
            windowed=node.windowed,
        )
    return Apply(
        name=name,
        parents=(node,),
        step=Step.MAP,
        function=same_record,
        key_type=key_type,
        value_type=value_type,
    )


def same_value(value: Any) -> Any:
    return value


def check_key_kinds(left: Node, right: Node, where: str) -> None:
    if left.windowed != right.windowed:
        raise TopologyError(f"{where}: the keys of one side are windowed, those of the other are not")


def key_converted(node: Node, other: Node, name: str, where: str) -> Node:
    """The node with keys that can be compared with the other's. Keys of unknown type are taken for what the
    other side has; two types that are known and differ never match.
    """
    if node.key_type == other.key_type or other.key_type == OBJECT:
        if node.key_type != OBJECT and other.key_type == OBJECT and other.table:
            raise TopologyError(
                f"{where}: the keys of one side are {node.key_type}, those of the table {other.name} "
                "Python objects: "
                f"say their type with returns= at the group_by or select_key that makes them"
            )
        return node
    if node.key_type != OBJECT:
        raise TopologyError(
            f"{where}: keys of {node.key_type} never equal keys of {other.key_type} ({node.name} and "
            f"{other.name})"
        )
    if node.table or node.windowed:
        raise TopologyError(
            f"{where}: the keys of {node.name} are Python objects, those of the other side "
            f"{other.key_type}: say their "
            f"type with returns= at the group_by or select_key that makes them"
        )
    return Apply(
        name=name,
        parents=(node,),
        step=Step.SELECT_KEY,
        function=same_key,
        key_type=other.key_type,
        value_type=node.value_type,
    )


def _partitions(node: Node) -> tuple[int, str] | None:
    """The number of partitions that the program itself gave to what a join would read."""
    while not node.stateful:
        if isinstance(node, Repartition):
            return None if node.partitions is None else (node.partitions, node.name)
        if isinstance(node, Apply) and node.step in (Step.MAP, Step.FLAT_MAP, Step.SELECT_KEY):
            return None  # a new key: what follows is distributed anew anyway
        if len(node.parents) != 1:
            return None
        node = node.parents[0]
    return None


def check_partitions(left: Node, right: Node, where: str) -> None:
    """Kafka's rule of co-partitioning, as far as the program says numbers of its own."""
    one, two = _partitions(left), _partitions(right)
    if one is not None and two is not None and one[0] != two[0]:
        raise TopologyError(
            f"{where}: the two sides are not co-partitioned: {one[1]} has {one[0]} partitions, {two[1]} "
            f"has {two[0]}"
        )


def window_size_ms(node: Node) -> int | None:
    """The size of the time windows of a windowed node's keys; None: sessions."""
    at = node
    while True:
        if isinstance(at, Source) and isinstance(at.key_serde, WindowedSerde):
            return at.key_serde.size_ms
        if isinstance(at, Repartition) and isinstance(at.key_serde, WindowedSerde):
            return at.key_serde.size_ms
        if isinstance(at, Aggregate) and at.windows is not None:
            match at.windows:
                case TimeWindows(size_ms=size_ms):
                    return size_ms
                case SlidingWindows(difference_ms=difference_ms):
                    return difference_ms
                case SessionWindows():
                    return None
        if not at.parents:
            raise TopologyError(f"{node.name} has windowed keys, but nothing upstream made windows")
        at = at.parents[0]


def key_serde_for(node: Node, serde: SerdeLike | None, where: str, *, internal: bool = False) -> Serde:
    """The serde of a node's keys: the user's, or that of the type; of windowed keys, the windowed one
    around it.
    """
    found = natural_serde(node.key_type, internal=internal) if serde is None else serde_of(serde)
    if node.windowed and not isinstance(found, (WindowedSerde, UserSerde)):
        found = WindowedSerde(found, window_size_ms(node))
    elif not node.windowed and isinstance(found, WindowedSerde):
        raise TopologyError(f"{where}: key_serde is for windowed keys, which those of {node.name} are not")
    return _fitting(found, node.key_type, "key", where)


def value_serde_for(node: Node, serde: SerdeLike | None, where: str, *, internal: bool = False) -> Serde:
    found = natural_serde(node.value_type, internal=internal) if serde is None else serde_of(serde)
    if isinstance(found, WindowedSerde):
        raise TopologyError(f"{where}: a serde of windowed keys cannot be value_serde")
    return _fitting(found, node.value_type, "value", where)


def _fitting(serde: Serde, type_name: str, which: str, where: str) -> Serde:
    if not serde.writes(type_name):
        natural = natural_serde(type_name)
        raise TopologyError(
            f"{where}: the {which} is of type {type_name}, which the serde {serde.name!r} does not write "
            "(it writes "
            f"{serde.type}): use {natural.name!r}, or map it first"
        )
    return serde
