"""Commits by themselves, with a coordinator that answers as told."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ottla.client.bootstrap import Directory
from ottla.client.cluster import Cluster
from ottla.client.consuming.commits import Commits
from ottla.client.coordinator import Coordinators
from ottla.client.effects import NEWEST, Call, ClientSteps, Pause, Signal, Versioned, Wait
from ottla.client.errors import (
    BrokerUnavailable,
    CommitFailed,
    OperationTimedOut,
    OttlaError,
    ServerError,
)
from ottla.client.membership import Identity
from ottla.client.records import OffsetAndMetadata
from ottla.client.settings import ConsumerSettings
from ottla.client.view import Address, BrokerView, ClusterView, TopicView
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.index import APIS
from ottla.wire.messages.metadata import MetadataResponse, MetadataResponseBroker
from ottla.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ottla.wire.messages.offset_fetch import OffsetFetchRequest

T0 = TopicPartition("t", 0)
TOPIC_ID = b"0123456789abcdef"
AT_5 = {T0: OffsetAndMetadata(5, "note", 2)}


class Group:
    """A membership whose epoch moves on with every heartbeat that is asked for."""

    def __init__(self) -> None:
        self.changed = Signal()
        self.epoch = 1
        self.heartbeats = 0

    def committer(self) -> Identity:
        return Identity("m", self.epoch, None)

    def reader(self) -> Identity:
        return Identity("m", self.epoch, None)

    def heartbeat_now(self) -> None:
        self.heartbeats += 1
        self.epoch += 1


class Stage:
    """A client whose calls are answered from a list of error codes, and whose time passes in waits."""

    def __init__(self, *answers: Any, version: int = NEWEST) -> None:
        self.now_ms = 0.0
        self.answers = list(answers)
        self.version = version
        self.requests: list[Any] = []
        self.lanes: set[int] = set()
        self.waits_ms: list[float] = []
        self.later: list[Callable[[], None]] = []
        self.spawned: list[ClientSteps[Any]] = []
        clock = SimpleNamespace(monotonic_ms=lambda: self.now_ms, now_ms=lambda: 0)
        host = SimpleNamespace(
            clock=clock,
            chance=lambda: 0.5,
            spawn=lambda steps, name: self.spawned.append(steps),
            later=self.later.append,
        )
        cluster = Cluster(Directory([]), clock, host.chance)  # type: ignore[arg-type]
        cluster.contacted = True
        broker = BrokerView(1, Address("b", 9092))
        cluster.view = ClusterView(None, 1, {1: broker}, {"t": TopicView("t", TOPIC_ID, False, (), 0)})
        metrics = SimpleNamespace(count=lambda *a: None, observe=lambda *a: None)
        session: Any = SimpleNamespace(
            host=host, cluster=cluster, coordinators=Coordinators(cluster), metrics=metrics
        )
        self.group = Group()
        settings = ConsumerSettings(bootstrap_servers="b", group_id="g", default_api_timeout_ms=10_000)
        self.commits = Commits(session, settings, Signal())
        self.commits.group = self.group  # type: ignore[assignment]

    def run(self, steps: ClientSteps[Any]) -> Any:
        value: Any = None
        error: OttlaError | None = None
        while True:
            try:
                effect = steps.send(value) if error is None else steps.throw(error)
            except StopIteration as stop:
                return stop.value
            value = error = None
            if isinstance(effect, Call):
                try:
                    value = self._answer(effect)
                except OttlaError as failure:
                    error = failure
            else:
                assert isinstance(effect, (Pause, Wait))
                wait_ms = effect.duration_ms if isinstance(effect, Pause) else effect.timeout_ms
                assert wait_ms is not None
                self.waits_ms.append(wait_ms)
                self.now_ms += wait_ms
                value = False

    def _answer(self, call: Call) -> Any:
        api = APIS[call.api_key]
        version = min(api.max_version, self.version, call.version_max)
        request = call.request.build(version) if isinstance(call.request, Versioned) else call.request
        if api.name == "FindCoordinator":
            return FindCoordinatorResponse(coordinators=[Coordinator(key="g", node_id=1)])
        if api.name == "Metadata":
            return MetadataResponse(brokers=[MetadataResponseBroker(node_id=1, host="b", port=9092)])
        self.requests.append(request)
        self.lanes.add(call.lane)
        answer = self.answers.pop(0)
        if isinstance(answer, OttlaError):
            raise answer
        if not isinstance(answer, int):
            return answer
        by_id = version >= 10
        return OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name="" if by_id else "t",
                    topic_id=TOPIC_ID if by_id else bytes(16),
                    partitions=[OffsetCommitResponsePartition(partition_index=0, error_code=answer)],
                )
            ]
        )


def test_a_commit_says_topic_ids_epochs_metadata_and_who_it_comes_from() -> None:
    """OffsetCommit 10 (KIP-848's topic ids); on a lane of its own, so that a held join does not stop it."""
    stage = Stage(0)
    stage.run(stage.commits.commit(AT_5))
    (request,) = stage.requests
    assert isinstance(request, OffsetCommitRequest)
    assert (request.group_id, request.member_id, request.generation_id_or_member_epoch) == ("g", "m", 1)
    assert request.topics[0].topic_id == TOPIC_ID
    (partition,) = request.topics[0].partitions
    assert (partition.committed_offset, partition.committed_leader_epoch) == (5, 2)
    assert partition.committed_metadata == "note"
    assert stage.lanes == {1} and stage.commits.committed_last == AT_5


def test_a_topic_whose_id_is_not_known_goes_by_its_name() -> None:
    stage = Stage(0)
    other = TopicPartition("old", 0)
    stage.answers = [
        OffsetCommitResponse(
            topics=[
                OffsetCommitResponseTopic(
                    name="old", partitions=[OffsetCommitResponsePartition(partition_index=0)]
                )
            ]
        )
    ]
    stage.run(stage.commits.commit({other: OffsetAndMetadata(1)}))
    assert stage.requests[0].topics[0].name == "old"


def test_a_stale_epoch_is_renewed_by_a_heartbeat_and_the_commit_sent_again() -> None:
    """KIP-848: the epoch moved on while the commit was under way."""
    stage = Stage(ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.STALE_MEMBER_EPOCH, 0)
    stage.run(stage.commits.commit(AT_5))
    assert [r.generation_id_or_member_epoch for r in stage.requests] == [1, 2, 3]
    assert stage.group.heartbeats == 2


def test_a_rebalance_and_a_coordinator_that_moves_or_loads_are_waited_out() -> None:
    stage = Stage(
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        BrokerUnavailable("b"),
        0,
    )
    stage.run(stage.commits.commit(AT_5))
    assert len(stage.requests) == 5 and not stage.answers
    assert stage.waits_ms == [100, 200, 400, 800]


@pytest.mark.parametrize(
    "code", [ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION, ErrorCode.GROUP_ID_NOT_FOUND]
)
def test_a_member_that_is_no_longer_one_cannot_commit(code: ErrorCode) -> None:
    stage = Stage(code)
    with pytest.raises(CommitFailed, match="delivered again") as caught:
        stage.run(stage.commits.commit(AT_5))
    assert isinstance(caught.value.__cause__, ServerError) and caught.value.__cause__.code == code
    assert stage.group.heartbeats == 1  # to find out what has become of the membership
    assert not stage.commits.committed_last


def test_what_does_not_pass_is_raised_at_once_and_what_does_until_the_time_is_up() -> None:
    for code in (ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.FENCED_INSTANCE_ID):
        stage = Stage(code)
        with pytest.raises(ServerError) as caught:
            stage.run(stage.commits.commit(AT_5))
        assert caught.value.code == code and not stage.waits_ms
    stage = Stage(*[ErrorCode.COORDINATOR_NOT_AVAILABLE] * 50)
    with pytest.raises(OperationTimedOut) as timed_out:
        stage.run(stage.commits.commit(AT_5, 3_000))
    assert isinstance(timed_out.value.__cause__, ServerError) and stage.now_ms == 3_000


def test_nobody_listening_is_waited_for_less_long_where_that_was_asked() -> None:
    """At close: a dead cluster should not hold it up for its whole time."""
    stage = Stage(*[BrokerUnavailable("b")] * 50)
    with pytest.raises(OperationTimedOut):
        stage.run(stage.commits.commit(AT_5, 30_000, unreachable_ms=2_000))
    assert 2_000 <= stage.now_ms <= 4_000


def test_a_topic_that_is_gone_is_looked_for_once_more() -> None:
    stage = Stage(ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.UNKNOWN_TOPIC_ID)
    with pytest.raises(ServerError):
        stage.run(stage.commits.commit(AT_5))
    assert len(stage.requests) == 2


def test_asynchronous_commits_are_sent_once_each_and_called_back_in_order() -> None:
    stage = Stage(0, ErrorCode.COORDINATOR_NOT_AVAILABLE, 0)
    answers: list[tuple[int, Any]] = []
    for offset in (1, 2, 3):
        stage.commits.commit_async(
            {T0: OffsetAndMetadata(offset)},
            lambda offsets, error: answers.append((offsets[T0].offset, error and error.code)),  # type: ignore[attr-defined]
        )
    assert len(stage.spawned) == 1 and stage.commits.under_way
    stage.run(stage.spawned[0])
    assert not stage.commits.under_way and not stage.waits_ms
    for function in stage.later:
        function()
    assert answers == [(1, None), (2, ErrorCode.COORDINATOR_NOT_AVAILABLE), (3, None)]
    assert stage.commits.committed_last[T0].offset == 3


@pytest.mark.parametrize("version", [7, 9, NEWEST])
def test_committed_offsets_are_asked_for_with_stable_ones_only(version: int) -> None:
    """KIP-447: pending transactions are waited for; in every form that OffsetFetch has had."""
    from ottla.wire.messages.offset_fetch import (
        OffsetFetchResponse,
        OffsetFetchResponseGroup,
        OffsetFetchResponsePartition,
        OffsetFetchResponsePartitions,
        OffsetFetchResponseTopic,
        OffsetFetchResponseTopics,
    )

    def answer(code: int) -> OffsetFetchResponse:
        fields = {
            "partition_index": 0,
            "committed_offset": 5,
            "committed_leader_epoch": 2,
            "error_code": code,
        }
        if version == 7:
            old = OffsetFetchResponsePartition(metadata="note", **fields)
            return OffsetFetchResponse(topics=[OffsetFetchResponseTopic(name="t", partitions=[old])])
        new = OffsetFetchResponsePartitions(metadata="note", **fields)
        topic = OffsetFetchResponseTopics(
            name="t" if version == 9 else "", topic_id=TOPIC_ID, partitions=[new]
        )
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", topics=[topic])])

    stage = Stage(answer(ErrorCode.UNSTABLE_OFFSET_COMMIT), answer(0), version=version)
    assert stage.run(stage.commits.committed([T0])) == AT_5
    assert len(stage.requests) == 2
    for request in stage.requests:
        assert isinstance(request, OffsetFetchRequest) and request.require_stable


@pytest.mark.parametrize("code", [ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.UNKNOWN_MEMBER_ID])
def test_a_member_of_kip_848_says_who_asks_for_offsets_and_asks_again_as_who_it_has_become(
    code: ErrorCode,
) -> None:
    """OffsetFetch version 9: the coordinator refuses one whose epoch is not the last it gave out."""
    from ottla.wire.messages.offset_fetch import OffsetFetchResponse, OffsetFetchResponseGroup

    def answer(code: int) -> OffsetFetchResponse:
        return OffsetFetchResponse(groups=[OffsetFetchResponseGroup(group_id="g", error_code=code)])

    stage = Stage(answer(code), answer(0))
    assert stage.run(stage.commits.committed([T0])) == {T0: None}
    said = [(r.groups[0].member_id, r.groups[0].member_epoch) for r in stage.requests]
    assert said == [("m", 1), ("m", 2)] and stage.group.heartbeats == 1
    old = Stage(answer(0), version=8)
    old.run(old.commits.committed([T0]))
    assert old.requests[0].groups[0].member_id is None
    stage = Stage(answer(code))
    stage.commits.group = None  # partitions assigned by hand: there is no membership that could move on
    with pytest.raises(ServerError):
        stage.run(stage.commits.committed([T0]))
