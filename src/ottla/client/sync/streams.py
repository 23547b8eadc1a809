"""The streams of messages of one consumer, for threads: `consumer.streams(4)`.

A thread of its own polls and puts records in line for each stream (`client/consuming/streams.py`); a stream
hands its records to the one thread that reads it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ottla.client.consuming.handing import consumed_by
from ottla.client.consuming.streams import Lane, Spread
from ottla.client.effects import ClientSteps
from ottla.client.errors import ClientClosed, InvalidArgument, WokenUp
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.consuming.core import ConsumerCore
    from ottla.client.runtime.threaded import ThreadedRuntime

POLL_MS: Final = 1_000.0


class MessageStream:
    """One stream of records, for one thread: an iterator that waits for them.

    It ends when the consumer is closed, or when no record comes for `consumer_timeout_ms`. What ends the
    consumer's reading (a record that cannot be deserialized, a group that refuses) is raised here, after what
    was in line before.
    """

    def __init__(self, pump: Pump, lane: Lane, number: int) -> None:
        self._pump = pump
        self._lane = lane
        self._number = number

    def __repr__(self) -> str:
        return f"<ottla.MessageStream {self._number} of {len(self._pump.spread.lanes)}>"

    def __iter__(self) -> Iterator[ConsumerRecord]:
        lane = self._lane
        while self._pump.advance(lane):
            yield from lane.rest

    def partitions(self) -> set[TopicPartition]:
        """The partitions whose records come out of this stream now."""
        with self._pump.news:
            return set(self._lane.partitions)


class Pump:
    def __init__(
        self,
        core: ConsumerCore,
        runtime: ThreadedRuntime,
        lanes: list[Lane],
        records_max: int,
        timeout_ms: float | None,
    ) -> None:
        self._core = core
        self._runtime = runtime
        self._timeout_s = None if timeout_ms is None else timeout_ms / 1000
        self.spread = Spread(lanes, records_max)
        self.news = threading.Condition()
        """Guards the spread; told when records came, or the end. Taken inside the runtime's lock, never
        around it."""
        self._stopping = False
        self._ended = False
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ottla-streams", daemon=True)

    def start(self) -> None:
        self._core.consumed.instead = self._progress
        self._core.on_revoking = self._revoking
        self._core.on_given = self._given
        self._thread.start()

    # -- a reader's thread

    def advance(self, lane: Lane) -> bool:
        """Waits for the lane's next records; False at the end."""
        with self.news:
            while not lane.advance():
                if self._error is not None:
                    raise self._error
                if self._ended or not self.news.wait(self._timeout_s):
                    return False
            resumed = self.spread.to_resume(lane)
        if resumed:
            with self._runtime.lock:
                if not self._core.closed:
                    self._core.fetcher.resume(resumed & self._core.fetcher.assignment())
        return True

    # -- the pump's thread

    def _run(self) -> None:
        core, run = self._core, self._runtime.run
        interceptors = core.settings.interceptors
        try:
            while not self._stopping:
                try:
                    records = run(self._poll())
                except WokenUp:
                    continue
                if not records:
                    continue
                if interceptors:
                    records = consumed_by(interceptors, records)
                with self._runtime.lock:
                    assignment = core.fetcher.assignment()
                    with self.news:
                        self.spread.put(records, assignment)
                        full = self.spread.to_pause()
                        self.news.notify_all()
                    if full:
                        core.fetcher.pause(full & assignment)
        except ClientClosed:
            self._end(None)
        except BaseException as error:
            self._end(error)

    def _poll(self) -> ClientSteps[list[ConsumerRecord]]:
        records = yield from self._core.poll(POLL_MS)
        with self.news:
            self.spread.arriving = records  # in the step that moved positions: a commit may come any moment
        return records

    def _end(self, error: BaseException | None) -> None:
        with self.news:
            self._error = error
            self._ended = True
            self.news.notify_all()

    def stop(self, timeout_s: float) -> None:
        """Ends the streams and the thread, which is not waited for any longer than that."""
        self._stopping = True
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            with self._runtime.lock:
                self._core.wakeup()
            self._thread.join(timeout_s)
        with self.news:
            self.spread.end()
            self._ended = True
            self.news.notify_all()

    # -- called by the core, in whichever thread drives it

    def _progress(self) -> dict[TopicPartition, OffsetAndMetadata]:
        with self.news:
            return self.spread.progress(self._core.fetcher.assignment(), self._core.fetcher.position)

    def _revoking(self, partitions: frozenset[TopicPartition]) -> None:
        with self.news:
            self.spread.revoking(partitions)

    def _given(self, partitions: frozenset[TopicPartition]) -> None:
        with self.news:
            self.spread.given(partitions)


def start_streams(
    core: ConsumerCore,
    runtime: ThreadedRuntime,
    count: int | Mapping[str, int],
    queue_records: int,
    timeout_ms: float | None,
) -> tuple[Any, Callable[[float], None]]:
    """The streams, and what ends them."""
    counts: dict[str | None, int] = dict(count.items()) if isinstance(count, Mapping) else {None: count}
    if not counts or any(not isinstance(n, int) or n < 1 for n in counts.values()) or queue_records < 1:
        raise InvalidArgument("at least one stream is needed, and one record that may wait in it")
    lanes = [Lane(topic) for topic, n in counts.items() for _ in range(n)]
    pump = Pump(core, runtime, lanes, queue_records, timeout_ms)
    streams = [MessageStream(pump, lane, number) for number, lane in enumerate(lanes)]
    pump.start()
    if not isinstance(count, Mapping):
        return streams, pump.stop
    by_topic: dict[str, list[MessageStream]] = {}
    for stream, lane in zip(streams, lanes, strict=True):
        assert lane.topic is not None
        by_topic.setdefault(lane.topic, []).append(stream)
    return by_topic, pump.stop
