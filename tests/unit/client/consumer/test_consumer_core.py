"""The consumer's core in virtual time, with a membership that does what it is told: cancelled polls, losses,
late listeners. Records that nobody was handed may not be committed, nor those of others handed out.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ottla.client.consuming.core import ConsumerCore
from ottla.client.consuming.handing import HandingOut
from ottla.client.effects import ClientSteps, Signal, Wait
from ottla.client.errors import IllegalState, InvalidArgument, OperationTimedOut, WokenUp
from ottla.client.membership import Assign, Identity, Revoke
from ottla.client.records import OffsetAndMetadata
from ottla.client.runtime.task import TaskCancelled
from ottla.model.types import TopicPartition
from unit.client.fetching.fetch_stage import Stage

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Membership:
    """One that has joined, and that nobody drives."""

    def __init__(self, *owned: TopicPartition) -> None:
        self.owned = frozenset(owned)
        self.lost = False
        self.joined = True
        self.identity = Identity("m", 1, None)
        self.void = False
        self.reasons: list[str] = []

    def revoked(self, now_ms: float) -> None:
        self.owned = frozenset()

    def assigned(self, now_ms: float) -> None:
        self.owned = frozenset({T0, T1})

    def rejoin(self, reason: str) -> None:
        self.reasons.append(reason)

    def heartbeat_now(self) -> None:
        pass


class CoreStage:
    """A core that reads t-0, five records long, as a member of a group."""

    def __init__(self, **settings: Any) -> None:
        self.stage = Stage(group_id="g", auto_offset_reset="earliest", **settings)
        for log in self.stage.topic("t", 2):
            log.append(5)
        session: Any = self.stage
        session.coordinators = SimpleNamespace(known=lambda group: 1)
        self.core = ConsumerCore(session, self.stage.settings)
        self.told: list[tuple[str, list[TopicPartition]]] = []
        self.core.subscribe("t", on_assigned=self._tell("assigned"), on_lost=self._tell("lost"))
        assert self.core.group is not None
        self.group = self.core.group
        self.group._task = SimpleNamespace(done=False, cancel=lambda: None)  # type: ignore[assignment]
        self.membership = Membership(T0)
        self.group.membership = self.membership  # type: ignore[assignment]
        self.answer: OffsetAndMetadata | None = None
        self.commit_hangs = False
        self.committed: list[dict[TopicPartition, int]] = []
        self.core.commits.commit = self._commit  # type: ignore[method-assign]
        self.core.commits.committed = self._look_up  # type: ignore[method-assign, assignment]
        self.core.fetcher.assign([T0])
        self.core.fetcher.seek(T0, 0)
        self.during_listener: Any = lambda: None

    def _tell(self, what: str) -> Any:
        def told(partitions: list[TopicPartition]) -> None:
            self.told.append((what, partitions))
            self.during_listener()

        return told

    def _commit(self, offsets: Any, *args: Any, **options: Any) -> ClientSteps[None]:
        if self.commit_hangs:
            yield Wait(Signal())
        self.committed.append({tp: at.offset for tp, at in offsets.items()})

    def _look_up(self, partitions: Any, timeout_ms: float | None = None) -> ClientSteps[Any]:
        if self.commit_hangs:
            yield Wait(Signal())
        return dict.fromkeys(partitions, self.answer)

    def start(self, steps: ClientSteps[Any]) -> Any:
        operation = self.stage.scheduler.start(steps, "an operation")
        operation.on_invoke = lambda: None
        return operation

    def finish(self, operation: Any, limit_ms: float = 20_000) -> Any:
        """Runs it to its end, calling listeners as a shell does."""
        while True:
            self.stage.run(lambda: operation.done or operation.invoke is not None, limit_ms)
            if operation.done:
                return operation.result()
            invoke, operation.invoke = operation.invoke, None
            operation.answered(invoke.function(*invoke.args))

    def do(self, steps: ClientSteps[Any]) -> Any:
        return self.finish(self.start(steps))


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def test_a_poll_that_is_cancelled_while_it_commits_has_not_given_anything_up() -> None:
    """asyncio's wait_for around poll: the revocation is carried out by the next one, commit included."""
    s = CoreStage()
    assert offsets(s.do(s.core.poll(1_000))) == [0, 1, 2, 3, 4]
    step = s.group.pending = Revoke(frozenset({T0}))
    s.commit_hangs = True
    poll = s.start(s.core.poll(1_000))
    s.stage.run(limit_ms=50)
    poll.cancel()
    with pytest.raises(TaskCancelled):
        poll.result()
    assert s.group.pending is step and s.membership.owned == {T0}
    assert s.core.assignment() == {T0}
    s.commit_hangs = False
    assert s.do(s.core.poll(50)) == []
    assert s.committed == [{T0: 5}]
    assert s.group.pending is None and s.core.assignment() == set()


def test_a_wakeup_within_a_listener_ends_the_poll_and_not_only_the_next_one() -> None:
    s = CoreStage()
    s.do(s.core.poll(1_000))
    s.group.pending = Assign(frozenset())
    s.during_listener = s.core.wakeup
    began_ms = s.stage.clock.elapsed_ms
    with pytest.raises(WokenUp):
        s.do(s.core.poll(10_000))
    assert s.stage.clock.elapsed_ms - began_ms < 100


def test_what_is_buffered_of_a_member_that_was_thrown_out_is_not_handed_out() -> None:
    """Others read on there: it would come twice."""
    s = CoreStage()
    assert offsets(s.do(s.core.poll(1_000, 2))) == [0, 1]
    s.membership.lost = True
    assert s.do(s.core.poll(100)) == []
    s.group.pending = Revoke(frozenset({T0}), lost=True)
    assert s.do(s.core.poll(50)) == []
    assert s.told == [("lost", [T0])] and s.committed == [] and s.core.assignment() == set()


def test_partitions_that_were_lost_while_the_listener_took_them_are_not_read() -> None:
    """`max.poll.interval.ms` counts a listener's time; what it was told of has gone to others meanwhile."""
    s = CoreStage()
    s.do(s.core.poll(1_000))
    s.group.pending = Assign(frozenset({T1}))

    def expire() -> None:
        s.group.pending = None
        s.membership.lost = True
        s.during_listener = lambda: None

    s.during_listener = expire
    assert s.do(s.core.poll(50)) == []
    assert s.told == [("assigned", [T1]), ("lost", [T1])]
    assert s.core.assignment() == {T0}, "that one is told of when the membership has found out"


def test_an_answer_about_committed_offsets_does_not_outlive_its_assignment() -> None:
    """The partition comes back after another member has read on: the old answer would rewind it."""
    s = CoreStage()
    s.core.fetcher.assign([T1])
    s.membership.owned = frozenset({T1})
    s.commit_hangs = True
    assert s.do(s.core.poll(10)) == []
    s.group.pending = Revoke(frozenset({T1}), lost=True)
    assert s.do(s.core.poll(10)) == []
    s.commit_hangs, s.answer = False, OffsetAndMetadata(3)
    s.group.pending = Assign(frozenset({T1}))
    assert offsets(s.do(s.core.poll(1_000))) == [3, 4]


def test_the_commit_before_a_loss_and_at_the_end_takes_no_longer_than_it_may() -> None:
    """A coordinator that accepts connections and is silent has `request.timeout.ms` for each request."""
    s = CoreStage()
    s.do(s.core.poll(1_000))
    s.commit_hangs = True
    began_ms = s.stage.clock.elapsed_ms
    s.do(s.core.consumed.commit_finally(1_500))
    assert s.stage.clock.elapsed_ms - began_ms == pytest.approx(1_500, abs=10)
    assert isinstance(s.core.consumed.commit_error, OperationTimedOut)


def test_what_poll_took_and_nobody_was_handed_comes_again_and_is_not_committed() -> None:
    """Ctrl-C, or a cancelled task, in the instant between the two."""
    s = CoreStage()
    handing = HandingOut(s.core)
    s.do(handing.kept(s.core.poll(1_000, 3)))
    assert s.core.consumed.offsets()[T0].offset == 0
    assert s.do(s.core.position(T0)) == 0
    assert offsets(handing.take_left(2)) == [0, 1]
    assert s.core.consumed.offsets()[T0].offset == 2
    assert offsets(handing.take_left(None)) == [2]
    assert s.core.consumed.offsets()[T0].offset == 3
    handing.whole(s.do(handing.kept(s.core.poll(1_000))))
    assert s.core.consumed.offsets()[T0].offset == 5


def test_columns_that_nobody_was_handed_are_read_again() -> None:
    s = CoreStage()
    handing = HandingOut(s.core)
    handing.whole(s.do(handing.kept(s.core.poll(1_000, 2))))
    (part,) = s.do(handing.kept_columns(s.core.poll_columns(1_000)))
    assert part.columns.row_count == 3
    assert s.core.consumed.offsets()[T0].offset == 2
    assert handing.take_left(None) == [], "they are given back to the fetcher"
    handing.polling()
    assert offsets(handing.whole(s.do(handing.kept(s.core.poll(1_000))))) == [2, 3, 4]
    s.do(handing.kept_columns(s.core.poll_columns(10)))
    handing.polling()
    assert s.core.consumed.offsets()[T0].offset == 5


def test_limits_of_a_poll_may_be_as_large_as_one_likes_but_not_nothing() -> None:
    s = CoreStage()
    assert offsets(s.do(s.core.poll(1_000, 10**30))) == [0, 1, 2, 3, 4]
    s.core.seek(T0, 0)
    assert s.do(s.core.poll_columns(1_000, 10**30))[0].columns.row_count == 5
    with pytest.raises(InvalidArgument):
        s.do(s.core.poll(0, 0))
    with pytest.raises(InvalidArgument):
        s.do(s.core.poll_columns(0, 0))


def test_a_rebalance_is_enforced_in_a_group_only() -> None:
    """KIP-568."""
    s = CoreStage()
    s.core.enforce_rebalance("a disk was added")
    s.core.enforce_rebalance()
    assert s.membership.reasons == ["a disk was added", "the user asked for a rebalance"]
    alone = Stage()
    with pytest.raises(IllegalState):
        ConsumerCore(alone, alone.settings).enforce_rebalance()  # type: ignore[arg-type]
