"""Joins of a stream with a GlobalKTable: a look into a table that each worker has whole
(`global_snapshot.py`).

The join is a step of the chain of Python functions that it stands in, so it costs no shuffle and no pass of
its own, and may stand before a stateful node as well as behind it. The table is brought up to date when a
task makes its first look. Where the selector or the joiner is an expression, the JVM makes the key before
the step, or the value behind it.

A null value is nothing to join and is left out. A record for which the selector returns None joins nothing:
it is left out, or (left join, KIP-962) joins None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from ottla.pipelines.options import client_settings
from ottla.streams.expressions import Expression
from ottla.streams.fused import FusedStep
from ottla.streams.lowering.chains import Chain, chain_of
from ottla.streams.lowering.columns import Reader
from ottla.streams.lowering.frames import Frame, spark_type
from ottla.streams.lowering.global_snapshot import GlobalSnapshot, snapshot
from ottla.streams.lowering.joiners import Join, PairReader, join_of, of_pairs, paired
from ottla.streams.plan import GlobalJoin, GlobalSource, Step
from ottla.streams.serdes import Serde

if TYPE_CHECKING:
    from ottla.streams.lowering.query import Lowering


def lower(node: GlobalJoin, inputs: tuple[Frame, ...], context: Lowering) -> Frame:
    stream = inputs[0]
    table = node.parents[-1]
    assert isinstance(table, GlobalSource)
    types = (stream.value_type, table.value_type)
    look = Look(
        # The name of the node is unique to the program; tables are shared by the joins with the same one.
        f"{context.settings.application_id}/{table.name}",
        context.settings.run_id,
        client_settings(context.settings.options),
        table.topic,
        table.key_serde,
        table.value_serde,
        left=node.how == "left",
        join=join_of(node.joiner, False, *types),
    )
    if isinstance(node.selector, Expression):
        chain = _with_selected(node.selector, table, stream)
        step: Callable[[Any, Any], list[Any]] = _of_selected(look)
    else:
        chain = chain_of(stream)
        step = _of_selector(look, node.selector)
    seen = paired(node, node.joiner, *types)
    frame = Frame(
        chain=chain.then(FusedStep(node.name, Step.FLAT_MAP_VALUES, (step,), with_key=True, table=False)),
        key_type=node.key_type,
        value_type=seen.value_type,
        windowed=node.windowed,
        origin=stream.origin,
    )
    return of_pairs(node, node.joiner, frame)


def _with_selected(selector: Expression, table: GlobalSource, stream: Frame) -> Chain:
    """The stream's rows, each with (value, key of the table) in the place of its value."""
    selected = F.expr(selector.sql).cast(spark_type(table.key_type))
    names = list(stream.schema)
    df = stream.df.select(
        *(
            F.struct(F.col("value").alias("left_value"), selected.alias("selected")).alias("value")
            if name == "value"
            else F.col(name)
            for name in names
        )
    )
    chain = chain_of(stream.with_df(df))
    readers = PairReader("struct", parts=(Reader(stream.value_type), Reader(table.key_type)))
    return replace(chain, read_value=readers)


def _of_selector(look: Look, selector: Callable[[Any, Any], Any]) -> Callable[[Any, Any], list[Any]]:
    def step(key: Any, value: Any) -> list[Any]:
        return [] if value is None else look(key, value, selector(key, value))

    return step


def _of_selected(look: Look) -> Callable[[Any, Any], list[Any]]:
    def step(key: Any, pair: tuple[Any, Any]) -> list[Any]:
        value, selected = pair
        return [] if value is None else look(key, value, selected)

    return step


@dataclass(eq=False)
class Look:
    """What a record finds in the table. Each task has one of its own, sent with its functions."""

    name: str
    run_id: str
    settings: Mapping[str, str] = field(repr=False)  # a password may be among them
    topic: str
    key_serde: Serde
    value_serde: Serde
    left: bool
    join: Join
    _table: GlobalSnapshot | None = None

    def __call__(self, key: Any, value: Any, selected: Any) -> list[Any]:
        """The joined value, or nothing."""
        if self._table is None:
            self._table = snapshot(
                self.name, self.run_id, self.settings, self.topic, self.key_serde, self.value_serde
            )
            self._table.refresh()
        found = None if selected is None else self._table.get(selected)
        return [self.join(key, value, found)] if found is not None or self.left else []
