"""`send_batch`: the rows of an Arrow table as record batches, without a Python object for each row.

The columns are `key`, `value`, `headers`, `timestamp` and `partition`, as many as there are of them. A table
goes piece by piece: every row gets its partition in one pass (its own, else by its key as Java's client
decides it, else sticky in runs of a batch), a counting sort makes of this an index of rows by partition, and
each partition's rows are written from Arrow's buffers, where they lie, into batches (`ColumnSource` of
`wire/record_writer.py`). The batches then wait in the same lanes as those of `send`, and `buffer.memory`
holds up who sends too fast.

A table is checked before the first row is sent: a wrong column, type or partition, or a row that is too
large, raises InvalidArgument and sends nothing. Serializers and interceptors see no rows: columns are bytes
and texts already.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ottla.client.effects import ClientSteps, Invoke, Pause, Wait
from ottla.client.errors import InvalidArgument, OperationTimedOut, OttlaError, RecordTooLarge
from ottla.client.extras import pyarrow_for
from ottla.client.producing.batch import Delivery, record_size
from ottla.client.producing.partitioners import Partitioner, asked, usable
from ottla.client.producing.spare_bytes import SpareBytes
from ottla.client.settings import ProducerSettings
from ottla.client.view import TopicView
from ottla.model.types import TopicPartition
from ottla.wire.codec import Codec
from ottla.wire.record_batch import HEADER_BYTES, encode_places
from ottla.wire.record_writer import ColumnSource, by_partition

if TYPE_CHECKING:
    from ottla.client.producing.core import ProducerCore

COLUMNS = ("key", "value", "headers", "timestamp", "partition")

BATCH_BYTES = 512 * 1024
"""How large batches are made when `batch.size` is smaller: the rows are all there, nobody waits for more."""
PIECE_ROWS_MAX = 262_144
"""Rows that are sorted by partition at a time: bounds the memory beside the table."""
PIECE_BYTES_MIN = 4 * 1024 * 1024
"""Chunks of a table that are smaller are joined, so that batches do not become small with them."""

NO_PARTITION = -1


class EncodedRows(NamedTuple):
    """A batch for `ProducerCore.append_encoded`."""

    data: bytearray
    record_count: int
    size_bytes: int
    spares: SpareBytes | None = None
    """Who gets the bytes once they are stored."""


# --- what the caller holds ----------------------------------------------------------------------------------


class StoredRows(NamedTuple):
    """What one partition got of a table. The offsets are -1 where the broker did not tell (acks=0)."""

    row_count: int
    first_offset: int
    last_offset: int


class BatchMetadata(NamedTuple):
    """Where the rows of a table were stored. Offsets of one partition may have gaps in which others wrote."""

    topic: str
    row_count: int
    partitions: Mapping[int, StoredRows]


class FailedRows(NamedTuple):
    """Rows that were not stored, by their numbers in the table, and why."""

    partition: int
    rows: list[int]
    error: OttlaError


class _Part(NamedTuple):
    """A batch of the table under way: its rows, counted from `first_row`."""

    partition: int
    first_row: int
    rows: memoryview
    delivery: Delivery


class BatchDelivery:
    """The fate of a table's rows."""

    __slots__ = ("topic", "count", "_parts")

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self.count = 0
        self._parts: list[_Part] = []

    def add(self, part: _Part) -> None:
        self._parts.append(part)
        self.count += len(part.rows)

    def _pieces(self) -> Iterator[_Part]:
        """The batches as they are now: one that is too large for the broker becomes several."""
        for partition, first_row, rows, whole in self._parts:
            for start, count, delivery in whole.pieces():
                yield _Part(partition, first_row, rows[start : start + count], delivery)

    def done(self) -> bool:
        return all(piece.delivery.done() for piece in self._pieces())

    def errors(self) -> list[FailedRows]:
        """What is known to have failed, batch by batch."""
        found = []
        for partition, first_row, rows, delivery in self._pieces():
            error = delivery.error()
            if error is not None:
                found.append(FailedRows(partition, [first_row + row for row in rows], error))
        return found

    def metadata(self) -> BatchMetadata:
        """Where the rows were stored; raises the first error if one batch was not. Only once `done`."""
        found: dict[int, StoredRows] = {}
        for partition, _, rows, delivery in self._pieces():
            base = delivery.metadata().offset
            last = base + len(rows) - 1 if base >= 0 else -1
            before = found.get(partition)
            if before is None:
                found[partition] = StoredRows(len(rows), base, last)
            else:
                found[partition] = StoredRows(before.row_count + len(rows), before.first_offset, last)
        return BatchMetadata(self.topic, self.count, found)


class BatchFuture(BatchDelivery):
    """The outcome of a `send_batch`: where the rows were stored, or why some were not (`errors()`)."""

    __slots__ = ()

    def result(self, timeout: float | None = None) -> BatchMetadata:
        """Waits until all rows were acknowledged; raises the first of the errors that kept some from it.

        OperationTimedOut when that takes longer than `timeout` seconds: the rest is still under way then.
        """
        self._wait(timeout)
        return self.metadata()

    def exception(self, timeout: float | None = None) -> OttlaError | None:
        """Waits like `result`, and returns the first error, or None."""
        self._wait(timeout)
        return next((error for each in self._pieces() if (error := each.delivery.error()) is not None), None)

    def _wait(self, timeout: float | None) -> None:
        if not self.done():
            runtime = self._parts[0].delivery.owner
            runtime.run(self._until_done(runtime.clock.monotonic_ms, timeout))

    def _until_done(self, monotonic_ms: Callable[[], float], timeout: float | None) -> ClientSteps[None]:
        deadline_ms = None if timeout is None else monotonic_ms() + max(timeout, 0.0) * 1000
        for part in self._parts:
            while (delivery := _undone(part.delivery)) is not None:
                left_ms = None if deadline_ms is None else deadline_ms - monotonic_ms()
                if left_ms is not None and left_ms <= 0:
                    raise OperationTimedOut("some rows were not acknowledged yet; they are still under way")
                yield Wait(delivery.finished, left_ms)


class AwaitableBatch(BatchDelivery):
    """The outcome of a `send_batch` under asyncio: `await` it for where the rows were stored."""

    __slots__ = ()

    def __await__(self) -> Generator[Any, None, BatchMetadata]:
        for part in self._parts:
            while (delivery := _undone(part.delivery)) is not None:
                with suppress(OttlaError):  # metadata() raises it when all are done
                    yield from delivery.__await__()  # type: ignore[attr-defined]
        return self.metadata()


def _undone(whole: Delivery) -> Delivery | None:
    return next((delivery for _, _, delivery in whole.pieces() if not delivery.done()), None)


# --- sending ------------------------------------------------------------------------------------------------


class ColumnSender:
    """Sends tables through a producer's core. `own` is a partitioner function of the user's, `partitioner`
    what is asked row by row where no faster way exists.
    """

    def __init__(
        self,
        core: ProducerCore,
        settings: ProducerSettings,
        partitioner: Partitioner,
        own: Callable[..., Any] | None = None,
    ) -> None:
        self._core = core
        self._host = core.session.host
        self._settings = settings
        self._partitioner = partitioner
        self._own = own
        self._spots: dict[str, tuple[int, int]] = {}  # topic: place among the usable partitions, bytes there
        self._records_bytes_max = settings.max_request_size - HEADER_BYTES
        self._batch_bytes = min(max(settings.batch_size, BATCH_BYTES) - HEADER_BYTES, self._records_bytes_max)
        self._spares = SpareBytes() if settings.compression_type == Codec.NONE else None

    def send_batch(
        self, topic: str, table: Any, delivery_type: type[BatchDelivery] = BatchFuture
    ) -> ClientSteps[BatchDelivery]:
        """Puts all rows in line, in their order for each partition, and gives what will become of them."""
        pieces = list(_pieces(table))
        view = self._core.topic(topic)
        if view is None:
            view = yield from self._core.await_topic(topic)
        now_ms = self._host.clock.now_ms()
        given = [_columns_of(piece, now_ms) for piece in pieces]
        first_row = 0
        for columns in given:
            self._check(columns, view, first_row)
            first_row += columns.rows
        delivery = delivery_type(topic)
        first_row = 0
        for columns in given:
            try:
                yield from self._send_piece(columns, view, first_row, delivery)
            except OttlaError as error:
                if delivery.count:
                    error.add_note(f"{delivery.count} rows of the table were put in line before this")
                raise
            first_row += columns.rows
        return delivery

    def _check(self, columns: GivenColumns, view: TopicView, first_row: int) -> None:
        """Raises if a row cannot be sent: before any is."""
        source, rows = columns.source, columns.rows
        place = 0
        while place < rows:
            fitting = source.fit(place, rows, self._records_bytes_max)
            if not fitting:
                raise RecordTooLarge(
                    f"row {first_row + place} takes {source.size + HEADER_BYTES} bytes, "
                    f"more than max.request.size ({self._settings.max_request_size})"
                )
            place += fitting
        if columns.partitions is not None:
            index, ends = _new_index(rows), _new_ends(len(view.partitions))
            partitions = columns.partitions
            if columns.without_partition:
                partitions = array("i", [max(partition, 0) for partition in partitions])
            bad = by_partition(memoryview(partitions), len(view.partitions), index, ends)
            if bad >= 0:
                raise InvalidArgument(
                    f"row {first_row + bad} has partition {partitions[bad]}: "
                    f"topic {view.name} has {len(view.partitions)} (from 0)"
                )

    def _send_piece(
        self, columns: GivenColumns, view: TopicView, first_row: int, delivery: BatchDelivery
    ) -> ClientSteps[None]:
        source, core, settings, spares = columns.source, self._core, self._settings, self._spares
        partitions = yield from self._partitions(columns, view)
        index, ends = _new_index(columns.rows), _new_ends(len(view.partitions))
        by_partition(partitions, len(view.partitions), index, ends)
        source.use_index(index)
        place = 0
        for partition, end in enumerate(ends):
            tp = TopicPartition(view.name, partition)
            while place < end:
                count = source.fit(place, end, self._batch_bytes) or source.fit(
                    place, place + 1, self._records_bytes_max
                )
                size_bytes = source.size + HEADER_BYTES
                data = encode_places(
                    source,
                    place,
                    count,
                    codec=settings.compression_type,
                    level=settings.compression_level,
                    crc=not settings.enable_idempotence,  # else it is made when the batch is numbered
                    spare=None if spares is None else spares.take(),
                )
                appended = yield from core.append_encoded(tp, EncodedRows(data, count, size_bytes, spares))
                delivery.add(_Part(partition, first_row, index[place : place + count], appended))
                place += count
                yield Pause(0)  # so that this batch is on its way while the next one is made

    # --- which partition ------------------------------------------------------------------------------------

    def _partitions(self, columns: GivenColumns, view: TopicView) -> ClientSteps[memoryview]:
        """The partition of each row."""
        given = columns.partitions
        if given is not None and not columns.without_partition:
            return memoryview(given)
        if self._own is not None:
            found: array[int] = yield Invoke(self._asked, (self._own, columns, view))
        else:
            found = self._built_in(columns, view)
        if given is not None:
            for row, partition in enumerate(given):
                if partition != NO_PARTITION:
                    found[row] = partition
        return memoryview(found)

    def _built_in(self, columns: GivenColumns, view: TopicView) -> array[int]:
        name = self._settings.partitioner
        source, rows = columns.source, columns.rows
        found = array("i", bytes(4 * rows))
        partitions = memoryview(found)
        ignore_keys = name in ("sticky", "round-robin") or (
            name == "default" and self._settings.partitioner_ignore_keys
        )
        if name not in ("default", "murmur2_random", "sticky", "round-robin"):
            for row in range(rows):
                key, value = columns.bytes_at(row)
                found[row] = self._partitioner.choose(view, key, record_size(key, value, ()))
            return found
        if ignore_keys:
            found = array("i", [NO_PARTITION]) * rows
            partitions = memoryview(found)
            without = rows
        else:
            without = source.hash_keys(partitions, len(view.partitions))
        if without:
            choices = array("i", usable(view))
            at, run_bytes = self._spots.get(view.name, (-1, 0))
            if at < 0:
                at = int(self._host.chance() * len(choices))
            run_bytes_max = 0 if name == "round-robin" else self._batch_bytes
            self._spots[view.name] = source.spread(
                partitions, memoryview(choices), at % len(choices), run_bytes, run_bytes_max
            )
        return found

    @staticmethod
    def _asked(own: Callable[..., Any], columns: GivenColumns, view: TopicView) -> array[int]:
        return array("i", [asked(own, view, *columns.values_at(row)) for row in range(columns.rows)])


def _new_index(rows: int) -> memoryview:
    return memoryview(bytearray(4 * rows)).cast("i")


def _new_ends(partition_count: int) -> memoryview:
    return memoryview(bytearray(8 * partition_count)).cast("q")


# --- what a table holds -------------------------------------------------------------------------------------


class GivenColumns:
    """The columns of a piece of a table, checked, as the record writer takes them."""

    __slots__ = ("rows", "source", "partitions", "without_partition", "_keys", "_values")

    def __init__(
        self,
        rows: int,
        source: ColumnSource,
        partitions: array[int] | None,
        without_partition: bool,
        keys: Any,
        values: Any,
    ) -> None:
        self.rows = rows
        self.source = source
        self.partitions = partitions
        """What the rows say themselves; NO_PARTITION where they say nothing."""
        self.without_partition = without_partition
        """Whether some rows say nothing."""
        self._keys = keys
        self._values = values

    def values_at(self, row: int) -> tuple[Any, Any]:
        """Key and value of a row as Python has them, for a user's partitioner."""
        return (
            None if self._keys is None else self._keys[row].as_py(),
            None if self._values is None else self._values[row].as_py(),
        )

    def bytes_at(self, row: int) -> tuple[bytes | None, bytes | None]:
        key, value = self.values_at(row)
        return (
            key.encode() if isinstance(key, str) else key,
            value.encode() if isinstance(value, str) else value,
        )


def _pieces(table: Any) -> Iterator[Any]:
    """The table as record batches of a good size; rows are copied only where chunks are small."""
    pa = pyarrow_for("send_batch")
    if isinstance(table, pa.RecordBatch):
        table = pa.Table.from_batches([table])
    elif not isinstance(table, pa.Table):
        if not hasattr(table, "__arrow_c_stream__"):
            raise InvalidArgument(
                f"send_batch takes a pyarrow Table or RecordBatch, not {type(table).__name__}"
            )
        table = pa.table(table)
    _check_names(table.column_names)
    waiting: list[Any] = []
    waiting_bytes = waiting_rows = 0
    for chunk in table.to_batches(PIECE_ROWS_MAX):
        if not chunk.num_rows:
            continue
        if waiting and waiting_rows + chunk.num_rows > PIECE_ROWS_MAX:
            yield _joined(pa, waiting)
            waiting, waiting_bytes, waiting_rows = [], 0, 0
        waiting.append(chunk)
        waiting_bytes += chunk.nbytes
        waiting_rows += chunk.num_rows
        if waiting_bytes >= PIECE_BYTES_MIN:
            yield _joined(pa, waiting)
            waiting, waiting_bytes, waiting_rows = [], 0, 0
    if waiting:
        yield _joined(pa, waiting)


def _joined(pa: Any, chunks: list[Any]) -> Any:
    if len(chunks) == 1:
        return chunks[0]
    return pa.Table.from_batches(chunks).combine_chunks().to_batches()[0]


def _check_names(names: Sequence[str]) -> None:
    for name in names:
        if name not in COLUMNS:
            from difflib import get_close_matches  # seldom needed, and slow to import

            near = get_close_matches(name, COLUMNS, 1)
            raise InvalidArgument(
                f"column {name!r} has no meaning to send_batch, which takes {', '.join(COLUMNS)}"
                + (f" (did you mean {near[0]!r}?)" if near else ": leave it out with table.select()")
            )
        if names.count(name) > 1:
            raise InvalidArgument(f"there are several columns named {name!r}")
    if "key" not in names and "value" not in names:
        raise InvalidArgument("the table has neither a column 'value' nor a column 'key'")


def _columns_of(piece: Any, now_ms: int) -> GivenColumns:
    """The columns of one record batch as the record writer takes them; InvalidArgument for a wrong type."""
    pa = pyarrow_for("send_batch")
    found = {name: piece.column(name) for name in piece.schema.names}
    keys, values = (
        byte_column(pa, found[name], name) if name in found else None for name in ("key", "value")
    )
    headers = _header_columns(pa, found["headers"]) if "headers" in found else None
    timestamps = _timestamps(pa, found["timestamp"], now_ms) if "timestamp" in found else None
    header_offsets, header_first, header_keys, header_values = headers or (None, 0, None, None)
    source = ColumnSource(
        timestamps,
        None,
        None if keys is None else column_buffers(keys),
        None if values is None else column_buffers(values),
        header_offsets,
        None if header_keys is None else column_buffers(header_keys),
        None if header_values is None else column_buffers(header_values),
        header_first,
        now_ms,
    )
    try:
        source.check(piece.num_rows)
    except ValueError as error:
        raise InvalidArgument(f"the table's buffers contradict each other: {error}") from error
    partition = found.get("partition")
    return GivenColumns(
        piece.num_rows,
        source,
        None if partition is None else _partition_column(pa, partition),
        partition is None or partition.null_count > 0,
        found.get("key"),
        found.get("value"),
    )


def byte_column(pa: Any, column: Any, name: str) -> Any:
    """A column of bytes or texts as an array with plain buffers: as it is, or cast where Arrow has it
    otherwise.
    """
    kind = column.type
    types = pa.types
    if types.is_binary(kind) or types.is_string(kind) or types.is_large_binary(kind):
        return column
    if types.is_large_string(kind):
        return column
    if isinstance(column, pa.ExtensionArray):
        return byte_column(pa, column.storage, name)
    if types.is_dictionary(kind):
        return byte_column(pa, column.dictionary_decode(), name)
    if types.is_fixed_size_binary(kind) or types.is_binary_view(kind) or types.is_string_view(kind):
        return column.cast(pa.large_binary())
    if types.is_null(kind):
        return column.cast(pa.binary())
    raise InvalidArgument(
        f"column {name!r} has type {kind}: send_batch takes binary and string columns; cast it first"
    )


def column_buffers(column: Any) -> tuple[memoryview, memoryview, memoryview | None, int]:
    """What ByteColumn of the record writer takes."""
    validity, offsets, data = column.buffers()
    form = "q" if "large" in str(column.type) else "i"
    return (
        _view(offsets, form),
        _view(data, "B"),
        None if validity is None or not column.null_count else _view(validity, "B"),
        column.offset,
    )


def _view(buffer: Any, form: str) -> memoryview:
    if buffer is None:
        return memoryview(b"").cast(form)  # type: ignore[call-overload,no-any-return]
    view = memoryview(buffer).cast("B")
    size = {"B": 1, "i": 4, "q": 8}[form]
    return view[: len(view) // size * size].cast(form)  # type: ignore[call-overload,no-any-return]


def _header_columns(pa: Any, column: Any) -> tuple[memoryview, int, Any, Any]:
    """(list offsets, first entry, keys, values) of a column of headers: list<struct<key, value>> or a map."""
    kind = column.type
    types = pa.types
    if types.is_null(kind):
        column = column.cast(pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())])))
        kind = column.type
    if types.is_large_list(kind) or types.is_fixed_size_list(kind):
        column = column.cast(pa.list_(kind.value_field))
        kind = column.type
    is_pairs = (
        types.is_list(kind)
        and types.is_struct(kind.value_type)
        and sorted(field.name for field in kind.value_type) == ["key", "value"]
    )
    if not is_pairs and not types.is_map(kind):
        raise InvalidArgument(
            f"column 'headers' has type {kind}: give list<struct<key: string, value: binary>> or "
            "map<string, binary>"
        )
    if column.null_count:
        # A row without a list has no headers; what its offsets say is not defined.
        column = pa.compute.coalesce(column, pa.scalar([], kind)) if not types.is_map(kind) else column
        if types.is_map(kind):
            column = column.cast(pa.list_(pa.struct([("key", kind.key_type), ("value", kind.item_type)])))
            return _header_columns(pa, column)
    if types.is_map(kind):
        keys, values = column.keys, column.items
    else:
        pairs = column.values
        if pairs.null_count:
            raise InvalidArgument("column 'headers' has a header that is null")
        keys = pairs.field(kind.value_type.get_field_index("key"))
        values = pairs.field(kind.value_type.get_field_index("value"))
    keys = byte_column(pa, keys, "headers.key")
    values = byte_column(pa, values, "headers.value")
    if keys.null_count:
        raise InvalidArgument("column 'headers' has a header without a name")
    return _view(column.buffers()[1], "i"), column.offset, keys, values


def _timestamps(pa: Any, column: Any, now_ms: int) -> memoryview:
    """Milliseconds since 1970; now where there is none."""
    kind = column.type
    types = pa.types
    if types.is_null(kind):
        column = column.cast(pa.int64())
    elif types.is_timestamp(kind) or types.is_date(kind):
        column = column.cast(pa.timestamp("ms", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
    elif types.is_integer(kind):
        try:
            column = column.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise InvalidArgument(f"column 'timestamp': {error}") from error
    else:
        raise InvalidArgument(
            f"column 'timestamp' has type {kind}: give a timestamp, or milliseconds since 1970 as int64"
        )
    if column.null_count:
        column = column.fill_null(now_ms)
    smallest = pa.compute.min(column).as_py()
    if smallest is not None and smallest < 0:
        raise InvalidArgument(f"column 'timestamp' has {smallest}, which lies before 1970")
    return _view(column.buffers()[1], "q")[column.offset : column.offset + len(column)]


def _partition_column(pa: Any, column: Any) -> array[int]:
    kind = column.type
    if not pa.types.is_integer(kind) and not pa.types.is_null(kind):
        raise InvalidArgument(f"column 'partition' has type {kind}: give integers")
    try:
        column = column.cast(pa.int32())
    except pa.ArrowInvalid as error:
        raise InvalidArgument(f"column 'partition': {error}") from error
    smallest = pa.compute.min(column).as_py()
    if smallest is not None and smallest < 0:
        raise InvalidArgument(f"column 'partition' has {smallest}: leave it null where the key is to decide")
    if column.null_count:
        column = column.fill_null(NO_PARTITION)
    found = array("i")
    found.frombytes(_view(column.buffers()[1], "i")[column.offset : column.offset + len(column)].cast("B"))
    return found
