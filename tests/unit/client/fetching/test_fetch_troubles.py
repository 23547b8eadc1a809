"""The fetcher where brokers refuse, move, lie or die. Which errors pass by themselves and which are raised
is as in Kafka's own consumer.
"""

from __future__ import annotations

from typing import Any

import pytest
from fetch_stage import Stage
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.client.consuming.fetch_sessions import FetchSession, Wanted
from ottla.client.errors import OttlaError, PositionLost, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages import fetch

T0 = TopicPartition("t", 0)
T1 = TopicPartition("t", 1)


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def reading(count: int = 3, **settings: Any) -> Stage:
    """A stage whose partition was read to its end, at offset `count`."""
    stage = Stage(**settings)
    stage.topic("t", 1, leaders=(1,))
    stage.nodes |= {2, 3}
    stage.topics["t"][0].append(count)
    stage.start(T0)
    stage.take(count)
    return stage


def move_leader(stage: Stage, node_id: int) -> None:
    log = stage.topics["t"][0]
    log.leader = node_id
    log.epoch += 1


# -- leaders that move --


def test_a_leader_that_moved_is_found_through_metadata() -> None:
    stage = reading()
    move_leader(stage, 2)
    stage.topics["t"][0].append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [3]
    assert stage.calls[-1][1] == 2
    assert "OffsetForLeaderEpoch" in [name for name, _, _ in stage.calls], "the position was validated"


def test_a_broker_that_says_who_leads_now_saves_the_metadata_request() -> None:
    """KIP-951."""
    stage = reading()
    stage.hints = True
    move_leader(stage, 2)
    stage.topics["t"][0].append(1)
    stage.appended()
    before = len(stage.requests("Metadata"))
    began_ms = stage.clock.elapsed_ms
    assert offsets(stage.take(1)) == [3]
    assert len(stage.requests("Metadata")) == before
    assert stage.clock.elapsed_ms - began_ms < 20, "no back-off either"


def test_a_stale_hint_is_not_followed() -> None:
    stage = reading()

    def stale(node_id: int, request: Any) -> Any:
        if node_id != 1 or not stage.hints:
            return None
        stage.hints = False
        data = fetch.PartitionData(
            partition_index=0,
            error_code=ErrorCode.NOT_LEADER_OR_FOLLOWER,
            current_leader=fetch.LeaderIdAndEpoch(leader_id=3, leader_epoch=0),
        )
        topic = fetch.FetchableTopicResponse(topic_id=stage.topic_ids["t"], partitions=[data])
        return fetch.FetchResponse(session_id=request.session_id, responses=[topic])

    stage.hints = True
    stage.overrides["Fetch"] = stale
    stage.run(limit_ms=700)
    stage.topics["t"][0].append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [3]
    assert {node for name, node, _ in stage.calls if name == "Fetch"} == {1}


def test_a_broker_that_dies_is_left_for_the_new_leader_without_losing_the_place() -> None:
    stage = reading()
    stage.dead.add(1)
    for held in list(stage.held):
        held.done = True
        stage.held.remove(held)
        held.pending.failed(OttlaErrorOfTheNetwork())
    move_leader(stage, 3)
    stage.topics["t"][0].append(2)
    assert offsets(stage.take(2)) == [3, 4]


class OttlaErrorOfTheNetwork(OttlaError):
    retriable = True


def test_a_dead_broker_is_asked_with_growing_pauses_until_it_is_back() -> None:
    stage = reading()
    stage.dead.add(1)
    before = len(stage.requests("Metadata"))
    stage.run(limit_ms=10_000)
    assert len(stage.requests("Metadata")) - before < 40
    stage.dead.clear()
    stage.topics["t"][0].append(1)
    assert offsets(stage.take(1)) == [3]


def test_a_partition_without_a_leader_waits_for_one() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    log.leader = -1
    log.append(1)
    stage.start(T0)
    stage.run(limit_ms=3_000)
    assert not stage.requests()
    log.leader = 1
    assert offsets(stage.take(1)) == [0]


def test_a_topic_that_is_created_later_is_read_then() -> None:
    stage = Stage()
    stage.start(T0)
    stage.run(limit_ms=3_000)
    stage.topic("t")[0].append(1)
    assert offsets(stage.take(1)) == [0]


@pytest.mark.parametrize(
    "code",
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ],
)
def test_errors_that_pass_by_themselves_are_waited_out_and_not_raised(code: ErrorCode) -> None:
    stage = Stage()
    logs = stage.topic("t", 2)
    for log in logs:
        log.append(1)
    logs[0].errors = [code] * 3
    metadata_before = len(stage.requests("Metadata"))
    stage.start(T0, T1)
    assert {(r.partition, r.offset) for r in stage.take(2)} == {(0, 0), (1, 0)}
    assert stage.clock.elapsed_ms >= 1_300, "retry.backoff.ms each time"
    refreshed = len(stage.requests("Metadata")) - metadata_before
    if code in (ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.UNKNOWN_SERVER_ERROR):
        assert refreshed == 1, "the broker is behind, not we"
    else:
        assert refreshed >= 2


@pytest.mark.parametrize(
    "code", [ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.CORRUPT_MESSAGE, ErrorCode.INVALID_REQUEST]
)
def test_errors_that_the_caller_has_to_know_are_raised_once_the_buffer_is_empty(code: ErrorCode) -> None:
    stage = Stage()
    logs = stage.topic("t", 2)
    logs[0].append(1)
    logs[1].append(1)
    logs[0].errors = [code]
    stage.start(T0, T1)
    assert [r.partition for r in stage.take(1)] == [1], "what is there comes first"
    with pytest.raises(ServerError) as raised:
        stage.take(1)
    assert raised.value.code == code and "t-0" in str(raised.value)
    assert [r.partition for r in stage.take(1)] == [0], "then it is tried again"


def test_a_topic_that_we_may_not_see_is_raised_from_metadata() -> None:
    stage = Stage()
    stage.topic("t")[0].append(1)
    stage.topic_errors["t"] = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    fetcher = stage.start(T0)
    stage.run(lambda: fetcher.ready)
    with pytest.raises(ServerError, match="topic t"):
        fetcher.take(1)
    stage.topic_errors.clear()
    stage.metadata.request()
    assert offsets(stage.take(1)) == [0]


def test_a_topic_that_was_made_anew_is_read_under_its_new_id() -> None:
    """A recreated topic answers UNKNOWN_TOPIC_ID (KIP-516); offsets of the old one mean nothing in it."""
    stage = reading(auto_offset_reset="earliest")
    stage.topic("t")[0].append(5)
    stage.appended()
    assert offsets(stage.take(5)) == [0, 1, 2, 3, 4]
    assert stage.requests()[-1].session_epoch >= 0


def test_a_topic_that_was_made_anew_has_no_position_where_no_policy_says_one() -> None:
    stage = reading(auto_offset_reset="none")
    stage.topic("t")[0].append(5)
    stage.appended()
    for _ in range(2):  # until somebody seeks
        with pytest.raises(PositionLost, match="created anew"):
            stage.take(1)
    stage.fetcher.seek(T0, 1)
    assert offsets(stage.take(4)) == [1, 2, 3, 4]


def test_a_partition_that_cannot_be_read_is_told_though_another_one_always_has_records() -> None:
    stage = Stage()
    logs = stage.topic("t", 2)
    logs[0].append(1)
    logs[1].append(50)
    logs[0].errors = [ErrorCode.TOPIC_AUTHORIZATION_FAILED]
    fetcher = stage.start(T0, T1)
    stage.run(lambda: fetcher.buffered_bytes)
    assert len(fetcher.take(1)) == 1
    with pytest.raises(ServerError, match="t-0"):
        fetcher.take(1)
    assert fetcher.take(1)[0].partition == 1


# -- positions that are lost --


def delete_up_to(stage: Stage, offset: int) -> None:
    stage.topics["t"][0].start = offset


@pytest.mark.parametrize(("policy", "first"), [("earliest", 6), ("latest", 10)])
def test_a_position_that_was_deleted_is_reset_by_the_policy(policy: str, first: int) -> None:
    stage = Stage(auto_offset_reset=policy)
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)
    log.start = 6
    fetcher = stage.start(T0, at=2)
    stage.run(lambda: stage.requests("ListOffsets"))
    stage.run(lambda: fetcher.has_position(T0))
    assert fetcher.position(T0).offset == first  # type: ignore[union-attr]
    log.append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [first]


def test_without_a_policy_a_lost_position_is_raised_until_somebody_seeks() -> None:
    stage = Stage(auto_offset_reset="none")
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)
    log.start = 6
    fetcher = stage.start(T0, at=2)
    for _ in range(2):
        with pytest.raises(PositionLost, match="t-0: offset 2 lies outside the log") as raised:
            stage.take(1)
        assert (raised.value.topic, raised.value.partition, raised.value.offset) == ("t", 0, 2)
    fetcher.seek(T0, 6)
    assert offsets(stage.take(4)) == [6, 7, 8, 9]


def test_what_is_buffered_is_handed_out_before_a_position_counts_as_lost() -> None:
    stage = Stage(auto_offset_reset="none", max_partition_fetch_bytes=500)
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1, size=60)
    fetcher = stage.start(T0)
    stage.run(lambda: fetcher.buffered_bytes)
    log.start = 9
    first = fetcher.take(1)
    stage.run(limit_ms=300)
    rest = fetcher.take(10)
    assert offsets(first + rest) == list(range(len(first + rest)))
    with pytest.raises(PositionLost) as raised:
        stage.take(1)
    assert raised.value.offset == len(first + rest)


def test_resets_by_time_take_the_first_record_that_is_young_enough_or_the_end() -> None:
    stage = Stage()
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)  # timestamps 0, 1000, 2000 ...
    fetcher = stage.start(T0, at=None)
    fetcher.reset(T0, 3_500)
    stage.run(lambda: fetcher.has_position(T0))
    assert fetcher.position(T0).offset == 4  # type: ignore[union-attr]
    fetcher.reset(T0, 1_000_000)
    assert fetcher.position(T0) is None
    stage.run(lambda: fetcher.has_position(T0))
    assert fetcher.position(T0).offset == 10  # type: ignore[union-attr]


def test_a_reset_by_duration_looks_back_from_now() -> None:
    """KIP-1106."""
    stage = Stage(auto_offset_reset="by_duration:PT1H")
    stage.topic("t")[0].append(1)
    fetcher = stage.start(T0, at=None)
    fetcher.reset(T0)
    stage.run(lambda: fetcher.has_position(T0))
    asked = stage.requests("ListOffsets")[0].topics[0].partitions[0].timestamp
    assert abs(asked - (stage.clock.now_ms() - 3_600_000)) < 100


def test_a_seek_while_a_reset_is_on_its_way_wins() -> None:
    stage = Stage()
    stage.topic("t")[0].append(10)
    fetcher = stage.start(T0, at=None)
    fetcher.reset(T0)
    stage.run(lambda: [n for n in stage.calls if n[0] == "ListOffsets"])
    fetcher.seek(T0, 5)
    assert offsets(stage.take(5)) == [5, 6, 7, 8, 9]


def test_a_reset_is_tried_again_where_the_leader_has_gone() -> None:
    stage = Stage()
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    log.append(2)
    stage.start(T0, at=0)
    stage.take(2)
    log.leader, log.epoch = 2, 1
    stage.fetcher.reset(T0, -2)
    assert offsets(stage.take(2)) == [0, 1]


def test_a_reset_of_a_topic_that_we_may_not_read_is_raised() -> None:
    stage = Stage(auto_offset_reset="earliest")
    stage.topic("t")[0].append(1)
    real = stage._list_offsets

    def refuse(node_id: int, request: Any) -> Any:
        response = real(node_id, request)
        response.topics[0].partitions[0].error_code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        return response

    stage.overrides["ListOffsets"] = refuse
    fetcher = stage.start(T0, at=None)
    fetcher.reset(T0)
    with pytest.raises(ServerError) as raised:
        stage.take(1)
    assert raised.value.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    del stage.overrides["ListOffsets"]
    assert offsets(stage.take(1)) == [0]


# -- truncation (KIP-320) --


def truncated(**settings: Any) -> Stage:
    """Read up to offset 6 in epoch 0; the new leader has only up to 4 of that, and went on in epoch 1."""
    stage = Stage(**settings)
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    for _ in range(6):
        log.append(1)
    stage.start(T0)
    stage.take(6)
    log.truncate(4)
    log.leader, log.epoch = 2, 1
    for _ in range(4):
        log.append(1)
    stage.appended()
    return stage


def test_after_a_truncation_reading_goes_on_where_the_logs_part() -> None:
    stage = truncated(auto_offset_reset="latest")
    assert offsets(stage.take(4)) == [4, 5, 6, 7], "as Kafka: to where they part, whatever the policy"


def test_a_truncation_without_a_policy_is_raised_with_the_place_where_the_logs_part() -> None:
    stage = truncated(auto_offset_reset="none")
    with pytest.raises(PositionLost, match="differs from 4 on") as raised:
        stage.take(1)
    assert raised.value.offset == 6
    stage.fetcher.seek(T0, 4)
    assert offsets(stage.take(4)) == [4, 5, 6, 7]


def test_a_committed_position_is_validated_by_its_epoch_before_it_is_read_from() -> None:
    stage = truncated()
    fetcher = stage.fetcher
    stage.take(4)
    fetcher.seek(T0, 6, 0)  # committed in epoch 0, of which the log has offsets 0 to 3
    assert fetcher.position(T0) is None
    assert offsets(stage.take(4)) == [4, 5, 6, 7]
    fetcher.seek(T0, 6, 1)
    assert offsets(stage.take(2)) == [6, 7]


def test_an_epoch_that_the_leader_does_not_know_resets_by_the_policy() -> None:
    stage = Stage(auto_offset_reset="earliest")
    log = stage.topic("t")[0]
    log.epoch = 5
    log.append(3)
    fetcher = stage.start(T0, at=None)
    fetcher.seek(T0, 2, 1)
    assert offsets(stage.take(3)) == [0, 1, 2]


def test_a_broker_that_cannot_be_asked_for_epochs_is_trusted() -> None:
    stage = truncated()
    stage.versions["OffsetForLeaderEpoch"] = -1
    stage.run(limit_ms=3_000)
    assert offsets(stage.take(2)) == [6, 7]


def test_what_was_read_ahead_from_the_old_leader_is_fetched_anew_from_the_new_one() -> None:
    stage = Stage()
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    for _ in range(6):
        log.append(1, size=5)
    stage.start(T0)
    assert offsets(stage.take(2)) == [0, 1]
    log.truncate(4)
    log.leader, log.epoch = 2, 1
    for _ in range(2):
        log.append(1, size=9)
    stage.metadata.request()
    stage.run(limit_ms=1_000)
    records = stage.take(4)
    assert offsets(records) == [2, 3, 4, 5]
    assert [len(r.value) for r in records] == [5, 5, 9, 9], "what the old leader lost is not handed out"


# -- followers (KIP-392) --


def with_follower() -> Stage:
    stage = Stage(client_rack="east", metadata_max_age_ms=60_000)
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    log.preferred = 2
    log.append(2)
    return stage


def fetch_nodes(stage: Stage) -> list[int]:
    return [node for name, node, _ in stage.calls if name == "Fetch"]


def test_a_consumer_with_a_rack_reads_from_the_replica_that_the_leader_names() -> None:
    stage = with_follower()
    stage.start(T0)
    assert offsets(stage.take(2)) == [0, 1]
    assert fetch_nodes(stage)[:2] == [1, 2]
    assert stage.requests()[0].rack_id == "east"


def test_the_leader_is_asked_again_for_the_nearest_replica_when_metadata_has_aged() -> None:
    stage = with_follower()
    stage.start(T0)
    stage.take(2)
    before = len(stage.calls)
    stage.run(limit_ms=30_000)
    assert {node for name, node, _ in stage.calls[before:] if name == "Fetch"} == {2}
    before = len(stage.calls)
    stage.run(limit_ms=35_000)
    nodes = [node for name, node, _ in stage.calls[before:] if name == "Fetch"]
    assert nodes.count(1) == 1 and nodes[-1] == 2


def test_a_follower_that_is_behind_sends_us_back_to_the_leader_without_a_reset() -> None:
    stage = with_follower()
    log = stage.topics["t"][0]
    stage.start(T0)
    stage.take(2)
    stage.run(lambda: stage.held)
    log.preferred = -1
    log.errors = [ErrorCode.OFFSET_OUT_OF_RANGE]
    stage.appended()
    log.append(1)
    assert offsets(stage.take(1)) == [2]
    assert fetch_nodes(stage)[-1] == 1 or 1 in fetch_nodes(stage)[-2:]
    assert not stage.requests("ListOffsets")


def test_a_follower_that_dies_sends_us_back_to_the_leader() -> None:
    stage = with_follower()
    log = stage.topics["t"][0]
    stage.start(T0)
    stage.take(2)
    log.preferred = -1
    stage.dead.add(2)
    log.append(1)
    stage.held.clear()
    assert offsets(stage.take(1)) == [2]


def test_a_new_leader_is_asked_first_which_replica_it_prefers() -> None:
    stage = with_follower()
    stage.nodes |= {3}
    log = stage.topics["t"][0]
    stage.start(T0)
    stage.take(2)
    log.leader, log.epoch = 3, 1
    before = len(stage.calls)
    stage.appended()
    stage.metadata.request()
    stage.run(limit_ms=2_000)
    nodes = [node for name, node, _ in stage.calls[before:] if name == "Fetch"]
    assert 3 in nodes and nodes[-1] == 2


def test_a_replica_that_is_offline_is_not_read_from() -> None:
    stage = with_follower()
    stage.topics["t"][0].offline = [2]
    stage.start(T0)
    stage.run(limit_ms=1_000)
    assert set(fetch_nodes(stage)) == {1}


# -- sessions --


def test_a_partition_that_gave_data_is_named_again_even_if_it_is_read_from_the_same_place() -> None:
    """A broker that keeps a list of what is new would not look at it again otherwise."""
    session = FetchSession()
    wanted = {T0: Wanted(b"a" * 16, 0, 0, 100)}
    session.plan(wanted, (), wanted.get)
    data = [fetch.PartitionData(partition_index=0, records=b"...")]
    answer = fetch.FetchResponse(
        session_id=7, responses=[fetch.FetchableTopicResponse(topic_id=b"a" * 16, partitions=data)]
    )
    session.take_in(answer)
    assert set(session.plan(wanted, [T0], wanted.get).to_send) == {T0}
    data[0].records = b""
    session.take_in(answer)
    assert not session.plan(wanted, [T0], wanted.get).to_send


def test_an_evicted_session_is_opened_anew() -> None:
    stage = reading()
    stage.run(limit_ms=1_200)
    stage.sessions.clear()
    stage.run(limit_ms=600)
    stage.topics["t"][0].append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [3]
    epochs = [r.session_epoch for r in stage.requests()]
    assert epochs.count(0) == 2


def test_a_session_epoch_that_the_broker_does_not_expect_ends_in_a_full_request_that_closes_the_old_one() -> (
    None
):
    stage = reading()
    stage.run(limit_ms=600)
    (session,) = stage.sessions.values()
    session.epoch += 5
    stage.run(limit_ms=1_200)
    full = [r for r in stage.requests() if r.session_epoch == 0]
    assert len(full) == 2 and full[1].session_id == session.number
    stage.topics["t"][0].append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [3]


def test_a_broker_without_sessions_gets_full_requests() -> None:
    stage = Stage()
    stage.with_sessions = False
    log = stage.topic("t", 2)[0]
    stage.start(T0, T1)
    stage.run(limit_ms=1_200)
    log.append(1)
    stage.appended()
    assert offsets(stage.take(1)) == [0]
    assert all(r.session_epoch == 0 and len(r.topics[0].partitions) == 2 for r in stage.requests())


@pytest.mark.parametrize("version", [4, 6, 7, 11, 12, 13, 17])
def test_brokers_of_any_age_are_read_from(version: int) -> None:
    stage = Stage()
    stage.versions["Fetch"] = version
    logs = stage.topic("t", 2)
    fetcher = stage.start(T0, T1)
    for log in logs:
        log.append(3)
    fetcher.pause([T1])
    assert offsets(stage.take(3)) == [0, 1, 2]
    fetcher.resume([T1])
    assert offsets(stage.take(3)) == [0, 1, 2]
    by_name = any(t.topic for r in stage.requests() for t in r.topics)
    assert by_name == (version < 13)


def test_a_topic_without_an_id_keeps_all_requests_on_names() -> None:
    """Version 12 is the last that has them."""
    stage = Stage()
    stage.topic("t")[0].append(1)
    stage.topic("u")[0].append(1)
    stage.topic_ids["u"] = bytes(16)
    stage.start(T0, TopicPartition("u", 0))
    assert {r.topic for r in stage.take(2)} == {"t", "u"}
    assert all(t.topic for r in stage.requests() for t in r.topics)


def test_a_throttled_client_waits_as_long_as_it_is_told() -> None:
    """KIP-219."""
    stage = Stage()
    stage.topic("t")[0].append(1)
    answers = [fetch.FetchResponse(throttle_time_ms=700)]
    stage.overrides["Fetch"] = lambda node_id, request: answers.pop() if answers else None
    stage.start(T0)
    assert offsets(stage.take(1)) == [0]
    assert stage.clock.elapsed_ms >= 1_700
    assert len(stage.requests()) == 2


def test_an_answer_about_a_partition_that_was_not_asked_for_is_not_used() -> None:
    stage = Stage()
    stage.topic("t")[0].append(1)

    def lie(node_id: int, request: Any) -> Any:
        del stage.overrides["Fetch"]
        data = [fetch.PartitionData(partition_index=i, records=b"") for i in (0, 9)]
        topic = fetch.FetchableTopicResponse(topic_id=stage.topic_ids["t"], partitions=data)
        return fetch.FetchResponse(session_id=77, responses=[topic])

    stage.overrides["Fetch"] = lie
    stage.start(T0)
    assert offsets(stage.take(1)) == [0]
    assert [r.session_epoch for r in stage.requests()[:2]] == [0, 0]


def test_a_broker_that_speaks_no_common_version_is_raised_and_asked_again_with_pauses() -> None:
    stage = Stage()
    stage.topic("t")[0].append(1)
    stage.versions["Fetch"] = 3
    fetcher = stage.start(T0)
    stage.run(lambda: fetcher.ready)
    with pytest.raises(UnsupportedVersion):
        fetcher.take(1)
    del stage.versions["Fetch"]
    assert offsets(stage.take(1)) == [0]


# -- brokers that lie --

numbers = st.sampled_from([-(2**31), -2, -1, 0, 1, 2, 7, 2**31 - 1])
codes = st.sampled_from([0, 0, 0, *[int(code) for code in ErrorCode], 12_345])
garbage = st.one_of(st.none(), st.binary(max_size=200), st.just(b"\0" * 61), st.just(b"\x02" * 100))
hints = st.builds(
    lambda i, e: fetch.LeaderIdAndEpoch(leader_id=i, leader_epoch=e), numbers, st.integers(-1, 0)
)
lies = st.builds(
    lambda index, code, hw, records, replica, hint: fetch.PartitionData(
        partition_index=index,
        error_code=code,
        high_watermark=hw,
        last_stable_offset=hw,
        log_start_offset=hw,
        aborted_transactions=None,
        records=None if records is None else memoryview(records),
        preferred_read_replica=replica,
        current_leader=hint,
    ),
    st.sampled_from([0, 0, 0, 1, -1, 9]),
    codes,
    numbers,
    garbage,
    numbers,
    hints,
)
responses = st.builds(
    lambda session_id, code, throttle, known, data: (session_id, code, throttle, known, data),
    numbers,
    codes,
    st.sampled_from([0, 0, 10]),
    st.booleans(),
    st.lists(lies, max_size=3),
)


@given(st.lists(responses, min_size=1, max_size=8))
@settings(max_examples=300)
def test_whatever_a_broker_answers_reading_goes_on_when_it_comes_to_its_senses(lies: list[Any]) -> None:
    stage = Stage(metadata_max_age_ms=5_000, auto_offset_reset="earliest")
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    for _ in range(4):
        log.append(1)

    def lie(node_id: int, request: Any) -> Any:
        if not lies:
            return None
        session_id, code, throttle, known, data = lies.pop(0)
        topic_id = stage.topic_ids["t"] if known else b"?" * 16
        topic = fetch.FetchableTopicResponse(topic_id=topic_id, partitions=data)
        return fetch.FetchResponse(
            session_id=session_id,
            error_code=code,
            throttle_time_ms=throttle,
            responses=[topic] if data else [],
        )

    stage.overrides["Fetch"] = lie
    fetcher = stage.start(T0)
    found: list[int] = []

    def work() -> bool:
        try:
            found.extend(offsets(fetcher.take(10)))
        except OttlaError:
            return False
        return len(found) >= 4

    stage.run(work, limit_ms=60_000)
    assert found == [0, 1, 2, 3]
    stage.do(fetcher.close())
