"""Bugs planted into the cluster, of the kinds that were found in real brokers: each has to be found.

Every test takes one rule away and runs seeds until a run complains; the complaint has to be about the bug and
to say how to repeat it. Each begins at a seed that found its bug when it was written, and has some more: the
seeds' stories change with the code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ottla.broker.handlers import fetch
from ottla.broker.isr_changes import IsrChanges
from ottla.log.log import Log
from ottla.metadata import registration
from ottla.metadata.partition_change import PartitionChange
from ottla.raft.leader import Leader as QuorumLeader
from ottla.replication import isr
from ottla.replication.leader import Leading
from ottla.replication.partition import Partition
from ottla.testing.cluster_faults import KINDS
from ottla.testing.cluster_run import ClusterRun
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord

STEPS = 8
SEEDS = 60
"""How many are tried, from the first on."""
DEATHS = {"kill": 10, "kill_controller": 10, "kill_leader": 20, "kill_all": 3, "pause": 5, "isolate": 5}
CUTS = {"isolate": 10, "one_way": 10, "halves": 10, "pair": 10, "pause": 10}


def finds_a_bug(
    *words: str, first: int = 1, steps: int = STEPS, kinds: Mapping[str, int] = KINDS, seeds: int = SEEDS
) -> None:
    for seed in range(first, first + seeds):
        try:
            ClusterRun(seed, steps=steps, kinds=kinds).run()
        except AssertionError as error:
            found = str(error)
            print(f"found with seed {seed}: {found[:300]}")
            assert f"--part cluster --seed {seed}" in found
            assert any(word in found for word in words), found
            return
    pytest.fail("no seed found the planted bug")


# --- replication


def test_a_high_watermark_that_passes_a_follower_which_has_not_fetched_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every member of the in-sync set counts as if it had everything."""
    monkeypatch.setattr(Leading, "committed_end_offset", lambda self: self.own_end_offset)
    finds_a_bug(
        "was committed before", "and committed", "is lost", "another", "is there", first=3, kinds=DEATHS
    )


def test_an_acknowledgement_before_the_in_sync_set_has_the_record_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Partition, "must_wait", lambda self, info, acks: False)
    finds_a_bug("is lost", "for one client", "acknowledged at", first=4, kinds=DEATHS)


def test_records_that_are_shown_before_they_are_committed_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Partition, "readable_end", lambda self, isolation_level: self.log.log_end_offset)
    finds_a_bug("for one client", "is there", "does not count", first=2, kinds=DEATHS)


def test_a_leader_that_was_not_in_sync_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chosen without a word: its lack of records would be everybody's."""

    def any_replica(self: PartitionChange, node_id: int) -> bool:
        return node_id in self.replicas and self.may_lead(node_id)

    build = PartitionChange.build

    def silently(self: PartitionChange) -> PartitionChangeRecord | None:
        record = build(self)
        if record is not None and record.leader >= 0 and record.leader not in self.isr:
            record.isr = [record.leader, *self.isr]
        return record

    monkeypatch.setattr(PartitionChange, "_is_clean_choice", any_replica)
    monkeypatch.setattr(PartitionChange, "build", silently)
    finds_a_bug("was committed before", "and committed", "is lost", first=2, kinds=DEATHS)


def test_a_follower_that_cuts_its_log_at_its_high_watermark_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """KIP-101: what it cuts off may have been acknowledged since, and it may lead next."""
    resign = Partition.resign

    def cuts(self: Partition, leader_id: int, leader_epoch: int, *args: Any) -> None:
        is_new = leader_epoch != self.leader_epoch
        resign(self, leader_id, leader_epoch, *args)
        if is_new:
            self.log.truncate_to(self.log.high_watermark)

    monkeypatch.setattr(Partition, "resign", cuts)
    finds_a_bug("was committed before", "and committed", "is lost", first=4, kinds=DEATHS, steps=12)


def test_logs_that_part_without_anybody_noticing_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The leader does not compare epochs: what only the old leader had stays in the follower's log."""
    monkeypatch.setattr(fetch, "_diverging", lambda fetched, partition: None)
    finds_a_bug("and committed", "other bytes", "ends differently", "not settled", first=36, kinds=DEATHS)


def test_an_in_sync_set_that_a_leader_changes_by_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off from the others, it is alone with itself and acknowledges on."""

    def propose(self: IsrChanges, partition: Partition, proposal: isr.IsrProposal) -> None:
        partition.isr_accepted(proposal, proposal.isr, partition.partition_epoch, 0)

    monkeypatch.setattr(IsrChanges, "propose", propose)
    monkeypatch.setattr(Partition, "is_below_min_isr", property(lambda self: False))
    finds_a_bug("was committed before", "and committed", "is lost", "not settled", first=2, kinds=CUTS)


def test_a_follower_that_is_in_sync_before_it_has_everything_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    consider = isr.consider_joining

    def hastily(partition: Partition, shared: isr.InSync, node_id: int) -> None:
        consider(partition, shared, node_id)
        may_join = shared.may_join(node_id, partition.leading.followers[node_id].broker_epoch)  # type: ignore[union-attr]
        if partition.proposal is None and may_join and node_id not in partition.isr:
            isr.propose(partition, shared, (*partition.isr, node_id))

    monkeypatch.setattr("ottla.replication.partition.consider_joining", hastily)
    monkeypatch.setattr(
        Leading,
        "committed_end_offset",
        lambda self: min([self.own_end_offset, *sorted(f.log_end_offset for f in self.counted)[1:]]),
    )
    finds_a_bug(
        "was committed before", "and committed", "is lost", "OutOfOrderSequence", first=8, kinds=DEATHS
    )


def test_a_new_leader_that_does_not_know_its_producers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followers copy bytes and forget whose they are: a retry after a change of leaders is written twice."""
    become_leader = Partition.become_leader

    def forgets(self: Partition, node_id: int, leader_epoch: int, *args: Any) -> None:
        if leader_epoch != self.leader_epoch:
            self.log.producers._entries.clear()
        become_leader(self, node_id, leader_epoch, *args)

    monkeypatch.setattr(Partition, "become_leader", forgets)
    finds_a_bug(
        "is there twice", "comes after", "failed", "not settled", "internal", "is lost", first=4, kinds=DEATHS
    )


def test_aborted_transactions_that_a_follower_does_not_note_are_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The markers' index is not in the bytes: without it a new leader shows what was aborted."""
    append = Log.append_as_follower
    note = Log._note_completed
    copying: list[bool] = []

    def append_as_follower(self: Log, *args: Any, **kwargs: Any) -> Any:
        copying.append(True)
        try:
            return append(self, *args, **kwargs)
        finally:
            copying.pop()

    monkeypatch.setattr(Log, "append_as_follower", append_as_follower)
    monkeypatch.setattr(Log, "_note_completed", lambda self, *args: None if copying else note(self, *args))
    finds_a_bug("does not count", first=2, kinds=DEATHS, steps=12)


# --- the quorum and the controller


def test_metadata_that_is_committed_by_one_node_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        QuorumLeader, "majority_offset", lambda self, voters, own_synced_offset: own_synced_offset
    )
    finds_a_bug("and committed", "below the high watermark", "metadata", first=10, kinds=CUTS)


def test_an_epoch_that_is_not_raised_with_its_leader_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from ottla.metadata import image

    changed = image.changed_partition

    def keeps_epoch(state: Any, record: Any) -> Any:
        return changed(state, record)._replace(leader_epoch=state.leader_epoch)

    monkeypatch.setattr(image, "changed_partition", keeps_epoch)
    finds_a_bug("both lead", "went back", "and committed", "not settled", first=2, kinds=DEATHS)


def test_an_unclean_stop_that_is_taken_for_a_clean_one_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that has lost what it had not synced comes back at once, and leads on."""
    monkeypatch.setattr(registration, "_check_not_taken", lambda *args: None)
    monkeypatch.setattr(registration, "earlier_life_ended", lambda view, node_id, *, clean: [])
    finds_a_bug(
        "was committed before", "and committed", "is lost", "went back", "gave up", kinds={"power": 1}
    )


# --- coordinators


def test_a_coordinator_that_goes_on_after_its_leadership_went_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It keeps what it knew, and answers from that when it leads again."""
    from ottla.broker.coordinator import Coordinator

    monkeypatch.setattr(Coordinator, "leads_no_more", lambda self, index: None)
    monkeypatch.setattr(
        Coordinator,
        "leads",
        lambda self, partition: None if partition.tp.partition in self.hosts else self._load(partition),
    )
    finds_a_bug(
        "transformed", "committed", "not settled", "is lost", "fenced", "follow", first=78, kinds=DEATHS
    )


def test_a_commit_that_is_answered_before_the_replicas_have_it_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the groups' coordinator: those who wait for a transaction's are found elsewhere."""
    from ottla.broker.group_host import GroupHost

    monkeypatch.setattr(GroupHost, "_park", GroupHost._follow_up)
    finds_a_bug("was acknowledged, and is lost", "transformed", first=14, kinds=CUTS)
