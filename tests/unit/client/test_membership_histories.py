"""Both memberships under random histories: answers of every kind, lost requests, thrown out, time that jumps.

Whatever happened, what is given up was owned, what is taken was not, an eager member joins with empty hands,
and once the coordinator answers well again the member has what it was given.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.client.consumer_protocol import read_subscription, write_assignment, write_subscription
from ottla.client.effects import Versioned
from ottla.client.errors import BrokerUnavailable
from ottla.client.membership import (
    FOREVER,
    Assign,
    CountPartitions,
    GroupSettings,
    Left,
    NameTopics,
    Revoke,
    Send,
    Wait,
)
from ottla.client.membership_classic import ClassicMembership
from ottla.client.membership_consumer import ConsumerMembership
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.consumer_group_heartbeat import (
    Assignment,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    ConsumerGroupHeartbeatResponseTopicPartitions,
)
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from ottla.wire.messages.join_group import JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from ottla.wire.messages.leave_group import LeaveGroupRequest, LeaveGroupResponse
from ottla.wire.messages.sync_group import SyncGroupRequest, SyncGroupResponse

PARTITIONS = 4
TOPIC_ID = b"t".ljust(16, b"\0")
PASSING = [
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.NOT_COORDINATOR,
]
CLASSIC_ERRORS = [
    *PASSING,
    ErrorCode.REBALANCE_IN_PROGRESS,
    ErrorCode.UNKNOWN_MEMBER_ID,
    ErrorCode.ILLEGAL_GENERATION,
]
CONSUMER_ERRORS = [*PASSING, ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_MEMBER_EPOCH]

moves = st.lists(
    st.tuples(
        st.sampled_from(["good", "good", "good", "error", "lost", "later", "resubscribe"]),
        st.integers(0, 5),
        st.sets(st.integers(0, PARTITIONS - 1)).map(frozenset),
    ),
    max_size=60,
)


def tps(indexes: frozenset[int]) -> frozenset[TopicPartition]:
    return frozenset(TopicPartition("t", index) for index in indexes)


class History:
    """A coordinator that answers as it is told, and checks what it is asked."""

    def __init__(self, membership: Any, errors: list[ErrorCode]) -> None:
        self.m = membership
        self.errors = errors
        self.now = 0.0
        self.generation = 0
        self.given: frozenset[int] = frozenset()

    def move(self, kind: str, number: int, indexes: frozenset[int]) -> None:
        if kind == "later":
            self.now += 10.0**number
            return
        if kind == "resubscribe":
            self.m.subscribe(["t", "u"] if number % 2 else ["t"])
            return
        step = self.m.step(self.now)
        self.carry_out(step, kind, number, indexes)

    def carry_out(self, step: Any, kind: str, number: int, indexes: frozenset[int]) -> None:
        m, owned = self.m, self.m.owned
        if isinstance(step, Wait):
            assert step.until_ms > self.now
            if step.until_ms < FOREVER:
                self.now = max(self.now, step.until_ms)
        elif isinstance(step, Revoke):
            assert step.partitions and step.partitions <= owned
            assert m.owned == owned  # until it is reported
            m.revoked(self.now)
            assert m.owned == owned - step.partitions
        elif isinstance(step, Assign):
            assert not step.partitions & owned
            m.assigned(self.now)
            assert m.owned == owned | step.partitions
        elif isinstance(step, CountPartitions):
            if kind == "lost":
                m.failed(BrokerUnavailable("a:1"), self.now)
            else:
                m.partition_counts({"t": PARTITIONS}, self.now)
        elif isinstance(step, NameTopics):
            if kind == "lost":
                m.failed(BrokerUnavailable("a:1"), self.now)
            else:
                m.topic_names({TOPIC_ID: "t"} if kind == "good" else {}, self.now)
        else:
            assert isinstance(step, Send)
            request = step.request.build(99) if isinstance(step.request, Versioned) else step.request
            self.check(request)
            if kind == "lost":
                m.failed(BrokerUnavailable("a:1"), self.now)
            else:
                code = self.errors[number % len(self.errors)] if kind == "error" else ErrorCode.NONE
                m.answered(self.answer(request, int(code), number, indexes), self.now)

    def check(self, request: Any) -> None:
        if isinstance(request, JoinGroupRequest):
            told = read_subscription(bytes(request.protocols[0].metadata))
            assert frozenset(told.owned) == self.m.owned
            assert self.m.cooperative or not told.owned
        elif isinstance(request, HeartbeatRequest | SyncGroupRequest):
            assert request.generation_id == self.m.generation > 0 and request.member_id
        elif isinstance(request, ConsumerGroupHeartbeatRequest):
            if request.member_epoch == 0:
                assert request.topic_partitions == [] and not self.m.owned
            elif request.topic_partitions is not None:
                said = {TopicPartition("t", i) for t in request.topic_partitions for i in t.partitions}
                assert said == self.m.owned

    def answer(self, request: Any, code: int, number: int, indexes: frozenset[int]) -> Any:
        if isinstance(request, LeaveGroupRequest):
            return LeaveGroupResponse(error_code=code)
        if isinstance(request, HeartbeatRequest):
            return HeartbeatResponse(error_code=code)
        if isinstance(request, SyncGroupRequest):
            if not code:
                self.given = indexes
            return SyncGroupResponse(error_code=code, assignment=write_assignment(tps(indexes)))
        if isinstance(request, JoinGroupRequest):
            if not code and not request.member_id:
                return JoinGroupResponse(error_code=ErrorCode.MEMBER_ID_REQUIRED, member_id="m")
            self.generation += 1
            leads = number % 2 == 0
            mine = JoinGroupResponseMember(member_id="m", metadata=write_subscription(["t"]))
            return JoinGroupResponse(
                error_code=code,
                generation_id=self.generation,
                protocol_name=self.m.settings.assignors[0],
                leader="m" if leads else "x",
                member_id="m",
                members=[mine] if leads else [],
            )
        assert isinstance(request, ConsumerGroupHeartbeatRequest)
        if code:
            return ConsumerGroupHeartbeatResponse(error_code=code)
        # A coordinator assigns anew now and then, and always to one who joins.
        assignment = None
        if request.member_epoch == 0 or number == 0:
            self.generation += 1
            self.given = indexes
            parts = [
                ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=TOPIC_ID, partitions=sorted(indexes))
            ]
            assignment = Assignment(topic_partitions=parts if indexes else [])
        return ConsumerGroupHeartbeatResponse(
            member_id="m",
            member_epoch=max(1, self.generation),
            heartbeat_interval_ms=1000,
            assignment=assignment,
        )

    def heal(self) -> None:
        """Good answers only, the last of which gives partitions 1 and 2."""
        final = frozenset({1, 2})
        for _ in range(60):
            step = self.m.step(self.now)
            done = self.m.joined and self.m.owned == tps(final) and self.given == final
            if done and isinstance(step, Wait):
                return
            self.carry_out(step, "good", 1 if self.given == final else 0, final)
            if isinstance(step, Wait) and self.given != final:
                # A stable member stays so until the coordinator says otherwise.
                self.m.subscribe(["t", "more"] if "more" not in self.m.topics else ["t"])
        raise AssertionError(f"not stable again: {self.m.state}, owns {self.m.owned}")

    def leave(self) -> None:
        self.m.leave()
        for _ in range(10):
            step = self.m.step(self.now)
            if isinstance(step, Left):
                assert not self.m.owned
                return
            self.carry_out(step, "good", 1, frozenset())
        raise AssertionError("it does not leave")


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
@settings(max_examples=150, deadline=None)
@given(history=moves)
def test_a_classic_member_keeps_its_rules_in_any_history(
    assignor: str, history: list[tuple[str, int, frozenset[int]]]
) -> None:
    membership = ClassicMembership(GroupSettings("g", assignors=(assignor,)), ["t"], lambda: 0.5)
    run = History(membership, CLASSIC_ERRORS)
    for move in history:
        run.move(*move)
    run.heal()
    run.leave()


@settings(max_examples=300, deadline=None)
@given(history=moves)
def test_a_member_of_kip_848_keeps_its_rules_in_any_history(
    history: list[tuple[str, int, frozenset[int]]],
) -> None:
    membership = ConsumerMembership(GroupSettings("g"), "m", lambda: 0.5, topics=["t"])
    run = History(membership, CONSUMER_ERRORS)
    for move in history:
        run.move(*move)
    run.heal()
    run.leave()
