"""The quorum's messages in Kafka's words: Vote (52), BeginQuorumEpoch (53), EndQuorumEpoch (54), Fetch (1) of
`__cluster_metadata`, FetchSnapshot (59), AddRaftVoter (80), RemoveRaftVoter (81), UpdateRaftVoter (82).

Outbound: `request_message` and `response_of`. Inbound: `request_of`, which raises `BadRequest` with the error
for a request of another cluster or about another partition, and `response_message`. Every API of the quorum
carries a list of topics with partitions; only partition 0 of the metadata topic can be in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ottla.model.errors import ErrorCode
from ottla.model.types import METADATA_TOPIC, METADATA_TOPIC_ID
from ottla.ports.peers import Address
from ottla.raft import messages as raft
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.voters import NO_DIRECTORY, Endpoint, ReplicaKey
from ottla.wire.messages import (
    add_raft_voter,
    begin_quorum_epoch,
    end_quorum_epoch,
    fetch,
    fetch_snapshot,
    remove_raft_voter,
    update_raft_voter,
    vote,
)

TOPIC_ID_SINCE = 13
"""From this version on a Fetch names its topics by id."""
PORT_MAX = 65_535


class BadRequest(Exception):
    """The request is refused before consensus sees it: `whole` says whether the error is the answer's own, or
    its partition's.
    """

    def __init__(self, code: ErrorCode, *, whole: bool) -> None:
        super().__init__(code.name)
        self.code = code
        self.whole = whole


def _error(code: int) -> ErrorCode:
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


# --- out ----------------------------------------------------------------------------------------------------


def request_message(request: raft.Request, cluster_id: str) -> tuple[Any, int]:
    """What is sent for it, and in which version."""
    match request:
        case raft.FetchRequest():
            return _fetch_message(request, cluster_id), 18
        case raft.VoteRequest():
            return _vote_message(request, cluster_id), 2
        case raft.BeginEpochRequest():
            return _begin_message(request, cluster_id), 1
        case raft.EndEpochRequest():
            return _end_message(request, cluster_id), 1
        case raft.SnapshotRequest():
            return _snapshot_message(request, cluster_id), 1
        case raft.UpdateVoterRequest():
            return (
                update_raft_voter.UpdateRaftVoterRequest(
                    cluster_id=cluster_id,
                    current_leader_epoch=request.epoch,
                    voter_id=request.voter.node_id,
                    voter_directory_id=request.voter.directory_id,
                    listeners=[
                        update_raft_voter.Listener(name=each.name, host=each.host, port=each.port)
                        for each in request.endpoints
                    ],
                    kraft_version_feature=update_raft_voter.KRaftVersionFeature(
                        min_supported_version=request.version_min, max_supported_version=request.version_max
                    ),
                ),
                0,
            )
        case raft.AddVoterRequest():
            return (
                add_raft_voter.AddRaftVoterRequest(
                    cluster_id=cluster_id,
                    timeout_ms=request.timeout_ms,
                    voter_id=request.voter.node_id,
                    voter_directory_id=request.voter.directory_id,
                    listeners=[
                        add_raft_voter.Listener(name=each.name, host=each.host, port=each.port)
                        for each in request.endpoints
                    ],
                    ack_when_committed=request.ack_when_committed,
                ),
                1,
            )
        case raft.RemoveVoterRequest():
            return (
                remove_raft_voter.RemoveRaftVoterRequest(
                    cluster_id=cluster_id,
                    voter_id=request.voter.node_id,
                    voter_directory_id=request.voter.directory_id,
                ),
                0,
            )


def _fetch_message(request: raft.FetchRequest, cluster_id: str) -> fetch.FetchRequest:
    return fetch.FetchRequest(
        cluster_id=cluster_id,
        replica_state=fetch.ReplicaState(replica_id=request.replica.node_id),
        max_wait_ms=request.wait_max_ms,
        max_bytes=request.bytes_max,
        topics=[
            fetch.FetchTopic(
                topic_id=METADATA_TOPIC_ID,
                partitions=[
                    fetch.FetchPartition(
                        partition=0,
                        current_leader_epoch=request.epoch,
                        fetch_offset=request.offset,
                        last_fetched_epoch=request.last_epoch,
                        partition_max_bytes=request.bytes_max,
                        replica_directory_id=request.replica.directory_id,
                        high_watermark=request.high_watermark,
                    )
                ],
            )
        ],
    )


def _vote_message(request: raft.VoteRequest, cluster_id: str) -> vote.VoteRequest:
    voter = request.voter or ReplicaKey(-1)
    return vote.VoteRequest(
        cluster_id=cluster_id,
        voter_id=voter.node_id,
        topics=[
            vote.VoteRequestTopicData(
                topic_name=METADATA_TOPIC,
                partitions=[
                    vote.VoteRequestPartitionData(
                        partition_index=0,
                        replica_epoch=request.epoch,
                        replica_id=request.candidate.node_id,
                        replica_directory_id=request.candidate.directory_id,
                        voter_directory_id=voter.directory_id,
                        last_offset_epoch=request.last_epoch,
                        last_offset=request.last_offset,
                        pre_vote=request.pre_vote,
                    )
                ],
            )
        ],
    )


def _begin_message(
    request: raft.BeginEpochRequest, cluster_id: str
) -> begin_quorum_epoch.BeginQuorumEpochRequest:
    voter = request.voter or ReplicaKey(-1)
    return begin_quorum_epoch.BeginQuorumEpochRequest(
        cluster_id=cluster_id,
        voter_id=voter.node_id,
        topics=[
            begin_quorum_epoch.BeginQuorumEpochRequestTopicData(
                topic_name=METADATA_TOPIC,
                partitions=[
                    begin_quorum_epoch.BeginQuorumEpochRequestPartitionData(
                        partition_index=0,
                        voter_directory_id=voter.directory_id,
                        leader_id=request.leader_id,
                        leader_epoch=request.epoch,
                    )
                ],
            )
        ],
        leader_endpoints=[
            begin_quorum_epoch.LeaderEndpoint(name=each.name, host=each.host, port=each.port)
            for each in request.endpoints
        ],
    )


def _end_message(request: raft.EndEpochRequest, cluster_id: str) -> end_quorum_epoch.EndQuorumEpochRequest:
    return end_quorum_epoch.EndQuorumEpochRequest(
        cluster_id=cluster_id,
        topics=[
            end_quorum_epoch.EndQuorumEpochRequestTopicData(
                topic_name=METADATA_TOPIC,
                partitions=[
                    end_quorum_epoch.EndQuorumEpochRequestPartitionData(
                        partition_index=0,
                        leader_id=request.leader_id,
                        leader_epoch=request.epoch,
                        preferred_candidates=[
                            end_quorum_epoch.ReplicaInfo(
                                candidate_id=each.node_id, candidate_directory_id=each.directory_id
                            )
                            for each in request.successors
                        ],
                    )
                ],
            )
        ],
        leader_endpoints=[
            end_quorum_epoch.LeaderEndpoint(name=each.name, host=each.host, port=each.port)
            for each in request.endpoints
        ],
    )


def _snapshot_message(request: raft.SnapshotRequest, cluster_id: str) -> fetch_snapshot.FetchSnapshotRequest:
    return fetch_snapshot.FetchSnapshotRequest(
        cluster_id=cluster_id,
        replica_id=request.replica.node_id,
        max_bytes=request.bytes_max,
        topics=[
            fetch_snapshot.FetchSnapshotRequestTopicSnapshot(
                name=METADATA_TOPIC,
                partitions=[
                    fetch_snapshot.FetchSnapshotRequestPartitionSnapshot(
                        partition=0,
                        current_leader_epoch=request.epoch,
                        snapshot_id=fetch_snapshot.FetchSnapshotRequestSnapshotId(
                            end_offset=request.snapshot.offset, epoch=request.snapshot.epoch
                        ),
                        position=request.position,
                        replica_directory_id=request.replica.directory_id,
                    )
                ],
            )
        ],
    )


def response_of(request: raft.Request, message: Any) -> raft.Response | None:
    """What an answer says; None when it says nothing that consensus could use (another cluster's node, an
    error of the whole request): that counts as not answered.
    """
    match request:
        case raft.FetchRequest():
            return None if message.error_code else _fetch_response_of(message)
        case raft.SnapshotRequest():
            return None if message.error_code else _snapshot_response_of(message)
        case raft.UpdateVoterRequest():
            leader = message.current_leader
            address = Address(leader.host, leader.port) if leader.host else None
            return raft.VoterChangeResponse(
                _error(message.error_code), leader.leader_epoch, leader.leader_id, None, address
            )
        case raft.AddVoterRequest() | raft.RemoveVoterRequest():
            return raft.VoterChangeResponse(_error(message.error_code), -1, -1, message.error_message)
        case _:
            pass
    if message.error_code or len(message.topics) != 1 or len(message.topics[0].partitions) != 1:
        return None
    part = message.topics[0].partitions[0]
    code = _error(part.error_code)
    address = _address_in(message.node_endpoints, part.leader_id)
    match request:
        case raft.VoteRequest():
            return raft.VoteResponse(code, part.leader_epoch, part.leader_id, part.vote_granted, address)
        case raft.BeginEpochRequest():
            return raft.BeginEpochResponse(code, part.leader_epoch, part.leader_id, address)
        case _:
            return raft.EndEpochResponse(code, part.leader_epoch, part.leader_id, address)


def _fetch_response_of(message: fetch.FetchResponse) -> raft.FetchResponse | None:
    if len(message.responses) != 1 or len(message.responses[0].partitions) != 1:
        return None
    part = message.responses[0].partitions[0]
    leader = part.current_leader
    diverging, snapshot = part.diverging_epoch, part.snapshot_id
    return raft.FetchResponse(
        _error(part.error_code),
        leader.leader_epoch,
        leader.leader_id,
        part.high_watermark,
        part.log_start_offset,
        OffsetAndEpoch(diverging.end_offset, diverging.epoch) if diverging.end_offset >= 0 else None,
        OffsetAndEpoch(snapshot.end_offset, snapshot.epoch) if snapshot.end_offset >= 0 else None,
        part.records if part.records is not None and len(part.records) else None,
        _address_in(message.node_endpoints, leader.leader_id),
    )


def _snapshot_response_of(message: fetch_snapshot.FetchSnapshotResponse) -> raft.SnapshotResponse | None:
    if len(message.topics) != 1 or len(message.topics[0].partitions) != 1:
        return None
    part = message.topics[0].partitions[0]
    return raft.SnapshotResponse(
        _error(part.error_code),
        part.current_leader.leader_epoch,
        part.current_leader.leader_id,
        OffsetAndEpoch(part.snapshot_id.end_offset, part.snapshot_id.epoch),
        part.size,
        part.position,
        part.unaligned_records if part.unaligned_records is not None else b"",
        _address_in(message.node_endpoints, part.current_leader.leader_id),
    )


def _address_in(endpoints: Iterable[Any], node_id: int) -> Address | None:
    for each in endpoints:
        if each.node_id == node_id and each.host and 0 < each.port <= PORT_MAX:
            return Address(each.host, each.port)
    return None


# --- in -----------------------------------------------------------------------------------------------------


def check_cluster(asked: str | None, cluster_id: str) -> None:
    """A node of another cluster may have been given this one's address."""
    if asked is not None and asked != cluster_id:
        raise BadRequest(ErrorCode.INCONSISTENT_CLUSTER_ID, whole=True)


def only_partition(topics: list[Any], name_of: Any = lambda topic: topic.topic_name) -> Any:
    """Partition 0 of the metadata topic, when that is all that was asked about."""
    if len(topics) != 1 or len(topics[0].partitions) != 1:
        raise BadRequest(ErrorCode.INVALID_REQUEST, whole=True)
    part = topics[0].partitions[0]
    index = part.partition_index if hasattr(part, "partition_index") else part.partition
    if name_of(topics[0]) != METADATA_TOPIC or index != 0:
        raise BadRequest(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, whole=False)
    return part


def endpoints_of(listeners: Iterable[Any]) -> tuple[Endpoint, ...]:
    return tuple(Endpoint(each.name, each.host, each.port) for each in listeners)


def vote_of(message: vote.VoteRequest, cluster_id: str) -> raft.VoteRequest:
    check_cluster(message.cluster_id, cluster_id)
    part = only_partition(message.topics)
    if part.replica_id < 0 or part.last_offset < 0 or part.last_offset_epoch < 0 or part.replica_epoch < 0:
        raise BadRequest(ErrorCode.INVALID_REQUEST, whole=False)
    if not part.pre_vote and part.last_offset_epoch >= part.replica_epoch:
        raise BadRequest(ErrorCode.INVALID_REQUEST, whole=False)
    return raft.VoteRequest(
        ReplicaKey(part.replica_id, bytes(part.replica_directory_id)),
        part.replica_epoch,
        part.last_offset_epoch,
        part.last_offset,
        part.pre_vote,
        _addressee(message.voter_id, part.voter_directory_id),
    )


def _addressee(voter_id: int, directory_id: bytes) -> ReplicaKey | None:
    return ReplicaKey(voter_id, bytes(directory_id)) if voter_id >= 0 else None


def begin_of(message: begin_quorum_epoch.BeginQuorumEpochRequest, cluster_id: str) -> raft.BeginEpochRequest:
    check_cluster(message.cluster_id, cluster_id)
    part = only_partition(message.topics)
    return raft.BeginEpochRequest(
        part.leader_id,
        part.leader_epoch,
        endpoints_of(message.leader_endpoints),
        _addressee(message.voter_id, part.voter_directory_id),
    )


def end_of(message: end_quorum_epoch.EndQuorumEpochRequest, cluster_id: str) -> raft.EndEpochRequest:
    check_cluster(message.cluster_id, cluster_id)
    part = only_partition(message.topics)
    successors = tuple(
        ReplicaKey(each.candidate_id, bytes(each.candidate_directory_id))
        for each in part.preferred_candidates
    ) or tuple(ReplicaKey(each) for each in part.preferred_successors)
    return raft.EndEpochRequest(
        part.leader_id, part.leader_epoch, successors, endpoints_of(message.leader_endpoints)
    )


def fetch_of(message: fetch.FetchRequest, version: int, cluster_id: str) -> raft.FetchRequest:
    check_cluster(message.cluster_id, cluster_id)

    def name_of(topic: fetch.FetchTopic) -> str:
        if version < TOPIC_ID_SINCE:
            return topic.topic
        return METADATA_TOPIC if bytes(topic.topic_id) == METADATA_TOPIC_ID else ""

    part = only_partition(message.topics, name_of)
    replica_id = message.replica_state.replica_id if version >= 15 else message.replica_id
    return raft.FetchRequest(
        ReplicaKey(replica_id, bytes(part.replica_directory_id)),
        part.current_leader_epoch,
        part.fetch_offset,
        part.last_fetched_epoch,
        part.high_watermark,
        max(0, message.max_wait_ms),
        max(1, min(message.max_bytes, part.partition_max_bytes)),
    )


def snapshot_of(message: fetch_snapshot.FetchSnapshotRequest, cluster_id: str) -> raft.SnapshotRequest:
    check_cluster(message.cluster_id, cluster_id)
    part = only_partition(message.topics, lambda topic: topic.name)
    return raft.SnapshotRequest(
        ReplicaKey(message.replica_id, bytes(part.replica_directory_id)),
        part.current_leader_epoch,
        OffsetAndEpoch(part.snapshot_id.end_offset, part.snapshot_id.epoch),
        part.position,
        message.max_bytes,
    )


def _leader_nodes(kind: Any, response: Any) -> list[Any]:
    address = response.leader_address
    if address is None or response.leader_id < 0:
        return []
    return [kind(node_id=response.leader_id, host=address.host, port=address.port)]


def vote_message(response: raft.VoteResponse) -> vote.VoteResponse:
    part = vote.VoteResponsePartitionData(
        partition_index=0,
        error_code=response.error,
        leader_id=response.leader_id,
        leader_epoch=response.epoch,
        vote_granted=response.granted,
    )
    return vote.VoteResponse(
        topics=[vote.VoteResponseTopicData(topic_name=METADATA_TOPIC, partitions=[part])],
        node_endpoints=_leader_nodes(vote.NodeEndpoint, response),
    )


def begin_message(response: raft.BeginEpochResponse) -> begin_quorum_epoch.BeginQuorumEpochResponse:
    part = begin_quorum_epoch.BeginQuorumEpochResponsePartitionData(
        partition_index=0,
        error_code=response.error,
        leader_id=response.leader_id,
        leader_epoch=response.epoch,
    )
    return begin_quorum_epoch.BeginQuorumEpochResponse(
        topics=[
            begin_quorum_epoch.BeginQuorumEpochResponseTopicData(topic_name=METADATA_TOPIC, partitions=[part])
        ],
        node_endpoints=_leader_nodes(begin_quorum_epoch.NodeEndpoint, response),
    )


def end_message(response: raft.EndEpochResponse) -> end_quorum_epoch.EndQuorumEpochResponse:
    part = end_quorum_epoch.EndQuorumEpochResponsePartitionData(
        partition_index=0,
        error_code=response.error,
        leader_id=response.leader_id,
        leader_epoch=response.epoch,
    )
    return end_quorum_epoch.EndQuorumEpochResponse(
        topics=[
            end_quorum_epoch.EndQuorumEpochResponseTopicData(topic_name=METADATA_TOPIC, partitions=[part])
        ],
        node_endpoints=_leader_nodes(end_quorum_epoch.NodeEndpoint, response),
    )


def fetch_message(response: raft.FetchResponse, version: int) -> fetch.FetchResponse:
    diverging, snapshot = response.diverging, response.snapshot
    part = fetch.PartitionData(
        partition_index=0,
        error_code=response.error,
        high_watermark=response.high_watermark,
        last_stable_offset=response.high_watermark,
        log_start_offset=response.start_offset,
        diverging_epoch=(
            fetch.EpochEndOffset()
            if diverging is None
            else fetch.EpochEndOffset(epoch=diverging.epoch, end_offset=diverging.offset)
        ),
        current_leader=fetch.LeaderIdAndEpoch(leader_id=response.leader_id, leader_epoch=response.epoch),
        snapshot_id=(
            fetch.SnapshotId()
            if snapshot is None
            else fetch.SnapshotId(end_offset=snapshot.offset, epoch=snapshot.epoch)
        ),
        records=response.records if response.records is not None else b"",
    )
    by_name = version < TOPIC_ID_SINCE
    topic = fetch.FetchableTopicResponse(
        topic=METADATA_TOPIC if by_name else "",
        topic_id=bytes(16) if by_name else METADATA_TOPIC_ID,
        partitions=[part],
    )
    return fetch.FetchResponse(
        responses=[topic],
        node_endpoints=_leader_nodes(fetch.NodeEndpoint, response) if version >= 16 else [],
    )


def snapshot_message(response: raft.SnapshotResponse) -> fetch_snapshot.FetchSnapshotResponse:
    part = fetch_snapshot.FetchSnapshotResponsePartitionSnapshot(
        index=0,
        error_code=response.error,
        snapshot_id=fetch_snapshot.FetchSnapshotResponseSnapshotId(
            end_offset=response.snapshot.offset, epoch=response.snapshot.epoch
        ),
        current_leader=fetch_snapshot.LeaderIdAndEpoch(
            leader_id=response.leader_id, leader_epoch=response.epoch
        ),
        size=response.size,
        position=response.position,
        unaligned_records=response.data,
    )
    return fetch_snapshot.FetchSnapshotResponse(
        topics=[fetch_snapshot.FetchSnapshotResponseTopicSnapshot(name=METADATA_TOPIC, partitions=[part])],
        node_endpoints=_leader_nodes(fetch_snapshot.NodeEndpoint, response),
    )


def voter_key(voter_id: int, directory_id: bytes) -> ReplicaKey:
    return ReplicaKey(voter_id, bytes(directory_id) or NO_DIRECTORY)
