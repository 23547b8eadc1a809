"""The consumer for asyncio: `ottla.aio.Consumer`.

The same core as the one for threads, on the running event loop: what waits is awaited, what does not is a
plain call. Fetching and heartbeats go on in the loop while the application awaits anything; code that does
not give way to the loop for `session.timeout.ms` loses its partitions.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping
from operator import length_hint
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from ottla.aio.session import AioSession
from ottla.client.config import consumer_settings
from ottla.client.consuming.core import ConsumerCore
from ottla.client.consuming.handing import HandingOut, committed_by, consumed_by, offsets_of
from ottla.client.consuming.listener import Told
from ottla.client.consuming.reset_policy import EARLIEST, LATEST
from ottla.client.consuming.subscription import PatternLike, TopicFilter, checked
from ottla.client.effects import ClientSteps
from ottla.client.errors import IllegalState, InvalidArgument, OttlaError
from ottla.client.extras import pyarrow_for
from ottla.client.records import ConsumerRecord, GroupMetadata, OffsetAndMetadata, OffsetAndTimestamp
from ottla.client.view import PartitionView
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.commits import CommitCallback

R = TypeVar("R")

SLICE_MS = 1_000.0
"""How long a wait without an end waits at a time: a cluster that was never there is noticed in between."""


class Consumer:
    """Reads records from coroutines, alone or as a member of a group.

        async with ottla.aio.Consumer("clicks", bootstrap_servers="localhost:9092", group_id="g") as consumer:
            async for record in consumer:
                print(record.partition, record.offset, record.value)

        records = await consumer.poll(timeout=1.0)
        await consumer.commit()

    Made inside of a coroutine, and used only in its event loop. Settings, rules and exceptions are those of
    `ottla.Consumer`; rebalance listeners may be coroutine functions.
    """

    def __init__(
        self,
        *topics: str,
        bootstrap_servers: str | list[str] | None = None,
        config: Mapping[str, Any] | None = None,
        consumer_timeout_ms: float | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = consumer_settings(config, settings)
        self._timeout_ms = consumer_timeout_ms
        self._session = AioSession.on_loop(self._settings)
        self._runtime = self._session.runtime
        self._core = ConsumerCore(self._session, self._settings)
        self._handing = HandingOut(self._core)
        self._user: asyncio.Task[Any] | None = None
        self._depth = 0
        self._one: AsyncGenerator[ConsumerRecord, None] | None = None
        if self._settings.interceptors:
            self._core.commits.on_committed = self._committed
        if topics:
            self.subscribe(topics)

    def __repr__(self) -> str:
        state = "closed " if self._core.closed else ""
        return f"<{state}ottla.aio.Consumer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

    # --- what to read -----------------------------------------------------------------------------------

    def subscribe(
        self,
        topics: Iterable[str] | str | TopicFilter | None = None,
        *,
        pattern: PatternLike | TopicFilter | None = None,
        exclude: PatternLike | Iterable[str] | None = None,
        listener: Any = None,
        on_assigned: Told | None = None,
        on_revoked: Told | None = None,
        on_lost: Told | None = None,
    ) -> None:
        """Shares these topics with the other members of the group; carried out by `poll`."""
        self._core.subscribe(
            topics,
            pattern=pattern,
            exclude=exclude,
            listener=listener,
            on_assigned=on_assigned,
            on_revoked=on_revoked,
            on_lost=on_lost,
        )

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads exactly these partitions, whatever others do."""
        chosen = [checked(tp) for tp in partitions]
        gone = self._core.assignment() - set(chosen)
        self._core.assign(chosen)
        self._handing.forget(gone)

    async def unsubscribe(self) -> None:
        """Leaves the group (committing first, with auto commit), or drops what was assigned."""
        await self._run(self._core.unsubscribe())
        self._handing.forget()

    def subscription(self) -> frozenset[str]:
        return self._core.subscription()

    def assignment(self) -> set[TopicPartition]:
        return self._core.assignment()

    def joined(self) -> bool:
        """Whether the group has given this member its share; True where partitions were assigned by hand."""
        return self._core.joined

    # --- reading ----------------------------------------------------------------------------------------

    async def poll(self, timeout: float | None = 1.0, max_records: int | None = None) -> list[ConsumerRecord]:
        """Up to `max_records` records, as soon as there are any; [] after `timeout` seconds (None: no
        end).
        """
        self._enter()
        try:
            left = self._handing.take_left(max_records)
            if left:
                return left
            self._handing.polling()
            return self._handing.whole(self._seen(await self._poll(_milliseconds(timeout), max_records)))
        finally:
            self._leave()

    async def _poll(self, timeout_ms: float | None, max_records: int | None = None) -> list[ConsumerRecord]:
        run, poll, kept = self._runtime.run, self._core.poll, self._handing.kept
        if timeout_ms is None:
            while not (records := await run(kept(poll(SLICE_MS, max_records)))):
                pass
        else:
            records = await run(kept(poll(timeout_ms, max_records)))
        return records

    def _seen(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
        """What the interceptors make of them."""
        interceptors = self._settings.interceptors
        return consumed_by(interceptors, records) if interceptors and records else records

    async def poll_arrow(self, timeout: float | None = 1.0, max_bytes: int | None = None) -> Any:
        """The same as one `pyarrow.RecordBatch`, without a Python object for each record."""
        from ottla.client.consuming.arrow import record_batch

        pyarrow_for("poll_arrow")  # before anything is taken that could not be handed out
        self._enter()
        try:
            self._handing.give_back(self._core.assignment())
            self._handing.polling()
            wait_ms = _milliseconds(timeout)
            while True:
                steps = self._core.poll_columns(SLICE_MS if wait_ms is None else wait_ms, max_bytes)
                columns = await self._runtime.run(self._handing.kept_columns(steps))
                if columns or wait_ms is not None:
                    batch = record_batch(columns)
                    self._handing.polling()
                    return batch
        finally:
            self._leave()

    async def __aiter__(self) -> AsyncGenerator[ConsumerRecord, None]:
        """Records without end, or until none comes for `consumer_timeout_ms`, or `close`."""
        handing = self._handing
        while True:
            if not length_hint(handing.rest):
                records = await self._next_records()
                if not records:
                    return
                handing.iterate(records)
            for record in handing.rest:
                yield record

    async def __anext__(self) -> ConsumerRecord:
        if self._one is None:
            self._one = self.__aiter__()
        try:
            return await anext(self._one)
        except BaseException:
            self._one = None
            raise

    async def _next_records(self) -> list[ConsumerRecord]:
        if self._core.closed:
            return []
        self._enter()
        try:
            while polled := await self._poll(self._timeout_ms):
                if records := self._seen(polled):
                    return records
            return []
        finally:
            self._leave()

    def wakeup(self) -> None:
        """Makes the call that waits now, or the next one that would, raise WokenUp. From another thread:
        `loop.call_soon_threadsafe(consumer.wakeup)`.
        """
        self._core.wakeup()

    # --- where it is ------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int, *, leader_epoch: int = -1) -> None:
        """The next poll begins here."""
        tp = checked(partition)
        self._core.seek(tp, offset, leader_epoch)
        self._handing.forget({tp})

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """To the first record there is; all assigned partitions where none are named."""
        self._seek(partitions, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Past the last record; all assigned partitions where none are named."""
        self._seek(partitions, LATEST)

    def _seek(self, partitions: Iterable[TopicPartition], time: int) -> None:
        chosen = [checked(tp) for tp in partitions]
        self._core.seek_to_time(chosen or None, time)
        self._handing.forget(chosen or None)

    async def rewind(self, *partitions: TopicPartition) -> None:
        """Back to what the group has committed: what was read since is read again."""
        chosen = [checked(tp) for tp in partitions]
        await self._run(self._core.rewind(chosen or None))
        self._handing.forget(chosen or None)

    def pause(self, *partitions: TopicPartition) -> None:
        """Polls give nothing of these until `resume`; the membership is not touched."""
        chosen = [checked(tp) for tp in partitions]
        self._core.pause(chosen)
        self._handing.give_back(chosen)

    def resume(self, *partitions: TopicPartition) -> None:
        self._core.resume([checked(tp) for tp in partitions])

    def paused(self) -> set[TopicPartition]:
        return set(self._core.fetcher.paused())

    async def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known."""
        return await self._run(self._core.position(checked(partition), _milliseconds(timeout)))

    def lag(self, partition: TopicPartition) -> int | None:
        """How far the position is from the end, as of the last fetch; None when nothing was fetched yet."""
        return self._core.lag(checked(partition))

    def at_end(self) -> bool:
        """Whether this consumer has its partitions and, as of the last fetches, nothing is left to read."""
        return self._core.at_end() and not self._handing.left()

    # --- what is committed ------------------------------------------------------------------------------

    async def commit(self, what: Any = None, timeout: float | None = None) -> None:
        """Commits what was handed out (None), up to and with a record, or offsets by partition."""
        await self._run(self._core.commit(offsets_of(what), _milliseconds(timeout)))

    def commit_async(self, what: Any = None, callback: CommitCallback | None = None) -> None:
        """The same without waiting, and without a second try; `callback(offsets, error)` is called in the
        loop.
        """
        if callable(what) and callback is None:
            what, callback = None, what
        self._core.commit_async(offsets_of(what), callback)

    async def committed(
        self, *partitions: TopicPartition, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; all assigned partitions where none are named."""
        chosen = [checked(tp) for tp in partitions] or sorted(self._core.assignment())
        return await self._run(self._core.committed(chosen, _milliseconds(timeout)))

    @property
    def commit_error(self) -> OttlaError | None:
        """Why the last automatic commit failed; None when it did not."""
        return self._core.consumed.commit_error

    def group_metadata(self) -> GroupMetadata:
        """Who this consumer is in its group, for `producer.send_offsets_to_transaction`."""
        return self._core.group_metadata()

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Has the group share its partitions out anew, beginning with the next poll (KIP-568)."""
        self._core.enforce_rebalance(reason)

    # --- questions --------------------------------------------------------------------------------------

    async def offsets_for_times(
        self, times: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after a time (milliseconds since 1970); None where there is none."""
        return await self._run(self._core.offsets_for_times(times, _milliseconds(timeout)))

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        return await self._run(self._core.beginning_offsets(partitions, _milliseconds(timeout)))

    async def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """Past the last record; with read_committed past the last one that is decided."""
        return await self._run(self._core.end_offsets(partitions, _milliseconds(timeout)))

    async def partitions_for(self, topic: str) -> tuple[PartitionView, ...]:
        """The topic's partitions with their leaders; ServerError when there is no such topic."""
        return (await self._run(self._session.cluster.discover([topic]))).topic(topic).partitions

    async def topics(self) -> list[str]:
        """The names of the cluster's topics that may be read."""
        view = await self._run(self._session.cluster.discover(None))
        return sorted(name for name, topic in view.topics.items() if not topic.error)

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them."""
        return self._session.metrics.snapshot()

    # --- the end ----------------------------------------------------------------------------------------

    async def close(self, timeout: float = 30.0, *, leave: bool | None = None) -> None:
        """Commits (with auto commit), leaves the group and ends, within `timeout` seconds. `leave`: None: a
        static member stays until its session ends, others leave; True leaves in any case, False in none.
        """
        if self._core.closed:
            return
        timeout_ms = _milliseconds(timeout)
        if self._runtime.gone:
            self._core.closed = True
            return
        self._runtime.check_loop()
        self._enter()
        try:
            remain = None if leave is None else not leave
            await self._runtime.run(self._core.close(timeout_ms, remain=remain))
        finally:
            self._core.closed = True
            self._handing.forget()  # an iteration ends here, too
            self._leave()
            await self._session.close()

    async def __aenter__(self) -> Consumer:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not self._core.closed:
            self._handing.failed()
        await self.close()

    # --- the shell --------------------------------------------------------------------------------------

    def _enter(self) -> None:
        """One task at a time; the same one may come again, out of a listener."""
        task = asyncio.current_task()
        if self._depth and self._user is not task:
            raise IllegalState(
                "another task is using this consumer: one task at a time may, except for wakeup(); use a "
                "consumer for each"
            )
        self._user = task
        self._depth += 1

    def _leave(self) -> None:
        self._depth -= 1
        if not self._depth:
            self._user = None

    async def _run(self, steps: ClientSteps[R]) -> R:
        self._enter()
        try:
            return await self._runtime.run(steps)
        finally:
            self._leave()

    def _committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self._runtime.later(lambda: committed_by(self._settings.interceptors, offsets))


def _milliseconds(timeout: float | None) -> float | None:
    if timeout is not None and timeout < 0:
        raise InvalidArgument(f"a timeout of {timeout} s cannot be waited for")
    return None if timeout is None else timeout * 1000
