"""The states of a partition's position, and which answers count. The rules are those of Kafka's consumer."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from ottla.client.consuming.positions import (
    NO_EPOCH,
    UNKNOWN,
    FetchState,
    PartitionState,
    Position,
    Positions,
    Truncation,
)
from ottla.client.consuming.reset_policy import EARLIEST, LATEST, ResetPolicy
from ottla.model.types import TopicPartition

TP = TopicPartition("t", 0)
NONE = ResetPolicy()
FIRST = ResetPolicy(time=EARLIEST)
LAST = ResetPolicy(time=LATEST)


def assigned() -> tuple[Positions, PartitionState]:
    positions = Positions()
    (state,), gone = positions.assign([TP])
    assert not gone
    return positions, state


def test_a_new_partition_has_no_position_and_one_that_stays_keeps_its_own() -> None:
    positions, state = assigned()
    assert state.state is FetchState.INITIALIZING and state.position is None and not state.valid
    positions.seek(state, Position(5))
    other = TopicPartition("t", 1)
    new, gone = positions.assign([other, TP])
    assert [s.tp for s in new] == [other] and not gone
    assert positions.partitions[TP] is state and state.position == Position(5)
    new, gone = positions.assign([other])
    assert not new and gone == [state]


def test_a_position_is_validated_only_if_both_epochs_are_known() -> None:
    """KIP-320: the epoch of the record before it, and that of the leader."""
    for offset_epoch, leader_epoch, expected in (
        (NO_EPOCH, NO_EPOCH, FetchState.FETCHING),
        (3, NO_EPOCH, FetchState.FETCHING),
        (NO_EPOCH, 4, FetchState.FETCHING),
        (3, 4, FetchState.AWAIT_VALIDATION),
    ):
        positions, state = assigned()
        positions.seek(state, Position(5, offset_epoch, 1, leader_epoch))
        assert state.state is expected


def test_a_leader_that_did_not_change_asks_for_nothing() -> None:
    positions, state = assigned()
    positions.seek(state, Position(5, NO_EPOCH, 1, 4))
    positions.advance(state, 9, 3)
    assert not positions.leader_changed(state, 1, 4) and state.valid
    assert not positions.leader_changed(state, -1, -1) and state.valid
    state.prefer_replica(7, 1_000.0)
    assert positions.leader_changed(state, 1, 5)
    assert state.preferred_replica == -1, "it was the old leader's advice (KIP-392)"
    assert state.position == Position(9, 3, 1, 5)


def test_truncations_go_back_to_where_the_logs_part_or_are_told() -> None:
    for policy, end, expected in (
        (FIRST, (3, 9), Position(9, 3, 1, 5)),
        (FIRST, (3, 20), Position(9, 3, 1, 5)),
        (FIRST, (2, 6), Position(6, 2, 1, 5)),
        (NONE, (2, 6), Truncation(Position(9, 3, 1, 5), 6)),
        (FIRST, (-1, -1), FIRST),
        (NONE, (-1, -1), Truncation(Position(9, 3, 1, 5), UNKNOWN)),
    ):
        positions, state = assigned()
        asked = Position(9, 3, 1, 5)
        positions.seek(state, asked)
        told = positions.complete_validation(state, asked, *end, policy)
        if isinstance(expected, Truncation):
            assert told == expected and state.state is FetchState.AWAIT_VALIDATION
        elif isinstance(expected, ResetPolicy):
            assert told is None and state.state is FetchState.AWAIT_RESET and state.policy == expected
        else:
            assert told is None and state.valid and state.position == expected


epochs = st.integers(NO_EPOCH, 2)
places = st.builds(Position, st.integers(0, 5), epochs, st.integers(-1, 2), epochs)


class PositionMachine(RuleBasedStateMachine):
    """Anything in any order, answers to old questions included."""

    def __init__(self) -> None:
        super().__init__()
        self.positions, self.state = assigned()
        self.validating: list[Position] = []
        self.resetting: list[ResetPolicy] = []

    @rule(position=places)
    def seek(self, position: Position) -> None:
        self.positions.seek(self.state, position)
        assert self.state.position == position

    @rule(policy=st.sampled_from([FIRST, LAST]))
    def reset(self, policy: ResetPolicy) -> None:
        self.positions.request_reset(self.state, policy)
        self.resetting.append(policy)

    @rule(leader=st.integers(-1, 2), epoch=epochs)
    def leader(self, leader: int, epoch: int) -> None:
        before, was = self.state.position, self.state.state
        asks = self.positions.leader_changed(self.state, leader, epoch)
        assert not asks or self.state.state is FetchState.AWAIT_VALIDATION
        if before is None or leader == -1:
            assert (self.state.position, self.state.state) == (before, was)
        else:
            assert self.state.position == before._replace(leader=leader, leader_epoch=epoch)

    @precondition(lambda self: self.state.state is FetchState.AWAIT_VALIDATION)
    @rule()
    def ask_for_validation(self) -> None:
        assert self.state.position is not None
        self.state.asking = True
        self.validating.append(self.state.position)

    @precondition(lambda self: self.validating)
    @rule(data=st.data(), epoch=epochs, end=st.integers(-1, 6), policy=st.sampled_from([NONE, FIRST]))
    def validated(self, data: st.DataObject, epoch: int, end: int, policy: ResetPolicy) -> None:
        asked = data.draw(st.sampled_from(self.validating))
        before, was = self.state.position, self.state.state
        told = self.positions.complete_validation(self.state, asked, epoch, end, policy)
        if was is not FetchState.AWAIT_VALIDATION or before != asked:
            assert told is None and (self.state.position, self.state.state) == (before, was)
        elif told is not None:
            assert policy is NONE and self.state.position == asked
        elif self.state.valid:
            assert self.state.position is not None and self.state.position.offset <= asked.offset

    @precondition(lambda self: self.resetting)
    @rule(data=st.data(), position=places)
    def found(self, data: st.DataObject, position: Position) -> None:
        policy = data.draw(st.sampled_from(self.resetting))
        before, was, wanted = self.state.position, self.state.state, self.state.policy
        taken = self.positions.complete_reset(self.state, policy, position)
        assert taken == (was is FetchState.AWAIT_RESET and wanted == policy)
        assert self.state.position == (position if taken else before)

    @rule()
    def old_broker(self) -> None:
        was = self.state.state
        self.positions.skip_validation(self.state)
        assert self.state.state is (FetchState.FETCHING if was is FetchState.AWAIT_VALIDATION else was)

    @precondition(lambda self: self.state.valid)
    @rule(by=st.integers(0, 3), epoch=epochs)
    def hand_out(self, by: int, epoch: int) -> None:
        before = self.state.position
        assert before is not None
        self.positions.advance(self.state, before.offset + by, epoch)
        assert self.state.valid and self.state.position is not None
        assert self.state.position[2:] == before[2:]

    @rule()
    def revoke_and_assign(self) -> None:
        self.positions.assign([])
        assert not self.positions.partitions
        (self.state,), _ = self.positions.assign([TP])

    @invariant()
    def the_state_fits_the_position(self) -> None:
        state = self.state
        has = state.position is not None
        assert has == (state.state in (FetchState.FETCHING, FetchState.AWAIT_VALIDATION))
        assert (state.policy is not None) == (state.state is FetchState.AWAIT_RESET)
        if state.state is FetchState.AWAIT_VALIDATION:
            assert state.position is not None
            assert state.position.offset_epoch != NO_EPOCH and state.position.leader_epoch != NO_EPOCH
        filed = [kind for kind, found in self.positions.by_state.items() if TP in found]
        assert filed == [state.state]


PositionMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestPositionHistories = PositionMachine.TestCase
