"""Puts a consumer group through a seeded run of joins, leaves, kills and broker restarts, and checks it.

A `Scenario` says who may sit in the group and how often what happens. The seed decides every step (which
member, what happens to it, how long until the next step); how the processes meet in time is the machine's
business, so a seed replays a plan and not an interleaving. A producer writes at a steady rate meanwhile, each
record holding its own offset; an admin client samples the committed offsets. In the end everybody who is left
works until everything produced is committed, leaves cleanly, and `checker.py` judges what was told.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from confluent_kafka import Producer

from chaos.groups.checker import Life, Report, Sample, check
from ottla.model.errors import ErrorCode
from ottla.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestGroup
from support.group_members.ledger import Label
from support.group_members.process import MemberProcess
from support.raw_client import ConnectionEnded, RawClient
from support.waiting import wait_until

SETTLE_TIMEOUT_S = 90.0
TICK_S = 0.02


class Broker(Protocol):
    """What is restarted under the group; `support.broker_process.BrokerProcess` is one."""

    @property
    def bootstrap(self) -> str: ...

    def start(self) -> Any: ...

    def stop(self) -> Any: ...

    def kill(self) -> Any: ...


def broker_settings(session_ms: int, heartbeat_ms: int = 300) -> dict[str, str]:
    """Kafka's keys with which groups settle in seconds instead of minutes."""
    return {
        "group.initial.rebalance.delay.ms": "200",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.session.timeout.ms": str(session_ms),
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": str(heartbeat_ms),
        "group.consumer.migration.policy": "bidirectional",
        "offsets.topic.num.partitions": "4",
        "offsets.topic.replication.factor": "1",
    }


@dataclass(frozen=True)
class Seat:
    """A place in the group, taken by one process after the other."""

    kind: str
    protocol: str = "classic"
    static: bool = False


@dataclass(frozen=True)
class Scenario:
    name: str
    seats: tuple[Seat, ...]
    steps: int
    """How many things are drawn to happen to the group; halfway every seat is taken once."""
    pause_s: tuple[float, float] = (0.3, 1.2)
    """Bounds of the time between two of them."""
    weights: tuple[tuple[str, int], ...] = (
        ("join", 6),
        ("leave", 2),
        ("kill", 2),
        ("restart", 1),
        ("crash", 1),
        ("calm", 1),
    )
    first: int = 1
    """Seats taken from the start."""
    least: int = 1
    """Seats that stay taken."""
    assignors: tuple[str, ...] = ("range",)
    partitions: int = 20
    records_per_s: int = 1000
    session_ms: int = 4000
    work_ms: int = 20
    plan: tuple[tuple[str, int], ...] = ()
    """Steps to take instead of drawn ones: what happens, and to which seat."""


@dataclass
class Outcome:
    scenario: Scenario
    seed: int
    done: Counter[str] = field(default_factory=Counter)
    report: Report = field(default_factory=Report)
    produced: int = 0
    members: int = 0
    most_at_once: int = 0
    took_s: float = 0.0
    settled_in_s: float = 0.0
    failures: list[str] = field(default_factory=list)

    def summary(self) -> str:
        done, report = self.done, self.report
        return (
            f"{self.scenario.name}, seed {self.seed}: {self.took_s:.0f} s, {self.members} processes, up to "
            f"{self.most_at_once} members at once; {done['join']} joins, {done['leave']} clean leaves, "
            f"{done['kill']} kills -9; the broker restarted {done['restart']} times cleanly and "
            f"{done['crash']} times after kill -9; {report.assignments} assignments, "
            f"{report.tenures} tenures, {report.expelled} ended by expulsion, {report.lost} times lost; "
            f"{self.produced:,} records, {report.redelivered:,} redelivered; "
            f"{report.commits:,} commits confirmed, "
            f"{report.commits_unanswered_or_refused} refused or unanswered; {report.samples} samples; "
            f"settled in {self.settled_in_s:.1f} s"
        )

    def problems(self) -> list[str]:
        return self.failures + [f"{each.rule}: {each.text}" for each in self.report.violations]


class SteadyProducer:
    """Writes records at a fixed rate until told to stop; a record's value is its offset."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, records_per_s: int, seed: int) -> None:
        self.sent = [0] * partitions
        self.errors: list[str] = []
        self._topic = topic
        self._per_tick = records_per_s * TICK_S
        self._chance = random.Random(seed)
        self._stop = threading.Event()
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 5,
                "message.timeout.ms": 300_000,
                "reconnect.backoff.ms": 20,
                "reconnect.backoff.max.ms": 300,
                "log_level": 2,
            }
        )
        self._thread = threading.Thread(target=self._run, name="producer")
        self._thread.start()

    def _run(self) -> None:
        owed = 0.0
        while not self._stop.is_set():
            owed += self._per_tick
            while owed >= 1:
                owed -= 1
                partition = self._chance.randrange(len(self.sent))
                value = b"%d" % self.sent[partition]
                self._producer.produce(
                    self._topic, value=value, partition=partition, on_delivery=self._delivered
                )
                self.sent[partition] += 1
            self._producer.poll(0)
            self._stop.wait(TICK_S)

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.errors.append(str(error))
        elif message.value() != b"%d" % message.offset():
            self.errors.append(
                f"record {message.value()!r} of {message.partition()} was stored at {message.offset()}"
            )

    def finish(self) -> dict[Label, int]:
        """Stops, and returns how many records each partition holds, once all are acknowledged."""
        self._stop.set()
        self._thread.join()
        left = self._producer.flush(SETTLE_TIMEOUT_S)
        assert not left and not self.errors, f"{left} records unanswered, {self.errors[:3]}"
        return dict(enumerate(self.sent))

    def abandon(self) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.purge()


class Sampler:
    """Asks for the group's committed offsets, again and again, as an admin client does."""

    def __init__(self, bootstrap: str, group: str, topic: str, every_s: float = 0.25) -> None:
        self.samples: list[Sample] = []
        self.unanswered = 0
        self._port = port_of(bootstrap)
        self._topic, self._every_s = topic, every_s
        self._request = OffsetFetchRequest(
            groups=[OffsetFetchRequestGroup(group_id=group, topics=None)], require_stable=False
        )
        self._client: RawClient | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler")
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._take()
            self._stop.wait(self._every_s)

    def _take(self) -> None:
        asked_at_s = time.monotonic()
        try:
            if self._client is None:
                self._client = RawClient(self._port, timeout_s=5)
            (group,) = self._client.call(self._request, 8).groups
        except (OSError, ConnectionEnded):  # the broker is down
            self.unanswered += 1
            if self._client is not None:
                self._client.close()
                self._client = None
            return
        if group.error_code != ErrorCode.NONE:  # the coordinator is not there yet, or still loads
            self.unanswered += 1
            return
        offsets: dict[Label, int] = {
            each.partition_index: each.committed_offset
            for topic in group.topics
            if topic.name == self._topic
            for each in topic.partitions
            if each.error_code == ErrorCode.NONE and each.committed_offset >= 0
        }
        self.samples.append(Sample(asked_at_s, time.monotonic(), offsets))

    def finish(self) -> None:
        self._stop.set()
        self._thread.join()
        if self._client is not None:
            self._client.close()


def port_of(bootstrap: str) -> int:
    return int(bootstrap.rpartition(":")[2])


class Run:
    """One scenario under one seed."""

    def __init__(
        self,
        broker: Broker,
        scenario: Scenario,
        seed: int,
        folder: Path,
        *,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.broker, self.scenario, self.seed, self.folder = broker, scenario, seed, folder
        self.topic = self.group = f"{scenario.name}-{seed}"
        self.outcome = Outcome(scenario, seed)
        self._say = say
        self._chance = random.Random(seed)
        self._sitting: dict[int, MemberProcess] = {}
        self._members: list[MemberProcess] = []
        self._leaving: list[MemberProcess] = []

    def run(self) -> Outcome:
        scenario, began_s = self.scenario, time.monotonic()
        folder = self.folder
        folder.mkdir(parents=True, exist_ok=True)
        self._create_topic()
        producer = SteadyProducer(
            self.broker.bootstrap, self.topic, scenario.partitions, scenario.records_per_s, self.seed
        )
        sampler = Sampler(self.broker.bootstrap, self.group, self.topic)
        try:
            for seat in range(scenario.first):
                self._join(seat)
            for what, seat in self._plan():
                self._step(what, seat, sampler)
                self._look_for_the_fallen()
            self._take_free_seats_to(max(scenario.least, scenario.first))
            produced = producer.finish()
            settling_s = time.monotonic()
            self._settle(sampler, produced)
            self.outcome.settled_in_s = time.monotonic() - settling_s
            for seat in list(self._sitting):
                self._leave(seat)
            self._wait_for_leavers()
        except AssertionError as error:
            self.outcome.failures.append(str(error))
            produced = dict(enumerate(producer.sent))
        finally:
            sampler.finish()
            producer.abandon()
            for member in self._members:
                member.kill()
        lives = [Life(each.name, each.events(), each.killed_at_s) for each in self._members]
        self.outcome.report = check(lives, produced, sampler.samples, session_s=scenario.session_ms / 1000)
        self.outcome.produced = sum(produced.values())
        self.outcome.members = len(self._members)
        self.outcome.took_s = time.monotonic() - began_s
        return self.outcome

    # --- the plan -----------------------------------------------------------------------------------------

    def _plan(self) -> Any:
        """Yields what happens next and to which seat; whatever is impossible at that moment is not drawn."""
        if self.scenario.plan:
            yield from self.scenario.plan
            return
        names, weights = zip(*self.scenario.weights, strict=True)
        for step in range(self.scenario.steps):
            if step == self.scenario.steps // 2:
                yield "fill", 0
                yield "calm", 0
            while True:
                (what,) = self._chance.choices(names, weights)
                seat = self._chance.randrange(len(self.scenario.seats))
                taken = seat in self._sitting
                spare = len(self._sitting) > self.scenario.least
                asked = self.scenario.seats[seat]
                if what == "kill" and asked.static and asked.protocol == "consumer":
                    continue  # its name stays taken for the session: KIP-848 answers UNRELEASED_INSTANCE_ID
                possible = {"join": not taken, "leave": taken and spare, "kill": taken and spare}
                if possible.get(what, True):
                    break
            yield what, seat

    def _step(self, what: str, seat: int, sampler: Sampler) -> None:
        self._say(f"{what} {seat if what in ('join', 'leave', 'kill') else ''}".rstrip())
        if what == "join":
            self._join(seat)
        elif what == "fill":
            self._take_free_seats_to(len(self.scenario.seats))
        elif what == "leave":
            self._leave(seat)
        elif what == "kill":
            self._sitting.pop(seat).kill()
            self.outcome.done["kill"] += 1
        elif what == "restart":
            self.broker.stop()
            self.broker.start()
            self.outcome.done["restart"] += 1
        elif what == "crash":
            self.broker.kill()
            self.broker.start()
            self.outcome.done["crash"] += 1
        else:
            assert what == "calm"
            self._wait_for_calm(sampler)
            self.outcome.done["calm"] += 1
        # A real pause: the group has to be met at any moment of its rebalances, not only after them.
        time.sleep(self._chance.uniform(*self.scenario.pause_s))

    def _join(self, seat: int) -> None:
        asked = self.scenario.seats[seat]
        number = len(self._members)
        member = MemberProcess(
            asked.kind,
            self.folder,
            name=f"m{number}-seat{seat}-{asked.kind}-{asked.protocol}",
            bootstrap=self.broker.bootstrap,
            group=self.group,
            topic=self.topic,
            protocol=asked.protocol,
            assignors=self.scenario.assignors,
            instance_id=f"seat-{seat}" if asked.static else None,
            session_ms=self.scenario.session_ms,
            work_ms=self.scenario.work_ms,
        )
        self._sitting[seat] = member
        self._members.append(member)
        self.outcome.done["join"] += 1
        self.outcome.most_at_once = max(self.outcome.most_at_once, len(self._sitting))

    def _leave(self, seat: int) -> None:
        member = self._sitting.pop(seat)
        # A member that has not come up yet would die of the signal instead of obeying it.
        member.wait_for(lambda events: events, "its first word", timeout_s=60)
        member.terminate()
        self._leaving.append(member)
        self.outcome.done["leave"] += 1
        if self.scenario.seats[seat].static:
            self._wait_for_leavers()  # the next one in this seat has its name

    def _take_free_seats_to(self, count: int) -> None:
        for seat in range(len(self.scenario.seats)):
            if len(self._sitting) < count and seat not in self._sitting:
                self._join(seat)

    # --- waiting ------------------------------------------------------------------------------------------

    def _create_topic(self) -> None:
        with RawClient(port_of(self.broker.bootstrap)) as client:
            client.create_topic(self.topic, self.scenario.partitions)

    def _owned(self) -> Counter[Label]:
        return Counter(label for member in self._sitting.values() for label in member.owned())

    def _wait_for_calm(self, sampler: Sampler) -> None:
        """Until every partition has an owner and its committed offset moves."""
        partitions = range(self.scenario.partitions)
        before = sampler.samples[-1].offsets if sampler.samples else {}

        def calm() -> bool:
            now = sampler.samples[-1].offsets if sampler.samples else {}
            owned = self._owned()
            return all(owned[p] == 1 and now.get(p, 0) > before.get(p, 0) for p in partitions)

        wait_until(calm, "every partition has an owner and moves", timeout_s=SETTLE_TIMEOUT_S, pause_s=0.2)

    def _settle(self, sampler: Sampler, produced: dict[Label, int]) -> None:
        def settled() -> bool:
            self._look_for_the_fallen()
            return bool(sampler.samples) and all(
                sampler.samples[-1].offsets.get(partition, 0) == count
                for partition, count in produced.items()
            )

        try:
            wait_until(settled, "everything is committed", timeout_s=SETTLE_TIMEOUT_S, pause_s=0.1)
        except AssertionError as error:
            behind = {
                partition: (sampler.samples[-1].offsets.get(partition, 0) if sampler.samples else None, count)
                for partition, count in produced.items()
                if not sampler.samples or sampler.samples[-1].offsets.get(partition, 0) != count
            }
            held = {member.name: sorted(map(str, member.owned())) for member in self._sitting.values()}
            raise AssertionError(f"{error}; committed and produced: {behind}; held: {held}") from None

    def _look_for_the_fallen(self) -> None:
        for member in self._sitting.values():
            assert member.running, (
                f"{member.name} ended by itself with {member.exit_code}: "
                f"{member.events()[-3:]}\n{member.complaints()}"
            )

    def _wait_for_leavers(self) -> None:
        for member in self._leaving:
            code = member.wait(60)
            said = [event.kind for event in member.events()]
            assert code == 0 and "closed" in said, (
                f"{member.name} left with {code} after {said[-3:]}\n{member.complaints()}"
            )
        self._leaving.clear()
