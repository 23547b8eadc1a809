"""The producer for asyncio: `ottla.aio.Producer`.

The same core as the one for threads, on the running event loop. `send` is a coroutine that mostly does not
wait; it gives way to the loop once in a while, so that a loop of sends does not keep its
batches from leaving.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

from ottla.aio.session import AioSession
from ottla.client.config import producer_settings
from ottla.client.effects import ClientSteps
from ottla.client.errors import ClientClosed, TransactionFailed
from ottla.client.producing.core import ProducerCore
from ottla.client.producing.front import Front, OnDelivery, abort_quietly, check_topic, offsets_of
from ottla.client.producing.future import AwaitableRecord
from ottla.client.records import GroupMetadata, OffsetAndMetadata, RecordMetadata
from ottla.client.view import PartitionView
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.producing.columns import AwaitableBatch, ColumnSender

YIELD_MASK: Final = 127
"""`send` gives way to the loop with the first record of a batch (the one before it is full then), and with
every 128th.
"""


class Producer:
    """Publishes records to the topics of a cluster, from coroutines.

        async with ottla.aio.Producer("localhost:9092", value_serializer="json") as producer:
            await producer.send("clicks", {"user": 7}, key="7")               # fire and forget
            metadata = await producer.send_and_wait("clicks", {"user": 8})    # wait for this one
            future = await producer.send("clicks", {"user": 9})
            metadata = await future                                           # or later
            await producer.flush()                                            # wait for all

    Made inside of a coroutine, and used only in its event loop. Settings and rules are those of
    `ottla.Producer`.
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
        self._settings = producer_settings(config, settings)
        self._session = AioSession.on_loop(self._settings)
        self._runtime = self._session.runtime
        self._loop = self._runtime.loop
        self._core = ProducerCore(
            self._session, self._settings, delivery_type=AwaitableRecord, owner=self._loop
        )
        self._front = Front(self._core, self._settings, nullcontext())
        self._closed = False
        self._columns: ColumnSender | None = None

    def __repr__(self) -> str:
        state = "closed " if self._closed else ""
        return f"<{state}ottla.aio.Producer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    # --- sending ----------------------------------------------------------------------------------------

    async def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        *,
        headers: Any = None,
        partition: int | None = None,
        timestamp: Any = None,
        on_delivery: OnDelivery | None = None,
    ) -> AwaitableRecord:
        """Puts a record in line and returns its future, to be awaited for the record's metadata, or not.

        The arguments and exceptions are those of `ottla.Producer.send`; `on_delivery` is called in the event
        loop.
        """
        if asyncio.get_running_loop() is not self._loop:
            self._runtime.check_loop()
        sent = self._front.send(topic, value, key, headers, partition, timestamp, on_delivery)
        if sent.__class__ is not AwaitableRecord:
            sent = await self._runtime.run(sent)  # type: ignore[arg-type]
        if not sent._index & YIELD_MASK:  # type: ignore[union-attr]
            await asyncio.sleep(0)
        return sent  # type: ignore[return-value]

    async def send_and_wait(
        self, topic: str, value: Any = None, key: Any = None, **more: Any
    ) -> RecordMetadata:
        """Sends a record and waits until it was acknowledged."""
        return await (await self.send(topic, value, key, **more))

    async def send_batch(self, topic: str, table: Any) -> AwaitableBatch:
        """Sends the rows of a pyarrow Table or RecordBatch, without making a Python object of each.

        Returns when all rows are in line; what it returns is awaited for where they were stored. See
        `ottla.Producer.send_batch`.
        """
        self._open()
        check_topic(topic)
        from ottla.client.producing.columns import AwaitableBatch, ColumnSender

        if self._columns is None:
            front = self._front
            self._columns = ColumnSender(self._core, self._settings, front.partitioner, front.own_partitioner)
        sent = await self._runtime.run(self._columns.send_batch(topic, table, AwaitableBatch))
        return sent  # type: ignore[return-value]

    async def flush(self, timeout: float | None = None) -> None:
        """Sends everything now, and waits until every record sent so far was acknowledged or given up."""
        await self._run(self._core.flush(), timeout)

    async def partitions_for(self, topic: str) -> tuple[PartitionView, ...]:
        """The topic's partitions with their leaders and replicas. Waits up to `max.block.ms`."""
        partitions: tuple[PartitionView, ...] = (await self._run(self._core.await_topic(topic))).partitions
        return partitions

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them: `producer-metrics`, `record-send-total`."""
        return self._session.metrics.snapshot()

    # --- transactions -----------------------------------------------------------------------------------

    async def init_transactions(self, timeout: float | None = None) -> None:
        """Takes possession of `transactional.id`: once, before the first transaction."""
        await self._run(self._core.init_transactions(None if timeout is None else timeout * 1000))

    async def begin_transaction(self) -> None:
        self._open()
        self._core.begin_transaction()

    async def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: GroupMetadata | str
    ) -> None:
        """Makes a consumer's progress a part of the transaction."""
        await self._run(self._core.send_offsets_to_transaction(offsets_of(offsets), group))

    async def commit_transaction(self) -> None:
        """Sends what was not sent yet, and makes all of it visible."""
        await self._run(self._core.commit_transaction())

    async def abort_transaction(self) -> None:
        """Takes everything back that was sent since `begin_transaction`."""
        await self._run(self._core.abort_transaction())

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Producer]:
        """A transaction as a block: committed at its end, aborted by an exception (which goes on).

        await producer.init_transactions()
        async with producer.transaction():
            await producer.send("orders", order)
            await producer.send_offsets_to_transaction(offsets, consumer.group_metadata())
        """
        await self.begin_transaction()
        try:
            yield self
        except BaseException:
            await self._run(abort_quietly(self._core))
            raise
        try:
            await self.commit_transaction()
        except TransactionFailed:
            await self._run(abort_quietly(self._core))
            raise

    # --- the end ----------------------------------------------------------------------------------------

    async def close(self, timeout: float | None = None) -> None:
        """Sends what is in line, waits for it, and closes the connections. Always returns.

        Without a timeout everything has its chance until `delivery.timeout.ms`; with one, what was not
        acknowledged after `timeout` seconds fails. An open transaction is aborted. Closing twice does
        nothing.
        """
        if self._closed:
            return
        if not self._runtime.gone:
            self._runtime.check_loop()
        self._closed = True
        self._front.close()
        try:
            if not self._runtime.gone:
                await self._runtime.run(self._core.close(None if timeout is None else timeout * 1000))
        finally:
            await self._session.close()
            self._front.closed()

    async def __aenter__(self) -> Producer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, steps: ClientSteps[Any], timeout: float | None = None) -> Any:
        if self._closed:
            steps.close()
        self._open()
        return await self._runtime.run(steps, None if timeout is None else timeout * 1000)

    def _open(self) -> None:
        if self._closed:
            raise ClientClosed("the producer is closed")
