"""Steps of one record after the other: expressions as columns in the JVM, functions added to a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.streams.expressions import Expression
from ottla.streams.fused import FusedStep, step_of
from ottla.streams.lowering.chains import chain_of
from ottla.streams.lowering.frames import Frame, frame_schema, union
from ottla.streams.plan import Apply, Branch, Merge, Node, Step, ToStream, ToTable

if TYPE_CHECKING:
    from pyspark.sql import Column

    from ottla.streams.lowering.query import Lowering


def lower(node: Node, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    match node:
        case Merge():
            return union(inputs)
        case ToStream():
            return inputs[0]
        case ToTable():
            return _with_keys(node, inputs[0])
        case Apply() if node.function is None:
            return _expressions(node, inputs[0])
        case Branch() if all(isinstance(predicate, Expression) for predicate in node.predicates):
            return _branch(node, inputs[0])
        case _:
            return _function(node, inputs[0])


def _with_keys(node: ToTable, frame: Frame) -> Frame:
    """A record without a key is no row of a table: Kafka Streams leaves it out."""
    if frame.chain is None:
        return frame.with_df(frame.df.where("key is not null"))
    return Frame(
        chain=frame.chain.then(FusedStep(node.name, Step.FILTER, (_has_key,), True, False)),
        key_type=frame.key_type,
        value_type=frame.value_type,
        windowed=frame.windowed,
        origin=frame.origin,
    )


def _has_key(key: object, value: object) -> bool:
    return key is not None


def _function(node: Node, frame: Frame) -> Frame:
    return Frame(
        chain=chain_of(frame).then(step_of(node)),
        key_type=node.key_type,
        value_type=node.value_type,
        windowed=node.windowed,
        origin=frame.origin,
    )


def _expressions(node: Apply, frame: Frame) -> Frame:
    from pyspark.sql import functions

    df = frame.df
    schema = frame_schema(node.key_type, node.value_type, windowed=node.windowed, origin=frame.origin)
    columns: dict[str, Column] = {name: df[name] for name in schema if name in df.columns}
    new = None if node.value is None else functions.expr(node.value.sql)
    if node.step in (Step.FILTER, Step.FILTER_NOT):
        assert new is not None
        # Of a null predicate neither holds, as in SQL.
        holds = new if node.step is Step.FILTER else ~new
        if not node.table:
            return _of(node, frame.df.where(holds).select(*schema), frame)
        columns["value"] = functions.when(holds, df["value"])
    else:
        if node.key is not None:
            columns["key"] = functions.expr(node.key.sql)
        if new is not None:
            if node.step is Step.FLAT_MAP_VALUES:
                new = functions.explode(new)
            elif node.table:  # a tombstone stays one
                new = functions.when(df["value"].isNotNull(), new)
            columns["value"] = new
    return _of(node, df.select(*(columns[name].alias(name) for name in schema)), frame)


def _branch(node: Branch, frame: Frame) -> Frame:
    from pyspark.sql import functions

    df = frame.df
    predicates = [
        functions.coalesce(functions.expr(predicate.sql), functions.lit(False))
        for predicate in node.predicates
        if isinstance(predicate, Expression)
    ]
    last = len(predicates) if node.index is None else node.index
    condition = functions.lit(True)
    for earlier in predicates[:last]:
        condition = condition & ~earlier
    if node.index is not None:
        condition = condition & predicates[node.index]
    return _of(node, df.where(condition), frame)


def _of(node: Node, df: object, frame: Frame) -> Frame:
    from pyspark.sql import DataFrame

    assert isinstance(df, DataFrame)
    return Frame(
        df=df,
        key_type=node.key_type,
        value_type=node.value_type,
        windowed=node.windowed,
        origin=frame.origin,
    )
