"""A restarted coordinator replays its log first. What it answers meanwhile must not mislead any client.

aiokafka ends on a heartbeat that is answered COORDINATOR_LOAD_IN_PROGRESS, and takes an OffsetFetch that
fails as a whole for a group that has not committed anything: it would begin at `auto.offset.reset`.
"""

from __future__ import annotations

import pytest

from chaos.groups.driver import broker_settings
from ottla.model.errors import ErrorCode
from ottla.wire.messages.heartbeat import HeartbeatRequest
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupRequestProtocol
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupRequestAssignment
from support.broker_process import BrokerFactory
from support.group_members.fixtures import find_coordinator
from support.raw_client import RawClient

pytestmark = [pytest.mark.interop]

GROUP = "loaded"
COMMITS = 6000
UNDER_WAY = 200


def commit_request(topic: str, offset: int, member_id: str, generation: int) -> OffsetCommitRequest:
    partition = OffsetCommitRequestPartition(
        partition_index=0, committed_offset=offset, committed_metadata=""
    )
    return OffsetCommitRequest(
        group_id=GROUP,
        generation_id_or_member_epoch=generation,
        member_id=member_id,
        topics=[OffsetCommitRequestTopic(name=topic, partitions=[partition])],
    )


def test_a_loading_coordinator_misleads_nobody(start_broker: BrokerFactory, topic_name: str) -> None:
    """Kafka answers heartbeats of groups that it still loads with NONE. A failed OffsetFetch names its error
    in every partition, also in the versions (2 to 7) that have a place for it at the top.
    """
    broker = start_broker(settings=broker_settings(30_000))
    with RawClient(broker.port) as client:
        client.create_topic(topic_name)
        find_coordinator(client, GROUP)
        ask = JoinGroupRequest(
            group_id=GROUP,
            session_timeout_ms=30_000,
            rebalance_timeout_ms=30_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        )
        ask.member_id = member_id = client.call(ask, 5).member_id
        generation = client.call(ask, 5).generation_id
        given = [SyncGroupRequestAssignment(member_id=member_id, assignment=b"")]
        sync = SyncGroupRequest(
            group_id=GROUP, generation_id=generation, member_id=member_id, assignments=given
        )
        assert client.call(sync, 3).error_code == ErrorCode.NONE
        # Many records to replay, so that the questions below are asked while it loads.
        for first in range(0, COMMITS, UNDER_WAY):
            for offset in range(first, first + UNDER_WAY):
                client.send(commit_request(topic_name, offset + 1, member_id, generation), 7)
            for _ in range(UNDER_WAY):
                _, answer = client.receive(OffsetCommitRequest, 7)
                assert answer.topics[0].partitions[0].error_code == ErrorCode.NONE
    broker.kill()
    broker.start()
    beat = HeartbeatRequest(group_id=GROUP, generation_id=generation, member_id=member_id)
    fetch = OffsetFetchRequest(
        group_id=GROUP, topics=[OffsetFetchRequestTopic(name=topic_name, partition_indexes=[0])]
    )
    with RawClient(broker.port) as client:
        while True:
            assert client.call(beat, 4).error_code == ErrorCode.NONE
            answer = client.call(fetch, 3)
            (partition,) = answer.topics[0].partitions
            assert partition.error_code == answer.error_code
            if answer.error_code == ErrorCode.NONE:
                assert partition.committed_offset == COMMITS
                break
            assert answer.error_code in (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR)
