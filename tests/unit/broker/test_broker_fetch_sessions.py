"""Incremental fetch sessions (KIP-227)."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import Bench, batch, fetch_request, partitions_of

from ottla.broker.handlers import fetch
from ottla.model.errors import ErrorCode
from ottla.model.limits import FETCH_STRANGERS_MAX
from ottla.wire.messages.fetch import ForgottenTopic

ALL = {("events", index): 0 for index in range(4)}
PARTITIONS_MANY = 200


class Reader:
    """A client's side of a session."""

    def __init__(self, bench: Bench, version: int = 12) -> None:
        self.bench = bench
        self.version = version
        self.id = 0
        self.epoch = 0
        self.peer = bench.connect()

    def ask(self, changes: Any = None, **options: Any) -> Any:
        request = fetch_request(changes or {}, session_id=self.id, session_epoch=self.epoch, **options)
        reply = self.bench.call(request, self.version, peer=self.peer)
        if reply.error_code == 0 and reply.session_id:
            self.id = reply.session_id
            self.epoch += 1
        return reply

    def read(self, changes: Any = None, **options: Any) -> dict[Any, Any]:
        reply = self.ask(changes, **options)
        assert reply.error_code == 0
        return partitions_of(reply)


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create("events", 4)
    return bench


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The partitions that the broker looked at."""
    seen: list[int] = []
    original = fetch._Collected._look_at

    def counting(self: Any, fetched: Any, *args: Any) -> Any:
        seen.append(fetched.index)
        return original(self, fetched, *args)

    monkeypatch.setattr(fetch._Collected, "_look_at", counting)
    return seen


def test_a_full_request_makes_a_session_and_names_every_partition(bench: Bench) -> None:
    reader = Reader(bench)
    assert set(reader.read(ALL)) == set(ALL)
    assert reader.id > 0
    assert len(bench.node.fetch_sessions) == 1


@pytest.mark.parametrize("version", [7, 12, 13, 18])
def test_an_incremental_request_is_told_only_what_changed(bench: Bench, version: int) -> None:
    topic: str | bytes = "events" if version < 13 else bench.node.image.topics["events"].topic_id
    reader = Reader(bench, version)
    reader.read({(topic, index): 0 for index in range(4)})
    assert reader.read() == {}
    bench.produce("events", batch(2), partition=2)
    changed = reader.read()
    assert set(changed) == {(topic, 2)}
    assert changed[(topic, 2)].high_watermark == 2
    # The reader has not said that it moved on, so the records are given again.
    assert set(reader.read()) == {(topic, 2)}
    assert reader.read({(topic, 2): 2}) == {}


def test_before_version_7_there_are_no_sessions(bench: Bench) -> None:
    for _ in range(2):
        reply = bench.call(fetch_request(ALL), 6)
        assert reply.session_id == 0 and set(partitions_of(reply)) == set(ALL)
    assert len(bench.node.fetch_sessions) == 0


def test_a_final_request_ends_its_session_and_is_answered(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    reply = bench.call(fetch_request(ALL, session_id=reader.id, session_epoch=-1), 12)
    assert reply.error_code == 0 and reply.session_id == 0 and set(partitions_of(reply)) == set(ALL)
    assert reader.ask().error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert all(partition.watches is None for partition in bench.node.partitions.values())


def test_a_new_full_request_takes_the_place_of_the_old_session(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    old = reader.id
    reader.epoch = 0
    reader.read(ALL)
    assert reader.id != old
    assert len(bench.node.fetch_sessions) == 1


def test_wrong_ids_and_epochs_have_their_errors(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    for session_id, epoch, code in (
        (reader.id + 1, 1, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (0, 5, ErrorCode.FETCH_SESSION_ID_NOT_FOUND),
        (reader.id, 2, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
        (reader.id, -5, ErrorCode.INVALID_FETCH_SESSION_EPOCH),
    ):
        reply = bench.call(fetch_request({}, session_id=session_id, session_epoch=epoch), 12)
        assert (reply.error_code, reply.session_id, reply.responses) == (code, 0, [])
    assert reader.read() == {}


def test_a_session_by_name_is_not_continued_by_id(bench: Bench) -> None:
    """KIP-516: the client starts anew when it moves between versions 12 and 13."""
    reader = Reader(bench, 12)
    reader.read(ALL)
    reply = bench.call(fetch_request({}, session_id=reader.id, session_epoch=1), 13)
    assert reply.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR
    assert reader.read() == {}


def test_epochs_start_at_1_again_after_the_largest(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    session = bench.node.fetch_sessions._sessions[reader.id]
    session.epoch = reader.epoch = 2**31 - 1
    reader.read()
    reader.epoch = 1
    assert reader.read() == {}


@pytest.mark.parametrize("version", [12, 13])
def test_forgotten_partitions_are_not_watched_any_more(bench: Bench, version: int) -> None:
    topic_id = bench.node.image.topics["events"].topic_id
    topic: str | bytes = "events" if version < 13 else topic_id
    reader = Reader(bench, version)
    reader.read({(topic, index): 0 for index in range(4)})
    gone = ForgottenTopic(
        topic="events" if version < 13 else "",
        topic_id=topic_id if version >= 13 else bytes(16),
        partitions=[1, 2, 77],
    )
    reader.read(forget=[gone])
    assert bench.node.partitions[("events", 1)].watches is None
    for index in range(4):
        bench.produce("events", partition=index)
    assert set(reader.read()) == {(topic, 0), (topic, 3)}


def test_a_session_whose_last_partition_is_forgotten_ends(bench: Bench) -> None:
    """FetchManager.newContext: an empty session is removed, and the answer has no session."""
    reader = Reader(bench)
    reader.read({("events", 0): 0})
    reply = reader.ask(forget=[ForgottenTopic(topic="events", partitions=[0])], max_wait_ms=10_000)
    assert reply.error_code == 0 and reply.session_id == 0
    assert len(bench.node.fetch_sessions) == 0


def test_partitions_join_a_session_later(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read({("events", 0): 0})
    assert set(reader.read({("events", 1): 0})) == {("events", 1)}
    bench.produce("events", partition=1)
    assert set(reader.read()) == {("events", 1)}


def test_idle_partitions_cost_nothing_per_request(looks: list[int]) -> None:
    bench = Bench()
    bench.create("events", PARTITIONS_MANY)
    reader = Reader(bench)
    reader.read({("events", index): 0 for index in range(PARTITIONS_MANY)})
    reader.read()
    looks.clear()
    for _ in range(5):
        assert reader.read() == {}
    assert looks == []
    bench.produce("events", partition=100)
    assert set(reader.read()) == {("events", 100)}
    assert looks == [100]


def test_a_long_poll_on_a_session_is_woken_by_one_partition_and_looks_at_it_alone(
    bench: Bench, looks: list[int]
) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    reader.read()
    looks.clear()
    request = fetch_request({}, session_id=reader.id, session_epoch=reader.epoch, max_wait_ms=10_000)
    correlation_id = reader.peer.send(request, 12)
    assert looks == []
    bench.produce("events", partition=3)
    bench.scheduler.run_until(lambda: correlation_id in reader.peer.answered, within_ms=1)
    assert looks == [3]
    assert bench.pins == 0


def test_data_that_arrives_between_two_requests_is_there_at_once(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    reader.read()
    bench.produce("events", partition=1)
    began = bench.scheduler.now_ms
    assert set(reader.read(max_wait_ms=10_000)) == {("events", 1)}
    assert bench.scheduler.now_ms - began < 1


def test_a_full_response_takes_turns_among_the_partitions(bench: Bench) -> None:
    size = len(batch(value=bytes(1000)))
    reader = Reader(bench)
    reader.read(ALL)
    for index in range(4):
        for _ in range(3):
            bench.produce("events", batch(value=bytes(1000)), partition=index)
    position = dict(ALL)
    served: list[int] = []
    changes: dict[Any, int] = {}
    for _ in range(12):
        found = reader.read(changes, max_bytes=size, partition_max_bytes=size)
        ((_, index),) = [place for place, data in found.items() if data.records]
        served.append(index)
        position[("events", index)] += 1
        changes = {("events", index): position[("events", index)]}
    assert [served[turn : turn + 4] for turn in (0, 4, 8)] == [[0, 1, 2, 3]] * 3


def test_when_a_response_is_full_the_other_ready_partitions_are_not_even_looked_at(
    looks: list[int],
) -> None:
    bench = Bench()
    bench.create("events", PARTITIONS_MANY)
    reader = Reader(bench)
    reader.read({("events", index): 0 for index in range(PARTITIONS_MANY)})
    size = len(batch(value=bytes(1000)))
    for index in range(PARTITIONS_MANY):
        bench.produce("events", batch(value=bytes(1000)), partition=index)
    looks.clear()
    assert len(reader.read(max_bytes=2 * size)) == 2
    assert len(looks) == 2


def test_a_deleted_topic_is_told_once_at_once_and_does_not_make_the_reader_spin(bench: Bench) -> None:
    bench.create("other")
    reader = Reader(bench)
    reader.read({**ALL, ("other", 0): 0})
    reader.read()
    request = fetch_request({}, session_id=reader.id, session_epoch=reader.epoch, max_wait_ms=10_000)
    correlation_id = reader.peer.send(request, 12)
    bench.delete("other")
    bench.scheduler.run_until(lambda: correlation_id in reader.peer.answered, within_ms=1)
    reader.epoch += 1
    told = partitions_of(bench.reply(request, correlation_id, 12, reader.peer))
    assert {place: data.error_code for place, data in told.items()} == {
        ("other", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    }
    began = bench.scheduler.now_ms
    again = reader.read(max_wait_ms=500)
    assert again[("other", 0)].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.scheduler.now_ms - began == pytest.approx(500)
    asked = reader.read({("other", 0): 0}, max_wait_ms=500)
    assert asked[("other", 0)].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert bench.scheduler.now_ms - began == pytest.approx(500)  # asked anew, told at once


def test_a_recreated_topic_is_another_one_by_id_and_the_same_by_name(bench: Bench) -> None:
    old = bench.node.image.topics["events"].topic_id
    by_name, by_id = Reader(bench, 12), Reader(bench, 13)
    bench.produce("events", batch(5))
    by_name.read({("events", 0): 5})
    by_id.read({(old, 0): 5})
    bench.delete("events")
    assert by_name.read()[("events", 0)].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert by_id.read()[(old, 0)].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    bench.create("events", 4)
    assert by_id.read()[(old, 0)].error_code == ErrorCode.UNKNOWN_TOPIC_ID
    assert by_name.read()[("events", 0)].error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    found = by_name.read({("events", 0): 0})
    assert (found[("events", 0)].error_code, found[("events", 0)].high_watermark) == (0, 0)
    bench.produce("events")
    assert by_name.read()[("events", 0)].records


def test_a_partition_whose_error_has_gone_is_told_again(bench: Bench) -> None:
    """FetchSession.CachedPartition: an error makes the known high watermark invalid."""
    reader = Reader(bench)
    reader.read({("later", 0): 0, ("events", 0): 0})
    bench.create("later")
    found = reader.read()
    assert (found[("later", 0)].error_code, found[("later", 0)].high_watermark) == (0, 0)
    assert reader.read() == {}


def test_a_moved_log_start_is_told(bench: Bench) -> None:
    bench.produce("events", batch(5))
    reader = Reader(bench)
    reader.read({("events", 0): 5})
    reader.read()
    bench.node.advance_log_start(bench.node.partitions[("events", 0)], 3)
    found = reader.read()
    assert found[("events", 0)].log_start_offset == 3
    assert reader.read() == {}


def test_a_second_request_on_a_session_ends_the_wait_of_the_first(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    reader.read()
    ids = []
    for _ in range(2):
        request = fetch_request({}, session_id=reader.id, session_epoch=reader.epoch, max_wait_ms=10_000)
        ids.append(reader.peer.send(request, 12))
        reader.epoch += 1
    bench.scheduler.run_until(lambda: ids[0] in reader.peer.answered, within_ms=1)
    bench.produce("events", partition=1)
    bench.scheduler.run_until(lambda: ids[1] in reader.peer.answered, within_ms=1)
    second = partitions_of(bench.reply(request, ids[1], 12, reader.peer))
    assert set(second) == {("events", 1)}


def test_a_session_that_is_ended_while_it_waits_is_answered(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    reader.read()
    request = fetch_request({}, session_id=reader.id, session_epoch=reader.epoch, max_wait_ms=10_000)
    correlation_id = reader.peer.send(request, 12)
    bench.call(fetch_request({}, session_id=reader.id, session_epoch=-1), 12)
    bench.scheduler.run_until(lambda: correlation_id in reader.peer.answered, within_ms=1)


# --- bounds


def test_the_cache_is_bounded_and_the_least_recently_used_gives_way_when_it_is_old(bench: Bench) -> None:
    bench = Bench({"max.incremental.fetch.session.cache.slots": "3"})
    bench.create("events", 4)
    readers = [Reader(bench) for _ in range(3)]
    for reader in readers:
        reader.read(ALL)
        assert reader.id
    late = Reader(bench)
    late.read(ALL)
    assert late.id == 0  # answered all the same, without a session
    bench.scheduler.run_for(60_000)
    readers[0].read()
    bench.scheduler.run_for(61_000)
    late.read(ALL)
    assert late.id and len(bench.node.fetch_sessions) == 3
    assert readers[1].ask().error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert readers[0].read() == {}
    watches = bench.node.partitions[("events", 0)].watches
    assert watches is not None and len(watches) == 3


def test_a_session_that_waits_is_not_evicted(bench: Bench) -> None:
    bench = Bench({"max.incremental.fetch.session.cache.slots": "1"})
    bench.create("events", 4)
    reader = Reader(bench)
    reader.read(ALL)
    reader.read()
    request = fetch_request({}, session_id=reader.id, session_epoch=reader.epoch, max_wait_ms=300_000)
    reader.peer.send(request, 12)
    bench.scheduler.run_for(200_000)
    late = Reader(bench)
    late.read(ALL)
    assert late.id == 0


def test_without_slots_there_are_no_sessions() -> None:
    bench = Bench({"max.incremental.fetch.session.cache.slots": "0"})
    bench.create("events", 4)
    reader = Reader(bench)
    assert set(reader.read(ALL)) == set(ALL)
    assert reader.id == 0


@pytest.mark.parametrize("epoch", [0, -1])
def test_a_request_for_far_more_partitions_than_there_are_is_refused(bench: Bench, epoch: int) -> None:
    strangers = {("none", index): 0 for index in range(FETCH_STRANGERS_MAX + 4)}
    assert len(partitions_of(bench.call(fetch_request(strangers), 12))) == len(strangers)
    strangers[("none", -1)] = 0
    reply = bench.call(fetch_request(strangers, session_epoch=epoch), 12)
    assert (reply.error_code, reply.session_id) == (ErrorCode.INVALID_REQUEST, 0)
    assert len(bench.node.fetch_sessions) == 0


def test_a_session_does_not_grow_without_bound(bench: Bench) -> None:
    reader = Reader(bench)
    reader.read(ALL)
    strangers = {("none", index): 0 for index in range(FETCH_STRANGERS_MAX)}
    reader.read(strangers)
    assert reader.id
    assert reader.ask({("none", -1): 0}).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert len(bench.node.fetch_sessions) == 0
    assert all(partition.watches is None for partition in bench.node.partitions.values())


def test_the_same_partition_named_often_is_one_partition(bench: Bench) -> None:
    reader = Reader(bench)
    request = fetch_request({("events", 0): 0}, session_epoch=0)
    request.topics *= 50
    reply = bench.call(request, 12, peer=reader.peer)
    assert len(partitions_of(reply)) == 1
    assert sum(len(topic.partitions) for topic in reply.responses) == 1
