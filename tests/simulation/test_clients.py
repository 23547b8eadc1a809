"""This package's own clients, a bad network and a broker that goes down: what they promise holds.

The real core of producer and consumer runs on virtual time, through lost requests and replies, time-outs,
connections that close, kill -9 and power losses of the broker, and deaths of the clients themselves. Nothing
acknowledged is lost, nothing is there twice or out of order, acknowledged offsets are right, nothing aborted
is read with read_committed, no group passes over a record, pipelines are exactly once, every call returns,
close returns in its time, memory comes back, and no task dies.

The second half plants bugs in the client. Each has to be found, or the books look at nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from ottla.client.consuming.consumed import Consumed
from ottla.client.consuming.core import ConsumerCore
from ottla.client.consuming.decode import Decoder
from ottla.client.consuming.fetcher import Fetcher
from ottla.client.consuming.group import Group
from ottla.client.effects import ClientSteps, Pause, Signal, Wait
from ottla.client.producing.accumulator import Accumulator
from ottla.client.producing.batch import Batch
from ottla.client.producing.lane import Lane
from ottla.client.producing.sender import Sender
from ottla.client.records import OffsetAndMetadata, RecordMetadata
from ottla.model.types import TopicPartition
from ottla.testing.client_run import ClientRun

SEEDS = range(1, 7)
FRESH_SEED = random.SystemRandom().getrandbits(32)
STEPS = 8

EXERCISED = (
    *("records_sent", "records_acked", "records_sent_again", "appends_that_waited", "batches_split"),
    *("epochs_beyond_the_first", "hasty_writers", "flushes", "producers_closed", "producers_killed"),
    *("commits", "aborts", "aborted_listed", "rivals", "records_transformed", "records_followed"),
    *("members", "rebalances", "revocations", "polls", "seeks", "pauses", "wakeups", "commits_by_hand"),
    *("commits_async", "commits_checked", "consumers_closed", "consumers_killed", "fetches_in_session"),
    *("calls_lost", "calls_timed_out", "calls_unsent", "requests_lost", "replies_lost", "slow_messages"),
    *("crashes", "power_losses", "clean_shutdowns", "connections_refused", "settled"),
)


def test_clients_keep_their_promises_whatever_happens_to_them() -> None:
    total: Counter[str] = Counter()
    for seed in (*SEEDS, FRESH_SEED):
        total += ClientRun(seed, steps=STEPS).run()
    assert [what for what in EXERCISED if total[what] == 0] == [], dict(total)


def test_one_seed_is_one_run() -> None:
    assert ClientRun(3, steps=4).run() == ClientRun(3, steps=4).run()


# --- the books can fail


def finds_a_bug(*words: str, steps: int = 4, slow_rate: float | None = None) -> None:
    """The first complaint, which has to say how to repeat it and to be about the bug."""
    for seed in range(1, 30):
        try:
            ClientRun(seed, steps=steps, slow_rate=slow_rate).run()
        except AssertionError as error:
            found = str(error)
            assert f"--part clients --seed {seed} --steps {steps}" in found
            assert any(word in found for word in words), found
            return
    pytest.fail("no seed found the planted bug")


def test_batches_that_leave_in_another_order_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest batch of a partition first, where several wait."""

    def take(self: Accumulator, lane: Lane) -> Batch:
        first = lane.queue[0]
        batch = lane.queue.popleft() if first.has_sequence else lane.queue.pop()
        if lane.open is batch:
            lane.open = None
        batch.close()
        return batch

    monkeypatch.setattr(Accumulator, "take", take)
    finds_a_bug("comes after number", "was given", "came where")


def test_a_batch_that_is_sent_again_under_a_new_number_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker cannot tell then that it has the batch already (KIP-98)."""
    send_again = Sender._send_again

    def renumber(self: Sender, batch: Batch, *args: Any, **kwargs: Any) -> None:
        lane, identity = batch.lane, self.identity
        if identity is not None and lane.pending == [batch] and batch.has_sequence:
            batch.number(*lane.producer, lane.next_sequence, transactional=identity.transactional)
            lane.next_sequence += batch.count
            lane.acked_sequence = batch.base_sequence - 1
        send_again(self, batch, *args, **kwargs)

    monkeypatch.setattr(Sender, "_send_again", renumber)
    finds_a_bug("is there twice", "not settled", "comes after", "failed")


def test_an_acknowledgement_with_the_offset_of_the_batch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def metadata_of(self: Batch, index: int) -> RecordMetadata:
        return RecordMetadata(*self.lane.tp, self.base_offset, self.timestamps[index])

    monkeypatch.setattr(Batch, "metadata_of", metadata_of)
    finds_a_bug("for one client", "was acknowledged at")


def test_memory_that_does_not_come_back_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an answer that comes when the batch is done for other reasons."""
    free = Accumulator.free

    def forgets(self: Accumulator, batch: Batch) -> None:
        if batch.failure is None:
            free(self, batch)

    monkeypatch.setattr(Accumulator, "free", forgets)
    finds_a_bug("bytes are free")


def test_a_producer_that_does_not_try_again_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within `delivery.timeout.ms`, a lost answer is no reason to give up."""
    monkeypatch.setattr(Sender, "_can_retry", lambda self, *args: False)
    finds_a_bug("failed", "not settled", "is there twice", "comes after", "wait", "free")


def test_more_requests_in_flight_than_allowed_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Sender.start

    def greedy(self: Sender) -> None:
        self._in_flight_max += 3
        start(self)

    monkeypatch.setattr(Sender, "start", greedy)
    finds_a_bug("in flight at once")


def test_a_close_that_does_not_look_at_the_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    close = ConsumerCore.close

    def slow(self: ConsumerCore, timeout_ms: float | None = None) -> ClientSteps[None]:
        yield Pause(200)
        yield from close(self, timeout_ms)

    monkeypatch.setattr(ConsumerCore, "close", slow)
    finds_a_bug("took")


def test_a_lost_wake_up_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for memory is not told that there is some."""

    def keep(self: Any, released_bytes: int) -> None:
        self.free_bytes += released_bytes

    monkeypatch.setattr("ottla.client.producing.memory.MemoryPool.release", keep)
    finds_a_bug("not settled", "wait")


def test_a_task_that_dies_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Sender._lost

    def dies(self: Sender, *args: Any) -> None:
        lost(self, *args)
        raise KeyError("a bug in a task")

    monkeypatch.setattr(Sender, "_lost", dies)
    finds_a_bug("a bug in a task")


def test_records_of_aborted_transactions_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = Decoder.fetched

    def believes(self: Decoder, tp: TopicPartition, buffer: Any, position: int, aborted: Any = None) -> Any:
        return fetched(self, tp, buffer, position, ())

    monkeypatch.setattr(Decoder, "fetched", believes)
    finds_a_bug("does not count")


def test_records_that_are_passed_over_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of a full poll is dropped, and its position with it."""
    take = Fetcher.take

    def skips(self: Fetcher, max_records: int) -> Any:
        records = take(self, max_records)
        return records[1:] if len(records) == max_records > 1 else records

    monkeypatch.setattr(Fetcher, "take", skips)
    finds_a_bug("came where", "was given", "not given", "transformed", "committed", "is at")


def test_a_commit_of_what_was_fetched_but_not_handed_out_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    offsets = Consumed.offsets

    def ahead(self: Consumed) -> dict[TopicPartition, OffsetAndMetadata]:
        found = offsets(self)
        for tp in found:
            end = self._fetcher.end_offset(tp)
            if end is not None and end > found[tp].offset:
                found[tp] = OffsetAndMetadata(end)
        return found

    monkeypatch.setattr(Consumed, "offsets", ahead)
    finds_a_bug("but never", "was not given")


def test_a_consumer_that_leaves_tasks_behind_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, nothing = Group.stop, Signal()

    def never() -> ClientSteps[None]:
        while True:
            yield Wait(nothing)

    def leaks(self: Group) -> None:
        stop(self)
        self._session.host.spawn(never(), "left behind")

    monkeypatch.setattr(Group, "stop", leaks)
    finds_a_bug("tasks are left")
