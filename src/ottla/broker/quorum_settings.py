"""What the configuration says about the metadata quorum: who votes, where to find it, times, snapshots."""

from __future__ import annotations

from dataclasses import dataclass, field

from ottla.model.server_config import ServerConfig
from ottla.ports.peers import Address
from ottla.raft.settings import RaftSettings
from ottla.raft.voters import Endpoint, ReplicaKey, VoterNode, VoterSet

DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class QuorumSettings:
    voters: VoterSet
    """Of `controller.quorum.voters`; empty where the log says who votes."""
    bootstrap: tuple[Address, ...] = ()
    endpoints: tuple[Endpoint, ...] = ()
    """This node's own, as the others reach them."""
    is_controller: bool = True
    is_alone: bool = True
    """The only voter there can be, unless the log says otherwise: such a node formats itself."""
    raft: RaftSettings = field(default_factory=RaftSettings)
    snapshot_bytes: int = 20 * 1024 * 1024
    snapshot_interval_ms: int = 3_600_000
    retention_bytes: int = 100 * 1024 * 1024
    retention_ms: int = 7 * DAY_MS

    @classmethod
    def of(cls, config: ServerConfig) -> QuorumSettings:
        names = config.controller_listener_names
        name = names[0] if names else "CONTROLLER"
        get = config.get_int
        bootstrap = tuple(_address(text) for text in config.get_list("controller.quorum.bootstrap.servers"))
        voters = VoterSet(
            VoterNode(ReplicaKey(each.node_id), (Endpoint(name, each.host, each.port),))
            for each in config.voters
        )
        is_alone = config.is_controller and config.knows_no_other
        if is_alone and not len(voters):
            voters = VoterSet([VoterNode(ReplicaKey(config.node_id), _own_endpoints(config))])
        return cls(
            voters=voters,
            bootstrap=bootstrap,
            endpoints=_own_endpoints(config),
            is_controller=config.is_controller,
            is_alone=is_alone,
            raft=RaftSettings(
                election_timeout_ms=max(1, get("controller.quorum.election.timeout.ms")),
                fetch_timeout_ms=max(1, get("controller.quorum.fetch.timeout.ms")),
                election_backoff_max_ms=max(1, get("controller.quorum.election.backoff.max.ms")),
                request_timeout_ms=max(1, get("controller.quorum.request.timeout.ms")),
                retry_backoff_ms=max(1, get("controller.quorum.retry.backoff.ms")),
                # A fetch that waits has to be answered well before its sender gives the leader up.
                fetch_wait_max_ms=max(1, min(500, get("controller.quorum.fetch.timeout.ms") // 3)),
            ),
            snapshot_bytes=get("metadata.log.max.record.bytes.between.snapshots"),
            snapshot_interval_ms=get("metadata.log.max.snapshot.interval.ms"),
            retention_bytes=get("metadata.max.retention.bytes"),
            retention_ms=get("metadata.max.retention.ms"),
        )


def _own_endpoints(config: ServerConfig) -> tuple[Endpoint, ...]:
    for voter in config.voters:
        if voter.node_id == config.node_id and config.controller_listener_names:
            return (Endpoint(config.controller_listener_names[0], voter.host, voter.port),)
    return tuple(
        Endpoint(each.name, each.host or "localhost", each.port)
        for name in config.controller_listener_names
        for each in config.controller_listeners
        if each.name == name and each.port > 0
    )


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return Address(host.strip("[]"), int(port))


def alone(node_id: int) -> QuorumSettings:
    """A quorum of one, for whoever gives no configuration."""
    return QuorumSettings(VoterSet([VoterNode(ReplicaKey(node_id))]))
