"""Offsets by time, and the policies that ask for them."""

from __future__ import annotations

from typing import Any

import pytest
from fetch_stage import Stage

from ottla.client.consuming.offset_lookup import OffsetLookup
from ottla.client.consuming.reset_policy import EARLIEST, LATEST, MAX_TIMESTAMP, ResetPolicy
from ottla.client.errors import (
    BrokerUnavailable,
    InvalidArgument,
    InvalidConfig,
    OperationTimedOut,
    ServerError,
    UnsupportedVersion,
)
from ottla.client.records import OffsetAndTimestamp
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

TPS = [TopicPartition("t", i) for i in range(4)]


def staged(**options: Any) -> tuple[Stage, OffsetLookup]:
    stage = Stage(default_api_timeout_ms=5_000)
    for i, log in enumerate(stage.topic("t", 4, leaders=(1, 2))):
        for _ in range(i * 10):
            log.append(1)
    return stage, OffsetLookup(stage, **options)  # type: ignore[arg-type]


def test_all_leaders_are_asked_at_once_and_answers_keep_the_order() -> None:
    stage, lookup = staged()
    stage.topics["t"][3].start = 4
    assert stage.do(lookup.end_offsets(reversed(TPS))) == {TPS[3]: 30, TPS[2]: 20, TPS[1]: 10, TPS[0]: 0}
    assert stage.do(lookup.beginning_offsets(TPS)) == {TPS[0]: 0, TPS[1]: 0, TPS[2]: 0, TPS[3]: 4}
    assert [node for name, node, _ in stage.calls if name == "ListOffsets"] == [2, 1, 1, 2]
    assert stage.do(lookup.end_offsets([])) == {}


def test_times_give_the_first_record_at_or_after_them_or_none() -> None:
    stage, lookup = staged()
    found = stage.do(lookup.offsets_for_times({TPS[1]: 2_500, TPS[0]: 0, TPS[2]: 99_000}))
    assert found == {TPS[1]: OffsetAndTimestamp(3, 3_000, -1), TPS[0]: None, TPS[2]: None}
    with pytest.raises(InvalidArgument, match="-1 is not a time"):
        stage.do(lookup.offsets_for_times({TPS[0]: -1}))


def test_with_read_committed_the_end_is_the_last_stable_offset() -> None:
    stage, lookup = staged(read_committed=True)
    stage.topics["t"][1].last_stable = 6
    assert stage.do(lookup.end_offsets(TPS[:2])) == {TPS[0]: 0, TPS[1]: 6}


def test_leaders_that_move_are_followed_and_what_was_found_is_not_asked_for_again() -> None:
    stage, lookup = staged()
    stage.do(lookup.end_offsets(TPS))
    stage.topics["t"][1].leader = 1
    stage.topics["t"][1].epoch += 1
    before = len(stage.requests("ListOffsets"))
    assert stage.do(lookup.end_offsets(TPS)) == {tp: tp.partition * 10 for tp in TPS}
    again = stage.requests("ListOffsets")[before:]
    assert [[p.partition_index for t in r.topics for p in t.partitions] for r in again] == [
        [0, 2],
        [1, 3],
        [1],
    ]


def test_a_broker_that_comes_back_is_waited_for() -> None:
    stage, lookup = staged()
    stage.do(lookup.end_offsets(TPS))
    stage.dead.add(2)
    task = stage.scheduler.start(lookup.end_offsets(TPS), "asks")
    stage.run(limit_ms=2_000)
    assert not task.done
    stage.dead.clear()
    stage.run(lambda: task.done)
    assert len(task.result()) == 4


def test_the_time_that_an_operation_takes_is_bounded_and_the_reason_is_its_cause() -> None:
    stage, lookup = staged()
    stage.do(lookup.end_offsets(TPS))
    stage.dead.add(2)
    began_ms = stage.clock.elapsed_ms
    with pytest.raises(OperationTimedOut, match=r"offsets of t-1, t-3 were not found within 5 s") as raised:
        stage.do(lookup.end_offsets(TPS))
    assert isinstance(raised.value.__cause__, BrokerUnavailable)
    assert 5_000 <= stage.clock.elapsed_ms - began_ms <= 6_100
    with pytest.raises(OperationTimedOut, match=r"within 0\.3 s"):
        stage.do(lookup.end_offsets(TPS, 300))


def test_what_does_not_exist_or_is_not_allowed_is_raised_at_once() -> None:
    stage, lookup = staged()
    with pytest.raises(ServerError, match="topic nowhere"):
        stage.do(lookup.end_offsets([TopicPartition("nowhere", 0)]))
    with pytest.raises(ServerError, match="there is no partition 9"):
        stage.do(lookup.end_offsets([TopicPartition("t", 9)]))
    real = stage._list_offsets

    def refuse(node_id: int, request: Any) -> Any:
        response = real(node_id, request)
        response.topics[0].partitions[0].error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return response

    stage.overrides["ListOffsets"] = refuse
    with pytest.raises(ServerError) as raised:
        stage.do(lookup.end_offsets(TPS))
    assert raised.value.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert stage.clock.elapsed_ms < 1_100


def test_brokers_before_the_record_with_the_largest_time_could_be_asked_for_say_so() -> None:
    """KIP-734 came with version 7."""
    stage, lookup = staged()
    stage.versions["ListOffsets"] = 6
    with pytest.raises(UnsupportedVersion, match="too old for this lookup"):
        stage.do(lookup.offsets({TPS[0]: MAX_TIMESTAMP}))
    assert stage.do(lookup.end_offsets([TPS[1]])) == {TPS[1]: 10}


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("earliest", ResetPolicy(time=EARLIEST)),
        ("Latest", ResetPolicy(time=LATEST)),
        ("none", ResetPolicy()),
        ("by_duration:PT1H", ResetPolicy(duration_ms=3_600_000)),
        ("by_duration:P1DT2H3M4.5S", ResetPolicy(duration_ms=93_784_500)),
        ("by_duration:P2D", ResetPolicy(duration_ms=172_800_000)),
        ("by_duration:PT0S", ResetPolicy(duration_ms=0)),
        ("by_duration:pt0.25s", ResetPolicy(duration_ms=250)),
        ("by_duration:PT1H-30M", ResetPolicy(duration_ms=1_800_000)),
    ],
)
def test_policies_are_read_as_java_reads_them(text: str, policy: ResetPolicy) -> None:
    """KIP-1106; durations as java.time.Duration.parse takes them."""
    assert ResetPolicy.parse(text) == policy
    assert policy.resets == (text != "none")


@pytest.mark.parametrize(
    "text",
    [
        *("", "smallest", "by_duration", "by_duration:", "by_duration:P", "by_duration:PT"),
        *("by_duration:P1DT", "by_duration:1H", "by_duration:P1Y", "by_duration:PT-1H"),
        *("by_duration:-PT1H", "by_duration:PT1Hx"),
    ],
)
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match=r"auto\.offset\.reset"):
        ResetPolicy.parse(text)


def test_a_duration_counts_back_from_the_moment_of_the_question() -> None:
    policy = ResetPolicy.parse("by_duration:PT10S")
    assert policy.timestamp(50_000) == 40_000
    assert policy.timestamp(5_000) == 0, "there is nothing before 1970"
