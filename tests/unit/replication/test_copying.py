"""Leader and followers together: what is produced is copied byte for byte, and acknowledged when all have it
(`broker/replica_fetcher.py`, `handlers/fetch.py`).
"""

from __future__ import annotations

from typing import Any

import pytest
from replica_bench import Cluster, produce_request

from ottla.broker import replica_fetcher
from ottla.model.errors import ErrorCode
from ottla.replication.follower import IGNORE, decide
from ottla.wire.messages.cluster_metadata import ConfigRecord


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster(replica_lag_time_max_ms="10000")
    cluster.create(2)
    return cluster


def test_an_append_is_acknowledged_when_every_member_of_the_in_sync_set_has_it(cluster: Cluster) -> None:
    assert cluster.produce(3) == 0
    for node_id in (1, 2, 3):
        assert cluster[node_id].partition().log.log_end_offset == 3
    assert cluster[1].partition().log.high_watermark == 3
    cluster.check_alive()


def test_the_copies_are_the_leaders_bytes(cluster: Cluster) -> None:
    for count in (1, 5, 2):
        cluster.produce(count)
    wanted = cluster[1].bytes_of()
    assert len(wanted) > 0
    assert cluster[2].bytes_of() == cluster[3].bytes_of() == wanted


def test_a_follower_hears_of_the_high_watermark_soon_after_it_moved(cluster: Cluster) -> None:
    cluster.produce(3)
    began_ms = cluster.scheduler.now_ms
    cluster.until(lambda: all(cluster[each].partition().log.high_watermark == 3 for each in (2, 3)))
    assert cluster.scheduler.now_ms - began_ms < 60


def test_a_high_watermark_that_came_in_an_answer_without_use_is_told_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two requests may be under way: what the second one brings may be there already."""
    unheard = [2, 3]

    def decide_late(log: Any, asked_offset: int, data: Any) -> Any:
        if unheard and data.high_watermark == 3:
            unheard.pop()
            return IGNORE
        return decide(log, asked_offset, data)

    monkeypatch.setattr(replica_fetcher, "decide", decide_late)
    cluster.produce(3)
    cluster.until(lambda: all(cluster[each].partition().log.high_watermark == 3 for each in (2, 3)))
    assert not unheard


def test_a_follower_that_is_silent_holds_the_acknowledgement_back_and_then_leaves_the_set(
    cluster: Cluster,
) -> None:
    cluster.produce(1)
    cluster[3].kill()
    client = cluster.client(1)
    number = client.send(produce_request(), 12)
    began_ms = cluster.scheduler.now_ms
    cluster.until(lambda: number in client.answers)
    assert client.answers[number].responses[0].partition_responses[0].error_code == 0
    assert set(cluster.state().isr) == {1, 2}
    assert 9_900 < cluster.scheduler.now_ms - began_ms < 15_200


def test_a_follower_that_comes_back_catches_up_and_joins_the_set_again(cluster: Cluster) -> None:
    cluster[3].kill()
    for _ in range(3):
        cluster.produce(2)
    assert set(cluster.state().isr) == {1, 2}
    cluster.register(3)
    cluster[3].start()
    cluster.until(lambda: set(cluster.state().isr) == {1, 2, 3})
    assert cluster[3].bytes_of() == cluster[1].bytes_of()


def test_with_too_few_in_sync_replicas_acks_all_is_refused_and_acks_one_is_not(cluster: Cluster) -> None:
    cluster.change(
        [ConfigRecord(resource_type=2, resource_name="events", name="min.insync.replicas", value="2")]
    )
    for node_id in (2, 3):
        cluster[node_id].kill()
        cluster.register(node_id, fenced=True)
    cluster.alter(isr=[1])
    cluster.until(lambda: cluster[1].partition().isr == (1,))
    answer = cluster.client(1).call(produce_request(), 12).responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NOT_ENOUGH_REPLICAS
    answer = cluster.client(1).call(produce_request(acks=1), 12).responses[0].partition_responses[0]
    assert answer.error_code == 0


def test_a_minimum_above_the_number_of_replicas_asks_for_all_of_them() -> None:
    cluster = Cluster(min_insync_replicas="3")
    cluster.create(replicas=(1, 2))
    assert cluster.produce(1) == 0
    cluster.alter(isr=[1])
    cluster[2].kill()
    answer = cluster.client(1).call(produce_request(), 12)
    assert answer.responses[0].partition_responses[0].error_code == ErrorCode.NOT_ENOUGH_REPLICAS


def test_a_new_leader_goes_on_and_the_old_one_follows_it(cluster: Cluster) -> None:
    cluster.produce(3)
    cluster.elect(2)
    cluster.until(lambda: cluster[2].partition().is_leader and not cluster[1].partition().is_leader)
    assert cluster.produce(2, to=2) == 3
    assert cluster[1].bytes_of() == cluster[2].bytes_of() == cluster[3].bytes_of()
    cluster.check_alive()


def test_whoever_waits_for_an_acknowledgement_is_told_that_the_leader_changed(cluster: Cluster) -> None:
    cluster[3].kill()
    client = cluster.client(1)
    number = client.send(produce_request(), 12)
    cluster.settle(100)
    cluster.elect(2, isr=[1, 2])
    cluster.until(lambda: number in client.answers)
    answer = client.answers[number].responses[0].partition_responses[0]
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_what_only_the_old_leader_had_is_cut_off(cluster: Cluster) -> None:
    cluster.produce(3)
    cluster[2].kill()
    cluster[3].kill()
    cluster.produce(2, acks=1)
    assert cluster[1].partition().log.log_end_offset == 5
    cluster[1].kill()
    for node_id in (2, 3):
        cluster.register(node_id)
    cluster.elect(2, isr=[2, 3])
    cluster[2].start()
    cluster[3].start()
    cluster.settle()
    assert cluster.produce(1, to=2, value=b"other") == 3
    cluster.register(1)
    cluster[1].start()
    cluster.until(lambda: set(cluster.state().isr) == {1, 2, 3})
    assert cluster[1].bytes_of() == cluster[2].bytes_of() == cluster[3].bytes_of()
    assert cluster[1].partition().log.log_end_offset == 4
    cluster.check_alive()
