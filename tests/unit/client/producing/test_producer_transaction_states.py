"""Transactions on a scripted cluster: what is sent in both generations, which state each error leads to, and
how a call goes on whose caller lost patience. The rules are those of Kafka's TransactionManager (KIP-98,
KIP-360, KIP-447, KIP-890).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from producing_cluster import Fate
from producing_stage import Stage

from ottla.client.errors import (
    ClientClosed,
    CommitFailed,
    DeliveryTimedOut,
    IllegalState,
    InvalidArgument,
    OperationTimedOut,
    ProducerFailed,
    ProducerFenced,
    ServerError,
    TransactionAborted,
    TransactionFailed,
)
from ottla.client.producing.core import ProducerCore
from ottla.client.producing.transactions import TRANSITIONS, State
from ottla.client.records import GroupMetadata, OffsetAndMetadata
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.record_batch import read_header

GROUP = GroupMetadata("g", 3, "member", "static")
OFFSETS = {TopicPartition("in", 0): OffsetAndMetadata(41, "note", 2)}


def staged(version: int = 2, **settings: Any) -> Stage:
    stage = Stage(**{"transactional_id": "tx", **settings})
    stage.cluster.transaction_version = version
    stage.cluster.create("t", 1, 2, 3)
    return stage


def ready(version: int = 2, **settings: Any) -> Stage:
    stage = staged(version, **settings)
    stage.run(stage.core.init_transactions())
    return stage


def state(stage: Stage) -> State:
    assert stage.core._transactions is not None
    return stage.core._transactions.state


def asked(stage: Stage) -> list[str]:
    """The requests that arrived, without those of metadata."""
    return [name for name, _, _, _ in stage.cluster.requests if name not in ("Metadata", "ApiVersions")]


def versions(stage: Stage, api: str) -> set[int]:
    return {version for name, version, _, _ in stage.cluster.requests if name == api}


def refuse(stage: Stage, api: str, *codes: int) -> None:
    """The next requests of this API are answered with these codes."""
    waiting = list(codes)

    def verdict(name: str, request: Any) -> int:
        return waiting.pop(0) if name == api and waiting else 0

    stage.cluster.coordinator_verdict = verdict


# --- the two generations ------------------------------------------------------------------------------------


def test_the_second_generation_adds_nothing_by_itself_and_gets_a_new_epoch_each_time() -> None:
    """KIP-890: Produce 12 and TxnOffsetCommit 5 add on the way, EndTxn 5 bumps the epoch."""
    stage = ready(2)
    for _ in range(2):
        stage.core.begin_transaction()
        stage.send(0, b"x")
        stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
        stage.run(stage.core.commit_transaction())
    assert "AddPartitionsToTxn" not in asked(stage) and "AddOffsetsToTxn" not in asked(stage)
    assert min(versions(stage, "Produce")) >= 12
    assert versions(stage, "EndTxn") == {5}
    assert min(versions(stage, "TxnOffsetCommit")) >= 5
    epochs = [
        read_header(r.topic_data[0].partition_data[0].records).producer_epoch
        for r in stage.cluster.sent("Produce")
    ]
    assert epochs == [0, 1]
    assert stage.log(0).committed() == [b"x", b"x"]
    assert stage.cluster.group_offsets == {("g", TopicPartition("in", 0)): 41}


def test_the_first_generation_adds_partitions_and_groups_before_it_writes() -> None:
    stage = ready(0)
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.send(1, b"y")
    stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    stage.run(stage.core.commit_transaction())
    names = [name for name in asked(stage) if name not in ("FindCoordinator", "InitProducerId")]
    assert names[0] == "AddPartitionsToTxn"
    assert names.index("AddOffsetsToTxn") < names.index("TxnOffsetCommit")
    assert names[-1] == "EndTxn"
    assert max(versions(stage, "Produce")) <= 11
    assert max(versions(stage, "EndTxn")) <= 4
    assert max(versions(stage, "TxnOffsetCommit")) <= 4
    request = stage.cluster.sent("TxnOffsetCommit")[0]
    assert (request.generation_id, request.member_id, request.group_instance_id) == (3, "member", "static")
    assert request.topics[0].partitions[0].committed_metadata == "note"
    assert stage.log(0).committed() == [b"x"] and stage.log(1).committed() == [b"y"]


def test_a_partition_is_added_once_per_transaction() -> None:
    stage = ready(0, linger_ms=0)
    for _ in range(2):
        stage.core.begin_transaction()
        for _ in range(3):
            stage.send(0, b"x")
            stage.run(stage.core.flush())
        stage.run(stage.core.commit_transaction())
    assert asked(stage).count("AddPartitionsToTxn") == 2


@pytest.mark.parametrize("version", [0, 2])
def test_an_empty_transaction_asks_nobody(version: int) -> None:
    stage = ready(version)
    before = len(asked(stage))
    stage.core.begin_transaction()
    stage.run(stage.core.commit_transaction())
    stage.core.begin_transaction()
    stage.run(stage.core.abort_transaction())
    assert len(asked(stage)) == before
    assert state(stage) is State.READY


def test_batches_say_that_they_belong_to_a_transaction() -> None:
    stage = ready()
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    request = stage.cluster.sent("Produce")[0]
    assert request.transactional_id == "tx"
    assert read_header(request.topic_data[0].partition_data[0].records).is_transactional


def test_an_upgraded_cluster_gets_the_second_generation_with_a_new_epoch() -> None:
    """The coordinator moves to a broker that has transaction.version 2 finalized."""
    stage = ready(0)
    stage.core.begin_transaction()
    stage.send(0, b"old")
    stage.cluster.transaction_version = 2
    stage.cluster.coordinator = 3
    stage.run(stage.core.commit_transaction())
    stage.core.begin_transaction()
    stage.send(0, b"older")
    stage.run(stage.core.commit_transaction())
    stage.core.begin_transaction()
    stage.send(0, b"new")
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"old", b"older", b"new"]
    assert versions(stage, "EndTxn") == {4, 5}
    assert asked(stage).count("InitProducerId") == 2


def test_the_epoch_of_the_first_generation_stays_and_sequences_go_on() -> None:
    stage = ready(0)
    for _ in range(3):
        stage.core.begin_transaction()
        stage.send(0, b"x")
        stage.run(stage.core.commit_transaction())
    headers = [read_header(r.topic_data[0].partition_data[0].records) for r in stage.cluster.sent("Produce")]
    assert [(header.producer_epoch, header.base_sequence) for header in headers] == [(0, 0), (0, 1), (0, 2)]


# --- order of calls -----------------------------------------------------------------------------------------


def test_calls_out_of_order_are_refused() -> None:
    stage = staged()
    core = stage.core
    for call in (
        core.begin_transaction,
        lambda: stage.run(core.commit_transaction()),
        lambda: stage.run(core.abort_transaction()),
        lambda: stage.run(core.send_offsets_to_transaction(OFFSETS, "g")),
        lambda: stage.send(0, b"x"),
    ):
        with pytest.raises(IllegalState):
            call()
    stage.run(core.init_transactions())
    with pytest.raises(IllegalState):
        stage.run(core.init_transactions())
    with pytest.raises(IllegalState, match="begin_transaction first"):
        stage.send(0, b"x")
    core.begin_transaction()
    with pytest.raises(IllegalState):
        core.begin_transaction()


def test_a_producer_without_id_has_no_transactions() -> None:
    stage = Stage()
    with pytest.raises(IllegalState, match=r"transactional\.id"):
        stage.core.begin_transaction()


def test_the_states_allow_what_javas_allow() -> None:
    assert TRANSITIONS[State.FATAL_ERROR] == frozenset()
    assert State.COMMITTING not in TRANSITIONS[State.ABORTABLE_ERROR]
    assert State.ABORTING in TRANSITIONS[State.ABORTABLE_ERROR]


def test_a_groups_metadata_is_checked() -> None:
    stage = ready()
    stage.core.begin_transaction()
    for group in ("", GroupMetadata("g", 3, "")):
        with pytest.raises(InvalidArgument):
            stage.run(stage.core.send_offsets_to_transaction(OFFSETS, group))
    stage.run(stage.core.send_offsets_to_transaction({}, "g"))
    assert "TxnOffsetCommit" not in asked(stage)


# --- ends ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2])
def test_commit_sends_what_lingers_first(version: int) -> None:
    stage = ready(version, linger_ms=60_000)
    stage.core.begin_transaction()
    deliveries = [stage.send(partition, b"x") for partition in range(3)]
    stage.run(stage.core.commit_transaction())
    assert [delivery.error() for delivery in deliveries] == [None] * 3
    assert stage.clock.elapsed_ms < 5_000
    assert all(stage.log(partition).committed() == [b"x"] for partition in range(3))


@pytest.mark.parametrize("version", [0, 2])
def test_abort_drops_what_was_not_sent_and_aborts_what_was(version: int) -> None:
    stage = ready(version, linger_ms=60_000)
    stage.core.begin_transaction()
    sent = stage.send(0, b"sent")
    stage.run(stage.core.flush())
    unsent = stage.send(0, b"unsent")
    stage.run(stage.core.abort_transaction())
    assert sent.error() is None
    assert isinstance(unsent.error(), TransactionAborted)
    assert stage.log(0).values() == [b"sent"] and stage.log(0).committed() == []
    stage.core.begin_transaction()
    stage.send(0, b"next")
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"next"]
    assert stage.memory_used == 0


@pytest.mark.parametrize("version", [0, 2])
def test_abort_waits_for_what_is_on_its_way(version: int) -> None:
    stage = ready(version, linger_ms=0)
    stage.core.begin_transaction()
    stage.send(0, b"a")
    stage.run(stage.core.flush())
    stage.cluster.latency_ms = lambda: 200.0
    flying = stage.send(0, b"b")
    stage.advance(10)
    stage.run(stage.core.abort_transaction())
    assert flying.done()
    assert asked(stage)[-1] == "EndTxn"
    assert stage.log(0).committed() == []


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize("fate", [Fate.LOST_BEFORE, Fate.LOST_AFTER, Fate.STALLED])
def test_an_end_whose_answer_is_lost_is_asked_for_again(version: int, fate: Fate) -> None:
    stage = ready(version, request_timeout_ms=500)
    fates = [fate]
    stage.cluster.fate = lambda flight: fates.pop() if flight.api == "EndTxn" and fates else Fate.FINE
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.commit_transaction())
    assert asked(stage).count("EndTxn") == 2
    assert stage.log(0).committed() == [b"x"]
    stage.core.begin_transaction()
    stage.send(0, b"y")
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"x", b"y"]


PASSING = [
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.CONCURRENT_TRANSACTIONS,
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
]


@pytest.mark.parametrize("version", [0, 2])
@pytest.mark.parametrize(
    "api",
    [
        "FindCoordinator",
        "InitProducerId",
        "AddPartitionsToTxn",
        "AddOffsetsToTxn",
        "TxnOffsetCommit",
        "EndTxn",
    ],
)
def test_every_request_is_repeated_over_what_passes(version: int, api: str) -> None:
    stage = staged(version)
    refuse(stage, api, *PASSING)
    stage.run(stage.core.init_transactions())
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"x"]


def test_the_next_transaction_does_not_wait_long_for_the_last_one_to_be_completed() -> None:
    """CONCURRENT_TRANSACTIONS for the first partition: asked again after 20 ms."""
    stage = ready(0)
    refuse(stage, "AddPartitionsToTxn", *[ErrorCode.CONCURRENT_TRANSACTIONS] * 5)
    stage.core.begin_transaction()
    began_ms = stage.clock.elapsed_ms
    stage.send(0, b"x")
    stage.run(stage.core.commit_transaction())
    assert stage.clock.elapsed_ms - began_ms < 200


# --- errors -------------------------------------------------------------------------------------------------

ABORTABLE = State.ABORTABLE_ERROR
FATAL = State.FATAL_ERROR


def add_partition(stage: Stage) -> None:
    stage.send(0, b"x")
    stage.run(stage.core.flush())


def send_offsets(stage: Stage) -> None:
    stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))


def commit(stage: Stage) -> None:
    stage.send(0, b"x")
    stage.run(stage.core.commit_transaction())


def abort(stage: Stage) -> None:
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    stage.run(stage.core.abort_transaction())


@pytest.mark.parametrize(
    ("api", "act", "code", "expected"),
    [
        ("AddPartitionsToTxn", add_partition, ErrorCode.PRODUCER_FENCED, FATAL),
        ("AddPartitionsToTxn", add_partition, ErrorCode.INVALID_PRODUCER_EPOCH, FATAL),
        ("AddPartitionsToTxn", add_partition, ErrorCode.INVALID_TXN_STATE, FATAL),
        ("AddPartitionsToTxn", add_partition, ErrorCode.INVALID_PRODUCER_ID_MAPPING, FATAL),
        ("AddPartitionsToTxn", add_partition, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, FATAL),
        ("AddPartitionsToTxn", add_partition, ErrorCode.TOPIC_AUTHORIZATION_FAILED, ABORTABLE),
        ("AddPartitionsToTxn", add_partition, ErrorCode.OPERATION_NOT_ATTEMPTED, ABORTABLE),
        ("AddPartitionsToTxn", add_partition, ErrorCode.UNKNOWN_PRODUCER_ID, ABORTABLE),
        ("AddPartitionsToTxn", add_partition, ErrorCode.TRANSACTION_ABORTABLE, ABORTABLE),
        ("AddOffsetsToTxn", send_offsets, ErrorCode.GROUP_AUTHORIZATION_FAILED, ABORTABLE),
        ("AddOffsetsToTxn", send_offsets, ErrorCode.PRODUCER_FENCED, FATAL),
        ("AddOffsetsToTxn", send_offsets, ErrorCode.INVALID_TXN_STATE, FATAL),
        ("AddOffsetsToTxn", send_offsets, ErrorCode.UNKNOWN_PRODUCER_ID, ABORTABLE),
        ("TxnOffsetCommit", send_offsets, ErrorCode.ILLEGAL_GENERATION, ABORTABLE),
        ("TxnOffsetCommit", send_offsets, ErrorCode.UNKNOWN_MEMBER_ID, ABORTABLE),
        ("TxnOffsetCommit", send_offsets, ErrorCode.FENCED_INSTANCE_ID, ABORTABLE),
        ("TxnOffsetCommit", send_offsets, ErrorCode.GROUP_AUTHORIZATION_FAILED, ABORTABLE),
        ("TxnOffsetCommit", send_offsets, ErrorCode.PRODUCER_FENCED, FATAL),
        ("TxnOffsetCommit", send_offsets, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, FATAL),
        ("EndTxn", commit, ErrorCode.PRODUCER_FENCED, FATAL),
        ("EndTxn", commit, ErrorCode.INVALID_TXN_STATE, FATAL),
        ("EndTxn", commit, ErrorCode.TRANSACTION_ABORTABLE, ABORTABLE),
        ("EndTxn", commit, ErrorCode.UNKNOWN_PRODUCER_ID, ABORTABLE),
        ("EndTxn", abort, ErrorCode.TRANSACTION_ABORTABLE, FATAL),
        ("EndTxn", abort, ErrorCode.PRODUCER_FENCED, FATAL),
        ("FindCoordinator", send_offsets, ErrorCode.GROUP_AUTHORIZATION_FAILED, ABORTABLE),
    ],
)
def test_an_error_leads_to_the_state_that_java_goes_to(
    api: str, act: Callable[[Stage], None], code: ErrorCode, expected: State
) -> None:
    stage = ready(0)
    refuse(stage, api, code)
    stage.core.begin_transaction()
    fenced = code in (ErrorCode.PRODUCER_FENCED, ErrorCode.INVALID_PRODUCER_EPOCH)
    kind = TransactionFailed if expected is ABORTABLE else ProducerFenced if fenced else ProducerFailed
    if act is add_partition:
        act(stage)  # its errors are the records', and the next call's
    else:
        with pytest.raises(kind):
            act(stage)
    assert state(stage) is expected
    with pytest.raises(kind):
        stage.send(0, b"y")
    if expected is ABORTABLE:
        with pytest.raises(TransactionFailed):
            stage.run(stage.core.commit_transaction())
        stage.cluster.coordinator_verdict = lambda name, request: 0
        stage.run(stage.core.abort_transaction())
        stage.core.begin_transaction()
        stage.send(0, b"next")
        stage.run(stage.core.commit_transaction())
        assert stage.log(0).committed() == [b"next"]
    else:
        for call in (
            lambda: stage.run(stage.core.abort_transaction()),
            stage.core.begin_transaction,
            lambda: stage.run(stage.core.init_transactions()),
        ):
            with pytest.raises((ProducerFenced, ProducerFailed)):
                call()
    stage.run(stage.core.close(1_000))
    assert stage.memory_used == 0


def test_a_group_that_moved_on_is_the_cause_of_the_failure() -> None:
    stage = ready()
    refuse(stage, "TxnOffsetCommit", ErrorCode.ILLEGAL_GENERATION)
    stage.core.begin_transaction()
    with pytest.raises(TransactionFailed) as raised:
        stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    assert isinstance(raised.value.__cause__, CommitFailed)


@pytest.mark.parametrize("version", [0, 2])
def test_a_batch_that_fails_fails_the_transaction(version: int) -> None:
    stage = ready(version, linger_ms=0)
    stage.cluster.verdict = lambda tp, data: ErrorCode.INVALID_RECORD if b"bad" in bytes(data) else 0
    stage.core.begin_transaction()
    bad = stage.send(0, b"bad")
    stage.until(bad.done)
    waiting = bad.error()
    assert isinstance(waiting, ServerError)
    with pytest.raises(TransactionFailed) as raised:
        stage.send(0, b"more")
    assert raised.value.__cause__ is waiting
    with pytest.raises(TransactionFailed):
        stage.run(stage.core.commit_transaction())
    stage.run(stage.core.abort_transaction())
    stage.core.begin_transaction()
    stage.send(0, b"good")
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"good"]


def test_records_behind_a_failure_are_dropped_with_its_reason() -> None:
    stage = ready(2, linger_ms=60_000)
    stage.cluster.verdict = lambda tp, data: ErrorCode.INVALID_RECORD
    stage.core.begin_transaction()
    bad = stage.send(0, b"bad")
    flushing = stage.begin(stage.core.flush())
    behind = stage.send(1, b"behind")
    stage.until(lambda: flushing.done)
    assert isinstance(bad.error(), ServerError)
    assert isinstance(behind.error(), TransactionFailed)


@pytest.mark.parametrize("version", [0, 2])
def test_a_batch_that_is_given_up_can_be_aborted(version: int) -> None:
    stage = ready(version, delivery_timeout_ms=1_000, request_timeout_ms=300)
    stage.core.begin_transaction()
    stage.send(0, b"first")
    stage.run(stage.core.commit_transaction())
    stage.cluster.fate = lambda flight: Fate.LOST_BEFORE if flight.api == "Produce" else Fate.FINE
    stage.core.begin_transaction()
    lost = stage.send(0, b"lost")
    with pytest.raises(TransactionFailed):
        stage.run(stage.core.commit_transaction())
    assert isinstance(lost.error(), DeliveryTimedOut)
    stage.cluster.fate = lambda flight: Fate.FINE
    stage.run(stage.core.abort_transaction())
    stage.core.begin_transaction()
    stage.send(0, b"next")
    stage.run(stage.core.commit_transaction())
    assert stage.log(0).committed() == [b"first", b"next"]


def test_without_epoch_bumps_a_batch_that_is_given_up_is_the_end() -> None:
    """A coordinator from before KIP-360 (InitProducerId 2) cannot help."""
    stage = staged(0, delivery_timeout_ms=1_000, request_timeout_ms=300)
    stage.cluster.versions["InitProducerId"] = 2
    stage.run(stage.core.init_transactions())
    stage.cluster.fate = lambda flight: Fate.LOST_BEFORE if flight.api == "Produce" else Fate.FINE
    stage.core.begin_transaction()
    stage.send(0, b"lost")
    stage.advance(3_000)
    assert state(stage) is FATAL


def test_a_newer_producer_fences_this_one() -> None:
    stage = ready()
    stage.core.begin_transaction()
    stage.send(0, b"old")
    stage.run(stage.core.flush())
    newer = ProducerCore(stage.session, stage.settings)
    stage.run(newer.init_transactions())
    with pytest.raises(ProducerFenced):
        stage.run(stage.core.commit_transaction())
    with pytest.raises(ProducerFenced):
        stage.core.begin_transaction()
    newer.begin_transaction()
    assert newer.try_append("t", 0, None, b"new", (), 0) is not None or stage.run(
        newer.append("t", 0, None, b"new", (), 0)
    )
    stage.run(newer.commit_transaction())
    assert stage.log(0).committed() == [b"new"]


def test_init_can_be_called_again_when_the_right_was_missing() -> None:
    """KIP-1139's rule: an authorization error of init_transactions leaves the producer as it was."""
    stage = staged()
    refuse(stage, "InitProducerId", ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    with pytest.raises(ServerError):
        stage.run(stage.core.init_transactions())
    assert state(stage) is State.UNINITIALIZED
    stage.run(stage.core.init_transactions())
    assert state(stage) is State.READY


# --- patience -----------------------------------------------------------------------------------------------


def test_a_call_that_timed_out_is_called_again_and_nothing_else() -> None:
    stage = ready(2, max_block_ms=1_000)
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    stage.cluster.down.update({1, 2, 3})
    for node in (1, 2, 3):
        stage.cluster.break_connection(node)
    with pytest.raises(OperationTimedOut):
        stage.run(stage.core.commit_transaction())
    for call in (
        lambda: stage.run(stage.core.abort_transaction()),
        stage.core.begin_transaction,
        lambda: stage.send(0, b"y"),
    ):
        with pytest.raises(IllegalState, match="commit_transaction"):
            call()
    stage.cluster.down.clear()
    stage.advance(5_000)  # it has long been committed; its caller still has to be told
    with pytest.raises(IllegalState):
        stage.core.begin_transaction()
    stage.run(stage.core.commit_transaction())
    stage.core.begin_transaction()
    assert stage.log(0).committed() == [b"x"]


def test_init_waits_as_long_as_it_is_told() -> None:
    stage = staged()
    stage.cluster.down.update({1, 2, 3})
    began_ms = stage.clock.elapsed_ms
    with pytest.raises(OperationTimedOut):
        stage.run(stage.core.init_transactions(250))
    assert stage.clock.elapsed_ms - began_ms == 250
    stage.cluster.down.clear()
    stage.run(stage.core.init_transactions())


def test_offsets_that_timed_out_are_still_part_of_the_transaction() -> None:
    stage = ready(2, max_block_ms=500)
    stage.core.begin_transaction()
    refuse(stage, "TxnOffsetCommit", *[ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 4)
    with pytest.raises(OperationTimedOut):
        stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    for _ in range(5):
        try:
            stage.run(stage.core.commit_transaction())
            break
        except OperationTimedOut:
            continue
    assert stage.cluster.group_offsets == {("g", TopicPartition("in", 0)): 41}


def test_a_record_whose_partition_cannot_be_added_is_given_up_in_time() -> None:
    """Also with linger.ms=0, where no timer wakes the sender."""
    stage = ready(0, linger_ms=0)
    stage.core.begin_transaction()
    refuse(stage, "AddPartitionsToTxn", *[ErrorCode.COORDINATOR_LOAD_IN_PROGRESS] * 10_000)
    delivery = stage.send(0, b"x")
    stage.advance(stage.settings.delivery_timeout_ms + 1)
    assert isinstance(delivery.error(), DeliveryTimedOut)
    assert state(stage) is State.ABORTABLE_ERROR and stage.memory_used == 0


@pytest.mark.parametrize("version", [0, 2])
def test_an_abort_drops_offsets_that_are_still_waiting_to_be_taken(version: int) -> None:
    """The offsets of a topic that does not exist are tried until max.block.ms is over; the abort that follows
    has no use for them.
    """
    stage = ready(version, max_block_ms=500)
    stage.core.begin_transaction()
    refuse(stage, "TxnOffsetCommit", *[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 1000)
    with pytest.raises(OperationTimedOut):
        stage.run(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    before = len(stage.cluster.sent("TxnOffsetCommit"))
    stage.run(stage.core.abort_transaction())
    assert len(stage.cluster.sent("TxnOffsetCommit")) == before
    assert [request.committed for request in stage.cluster.sent("EndTxn")] == [False]
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.commit_transaction())
    assert stage.log().committed() == [b"x"] and stage.cluster.group_offsets == {}


def test_whoever_waits_for_offsets_is_told_of_the_abort() -> None:
    stage = ready(2)
    stage.core.begin_transaction()
    refuse(stage, "TxnOffsetCommit", *[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 1000)
    waiting = stage.begin(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    stage.run(stage.core.abort_transaction())
    with pytest.raises(TransactionAborted):
        waiting.result()


@pytest.mark.parametrize("api", ["AddPartitionsToTxn", "AddOffsetsToTxn"])
def test_an_abort_does_not_wait_until_something_can_be_added(api: str) -> None:
    stage = ready(0, max_block_ms=2_000)
    stage.core.begin_transaction()
    refuse(stage, api, *[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 1000)
    if api == "AddPartitionsToTxn":
        stage.send(0, b"x")
    else:
        stage.begin(stage.core.send_offsets_to_transaction(OFFSETS, GROUP))
    stage.advance(1_000)
    stage.run(stage.core.abort_transaction())
    assert state(stage) is State.READY and not stage.cluster.sent("EndTxn")


def test_what_the_coordinator_may_have_begun_unheard_is_ended_by_a_new_epoch() -> None:
    """Its answer was lost, and the abort came before it was asked again: left open there, the transaction
    would run into its timeout, and that fences the producer.
    """
    stage = ready(0)
    stage.core.begin_transaction()
    lost = iter([Fate.LOST_AFTER])
    stage.cluster.fate = lambda flight: (
        next(lost, Fate.LOST_BEFORE) if flight.api == "AddPartitionsToTxn" else Fate.FINE
    )
    stage.send(0, b"x")
    stage.until(lambda: len(stage.cluster.sent("AddPartitionsToTxn")) == 2)
    assert stage.cluster.transactions["tx"].ongoing
    stage.run(stage.core.abort_transaction())
    assert not stage.cluster.transactions["tx"].ongoing
    stage.cluster.fate = lambda flight: Fate.FINE
    stage.core.begin_transaction()
    stage.send(0, b"y")
    stage.run(stage.core.commit_transaction())
    assert stage.log().committed() == [b"y"]


# --- close --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [0, 2])
def test_close_aborts_an_open_transaction_and_says_so(version: int, caplog: pytest.LogCaptureFixture) -> None:
    stage = ready(version)
    stage.core.begin_transaction()
    stage.send(0, b"x")
    with caplog.at_level("INFO", "ottla.client"):
        stage.run(stage.core.close(None))
    assert "aborting the open transaction" in caplog.text
    assert stage.log(0).committed() == []
    assert stage.cluster.transactions["tx"].ongoing is False
    with pytest.raises(ClientClosed):
        stage.core.begin_transaction()


def test_close_lets_a_commit_that_is_under_way_come_to_its_end() -> None:
    stage = ready(2)
    stage.core.begin_transaction()
    stage.send(0, b"x")
    committing = stage.begin(stage.core.commit_transaction())
    stage.run(stage.core.close(None))
    stage.settle()
    assert committing.done
    assert stage.log(0).committed() == [b"x"]


def test_close_returns_in_time_when_the_coordinator_is_gone() -> None:
    stage = ready(2)
    stage.core.begin_transaction()
    stage.send(0, b"x")
    stage.run(stage.core.flush())
    stage.cluster.down.update({1, 2, 3})
    began_ms = stage.clock.elapsed_ms
    stage.run(stage.core.close(800))
    assert stage.clock.elapsed_ms - began_ms == pytest.approx(800, abs=2)
