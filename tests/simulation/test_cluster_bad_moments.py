"""Requests and damage at bad moments, to a whole simulated cluster: single stories, told to their end."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ottla.broker.node import Node
from ottla.client.admin_configs import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType
from ottla.client.admin_topics import NewTopic
from ottla.client.errors import OttlaError
from ottla.client.settings import AdminSettings
from ottla.metadata.image import PartitionState
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client_host import SimSession
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster_run import QUICK
from ottla.testing.driver import SimDriver
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.sim_cluster import SimCluster, SimNode
from ottla.wire.record_batch import Record, encode_batch

TOPIC = "events"
TP = TopicPartition(TOPIC, 0)


class Story:
    """A cluster that serves, and an administrator with this package's own client."""

    def __init__(self, seed: int = 1, **properties: str) -> None:
        self.scheduler = Scheduler(seed)
        network = SimNetwork(self.scheduler)
        self.cluster = SimCluster(self.scheduler, network, combined=4, properties={**QUICK, **properties})
        self.cluster.start()
        self.until(lambda: all(each.serving for each in self.cluster.nodes.values()))
        settings = AdminSettings(
            bootstrap_servers=network.bootstrap, client_id="admin", request_timeout_ms=1_500
        )
        self._session = SimSession(network, settings, Counter())
        self.admin = self._session.admin
        self._driver = SimDriver(self.scheduler, VirtualClock(self.scheduler))

    def until(self, condition: Callable[[], bool], within_ms: float = 60_000.0) -> None:
        self.scheduler.run_until(condition, within_ms=within_ms)
        self.cluster.check()
        assert condition(), "it did not happen in time"

    def begin(self, steps_of: Callable[[], Any]) -> list[Any]:
        """What an operator does who tries until it works; the list holds the result when there is one."""
        results: list[Any] = []

        def trying() -> Steps[None]:
            while True:
                try:
                    found = yield from self._session.runtime.run(steps_of(), "administer")
                    results.append(found.all() if hasattr(found, "all") else found)
                    return
                except OttlaError as error:
                    if not error.retriable:
                        results.append(error)
                        return
                    yield Sleep(100.0)

        self._driver.run(trying(), lambda _, error: None if error is None else results.append(error))
        return results

    def do(self, steps_of: Callable[[], Any]) -> Any:
        results = self.begin(steps_of)
        self.until(lambda: bool(results))
        if isinstance(results[0], BaseException):
            raise results[0]
        return results[0]

    def create(self, *, replicas: list[int]) -> None:
        self.do(lambda: self.admin.create_topics([NewTopic(TOPIC, assignments={0: replicas})]))
        self.until(lambda: all(TP in each.partitions for each in self.nodes(*replicas)))

    def produce(self, count: int) -> None:
        leader = self.node(self.state().leader)
        now_ms = leader.clock.now_ms()
        for number in range(count):
            batch = encode_batch([Record(0, now_ms, b"k", b"value %d" % number)])
            leader.partitions[TP].append(batch, now_ms, acks=1)

    def node(self, node_id: int) -> Node:
        node = self.cluster.nodes[node_id].node
        assert node is not None
        return node

    def nodes(self, *node_ids: int) -> list[Node]:
        return [self.node(each) for each in node_ids]

    def controller(self) -> SimNode:
        active = self.cluster.active_controller()
        assert active is not None
        return self.cluster.nodes[active.node_id]

    def state(self) -> PartitionState:
        active = self.cluster.active_controller()
        state = None if active is None else active.image.partition(TOPIC, 0)
        assert state is not None
        return state

    def bytes_of(self, node_id: int) -> bytes:
        log = self.node(node_id).partitions[TP].log
        return b"".join(each.file.pread(each.size, 0) for each in log.segments)


def set_config(value: str) -> dict[ConfigResource, list[ConfigChange]]:
    change = ConfigChange("retention.ms", ConfigOperation.SET, value)
    return {ConfigResource(ConfigResourceType.TOPIC, TOPIC): [change]}


def test_a_config_change_during_an_election_is_made_by_the_next_controller() -> None:
    story = Story()
    story.create(replicas=[1, 2, 3])
    before = story.controller()
    before.crash()
    results = story.begin(lambda: story.admin.incremental_alter_configs(set_config("12345")))
    assert story.cluster.active_controller() is None
    story.until(lambda: bool(results))
    assert not isinstance(results[0], Exception), results
    assert story.controller() is not before
    story.cluster.restart_node(before, power_loss=False)
    story.until(
        lambda: all(
            each.image.configs.get((2, TOPIC), {}).get("retention.ms") == "12345"
            for each in story.cluster.running()
        )
    )
    story.cluster.end()


def test_a_topic_deleted_during_its_reassignment_leaves_nothing_behind() -> None:
    """The new replica is still copying: it stops, and no broker keeps a file of it."""
    story = Story(**{"replica.fetch.max.bytes": "100"})
    story.create(replicas=[1, 2, 3])
    story.produce(200)
    story.do(lambda: story.admin.alter_partition_reassignments({TP: [2, 3, 4]}))
    story.until(
        lambda: TP in story.node(4).partitions and story.node(4).partitions[TP].log.log_end_offset > 0
    )
    assert story.node(4).partitions[TP].log.log_end_offset < 200 and 4 not in story.state().isr
    story.do(lambda: story.admin.delete_topics([TOPIC]))
    story.until(lambda: all(TP not in each.partitions for each in story.cluster.running()))
    assert not story.do(lambda: story.admin.list_partition_reassignments())
    story.until(
        lambda: all(
            not [name for name in each.disk.list_dir(each.config.log_dirs[0]) if name.startswith(TOPIC)]
            for each in story.cluster.nodes.values()
        ),
        within_ms=180_000,
    )
    story.cluster.end()


def test_a_follower_whose_file_was_damaged_leaves_the_in_sync_set_until_it_has_all_again() -> None:
    story = Story()
    story.create(replicas=[1, 2, 3])
    story.produce(50)
    follower = next(
        each for each in (1, 2, 3) if each not in (story.state().leader, story.controller().node_id)
    )
    story.until(lambda: story.node(follower).partitions[TP].log.high_watermark == 50)
    segment = story.node(follower).partitions[TP].log.active_segment
    found = segment.find(20)
    assert found is not None
    sim = story.cluster.nodes[follower]
    sim.crash()
    sim.next_disk(power_loss=False)
    file = sim.disk.open(segment.file.path)
    at = found[0] + 65
    file.write_at(bytes([file.pread(1, at)[0] ^ 1]), at)
    story.cluster.start_node(sim)
    sets: list[bool] = []

    def is_back() -> bool:
        log = story.node(follower).partitions[TP].log if TP in story.node(follower).partitions else None
        in_sync = sim.serving and follower in story.state().isr
        sets.append(in_sync)
        assert not in_sync or (log is not None and log.log_end_offset == 50)
        return in_sync

    story.until(is_back)
    assert not sets[0]
    assert story.bytes_of(follower) == story.bytes_of(story.state().leader)
    story.cluster.end()


@pytest.mark.parametrize("node_id", [3, 4], ids=["a voter", "a broker"])
def test_a_node_that_was_formatted_for_another_cluster_says_so_and_ends(
    node_id: int, caplog: pytest.LogCaptureFixture
) -> None:
    scheduler = Scheduler(1)
    cluster = SimCluster(scheduler, SimNetwork(scheduler), combined=3, brokers=1, properties=QUICK)
    stranger = cluster.nodes[node_id]
    stranger._cluster_id = "another-cluster-entire"
    stranger.wipe()
    with caplog.at_level(logging.WARNING):
        cluster.start()
        scheduler.run_until(lambda: bool(stranger.fatal_errors), within_ms=20_000)
    assert "the controllers belong to another cluster than another-cluster-entire" in str(
        stranger.fatal_errors[0]
    )
    assert caplog.text.count("INCONSISTENT_CLUSTER_ID") <= 6  # once for each pair of nodes that talk
    others = [each for each in cluster.nodes.values() if each is not stranger]
    scheduler.run_until(lambda: all(each.serving for each in others), within_ms=20_000)
    assert not any(each.fatal_errors for each in others)
    cluster.end()
