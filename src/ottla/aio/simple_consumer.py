"""The low-level consumer under asyncio: `ottla.aio.SimpleConsumer`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ottla.aio.session import AioSession
from ottla.client.config import consumer_settings
from ottla.client.consuming.reset_policy import EARLIEST, LATEST
from ottla.client.consuming.simple import (
    FETCH_BYTES,
    RANGE_FETCH_BYTES,
    Fetch,
    SimpleConsumerCore,
)
from ottla.client.errors import ClientClosed
from ottla.client.extras import pyarrow_for

if TYPE_CHECKING:
    from ottla.client.consuming.fetched_data import FetchedData
    from ottla.client.metrics import Snapshot


class SimpleConsumer:
    """Fetches from partitions without keeping any state: no group, no positions, no commits.

        async with ottla.aio.SimpleConsumer("localhost:9092") as consumer:
            fetched = await consumer.fetch("clicks", 0, offset=0)
            for record in fetched: ...
            async for batch in consumer.read_range("clicks", 0, 0): ...

    As `ottla.SimpleConsumer`, awaited; it begins on the loop that runs at its first call.
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
        self._opened: tuple[AioSession, SimpleConsumerCore] | None = None
        self._closed = False

    def __repr__(self) -> str:
        return f"<ottla.aio.SimpleConsumer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    async def __aenter__(self) -> SimpleConsumer:
        self._open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._opened is not None:
            await self._opened[0].close()
        self._closed = True

    async def fetch(
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
        session, core = self._open()
        wanted = Fetch(topic, partition, offset, max_bytes)
        steps = core.fetch(
            wanted, max_wait_ms=int(max_wait * 1000), min_bytes=min_bytes, timeout_ms=_ms(timeout)
        )
        return await session.runtime.run(steps)

    async def multifetch(
        self,
        fetches: Iterable[Fetch | tuple[Any, ...]],
        *,
        max_wait: float = 0.5,
        min_bytes: int = 1,
        timeout: float | None = None,
    ) -> list[FetchedData]:
        """Several fetches, `(topic, partition, offset[, max_bytes])` each, grouped by leader, all brokers at
        once. The answers come in the order of the question; one that failed has its `error`, and raises it
        when it is used.
        """
        session, core = self._open()
        steps = core.multifetch(
            fetches, max_wait_ms=int(max_wait * 1000), min_bytes=min_bytes, timeout_ms=_ms(timeout)
        )
        return await session.runtime.run(steps)

    async def read_range(
        self,
        topic: str,
        partition: int,
        start: int,
        end: int | None = None,
        *,
        max_bytes: int = RANGE_FETCH_BYTES,
    ) -> AsyncIterator[Any]:
        """All records with `start` <= offset < `end` as `pyarrow.RecordBatch`es, the next one fetched while
        this one is used. Without an end: up to the end of the partition as it is now.
        """
        pyarrow_for("read_range")
        session, core = self._open()
        if end is None:
            end = max(start, await self.latest(topic, partition))
        reader = core.read_range(topic, partition, start, end, max_bytes)
        try:
            while (batch := await session.runtime.run(reader.next_batch())) is not None:
                yield batch
        finally:
            reader.cancel()

    async def partitions(self, topic: str) -> list[int]:
        """The numbers of a topic's partitions."""
        session, core = self._open()
        return await session.runtime.run(core.partitions(topic))

    async def offset_before(
        self,
        topic: str,
        partition: int,
        time: int | datetime,
        max_count: int = 1,
        *,
        timeout: float | None = None,
    ) -> list[int]:
        """Offsets at which reading may begin to see what was there before a time, newest first, `max_count`
        at most: that of the first record at or after the time, and before it equal parts of the log.
        """
        session, core = self._open()
        return await session.runtime.run(core.offset_before(topic, partition, time, max_count, _ms(timeout)))

    async def offset_after(
        self, topic: str, partition: int, time: int | datetime, *, timeout: float | None = None
    ) -> int | None:
        """The offset of the first record at or after a time; None when no record is that young."""
        session, core = self._open()
        return await session.runtime.run(core.offset_of(topic, partition, time, _ms(timeout)))

    async def earliest(self, topic: str, partition: int, *, timeout: float | None = None) -> int:
        """Where the log begins."""
        found = await self.offset_after(topic, partition, EARLIEST, timeout=timeout)
        assert found is not None
        return found

    async def latest(self, topic: str, partition: int, *, timeout: float | None = None) -> int:
        """The offset that the next record will get; with read_committed, the last stable offset."""
        found = await self.offset_after(topic, partition, LATEST, timeout=timeout)
        assert found is not None
        return found

    def metrics(self) -> Snapshot:
        return {} if self._opened is None else self._opened[0].metrics.snapshot()

    def _open(self) -> tuple[AioSession, SimpleConsumerCore]:
        if self._closed:
            raise ClientClosed("the consumer is closed")
        if self._opened is None:
            session = AioSession.on_loop(self._settings)
            self._opened = session, SimpleConsumerCore(session, self._settings)
        return self._opened


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1000
