"""Producer ids, epochs and sequences (KIP-98, KIP-360): which number a batch has, when it is sent again under
the same one, and when the epoch is bumped.
"""

from __future__ import annotations

from typing import Any

from producing_cluster import Fate, Flight
from producing_log import ProducerEntry
from producing_stage import Stage

from ottla.client.errors import DeliveryTimedOut, ServerError
from ottla.client.producing.batch import Batch
from ottla.client.producing.identity import Identity
from ottla.client.producing.lane import Lane, sequence_distance
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.produce import PartitionProduceResponse
from ottla.wire.record_batch import BatchHeader, check_crc, read_header

T0 = TopicPartition("t", 0)


def staged(*leaders: int, **settings: Any) -> Stage:
    stage = Stage(**{"linger_ms": 0, "batch_size": 100, **settings})
    stage.cluster.create("t", *(leaders or (1,)))
    return stage


def headers(stage: Stage) -> list[BatchHeader]:
    """Of the batches that arrived, in order."""
    return [
        read_header(data.records)
        for request in stage.cluster.sent("Produce")
        for topic in request.topic_data
        for data in topic.partition_data
    ]


def numbers(stage: Stage) -> list[tuple[int, int]]:
    """Epoch and first sequence of each batch that arrived."""
    return [(header.producer_epoch, header.base_sequence) for header in headers(stage)]


def settle_first(stage: Stage, partition: int = 0) -> None:
    """One acknowledged record, so that several may be under way."""
    stage.send(partition, b"first")
    stage.run(stage.core.flush())


def lose_next(stage: Stage, *fates: Fate) -> None:
    waiting = list(fates)

    def fate(flight: Flight) -> Fate:
        return waiting.pop(0) if flight.api == "Produce" and waiting else Fate.FINE

    stage.cluster.fate = fate


def test_sequences_count_records_by_partition() -> None:
    stage = staged(1, 1, linger_ms=5, batch_size=16_384)
    for _ in range(3):
        stage.send(0, b"x")
    stage.send(1, b"x")
    stage.run(stage.core.flush())
    stage.send(0, b"x")
    stage.send(1, b"x")
    stage.run(stage.core.flush())
    assert sorted(numbers(stage)) == [(0, 0), (0, 0), (0, 1), (0, 3)]
    assert {header.producer_id for header in headers(stage)} == {1000}


def test_sequences_wrap_after_the_last_one() -> None:
    """2^31 - 1 is followed by 0 (DefaultRecordBatch.incrementSequence)."""
    stage = staged(1, linger_ms=5, batch_size=16_384)
    settle_first(stage)
    lane = stage.core._lanes["t"][0]
    near_the_end = 2**31 - 3
    lane.next_sequence = near_the_end
    lane.acked_sequence = near_the_end - 1
    stage.log().producers[1000] = ProducerEntry(0, near_the_end - 1)
    deliveries = [stage.send(0, b"x") for _ in range(5)]
    stage.run(stage.core.flush())
    lose_next(stage, Fate.LOST_AFTER)
    deliveries += [stage.send(0, b"y") for _ in range(2)]
    stage.run(stage.core.flush())
    assert [delivery.error() for delivery in deliveries] == [None] * 7
    assert numbers(stage)[1:] == [(0, near_the_end), (0, 2), (0, 2)]
    assert lane.acked_sequence == 3
    assert len(stage.log().values()) == 8


def test_sequences_are_compared_over_the_wrap() -> None:
    assert sequence_distance(2**31 - 1, 0) == 1
    assert sequence_distance(0, 2**31 - 1) == -1
    assert sequence_distance(5, 5) == 0


def test_a_batch_is_sent_again_byte_for_byte() -> None:
    stage = staged()
    settle_first(stage)
    lose_next(stage, Fate.LOST_AFTER, Fate.LOST_BEFORE, Fate.LOST_AFTER)
    delivery = stage.send(0, b"x" * 50, key=b"k", headers=(("h", b"v"),))
    stage.run(stage.core.flush())
    sent = [bytes(r.topic_data[0].partition_data[0].records) for r in stage.cluster.sent("Produce")[1:]]
    assert len(sent) == 4 and len(set(sent)) == 1
    assert delivery.metadata().offset == 1
    assert stage.log().values() == [b"first", b"x" * 50]


def test_a_batch_that_the_broker_no_longer_remembers_counts_as_stored() -> None:
    """DUPLICATE_SEQUENCE_NUMBER is success, though the offset is not known."""
    stage = staged()
    stage.cluster.verdict = lambda tp, data: ErrorCode.DUPLICATE_SEQUENCE_NUMBER
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert delivery.metadata().offset == -1


def test_the_first_batch_of_a_partition_goes_alone() -> None:
    """A broker that knows nothing of a producer accepts any sequence: the second might get in first."""
    stage = staged()
    stage.cluster.latency_ms = lambda: 10.0
    for i in range(4):
        stage.send(0, b"%070d" % i)
    stage.advance(25)
    assert len(stage.cluster.sent("Produce")) == 1
    stage.run(stage.core.flush())
    assert stage.cluster.batches_in_flight_max == 3


def test_batches_after_a_lost_one_are_sent_again_one_at_a_time_and_in_order() -> None:
    stage = staged()
    settle_first(stage)
    lose_next(stage, Fate.LOST_BEFORE)
    deliveries = [stage.send(0, b"%070d" % i) for i in range(4)]
    stage.run(stage.core.flush())
    assert [delivery.metadata().offset for delivery in deliveries] == [1, 2, 3, 4]
    assert {epoch for epoch, _ in numbers(stage)} == {0}
    again = [sequence for _, sequence in numbers(stage)[2:]]
    assert again == sorted(again)


def test_a_later_batch_that_overtook_to_another_leader_is_put_back_behind() -> None:
    """OUT_OF_ORDER_SEQUENCE_NUMBER of a batch that is not next: an earlier one is to be sent again."""
    stage = staged()
    settle_first(stage)
    lose_next(stage, Fate.STALLED)
    verdicts = [ErrorCode.NOT_ENOUGH_REPLICAS]
    stage.cluster.verdict = lambda tp, data: verdicts.pop() if verdicts else 0
    first = stage.send(0, b"a" * 70)
    stage.advance(3)
    stage.cluster.move(T0, 2)
    stage.cluster.move(T0, 2)
    second = stage.send(0, b"b" * 70)
    stage.advance(1)
    stage.cluster.break_connection(1)
    stage.run(stage.core.flush())
    assert (first.error(), second.error()) == (None, None)
    assert stage.log().values() == [b"first", b"a" * 70, b"b" * 70]
    assert stage.core._sender.identity is not None
    assert stage.core._sender.identity.producer == (1000, 0)


def test_a_batch_that_is_refused_for_good_costs_an_epoch() -> None:
    """KIP-360: its sequence will never come; what follows begins anew at 0."""
    stage = staged()
    settle_first(stage)
    stage.cluster.verdict = lambda tp, data: (
        ErrorCode.INVALID_RECORD
        if stage.cluster.logs[tp].values() == [b"first"] and b"bad" in bytes(data)
        else 0
    )
    bad = stage.send(0, b"bad" * 25)
    good = [stage.send(0, b"%070d" % i) for i in range(3)]
    stage.run(stage.core.flush())
    assert isinstance(bad.error(), ServerError)
    assert [delivery.metadata().offset for delivery in good] == [1, 2, 3]
    assert numbers(stage)[-1] == (1, 2)
    for request in stage.cluster.sent("Produce"):
        data = request.topic_data[0].partition_data[0].records
        check_crc(data, 0, len(data))


def test_bytes_on_their_way_do_not_change_when_a_batch_gets_another_number() -> None:
    stage = staged()
    settle_first(stage)
    lane = stage.core._lanes["t"][0]
    batch = Batch(lane, 0.0, 1_000, 0)
    batch.values, batch.keys, batch.timestamps = [b"v"], [None], [1]
    batch.close()
    batch.number(7, 0, 12, transactional=False)
    in_the_queue = batch.seal(stage.settings.compression_type, None, transactional=False)
    before = bytes(in_the_queue)
    batch.number(7, 1, 0, transactional=False)
    assert bytes(in_the_queue) == before
    anew = batch.seal(stage.settings.compression_type, None, transactional=False)
    header = check_crc(anew, 0, len(anew))
    assert (header.producer_epoch, header.base_sequence) == (1, 0)


def test_a_refused_batch_that_may_be_stored_keeps_its_place() -> None:
    """Its answer was lost, then it was refused: what follows it may be stored, too, and keeps its number, by
    which the broker knows it.
    """
    stage = staged()
    settle_first(stage)
    lose_next(stage, Fate.LOST_AFTER)
    first = stage.send(0, b"a" * 70)
    second = stage.send(0, b"b" * 70)
    refusals = [0, ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    stage.cluster.verdict = lambda tp, data: refusals.pop(0) if refusals else 0
    stage.run(stage.core.flush())
    assert isinstance(first.error(), ServerError)
    assert second.error() is None
    assert stage.log().values() == [b"first", b"a" * 70, b"b" * 70]
    assert stage.core._sender.identity is not None
    assert stage.core._sender.identity.producer == (1000, 0)


def test_a_refused_batch_does_not_renumber_what_left_before_it() -> None:
    stage = staged()
    settle_first(stage)
    lane = stage.core._lanes["t"][0]
    identity = stage.core._sender.identity
    assert identity is not None
    earlier, refused = _sent(lane, 1), _sent(lane, 2)
    lane.next_sequence = 3
    stage.core._sender._fail(refused, ServerError(ErrorCode.INVALID_RECORD), certain=True)
    assert not identity.bump_required
    assert earlier.base_sequence == 1
    lane.discard(earlier)
    identity.stored(earlier, 1)
    identity.resolve()
    assert identity.bump_required


def _sent(lane: Lane, sequence: int) -> Batch:
    """A batch that is on its way."""
    batch = Batch(lane, 0.0, 1_000, 0)
    batch.values, batch.keys, batch.timestamps = [b"v"], [None], [1]
    batch.close()
    batch.number(1000, 0, sequence, transactional=False)
    lane.pending.append(batch)
    return batch


def test_a_batch_that_is_given_up_and_never_arrived_costs_an_epoch() -> None:
    stage = staged(delivery_timeout_ms=1_000, request_timeout_ms=300)
    settle_first(stage)
    stage.cluster.fate = lambda flight: Fate.LOST_BEFORE if flight.api == "Produce" else Fate.FINE
    lost = stage.send(0, b"x" * 70)
    stage.run(stage.core.flush())
    assert isinstance(lost.error(), DeliveryTimedOut)
    stage.cluster.fate = lambda flight: Fate.FINE
    after = stage.send(0, b"after")
    stage.run(stage.core.flush())
    assert after.error() is None
    assert numbers(stage)[-1] == (1, 0)
    assert stage.log().values() == [b"first", b"after"]


def test_a_batch_whose_time_is_up_before_it_left_in_the_new_epoch_costs_its_successor_nothing() -> None:
    """Two are numbered anew, 0 and 1, and the first expires: the second must not be sent as number 1."""
    stage = staged(delivery_timeout_ms=1_000, request_timeout_ms=300)
    settle_first(stage)
    lane = stage.core._lanes["t"][0]
    sender = stage.core._sender
    assert sender.identity is not None
    first, second = _sent(lane, 1), _sent(lane, 2)
    sender.identity.request_bump(lane)
    sender.identity.bump()
    assert [(each.producer_epoch, each.base_sequence) for each in (first, second)] == [(1, 0), (1, 1)]
    sender._expire(first, 1_001.0)
    assert sender.identity.bump_required
    sender.identity.bump()
    assert (second.producer_epoch, second.base_sequence) == (2, 0)


def test_a_gap_that_shows_when_the_time_is_up_is_a_timeout() -> None:
    """Not OutOfOrderSequence, which says that the broker has lost records."""
    stage = staged(delivery_timeout_ms=1_000, request_timeout_ms=900)
    settle_first(stage)
    record = stage.send(0, b"x" * 70)
    batch = stage.core._lanes["t"][0].queue[0]
    answer = PartitionProduceResponse(index=0, error_code=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER)
    stage.core._sender._refused(batch, answer, batch.created_ms + 1_000)
    assert isinstance(record.error(), DeliveryTimedOut)


def test_a_batch_that_is_given_up_but_had_arrived_costs_nothing_if_its_successor_shows_it() -> None:
    """Java's unresolved sequences: a later acknowledgement says that what was given up is there."""
    stage = staged(delivery_timeout_ms=1_000, request_timeout_ms=300)
    settle_first(stage)
    stage.cluster.fate = lambda flight: (
        Fate.LOST_AFTER if flight.api == "Produce" and stage.clock.elapsed_ms < 900 else Fate.FINE
    )
    lost = stage.send(0, b"x" * 70)
    stage.advance(200)
    later = stage.send(0, b"later" * 12)
    stage.advance(790)
    stage.cluster.fate = lambda flight: Fate.STALLED if flight.api == "Produce" else Fate.FINE
    stage.until(lost.done)
    stage.cluster.fate = lambda flight: Fate.FINE
    stage.run(stage.core.flush())
    last = stage.send(0, b"last")
    stage.run(stage.core.flush())
    assert last.error() is None
    stored = stage.log().values()
    assert len(stored) == len(set(stored)) and stored == sorted(
        stored, key=[b"first", b"x" * 70, b"later" * 12, b"last"].index
    )
    assert later.done()


def test_epochs_of_other_partitions_follow_when_they_are_quiet() -> None:
    """After a bump, a partition goes on in the old epoch while it has batches under way, then begins anew."""
    stage = staged(1, 2)
    settle_first(stage, 0)
    settle_first(stage, 1)
    stage.cluster.verdict = lambda tp, data: ErrorCode.INVALID_RECORD if b"bad" in bytes(data) else 0
    stage.send(0, b"bad")
    stage.run(stage.core.flush())
    good = [stage.send(0, b"a"), stage.send(1, b"b")]
    stage.run(stage.core.flush())
    assert [delivery.error() for delivery in good] == [None, None]
    assert numbers(stage)[-2:] == [(1, 0), (1, 0)]


def test_past_the_last_epoch_a_new_producer_id_is_asked_for() -> None:
    stage = staged()
    settle_first(stage)
    identity = stage.core._sender.identity
    assert identity is not None
    identity.producer = (1000, 32767)
    stage.core._lanes["t"][0].producer = (1000, 32767)
    stage.log().producers[1000].epoch = 32767
    stage.cluster.verdict = lambda tp, data: ErrorCode.INVALID_RECORD if b"bad" in bytes(data) else 0
    stage.send(0, b"bad")
    good = stage.send(0, b"good" * 15)
    stage.run(stage.core.flush())
    assert good.error() is None
    assert identity.producer == (1001, 0)
    assert stage.log().values() == [b"first", b"good" * 15]


def test_a_gap_while_the_producer_id_is_asked_for_waits_for_it() -> None:
    """No batch may be numbered under an id that is none: the broker would take it for one without sequences,
    and store it as often as it is sent.
    """
    identity = Identity()
    identity.producer = (1000, 32767)
    lanes = [Lane(TopicPartition("t", index), lambda function: None, 1000) for index in (0, 1)]
    batches = [_sent(lane, 5) for lane in lanes]
    for lane in lanes:
        identity.request_bump(lane)
        identity.bump()
    assert not identity.known
    identity.set_producer(1001, 0)
    assert [(batch.producer_id, batch.base_sequence) for batch in batches] == [(1001, 0), (1001, 0)]


def test_a_broker_that_has_forgotten_the_producer_gets_a_new_epoch() -> None:
    """UNKNOWN_PRODUCER_ID, as brokers before 2.5 answer when retention has removed all batches."""
    stage = staged()
    settle_first(stage)
    codes = [ErrorCode.UNKNOWN_PRODUCER_ID]
    stage.cluster.verdict = lambda tp, data: codes.pop() if codes else 0
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert numbers(stage)[-2:] == [(0, 1), (1, 0)]


def test_an_unknown_producer_without_a_log_start_is_asked_again_as_it_is() -> None:
    stage = staged()
    settle_first(stage)
    stage.log().start_offset = -1
    codes = [ErrorCode.UNKNOWN_PRODUCER_ID]
    stage.cluster.verdict = lambda tp, data: codes.pop() if codes else 0
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert numbers(stage)[-2:] == [(0, 1), (0, 1)]


def test_a_real_gap_is_answered_with_a_new_epoch() -> None:
    """OUT_OF_ORDER_SEQUENCE_NUMBER for the batch that is next: the broker has lost what was acknowledged."""
    stage = staged()
    settle_first(stage)
    stage.log().producers[1000].last_sequence = -1
    stage.log().producers[1000].batches.clear()
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert numbers(stage)[-1] == (1, 0)


def test_without_idempotence_batches_carry_no_producer() -> None:
    stage = staged(enable_idempotence=False, acks=-1)
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert headers(stage)[0].producer_id == -1
    assert stage.cluster.sent("InitProducerId") == []


def test_without_idempotence_and_one_in_flight_a_retry_is_not_overtaken() -> None:
    """max.in.flight.requests.per.connection=1 keeps the order: the partition is muted, wherever it is led."""
    stage = staged(
        enable_idempotence=False, acks=1, max_in_flight_requests_per_connection=1, retry_backoff_ms=300
    )
    stage.cluster.verdict = lambda tp, data: (
        ErrorCode.NOT_ENOUGH_REPLICAS if b"a" in bytes(data) and stage.clock.elapsed_ms < 500 else 0
    )
    stage.send(0, b"a" * 70)
    stage.send(0, b"b" * 70)
    stage.run(stage.core.flush())
    assert stage.log().values() == [b"a" * 70, b"b" * 70]


def test_without_idempotence_and_one_in_flight_a_batch_waits_for_the_one_at_the_former_leader() -> None:
    """Java mutes the partition: the next batch must not get to the new leader first."""
    stage = staged(
        1,
        enable_idempotence=False,
        acks=1,
        max_in_flight_requests_per_connection=1,
        request_timeout_ms=1_000,
        metadata_max_age_ms=100,
    )
    lose_next(stage, Fate.STALLED)
    stage.cluster.verdict = lambda tp, data: (
        ErrorCode.NOT_ENOUGH_REPLICAS if stage.clock.elapsed_ms < 10 else 0
    )
    stage.send(0, b"a" * 70)
    stage.advance(4)
    stage.send(0, b"b" * 70)
    stage.cluster.move(T0, 2)
    stage.advance(500)  # the new leader is known by now
    assert stage.core._lanes["t"][0].leader == 2
    assert stage.log().values() == []
    stage.run(stage.core.flush())
    assert stage.log().values() == [b"a" * 70, b"b" * 70]


def test_no_more_batches_of_a_partition_are_unanswered_than_a_broker_remembers() -> None:
    """It knows a retry by the last five. The limit of requests in flight is one of each connection: after a
    change of leaders there are two.
    """
    stage = staged(1)
    settle_first(stage)
    lane, identity = stage.core._lanes["t"][0], stage.core._sender.identity
    assert identity is not None
    stage.send(0, b"x")
    head = lane.queue[0] if lane.queue else lane.pending[0]
    head.base_sequence = -1
    lane.pending = [head] * 4
    assert identity.may_send(lane, head)
    lane.pending = [head] * 5
    assert not identity.may_send(lane, head)
