"""The simple consumer's core on a cluster in virtual time."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest
from fetch_stage import Stage

from ottla.client.consuming.simple import Fetch, SimpleConsumerCore
from ottla.client.errors import InvalidArgument, OperationTimedOut, ProtocolError, ServerError
from ottla.client.errors import SerializationFailed as Unreadable
from ottla.model.errors import ErrorCode
from ottla.wire.record_batch import read_header


def consumer(**settings: Any) -> tuple[Stage, SimpleConsumerCore]:
    stage = Stage(**settings)
    return stage, SimpleConsumerCore(stage, stage.settings)  # type: ignore[arg-type]


def test_a_fetch_gives_records_columns_and_raw_batches_from_its_offset_on() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    log.append(3)
    log.append(2)
    log.start = 1
    fetched = stage.do(core.fetch(Fetch("t", 0, 2)))
    assert [r.offset for r in fetched] == [2, 3, 4] == [r.offset for r in fetched.records]
    assert fetched.columns.row_count == 3
    assert bytes(fetched.raw) == b"".join(log.batches), "whole batches, also what lies before the offset"
    assert (fetched.high_watermark, fetched.log_start_offset, fetched.next_offset) == (5, 1, 5)
    assert fetched.last_stable_offset == 5
    table = fetched.to_arrow()
    assert table.column("offset").to_pylist() == [2, 3, 4]
    (request,) = stage.requests()
    assert (request.session_id, request.session_epoch) == (0, -1), "no session at the broker"


def test_nothing_new_gives_an_empty_answer_after_the_wait() -> None:
    stage, core = consumer()
    stage.topic("t")[0].append(1)
    began_ms = stage.clock.elapsed_ms
    fetched = stage.do(core.fetch(Fetch("t", 0, 1), max_wait_ms=300))
    assert fetched.records == [] and fetched.next_offset == 1 and len(fetched.raw) == 0
    assert fetched.to_arrow().num_rows == 0
    assert 300 <= stage.clock.elapsed_ms - began_ms < 320


def test_a_batch_that_the_limit_cut_off_is_left_for_the_next_fetch() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    for _ in range(3):
        log.append(1)
    whole = log.batches
    log.batches = [whole[0], whole[1] + whole[2][:40]]  # as a broker cuts at max_bytes
    fetched = stage.do(core.fetch(Fetch("t", 0, 0)))
    assert fetched.next_offset == 2
    assert [r.offset for r in fetched.records] == [0, 1]
    assert len(fetched.raw) == len(whole[0]) + len(whole[1])


def test_a_multifetch_asks_all_leaders_at_once_and_answers_in_order() -> None:
    stage, core = consumer()
    for i, log in enumerate(stage.topic("t", 4, leaders=(1, 2))):
        log.append(i + 1)
    began_ms = stage.clock.elapsed_ms
    asked = [("t", i, 0) for i in (3, 0, 2, 1, 3)]
    found = stage.do(core.multifetch(asked))
    assert [(f.partition, f.next_offset) for f in found] == [(3, 4), (0, 1), (2, 3), (1, 2), (3, 4)]
    assert stage.clock.elapsed_ms - began_ms < 10
    fetches = [(node, r) for name, node, r in stage.calls if name == "Fetch"]
    assert sorted(node for node, _ in fetches) == [1, 2, 2], "a partition twice takes a request of its own"


def test_one_that_fails_does_not_take_the_others_with_it() -> None:
    stage, core = consumer()
    stage.topic("t", 2)[0].append(2)
    asked = [Fetch("t", 0, 0), Fetch("t", 1, 7), Fetch("t", 9, 0), Fetch("nowhere", 0, 0)]
    good, outside, missing, unknown = stage.do(core.multifetch(asked))
    assert len(good.records) == 2 and good.error is None
    assert isinstance(outside.error, ServerError) and outside.error.code == ErrorCode.OFFSET_OUT_OF_RANGE
    with pytest.raises(ServerError, match="t-1 at offset 7"):
        outside.records  # noqa: B018
    assert "OFFSET" in repr(outside) or "outside" in repr(outside)
    for each in (missing, unknown):
        assert isinstance(each.error, ServerError)
        assert each.error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    with pytest.raises(ServerError):
        stage.do(core.fetch(Fetch("t", 1, 7)))


@pytest.mark.parametrize("hints", [False, True])
def test_a_leader_that_moves_is_followed(hints: bool) -> None:
    stage, core = consumer()
    stage.nodes |= {2}
    stage.hints = hints
    log = stage.topic("t")[0]
    log.append(1)
    stage.do(core.fetch(Fetch("t", 0, 0)))
    log.leader, log.epoch = 2, 3
    before = len(stage.requests("Metadata"))
    assert len(stage.do(core.fetch(Fetch("t", 0, 0))).records) == 1
    assert (len(stage.requests("Metadata")) == before) == hints


def test_a_partition_without_a_leader_ends_in_operation_timed_out_with_the_reason() -> None:
    stage, core = consumer(default_api_timeout_ms=2_000)
    stage.topic("t")[0].leader = -1
    with pytest.raises(OperationTimedOut, match="t-0: no answer within 2 s") as raised:
        stage.do(core.fetch(Fetch("t", 0, 0)))
    assert isinstance(raised.value.__cause__, ServerError)
    stage.dead.add(1)
    stage.topics["t"][0].leader = 1
    with pytest.raises(OperationTimedOut):
        stage.do(core.fetch(Fetch("t", 0, 0), timeout_ms=500))


def test_a_topic_made_anew_is_read_under_its_new_id() -> None:
    stage, core = consumer()
    stage.topic("t")[0].append(1)
    stage.do(core.fetch(Fetch("t", 0, 0)))
    stage.topic("t")[0].append(2)
    assert len(stage.do(core.fetch(Fetch("t", 0, 0))).records) == 2


def test_a_consumer_with_a_rack_goes_to_the_replica_that_the_leader_names() -> None:
    """KIP-392."""
    stage, core = consumer(client_rack="east")
    stage.nodes |= {2}
    log = stage.topic("t")[0]
    log.append(1)
    log.preferred = 2
    for _ in range(2):
        assert len(stage.do(core.fetch(Fetch("t", 0, 0))).records) == 1
    assert [node for name, node, _ in stage.calls if name == "Fetch"] == [1, 2, 2]


def test_fetches_beside_each_other_take_connections_of_their_own() -> None:
    stage, core = consumer()
    log = stage.topic("t", 2)[1]
    log.append(1)
    lanes: list[int] = []
    wire = stage.scheduler.caller
    assert wire is not None
    start = wire.start

    def listen(call: Any, waiter: Any) -> Any:
        lanes.append(call.lane)
        return start(call, waiter)

    wire.start = listen  # type: ignore[method-assign]
    waiting = stage.scheduler.start(core.fetch(Fetch("t", 0, 0), max_wait_ms=10_000), "waits")
    stage.run(lambda: stage.held)
    stage.do(core.fetch(Fetch("t", 1, 0)))
    assert stage.do(core.offset_of("t", 0, -1)) == 0
    assert not waiting.done and lanes[-3:] == [0, 1, 1]
    waiting.cancel()
    stage.do(core.fetch(Fetch("t", 1, 0)))
    assert lanes[-1] == 0, "given back, also by one that was cancelled"


def test_read_committed_leaves_out_what_was_aborted() -> None:
    stage, core = consumer(isolation_level="read_committed")
    log = stage.topic("t")[0]
    log.append(1)
    log.append(2, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    log.append(1)
    log.aborted = [(7, 1)]
    fetched = stage.do(core.fetch(Fetch("t", 0, 0)))
    assert [r.offset for r in fetched] == [0, 3] and fetched.columns.row_count == 2
    assert stage.requests()[0].isolation_level == 1


def test_what_cannot_be_read_says_where() -> None:
    stage, core = consumer(value_deserializer=int)
    log = stage.topic("t")[0]
    log.append(1)
    fetched = stage.do(core.fetch(Fetch("t", 0, 0)))
    with pytest.raises(Unreadable, match=r"t-0.*offset 0"):
        fetched.records  # noqa: B018
    broken = bytearray(log.batches[0])
    broken[-1] ^= 1
    log.batches[0] = bytes(broken)
    fetched = stage.do(core.fetch(Fetch("t", 0, 0)))
    with pytest.raises(ProtocolError, match="t-0 at offset 0"):
        fetched.columns  # noqa: B018


def test_records_in_front_of_a_bad_one_are_given_before_it_raises() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    log.append(2)
    log.append(1)
    broken = bytearray(log.batches[1])
    broken[-1] ^= 1
    log.batches[1] = bytes(broken)
    records = iter(stage.do(core.fetch(Fetch("t", 0, 0))))
    assert [next(records).offset, next(records).offset] == [0, 1]
    with pytest.raises(ProtocolError, match="t-0 at offset 2"):
        next(records)


def test_offsets_by_time() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)  # timestamps 0, 1000, 2000 ...
    log.start = 2
    assert stage.do(core.offset_of("t", 0, -2)) == 2
    assert stage.do(core.offset_of("t", 0, -1)) == 10
    assert stage.do(core.offset_of("t", 0, 4_001)) == 5
    assert stage.do(core.offset_of("t", 0, datetime.fromtimestamp(4, UTC))) == 4
    assert stage.do(core.offset_of("t", 0, 99_000)) is None
    assert stage.do(core.partitions("t")) == [0]
    with pytest.raises(InvalidArgument):
        stage.do(core.offset_of("t", 0, -9))


def test_offsets_before_a_time_are_newest_first_and_cut_the_log_into_equal_parts() -> None:
    """The list that getOffsetsBefore of the first consumers gave: descending, at most so many."""
    stage, core = consumer()
    log = stage.topic("t")[0]
    for _ in range(10):
        log.append(1)
    log.start = 2
    assert stage.do(core.offset_before("t", 0, -1)) == [10]
    assert stage.do(core.offset_before("t", 0, -1, 5)) == [10, 8, 6, 4, 2]
    assert stage.do(core.offset_before("t", 0, -2, 5)) == [2]
    assert stage.do(core.offset_before("t", 0, 6_000, 2)) == [6, 2]
    assert stage.do(core.offset_before("t", 0, 99_000, 2)) == [10, 2], "none is that young: the end"
    assert stage.do(core.offset_before("t", 0, 0, 3)) == [2], "nothing is older"
    assert stage.do(core.offset_before("t", 0, -1, 100)) == list(range(10, 1, -1))
    with pytest.raises(InvalidArgument):
        stage.do(core.offset_before("t", 0, -1, 0))


def read_all(stage: Stage, reader: Any) -> list[Any]:
    batches = []
    while (batch := stage.do(reader.next_batch())) is not None:
        batches.append(batch)
    return batches


def test_a_range_is_read_exactly_a_fetch_ahead() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    for _ in range(40):
        log.append(10, size=100)
    size = max(len(batch) for batch in log.batches)
    reader = core.read_range("t", 0, 13, 377, max_bytes=4 * size)
    first = stage.do(reader.next_batch())
    assert first.column("offset").to_pylist() == list(range(13, 50))
    stage.run(lambda: len(stage.requests()) == 2)
    batches = [first, *read_all(stage, reader)]
    offsets = pa.concat_arrays([b.column("offset") for b in batches]).to_pylist()
    assert offsets == list(range(13, 377))
    assert len(stage.requests()) == 10, "nothing is fetched behind the end"
    assert stage.do(reader.next_batch()) is None


def test_a_range_with_gaps_and_aborted_records_ends_where_it_should() -> None:
    stage, core = consumer(isolation_level="read_committed")
    log = stage.topic("t")[0]
    log.append(2)
    log.append(4, producer_id=7, producer_epoch=0, base_sequence=0, transactional=True)
    log.aborted = [(7, 2)]
    reader = core.read_range("t", 0, 0, 6, max_bytes=1)
    assert [b.num_rows for b in read_all(stage, reader)] == [2]
    assert read_header(log.batches[-1]).next_offset == 6


def test_a_range_beyond_the_log_waits_for_records_and_gives_up_in_time() -> None:
    stage, core = consumer(default_api_timeout_ms=3_000)
    log = stage.topic("t")[0]
    log.append(1)
    reader = core.read_range("t", 0, 0, 3)
    assert stage.do(reader.next_batch()).num_rows == 1
    waiting = stage.scheduler.start(reader.next_batch(), "waits")
    stage.run(limit_ms=700)
    log.append(1)
    stage.appended()
    stage.run(lambda: waiting.done)
    assert waiting.result().num_rows == 1
    with pytest.raises(OperationTimedOut, match="nothing came after offset 2"):
        stage.do(reader.next_batch())
    reader.cancel()
    stage.run(limit_ms=2_000)


def test_a_range_that_was_deleted_raises() -> None:
    stage, core = consumer()
    log = stage.topic("t")[0]
    for _ in range(5):
        log.append(1)
    log.start = 3
    with pytest.raises(ServerError) as raised:
        stage.do(core.read_range("t", 0, 1, 5).next_batch())
    assert raised.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    with pytest.raises(InvalidArgument):
        core.read_range("t", 0, 5, 4)
    with pytest.raises(InvalidArgument):
        stage.do(core.fetch(Fetch("t", 0, -1)))
    with pytest.raises(InvalidArgument):
        stage.do(core.fetch(Fetch("t", 0, 0, 0)))


def damaged(stage: Stage) -> None:
    """Three batches of two records, of which the second cannot be read."""
    log = stage.topic("t")[0]
    for _ in range(3):
        log.append(2)
    broken = bytearray(log.batches[1])
    broken[-1] ^= 1
    log.batches[1] = bytes(broken)


def test_columns_are_complete_or_raise() -> None:
    stage, core = consumer()
    damaged(stage)
    fetched = stage.do(core.fetch(Fetch("t", 0, 0)))
    with pytest.raises(ProtocolError, match="t-0 at offset 2"):
        fetched.columns  # noqa: B018
    with pytest.raises(ProtocolError, match="t-0 at offset 2"):
        fetched.to_arrow()
    assert stage.do(core.fetch(Fetch("t", 0, 4))).to_arrow().num_rows == 2
    assert stage.do(core.fetch(Fetch("t", 0, 6), max_wait_ms=1)).columns.row_count == 0


def test_a_range_does_not_go_on_behind_a_batch_that_cannot_be_read() -> None:
    stage, core = consumer()
    damaged(stage)
    reader = core.read_range("t", 0, 0, 6)
    assert stage.do(reader.next_batch()).column("offset").to_pylist() == [0, 1]
    for _ in range(2):
        with pytest.raises(ProtocolError, match="t-0 at offset 2"):
            stage.do(reader.next_batch())
    reader.cancel()


@pytest.mark.parametrize("silent", ["Fetch", "Metadata", "ListOffsets"])
def test_a_broker_that_is_silent_costs_no_more_than_the_time_that_was_given(silent: str) -> None:
    """`request.timeout.ms` is half a minute: nobody who gave two seconds wants to wait for that."""
    stage, core = consumer()
    stage.topic("t")[0].append(2)
    if silent != "Metadata":
        stage.do(core.fetch(Fetch("t", 0, 0)))
    stage.silent.add(silent)
    began_ms = stage.clock.elapsed_ms
    steps: Any = core.fetch(Fetch("t", 0, 0), timeout_ms=2_000)
    if silent == "ListOffsets":
        steps = core.offset_of("t", 0, 1_000, timeout_ms=2_000)
    with pytest.raises(OperationTimedOut):
        stage.do(steps)
    assert stage.clock.elapsed_ms - began_ms < 4_000
