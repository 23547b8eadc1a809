"""The format "ottla" of Spark: what Spark calls, and who answers.

Spark makes an `OttlaDataSource` from the options, in a Python process of its own, and sends it on, pickled,
to whoever plans or reads: nothing here holds a connection. Planning is in `batch_plan` and `stream_plan`,
reading in `reading`; these classes translate.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    Filter,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    ReadMinRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from ottla.pipelines.options import SourceOptions, source_columns
from ottla.pipelines.source.batch_plan import BatchPlan
from ottla.pipelines.source.reading import RangePartition, RangeTask
from ottla.pipelines.source.schema import check_schema, row_type
from ottla.pipelines.source.stream_plan import StreamPlan


class OttlaDataSource(DataSource):
    """`spark.read.format("ottla")` and its three siblings."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        self.options = options

    @classmethod
    def name(cls) -> str:
        return "ottla"

    def schema(self) -> StructType:
        return row_type(source_columns(self.options))

    def reader(self, schema: StructType) -> DataSourceReader:
        options = SourceOptions.parse(self.options, streaming=False)
        check_schema(schema, options.columns)
        return BatchReader(options)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        options = SourceOptions.parse(self.options, streaming=True)
        check_schema(schema, options.columns)
        return StreamReader(options)

    def writer(self, schema: StructType, overwrite: bool) -> Any:
        from ottla.pipelines.sink.writers import batch_writer

        return batch_writer(self.options, schema, overwrite)

    def streamWriter(self, schema: StructType, overwrite: bool) -> Any:
        from ottla.pipelines.sink.writers import stream_writer

        return stream_writer(self.options, schema, overwrite)


class _PushFilters:
    """`BatchReader.pushFilters`, which looks inherited to who asks whether it is.

    Spark refuses to plan with a reader that has filters pushed to it while
    `spark.sql.python.filterPushdown.enabled` is off, and a reader cannot see the setting. What Spark looks at
    is the function under the method; with the setting on it calls the method without looking.
    """

    def __init__(self, plan: BatchPlan) -> None:
        self._plan = plan
        self.__func__ = DataSourceReader.pushFilters

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        return self._plan.push(filters)


class BatchReader(DataSourceReader):
    def __init__(self, options: SourceOptions) -> None:
        self._task = RangeTask.of(options)
        self._plan = BatchPlan(options)
        self.pushFilters = _PushFilters(self._plan)  # type: ignore[method-assign]

    def partitions(self) -> Sequence[InputPartition]:
        return [RangePartition(each) for each in self._plan.ranges()]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._task.read(partition)


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: SourceOptions) -> None:
        self._options = options
        self._task = RangeTask.of(options)
        self._plan = StreamPlan(options)

    def initialOffset(self) -> dict[str, Any]:
        return self._plan.initial()

    def getDefaultReadLimit(self) -> ReadLimit:
        if self._options.offsets_per_trigger_max is not None:
            return ReadMaxRows(self._options.offsets_per_trigger_max)
        if self._options.offsets_per_trigger_min is not None:
            return ReadMinRows(self._options.offsets_per_trigger_min)
        return ReadAllAvailable()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        if isinstance(limit, ReadMaxRows):
            return self._plan.latest(start, offsets_max=limit.max_rows)
        return self._plan.latest(start, everything=isinstance(limit, ReadAllAvailable))

    def prepareForTriggerAvailableNow(self) -> None:
        self._plan.fix_end()

    def reportLatestOffset(self) -> dict[str, Any] | None:
        return self._plan.known_latest()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        return [RangePartition(each) for each in self._plan.ranges(start, end)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return self._task.read(partition)

    def commit(self, end: dict[str, Any]) -> None:
        self._plan.commit(end)

    def __reduce__(self) -> tuple[Any, ...]:
        return StreamReader, (self._options,)  # what a plan remembers belongs to the driver's process
