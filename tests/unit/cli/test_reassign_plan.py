"""Plans of reassignments: their form, and that they move little and spread well."""

from __future__ import annotations

import json
import random
from collections import Counter

import pytest

from ottla.cli.kafka.reassign_partitions import directory_state, ongoing_text, partition_state
from ottla.cli.reassign import parse_rate, status_text
from ottla.cli.reassign_plan import (
    BadPlan,
    Place,
    make_plan,
    plan_from_json,
    plan_to_json,
    throttled_replicas,
    topics_from_json,
)
from ottla.cli.reassign_run import partition_progress
from ottla.client.admin_log_dirs import ReplicaLogDir, TopicPartitionReplica
from ottla.client.admin_partitions import PartitionReassignment
from ottla.model.types import TopicPartition

A0, A1, A2 = (TopicPartition("a", n) for n in range(3))
THREE = {1: Place("h1"), 2: Place("h2"), 3: Place("h3")}


def test_a_plan_is_written_and_read_in_kafkas_form() -> None:
    text = plan_to_json({A1: (2, 3), A0: (1, 2)}, {(A0, 2): "/disk"})
    assert text == (
        '{"version":1,"partitions":[{"topic":"a","partition":0,"replicas":[1,2],"log_dirs":["any","/disk"]},'
        '{"topic":"a","partition":1,"replicas":[2,3],"log_dirs":["any","any"]}]}'
    )
    plan = plan_from_json(text)
    assert plan.replicas == {A0: (1, 2), A1: (2, 3)}
    assert plan.log_dirs == {(A0, 2): "/disk"}
    assert topics_from_json('{"topics":[{"topic":"a"},{"topic":"b"}],"version":1}') == ["a", "b"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("nonsense", "not JSON"),
        ({}, "a plan looks like"),
        ({"version": 2, "partitions": []}, "Not supported version field value 2"),
        ({"partitions": []}, "cannot be empty"),
        ({"partitions": [{"topic": "a", "partition": 0, "replicas": []}]}, "replica list cannot be empty"),
        ({"partitions": [{"topic": "a", "partition": 0, "replicas": [1, 1]}]}, "duplicate entries"),
        ({"partitions": [{"topic": "a", "partition": 0, "replicas": ["1"]}]}, "is no partition"),
        (
            {"partitions": [{"topic": "a", "partition": 0, "replicas": [1]}] * 2},
            "duplicate topic partitions: a-0",
        ),
        (
            {"partitions": [{"topic": "a", "partition": 0, "replicas": [1], "log_dirs": ["x", "y"]}]},
            "different from size of log dirs",
        ),
    ],
)
def test_a_wrong_plan_is_explained(document: object, problem: str) -> None:
    with pytest.raises(BadPlan, match=problem):
        plan_from_json(document if isinstance(document, str) else json.dumps(document))


def test_a_removed_brokers_replicas_go_where_least_is_and_nothing_else_moves() -> None:
    current = {A0: (1, 2), A1: (2, 4), A2: (4, 1)}
    # Broker 3 takes broker 4's place, and leads what it led.
    assert make_plan(current, THREE) == {A1: (2, 3), A2: (3, 1)}


def test_nothing_moves_when_all_is_as_it_should_be() -> None:
    current = {A0: (1, 2), A1: (2, 3), A2: (3, 1)}
    assert make_plan(current, THREE, balance=True) == {}


def test_a_new_broker_gets_its_share_and_no_more() -> None:
    current = {TopicPartition("a", n): (n % 3 + 1, (n + 1) % 3 + 1) for n in range(12)}
    brokers = {**THREE, 4: Place("h4")}
    made = make_plan(current, brokers, balance=True)
    after = {**current, **made}
    load = Counter(node for nodes in after.values() for node in nodes)
    assert load == {1: 6, 2: 6, 3: 6, 4: 6}
    assert sum(len(set(nodes) - set(current[tp])) for tp, nodes in made.items()) == 6
    leads = Counter(nodes[0] for nodes in after.values())
    assert max(leads.values()) - min(leads[node] for node in brokers) <= 1


def test_replicas_are_spread_over_hosts_then_racks() -> None:
    brokers = {1: Place("h1", "r1"), 2: Place("h1", "r1"), 3: Place("h2", "r1"), 4: Place("h3", "r2")}
    assert make_plan({A0: (1,)}, brokers, replication_factor=2) == {A0: (1, 4)}
    assert make_plan({A0: (1, 4)}, brokers, replication_factor=3) == {A0: (1, 4, 3)}
    assert make_plan({A0: (1, 2, 4)}, brokers, replication_factor=2) == {A0: (1, 4)}


def test_a_smaller_factor_keeps_the_preferred_leader() -> None:
    assert make_plan({A0: (3, 2, 1)}, THREE, replication_factor=1) == {A0: (3,)}


def test_more_replicas_than_brokers_is_refused() -> None:
    with pytest.raises(BadPlan, match="a-0 is to have 3 replicas, and there are 2 brokers"):
        make_plan({A0: (1, 2, 3)}, {1: Place("a"), 2: Place("b")})
    with pytest.raises(BadPlan, match="no broker"):
        make_plan({A0: (1,)}, {})


@pytest.mark.parametrize("seed", range(30))
def test_any_plan_keeps_its_promises(seed: int) -> None:
    chance = random.Random(seed)
    nodes = range(1, chance.randint(3, 8) + 1)
    brokers = {n: Place(f"h{chance.randint(1, 6)}", chance.choice([None, "r1", "r2", "r3"])) for n in nodes}
    current = {
        TopicPartition("t", n): tuple(chance.sample(range(1, 11), chance.randint(1, 3)))
        for n in range(chance.randint(1, 40))
    }
    factor = chance.choice([None, 1, 2, 3])
    made = make_plan(current, brokers, replication_factor=factor, balance=chance.random() < 0.5)
    for tp, before in current.items():
        after = made.get(tp, before)
        assert len(set(after)) == len(after) == (factor or len(before))
        assert set(after) <= set(brokers)


def test_a_throttle_is_for_the_old_replicas_as_leaders_and_the_new_as_followers() -> None:
    throttled = throttled_replicas({A0: (1, 2), A1: (2, 3)}, {A0: (3, 2), A1: (2, 3)})
    assert throttled.leaders == {"a": "0:1,0:2,1:2,1:3"}
    assert throttled.followers == {"a": "0:3"}
    assert throttled.brokers == {1, 2, 3}
    under_way = throttled_replicas({A0: (3, 2, 1)}, {A0: (3, 2)}, {A0: (3,)})
    assert (under_way.leaders, under_way.followers) == ({"a": "0:1,0:2"}, {"a": "0:3"})


def test_progress_is_what_the_new_replicas_have_of_what_the_old_have() -> None:
    moving = PartitionReassignment((3, 4, 1, 2), (3, 4), (1, 2))
    sizes = {(A0, 1): 100, (A0, 2): 90, (A0, 3): 40, (A0, 4): 120}
    assert partition_progress(A0, moving, sizes) == (140, 200)
    assert partition_progress(A0, moving, {}) == (0, 0)


def test_the_state_of_a_plan_is_told_in_kafkas_words() -> None:
    moving = PartitionReassignment((3, 2, 1), (3,), (1,))
    assert ongoing_text({}) == "No partition reassignments found."
    assert ongoing_text({A0: moving}) == (
        "Current partition reassignments:\na-0: replicas: 3,2,1. adding: 3. removing: 1."
    )
    assert partition_state(A0, (3, 2), (3, 2, 1), moving) == (
        "Reassignment of partition a-0 is still in progress.",
        False,
    )
    assert partition_state(A0, (3, 2), (3, 2), None) == ("Reassignment of partition a-0 is completed.", True)
    assert partition_state(A0, (3, 2), (2, 1), None) == (
        "There is no active reassignment of partition a-0, but replica set is 2,1 rather than 3,2.",
        True,
    )
    replica = TopicPartitionReplica("a", 0, 1)
    for place, words, done in (
        (ReplicaLogDir("/b"), "completed successfully", True),
        (ReplicaLogDir("/a", 0, "/b"), "still in progress", False),
        (ReplicaLogDir(), "cannot be found", True),
        (ReplicaLogDir("/a", 0, "/c"), "being moved to log dir /c instead of /b", True),
        (ReplicaLogDir("/a"), "not being moved from log dir /a to /b", True),
    ):
        line, finished = directory_state(replica, "/b", place)
        assert words in line and finished == done


def test_rates_have_units() -> None:
    assert [parse_rate(text) for text in ("1000", "50MB", "2k", "1G/s".replace("/s", "B/s"))] == [
        1_000,
        50_000_000,
        2_000,
        1_000_000_000,
    ]


def test_a_move_is_shown_with_its_share() -> None:
    item = {
        "topic": "a",
        "partition": 0,
        "state": "moving",
        "replicas": [1, 2],
        "adding": [3],
        "removing": [],
        "copied_bytes": 500,
        "total_bytes": 2_000,
    }
    assert status_text([]) == "nothing is being moved"
    assert status_text([item]).splitlines()[1].split() == [
        *("a", "0", "moving", "1,2", "3", "-", "500", "B", "of", "2.0", "KB", "(25%)"),
    ]
