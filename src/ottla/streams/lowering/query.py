"""The dispatcher of lowering: from a node to its frame, and from a stage to its query.

`Lowering.frame(node)` lowers a node's parents, then the node by the module of its kind; each of those has
`lower(node, inputs, context) -> Frame`. What is in `bound` is not lowered again: a stage's stateful node is
bound to the rows of a micro-batch when what lies behind it is lowered.

A stage where every node has one child is one streaming DataFrame from its sources to its sink. Where
records go several ways, the ways meet again in the micro-batch: up to the stateful node (or, without one,
the sources) the stage is a stream, the rest is lowered on each batch's rows (`prepare` of write_stream), of
which those that are needed twice are kept, and the rows of all ends are written together.
"""

from __future__ import annotations

import contextlib
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from ottla.streams import plan
from ottla.streams.lowering import aggregates, sinks, sources
from ottla.streams.lowering.frames import Frame, of_node

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

SINK_ONLY: Final = frozenset({"batchAttempts"})
"""Options that the source does not know."""

Lower = Callable[[Any, tuple[Frame, ...], "Lowering"], Frame]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What lowering knows of the application."""

    application_id: str
    bootstrap_servers: str
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Options of the source and the sink (`kafka.*` and others), with kafka.bootstrap.servers among them.
    There may be passwords, too: not to be printed."""
    processing_guarantee: str = "at_least_once"
    run_id: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Of this start. Spark's workers may outlive it, and serve a program that was changed since."""

    @property
    def source_options(self) -> dict[str, str]:
        return {name: value for name, value in self.options.items() if name not in SINK_ONLY}

    @property
    def exactly_once(self) -> bool:
        return self.processing_guarantee == "exactly_once_v2"


class Lowering:
    """One pass of lowering. A node's frame is made once and shared by its children."""

    def __init__(
        self,
        spark: SparkSession,
        settings: Settings,
        bound: Mapping[plan.Node, Frame] | None = None,
        *,
        keep: frozenset[plan.Node] = frozenset(),
        headers: bool = True,
    ) -> None:
        self.spark = spark
        self.headers = headers
        """Whether the records' headers are of use: what aggregates and tables give has none."""
        self.settings = settings
        self.kept: list[DataFrame] = []
        """What was persisted, for whoever is done with it."""
        self._keep = keep
        self._frames: dict[plan.Node, Frame] = {}
        for node, frame in (bound or {}).items():
            self._frames[node] = self._remembered(node, frame)

    def frame(self, node: plan.Node) -> Frame:
        """The node's output."""
        known = self._frames.get(node)
        if known is None:
            known = self._frames[node] = self._remembered(node, self._lower(node))
        return known

    def _lower(self, node: plan.Node) -> Frame:
        # A global table is not a stream: the join reads it.
        inputs = tuple(
            self.frame(parent) for parent in node.parents if not isinstance(parent, plan.GlobalSource)
        )
        return _module_of(node)(node, inputs, self)

    def _remembered(self, node: plan.Node, frame: Frame) -> Frame:
        if node not in self._keep:
            return frame
        df = frame.df.persist()
        self.kept.append(df)
        return frame.with_df(df)


def _module_of(node: plan.Node) -> Lower:
    # Imported on use: a program with no join loads nothing of joins.
    try:
        name = _MODULES[type(node)]
    except KeyError:
        raise TypeError(f"{node.name}: no lowering for {type(node).__name__}") from None
    lower: Lower = import_module(f"ottla.streams.lowering.{name}").lower
    return lower


_MODULES: dict[type[plan.Node], str] = {
    plan.Source: "sources",
    plan.Apply: "stateless",
    plan.Branch: "stateless",
    plan.Merge: "stateless",
    plan.ToTable: "stateless",
    plan.ToStream: "stateless",
    plan.Aggregate: "aggregates",
    plan.SuppressTime: "suppress",
    plan.StreamJoin: "stream_joins",
    plan.TableJoin: "table_joins",
    plan.StreamTableJoin: "stream_table",
    plan.GlobalJoin: "global_tables",
    plan.TableGroup: "table_groups",
    plan.Process: "process",
}


_WITHOUT_HEADERS = (plan.Aggregate, plan.SuppressTime, plan.TableGroup, plan.TableJoin)


# --- a stage as a query ------------------------------------------------------------------------------------


def start(
    stage: plan.Stage,
    spark: SparkSession,
    settings: Settings,
    *,
    checkpoint: str,
    trigger: Mapping[str, Any] | None,
) -> StreamingQuery:
    """Starts the stage's query."""
    from ottla.pipelines.sink.write_stream import write_stream

    df, prepare = stream_of(stage, spark, settings)
    output_mode = aggregates.output_mode(stage.stateful)
    if prepare is None and output_mode != "append":
        prepare = _as_it_is  # Spark's sinks written in Python know no updates; foreachBatch does
    topics = [end.topic for end in stage.ends if isinstance(end, plan.Sink)]
    static = [topic for topic in topics if isinstance(topic, str)]
    return write_stream(
        df,
        checkpoint=checkpoint,
        exactly_once=settings.exactly_once,
        options=sink_options(settings.options),
        application_id=f"{settings.application_id}-{stage.name}" if settings.exactly_once else None,
        trigger=trigger,
        query_name=f"{settings.application_id}-{stage.name}",
        output_mode=output_mode,
        prepare=prepare,
        release=prepare.release if isinstance(prepare, _Behind) else None,
        topics=sorted(set(static)) if len(static) == len(topics) else None,
    )


def _as_it_is(batch: DataFrame, batch_id: int) -> DataFrame:
    return batch


def sink_options(options: Mapping[str, str]) -> dict[str, str]:
    """Those that the sink knows: the source has others beside them."""
    return {
        name: value
        for name, value in options.items()
        if name in SINK_ONLY or (name.startswith("kafka.") and name != "kafka.group.id")
    }


def stream_of(
    stage: plan.Stage, spark: SparkSession, settings: Settings
) -> tuple[DataFrame, Callable[[DataFrame, int], DataFrame] | None]:
    """The stage's streaming DataFrame, and what is to be done with each of its batches before it is
    written.
    """
    shared = shared_nodes(stage)
    lowering = Lowering(spark, settings, headers=not isinstance(stage.stateful, _WITHOUT_HEADERS))
    if len(stage.ends) == 1 and not shared:
        return _rows(stage.ends[0], lowering), None
    stateful = stage.stateful
    if stateful is not None:
        return lowering.frame(stateful).df, _Behind(stage, settings, shared, {stateful: None})
    found = [node for node in plan.Topology(ends=stage.ends).nodes() if isinstance(node, plan.Source)]
    stream: DataFrame | None = None
    for number, source in enumerate(found):
        from pyspark.sql import functions

        rows = sources.read_stream(source, lowering).withColumn("source", functions.lit(number))
        stream = rows if stream is None else stream.unionByName(rows)
    assert stream is not None
    return stream, _Behind(stage, settings, shared, {node: number for number, node in enumerate(found)})


def shared_nodes(stage: plan.Stage) -> frozenset[plan.Node]:
    """Nodes from the stateful one on (or all) whose records go several ways."""
    children: Counter[plan.Node] = Counter()
    seen: set[plan.Node] = set()
    todo = list(stage.ends)
    while todo:
        node = todo.pop()
        if node in seen or node is stage.stateful:
            continue
        seen.add(node)
        for parent in node.parents:
            if not isinstance(parent, plan.GlobalSource):
                children[parent] += 1
                todo.append(parent)
    return frozenset(node for node, count in children.items() if count > 1)


def _rows(end: plan.Node, lowering: Lowering) -> DataFrame:
    assert isinstance(end, (plan.Sink, plan.ForEach))
    return sinks.rows(end, lowering.frame(end.parents[0]), lowering)


class _Behind:
    """What lies behind the streaming part of a stage, done with the rows of each micro-batch."""

    def __init__(
        self,
        stage: plan.Stage,
        settings: Settings,
        shared: frozenset[plan.Node],
        roots: Mapping[plan.Node, int | None],
    ) -> None:
        self._stage = stage
        self._settings = settings
        self._shared = shared
        self._roots = roots
        """Where the batch's rows enter the graph; sources by the number in the column `source`."""
        self._kept: list[DataFrame] = []

    def __call__(self, batch: DataFrame, batch_id: int) -> DataFrame:
        self.release()  # of an attempt that failed
        bound: dict[plan.Node, Frame] = {}
        if len(self._roots) > 1:
            batch = batch.persist()
            self._kept.append(batch)
        for node, number in self._roots.items():
            if isinstance(node, plan.Source):
                rows = batch if len(self._roots) == 1 else batch.where(f"source = {number}")
                bound[node] = sources.decode(node, rows)
            else:
                bound[node] = of_node(node, batch)
        lowering = Lowering(batch.sparkSession, self._settings, bound, keep=self._shared)
        ends = [_rows(end, lowering) for end in self._stage.ends]
        self._kept += lowering.kept
        result = ends[0]
        for rows in ends[1:]:
            result = result.unionByName(rows)
        return result

    def release(self) -> None:
        """The batch is written: what was kept of it is of no use any more."""
        kept, self._kept = self._kept, []
        for df in kept:
            with contextlib.suppress(Exception):  # where Spark is gone, so is what it kept
                df.unpersist()
