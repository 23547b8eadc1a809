"""What one client, or one large request, can cost the coordinator: memory in all, turns of the loop, a
shard, or offsets that outlive their topic.
"""

from __future__ import annotations

import pytest
from group_bench import (
    GroupBench,
    consumer_request,
    fetch_offsets_request,
    join_request,
)

from ottla.groups.classic import join
from ottla.model.errors import ErrorCode
from ottla.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from ottla.wire.primitives import Encoder


@pytest.fixture
def bench() -> GroupBench:
    return GroupBench()


def with_user_data(size: int) -> bytes:
    out = Encoder()
    out.buf += b"\0\0"
    ConsumerProtocolSubscription(topics=["events"], user_data=bytes(size)).encode(out, 0)
    return out.to_bytes()


def test_a_downgrade_that_is_too_large_does_not_cost_the_shard(bench: GroupBench) -> None:
    """The last member of the newer protocol goes; the classic group's record would have 1.2 MB."""
    bench.call(consumer_request("g", "newer"))
    for number in range(2):
        request = join_request("g", f"old-{number}", protocols={"range": with_user_data(600_000)})
        assert bench.call(request, 9).error_code == 0
    host = bench.host
    bench.call(consumer_request("g", "newer", -1))
    bench.settle()
    assert not host.over


@pytest.mark.parametrize("clean", [True, False])
def test_offsets_of_a_deleted_topic_do_not_survive_a_restart_in_the_middle(
    bench: GroupBench, clean: bool
) -> None:
    """Whoever commits by name and makes the topic anew would go on from the old one's offsets."""
    bench.create("doomed", 1000)
    for number in range(10):
        bench.commit(f"group-{number}", {("doomed", index): 1 for index in range(1000)})
    store = bench.host.shard.offsets.store
    bench.peer.send(DeleteTopicsRequest(topics=[DeleteTopicState(name="doomed")], timeout_ms=1000))
    bench.scheduler.run_until(lambda: len(store) < 10_000, within_ms=5_000)
    assert len(store) > 0, "all in one turn"
    bench.restart(clean=clean)
    bench.loaded()
    bench.scheduler.run_for(5_000)
    assert len(bench.host.shard.offsets.store) == 0


def test_the_names_of_protocols_count_as_metadata(bench: GroupBench, monkeypatch: pytest.MonkeyPatch) -> None:
    """4 MB of names with empty metadata pass by the limit, as often as somebody joins."""
    monkeypatch.setattr(join, "GROUP_METADATA_BYTES_MAX", 50_000)
    protocols = {f"{number}" + "n" * 1000: b"" for number in range(100)}
    answer = bench.call(join_request("g", protocols=protocols), 9)
    assert answer.error_code == ErrorCode.GROUP_MAX_SIZE_REACHED


def test_the_metadata_of_all_groups_together_is_bounded(bench: GroupBench) -> None:
    """64 MiB a group, and as many groups as somebody thinks up: held until the sessions end, 30 minutes."""
    codes: list[int] = []
    for number in range(50):
        peer = bench.connect()
        request = join_request(
            f"fat-{number}", protocols={"p": bytes(4_000_000)}, session_ms=1_800_000, rebalance_ms=1_800_000
        )
        codes.append(bench.call(request, 3, peer=peer).error_code)
    assert ErrorCode.GROUP_MAX_SIZE_REACHED in codes


def test_a_fetch_of_many_partitions_goes_in_turns(bench: GroupBench) -> None:
    peer = bench.connect()
    peer.send(fetch_offsets_request("g", {"events": range(50_000)}), 9)
    assert peer.replies == [], "answered within the turn in which it came"


def test_a_deletion_of_many_offsets_goes_in_turns(bench: GroupBench) -> None:
    bench.commit("g", {("events", 0): 1})
    partitions = [OffsetDeleteRequestPartition(partition_index=index) for index in range(50_000)]
    topics = [OffsetDeleteRequestTopic(name="events", partitions=partitions)]
    peer = bench.connect()
    peer.send(OffsetDeleteRequest(group_id="g", topics=topics), 0)
    assert peer.replies == [], "answered within the turn in which it came"
