"""DescribeQuorum (key 55): who votes, who leads, how far everybody is. Only the leader knows: a broker asks
it, a controller that does not lead says so. v1 has times, v2 directory ids and listeners (KIP-853).
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.quorum import MetadataQuorum
from ottla.model.errors import ErrorCode
from ottla.model.types import METADATA_TOPIC
from ottla.ports.effects import Steps
from ottla.ports.peers import PeerUnavailable
from ottla.raft.leader import Leader, Progress
from ottla.raft.voters import ReplicaKey
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumResponse,
    DescribeQuorumResponsePartitionData,
    DescribeQuorumResponseTopicData,
    Listener,
    Node,
    ReplicaState,
)

FORWARD_TIMEOUT_MS = 10_000
OBSERVER_FORGOTTEN_MS = 300_000
"""An observer that has not fetched for this long is not shown."""


def handle(
    ctx: RequestContext, request: DescribeQuorumRequest
) -> DescribeQuorumResponse | Steps[DescribeQuorumResponse]:
    quorum = ctx.node.quorum
    at_controller = ctx.node.is_controller_listener(ctx.peer.listener_name)
    if not quorum.raft.is_leader and not at_controller:
        return _forward(ctx, request)
    answered = _answer(ctx, quorum)
    topics = []
    for topic in request.topics:
        parts = [
            answered
            if topic.topic_name == METADATA_TOPIC and part.partition_index == 0
            else _refused(part.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            for part in topic.partitions
        ]
        topics.append(DescribeQuorumResponseTopicData(topic_name=topic.topic_name, partitions=parts))
    nodes = [
        Node(
            node_id=voter.key.node_id,
            listeners=[Listener(name=each.name, host=each.host, port=each.port) for each in voter.endpoints],
        )
        for voter in quorum.raft.voters
    ]
    return DescribeQuorumResponse(topics=topics, nodes=nodes if ctx.version >= 2 else [])


def _forward(ctx: RequestContext, request: DescribeQuorumRequest) -> Steps[DescribeQuorumResponse]:
    address = ctx.node.quorum.controller_address()
    if address is not None:
        try:
            response = yield from ctx.node.peers.call(
                address, request, ctx.version, lane="describe-quorum", timeout_ms=FORWARD_TIMEOUT_MS
            )
            assert isinstance(response, DescribeQuorumResponse)
            return response
        except PeerUnavailable:
            pass
    topics = [
        DescribeQuorumResponseTopicData(
            topic_name=topic.topic_name,
            partitions=[
                _refused(part.partition_index, ErrorCode.LEADER_NOT_AVAILABLE) for part in topic.partitions
            ],
        )
        for topic in request.topics
    ]
    return DescribeQuorumResponse(topics=topics)


def _refused(index: int, code: ErrorCode) -> DescribeQuorumResponsePartitionData:
    return DescribeQuorumResponsePartitionData(
        partition_index=index, error_code=code, leader_id=-1, leader_epoch=-1, high_watermark=-1
    )


def _answer(ctx: RequestContext, quorum: MetadataQuorum) -> DescribeQuorumResponsePartitionData:
    raft = quorum.raft
    leader = raft.leader
    if leader is None:
        part = _refused(0, ErrorCode.NOT_LEADER_OR_FOLLOWER)
        part.leader_id, part.leader_epoch = raft.leader_id, raft.epoch
        return part
    now_ms = ctx.node.clock.monotonic_ms()
    wall_ms = ctx.node.clock.now_ms()

    def when(at_ms: float) -> int:
        return -1 if at_ms <= 0 else int(wall_ms - (now_ms - at_ms))

    def state_of(key: ReplicaKey, progress: Progress | None) -> ReplicaState:
        own = key.node_id == ctx.node.node_id
        return ReplicaState(
            replica_id=key.node_id,
            replica_directory_id=key.directory_id if ctx.version >= 2 else bytes(16),
            log_end_offset=quorum.log.log_end_offset
            if own
            else -1
            if progress is None
            else progress.end_offset,
            last_fetch_timestamp=wall_ms if own else -1 if progress is None else when(progress.last_fetch_ms),
            last_caught_up_timestamp=(
                wall_ms if own else -1 if progress is None else when(progress.caught_up_ms)
            ),
        )

    voters = [state_of(voter.key, leader.replicas.get(voter.key)) for voter in raft.voters]
    observers = [
        state_of(key, progress)
        for key, progress in _observers(leader, quorum)
        if now_ms - progress.last_fetch_ms < OBSERVER_FORGOTTEN_MS
    ]
    return DescribeQuorumResponsePartitionData(
        partition_index=0,
        leader_id=raft.leader_id,
        leader_epoch=raft.epoch,
        high_watermark=raft.high_watermark,
        current_voters=voters,
        observers=observers,
    )


def _observers(leader: Leader, quorum: MetadataQuorum) -> list[tuple[ReplicaKey, Progress]]:
    voters = quorum.raft.voters
    return sorted(
        ((key, progress) for key, progress in leader.replicas.items() if not voters.is_voter(key)),
        key=lambda each: each[0],
    )
