"""The states of a transactional id and the ways between them: one table, asserted at every change.

Empty            a producer has the id, and nothing is open
Ongoing          partitions have been added
PrepareCommit    the outcome is decided and in the log; markers are being written
PrepareAbort     the same, for the other outcome
CompleteCommit   every marker is in its partition
CompleteAbort    the same
Dead             forgotten: a tombstone is in the log
PrepareEpochFence  Kafka's name for an Ongoing transaction that is being taken from its producer

The last two are in no record and are no state of ours either: a decision is replayed as soon as it is
appended, so a transaction is aborted and its producer fenced in one step, and an id whose tombstone is
written is gone. They are here because their numbers and names are taken, and tools filter by them.
"""

from __future__ import annotations

from enum import Enum
from typing import Final


class State(Enum):
    """The value is the number in the log, `label` the name that describe and list show."""

    EMPTY = 0, "Empty"
    ONGOING = 1, "Ongoing"
    PREPARE_COMMIT = 2, "PrepareCommit"
    PREPARE_ABORT = 3, "PrepareAbort"
    COMPLETE_COMMIT = 4, "CompleteCommit"
    COMPLETE_ABORT = 5, "CompleteAbort"
    DEAD = 6, "Dead"
    PREPARE_EPOCH_FENCE = 7, "PrepareEpochFence"

    def __init__(self, number: int, label: str) -> None:
        self.number = number
        self.label = label


TRANSITIONS: Final[dict[State, frozenset[State]]] = {
    State.EMPTY: frozenset((State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD)),
    State.ONGOING: frozenset((State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT)),
    State.PREPARE_COMMIT: frozenset((State.COMPLETE_COMMIT,)),
    State.PREPARE_ABORT: frozenset((State.COMPLETE_ABORT,)),
    State.COMPLETE_COMMIT: frozenset((State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD)),
    State.COMPLETE_ABORT: frozenset((State.EMPTY, State.ONGOING, State.PREPARE_ABORT, State.DEAD)),
    State.DEAD: frozenset(),
    State.PREPARE_EPOCH_FENCE: frozenset(),
}
"""From a state to those that may follow it. A transaction without partitions is aborted from states in which
nothing is open since KIP-890: its producer may not know whether it had begun.
"""

LOGGED: Final[dict[int, State]] = {
    state.number: state for state in State if state not in (State.DEAD, State.PREPARE_EPOCH_FENCE)
}
"""The states that a record may hold, by their numbers."""

BY_LABEL: Final[dict[str, State]] = {state.label: state for state in State}
"""ListTransactions filters by these names, exactly as they are written."""

ENDING: Final = frozenset((State.PREPARE_COMMIT, State.PREPARE_ABORT))
"""Decided and not complete: everybody but the markers' writer has to wait (CONCURRENT_TRANSACTIONS)."""

COMMITTED: Final = frozenset((State.PREPARE_COMMIT, State.COMPLETE_COMMIT))

EXPIRABLE: Final = frozenset((State.EMPTY, State.COMPLETE_COMMIT, State.COMPLETE_ABORT))
"""Nothing is open: the id may be forgotten once it has been idle for long."""
