"""BrokerHeartbeat (KIP-631): unfencing, fencing, controlled shutdown, failed directories (KIP-858)."""

from __future__ import annotations

from typing import Any

import pytest
from metadata_cluster import Cluster, directory_id
from test_directories import assignment

from ottla.metadata.heartbeats import Heartbeats
from ottla.model.errors import ErrorCode
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest, BrokerHeartbeatResponse


def beat(cluster: Cluster, node_id: int, offset: int = 1000, **changes: Any) -> BrokerHeartbeatResponse:
    """A heartbeat of a broker that has read the metadata log up to `offset`."""
    now_ms = changes.pop("now_ms", 0)
    epoch = changes.pop("epoch", 100 + node_id)
    response = cluster.ask(
        BrokerHeartbeatRequest(
            broker_id=node_id, broker_epoch=epoch, current_metadata_offset=offset, **changes
        ),
        1,
        now_ms,
    )
    assert isinstance(response, BrokerHeartbeatResponse)
    return response


def active(brokers: int = 3, **options: Any) -> Cluster:
    cluster = Cluster(brokers, **options)
    cluster.controller.activate(cluster.view, 0)
    return cluster


def test_a_broker_is_unfenced_when_it_has_read_its_own_registration() -> None:
    cluster = active()
    cluster.replay(cluster.controller.fence_broker(1))
    behind = beat(cluster, 1, 100)
    assert (behind.is_caught_up, behind.is_fenced) == (False, True)
    there = beat(cluster, 1, 101)
    assert (there.is_caught_up, there.is_fenced, there.should_shut_down) == (True, False, False)
    assert cluster.image.brokers[1].active


def test_a_broker_that_wants_to_be_fenced_is_and_stays_so() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2])
    assert beat(cluster, 1, want_fence=True).is_fenced
    assert (cluster.state("a").leader, cluster.state("a").isr) == (2, (2,))
    assert beat(cluster, 1, want_fence=True).is_fenced
    assert cluster.image.brokers[1].fenced


@pytest.mark.parametrize(
    ("node_id", "epoch", "code"),
    [(1, 100, ErrorCode.STALE_BROKER_EPOCH), (9, 109, ErrorCode.BROKER_ID_NOT_REGISTERED)],
)
def test_a_stale_epoch_and_an_unknown_broker_are_refused(node_id: int, epoch: int, code: ErrorCode) -> None:
    cluster = active()
    response = beat(cluster, node_id, epoch=epoch, want_fence=True)
    assert (response.error_code, response.is_fenced) == (code, True)
    assert cluster.image.brokers[1].active


def test_a_heartbeat_that_changes_nothing_writes_nothing() -> None:
    cluster = active()
    offset = cluster.offset
    response = beat(cluster, 1)
    assert (response.error_code, response.is_fenced, response.should_shut_down) == (0, False, False)
    assert cluster.offset == offset


def test_a_stopping_broker_first_gives_its_leaderships_away_and_waits_until_all_have_seen_it() -> None:
    cluster = active()
    cluster.create_on("a", [1, 2, 3])
    stopping = beat(cluster, 1, want_shut_down=True)
    assert (stopping.is_fenced, stopping.should_shut_down) == (False, False)
    moved_at = cluster.offset - 1
    broker = cluster.image.brokers[1]
    assert broker.in_controlled_shutdown and not broker.fenced
    assert (cluster.state("a").leader, cluster.state("a").isr) == (2, (2, 3))
    beat(cluster, 2, moved_at)
    beat(cluster, 3, moved_at - 1)
    assert not beat(cluster, 1, want_shut_down=True).should_shut_down
    beat(cluster, 3, moved_at)
    done = beat(cluster, 1, want_shut_down=True)
    assert (done.should_shut_down, done.is_fenced) == (True, True)
    assert cluster.image.brokers[1].fenced


def test_a_broker_that_leads_nothing_may_stop_at_once() -> None:
    cluster = active()
    cluster.create_on("a", [2, 1])
    done = beat(cluster, 1, want_shut_down=True)
    assert (done.should_shut_down, done.is_fenced) == (True, True)
    assert cluster.state("a").isr == (2,)


def test_the_last_replica_in_sync_stops_and_stays_eligible() -> None:
    cluster = active(1)
    cluster.create_on("a", [1])
    assert not beat(cluster, 1, want_shut_down=True).should_shut_down
    state = cluster.state("a")
    assert (state.leader, state.isr, state.eligible_leader_replicas) == (-1, (), (1,))
    assert beat(cluster, 1, want_shut_down=True).should_shut_down


def test_a_fenced_broker_may_always_stop() -> None:
    cluster = active()
    cluster.replay(cluster.controller.fence_broker(1))
    response = beat(cluster, 1, 0, want_shut_down=True)
    assert (response.should_shut_down, response.is_fenced) == (True, True)


def test_a_new_controller_lets_a_stopping_broker_go_when_all_have_read_what_there_was() -> None:
    cluster = active(2)
    cluster.create_on("a", [1, 2])
    beat(cluster, 1, want_shut_down=True)
    cluster.controller.activate(cluster.view, 0)
    assert not beat(cluster, 1, want_shut_down=True).should_shut_down
    beat(cluster, 2, cluster.offset - 1)
    assert beat(cluster, 1, want_shut_down=True).should_shut_down


def test_replicas_in_a_directory_that_failed_are_out_of_sync_and_the_others_go_on() -> None:
    cluster = active(2, log_dirs=2)
    good, bad = directory_id(1, 0), directory_id(1, 1)
    cluster.create_on("a", [1, 2], [1, 2])
    for index, directory in enumerate((good, bad)):
        state = cluster.state("a", index)
        assert state.directories == (bytes(16), bytes(16))
        assign(cluster, index, directory)
    response = beat(cluster, 1, offline_log_dirs=[bad])
    assert not response.is_fenced
    assert cluster.image.brokers[1].log_dirs == (good,)
    assert (cluster.state("a", 0).leader, cluster.state("a", 0).isr) == (1, (1, 2))
    assert (cluster.state("a", 1).leader, cluster.state("a", 1).isr) == (2, (2,))
    # Said again, it is known.
    offset = cluster.offset
    beat(cluster, 1, offline_log_dirs=[bad])
    assert cluster.offset == offset


def test_a_replica_whose_directory_failed_is_not_elected_when_the_other_goes() -> None:
    cluster = active(2, log_dirs=2)
    cluster.create_on("a", [1, 2])
    assign(cluster, 0, directory_id(1, 1))
    beat(cluster, 1, offline_log_dirs=[directory_id(1, 1)])
    cluster.replay(cluster.controller.fence_broker(2))
    assert cluster.state("a").leader == -1


def assign(cluster: Cluster, index: int, directory: bytes) -> None:
    cluster.ask(assignment(cluster, 1, {directory: [index]}))


def test_a_broker_is_silent_when_its_session_has_run_out_and_not_before() -> None:
    cluster = Cluster(2)
    heartbeats = Heartbeats.at_activation(cluster.image, 100)
    assert heartbeats.silent(cluster.image, 9099, 9000) == []
    assert heartbeats.silent(cluster.image, 9100, 9000) == [1, 2]
    heartbeats.contact(cluster.image.brokers[2], 0).last_ms = 200
    assert heartbeats.silent(cluster.image, 9100, 9000) == [1]
    assert heartbeats.next_expiry_ms(cluster.image, 9000) == 9100
    cluster.replay(cluster.controller.fence_broker(1))
    assert heartbeats.next_expiry_ms(cluster.image, 9000) == 9200


def test_a_broker_that_was_stopping_leads_nothing_until_it_has_registered_anew() -> None:
    cluster = active(1)
    cluster.create_on("a", [1])
    beat(cluster, 1, want_shut_down=True)
    cluster.replay(cluster.controller.fence_broker(1))
    assert not beat(cluster, 1).is_fenced
    assert cluster.state("a").leader == -1


def test_sessions_run_on_from_when_the_controller_before_was_last_heard_of() -> None:
    """Who dies with the controller is missed no longer than anybody else; who lives has time to find the new
    one.
    """
    cluster = Cluster(2)
    cluster.controller.activate(cluster.view, 10_000, heard_ms=8_000)
    assert cluster.controller.next_deadline_ms() == 0  # what may be unsettled comes first
    cluster.controller.periodic(10_000)
    assert cluster.controller.heartbeats.silent(cluster.image, 16_999, 9_000) == []
    assert cluster.controller.heartbeats.silent(cluster.image, 17_000, 9_000) == [1, 2]
    cluster.controller.activate(cluster.view, 100_000, heard_ms=8_000)
    assert cluster.controller.heartbeats.silent(cluster.image, 105_999, 9_000) == []
    assert cluster.controller.heartbeats.silent(cluster.image, 106_000, 9_000) == [1, 2]
