"""TxnOffsetCommit in a broker: the question about the transaction, the batch, the marker, restarts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from group_bench import consumer_request, join_request
from txn_bench import TxnBench, TxnProducer

from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.group_checker import hard_state, state_from_log
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.delete_groups import DeleteGroupsRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.record_batch import EndTxnMarker, iter_headers

OFFSETS_TOPIC = "__consumer_offsets"
OFFSETS = TopicPartition(OFFSETS_TOPIC, 0)


@pytest.fixture
def bench() -> TxnBench:
    return TxnBench()


def request_of(
    producer: TxnProducer,
    group: str,
    partitions: Iterable[int] = (0,),
    *,
    offset: int = 5,
    topic: str = "events",
    **options: Any,
) -> TxnOffsetCommitRequest:
    fields: dict[str, Any] = {
        "transactional_id": producer.transactional_id,
        "producer_id": producer.producer_id,
        "producer_epoch": producer.epoch,
        **options,
    }
    return TxnOffsetCommitRequest(
        group_id=group,
        topics=[
            TxnOffsetCommitRequestTopic(
                name=topic,
                partitions=[
                    TxnOffsetCommitRequestPartition(partition_index=each, committed_offset=offset)
                    for each in partitions
                ],
            )
        ],
        **fields,
    )


def errors_of(response: Any) -> list[ErrorCode]:
    return [ErrorCode(each.error_code) for topic in response.topics for each in topic.partitions]


def asked(bench: TxnBench, request: TxnOffsetCommitRequest, version: int = 5) -> ErrorCode:
    """The error of the only partition."""
    (code,) = errors_of(bench.call(request, version))
    return code


def add_offsets(bench: TxnBench, producer: TxnProducer, group: str) -> None:
    request = AddOffsetsToTxnRequest(
        transactional_id=producer.transactional_id,
        producer_id=producer.producer_id,
        producer_epoch=producer.epoch,
        group_id=group,
    )
    assert bench.call(request, 3).error_code == ErrorCode.NONE


def stable_offset(bench: TxnBench, group: str, partition: int = 0) -> tuple[int, ErrorCode]:
    request = OffsetFetchRequest(
        require_stable=True,
        groups=[
            OffsetFetchRequestGroup(
                group_id=group,
                topics=[OffsetFetchRequestTopics(name="events", partition_indexes=[partition])],
            )
        ],
    )
    found = bench.call(request, 9).groups[0].topics[0].partitions[0]
    return found.committed_offset, ErrorCode(found.error_code)


def batches(bench: TxnBench) -> list[Any]:
    """The headers of what is in the offsets' log."""
    log = bench.log(OFFSETS_TOPIC)
    read = log.read(log.log_start_offset, 1 << 24, upto_offset=log.log_end_offset)
    if read.slice is None:
        return []
    data = read.slice.read()
    read.slice.release()
    return [header for _, header in iter_headers(data, 0, len(data))]


# --- the whole way ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(6))
@pytest.mark.parametrize("committed", [True, False])
def test_offsets_are_there_with_the_commit_and_only_then(
    bench: TxnBench, version: int, committed: bool
) -> None:
    """Versions 0 to 4 come after AddOffsetsToTxn; 5 needs none (KIP-890)."""
    producer = TxnProducer(bench, generation=2 if version == 5 else 1).ready()
    if version < 5:
        add_offsets(bench, producer, "g")
    assert asked(bench, request_of(producer, "g", offset=7), version) == ErrorCode.NONE
    (header,) = batches(bench)
    assert (header.producer_id, header.producer_epoch) == (producer.producer_id, producer.epoch)
    assert header.is_transactional and not header.is_control
    assert bench.offsets_of("g") == {("events", 0): -1}
    assert stable_offset(bench, "g") == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    producer.commit() if committed else producer.abort()
    expected = 7 if committed else -1
    assert bench.offsets_of("g") == {("events", 0): expected}
    assert stable_offset(bench, "g") == (expected, ErrorCode.NONE)


@pytest.mark.parametrize("clean", [True, False])
@pytest.mark.parametrize("committed", [True, False])
def test_a_restart_between_commit_and_marker_changes_nothing(
    bench: TxnBench, clean: bool, committed: bool
) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    bench.restart(clean=clean)
    bench.txn_loaded()
    assert stable_offset(bench, "g") == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    producer.peer = bench.connect()
    producer.commit() if committed else producer.abort()
    assert stable_offset(bench, "g") == (7 if committed else -1, ErrorCode.NONE)
    bench.restart(clean=clean)
    bench.txn_loaded()
    assert stable_offset(bench, "g") == (7 if committed else -1, ErrorCode.NONE)
    assert hard_state(bench.host.shard) == state_from_log(bench.host)


def test_the_checker_of_simulations_sees_pending_offsets(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    state = hard_state(bench.host.shard)
    assert f"offsets of producer {producer.producer_id}" in state
    assert state == state_from_log(bench.host)
    bench.host.shard.end_transaction(producer.producer_id, True)  # which no marker in the log says
    assert hard_state(bench.host.shard) != state_from_log(bench.host)


def test_a_commit_outside_of_the_transaction_wins_when_it_is_newer(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    assert bench.commit("g", {("events", 0): 3}) == [ErrorCode.NONE]
    producer.commit()
    assert bench.offsets_of("g") == {("events", 0): 3}
    bench.restart(clean=False)
    bench.txn_loaded()
    assert bench.offsets_of("g") == {("events", 0): 3}


def test_a_transaction_that_takes_too_long_leaves_nothing(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready(timeout_ms=1_000)
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    bench.reaches("t", "CompleteAbort")
    assert stable_offset(bench, "g") == (-1, ErrorCode.NONE)
    assert producer.commit_offset("g", 8) == ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_administrator_ends_a_transaction_with_a_marker(bench: TxnBench) -> None:
    """`kafka-transactions.sh --abort` sends WriteTxnMarkers (KIP-664)."""
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    request = WriteTxnMarkersRequest(
        markers=[
            WritableTxnMarker(
                producer_id=producer.producer_id,
                producer_epoch=producer.epoch,
                transaction_result=False,
                topics=[WritableTxnMarkerTopic(name=OFFSETS_TOPIC, partition_indexes=[0])],
                coordinator_epoch=0,
            )
        ]
    )
    answer = bench.call(request, 1)
    assert answer.markers[0].topics[0].partitions[0].error_code == ErrorCode.NONE
    assert stable_offset(bench, "g") == (-1, ErrorCode.NONE)


@pytest.mark.parametrize("version", range(1, 11))
def test_stable_offsets_are_asked_for_from_version_7_on(bench: TxnBench, version: int) -> None:
    """KIP-447."""
    assert bench.commit("g", {("events", 0): 3}) == [ErrorCode.NONE]
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    topics = OffsetFetchRequestTopics(name="events", topic_id=bench.topic_id, partition_indexes=[0, 1])
    request = OffsetFetchRequest(
        require_stable=version >= 7,
        group_id="g",
        topics=[OffsetFetchRequestTopic(name="events", partition_indexes=[0, 1])],
        groups=[OffsetFetchRequestGroup(group_id="g", topics=[topics])],
    )
    answer = bench.call(request, version)
    first, second = (answer.groups[0] if version >= 8 else answer).topics[0].partitions
    if version >= 7:
        assert (first.committed_offset, first.error_code) == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    else:
        assert (first.committed_offset, first.error_code) == (3, ErrorCode.NONE)
    assert (second.committed_offset, second.error_code) == (-1, ErrorCode.NONE)


def test_a_commit_of_many_partitions_goes_in_pieces_of_one_transaction(bench: TxnBench) -> None:
    bench.create("wide", 450)
    producer = TxnProducer(bench).ready()
    request = request_of(producer, "g", [*range(450), 450], topic="wide")
    errors = errors_of(bench.call(request, 5))
    assert errors == [ErrorCode.NONE] * 450 + [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    assert [header.record_count for header in batches(bench)] == [200, 200, 50]
    producer.commit()
    assert bench.host.shard.offsets.store.count("g") == 450


def test_deleting_a_group_takes_its_pending_offsets_away(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    assert bench.call(DeleteGroupsRequest(groups_names=["g"])).results[0].error_code == ErrorCode.NONE
    producer.commit()
    assert bench.offsets_of("g") == {("events", 0): -1}
    assert bench.listed() == {}


# --- the question about the transaction ---------------------------------------------------------------------


@pytest.mark.parametrize("version", range(5))
def test_without_add_offsets_to_txn_the_commit_is_refused(bench: TxnBench, version: int) -> None:
    """KIP-890, part 1; TRANSACTION_ABORTABLE is known from version 4 on."""
    producer = TxnProducer(bench, generation=1).ready()
    expected = ErrorCode.TRANSACTION_ABORTABLE if version >= 4 else ErrorCode.INVALID_TXN_STATE
    assert asked(bench, request_of(producer, "g"), version) == expected
    assert batches(bench) == []


@pytest.mark.parametrize("version", [4, 5])
def test_a_producer_that_the_coordinator_does_not_know_is_refused(bench: TxnBench, version: int) -> None:
    producer = TxnProducer(bench).ready()
    stranger = request_of(producer, "g", producer_id=producer.producer_id + 1)
    assert asked(bench, stranger, version) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    nobody = request_of(producer, "g", transactional_id="nobody")
    assert asked(bench, nobody, version) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert batches(bench) == []


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("producer_id", -1, ErrorCode.INVALID_PRODUCER_ID_MAPPING),
        ("producer_epoch", -1, ErrorCode.INVALID_PRODUCER_EPOCH),
        ("transactional_id", "", ErrorCode.INVALID_REQUEST),
    ],
)
@pytest.mark.parametrize("version", [0, 4, 5])
def test_nonsense_is_refused_before_anybody_is_asked(
    field: str, value: Any, expected: ErrorCode, version: int
) -> None:
    """Also where verification is off: a batch without a producer would count without a marker."""
    bench = TxnBench({"transaction.partition.verification.enable": "false"})
    producer = TxnProducer(bench).ready()
    assert asked(bench, request_of(producer, "g", **{field: value}), version) == expected
    assert batches(bench) == []


@pytest.mark.parametrize("generation", [1, 2])
def test_a_fenced_producer_is_told_so(bench: TxnBench, generation: int) -> None:
    old = TxnProducer(bench, generation=generation).ready()
    old.send(b"x")
    new = TxnProducer(bench, generation=generation).ready()
    version = 5 if generation == 2 else 4
    assert asked(bench, request_of(old, "g"), version) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert new.commit_offset("g", 9) == ErrorCode.NONE
    assert asked(bench, request_of(old, "g"), version) == ErrorCode.INVALID_PRODUCER_EPOCH
    new.commit()
    assert bench.offsets_of("g") == {("events", 0): 9}


def test_verification_can_be_switched_off_for_old_versions() -> None:
    bench = TxnBench({"transaction.partition.verification.enable": "false"})
    producer = TxnProducer(bench, generation=1).ready()
    assert asked(bench, request_of(producer, "g"), 4) == ErrorCode.NONE


def test_nobody_is_asked_while_the_transaction_is_open(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    monkeypatch.setattr(bench.node.transactions, "verify", lambda *_, **__: pytest.fail("asked again"))
    assert producer.commit_offset("g", 8) == ErrorCode.NONE
    assert producer.commit_offset("h", 1) == ErrorCode.NONE


def test_nobody_is_asked_when_nothing_would_be_written(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = TxnProducer(bench).ready()
    monkeypatch.setattr(bench.node.transactions, "verify", lambda *_, **__: pytest.fail("asked"))
    unknown = request_of(producer, "g", [4])
    assert asked(bench, unknown) == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert asked(bench, request_of(producer, "")) == ErrorCode.INVALID_GROUP_ID
    assert bench.call(request_of(producer, "g", [])).topics[0].partitions == []


@pytest.mark.parametrize(
    ("said", "version", "answered"),
    [
        (ErrorCode.PRODUCER_FENCED, 5, ErrorCode.INVALID_PRODUCER_EPOCH),
        (ErrorCode.NETWORK_EXCEPTION, 5, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 2, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, 1, ErrorCode.COORDINATOR_NOT_AVAILABLE),
        (ErrorCode.TRANSACTION_ABORTABLE, 5, ErrorCode.TRANSACTION_ABORTABLE),
        (ErrorCode.CONCURRENT_TRANSACTIONS, 5, ErrorCode.CONCURRENT_TRANSACTIONS),
        (ErrorCode.INVALID_TXN_STATE, 3, ErrorCode.INVALID_TXN_STATE),
    ],
)
@pytest.mark.parametrize("later", [False, True])
def test_the_coordinators_answer_in_words_that_the_version_knows(
    bench: TxnBench,
    monkeypatch: pytest.MonkeyPatch,
    said: ErrorCode,
    version: int,
    answered: ErrorCode,
    later: bool,
) -> None:
    producer = TxnProducer(bench).ready()

    def answer_later() -> Steps[dict[TopicPartition, ErrorCode]]:
        yield Sleep(10)
        return {OFFSETS: said}

    monkeypatch.setattr(
        bench.node.transactions,
        "verify",
        lambda *_, **__: answer_later() if later else {OFFSETS: said},
    )
    assert asked(bench, request_of(producer, "g"), version) == answered
    assert batches(bench) == []


@pytest.mark.parametrize("version", [4, 5])
def test_an_answer_that_a_marker_has_overtaken_opens_no_transaction(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """KIP-890: the batch would hang in the log for ever, since its transaction's end has been written."""
    producer = TxnProducer(bench, generation=2 if version == 5 else 1).ready()
    epoch = producer.epoch

    def answer_later() -> Steps[dict[TopicPartition, ErrorCode]]:
        yield Sleep(100)
        return {OFFSETS: ErrorCode.NONE}

    monkeypatch.setattr(bench.node.transactions, "verify", lambda *_, **__: answer_later())
    peer = bench.connect()
    peer.send(request_of(producer, "g"), version)
    bench.scheduler.run_for(50)
    bumped = epoch + (version == 5)
    bench.host.write_marker(producer.producer_id, bumped, EndTxnMarker(False, 0), 2 if version == 5 else 0)
    bench.scheduler.run_for(100)
    assert peer.answered == [1]
    assert [header.is_control for header in batches(bench)] == [True]
    assert not bench.host.shard.offsets.pending


def test_the_next_request_waits_for_the_coordinators_answer(
    bench: TxnBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = TxnProducer(bench).ready()
    verify = bench.node.transactions.verify

    def answer_later(*given: Any, **options: Any) -> Steps[Any]:
        yield Sleep(100)
        return verify(*given, **options)

    monkeypatch.setattr(bench.node.transactions, "verify", answer_later)
    peer = bench.connect()
    peer.send(request_of(producer, "g", offset=7), 5)
    peer.send(request_of(producer, "g", offset=8), 5)
    bench.scheduler.run_until(lambda: peer.answered == [1, 2], within_ms=1_000)
    monkeypatch.undo()
    producer.commit()
    assert bench.offsets_of("g") == {("events", 0): 8}


# --- while the shard is not there ---------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(6))
def test_a_shard_that_is_loading_refuses_commits_and_markers(bench: TxnBench, version: int) -> None:
    """Producers before 2.0 do not know COORDINATOR_LOAD_IN_PROGRESS."""
    producer = TxnProducer(bench).ready()
    host = bench.host
    host.loading = True
    loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if version >= 2 else ErrorCode.COORDINATOR_NOT_AVAILABLE
    assert asked(bench, request_of(producer, "g"), version) == loading
    with pytest.raises(KafkaError) as refused:
        host.write_marker(producer.producer_id, producer.epoch, EndTxnMarker(True, 0), 2)
    assert refused.value.code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    host.loading = False
    host.close()
    with pytest.raises(KafkaError) as refused:
        host.write_marker(producer.producer_id, producer.epoch, EndTxnMarker(True, 0), 2)
    assert refused.value.code == ErrorCode.NOT_COORDINATOR
    assert batches(bench) == []


def test_a_marker_of_a_stale_coordinator_changes_nothing(bench: TxnBench) -> None:
    producer = TxnProducer(bench, generation=1).ready()
    host = bench.host
    host.write_marker(producer.producer_id, producer.epoch, EndTxnMarker(False, 5), 0)
    assert host.last_offset == 0
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    with pytest.raises(KafkaError) as refused:
        host.write_marker(producer.producer_id, producer.epoch, EndTxnMarker(True, 4), 0)
    assert refused.value.code == ErrorCode.TRANSACTION_COORDINATOR_FENCED
    with pytest.raises(KafkaError) as refused:
        host.write_marker(producer.producer_id, producer.epoch - 1, EndTxnMarker(True, 5), 0)
    assert refused.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert stable_offset(bench, "g") == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    info = host.write_marker(producer.producer_id, producer.epoch, EndTxnMarker(True, 5), 0)
    assert host.last_offset == info.last_offset == 2
    assert stable_offset(bench, "g") == (7, ErrorCode.NONE)


def test_a_shard_that_was_given_up_has_its_pending_offsets_again(bench: TxnBench) -> None:
    producer = TxnProducer(bench).ready()
    assert producer.commit_offset("g", 7) == ErrorCode.NONE
    before = bench.host
    before.give_up(None)
    bench.loaded()
    assert bench.host is not before
    assert stable_offset(bench, "g") == (-1, ErrorCode.UNSTABLE_OFFSET_COMMIT)
    producer.commit()
    assert stable_offset(bench, "g") == (7, ErrorCode.NONE)


# --- groups with members ------------------------------------------------------------------------------------


def test_a_classic_group_fences_producers_of_former_members(bench: TxnBench) -> None:
    """KIP-447: the producer commits in the name of a member and its generation."""
    producer = TxnProducer(bench).ready()
    member = bench.stable("g")
    mine = {"member_id": member.member_id, "generation_id": member.generation}
    assert asked(bench, request_of(producer, "g", **mine), 3) == ErrorCode.INVALID_TXN_STATE
    assert asked(bench, request_of(producer, "g", **mine)) == ErrorCode.NONE
    older = {**mine, "generation_id": member.generation - 1}
    assert asked(bench, request_of(producer, "g", **older)) == ErrorCode.ILLEGAL_GENERATION
    stranger = {**mine, "member_id": "stranger"}
    assert asked(bench, request_of(producer, "g", **stranger)) == ErrorCode.UNKNOWN_MEMBER_ID
    # Producers before version 3 name nobody, and are believed.
    assert asked(bench, request_of(producer, "g")) == ErrorCode.NONE


def test_a_static_member_that_was_replaced_is_fenced(bench: TxnBench) -> None:
    """KIP-345."""
    producer = TxnProducer(bench).ready()
    first = bench.call(join_request("g", instance="i"), 9, peer=bench.connect())
    assert first.error_code == ErrorCode.NONE
    second = bench.call(join_request("g", instance="i"), 9, peer=bench.connect())
    assert second.error_code == ErrorCode.NONE and second.member_id != first.member_id
    request = request_of(
        producer,
        "g",
        member_id=first.member_id,
        generation_id=second.generation_id,
        group_instance_id="i",
    )
    assert asked(bench, request) == ErrorCode.FENCED_INSTANCE_ID
    request.member_id = second.member_id
    assert asked(bench, request) == ErrorCode.NONE


def test_a_consumer_group_speaks_of_generations_to_producers(bench: TxnBench) -> None:
    """KIP-848: STALE_MEMBER_EPOCH is ILLEGAL_GENERATION here, since no version knows the other."""
    producer = TxnProducer(bench).ready()
    answer = bench.call(consumer_request("g", "m"))
    assert answer.error_code == ErrorCode.NONE
    for epoch, expected in (
        (answer.member_epoch, ErrorCode.NONE),
        (answer.member_epoch + 1, ErrorCode.ILLEGAL_GENERATION),
    ):
        request = request_of(producer, "g", member_id="m", generation_id=epoch)
        assert asked(bench, request) == expected
    stranger = request_of(producer, "g", member_id="stranger", generation_id=answer.member_epoch)
    assert asked(bench, stranger) == ErrorCode.UNKNOWN_MEMBER_ID
    assert asked(bench, request_of(producer, "g")) == ErrorCode.NONE
