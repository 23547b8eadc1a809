"""Consumer groups, members that misbehave, a bad network and a broker that goes down: the promises hold.

Through lost requests and replies, members that die, pause beyond their session and return, kill -9, power
losses (with `log.flush.interval.messages=1`) and a full disk: at most one owner of a partition in a
generation or epoch, no acknowledged commit lost, nothing skipped, generations never go back, replaying the
log gives the state that was lived through, and once the faults have stopped every group becomes stable and
reads everything.

The second half plants bugs in the coordinator. Each has to be found, or the checkers look at nothing.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from ottla.broker.group_host import GroupHost
from ottla.coordination.outcome import Outcome
from ottla.groups.classic import rebalance
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.consumer import fence, reconcile
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.groups import ConsumerGroups
from ottla.groups.offsets.store import OffsetStore
from ottla.groups.record import decode_record
from ottla.testing.group_run import GroupRun
from ottla.wire.messages.consumer_offsets import (
    ConsumerGroupTargetAssignmentMemberKey,
    OffsetCommitKey,
)

SEEDS = range(1, 41)
FRESH_SEED = random.SystemRandom().getrandbits(32)

EXERCISED = (
    *("rebalances", "cooperative_revocations", "revocations", "epochs", "migrations", "members_fenced"),
    *("deaths", "deaths_unseen", "pauses", "leaves", "static_returns", "doubles", "regex_subscriptions"),
    *("commits_acked", "commits_refused", "records_redelivered", "simple_commits", "offsets_deleted"),
    *("groups_deleted", "topics_created", "topics_deleted", "topics_grown", "expirations", "full_disks"),
    *("restarts", "clean_shutdowns", "power_losses", "kills", "requests_lost", "replies_lost"),
    *("restarts_compared", "replays_compared", "partitions_checked", "logs_cleaned"),
)


def test_groups_keep_their_promises_whatever_happens_to_them() -> None:
    total: Counter[str] = Counter()
    for seed in (*SEEDS, FRESH_SEED):
        total += GroupRun(seed).run()
    assert [what for what in EXERCISED if total[what] == 0] == [], dict(total)


def test_one_seed_is_one_run() -> None:
    assert GroupRun(8).run() == GroupRun(8).run()


# --- the checkers can fail


def finds_a_bug(*words: str, full_disks: int | None = None, likely_seed: int = 1) -> str:
    """The first complaint, which has to say how to repeat it and to be about the bug.

    likely_seed: one that found it before, and is tried first.
    """
    for seed in (likely_seed, *range(1, 60)):
        try:
            GroupRun(seed, full_disks=full_disks).run()
        except AssertionError as error:
            found = str(error)
            assert f"--part groups --seed {seed}" in found
            assert any(word in found for word in words), found
            return found
    pytest.fail("no seed found the planted bug")


def test_a_commit_answered_before_it_is_written_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    carry_out = GroupHost.carry_out

    def answer_first(self: GroupHost, outcome: Outcome) -> None:
        for promise, response in outcome.answers:
            promise.complete(response)
        carry_out(self, outcome)

    monkeypatch.setattr(GroupHost, "carry_out", answer_first)
    finds_a_bug("was acknowledged", "was committed", "comes after", "gave it to", likely_seed=12)


@pytest.mark.parametrize("forgotten", [ConsumerGroupTargetAssignmentMemberKey, OffsetCommitKey])
def test_a_kind_of_record_that_a_restart_forgets_is_found_out(
    monkeypatch: pytest.MonkeyPatch, forgotten: type
) -> None:
    replay = GroupHost.replay_bytes

    def forgetful(self: GroupHost, record: Any, producer_id: int) -> bool:
        typed = decode_record(record.key, record.value)
        if typed is not None and isinstance(typed.key, forgotten):
            return True
        return replay(self, record, producer_id)

    monkeypatch.setattr(GroupHost, "replay_bytes", forgetful)
    finds_a_bug("the log says", "nothing is committed", "before the restart it was")


def test_a_generation_that_is_not_written_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    written = rebalance.group_record  # type: ignore[attr-defined]

    def without_generation(group: ClassicGroup) -> Any:
        record = written(group)
        record.value.generation = 0
        return record

    monkeypatch.setattr(rebalance, "group_record", without_generation)
    monkeypatch.setattr("ottla.groups.classic.sync.group_record", without_generation, raising=False)
    finds_a_bug("the log says", "comes after", "before the restart it was")


def test_a_partition_given_before_it_was_released_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-848: a member gets a partition when its former owner has confirmed that it let go."""
    towards: Callable[..., Any] = reconcile._towards

    def greedy(member: Any, epoch: int, target: Any, owned: Any, is_subscribed: Any, owners: Any) -> Any:
        return towards(member, epoch, target, owned, is_subscribed, {})

    monkeypatch.setattr(reconcile, "_towards", greedy)
    finds_a_bug("in the hands of")


def test_commits_under_an_old_generation_or_epoch_that_are_accepted_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """KIP-848 and the classic protocol: a member that others have replaced is fenced."""
    for kind in (ClassicGroup, ConsumerGroup):
        monkeypatch.setattr(kind, "check_offset_commit", lambda *_, **__: None)
    finds_a_bug("was accepted although", "took effect after", "in force, after", likely_seed=6)


def test_offsets_that_forget_whose_they_are_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    put, get = OffsetStore.put, OffsetStore.get
    monkeypatch.setattr(OffsetStore, "put", lambda self, group, *rest: put(self, "", *rest))
    monkeypatch.setattr(OffsetStore, "get", lambda self, group, *rest: get(self, "", *rest))
    finds_a_bug("which nobody did", "nothing is committed")


def test_members_without_a_session_after_a_restart_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A member that died while the broker was away is noticed by nobody: its partitions are never read."""
    for part in (ClassicGroups, ConsumerGroups):
        monkeypatch.setattr(part, "loaded", lambda self: Outcome())
    finds_a_bug("not settled")


def test_an_expired_session_that_could_not_be_written_and_is_forgotten_is_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With a full disk the end of a session cannot be recorded: it has to be decided again later."""
    monkeypatch.setattr(fence, "_try_again", lambda *_: None)
    finds_a_bug("not settled", full_disks=6, likely_seed=10)
