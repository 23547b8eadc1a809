"""Compacted topics as the broker's clients and coordinators see them."""

from __future__ import annotations

import pytest
from broker_bench import NOW, Bench, produce_request
from group_bench import OFFSETS_TOPIC, GroupBench

from ottla.model.errors import ErrorCode
from ottla.wire.record_batch import Codec, Record, encode_batch


@pytest.mark.parametrize("policy", ["compact", "compact,delete", "delete,compact"])
@pytest.mark.parametrize("codec", [Codec.NONE, Codec.ZSTD])
@pytest.mark.parametrize("acks", [-1, 1])
def test_records_without_a_key_are_refused_on_compacted_topics(policy: str, codec: Codec, acks: int) -> None:
    """As LogValidator: INVALID_RECORD for the whole batch, and nothing of it is appended."""
    bench = Bench()
    bench.create("table", cleanup_policy=policy)
    keyless = encode_batch([Record(0, NOW, b"k", b"v"), Record(0, NOW, None, b"v")], codec=codec)
    response = bench.call(produce_request("table", keyless, acks=acks), 12)
    answer = response.responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert bench.log("table").log_end_offset == 0
    assert bench.produce("table", encode_batch([Record(0, NOW, b"k", None)], codec=codec)) == 0


def test_a_topic_that_becomes_compacted_refuses_them_from_then_on() -> None:
    bench = Bench()
    bench.create("table")
    keyless = encode_batch([Record(0, NOW, None, b"v")])
    assert bench.produce("table", bytearray(keyless)) == 0
    bench.alter(2, "table", cleanup_policy="compact")
    response = bench.call(produce_request("table", keyless), 12)
    assert response.responses[0].partition_responses[0].error_code == ErrorCode.INVALID_RECORD


def test_a_shard_loads_when_compaction_has_taken_the_end_of_what_is_there() -> None:
    """A roll, then a crash before the next append, then tombstones that have expired: nothing is left below
    the log's end, and that is no damage.
    """
    bench = GroupBench()
    bench.create("orders")
    assert bench.commit("readers", {("orders", 0): 5})[0] == ErrorCode.NONE
    log = bench.log(OFFSETS_TOPIC, bench.host_of("readers").partition.tp.partition)
    log.flush(bench.clock.now_ms())
    end = log.log_end_offset
    log.roll(bench.clock.now_ms())
    assert end > 0 and log.active_segment.base_offset == end
    for suffix in (".log", ".index", ".timeindex"):
        bench.disk.open(f"{log.dir_path}/{0:020d}{suffix}.cleaned", create=True)
    log.replace_segments(log.segments[:1], 0, has_txn_index=False, now_ms=bench.clock.now_ms())
    bench.restart()
    bench.loaded()
    assert bench.commit("readers", {("orders", 0): 6})[0] == ErrorCode.NONE
    assert bench.log(OFFSETS_TOPIC, log.tp.partition).log_end_offset == end + 1
