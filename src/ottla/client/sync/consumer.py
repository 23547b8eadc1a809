"""The consumer for threads: `ottla.Consumer`.

A shell around the core (`client/consuming/core.py`). The thread that polls does the socket work itself; while
it works on records, fetching and heartbeats go on in the background. One consumer belongs to one thread at a
time: a second one that comes in gets IllegalState, except for `wakeup`. Several threads that want to share
the work use `streams`, or a consumer each.
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from operator import length_hint
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar, overload

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
from ottla.client.session import Session
from ottla.client.view import PartitionView
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.commits import CommitCallback
    from ottla.client.sync.streams import MessageStream

R = TypeVar("R")

SLICE_MS = 1_000.0
"""How long a wait without an end waits at a time: a cluster that was never there is noticed in between."""


def milliseconds(timeout: float | None) -> float | None:
    if timeout is not None and timeout < 0:
        raise InvalidArgument(f"a timeout of {timeout} s cannot be waited for")
    return None if timeout is None else timeout * 1000


class Consumer:
    """Reads records, alone or as a member of a group.

        with ottla.Consumer("clicks", bootstrap_servers="localhost:9092", group_id="counters") as consumer:
            for record in consumer:
                print(record.partition, record.offset, record.value)

        consumer = ottla.Consumer(bootstrap_servers="localhost:9092", group_id="counters",
                                  enable_auto_commit=False)
        consumer.subscribe(["clicks", "views"], on_revoked=lambda partitions: consumer.commit())
        while running:
            for record in consumer.poll(timeout=1.0):
                handle(record)
            consumer.commit()
        consumer.close()

    Settings are Kafka's, underscored as keywords (`auto_offset_reset="earliest"`) or dotted in a mapping
    (`config={"auto.offset.reset": "earliest"}`). Nothing is connected to before it is needed.

    With `enable.auto.commit` (the default, where there is a `group_id`) what earlier polls handed out is
    committed every `auto.commit.interval.ms`, before partitions go to another member, and by `close`. Records
    that an iteration has not handed on yet, and those that the code in a `with` block was working on when it
    raised, are not: they will be delivered again.

    `consumer_timeout_ms`: how long iteration waits for a record before it ends; without it, without end.
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
        self._session = Session.threaded(self._settings)
        self._runtime = self._session.runtime
        self._guard = threading.RLock()
        self._stop_streams: Callable[[float], None] | None = None
        self._one: Generator[ConsumerRecord, None, None] | None = None
        try:
            self._core = ConsumerCore(self._session, self._settings)
            self._handing = HandingOut(self._core)
            if self._settings.interceptors:
                self._core.commits.on_committed = self._committed
            if topics:
                self.subscribe(topics)
        except BaseException:
            self._runtime.close()
            raise

    def __repr__(self) -> str:
        state = "closed " if self._core.closed else ""
        return f"<{state}ottla.Consumer {self._settings.client_id} at {self._settings.bootstrap_servers}>"

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
        """Shares these topics with the other members of the group; takes the place of what was subscribed to.

        topics: names, or a `Whitelist` or `Blacklist`.
        pattern: a regular expression that a topic's whole name has to match; new topics are found when the
            metadata is refreshed (`metadata.max.age.ms`), with KIP-848 by the coordinator.
        exclude: topics that match this (these) are left out.
        listener: an object with `on_assigned(partitions)`, `on_revoked(partitions)`, `on_lost(partitions)`,
            or the single functions. They are called within `poll`: `on_revoked` before partitions go (commit
            there), `on_lost` when they are gone already. Without `on_lost`, `on_revoked` is called.

        Raises InvalidArgument (no `group_id`, not a topic's name, not a regular expression), IllegalState
        (partitions are assigned by hand).
        """
        for function in (on_assigned, on_revoked, on_lost, *(_methods(listener))):
            if inspect.iscoroutinefunction(function):
                raise InvalidArgument("a coroutine cannot be awaited here: use ottla.aio.Consumer")
        self._do(
            lambda: self._core.subscribe(
                topics,
                pattern=pattern,
                exclude=exclude,
                listener=listener,
                on_assigned=on_assigned,
                on_revoked=on_revoked,
                on_lost=on_lost,
            )
        )

    def assign(self, partitions: Iterable[TopicPartition]) -> None:
        """Reads exactly these partitions, whatever others do. Partitions that stay keep their position."""
        chosen = [checked(tp) for tp in partitions]

        def do() -> None:
            gone = self._core.assignment() - set(chosen)
            self._core.assign(chosen)
            self._handing.forget(gone)

        self._do(do)

    def unsubscribe(self) -> None:
        """Leaves the group (committing first, with auto commit), or drops what was assigned."""
        self._run(self._core.unsubscribe())
        self._handing.forget()

    def subscription(self) -> frozenset[str]:
        """The topics subscribed to; of a pattern, those that it means now."""
        return self._do(self._core.subscription)

    def assignment(self) -> set[TopicPartition]:
        """The partitions that are read now."""
        return self._do(self._core.assignment)

    def joined(self) -> bool:
        """Whether the group has given this member its share; True where partitions were assigned by hand."""
        return self._do(lambda: self._core.joined)

    # --- reading ----------------------------------------------------------------------------------------

    def poll(self, timeout: float | None = 1.0, max_records: int | None = None) -> list[ConsumerRecord]:
        """Up to `max_records` (`max.poll.records`) records, as soon as there are any; [] after `timeout`
        seconds (None: no end).

        Also does what the group wants: has to be called again within `max.poll.interval.ms`, or the
        partitions go to others. A rebalance with its listeners, and commits before it, may make it take
        longer.

        Raises WokenUp; SerializationFailed (the position stays before the record: seek past it);
        PositionLost and NoOffset (`auto.offset.reset=none`: seek); BrokerUnavailable, RequestTimedOut,
        ProtocolError or UnsupportedVersion when no broker was ever reached; ServerError when the group or a
        topic refuses (the message says what to do); ProtocolError for records that cannot be read;
        IllegalState (nothing subscribed to, another thread is inside); ClientClosed; what a listener raised.
        """
        self._enter()
        try:
            self._refuse_with_streams()
            left = self._handing.take_left(max_records)
            if left:
                return left
            self._handing.polling()
            return self._handing.whole(self._seen(self._poll(milliseconds(timeout), max_records)))
        finally:
            self._guard.release()

    def _poll(self, timeout_ms: float | None, max_records: int | None = None) -> list[ConsumerRecord]:
        run, poll, kept = self._runtime.run, self._core.poll, self._handing.kept
        if timeout_ms is None:
            while not (records := run(kept(poll(SLICE_MS, max_records)))):
                pass
        else:
            records = run(kept(poll(timeout_ms, max_records)))
        return records

    def _seen(self, records: list[ConsumerRecord]) -> list[ConsumerRecord]:
        """What the interceptors make of them."""
        interceptors = self._settings.interceptors
        return consumed_by(interceptors, records) if interceptors and records else records

    def poll_arrow(self, timeout: float | None = 1.0, max_bytes: int | None = None) -> Any:
        """The same as `poll`, as one `pyarrow.RecordBatch` (without rows when nothing came) with the columns
        key, value, topic, partition, offset, timestamp, timestamp_type and headers. No Python object is made
        for a record; deserializers and interceptors do not see them. Needs `pip install ottla[arrow]`.
        """
        from ottla.client.consuming.arrow import record_batch

        pyarrow_for("poll_arrow")  # before anything is taken that could not be handed out
        self._enter()
        try:
            self._refuse_with_streams()
            self._handing.give_back(self._core.assignment())
            self._handing.polling()
            wait_ms = milliseconds(timeout)
            while True:
                steps = self._core.poll_columns(SLICE_MS if wait_ms is None else wait_ms, max_bytes)
                columns = self._runtime.run(self._handing.kept_columns(steps))
                if columns or wait_ms is not None:
                    batch = record_batch(columns)
                    self._handing.polling()
                    return batch
        finally:
            self._guard.release()

    def __iter__(self) -> Iterator[ConsumerRecord]:
        """Records without end, or until none comes for `consumer_timeout_ms`, or `close`."""
        handing = self._handing
        while True:
            if not length_hint(handing.rest):
                records = self._next_records()
                if not records:
                    return
                handing.iterate(records)
            yield from handing.rest

    def __next__(self) -> ConsumerRecord:
        if self._one is None:
            self._one = self.__iter__()  # type: ignore[assignment]
            assert self._one is not None
        try:
            return next(self._one)
        except BaseException:
            self._one = None  # a generator that has ended, by an exception too, stays ended
            raise

    def _next_records(self) -> list[ConsumerRecord]:
        """The next list of an iteration; [] when it has ended."""
        if self._core.closed:
            return []
        self._enter()
        try:
            self._refuse_with_streams()
            while polled := self._poll(self._timeout_ms):
                if records := self._seen(polled):
                    return records
            return []
        finally:
            self._guard.release()

    @overload
    def streams(self, count: int, *, queue_records: int = 1_000) -> list[MessageStream]: ...
    @overload
    def streams(
        self, count: Mapping[str, int], *, queue_records: int = 1_000
    ) -> dict[str, list[MessageStream]]: ...
    def streams(
        self, count: int | Mapping[str, int], *, queue_records: int = 1_000
    ) -> list[MessageStream] | dict[str, list[MessageStream]]:
        """So many streams of messages of this one consumer, for as many threads.

            consumer.subscribe(ottla.Whitelist("web.*"))
            for stream in consumer.streams(4):
                threading.Thread(target=work, args=(stream,)).start()

            def work(stream):
                for record in stream:
                    handle(record)

        With numbers by topic (`{"clicks": 2, "views": 1}`) these topics are subscribed to, and each has
        streams of its own.

        Each partition goes to one stream, in order. A stream that is not read fast enough holds up only its
        own partitions (about `queue_records` wait for it). Offsets are committed, automatically or by
        `commit`, for records that a stream's user has moved past by asking for the next one. `close` ends
        the streams. From now on the consumer itself neither polls nor seeks.
        """
        from ottla.client.sync.streams import start_streams

        self._enter()
        try:
            self._refuse_with_streams()
            if isinstance(count, Mapping):
                self.subscribe(count)
            with self._runtime.lock:
                self._core.check_readable()
            made, self._stop_streams = start_streams(
                self._core, self._runtime, count, queue_records, self._timeout_ms
            )
            return made  # type: ignore[no-any-return]
        finally:
            self._guard.release()

    def _refuse_with_streams(self) -> None:
        if self._stop_streams is not None:
            raise IllegalState("this consumer is read through its streams")

    def wakeup(self) -> None:
        """Makes the call that waits now, or the next one that would, raise WokenUp. For any thread, and for
        signal handlers.
        """
        with self._runtime.lock:
            self._core.wakeup()

    # --- where it is ------------------------------------------------------------------------------------

    def seek(self, partition: TopicPartition, offset: int, *, leader_epoch: int = -1) -> None:
        """The next poll begins here."""
        tp = checked(partition)

        def do() -> None:
            self._refuse_with_streams()
            self._core.seek(tp, offset, leader_epoch)
            self._handing.forget({tp})

        self._do(do)

    def seek_to_beginning(self, *partitions: TopicPartition) -> None:
        """To the first record there is; all assigned partitions where none are named."""
        self._seek(partitions, EARLIEST)

    def seek_to_end(self, *partitions: TopicPartition) -> None:
        """Past the last record; all assigned partitions where none are named."""
        self._seek(partitions, LATEST)

    def _seek(self, partitions: Iterable[TopicPartition], time: int) -> None:
        chosen = [checked(tp) for tp in partitions]

        def do() -> None:
            self._refuse_with_streams()
            self._core.seek_to_time(chosen or None, time)
            self._handing.forget(chosen or None)

        self._do(do)

    def rewind(self, *partitions: TopicPartition) -> None:
        """Back to what the group has committed: what was read since is read again."""
        self._refuse_with_streams()
        chosen = [checked(tp) for tp in partitions]
        self._run(self._core.rewind(chosen or None))
        self._handing.forget(chosen or None)

    def pause(self, *partitions: TopicPartition) -> None:
        """Polls give nothing of these until `resume`; the membership is not touched."""
        chosen = [checked(tp) for tp in partitions]

        def do() -> None:
            self._refuse_with_streams()
            self._core.pause(chosen)
            self._handing.give_back(chosen)

        self._do(do)

    def resume(self, *partitions: TopicPartition) -> None:
        def do() -> None:
            self._refuse_with_streams()
            self._core.resume([checked(tp) for tp in partitions])

        self._do(do)

    def paused(self) -> set[TopicPartition]:
        return self._do(lambda: set(self._core.fetcher.paused()))

    def position(self, partition: TopicPartition, timeout: float | None = None) -> int:
        """The offset of the next record; waits until it is known. OperationTimedOut."""
        return self._run(self._core.position(checked(partition), milliseconds(timeout)))

    def lag(self, partition: TopicPartition) -> int | None:
        """How far the position is from the end, as of the last fetch; None when nothing was fetched yet."""
        return self._do(lambda: self._core.lag(checked(partition)))

    def at_end(self) -> bool:
        """Whether this consumer has its partitions and, as of the last fetches, nothing is left to read."""
        return self._do(lambda: self._core.at_end() and not self._handing.left())

    # --- what is committed ------------------------------------------------------------------------------

    def commit(self, what: Any = None, timeout: float | None = None) -> None:
        """Commits and waits for the answer: what was handed out (None), up to and with a record, or
        `{TopicPartition: offset of the next record, or OffsetAndMetadata}`.

        Raises CommitFailed (the partitions went to another member), MaxPollExceeded (because poll came too
        late), OperationTimedOut, ServerError, WokenUp.
        """
        offsets = offsets_of(what)
        self._run(self._core.commit(offsets, milliseconds(timeout)))

    def commit_async(self, what: Any = None, callback: CommitCallback | None = None) -> None:
        """The same without waiting, and without a second try. `callback(offsets, error)` is called in the
        order of the commits, in a thread that drives the client; it must not call this consumer.
        """
        if callable(what) and callback is None:
            what, callback = None, what
        offsets = offsets_of(what)
        self._do(lambda: self._core.commit_async(offsets, callback))

    def committed(
        self, *partitions: TopicPartition, timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """What the group has committed; all assigned partitions where none are named."""
        chosen = [checked(tp) for tp in partitions] or sorted(self.assignment())
        return self._run(self._core.committed(chosen, milliseconds(timeout)))

    @property
    def commit_error(self) -> OttlaError | None:
        """Why the last automatic commit failed; None when it did not."""
        return self._core.consumed.commit_error

    def group_metadata(self) -> GroupMetadata:
        """Who this consumer is in its group, for `producer.send_offsets_to_transaction`."""
        return self._do(self._core.group_metadata)

    def enforce_rebalance(self, reason: str | None = None) -> None:
        """Has the group share its partitions out anew, beginning with the next poll (KIP-568): for whoever
        knows of a change that the group cannot see. The coordinator logs the reason. With KIP-848 the
        coordinator decides alone, and this does nothing, as in Java.
        """
        self._do(lambda: self._core.enforce_rebalance(reason))

    # --- questions --------------------------------------------------------------------------------------

    def offsets_for_times(
        self, times: Mapping[TopicPartition, int], timeout: float | None = None
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """The first record at or after a time (milliseconds since 1970); None where there is none."""
        return self._run(self._core.offsets_for_times(times, milliseconds(timeout)))

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        return self._run(self._core.beginning_offsets(partitions, milliseconds(timeout)))

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout: float | None = None
    ) -> dict[TopicPartition, int]:
        """Past the last record; with read_committed past the last one that is decided."""
        return self._run(self._core.end_offsets(partitions, milliseconds(timeout)))

    def partitions_for(self, topic: str) -> tuple[PartitionView, ...]:
        """The topic's partitions with their leaders; ServerError when there is no such topic."""
        return self._run(self._session.cluster.discover([topic])).topic(topic).partitions

    def topics(self) -> list[str]:
        """The names of the cluster's topics that may be read."""
        view = self._run(self._session.cluster.discover(None))
        return sorted(name for name, topic in view.topics.items() if not topic.error)

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them."""
        return self._session.metrics.snapshot()

    # --- the end ----------------------------------------------------------------------------------------

    def close(self, timeout: float = 30.0, *, leave: bool | None = None) -> None:
        """Commits (with auto commit), leaves the group and ends. Returns within `timeout` seconds.

        leave: None: a static member (`group.instance.id`) stays until its session ends, others leave; True
            leaves in any case, False in none (KIP-1092).

        What a listener raises is raised once all is closed. IllegalState while another thread is inside: call
        `wakeup` and let that one close.
        """
        if self._core.closed:
            return
        if self._runtime.gone:
            self._core.closed = True
            return
        deadline_s = time.monotonic() + (milliseconds(timeout) or 0.0) / 1000
        if self._stop_streams is not None:
            self._stop_streams(timeout)
        self._enter()
        try:
            remain = None if leave is None else not leave
            left_ms = max(0.0, deadline_s - time.monotonic()) * 1000
            self._runtime.run(self._core.close(left_ms, remain=remain))
        finally:
            self._core.closed = True
            self._handing.forget()  # an iteration ends here, too
            self._session.close()
            self._guard.release()

    def __enter__(self) -> Consumer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None and not self._core.closed:
            with self._runtime.lock:
                self._handing.failed()
        self.close()

    # --- the shell --------------------------------------------------------------------------------------

    def _enter(self) -> None:
        """Takes the guard; the caller releases it."""
        if not self._guard.acquire(blocking=self._stop_streams is not None):  # streams have many threads
            raise IllegalState(
                "another thread is using this consumer: one thread at a time may, except for wakeup(); "
                "use streams(n), or a consumer for each thread"
            )

    def _run(self, steps: ClientSteps[R]) -> R:
        self._enter()
        try:
            return self._runtime.run(steps)
        finally:
            self._guard.release()

    def _do(self, function: Callable[[], R]) -> R:
        self._enter()
        try:
            with self._runtime.lock:
                return self._runtime.shielded(function)()  # Ctrl-C may not leave a change half made
        finally:
            self._guard.release()

    def _committed(self, offsets: Mapping[TopicPartition, OffsetAndMetadata]) -> None:
        self._runtime.later(lambda: committed_by(self._settings.interceptors, offsets))


def _methods(listener: Any) -> list[Any]:
    return [getattr(listener, name, None) for name in ("on_assigned", "on_revoked", "on_lost")]
