"""What makes one value of two: the joiner of a join, as an expression in the JVM or as a Python function.

Joins in the JVM end with rows that have both values side by side (`joined`): an expression makes the value
from them at once, a function becomes the first step of a chain, which others join. Joins in a processor
call the function where they find the pair; where the joiner is an expression, they put out the pair as a
struct, and the expression follows (`paired`, `of_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
from pyspark.sql import functions as F

from ottla.streams.expressions import Expression
from ottla.streams.fused import FusedStep, Where
from ottla.streams.lowering.chains import Chain
from ottla.streams.lowering.columns import Reader
from ottla.streams.lowering.frames import Frame, of_node, spark_type
from ottla.streams.plan import OBJECT, Node, Step, StreamJoin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ottla.streams.plan import Function

AnyNode = TypeVar("AnyNode", bound=Node)

Join = Callable[[Any, Any, Any], Any]
"""(key, left value, right value) -> value."""


@dataclass(frozen=True, slots=True)
class PairReader(Reader):
    """A column of structs with two fields as pairs of Python values."""

    parts: tuple[Reader, ...] = ()

    def __call__(self, column: pa.Array, name: str, where: Where) -> list[Any]:
        fields = (reader(column.field(at), name, where) for at, reader in enumerate(self.parts))
        return list(zip(*fields, strict=True))


def joined(node: StreamJoin, pairs: DataFrame, left_type: str, right_type: str) -> Frame:
    """The frame of rows with key, left_value, right_value, timestamp, headers and, if windowed, window."""
    others = ["timestamp", "headers", *(["window"] if node.windowed else [])]
    if isinstance(node.joiner, Expression):
        return of_node(node, pairs.select("key", _made_by(node.joiner, node).alias("value"), *others))
    chain = Chain(
        df=pairs.select("key", F.struct("left_value", "right_value").alias("value"), *others),
        read_key=Reader(node.key_type),
        read_value=PairReader("struct", parts=(Reader(left_type), Reader(right_type))),
        windowed=node.windowed,
        origin=False,
        steps=(_step(node.name, node.joiner, node.with_key),),
    )
    return Frame(chain=chain, key_type=node.key_type, value_type=node.value_type, windowed=node.windowed)


def _step(name: str, joiner: Function, with_key: bool) -> FusedStep:
    join = called(joiner, with_key)
    return FusedStep(name, Step.MAP_VALUES, (lambda key, pair: join(key, *pair),), with_key=True, table=False)


def called(joiner: Function, with_key: bool) -> Join:
    """The function as one of three arguments."""
    return joiner if with_key else lambda key, left, right: joiner(left, right)


def pair_type(left_type: str, right_type: str) -> str:
    """The struct of both values. Of an object, an expression can know only whether it is there."""
    left, right = ("boolean" if side == OBJECT else side for side in (left_type, right_type))
    return f"struct<left_value:{left},right_value:{right}>"


@dataclass(frozen=True, slots=True)
class Pairing:
    """The place of a joiner that is an expression: puts the pair together."""

    left_is_object: bool
    right_is_object: bool

    def __call__(self, key: Any, left: Any, right: Any) -> Any:
        return {
            "left_value": left is not None or None if self.left_is_object else left,
            "right_value": right is not None or None if self.right_is_object else right,
        }


def join_of(joiner: Function | Expression, with_key: bool, left_type: str, right_type: str) -> Join:
    """What a processor calls for a pair."""
    if isinstance(joiner, Expression):
        return Pairing(left_type == OBJECT, right_type == OBJECT)
    return called(joiner, with_key)


def paired(node: AnyNode, joiner: Function | Expression, left_type: str, right_type: str) -> AnyNode:
    """The node as the processor sees it: with pairs for values where the joiner is an expression."""
    if not isinstance(joiner, Expression):
        return node
    return replace(node, value_type=pair_type(left_type, right_type))


def of_pairs(node: Node, joiner: Function | Expression, frame: Frame) -> Frame:
    """The node's frame of what the processor put out."""
    if not isinstance(joiner, Expression):
        return frame
    others = ["timestamp", "headers", *(["window"] if node.windowed else []), *_origin(frame)]
    rows = frame.df.select(
        "key",
        F.col("value").isNull().alias("deleted"),
        F.col("value.left_value").alias("left_value"),
        F.col("value.right_value").alias("right_value"),
        *others,
    )
    value = F.when(~F.col("deleted"), _made_by(joiner, node))  # a tombstone is not the joiner's
    return of_node(node, rows.select("key", value.alias("value"), *others), origin=frame.origin)


def _origin(frame: Frame) -> list[str]:
    return ["topic", "partition", "offset"] if frame.origin else []


def _made_by(joiner: Expression, node: Node) -> Any:
    return F.expr(joiner.sql).cast(spark_type(node.value_type))
