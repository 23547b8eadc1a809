"""Requests and answers that were long under way: they speak of what was, and must not hold up what is. (Both
were found by the simulated cluster: a follower stood outside the in-sync set for ever.)
"""

from __future__ import annotations

import pytest
from replica_bench import Cluster, replica_fetch


@pytest.fixture
def cluster() -> Cluster:
    cluster = Cluster(replica_lag_time_max_ms="10000")
    cluster.create(2)
    return cluster


def test_a_late_request_of_an_older_session_does_not_set_a_follower_back_for_long(cluster: Cluster) -> None:
    """The follower goes on in a session that names only what changes, and nothing changes."""
    cluster.produce(3)
    cluster.settle(1_000.0)
    leading = cluster[1].partition().leading
    assert leading is not None and leading.followers[3].log_end_offset == 3
    late = replica_fetch(3, cluster.image.brokers[3].epoch, {0: 1}, last_fetched_epoch=0)
    late.replica_id = -1
    cluster.client(1).call(late, 17)
    cluster.settle(2_000.0)
    assert leading.followers[3].log_end_offset == 3


def test_an_answer_under_an_older_epoch_is_not_taken_for_one_under_the_new(cluster: Cluster) -> None:
    """FENCED_LEADER_EPOCH says: wait for the metadata. It has come before the answer."""
    cluster.produce(3)
    cluster[2].kill()
    cluster.register(2)
    cluster[2].start()
    sent = cluster.network.stats["requests"]
    cluster.until(lambda: cluster.network.stats["requests"] > sent)
    cluster.elect(1)
    cluster.network.cut(["broker-1"], ["broker-2"], both_ways=False)
    cluster.settle(100.0)
    cluster.network.heal()
    cluster.settle(2_000.0)
    cluster.produce(2, acks=1)
    cluster.until(lambda: cluster[2].partition().log.log_end_offset == 5, within_ms=5_000)


def test_a_follower_that_an_image_takes_out_of_the_set_comes_back_although_nothing_is_written(
    cluster: Cluster,
) -> None:
    """The set was made smaller when it was behind; the image that says so comes when it has everything, and
    before the controller's answer. It stands still, so no fetch of its own will remind the leader."""
    cluster.produce(3)
    cluster.settle(30_000.0)
    cluster.alter(isr=[1, 2])
    cluster.until(lambda: set(cluster.state().isr) == {1, 2, 3})


def test_a_follower_whose_log_was_cut_hears_of_the_high_watermark_although_it_does_not_move(
    cluster: Cluster,
) -> None:
    """The answer that made it cut its log told the high watermark as well, and nobody took it."""
    cluster.produce(3)
    cluster[2].kill()
    client, epoch = cluster.client(1), cluster.image.brokers[2].epoch
    fetch = replica_fetch(2, epoch, {0: 5}, last_fetched_epoch=0, session_epoch=0)
    fetch.replica_id = -1
    answer = client.call(fetch, 17)
    data = answer.responses[0].partitions[0]
    assert (data.diverging_epoch.end_offset, data.high_watermark) == (3, 3)
    fetch = replica_fetch(
        2, epoch, {0: 3}, last_fetched_epoch=0, session_id=answer.session_id, session_epoch=1, max_wait_ms=200
    )
    fetch.replica_id = -1
    assert client.call(fetch, 17).responses[0].partitions[0].high_watermark == 3
