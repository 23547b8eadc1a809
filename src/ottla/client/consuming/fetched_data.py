"""What a single fetch of a `SimpleConsumer` brought: batches, made into records or columns on demand.

The batches stay a view of the receive buffer, which lives as long as this object does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ottla.client.consuming.arrow import ArrowForm, record_batch
from ottla.client.errors import OttlaError
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import joined_columns, read_header
from ottla.wire.record_codec import scan_batches

if TYPE_CHECKING:
    from ottla.client.consuming.decode import Decoder, FetchedRecords
    from ottla.client.records import ConsumerRecord
    from ottla.wire.messages.fetch import PartitionData
    from ottla.wire.record_batch import Columns, PendingColumns

_COLUMNS_BYTES_MAX = 2**31 - 1
_RECORDS_MAX = 2**31 - 1


class FetchedData:
    """One partition's answer. Where it failed (`multifetch` goes on with the others), `error` says why, and
    everything else raises it.
    """

    __slots__ = ("topic", "partition", "offset", "error", "_data", "_decoder", "_records", "_columns", "_end")

    def __init__(
        self,
        tp: TopicPartition,
        offset: int,
        decoder: Decoder,
        data: PartitionData | None = None,
        error: OttlaError | None = None,
    ) -> None:
        self.topic = tp.topic
        self.partition = tp.partition
        self.offset = offset
        """The offset that was asked for: records before it, which share its batch, are left out."""
        self.error = error
        self._data = data
        self._decoder = decoder
        self._records: list[ConsumerRecord] | None = None
        self._columns: Columns | None = None
        self._end: tuple[int, int] | None = None

    def __repr__(self) -> str:
        where = f"{self.topic}-{self.partition} from {self.offset}"
        if self.error is not None:
            return f"<FetchedData {where}: {self.error}>"
        return f"<FetchedData {where} to {self.next_offset}, {len(self.raw)} bytes>"

    @property
    def data(self) -> PartitionData:
        """The answer as it came."""
        if self.error is not None:
            raise self.error
        assert self._data is not None
        return self._data

    @property
    def high_watermark(self) -> int:
        """The end of what is committed to the in-sync replicas: no consumer reads further."""
        return self.data.high_watermark

    @property
    def last_stable_offset(self) -> int:
        """Where the first transaction begins that is not decided: read_committed reads up to here."""
        return self.data.last_stable_offset

    @property
    def log_start_offset(self) -> int:
        return self.data.log_start_offset

    @property
    def raw(self) -> memoryview:
        """The whole record batches, as the log has them (format v2), aborted and control batches included."""
        return memoryview(self.data.records or b"")[: self._whole()[0]]

    @property
    def next_offset(self) -> int:
        """Where the next fetch goes on; `offset` itself when nothing was there."""
        return self._whole()[1]

    def _whole(self) -> tuple[int, int]:
        """Where the last whole batch ends: in bytes, and as an offset."""
        if self._end is None:
            records = self.data.records
            if not records:
                self._end = 0, self.offset
            else:
                count, end, last_at = scan_batches(records, 0, len(records))
                following = read_header(records, last_at).next_offset if count else self.offset
                self._end = end, max(self.offset, following)
        return self._end

    @property
    def records(self) -> list[ConsumerRecord]:
        """The records from `offset` on. ProtocolError where a batch cannot be read, SerializationFailed where
        a deserializer raised.
        """
        if self._records is None:
            self._records = list(self._read())
        return self._records

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """As `records`; those in front of one that cannot be read are given before it raises."""
        return self._read() if self._records is None else iter(self._records)

    def _read(self) -> Iterator[ConsumerRecord]:
        fetched = self._fetched()
        while not fetched.finished:
            yield from fetched.take(_RECORDS_MAX)

    def _fetched(self) -> FetchedRecords:
        data = self.data
        tp = TopicPartition(self.topic, self.partition)
        return self._decoder.fetched(tp, data.records, self.offset, data.aborted_transactions or ())

    @property
    def columns(self) -> Columns:
        """The records from `offset` on as buffers in Arrow's layout, without a Python object for each."""
        if self._columns is None:
            self._columns = joined_columns(list(self.parts()))
        return self._columns

    def to_arrow(self) -> Any:
        """The records from `offset` on as a `pyarrow.RecordBatch` (key value topic partition offset timestamp
        timestamp_type headers); needs `pip install ottla[arrow]`.
        """
        return arrow_of(self, list(self.parts()))

    def parts(self) -> Iterator[PendingColumns]:
        """What becomes columns, up to a batch that cannot be read, which raises. More than one where batches
        expand to a lot.
        """
        fetched = self._fetched()
        yield fetched.take_columns(_COLUMNS_BYTES_MAX)
        while not fetched.finished:
            yield fetched.take_columns(_COLUMNS_BYTES_MAX)


def arrow_of(
    fetched: FetchedData,
    parts: Iterable[PendingColumns],
    form: ArrowForm | None = None,
    end_offset: int | None = None,
) -> Any:
    """Parts of what was fetched as one `pyarrow.RecordBatch`, up to an end."""
    tp = TopicPartition(fetched.topic, fetched.partition)
    return record_batch([(tp, part) for part in parts], form, end_offset)
