"""One simulated story of consumer groups: members come, pause, die and return while the broker does too.

The whole broker runs on the virtual disk, clock and network. A few groups (classic, of the newer protocol, or
with members of both) read topics that are written, grown, created and deleted meanwhile; somebody commits
without being a member, somebody deletes offsets and groups. Requests and replies are lost, messages come
late, the broker is stopped, killed, crashes at a disk operation, loses its power, finds its disk full.

Then it all calms down, and within bounded time every group has to be stable, with one owner for each
partition, everything read and committed; and again after a last restart. The books (`group_books`) say
whether what clients saw fits together, the checker (`group_checker`) whether the coordinator's state does.

With power losses `log.flush.interval.messages` is 1, so that an acknowledged commit is durable; without it,
only `kill -9` is survived, as in Kafka on one node.
"""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import Any, Final

from ottla.model.types import TopicPartition
from ottla.testing.broker_lives import BrokerLives
from ottla.testing.broker_run import FREQUENT
from ottla.testing.client import SimProducer, TopicCreator
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import HOST, SimBroker
from ottla.testing.group_books import GroupBooks
from ottla.testing.group_cast import KINDS, GroupCast, Member
from ottla.testing.group_checker import GroupChecker
from ottla.testing.group_operator import GroupOperator
from ottla.testing.internal_errors import InternalErrors
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler

GROUP_PROPERTIES: Final = {
    "offsets.topic.replication.factor": "1",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1500",
    "group.consumer.session.timeout.ms": "2500",
    "group.consumer.min.heartbeat.interval.ms": "200",
    "group.consumer.heartbeat.interval.ms": "500",
    "offsets.retention.check.interval.ms": "5000",
    "group.consumer.migration.policy": "BIDIRECTIONAL",
}

COMPACTING: Final = {
    "log.roll.ms": "1500",
    "log.cleaner.backoff.ms": "400",
    "log.cleaner.min.cleanable.ratio": "0.05",
    "log.cleaner.dedupe.buffer.size": "2097152",
}
"""In every other run, so that what the coordinator loads was compacted, sometimes while it loads; in the
others crashes fall into fewer, and more interesting, operations of the coordinator."""

SETTLE_MS_MAX: Final = 180_000.0
"""Virtual time in which everybody has to be stable once the faults have stopped: some sessions, rebalances
and waits for members that never come."""

ACTIONS_MS: Final = 900.0
MEMBERS_MAX: Final = 4


class GroupRun(BrokerLives):
    def __init__(
        self, seed: int, *, steps: int = 25, crashes: int | None = None, full_disks: int | None = None
    ) -> None:
        """`steps`: how many things happen to members, topics and groups. `full_disks`: how often the disk is
        full for a while; the seed decides when it is left out.
        """
        self.seed = seed
        self.steps = steps
        self.full_disks = full_disks
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.01, 0.04)),
                break_before_reply=rng.choice((0.0, 0.01, 0.04)),
                break_after_reply=rng.choice((0.0, 0.02)),
                slow_rate=rng.choice((0.0, 0.03)),
            ),
        )
        power_losses = rng.random() < 0.6
        self.expiry = rng.random() < 0.2
        properties = {
            **FREQUENT,
            **GROUP_PROPERTIES,
            "offsets.topic.num.partitions": str(rng.randint(1, 3)),
            "group.initial.rebalance.delay.ms": str(rng.choice((0, 300, 1000))),
        }
        if seed % 2:
            properties.update(COMPACTING)
        if power_losses:
            properties["log.flush.interval.messages"] = "1"
        if self.expiry:
            properties["offsets.retention.minutes"] = "1"
        broker = SimBroker(scheduler, network, properties=properties)
        broker.clock.skew_ms = rng.choice((0.0, -1_800_000.0, 3_600_000.0))
        super().__init__(
            scheduler,
            network,
            broker,
            crashes=max(3, steps // 8) if crashes is None else crashes,
            power_losses=power_losses,
        )
        self.ledger = Ledger()
        self.books = GroupBooks(self.report, retention_ms=60_000.0 if self.expiry else inf)
        self.checker = GroupChecker(self.broker, self.books, self.report)
        self.casts: list[GroupCast] = []
        self.topics: dict[str, int] = {}
        self._seen_down = False
        self._producers: list[SimProducer] = []
        """Operators' requests under way."""
        self._topics_made = 0
        self._simple_offsets: dict[TopicPartition, int] = {}

    def run(self) -> Counter[str]:
        watch = InternalErrors()
        try:
            with watch:
                self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part groups --seed {self.seed}"
                f" --steps {self.steps}"
            ) from error
        finally:
            self._end()
        self._sum_up()
        return self.report

    # -- the story --

    def _run(self) -> None:
        rng = self.random
        self._start_broker()
        for name in ("orders", "clicks")[: rng.randint(1, 2)]:
            self._create_topic(name, rng.randint(1, 4))
        for number in range(rng.randint(1, 3)):
            cast = GroupCast(
                (self.network, self._clock, HOST, self.ledger, self.report),
                self.books,
                f"g{number}",
                rng.choice(KINDS),
            )
            self.casts.append(cast)
            self.report[f"groups_{cast.kind}"] += 1
            for _ in range(rng.randint(1, 3)):
                self._add_member(cast)
        self._plan_crash()
        for _ in range(int(rng.random() < 0.3) if self.full_disks is None else self.full_disks):
            self.scheduler.call_after(rng.random() * 10_000.0, self._fill_the_disk)
        for _ in range(self.steps):
            self._run_for(rng.random() * ACTIONS_MS)
            self._something_happens()
            if rng.random() < 0.3:
                self.checker.compare_with_log()
        self._calm_down()
        self._settle()
        self._check_offsets()
        # Once more through a restart: the last word is what the disk holds, and members go on from it.
        self._stop_cleanly(at_the_end=True)
        self.broker.next_disk(power_loss=True)
        self._start_broker()
        self._settle()
        self._check_offsets()
        if self.expiry:
            self._check_expiry()
        self.checker.compare_with_log()

    def _calm_down(self) -> None:
        self.network.faults.calm()
        self.crashes_left = 0
        self._calm = True
        self._make_room()
        self.broker.disk.cancel_crash()
        if self.broker.up and self._has_lost_partitions():
            self._stop_cleanly(at_the_end=True)
        if not self.broker.up:
            self._restart()
        for cast in self.casts:
            cast.prune()
            by_name: dict[str, Member] = {}
            for member in list(cast.members):
                if member.instance_id is not None:
                    other = by_name.setdefault(member.instance_id, member)
                    if other is not member:
                        # Two processes under one name: one of them would wait for ever.
                        (other if other.epoch < member.epoch else member).die()
                        by_name[member.instance_id] = other if other.epoch >= member.epoch else member
            cast.prune()
            if all(member.leaving for member in cast.members):
                self._add_member(cast)

    def _has_lost_partitions(self) -> bool:
        """A partition that was made while the disk was full has no log before the next start."""
        node = self.broker.node
        assert node is not None
        return bool(self.report["full_disks"]) and any(
            (topic.name, index) not in node.partitions
            for topic in node.image.topics.values()
            for index in topic.partitions
        )

    def _settle(self) -> None:
        self._wait(lambda: all(producer.done for producer in self._producers) and self._operations == 0)
        end_ms = self.scheduler.now_ms + SETTLE_MS_MAX
        reason: str | None = "nothing was looked at"
        while reason is not None:
            self._run_for(200.0)
            for cast in self.casts:
                cast.prune()
                if not cast.members:
                    self._add_member(cast)  # of two processes under one name, the other one has been fenced
            reason = self._unsettled()
            if reason is not None and self.scheduler.now_ms > end_ms:
                raise Violation(f"not settled {SETTLE_MS_MAX / 1000:.0f} s after the last fault: {reason}")
        self.report["settled"] += 1

    def _unsettled(self) -> str | None:
        """What is still missing; None when every group is stable and has read and committed everything."""
        node = self.broker.node
        if node is None or not self.broker.up:
            return "the broker is down"
        for cast in self.casts:
            cast.prune()
            host = node.groups.hosts.get(node.groups.partition_of(cast.name))
            group = None if host is None or host.loading else host.shard.state.groups.get(cast.name)
            if group is None:
                return f"{cast.name} is not there"
            count = len(group.members)  # type: ignore[attr-defined]
            if group.state_name != "Stable" or count != len(cast.members):
                return f"{cast.name} ({cast.kind}) is {group.state_name} with {count} members, not " + str(
                    [member.name for member in cast.members]
                )
            late = [member.name for member in cast.members if member.must_join]
            if late:
                return f"{cast.name} ({cast.kind}): {late} have not reached the newest epoch"
            expected = cast.expected(self.topics)
            owned = cast.owned()
            if sorted(owned) != sorted(expected):
                return f"{cast.name} ({cast.kind}): {sorted(owned)} are read, not {sorted(expected)}"
            for member in cast.members:
                for tp, position in member.positions.items():
                    if tp.topic in self.books.deleted_topics:
                        continue
                    end = node.partitions[tp].log.high_watermark
                    if position != end or max(member.committed.get(tp, -1), 0) != end:
                        return f"{cast.name} {tp}: {member.name} is at {position} of {end}"
        return None

    def _check_offsets(self) -> None:
        """Everything was delivered, and the committed offsets are the ends."""
        node = self.broker.node
        assert node is not None
        for cast in self.casts:
            expected = sorted(cast.expected(self.topics))
            committed = self._result(self._operator(cast.name).read_committed(expected))
            for tp in expected:
                end = node.partitions[tp].log.high_watermark
                if end and committed[tp] != end:
                    raise Violation(f"{cast.name} {tp}: {committed[tp]} is committed at the end, not {end}")
                missing = self.books.missing(cast.name, tp, end)
                if missing:
                    raise Violation(f"{cast.name} {tp}: nobody was ever given {missing[:10]} of {end}")
                self.report["partitions_checked"] += 1
        if tps := [tp for tp in self._simple_offsets if tp.topic not in self.books.deleted_topics]:
            self._result(self._operator("simple").read_committed(tps))
        listed = self._result(self._operator("g0").list_groups())
        for cast in self.casts:
            each = listed.get(cast.name)
            # A pattern may just now have been matched again: the state need not be Stable any more.
            if each is None or each.group_state in ("Empty", "Dead") or each.protocol_type != "consumer":
                raise Violation(f"{cast.name} is listed as {each}")

    def _check_expiry(self) -> None:
        """Offsets of a group without members are gone a while after their retention; others are kept."""
        before = self.report["expirations_seen"]
        tps = [tp for tp in self._simple_offsets if tp.topic not in self.books.deleted_topics]
        self._run_for(75_000.0)
        self._check_offsets()
        if tps:
            committed = self._result(self._operator("simple").read_committed(tps))
            if any(offset >= 0 for offset in committed.values()):
                raise Violation(f"offsets of a group without members outlived their retention: {committed}")
            self.report["expiries_checked"] += 1
        self.report["expirations"] += self.report["expirations_seen"] - before

    # -- what happens --

    def _something_happens(self) -> None:
        rng = self.random
        cast = rng.choice(self.casts)
        cast.prune()
        kind = rng.random()
        if kind < 0.28:
            if len(cast.members) < MEMBERS_MAX:
                self._add_member(cast)
        elif kind < 0.68:
            if cast.members:
                self._happens_to(cast, rng.choice(cast.members))
        elif kind < 0.78:
            self._topics_change()
        elif kind < 0.88:
            self._commit_alone()
        elif kind < 0.94:
            if partitions := self._partitions():
                self._operate(self._operator(cast.name).delete_offsets(partitions))
        else:
            name = "simple" if rng.random() < 0.5 else cast.name
            self._operate(self._operator(name).delete_group())

    def _happens_to(self, cast: GroupCast, member: Member) -> None:
        rng = self.random
        kind = rng.random()
        if kind < 0.25:
            self.report["deaths"] += 1
            member.die()
        elif kind < 0.4:
            self.report["deaths_unseen"] += 1
            member.vanish()
        elif kind < 0.6:
            member.leaving = True
        elif kind < 0.8:
            self.report["pauses"] += 1
            member.pause_ms = rng.choice((1_000.0, 4_000.0, 8_000.0))
        elif kind < 0.9 and member.instance_id is None:
            self.report["resubscriptions"] += 1
            names = list(self.topics)
            member.subscribe([topic for topic in names if rng.random() < 0.7] or names)
        elif (twin := cast.double(member)) is not None:
            self.report["doubles"] += 1
            self._go(twin.run())

    def _topics_change(self) -> None:
        rng = self.random
        kind = rng.random()
        kept = sorted(self.topics)
        if kind < 0.4 and len(kept) < 4:
            self._topics_made += 1
            self._operate(self._new_topic(f"late-{self._topics_made}", rng.randint(1, 2)))
        elif kind < 0.75:
            topic = rng.choice(kept)
            if self.topics[topic] < 6:
                self._operate(self._grow(topic))
        else:
            finished = [topic for topic in kept if topic.startswith("late")]
            if finished:
                topic = rng.choice(finished)
                del self.topics[topic]
                for producer in self._producers:
                    if producer.name.startswith(topic):
                        producer.done = True  # nobody waits for it
                self._operate(self._operator("g0").delete_topic(topic))

    def _new_topic(self, name: str, count: int) -> Any:
        creator = TopicCreator(*self._client(f"creator-{name}"))
        yield from creator.run(name, count, {})
        self.report["topics_created"] += 1
        self.topics[name] = count
        # Nobody writes to it, since it may be deleted again.
        for cast in self.casts:
            for member in cast.members:
                if member.topics and member.instance_id is None and self.random.random() < 0.5:
                    member.subscribe([*member.topics, name])

    def _grow(self, topic: str) -> Any:
        count = self.topics[topic] + 1
        yield from self._operator("g0").grow(topic, count)
        if topic in self.topics and self.topics[topic] < count:
            self.topics[topic] = count
            if not topic.startswith("late"):
                self._produce(TopicPartition(topic, count - 1), self.random.randint(1, 6))

    def _commit_alone(self) -> None:
        tps = self._partitions()
        if tps:
            tp = self.random.choice(tps)
            self._simple_offsets[tp] = self._simple_offsets.get(tp, 0) + 1
            self._operate(self._operator("simple").commit_alone({tp: self.random.randrange(1000)}))

    def _partitions(self) -> list[TopicPartition]:
        return [
            TopicPartition(topic, index) for topic, count in self.topics.items() for index in range(count)
        ]

    # -- the cast --

    def _client(self, name: str) -> tuple[SimNetwork, VirtualClock, str, str, Ledger, Counter[str]]:
        return self.network, self._clock, HOST, name, self.ledger, self.report

    def _operator(self, group: str) -> GroupOperator:
        return GroupOperator(*self._client(f"operator of {group}"), self.books, group)

    def _add_member(self, cast: GroupCast) -> None:
        self._go(cast.add(sorted(self.topics)).run())

    def _create_topic(self, name: str, count: int) -> None:
        self._result(TopicCreator(*self._client(f"creator-{name}")).run(name, count, {}))
        self.topics[name] = count
        for index in range(count):
            self._produce(TopicPartition(name, index), self.random.randint(1, 12))

    def _produce(self, tp: TopicPartition, batches: int) -> None:
        producer = SimProducer(*self._client(f"{tp}"))
        self._producers.append(producer)
        self._go(producer.run(tp, batches, version=12, pause_ms=2_000.0))

    # -- crashes --

    def _plan_crash(self) -> None:
        if self.crashes_left <= 0:
            return
        self.crashes_left -= 1
        rng = self.random
        kind = rng.random()
        if kind < 0.5:
            when = rng.choice(("before", "torn", "after"))
            self.broker.disk.crash_at(self.broker.disk.operations + rng.randrange(200), when)  # type: ignore[arg-type]
        elif kind < 0.8:
            self.scheduler.call_after(rng.random() * 6_000.0, self._kill)
        else:
            self.scheduler.call_after(rng.random() * 6_000.0, self._stop_cleanly)

    def _fill_the_disk(self) -> None:
        if self._calm:
            return
        self.report["full_disks"] += 1
        self.broker.disk.capacity_bytes = self.broker.disk.used_bytes() + self.random.randrange(3_000)
        self.scheduler.call_after(200.0 + self.random.random() * 2_500.0, self._make_room)

    def _kill(self) -> None:
        if self.broker.up and not self._calm:
            self._see_it_go_down()
            self.broker.crash()

    def _see_it_go_down(self, *, in_the_middle: bool = False) -> None:
        if not self._seen_down:
            self._seen_down = True
            self.checker.goes_down(in_the_middle=in_the_middle)

    def _stop_cleanly(self, *, at_the_end: bool = False) -> None:
        if self.broker.up and (at_the_end or not self._calm):
            self.checker.compare_with_log()
            self._see_it_go_down()
            if self.broker.stop():
                self.report["clean_shutdowns"] += 1

    def _event_over(self) -> None:
        self.checker.look(self.scheduler.now_ms)
        if not self.broker.up:
            self.report["restarts"] += 1

    def _went_down(self) -> None:
        self._see_it_go_down(in_the_middle=True)

    def _downtime_ms(self) -> float:
        """Sometimes it is away for longer than sessions last."""
        return self.random.choice((300.0, 300.0, 5_000.0)) * self.random.random()

    def _start_broker(self) -> None:
        self._seen_down = False
        super()._start_broker()
