"""Three replicas under random appends, fetches, elections, crashes and late news: what was committed stays.

The replicas are `Partition`s over real logs; the controller is a few lines that know the truth. News of it
reaches each replica when the machine says so, so that there are leaders that do not know that they are none
any more, proposals on old states, and followers of the last leader but one.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ottla.log.log import Log
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.replication.follower import Copy, Cut, Restart, decide
from ottla.replication.isr import InSync, IsrProposal
from ottla.replication.leader import Follower, divergence
from ottla.replication.partition import Partition
from ottla.testing.clock import SIMULATION_BEGINS_MS, VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.scheduler import Scheduler
from ottla.wire.messages.fetch import EpochEndOffset, PartitionData
from ottla.wire.record_batch import Record, encode_batch

TP = TopicPartition("events", 0)
NOW = SIMULATION_BEGINS_MS
LAG_MAX_MS = 1_000.0
IDS = (0, 1, 2)

ids = st.sampled_from(IDS)


class Truth(NamedTuple):
    """The partition, as the controller last decided."""

    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]


class Replica:
    def __init__(self, machine: ReplicationMachine, node_id: int) -> None:
        self.machine = machine
        self.node_id = node_id
        self.disk = VirtualDisk()
        self.disk.make_dirs("/data")
        self.disk.sync_dir("/")
        self.broker_epoch = 0
        self.up = False
        self.known: Truth | None = None
        self.high_watermark_seen = 0
        self.start(clean=True)

    def start(self, *, clean: bool) -> None:
        self.broker_epoch += 1
        log = Log.open(self.disk, "/data/events-0", TP, LogConfig(), now_ms=NOW, clean_shutdown=clean)
        shared = InSync(
            self.machine.clock,
            lag_max_ms=LAG_MAX_MS,
            may_join=self.machine.may_join,
            propose=lambda partition, proposal: self.machine.proposals.append((self, proposal)),
        )
        self.shared = shared
        self.partition = Partition(TP, b"t" * 16, log, shared)
        self.up = True
        self.known = None

    @property
    def log(self) -> Log:
        return self.partition.log

    def learn(self, truth: Truth) -> None:
        self.known = truth
        if truth.leader == self.node_id:
            self.partition.become_leader(
                self.node_id, truth.leader_epoch, truth.partition_epoch, IDS, truth.isr
            )
        else:
            self.partition.resign(truth.leader, truth.leader_epoch, truth.partition_epoch, IDS)

    def bytes_upto(self, offset: int) -> bytes:
        found = b""
        at = 0
        while at < offset:
            result = self.log.read(at, 1 << 30, upto_offset=offset)
            if result.slice is None:
                break
            data = result.slice.read()
            result.slice.release()
            found += data
            position = 0
            while position < len(data):
                at = int.from_bytes(data[position : position + 8], "big") + 1
                position += 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        return found

    def answer(self, replica: Replica, now_ms: float) -> PartitionData:
        """What a leader says to a follower's fetch."""
        partition, log = self.partition, self.log
        offset, last_epoch = replica.log.log_end_offset, replica.log.latest_epoch
        try:
            if not partition.is_leader:
                raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
            assert replica.known is not None
            partition.check_leader_epoch(replica.known.leader_epoch)
            parted = None if last_epoch < 0 else divergence(log, offset, last_epoch)
            if parted is not None:
                return PartitionData(diverging_epoch=EpochEndOffset(epoch=parted[0], end_offset=parted[1]))
            if offset > log.log_end_offset:
                raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        except KafkaError as error:
            return PartitionData(error_code=error.code)
        partition.follower_fetched(replica.node_id, offset, 0, replica.broker_epoch, now_ms)
        data = PartitionData(high_watermark=log.high_watermark, log_start_offset=0)
        found = log.read(offset, 200, upto_offset=log.log_end_offset)
        if found.slice is not None:
            data.records = memoryview(found.slice.read())
            found.slice.release()
        return data


class ReplicationMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.scheduler = Scheduler(0)
        self.clock = VirtualClock(self.scheduler)
        self.proposals: list[tuple[Replica, IsrProposal]] = []
        self.replicas = [Replica(self, each) for each in IDS]
        self.fenced: set[int] = set()
        self.truth = Truth(0, 0, 0, IDS)
        self.committed = b""
        self.committed_end = 0
        self.written = 0
        for replica in self.replicas:
            replica.learn(self.truth)

    def may_join(self, node_id: int, broker_epoch: int) -> bool:
        replica = self.replicas[node_id]
        return node_id not in self.fenced and replica.up and replica.broker_epoch == broker_epoch

    # --- replicas

    @rule(node_id=ids)
    def append(self, node_id: int) -> None:
        """Also by one that only believes itself the leader."""
        replica = self.replicas[node_id]
        if replica.up and replica.partition.is_leader:
            self.written += 1
            value = b"%d by %d" % (self.written, node_id)
            replica.partition.append(encode_batch([Record(0, NOW, b"k", value)]), NOW, acks=1)

    @rule(node_id=ids, is_lost=st.booleans(), times=st.integers(1, 3))
    def fetch(self, node_id: int, is_lost: bool, times: int) -> None:
        replica = self.replicas[node_id]
        for _ in range(times):
            if not replica.up or replica.known is None or replica.partition.is_leader:
                return
            leader = self.replicas[replica.known.leader] if replica.known.leader >= 0 else None
            if leader is None or not leader.up:
                return
            asked_offset = replica.log.log_end_offset
            data = leader.answer(replica, self.clock.monotonic_ms())
            self._note_commits()
            if is_lost:
                return
            action = decide(replica.log, asked_offset, data)
            if isinstance(action, Copy):
                replica.partition.copy(action.records, action.high_watermark, action.log_start_offset, NOW)
            elif isinstance(action, Cut):
                replica.log.truncate_to(action.offset)
                replica.high_watermark_seen = min(replica.high_watermark_seen, replica.log.high_watermark)
            else:
                assert not isinstance(action, Restart), action

    @rule(node_id=ids)
    def learn(self, node_id: int) -> None:
        replica = self.replicas[node_id]
        if replica.up and (
            replica.known is None or self.truth.partition_epoch > replica.known.partition_epoch
        ):
            replica.learn(self.truth)

    @rule(absent=st.sampled_from((None, *IDS)), count=st.integers(0, 2))
    def life_goes_on(self, absent: int | None, count: int) -> None:
        """What happens most of the time: news arrives, somebody writes, the others copy."""
        present = [each for each in IDS if each != absent]
        for node_id in present:
            self.learn(node_id)
        for _ in range(count):
            for node_id in present:
                self.append(node_id)
        for node_id in present:
            self.fetch(node_id, False, 3)
        for _ in range(len(self.proposals)):
            self.answer_proposal(False)
        for node_id in present:
            self.fetch(node_id, False, 1)

    @rule()
    def all_come_back(self) -> None:
        for node_id in IDS:
            self.restart(node_id)

    @rule(node_id=ids)
    def kill(self, node_id: int) -> None:
        """kill -9: what was written is in the page cache."""
        replica = self.replicas[node_id]
        if replica.up:
            replica.up = False
            replica.disk.crash()
            replica.disk = replica.disk.restart(self.scheduler.random, power_loss=False)

    @rule(node_id=ids)
    def lose_power(self, node_id: int) -> None:
        """What was not synced is gone, so the controller cannot count on it: unless it is the last one."""
        replica = self.replicas[node_id]
        others = [each for each in self.truth.isr if each != node_id and self.replicas[each].up]
        if replica.up and others:
            replica.up = False
            replica.disk.crash()
            replica.disk = replica.disk.restart(self.scheduler.random, power_loss=True)
            replica.high_watermark_seen = 0
            self._fence(node_id)

    @rule(node_id=ids)
    def restart(self, node_id: int) -> None:
        replica = self.replicas[node_id]
        if not replica.up:
            replica.start(clean=False)
            replica.high_watermark_seen = 0
            self.fenced.discard(node_id)
            if self.truth.leader < 0 and node_id in self.truth.isr:
                self._decide(leader=node_id)

    @rule()
    def time_passes(self) -> None:
        self.scheduler.run_for(LAG_MAX_MS / 2 + 100)
        for replica in self.replicas:
            if replica.up:
                replica.shared.check_lag()

    # --- the controller

    @rule(node_id=ids)
    def fence(self, node_id: int) -> None:
        if not self.replicas[node_id].up:
            self._fence(node_id)

    def _fence(self, node_id: int) -> None:
        self.fenced.add(node_id)
        isr = tuple(each for each in self.truth.isr if each != node_id) or self.truth.isr
        leader = self.truth.leader
        if leader == node_id:
            alive = [each for each in isr if self.replicas[each].up and each not in self.fenced]
            leader = alive[0] if alive else -1
        self._decide(leader=leader, isr=isr)

    @rule(choice=st.integers(0, 2))
    def elect(self, choice: int) -> None:
        alive = [each for each in self.truth.isr if self.replicas[each].up and each not in self.fenced]
        if alive:
            self._decide(leader=alive[choice % len(alive)])

    @rule(choice=st.integers(0, 1), count=st.integers(0, 1))
    def leadership_comes_back_unseen(self, choice: int, count: int) -> None:
        """Another one leads for a while and the rest follow it, perhaps cutting their logs; whoever led
        before hears only that it leads again. What it knew of its followers is then of another epoch.
        """
        leader = self.truth.leader
        alive = [each for each in self.truth.isr if self.replicas[each].up and each not in self.fenced]
        others = [each for each in alive if each != leader]
        if leader not in alive or not others:
            return
        between = others[choice % len(others)]
        self._decide(leader=between)
        for node_id in others:
            self.learn(node_id)
        for _ in range(count):
            self.append(between)
        for node_id in others:
            self.fetch(node_id, False, 3)
        self._decide(leader=leader)

    def _decide(self, *, leader: int | None = None, isr: tuple[int, ...] | None = None) -> None:
        truth = self.truth
        new_leader = truth.leader if leader is None else leader
        self.truth = Truth(
            new_leader,
            truth.leader_epoch + (new_leader != truth.leader),
            truth.partition_epoch + 1,
            truth.isr if isr is None else isr,
        )

    @precondition(lambda self: self.proposals)
    @rule(is_lost=st.booleans())
    def answer_proposal(self, is_lost: bool) -> None:
        if not self.proposals:
            return
        replica, proposal = self.proposals.pop(0)
        truth = self.truth
        is_current = (proposal.leader_epoch, proposal.partition_epoch, replica.node_id) == (
            truth.leader_epoch,
            truth.partition_epoch,
            truth.leader,
        )
        is_refused = any(each in self.fenced for each in proposal.isr)
        if is_current and not is_refused:
            self._decide(isr=proposal.isr)
        if not replica.up or replica.partition.proposal is not proposal:
            return
        if is_lost:
            self.proposals.append((replica, proposal))
        elif is_current and is_refused:
            replica.partition.isr_rejected(proposal)
        elif is_current:
            replica.partition.isr_accepted(proposal, proposal.isr, self.truth.partition_epoch, 0)

    # --- what must hold

    def _note_commits(self) -> None:
        for replica in self.replicas:
            high_watermark = replica.log.high_watermark
            if replica.up and replica.partition.is_leader and high_watermark > self.committed_end:
                data = replica.bytes_upto(high_watermark)
                assert data.startswith(self.committed), "two leaders have committed other records"
                self.committed, self.committed_end = data, high_watermark

    @invariant()
    def what_was_committed_stays(self) -> None:
        self._note_commits()
        for replica in self.replicas:
            if not replica.up:
                continue
            log = replica.log
            high_watermark = log.high_watermark
            assert log.log_start_offset <= high_watermark <= log.log_end_offset
            assert high_watermark >= replica.high_watermark_seen, "a high watermark went back"
            replica.high_watermark_seen = high_watermark
            assert self.committed.startswith(replica.bytes_upto(high_watermark)), "a copy differs"
        for node_id in self.truth.isr:
            replica = self.replicas[node_id]
            if replica.up:
                assert replica.bytes_upto(self.committed_end) == self.committed, (
                    f"an in-sync replica lacks what was committed: {replica.log}"
                )


def test_a_followers_position_that_is_kept_over_a_new_epoch_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The planted bug: the leader goes on with what a follower had before it cut its log for somebody else,
    and calls committed what that one has no more.
    """
    begin_epoch = Follower.begin_epoch

    def keeps(self: Follower, now_ms: float, *, in_isr: bool) -> None:
        before = self.log_end_offset
        begin_epoch(self, now_ms, in_isr=in_isr)
        self.log_end_offset = before

    monkeypatch.setattr(Follower, "begin_epoch", keeps)
    with pytest.raises(AssertionError, match=r"lacks what was committed|have committed other|a copy differs"):
        run_state_machine_as_test(
            ReplicationMachine,
            settings=settings(
                max_examples=400,
                stateful_step_count=60,
                deadline=None,
                derandomize=True,
                database=None,
                phases=(Phase.generate,),
            ),
        )


TestReplication = ReplicationMachine.TestCase
TestReplication.settings = settings(max_examples=40, stateful_step_count=60, deadline=None)
