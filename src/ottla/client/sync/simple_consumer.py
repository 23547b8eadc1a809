"""The low-level consumer for threads: `ottla.SimpleConsumer`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.client.config import consumer_settings
from ottla.client.consuming.reset_policy import EARLIEST, LATEST
from ottla.client.consuming.simple import (
    FETCH_BYTES,
    RANGE_FETCH_BYTES,
    Fetch,
    RangeReader,
    SimpleConsumerCore,
)
from ottla.client.effects import ClientSteps
from ottla.client.extras import pyarrow_for
from ottla.client.session import Session
from ottla.model.types import NO_TOPIC_ID

if TYPE_CHECKING:
    from ottla.client.consuming.arrow import ArrowForm
    from ottla.client.consuming.fetched_data import FetchedData
    from ottla.client.metrics import Snapshot
    from ottla.client.runtime.threaded import ThreadedRuntime

R = TypeVar("R")


class SimpleConsumer:
    """Fetches from partitions without keeping any state: no group, no positions, no commits.

        with ottla.SimpleConsumer("localhost:9092") as consumer:
            fetched = consumer.fetch("clicks", 0, offset=0)
            for record in fetched: ...
            consumer.fetch("clicks", 0, fetched.next_offset)

    Settings are a consumer's (deserializers, `isolation_level`, `client_rack`, `check_crcs`, timeouts). Any
    number of threads may use one. Leaders are found and followed; errors are raised as ServerError with
    Kafka's code (OffsetOutOfRange for an offset outside the log), and OperationTimedOut when a partition has
    no leader for as long as `timeout` seconds (`default.api.timeout.ms`).
    """

    def __init__(
        self,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = consumer_settings(config, settings)
        self._session = Session.threaded(self._settings)
        self._runtime = self._session.runtime
        try:
            self._core = SimpleConsumerCore(self._session, self._settings)
        except BaseException:
            self._session.close()
            raise

    def __repr__(self) -> str:
        return f"<ottla.SimpleConsumer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    def __enter__(self) -> SimpleConsumer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

    def fetch(
        self,
        topic: str,
        partition: int,
        offset: int,
        max_bytes: int = FETCH_BYTES,
        *,
        max_wait: float = 0.5,
        min_bytes: int = 1,
        timeout: float | None = None,
    ) -> FetchedData:
        """The batches from an offset on, about `max_bytes` of them (at least one, whatever its size). With
        less than `min_bytes` there, the broker waits up to `max_wait` seconds.
        """
        wanted = Fetch(topic, partition, offset, max_bytes)
        return self._run(
            self._core.fetch(
                wanted, max_wait_ms=int(max_wait * 1000), min_bytes=min_bytes, timeout_ms=_ms(timeout)
            )
        )

    def multifetch(
        self,
        fetches: Iterable[Fetch | tuple[Any, ...]],
        *,
        max_wait: float = 0.5,
        min_bytes: int = 1,
        timeout: float | None = None,
    ) -> list[FetchedData]:
        """Several fetches, `(topic, partition, offset[, max_bytes])` each, grouped by leader, all brokers at
        once. The answers come in the order of the question; one that failed has its `error`, and raises it
        when it is used. Each broker waits by itself until `min_bytes` are there.
        """
        return self._run(
            self._core.multifetch(
                fetches, max_wait_ms=int(max_wait * 1000), min_bytes=min_bytes, timeout_ms=_ms(timeout)
            )
        )

    def read_range(
        self,
        topic: str,
        partition: int,
        start: int,
        end: int | None = None,
        *,
        max_bytes: int = RANGE_FETCH_BYTES,
        form: ArrowForm | None = None,
        topic_id: bytes = NO_TOPIC_ID,
    ) -> RangeBatches:
        """All records with `start` <= offset < `end` as `pyarrow.RecordBatch`es, the next one fetched while
        this one is used. Without an end: up to the end of the partition as it is now. A form chooses columns.
        With a topic's id, one of the same name that was created since is refused: UnknownTopicId.
        """
        pyarrow_for("read_range")
        if end is None:
            end = max(start, self.latest(topic, partition))
        return RangeBatches(
            self._runtime, self._core.read_range(topic, partition, start, end, max_bytes, form, topic_id)
        )

    def partitions(self, topic: str) -> list[int]:
        """The numbers of a topic's partitions."""
        return self._run(self._core.partitions(topic))

    def offset_before(
        self,
        topic: str,
        partition: int,
        time: int | datetime,
        max_count: int = 1,
        *,
        timeout: float | None = None,
    ) -> list[int]:
        """Offsets at which reading may begin to see what was there before a time (milliseconds since 1970, a
        datetime, EARLIEST or LATEST), newest first, `max_count` at most.

        The first is that of the first record at or after the time, or the end of the log. The oldest is the
        beginning of the log, and those in between cut it into equal parts. (Kafka's first protocol listed the
        beginnings of segment files here; brokers no longer tell them, and any offset will do.)
        """
        return self._run(self._core.offset_before(topic, partition, time, max_count, _ms(timeout)))

    def offset_after(
        self, topic: str, partition: int, time: int | datetime, *, timeout: float | None = None
    ) -> int | None:
        """The offset of the first record at or after a time; None when no record is that young."""
        return self._run(self._core.offset_of(topic, partition, time, _ms(timeout)))

    def earliest(self, topic: str, partition: int, *, timeout: float | None = None) -> int:
        """Where the log begins."""
        found = self._run(self._core.offset_of(topic, partition, EARLIEST, _ms(timeout)))
        assert found is not None
        return found

    def latest(self, topic: str, partition: int, *, timeout: float | None = None) -> int:
        """The offset that the next record will get; with read_committed, the last stable offset."""
        found = self._run(self._core.offset_of(topic, partition, LATEST, _ms(timeout)))
        assert found is not None
        return found

    def metrics(self) -> Snapshot:
        return self._session.metrics.snapshot()

    def _run(self, steps: ClientSteps[R]) -> R:
        return self._runtime.run(steps)


class RangeBatches(Iterator[Any]):
    """What `read_range` gives: an iterator that knows how far it is."""

    def __init__(self, runtime: ThreadedRuntime, reader: RangeReader) -> None:
        self._runtime = runtime
        self._reader = reader
        self._closed = False

    @property
    def next_offset(self) -> int:
        """Where the next batch begins: behind what was handed out, and behind what is only in between."""
        return self._reader.next_offset

    def __next__(self) -> Any:
        batch = None if self._closed else self._runtime.run(self._reader.next_batch())
        if batch is None:
            self._closed = True
            raise StopIteration
        return batch

    def close(self) -> None:
        """Gives up what is fetched ahead."""
        if not self._closed:
            self._closed = True
            with self._runtime.lock:
                self._reader.cancel()


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
