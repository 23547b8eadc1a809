"""Replicas of a metadata quorum on virtual time: a network and disks that fail, and a checker that looks on.

One seed is one run: voters and observers, messages that are lost, delayed, doubled and overtaken, crashes
that lose what was not synced, cuts between groups of nodes, snapshots, and (where the voters are in the log)
voters added, removed and wiped. What must hold, whatever happens:

* at most one leader in an epoch;
* what one replica has applied at an offset, every replica applies there, and nothing of it is ever lost;
* a high watermark never goes back, and a log never ends below it;
* a leader commits by counting only records of its own epoch (the Raft paper, section 5.4.2);
* logs that have a record in common are the same up to it (the Raft paper, figure 3);
* a leader that a majority cannot reach does not stay one;
* when the faults end, one leader is found, everybody catches up, and new records are committed.

`BUGS` are mistakes that can be planted, to see that the checker finds them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.ports.peers import Address
from ottla.raft.election_state import ElectionState
from ottla.raft.elections import Elections
from ottla.raft.leader import Leader
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.messages import AddVoterRequest, RemoveVoterRequest
from ottla.raft.outbox import Send
from ottla.raft.quorum_state import RaftError
from ottla.raft.raft import Raft
from ottla.raft.roles import Unattached
from ottla.raft.settings import RaftSettings
from ottla.raft.voters import NO_DIRECTORY, Endpoint, ReplicaKey, VoterNode, VoterSet
from ottla.testing.raft_log import SimElectionStore, SimRaftLog, SnapshotState
from ottla.testing.scheduler import Event, Scheduler

SETTINGS: Final = RaftSettings(
    election_timeout_ms=150,
    fetch_timeout_ms=300,
    election_backoff_max_ms=150,
    request_timeout_ms=200,
    retry_backoff_ms=5,
    retry_backoff_max_ms=100,
    discovery_interval_ms=30,
    fetch_wait_max_ms=80,
    snapshot_bytes_max=200,
    add_voter_timeout_ms=500,
)
HEAL_MS: Final = 5_000.0
"""Within this, after the last fault, everything has to be well again."""


class Violation(AssertionError):
    """What must hold does not."""


@dataclass(slots=True)
class RaftReport:
    seed: int
    stats: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class RaftPlan:
    """What a run is made of. `dynamic`: the voters are in the log, and change."""

    voters: int = 3
    observers: int = 1
    dynamic: bool = False
    duration_ms: float = 3_000.0
    loss: float = 0.05
    doubling: float = 0.05
    delay_max_ms: float = 30.0
    disturbance_ms: float = 250.0
    """One fault about this often."""
    rivalry: bool = False
    """Mostly elections: voters that stand at the same time, and die after they have voted."""


class SimReplica:
    """One node: its disk from life to life, and its raft while it is up."""

    def __init__(self, run: RaftRun, node_id: int, voters: VoterSet, *, is_controller: bool) -> None:
        self.run = run
        self.node_id = node_id
        self.is_controller = is_controller
        self.directory_id = run.new_directory() if run.plan.dynamic else NO_DIRECTORY
        self.address = Address(f"n{node_id}", 9093)
        self.endpoints = (Endpoint("CONTROLLER", self.address.host, self.address.port),)
        self.static = VoterSet() if run.plan.dynamic else voters
        self.log = SimRaftLog()
        self.store = SimElectionStore()
        self.raft: Raft | None = None
        self.life = 0
        self.applied: list[Any] = []
        self.applied_offset = 0
        self.high_watermark = 0
        self._syncing = False
        self._timer: Event | None = None

    def start(self) -> None:
        run = self.run
        self.life += 1
        newest = self.log.latest_snapshot()
        self.applied, self.applied_offset = [], 0
        if newest is not None:
            self.applied = list(self.log.snapshot_state(newest).values)
            self.applied_offset = newest.offset
        self.high_watermark = self.applied_offset
        self._syncing = False
        self.raft = Raft(
            ReplicaKey(self.node_id, self.directory_id),
            self.log,
            self.store,
            random.Random(run.scheduler.random.getrandbits(32)),
            settings=SETTINGS,
            static_voters=self.static,
            endpoints=self.endpoints,
            bootstrap=run.bootstrap,
            can_vote=self.is_controller,
        )
        if run.bug is not None:
            BUGS[run.bug](self)
        self.event(lambda raft: raft.start(run.scheduler.now_ms))

    def event(self, action: Callable[[Raft], None]) -> None:
        """Lets something happen to it, and does what it then asks for."""
        raft = self.raft
        if raft is None:
            return
        try:
            action(raft)
            self._pump(raft)
        except RaftError as error:
            raise Violation(f"seed {self.run.seed}: node {self.node_id}: {error}") from error

    def _pump(self, raft: Raft) -> None:
        run = self.run
        ready = raft.take_ready()
        for send in ready.sends:
            run.deliver_request(self, send)
        for reply in ready.replies:
            reply.token(reply.response)
        if ready.installed is not None:
            state = self.log.snapshot_state(ready.installed)
            self.applied = list(state.values)
            self.applied_offset = ready.installed.offset
            run.stats["snapshots installed"] += 1
        if ready.wants_sync and not self._syncing:
            self._sync()
        run.check(self, raft)
        self._apply(raft)
        if self._timer is not None:
            self._timer.cancel()
        at_ms = raft.next_deadline_ms()
        if at_ms != float("inf"):
            self._timer = run.scheduler.call_at(
                at_ms, lambda: self.event(lambda raft: raft.tick(run.scheduler.now_ms))
            )

    def _sync(self) -> None:
        run, life = self.run, self.life
        self._syncing = True
        ticket = self.log.begin_sync()

        def done() -> None:
            if life != self.life or self.raft is None:
                return
            self._syncing = False
            self.log.end_sync(ticket)
            self.event(lambda raft: raft.synced(run.scheduler.now_ms))

        run.scheduler.call_after(run.scheduler.random.random() * 10, done)

    def _apply(self, raft: Raft) -> None:
        while self.applied_offset < raft.high_watermark:
            entry = self.log.entries[self.applied_offset - self.log.start_offset]
            self.run.applied(self, entry.offset, entry.epoch, entry.value)
            self.applied.append(entry.value)
            self.applied_offset += 1

    def crash(self) -> None:
        if self.raft is None:
            return
        run = self.run
        self.raft = None
        self.life += 1
        if self._timer is not None:
            self._timer.cancel()
        run.stats["crashes"] += 1
        run.stats["entries lost in crashes"] += self.log.lose_unsynced(run.scheduler.random)

    def wipe(self) -> None:
        """Another disk: another directory, nothing on it."""
        self.log = SimRaftLog()
        self.store = SimElectionStore()
        self.directory_id = self.run.new_directory()
        self.run.stats["disks wiped"] += 1

    def take_snapshot(self) -> None:
        raft = self.raft
        if raft is None or self.applied_offset <= self.log.start_offset:
            return
        offset = self.applied_offset
        entry = self.log.entries[offset - 1 - self.log.start_offset]
        voters, version = raft.state.history.at(offset)
        self.log.take_snapshot(
            OffsetAndEpoch(offset, entry.epoch),
            SnapshotState(tuple(self.applied), voters, version),
            keep_entries=self.run.scheduler.random.choice((0, 0, 5)),
        )
        self.run.stats["snapshots taken"] += 1


class RaftRun:
    def __init__(self, seed: int, plan: RaftPlan, bug: str | None = None) -> None:
        self.seed = seed
        self.plan = plan
        self.bug = bug
        self.scheduler = Scheduler(seed)
        self.stats: Counter[str] = Counter()
        self.leaders: dict[int, int] = {}
        self.committed: dict[int, tuple[int, Any]] = {}
        self.cut_groups: list[set[int]] = []
        self._isolated_since: dict[int, float] = {}
        self._value = 0
        self._directories = 0
        self._quiet = False
        ids = range(1, plan.voters + 1)
        self.bootstrap = tuple(Address(f"n{each}", 9093) for each in ids)
        voters = VoterSet(
            VoterNode(ReplicaKey(each), (Endpoint("CONTROLLER", f"n{each}", 9093),)) for each in ids
        )
        self.replicas = {
            each: SimReplica(self, each, voters, is_controller=each <= plan.voters or plan.dynamic)
            for each in range(1, plan.voters + plan.observers + 1)
        }
        if plan.dynamic:
            self._bootstrap_voters(list(ids))

    def new_directory(self) -> bytes:
        self._directories += 1
        return self._directories.to_bytes(16, "big")

    def _bootstrap_voters(self, ids: list[int]) -> None:
        nodes = [self.replicas[each] for each in ids]
        voters = VoterSet(
            VoterNode(ReplicaKey(node.node_id, node.directory_id), node.endpoints) for node in nodes
        )
        for node in nodes:
            snapshot = OffsetAndEpoch(0, 0)
            node.log.take_snapshot(snapshot, SnapshotState((), voters, 1), keep_entries=0)

    # --- the network

    def _reachable(self, one: int, other: int) -> bool:
        return all((one in group) == (other in group) for group in self.cut_groups)

    def _deliver(self, source: int, target: int, action: Callable[[], None]) -> None:
        chance = self.scheduler.random
        plan = self.plan
        copies = 1
        if not self._quiet:
            if chance.random() < plan.loss:
                self.stats["messages lost"] += 1
                return
            if chance.random() < plan.doubling:
                self.stats["messages doubled"] += 1
                copies = 2
        for _ in range(copies):
            delay_ms = chance.random() * chance.choice((1.0, 5.0, plan.delay_max_ms))

            def arrive() -> None:
                if self._reachable(source, target):
                    action()

            self.scheduler.call_after(delay_ms, arrive)

    def deliver_request(self, source: SimReplica, send: Send) -> None:
        target = self.replicas[int(send.address.host[1:])]
        source_life = source.life
        if not self._reachable(source.node_id, target.node_id) or target.raft is None:
            if self.scheduler.random.random() < 0.5:  # a refused connection; else it is only silent

                def refuse() -> None:
                    if source.life == source_life:
                        source.event(lambda raft: raft.failed(send.number, self.scheduler.now_ms))

                self.scheduler.call_after(self.scheduler.random.random() * 5, refuse)
            return

        def answer(response: Any) -> None:
            def arrive() -> None:
                if source.life == source_life:
                    source.event(lambda raft: raft.response(send.number, response, self.scheduler.now_ms))

            self._deliver(target.node_id, source.node_id, arrive)

        def ask() -> None:
            target.event(lambda raft: raft.handle(answer, send.request, self.scheduler.now_ms))

        self._deliver(source.node_id, target.node_id, ask)

    # --- the checker

    def fail(self, message: str) -> None:
        raise Violation(f"seed {self.seed}: {message}")

    def check(self, replica: SimReplica, raft: Raft) -> None:
        if raft.is_leader:
            first = self.leaders.setdefault(raft.epoch, replica.node_id)
            if first != replica.node_id:
                self.fail(f"epoch {raft.epoch} has the leaders {first} and {replica.node_id}")
        if raft.high_watermark < replica.high_watermark:
            self.fail(f"the high watermark of node {replica.node_id} went back")
        if raft.is_leader and raft.high_watermark > replica.high_watermark:
            epoch = replica.log.entries[raft.high_watermark - 1 - replica.log.start_offset].epoch
            if epoch != raft.epoch:
                self.fail(f"the leader of epoch {raft.epoch} has counted replicas of one of epoch {epoch}")
        replica.high_watermark = raft.high_watermark
        if replica.log.end_offset < raft.high_watermark:
            self.fail(f"the log of node {replica.node_id} ends below its high watermark")

    def applied(self, replica: SimReplica, offset: int, epoch: int, value: Any) -> None:
        known = self.committed.setdefault(offset, (epoch, value))
        if known != (epoch, value):
            self.fail(f"offset {offset} is {known}, and {(epoch, value)} on node {replica.node_id}")

    def check_logs(self) -> None:
        """Log matching, of all pairs."""
        nodes = list(self.replicas.values())
        for one in nodes:
            for other in nodes:
                if one.node_id >= other.node_id:
                    continue
                mine = {entry.offset: entry for entry in one.log.entries}
                agree = False
                for entry in reversed(other.log.entries):
                    twin = mine.get(entry.offset)
                    if twin is None:
                        continue
                    if agree and (twin.epoch, twin.value) != (entry.epoch, entry.value):
                        self.fail(
                            f"nodes {one.node_id} and {other.node_id} agree behind offset {entry.offset}, "
                            "but not there"
                        )
                    if (twin.epoch, twin.value) == (entry.epoch, entry.value):
                        agree = True

    def _check_isolated(self) -> None:
        """A leader without its majority resigns."""
        now_ms = self.scheduler.now_ms
        for replica in self.replicas.values():
            raft = replica.raft
            if raft is None or not raft.is_leader:
                self._isolated_since.pop(replica.node_id, None)
                continue
            voters = [voter.key.node_id for voter in raft.voters]
            there = [
                each
                for each in voters
                if self._reachable(each, replica.node_id) and self.replicas[each].raft is not None
            ]
            if len(there) >= raft.voters.majority:
                self._isolated_since.pop(replica.node_id, None)
                continue
            since = self._isolated_since.setdefault(replica.node_id, now_ms)
            if now_ms - since > SETTINGS.check_quorum_ms + 200:
                self.fail(f"node {replica.node_id} leads without a majority for {now_ms - since:.0f} ms")

    # --- what happens

    def run(self) -> RaftReport:
        for replica in self.replicas.values():
            replica.start()
        end_ms = self.plan.duration_ms
        chance = self.scheduler.random
        self._every(25.0, end_ms, self._propose)
        self._every(self.plan.disturbance_ms, end_ms, self._disturb)
        self._every(120.0, end_ms, self._snapshot)
        if self.plan.dynamic:
            self._every(350.0, end_ms, self._change_voters)
        self._every(50.0, end_ms, self._check_isolated)
        self._every(500.0, end_ms, self.check_logs)
        self.scheduler.run_for(end_ms + chance.random() * 100)
        self._heal()
        self.check_logs()
        self.stats["epochs with a leader"] = len(self.leaders)
        self.stats["committed"] = len(self.committed)
        self.stats["truncations"] += sum(each.log.truncations for each in self.replicas.values())
        return RaftReport(self.seed, self.stats)

    def _every(self, interval_ms: float, end_ms: float, action: Callable[[], None]) -> None:
        def again() -> None:
            if self.scheduler.now_ms < end_ms:
                action()
                self.scheduler.call_after(interval_ms * (0.5 + self.scheduler.random.random()), again)

        self.scheduler.call_after(interval_ms, again)

    def _leading(self) -> list[SimReplica]:
        return [each for each in self.replicas.values() if each.raft is not None and each.raft.is_leader]

    def _propose(self) -> None:
        for replica in self._leading():
            self._value += 1
            value = self._value
            replica.event(lambda raft, value=value: raft.append(value, self.scheduler.now_ms))  # type: ignore[misc]
            self.stats["proposed"] += 1

    def _disturb(self) -> None:
        chance = self.scheduler.random
        kind = chance.choice(
            ("crash", "crash leader", "cut", "cut leader", "heal", "resign", "stand", "stand and crash")
        )
        up = [each for each in self.replicas.values() if each.raft is not None]
        leading = self._leading()
        if kind.startswith("crash"):
            victims = leading if kind == "crash leader" else up
            if victims:
                victim = chance.choice(victims)
                victim.crash()
                if self.plan.dynamic and chance.random() < 0.3 and self._may_lose_a_disk(victim):
                    victim.wipe()
                self.scheduler.call_after(chance.random() * 600, self._starter(victim))
        elif kind.startswith("cut"):
            ids = sorted(self.replicas)
            group = set(chance.sample(ids, chance.randint(1, max(1, len(ids) // 2))))
            if kind == "cut leader" and leading:
                group = {leading[0].node_id}
            self.cut_groups = [group]
            self.stats["cuts"] += 1
            self.scheduler.call_after(200 + chance.random() * 900, self.cut_groups.clear)
        elif kind.startswith("stand"):
            self._stand(kind.endswith("crash"))
        elif kind == "heal":
            self.cut_groups.clear()
        elif leading:
            leading[0].event(lambda raft: raft.resign(self.scheduler.now_ms))
            self.stats["resignations"] += 1

    def _stand(self, crash: bool) -> None:
        """Voters that are all convinced that the leader is gone: they stand at once, in the same epoch. Some
        voter may vote, die, and be asked again.
        """
        now_ms = self.scheduler.now_ms
        chance = self.scheduler.random
        standing = [
            each
            for each in self.replicas.values()
            if each.raft is not None and each.raft.state.is_voter and not each.raft.is_leader
        ]
        for replica in chance.sample(standing, min(2, len(standing))):
            replica.event(lambda raft: _candidate(raft, now_ms))
            self.stats["elections forced"] += 1
        rest = [each for each in standing if each.raft is not None and not each.raft.is_leader]
        if crash and rest:
            victim = chance.choice(rest)

            def die() -> None:
                victim.crash()
                self._starter(victim)()

            self.scheduler.call_after(chance.random() * 40, die)

    def _may_lose_a_disk(self, victim: SimReplica) -> bool:
        """No quorum survives the loss of its majority: one voter's disk at a time."""
        for replica in self._leading():
            raft = replica.raft
            assert raft is not None
            stale = [
                voter
                for voter in raft.voters
                if self.replicas[voter.key.node_id].directory_id != voter.key.directory_id
            ]
            is_settled = raft.state.history.voters_offset < raft.high_watermark
            if len(raft.voters) >= 3 and not stale and is_settled and replica is not victim:
                return all(each.raft is not None for each in self.replicas.values() if each is not victim)
        return False

    def _starter(self, replica: SimReplica) -> Callable[[], None]:
        def start() -> None:
            if replica.raft is None:
                replica.start()

        return start

    def _snapshot(self) -> None:
        self.scheduler.random.choice(list(self.replicas.values())).take_snapshot()

    def _change_voters(self) -> None:
        chance = self.scheduler.random
        leading = self._leading()
        if not leading:
            return
        leader = chance.choice(leading)
        assert leader.raft is not None
        voters = leader.raft.voters

        def answered(response: Any) -> None:
            name = "ok" if response.error == ErrorCode.NONE else ErrorCode(response.error).name
            self.stats[f"voter change: {name}"] += 1

        # A voter whose disk is gone is taken out by its old directory, and comes back as a new one.
        stale = [
            voter.key
            for voter in voters
            if self.replicas[voter.key.node_id].directory_id != voter.key.directory_id
        ]
        outside = [each for each in self.replicas.values() if each.node_id not in voters]
        if stale:
            request: Any = RemoveVoterRequest(chance.choice(stale))
        elif outside and (len(voters) < 3 or chance.random() < 0.6):
            node = chance.choice(outside)
            request = AddVoterRequest(ReplicaKey(node.node_id, node.directory_id), node.endpoints, 400)
        elif len(voters) > 1:
            request = RemoveVoterRequest(chance.choice([voter.key for voter in voters]))
        else:
            return
        leader.event(lambda raft: raft.handle(answered, request, self.scheduler.now_ms))

    def _heal(self) -> None:
        """No faults any more: everybody comes back, agrees, and goes on."""
        self._quiet = True
        self.cut_groups.clear()
        for replica in self.replicas.values():
            self._starter(replica)()
        newest = max(self.committed, default=-1)

        def is_well() -> bool:
            leading = self._leading()
            if len(leading) != 1 or leading[0].raft is None:
                return False
            epoch = leading[0].raft.epoch
            return all(
                each.raft is not None and each.raft.epoch == epoch and each.applied_offset > newest
                for each in self.replicas.values()
            )

        def epoch() -> int:
            return max(each.raft.epoch for each in self.replicas.values() if each.raft is not None)

        # An election may be under way that began with the last fault: what was proposed before it may go.
        while True:
            self._reach(is_well, "one leader whom all follow")
            began = epoch()
            self._propose()
            newest = max([newest + 1, *(each.log.end_offset - 1 for each in self._leading())])
            self._reach(lambda began=began: is_well() or epoch() > began, "a new record everywhere")  # type: ignore[misc]
            if epoch() == began:
                break
            newest = max(self.committed, default=-1)
        states = {tuple(each.applied[: newest + 1]) for each in self.replicas.values()}
        if len(states) != 1:
            self.fail("the replicas have applied different records")

    def _reach(self, condition: Callable[[], bool], what: str) -> None:
        end_ms = self.scheduler.now_ms + HEAL_MS
        while not condition():
            if self.scheduler.now_ms > end_ms or not self.scheduler.step():
                roles = {
                    each.node_id: (each.raft.state.role_name, each.raft.epoch, each.applied_offset)
                    for each in self.replicas.values()
                    if each.raft is not None
                }
                self.fail(f"no {what} within {HEAL_MS:.0f} ms: {roles}")


def _candidate(raft: Raft, now_ms: float) -> None:
    raft._in_transition(lambda: raft.state.to_candidate(now_ms))
    raft.tick(now_ms)


# --- mistakes to plant


def _vote_not_persisted(replica: SimReplica) -> None:
    class Forgetful(SimElectionStore):
        def write(self, state: ElectionState) -> None:
            pass

    assert replica.raft is not None
    replica.raft.state._store = Forgetful()


def _acknowledged_before_sync(replica: SimReplica) -> None:
    class Lying(SimRaftLog):
        @property
        def synced_offset(self) -> int:
            return self.end_offset

    replica.log.__class__ = Lying


def _old_epoch_committed(replica: SimReplica) -> None:
    assert replica.raft is not None
    service = replica.raft._service
    state = replica.raft.state

    def advance(now_ms: float) -> None:
        if isinstance(state.role, Leader):
            state.advance_high_watermark(state.role.majority_offset(state.voters, state.log.synced_offset))

    service.advance = advance  # type: ignore[method-assign]


def _truncated_too_far(replica: SimReplica) -> None:
    assert replica.raft is not None
    state = replica.raft.state

    def truncate(offset: int) -> None:
        at = max(state.log.start_offset, offset - 20)
        state.log.truncate(at)
        state.history.truncate_from_end(at)

    state.truncate = truncate  # type: ignore[method-assign]


def _voted_twice(replica: SimReplica) -> None:
    class Generous(Elections):
        def _would_grant(self, request: Any) -> bool:
            if isinstance(self._state.role, Unattached):
                self._state.role.voted = None
            return super()._would_grant(request)

    assert replica.raft is not None
    replica.raft._elections.__class__ = Generous


def _stale_leader_stays(replica: SimReplica) -> None:
    class Stubborn(Elections):
        def _drive_leader(self, role: Leader, now_ms: float) -> bool:
            role.quorum_deadline_ms = now_ms + 1e9
            return super()._drive_leader(role, now_ms)

    assert replica.raft is not None
    replica.raft._elections.__class__ = Stubborn


def _votes_for_short_logs(replica: SimReplica) -> None:
    class Careless(Elections):
        def _would_grant(self, request: Any) -> bool:
            state = self._state
            if isinstance(state.role, Leader):
                return False
            voted = state.role.voted
            return request.pre_vote or voted is None or voted.may_be(request.candidate)

    assert replica.raft is not None
    replica.raft._elections.__class__ = Careless


def _divergence_not_noticed(replica: SimReplica) -> None:
    class Trusting(SimRaftLog):
        def end_offset_for_epoch(self, epoch: int) -> OffsetAndEpoch:
            return OffsetAndEpoch(self.end_offset, epoch)

    replica.log.__class__ = Trusting


def _leads_its_epoch_again(replica: SimReplica) -> None:
    """After a restart, in the epoch that it led before it lost the end of its log."""
    raft = replica.raft
    assert raft is not None
    state = raft.state
    start = state.start

    def again(now_ms: float) -> None:
        start(now_ms)
        stored = replica.store.state
        if stored is not None and stored.leader_id == replica.node_id:
            state.role = Leader(state.own, state.log.end_offset - 1, now_ms, SETTINGS.check_quorum_ms)

    state.start = again  # type: ignore[method-assign]


BUGS: Final[dict[str, Callable[[SimReplica], None]]] = {
    "vote not persisted": _vote_not_persisted,
    "acknowledged before the sync": _acknowledged_before_sync,
    "high watermark from an old epoch": _old_epoch_committed,
    "truncated below the high watermark": _truncated_too_far,
    "two votes in an epoch": _voted_twice,
    "leader without a majority stays": _stale_leader_stays,
    "vote for a shorter log": _votes_for_short_logs,
    "divergence not noticed": _divergence_not_noticed,
    "epoch led twice": _leads_its_epoch_again,
}

PLANS: Final = (
    RaftPlan(voters=1, observers=1),
    RaftPlan(voters=3, observers=1),
    RaftPlan(voters=5, observers=0, duration_ms=2_500.0),
    RaftPlan(voters=3, observers=2, dynamic=True),
    RaftPlan(voters=3, observers=0, rivalry=True, disturbance_ms=100.0),
)
RIVALRY: Final = len(PLANS) - 1


def run_seed(seed: int, bug: str | None = None) -> RaftReport:
    """One run; its plan follows from the seed. Raises Violation."""
    return RaftRun(seed, PLANS[seed % len(PLANS)], bug).run()


def run_seeds(seeds: range) -> Counter[str]:
    """Many, as `run_seeds(range(10_000))`; what they exercised together."""
    total: Counter[str] = Counter()
    for seed in seeds:
        total += run_seed(seed).stats
    return total
