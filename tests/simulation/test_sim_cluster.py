"""Several simulated nodes without any story: they find each other, and single rules of their lives."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ottla.broker.node import Node
from ottla.testing.cluster_run import QUICK
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.sim_cluster import SimCluster
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest


def a_cluster(seed: int = 1, properties: Mapping[str, str] = QUICK, **roles: int) -> SimCluster:
    scheduler = Scheduler(seed)
    cluster = SimCluster(scheduler, SimNetwork(scheduler), properties=properties, **roles)
    cluster.start()
    until(cluster, lambda: all(each.serving for each in cluster.nodes.values()))
    return cluster


def until(cluster: SimCluster, condition: Callable[[], bool], within_ms: float = 30_000.0) -> None:
    cluster.scheduler.run_until(condition, within_ms=within_ms)
    cluster.check()


def test_three_nodes_find_each_other_and_have_one_controller() -> None:
    cluster = a_cluster()
    assert [each.quorum.is_active for each in cluster.running()].count(True) == 1
    assert {each.quorum.leader_id for each in cluster.running()} == {cluster.active_controller().node_id}  # type: ignore[union-attr]
    cluster.end()


def test_controllers_and_brokers_may_be_different_nodes() -> None:
    cluster = a_cluster(combined=0, controllers=3, brokers=2)
    controller = cluster.active_controller()
    assert controller is not None and controller.node_id in (1, 2, 3)
    assert set(controller.image.brokers) == {4, 5}
    cluster.end()


def test_a_node_that_restarts_and_leads_the_quorum_is_let_in_as_a_broker_again() -> None:
    """The session of its earlier life runs out, although the one who says so is itself."""
    cluster = a_cluster()
    one, *others = cluster.nodes.values()
    for each in others:
        each.pause()
    one.crash()
    cluster.restart_node(one, power_loss=False)
    for each in others:
        each.crash()
        cluster.restart_node(each, power_loss=False)
    until(cluster, lambda: all(each.serving for each in cluster.nodes.values()))
    cluster.end()


def test_a_paused_node_is_fenced_and_comes_back_by_itself() -> None:
    cluster = a_cluster()
    controller = cluster.active_controller()
    assert controller is not None
    paused = next(each for each in cluster.nodes.values() if each.node_id != controller.node_id)
    paused.pause()
    until(cluster, lambda: controller.image.brokers[paused.node_id].fenced)
    paused.go_on()
    until(cluster, lambda: not controller.image.brokers[paused.node_id].fenced)
    cluster.end()


def test_a_broker_that_stops_may_go_as_soon_as_the_others_have_read_that_it_leads_nothing() -> None:
    """And not when their next heartbeats, a minute apart, tell so."""
    slow = {"broker.heartbeat.interval.ms": "60000", "broker.session.timeout.ms": "300000"}
    cluster = a_cluster(properties={**QUICK, **slow})
    controller = cluster.active_controller()
    assert controller is not None
    request = CreateTopicsRequest(
        topics=[CreatableTopic(name="events", num_partitions=6, replication_factor=3)], timeout_ms=10_000
    )
    controller.driver.spawn(controller.ask_controller(request, request.MAX_VERSION), "creation")
    until(cluster, lambda: all("events" in each.image.topics for each in cluster.running()))
    stopping = next(each for each in cluster.nodes.values() if each.node_id != controller.node_id)
    partitions = controller.image.topics["events"].partitions
    assert any(each.leader == stopping.node_id for each in partitions.values())
    ends: list[bool] = []
    stopping.leave_and_stop(ends.append)
    until(cluster, lambda: bool(ends), within_ms=5_000.0)
    assert ends == [True]
    partitions = controller.image.topics["events"].partitions
    assert all(each.leader not in (stopping.node_id, -1) for each in partitions.values())
    cluster.end()


def test_no_living_broker_is_fenced_when_the_controller_falls_silent() -> None:
    """Its connections stay open, and every broker has a heartbeat under way to it. They are sent again to the
    next controller as soon as one is known, and not when the answer is overdue.
    """
    for seed in range(1, 6):
        cluster = a_cluster(seed, properties={})  # Kafka's own times
        silent = cluster.active_controller()
        assert silent is not None
        others = {each for each in cluster.nodes if each != silent.node_id}
        cluster.nodes[silent.node_id].pause()
        fenced: set[int] = set()

        def is_noticed(
            cluster: SimCluster = cluster, silent: Node = silent, fenced: set[int] = fenced
        ) -> bool:
            controller = cluster.active_controller()
            if controller is None or controller.quorum.epoch == silent.quorum.epoch:
                return False
            fenced |= {each.node_id for each in controller.image.brokers.values() if each.fenced}
            return silent.node_id in fenced

        until(cluster, is_noticed)
        cluster.scheduler.run_for(5_000.0)
        is_noticed()
        assert fenced == {silent.node_id}, f"seed {seed}: of {others}"
        cluster.end()
