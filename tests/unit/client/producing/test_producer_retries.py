"""What the producer's core does when partitions move, brokers refuse, and time runs out: looking up leaders,
sending again, splitting, giving up. The rules are those of Kafka's Sender.
"""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from producing_cluster import Fate
from producing_stage import Stage

from ottla.client.errors import (
    BrokerUnavailable,
    DeliveryTimedOut,
    InvalidArgument,
    OperationTimedOut,
    ServerError,
)
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.produce import BatchIndexAndErrorMessage
from ottla.wire.record_batch import read_header

T0 = TopicPartition("t", 0)


def staged(*leaders: int, **settings: Any) -> Stage:
    stage = Stage(**settings)
    stage.cluster.create("t", *(leaders or (1,)))
    return stage


def produced(stage: Stage) -> list[list[tuple[int, int]]]:
    """For each Produce request that arrived: partition and record count of its batches."""
    return [
        [
            (data.index, read_header(data.records).record_count)
            for topic in request.topic_data
            for data in topic.partition_data
        ]
        for request in stage.cluster.sent("Produce")
    ]


# --- topics -------------------------------------------------------------------------------------------------


def test_a_topic_that_does_not_come_is_waited_for_max_block_ms() -> None:
    stage = staged(max_block_ms=700)
    assert stage.core.topic("missing") is None
    with pytest.raises(OperationTimedOut):
        stage.send(0, b"x", topic="missing")
    assert 650 <= stage.clock.elapsed_ms <= 800


def test_a_partition_that_is_added_later_is_found() -> None:
    stage = staged(1)
    stage.send(0, b"x")
    assert stage.core.try_append("t", 1, None, b"y", (), 0) is None
    stage.cluster.at(stage.clock.elapsed_ms + 400, lambda: stage.cluster.add_partition("t", 2))
    delivery = stage.send(1, b"y")
    stage.run(stage.core.flush())
    assert delivery.metadata().partition == 1


def test_a_partition_that_does_not_exist_is_an_error() -> None:
    stage = staged(1, max_block_ms=500)
    with pytest.raises(InvalidArgument, match="1 partitions: there is no 4"):
        stage.send(4, b"x")


def test_a_topic_that_is_deleted_and_created_anew_is_written_under_its_new_id() -> None:
    """Produce 13 names topics by id (KIP-516); UNKNOWN_TOPIC_ID asks for fresh metadata."""
    stage = staged()
    stage.send(0, b"old")
    stage.run(stage.core.flush())
    stage.cluster.delete("t")
    stage.cluster.create("t", 2)
    delivery = stage.send(0, b"new")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert stage.log().values() == [b"new"]


def test_a_moved_leader_that_the_answer_names_gets_the_batch_without_delay() -> None:
    """KIP-951: the new leader is in the answer; no metadata, no back-off."""
    stage = staged(1, retry_backoff_ms=5_000, retry_backoff_max_ms=5_000)
    stage.send(0, b"a")
    stage.run(stage.core.flush())
    stage.cluster.move(T0, 3)
    began_ms = stage.clock.elapsed_ms
    delivery = stage.send(0, b"b")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert stage.clock.elapsed_ms - began_ms < 20


def test_without_a_hint_the_leader_is_looked_up() -> None:
    stage = staged(1)
    stage.send(0, b"a")
    stage.run(stage.core.flush())
    stage.cluster.leader_hints = False
    stage.cluster.move(T0, 3)
    delivery = stage.send(0, b"b")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert stage.clock.elapsed_ms < 1_000


def test_a_partition_without_leader_waits_for_one() -> None:
    stage = staged(1)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.move(T0, -1)
    delivery = stage.send(0, b"a")
    stage.cluster.at(3_000, lambda: stage.cluster.move(T0, 2))
    stage.run(stage.core.flush())
    assert delivery.error() is None
    assert 3_000 < stage.clock.elapsed_ms < 6_000


# --- retries and timeouts -----------------------------------------------------------------------------------


def test_a_batch_is_sent_again_with_growing_pauses() -> None:
    """KIP-580: retry.backoff.ms doubles up to retry.backoff.max.ms, with jitter."""
    stage = staged(1)
    times: list[float] = []

    def verdict(tp: TopicPartition, data: Any) -> int:
        times.append(stage.clock.elapsed_ms)
        return ErrorCode.NOT_ENOUGH_REPLICAS if len(times) < 6 else 0

    stage.cluster.verdict = verdict
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.error() is None
    pauses = [after - before for before, after in pairwise(times)]
    for pause, expected in zip(pauses, [100, 200, 400, 800, 1000], strict=True):
        assert 0.8 * expected <= pause <= 1.2 * expected + 5


def test_retries_bound_how_often_a_batch_is_sent() -> None:
    stage = staged(1, retries=2, enable_idempotence=False, acks=1)
    stage.cluster.verdict = lambda tp, data: ErrorCode.NOT_ENOUGH_REPLICAS
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    error = delivery.error()
    assert isinstance(error, ServerError) and error.code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert len(produced(stage)) == 3


def test_a_broker_that_is_not_there_does_not_use_up_retries() -> None:
    """Java keeps batches while a node is not ready; a request that never left is no attempt."""
    stage = staged(1, retries=0, enable_idempotence=False, acks=1)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.down.add(1)
    delivery = stage.send(0, b"x")
    stage.advance(5_000)
    assert not delivery.done()
    stage.cluster.down.clear()
    stage.run(stage.core.flush())
    assert delivery.error() is None


def test_a_lost_connection_with_no_retries_left_is_the_records_error() -> None:
    stage = staged(1, retries=0, enable_idempotence=False, acks=1)
    stage.cluster.fate = lambda flight: Fate.LOST_AFTER if flight.api == "Produce" else Fate.FINE
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert isinstance(delivery.error(), BrokerUnavailable)


def test_a_record_that_is_not_acknowledged_in_time_fails_with_the_last_reason() -> None:
    stage = staged(1, delivery_timeout_ms=2_000, request_timeout_ms=500)
    stage.cluster.verdict = lambda tp, data: ErrorCode.NOT_ENOUGH_REPLICAS
    delivery = stage.send(0, b"x")
    began_ms = stage.clock.elapsed_ms
    stage.run(stage.core.flush())
    error = delivery.error()
    assert isinstance(error, DeliveryTimedOut)
    assert isinstance(error.__cause__, ServerError) and error.__cause__.code == ErrorCode.NOT_ENOUGH_REPLICAS
    assert 2_000 <= stage.clock.elapsed_ms - began_ms <= 2_001
    with pytest.raises(DeliveryTimedOut):
        delivery.metadata()
    assert stage.memory_used == 0


def test_a_batch_that_never_left_expires_too() -> None:
    stage = staged(1, delivery_timeout_ms=2_000, request_timeout_ms=500)
    stage.run(stage.core.await_topic("t"))
    stage.cluster.move(T0, -1)
    stage.cluster.fate = lambda flight: Fate.LOST_BEFORE if flight.api == "Produce" else Fate.FINE
    deliveries = [stage.send(0, b"x"), stage.send(0, b"y")]
    stage.run(stage.core.flush())
    assert all(isinstance(delivery.error(), DeliveryTimedOut) for delivery in deliveries)


def test_a_connection_that_fails_when_the_time_is_up_is_a_timeout() -> None:
    """Whichever of the two is noticed first."""
    stage = staged(delivery_timeout_ms=1_000, request_timeout_ms=900)
    stage.run(stage.core.await_topic("t"))
    record = stage.send(0, b"x")
    batch = stage.core._lanes["t"][0].queue[0]
    batch.lane.flying = 1
    call: Any = SimpleNamespace(node_id=1, batches=[batch])
    stage.core._sender._lost(call, BrokerUnavailable("gone"), batch.created_ms + 1_000)
    error = record.error()
    assert isinstance(error, DeliveryTimedOut) and isinstance(error.__cause__, BrokerUnavailable)


def test_the_memory_of_an_expired_batch_is_free_when_its_request_is_over() -> None:
    """KAFKA-19012: the bytes are still in the socket's hands."""
    stage = staged(1, delivery_timeout_ms=1_000, request_timeout_ms=900, linger_ms=0)
    stage.run(stage.core.await_topic("t"))
    stage.advance(100)
    answers = [ErrorCode.NOT_ENOUGH_REPLICAS] * 3
    stage.cluster.verdict = lambda tp, data: answers.pop(0) if answers else 0
    stage.cluster.fate = lambda flight: Fate.STALLED if flight.api == "Produce" and not answers else Fate.FINE
    delivery = stage.send(0, b"x")
    stage.until(delivery.done)
    assert isinstance(delivery.error(), DeliveryTimedOut)
    assert stage.memory_used > 0
    stage.advance(1_000)
    assert stage.memory_used == 0


def test_a_throttled_producer_keeps_away_for_so_long() -> None:
    """KIP-219: the broker answers at once and the client waits."""
    stage = staged(1, linger_ms=0)
    stage.cluster.throttle_ms = 400
    stage.send(0, b"a")
    stage.run(stage.core.flush())
    stage.cluster.throttle_ms = 0
    answered_ms = stage.clock.elapsed_ms
    stage.send(0, b"b")
    stage.run(stage.core.flush())
    assert 400 <= stage.clock.elapsed_ms - answered_ms < 420


def test_acks_0_completes_without_an_offset() -> None:
    stage = staged(1, acks=0, enable_idempotence=False)
    delivery = stage.send(0, b"x")
    stage.run(stage.core.flush())
    assert delivery.metadata().offset == -1
    stage.advance(10)
    assert stage.log().values() == [b"x"]
    assert stage.cluster.sent("InitProducerId") == []


def test_a_batch_that_is_too_large_for_the_broker_is_split() -> None:
    """MESSAGE_TOO_LARGE: halves are sent in its place, without counting as a retry."""
    stage = staged(1)
    stage.cluster.verdict = lambda tp, data: (
        ErrorCode.MESSAGE_TOO_LARGE if read_header(data).record_count > 2 else 0
    )
    called: list[int] = []
    deliveries = [
        stage.send(0, b"%d" % i, callback=lambda metadata, error: called.append(metadata.offset))
        for i in range(7)
    ]
    signal = deliveries[5].finished
    waited = stage.begin(_wait_for(signal))
    stage.run(stage.core.flush())
    assert waited.done
    assert [delivery.metadata().offset for delivery in deliveries] == list(range(7))
    assert called == list(range(7))
    assert stage.log().values() == [b"%d" % i for i in range(7)]
    assert stage.memory_used == 0


def _wait_for(signal: Any) -> Any:
    from ottla.client.effects import Wait

    return (yield Wait(signal))


def test_a_single_record_that_is_too_large_for_the_broker_fails() -> None:
    stage = staged(1, linger_ms=0)
    stage.cluster.verdict = lambda tp, data: ErrorCode.MESSAGE_TOO_LARGE if len(data) > 200 else 0
    deliveries = [stage.send(0, b"a"), stage.send(0, b"b" * 300), stage.send(0, b"c")]
    stage.run(stage.core.flush())
    errors = [delivery.error() for delivery in deliveries]
    assert errors[0] is None and errors[2] is None
    assert isinstance(errors[1], ServerError) and errors[1].code == ErrorCode.MESSAGE_TOO_LARGE
    assert stage.log().values() == [b"a", b"c"]


def test_records_that_the_broker_names_get_their_own_error() -> None:
    """KIP-467."""
    stage = staged(1)
    stage.cluster.verdict = lambda tp, data: ErrorCode.INVALID_RECORD
    stage.cluster.record_errors = lambda tp: [
        BatchIndexAndErrorMessage(batch_index=1, batch_index_error_message="no key"),
        BatchIndexAndErrorMessage(batch_index=2, batch_index_error_message=None),
    ]
    deliveries = [stage.send(0, b"%d" % i) for i in range(3)]
    stage.run(stage.core.flush())
    assert "no key" not in str(deliveries[0].error())
    assert "no key" in str(deliveries[1].error())
    assert all(isinstance(delivery.error(), ServerError) for delivery in deliveries)


def test_a_value_that_is_not_bytes_fails_its_batch_and_nobody_else() -> None:
    stage = staged(1, linger_ms=0)
    stage.send(0, b"a")
    stage.run(stage.core.flush())
    bad = stage.core.try_append("t", 0, None, "text", (), 0)  # type: ignore[arg-type]
    stage.run(stage.core.flush())
    assert bad is not None and "cannot be encoded" in str(bad.error())
    good = stage.send(0, b"b")
    stage.run(stage.core.flush())
    assert good.error() is None
    assert stage.log().values() == [b"a", b"b"]
