"""DescribeTransactions and ListTransactions (KIP-664), with the filters of later versions."""

from __future__ import annotations

import pytest

from ottla.model.errors import ErrorCode, KafkaError
from ottla.transactions.admin import read_filters
from ottla.wire.messages.describe_transactions import TopicData
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from support.transaction_stage import BEGINS_MS, CLICKS_0, CLICKS_1, FIRST_PRODUCER_ID, ID, VIEWS_0, Stage


def test_describe_shows_who_produces_and_what_is_open() -> None:
    stage = Stage()
    producer = stage.begin(timeout_ms=7_000)
    stage.clock.ms = 5
    stage.add(producer, CLICKS_0, VIEWS_0, CLICKS_1)
    shown = stage.shard.describe(ID)
    assert shown.error_code == ErrorCode.NONE
    assert (shown.transactional_id, shown.producer_id, shown.producer_epoch) == (ID, *producer)
    assert (shown.transaction_state, shown.transaction_timeout_ms) == ("Ongoing", 7_000)
    assert shown.transaction_start_time_ms == BEGINS_MS + 5
    assert shown.topics == [
        TopicData(topic="clicks", partitions=[0, 1]),
        TopicData(topic="views", partitions=[0]),
    ]


def test_describe_shows_every_state_by_its_name() -> None:
    stage = Stage()
    names = []

    def look() -> None:
        names.append(stage.shard.describe(ID).transaction_state)

    producer = stage.begin()
    look()
    stage.add(producer)
    stage.end(producer)
    look()
    stage.write_markers()
    look()
    stage.end((producer[0], 1), committed=False)
    look()
    stage.write_markers()
    look()
    assert names == ["Empty", "PrepareCommit", "CompleteCommit", "PrepareAbort", "CompleteAbort"]


def test_describe_does_not_find_unknown_and_forgotten_ids() -> None:
    stage = Stage(id_expiration_ms=1)
    assert stage.shard.describe("nobody").error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
    assert stage.shard.describe("").error_code == ErrorCode.INVALID_REQUEST
    stage.begin()
    stage.clock.ms = 1
    stage.expire_ids()
    assert stage.shard.describe(ID).error_code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND


def staged() -> Stage:
    """a: Empty. b: Ongoing for 1000 ms. c: Ongoing for 10 ms."""
    stage = Stage()
    stage.begin("a")
    stage.add(stage.begin("b"), transactional_id="b")
    stage.clock.ms = 990
    stage.add(stage.begin("c"), transactional_id="c")
    stage.clock.ms = 1_000
    return stage


@pytest.mark.parametrize(
    ("request_", "found"),
    [
        (ListTransactionsRequest(), "abc"),
        (ListTransactionsRequest(state_filters=["Ongoing"]), "bc"),
        (ListTransactionsRequest(state_filters=["Empty", "Ongoing"]), "abc"),
        (ListTransactionsRequest(state_filters=["ongoing"]), ""),
        (ListTransactionsRequest(state_filters=["Dead", "PrepareEpochFence"]), ""),
        (ListTransactionsRequest(producer_id_filters=[FIRST_PRODUCER_ID + 1]), "b"),
        (ListTransactionsRequest(producer_id_filters=[5]), ""),
        (ListTransactionsRequest(duration_filter=999), "ab"),
        (ListTransactionsRequest(duration_filter=1_000), "a"),
        (ListTransactionsRequest(duration_filter=0), "abc"),
        (ListTransactionsRequest(state_filters=["Ongoing"], duration_filter=100), "b"),
        (ListTransactionsRequest(transactional_id_pattern="[bc]"), "bc"),
        (ListTransactionsRequest(transactional_id_pattern=".*"), "abc"),
        (ListTransactionsRequest(transactional_id_pattern=""), "abc"),
        (ListTransactionsRequest(transactional_id_pattern="b|x"), "b"),
    ],
    ids=repr,
)
def test_list_lets_pass_what_every_filter_lets_pass(request_: ListTransactionsRequest, found: str) -> None:
    stage = staged()
    filters, _ = read_filters(request_)
    listed = stage.shard.matching(filters)
    assert "".join(each.transactional_id for each in listed) == found
    for each in listed:
        transaction = stage.now(each.transactional_id)
        assert (each.producer_id, each.transaction_state) == (
            transaction.producer_id,
            transaction.state.label,
        )


def test_a_pattern_has_to_match_the_whole_id() -> None:
    stage = Stage()
    stage.begin("orders-1")
    filters, _ = read_filters(ListTransactionsRequest(transactional_id_pattern="orders"))
    assert stage.shard.matching(filters) == []


def test_states_that_do_not_exist_are_listed_and_match_nothing() -> None:
    filters, unknown = read_filters(ListTransactionsRequest(state_filters=["Ongoing", "Stuck", "Stuck"]))
    assert unknown == ["Stuck"]
    assert len(staged().shard.matching(filters)) == 2
    filters, unknown = read_filters(ListTransactionsRequest(state_filters=["Stuck"]))
    assert staged().shard.matching(filters) == []


@pytest.mark.parametrize("pattern", ["(", r"(?=x)", "x" * 5_000, "((a{100}){100}){100}", "\udc80"])
def test_a_bad_or_oversized_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(KafkaError) as caught:
        read_filters(ListTransactionsRequest(transactional_id_pattern=pattern))
    assert caught.value.code is ErrorCode.INVALID_REGULAR_EXPRESSION
