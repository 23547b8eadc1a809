"""Replicas under reassignment take no more than their share (`replication/throttle.py`)."""

from __future__ import annotations

import pytest
from replica_bench import Cluster

from ottla.replication.throttle import Throttle, is_listed
from ottla.wire.messages.cluster_metadata import ConfigRecord


def test_what_is_spent_runs_off_at_the_rate() -> None:
    throttle = Throttle(1000)
    assert throttle.wait_ms(0.0) == 0
    throttle.spend(3000, 0.0)
    assert throttle.wait_ms(0.0) == 2000
    assert throttle.wait_ms(1500.0) == 500
    assert throttle.wait_ms(2001.0) == 0


def test_a_rate_of_nothing_lets_nothing_more_through() -> None:
    throttle = Throttle(0)
    throttle.spend(1, 0.0)
    assert throttle.wait_ms(1e9) > 0


def test_a_list_names_replicas_one_by_one_or_all() -> None:
    assert is_listed(("*",), 7, 1)
    assert is_listed(("0:1", "3:2"), 3, 2)
    assert not is_listed(("0:1", "3:2"), 3, 1)
    assert not is_listed((), 0, 0)


@pytest.mark.parametrize("side", ["leader", "follower"])
def test_a_new_replica_comes_at_the_throttled_rate_and_the_others_are_not_held_back(side: str) -> None:
    cluster = Cluster(replica_fetch_max_bytes="100000")
    cluster.create(2, replicas=(1, 2), max_message_bytes="200000")
    node_id = 1 if side == "leader" else 3
    cluster.change(
        [
            ConfigRecord(
                resource_type=4, resource_name="", name=f"{side}.replication.throttled.rate", value="100000"
            ),
            ConfigRecord(
                resource_type=2,
                resource_name="events",
                name=f"{side}.replication.throttled.replicas",
                value=f"0:{node_id}",
            ),
        ]
    )
    for _ in range(20):
        cluster.produce(1, value=bytes(50_000))
    began_ms = cluster.scheduler.now_ms
    cluster.alter(replicas=[1, 2, 3])
    cluster.alter(1, replicas=[1, 2, 3])
    cluster.until(lambda: 3 in cluster.state(1).isr)
    assert cluster.scheduler.now_ms - began_ms < 2_000
    for _ in range(5):
        asked_ms = cluster.scheduler.now_ms
        cluster.produce(1)
        assert cluster.scheduler.now_ms - asked_ms < 500
    cluster.until(lambda: 3 in cluster.state().isr, within_ms=120_000)
    assert cluster.scheduler.now_ms - began_ms > 5_000
    assert cluster[3].bytes_of() == cluster[1].bytes_of()
    cluster.check_alive()
