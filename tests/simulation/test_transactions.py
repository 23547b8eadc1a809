"""Transactions, clients that die and haunt, a bad network and a broker that goes down: the promises hold.

Through lost requests and replies, two producers with one transactional id, producers that die between any two
requests or come back after their transaction has timed out, aborts by hand, deleted topics, retention,
compaction, kill -9, power losses (with `log.flush.interval.messages=1`), full and broken disks: nothing
aborted or open is read with read_committed, what was committed is there once and as a whole, what was
consumed was transformed exactly once, and once the faults have stopped nothing stays open.

The second half plants bugs in the broker. Each has to be found, or the checkers look at nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from ottla.broker import transaction_coordinator, txn_markers
from ottla.broker.group_host import GroupHost
from ottla.broker.transaction_host import TransactionHost
from ottla.broker.txn_verification import TxnVerification
from ottla.coordination.outcome import Outcome
from ottla.groups.shard import Shard
from ottla.log.log import Log
from ottla.log.producer_state import ProducerEntry
from ottla.testing import txn_client
from ottla.testing.txn_books import TxnBooks
from ottla.testing.txn_checker import TxnChecker
from ottla.testing.txn_run import TxnRun
from ottla.transactions import endings, memberships
from ottla.transactions.shard import TransactionShard
from ottla.transactions.states import ENDING, State
from ottla.transactions.transaction import Transaction

SEEDS = range(1, 21)
FRESH_SEED = random.SystemRandom().getrandbits(32)

EXERCISED = (
    *("commits", "aborts", "lost_answers_committed", "ends_repeated", "epochs_given"),
    *("clients_of_generation_1", "clients_of_generation_2", "zombies", "producers_died", "pauses"),
    *("producers_fenced", "batches_acked", "batches_sent_again", "offset_commits", "offsets_read"),
    *("markers_commit", "markers_abort", "completions_checked", "transactions_checked"),
    *("records_read", "records_transformed", "incremental_fetches", "topics_created", "logs_cleaned"),
    *("restarts", "clean_shutdowns", "power_losses", "kills", "requests_lost", "replies_lost"),
    *("restarts_compared", "replays_compared", "indexes_checked", "partitions_checked"),
)


def test_transactions_keep_their_promises_whatever_happens_to_them() -> None:
    total: Counter[str] = Counter()
    for seed in (*SEEDS, FRESH_SEED):
        total += TxnRun(seed, steps=16).run()
    assert [what for what in EXERCISED if total[what] == 0] == [], dict(total)


def test_one_seed_is_one_run() -> None:
    assert TxnRun(6, steps=12).run() == TxnRun(6, steps=12).run()


# --- the checkers can fail


def finds_a_bug(
    *words: str, slow_rate: float | None = None, crashes: int | None = None, likely_seed: int = 1
) -> str:
    """The first complaint, which has to say how to repeat it and to be about the bug.

    likely_seed: one that found it before, and is tried first.
    """
    for seed in (likely_seed, *range(1, 40)):
        try:
            TxnRun(seed, steps=16, slow_rate=slow_rate, crashes=crashes).run()
        except AssertionError as error:
            found = str(error)
            assert f"--part transactions --seed {seed}" in found
            assert any(word in found for word in words), found
            return found
    pytest.fail("no seed found the planted bug")


@pytest.fixture
def without_looking_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what clients see counts."""
    monkeypatch.setattr(TxnChecker, "look", lambda self: None)
    monkeypatch.setattr(TxnChecker, "came_up", lambda self: None)
    monkeypatch.setattr(TxnChecker, "compare_with_log", lambda self: None)
    monkeypatch.setattr(TxnBooks, "was_taken_away", lambda self, txn: True)


def test_markers_written_before_the_decision_is_committed_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    carry_out = TransactionHost.carry_out

    def begin_at_once(self: TransactionHost, outcome: Outcome) -> None:
        work, outcome.then = outcome.then, []
        carry_out(self, outcome)
        for each in work:
            self.begin(each)

    monkeypatch.setattr(TransactionHost, "carry_out", begin_at_once)
    finds_a_bug("marked before")


def test_a_transaction_completed_before_its_markers_are_written_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end_transaction = txn_markers.end_transaction

    def complete_first(node: Any, host: Any, channels: Any, job: Any) -> Any:
        yield from txn_markers._complete(node, host, job)
        yield from end_transaction(node, host, channels, job)

    monkeypatch.setattr(transaction_coordinator, "end_transaction", complete_first)
    finds_a_bug("has no marker")


def test_a_decision_that_is_not_written_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    append = TransactionHost._append
    numbers = {state.number for state in ENDING}

    def forget(self: TransactionHost, outcome: Outcome) -> int:
        if any(
            each.value is not None and each.value.transaction_status in numbers for each in outcome.records
        ):
            return self.last_offset + 1
        return append(self, outcome)

    monkeypatch.setattr(TransactionHost, "_append", forget)
    finds_a_bug("and decided is")


def test_an_outcome_that_a_restart_turns_round_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = TransactionShard.loaded

    def turned(self: TransactionShard) -> Outcome:
        outcome = loaded(self)
        outcome.then = [each._replace(committed=not each.committed) for each in outcome.then]  # type: ignore[attr-defined]
        return outcome

    monkeypatch.setattr(TransactionShard, "loaded", turned)
    finds_a_bug("and decided is", likely_seed=7)


def test_decisions_that_a_restart_does_not_carry_out_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: TransactionShard) -> Outcome:
        self.registry.loaded()
        return Outcome()

    monkeypatch.setattr(TransactionShard, "loaded", forgetful)
    finds_a_bug("not settled", likely_seed=7)


def test_transactions_that_never_time_out_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TransactionShard, "abort_timed_out", lambda self, limit: (Outcome(), False))
    finds_a_bug("not settled", likely_seed=2)


@pytest.mark.parametrize("looks_inside", [True, False])
def test_a_last_stable_offset_above_an_open_transaction_is_found_out(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, looks_inside: bool
) -> None:
    if not looks_inside:
        request.getfixturevalue("without_looking_inside")
    monkeypatch.setattr(Log, "last_stable_offset", property(lambda self: self.high_watermark))
    finds_a_bug("the last stable offset is" if looks_inside else "was delivered, and")


@pytest.mark.usefixtures("without_looking_inside")
def test_aborted_transactions_that_readers_are_not_told_of_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Log, "aborted_within", lambda *_: [])
    finds_a_bug("was delivered, and")


def test_a_fenced_producer_that_goes_on_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two producers with one transactional id: the newer one has it."""
    monkeypatch.setattr(memberships, "_check_producer", lambda *_: None)
    # The older one's end also ends what the newer one has begun.
    finds_a_bug(
        "was accepted although",
        "and decided is",
        "the epoch went back",
        "nobody asked to commit",
        likely_seed=3,
    )


def test_an_epoch_given_to_two_producers_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    initialized = Transaction.initialized

    def same_epoch(self: Transaction, producer_id: int, producer_epoch: int, *rest: Any) -> Transaction:
        return initialized(self, producer_id, self.producer_epoch, *rest)

    monkeypatch.setattr(Transaction, "initialized", same_epoch)
    finds_a_bug("was given to", "OUT_OF_ORDER_SEQUENCE_NUMBER")


def test_batches_that_nobody_verified_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-890: one that arrives after its transaction has ended would never get a marker."""
    begin = TxnVerification.begin

    def unverified(self: TxnVerification) -> Any:
        self._is_off = self._version < 12
        return begin(self)

    monkeypatch.setattr(TxnVerification, "begin", unverified)
    monkeypatch.setattr(txn_client, "GIVES_UP", 0.9)
    finds_a_bug("not settled", "was delivered, and", slow_rate=0.3, crashes=0)


def test_offsets_that_count_before_their_transaction_ends_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replay = Shard.replay
    monkeypatch.setattr(
        Shard, "replay", lambda self, record, offset, producer_id: replay(self, record, offset, -1)
    )
    finds_a_bug("is committed, and", "the log says")


def test_pending_offsets_that_a_restart_forgets_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    replay = GroupHost.replay_bytes

    def forgetful(self: GroupHost, record: Any, producer_id: int) -> bool:
        return producer_id >= 0 or replay(self, record, producer_id)

    monkeypatch.setattr(GroupHost, "replay_bytes", forgetful)
    finds_a_bug("the log says", "before the restart it was", "is committed, after")


def test_batches_that_are_written_twice_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProducerEntry, "find_duplicate", lambda *_: None)
    monkeypatch.setattr(ProducerEntry, "check_sequence", lambda *_: None)
    finds_a_bug("is there twice", "was acknowledged at")


def test_a_commit_that_ends_as_an_abort_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endings, "_prepare", lambda committed: State.PREPARE_ABORT)
    finds_a_bug("there is []", "is committed", "was answered with INVALID_TXN_STATE")
