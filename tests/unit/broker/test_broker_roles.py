"""Partitions take the roles that a new metadata image gives them: which ones, in what order, and what a
broker that is about to stop does not begin any more.
"""

from __future__ import annotations

import pytest
from broker_bench import NODE_ID, Bench
from cluster_bench import move, register

from ottla.broker.replicas import Replicas
from ottla.metadata.image import PartitionState, TopicImage
from ottla.wire.messages.cluster_metadata import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
)

OTHER = 2


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    register(bench, OTHER)
    bench.create("events", partitions=4)
    return bench


@pytest.fixture
def given(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The partitions that were given a role, in order."""
    given: list[int] = []
    give_role = Replicas._give_role

    def noted(self: Replicas, topic: TopicImage, index: int, state: PartitionState) -> None:
        given.append(index)
        give_role(self, topic, index, state)

    monkeypatch.setattr(Replicas, "_give_role", noted)
    return given


def change(bench: Bench, index: int, leader: int, isr: list[int]) -> PartitionChangeRecord:
    topic_id = bench.node.image.topics["events"].topic_id
    return PartitionChangeRecord(
        topic_id=topic_id, partition_id=index, leader=leader, replicas=[NODE_ID, OTHER], isr=isr
    )


def test_a_change_of_one_partition_is_no_work_for_the_others_of_its_topic(
    bench: Bench, given: list[int]
) -> None:
    move(bench, "events", 2, NODE_ID)
    assert given == [2]


def test_what_is_led_no_more_is_given_up_before_anything_else_is_taken(
    bench: Bench, given: list[int]
) -> None:
    """Producers wait at the old leader until it says that it is not one any more."""
    for index, leader in enumerate((OTHER, OTHER, NODE_ID, NODE_ID)):
        move(bench, "events", index, leader, isr=[NODE_ID, OTHER])
    given.clear()
    bench.node.quorum.commit_now(
        [
            change(bench, 0, OTHER, [OTHER]),
            change(bench, 1, NODE_ID, [NODE_ID]),
            change(bench, 2, OTHER, [OTHER]),
            change(bench, 3, NODE_ID, [NODE_ID]),
        ]
    )
    assert given == [2, 1, 3, 0]
    assert [bench.node.partitions[("events", index)].is_leader for index in range(4)] == [
        False,
        True,
        False,
        True,
    ]


def test_a_broker_that_is_stopping_copies_only_what_it_is_in_sync_with(bench: Bench) -> None:
    """As Kafka's does: everything else would be cut and copied for a process that is about to end."""
    move(bench, "events", 0, OTHER, isr=[NODE_ID, OTHER])
    assert len(bench.node.replicas.fetchers) == 1
    me = bench.node.image.brokers[NODE_ID]
    bench.node.quorum.commit_now(
        [
            BrokerRegistrationChangeRecord(
                broker_id=NODE_ID, broker_epoch=me.epoch, in_controlled_shutdown=1
            ),
            change(bench, 0, OTHER, [OTHER]),
            change(bench, 1, OTHER, [OTHER]),
            change(bench, 2, OTHER, [NODE_ID, OTHER]),
        ]
    )
    assert len(bench.node.replicas.fetchers) == 1
    assert not any(bench.node.partitions[("events", index)].is_leader for index in range(3))
