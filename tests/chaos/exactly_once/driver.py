"""Runs one scenario of exactly-once under one seed, and gathers what the checker judges.

The seed decides what is done in which order and to whom; how the processes meet in time is the machine's
business, so a seed replays a plan and not an interleaving. The clock of the plan is the number of records
that were processed (for loaders: loaded); each step waits for its share of them. Everything is done from one
thread, which looks after all processes: whoever was killed, or ended because its client library said that it
is over, is started again in its seat, as a supervisor would. In the end all work until the group stands
behind the last record, the application ends cleanly, and everything is read.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos.exactly_once.checker import Evidence, Life, Report, check
from chaos.exactly_once.children import CONFLUENT, Child
from chaos.exactly_once.follower import read_file
from chaos.exactly_once.ledger import FATAL_EXIT
from chaos.exactly_once.observer import (
    LogFacts,
    committed_offsets,
    ends_of,
    finalized_features,
    log_facts,
    read_topic,
)
from chaos.exactly_once.records import INPUT, OUTPUT, PARTITIONS, Seen
from chaos.exactly_once.scenarios import (
    FREEZE,
    KILL_APP,
    KILL_BROKER,
    KILL_FOLLOWER,
    KILL_LOADER,
    STOP_BROKER,
    TWIN,
    Scenario,
)
from chaos.exactly_once.systems import Broker, undelivered
from support.java_client import class_path
from support.raw_client import RawClient
from support.waiting import wait_until

TICK_S = 0.05
ENDING_S, ENDING_TICK_S = 1.0, 0.0005
SAY_EVERY_S = 10.0
STALLED_S = 120.0
END_S = 60.0
PREPARED_S = 180.0
FENCED_S = 20.0
"""How long the elder of two twins may go on without noticing."""
SEGMENT_BYTES = "1048576"  # small enough for a run's topics to have many segments
FENCED = frozenset(
    {
        "_FENCED",
        "PRODUCER_FENCED",
        "INVALID_PRODUCER_EPOCH",
        "FENCED_INSTANCE_ID",
        "INVALID_TXN_STATE",
    }
)
"""Errors by which a client may be ended: somebody has taken its place, or its transaction was aborted for its
timeout (Kafka answers INVALID_TXN_STATE to a commit that comes after that).
"""
LOADER_SHARES = (((0, 1), None), ((2, 3), "loader"))
"""Input partitions of each loader, and its transactional id."""


@dataclass
class Outcome:
    scenario: Scenario
    system: str
    seed: int
    report: Report = field(default_factory=Report)
    done: Counter[str] = field(default_factory=Counter)
    over: Counter[str] = field(default_factory=Counter)
    """Processes whose client library ended them, by the error's name."""
    loaders_transactions: Counter[str] = field(default_factory=Counter)
    features: dict[str, int] = field(default_factory=dict)
    facts: LogFacts = field(default_factory=LogFacts)
    processes: int = 0
    working_s: float = 0.0
    settled_in_s: float = 0.0
    checked_in_s: float = 0.0
    broker_down_s: float = 0.0
    failures: list[str] = field(default_factory=list)

    def problems(self) -> list[str]:
        return self.failures + [f"{each.rule}: {each.text}" for each in self.report.violations]

    def table(self) -> str:
        report, done, records = self.report, self.done, self.scenario.records
        kills = ", ".join(
            f"{role} {done[what]}"
            for role, what in (
                ("apps", KILL_APP),
                ("loaders", KILL_LOADER),
                ("followers", KILL_FOLLOWER),
                ("broker", KILL_BROKER),
            )
        )
        errors = report.aborted_for_an_error
        working_s = (self.working_s + self.settled_in_s) or 1.0  # of a run that failed before it began
        ended = report.committed + report.unknown_and_committed
        rows = [
            ("run", f"{self.scenario.name} on {self.system}, seed {self.seed}, {self.processes} processes"),
            ("records", f"{records:,} in, {report.output:,} out; read_uncommitted {report.uncommitted:,}"),
            ("committed", f"{report.committed:,} transactions"),
            (
                "aborted",
                f"{report.aborted_on_purpose:,} on purpose, {errors.total()} for an error{_listed(errors)}",
            ),
            (
                "unknown",
                f"{report.outcome_unknown} outcomes untold, {report.unknown_and_committed} of them committed",
            ),
            (
                "loader",
                ", ".join(f"{n:,} {what}" for what, n in sorted(self.loaders_transactions.items())) or "-",
            ),
            (
                "generations",
                f"transaction.version {self.features.get('transaction.version', 0)}; commit marks: "
                f"{self.facts.commits_of_old_generation:,} old, {self.facts.commits_of_kip_890:,} of "
                f"KIP-890; {self.facts.abort_marks:,} abort marks",
            ),
            ("kill -9", kills),
            (
                "besides",
                f"broker stopped cleanly {done[STOP_BROKER]}, apps frozen {done[FREEZE]}, twins {done[TWIN]}",
            ),
            ("fenced, over", f"{self.over.total()}{_listed(self.over)}"),
            (
                "time",
                f"{self.working_s:.0f} s under faults, settled in {self.settled_in_s:.1f} s, read and "
                f"checked in {self.checked_in_s:.1f} s; broker away {self.broker_down_s:.0f} s",
            ),
            ("rates", f"{records / working_s:,.0f} records/s, {ended / working_s:.1f} transactions/s"),
            ("broken", f"{len(self.problems())}"),
        ]
        return "\n".join(f"  {name:13} {text}" for name, text in rows)


def _listed(counts: Counter[str]) -> str:
    return f" ({', '.join(f'{name} {count}' for name, count in counts.most_common())})" if counts else ""


@dataclass
class Place:
    """Of a loader, an instance of the application, or a follower."""

    role: str
    kind: str
    number: int
    order: dict[str, Any]
    child: Child | None = None
    lives: int = 0
    start_at_s: float | None = 0.0
    thaw_at_s: float = 0.0
    done: bool = False

    @property
    def label(self) -> str:
        return f"{self.role} {self.number} ({self.kind})"


class Run:
    def __init__(
        self,
        broker: Broker,
        scenario: Scenario,
        seed: int,
        folder: Path,
        *,
        system: str = "ottla",
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.broker, self.scenario, self.folder = broker, scenario, folder
        self.outcome = Outcome(scenario, system, seed)
        self._say = say
        self._chance = random.Random(seed)
        self._children: list[Child] = []
        self._rivals: list[tuple[Child, float]] = []
        self._loaded: list[Seen] = []
        self._told_at_s, self._moved_at_s, self._moved = 0.0, time.monotonic(), (-1, -1)
        self._loaders: list[Place] = []
        self._apps: list[Place] = []
        self._followers: list[Place] = []

    def run(self) -> Outcome:
        """The broker is running."""
        outcome = self.outcome
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            self._prepare()
            began_s = time.monotonic()
            self._work()
            outcome.working_s = time.monotonic() - began_s
            self._settle()
            outcome.settled_in_s = time.monotonic() - began_s - outcome.working_s
            self._end()
            checking_s = time.monotonic()
            outcome.report = check(self._evidence())
            outcome.checked_in_s = time.monotonic() - checking_s
        except AssertionError as error:
            outcome.failures.append(str(error))
        finally:
            for child in self._children:
                child.kill()
        outcome.processes = len(self._children)
        self._count_loaders()
        return outcome

    # --- who takes part -----------------------------------------------------------------------------------

    def _prepare(self) -> None:
        scenario, port = self.scenario, self.broker.port
        with RawClient(port) as client:
            for topic in (INPUT, OUTPUT):
                client.create_topic(topic, PARTITIONS, segment_bytes=SEGMENT_BYTES)
        class_path()  # compiles, where that was not done yet: the run should not wait for it
        self.outcome.features = finalized_features(port)
        rate = scenario.records / scenario.load_s / len(LOADER_SHARES) if scenario.load_s else None
        for number, (partitions, transactional_id) in enumerate(LOADER_SHARES):
            order = {
                "partitions": partitions,
                "records": scenario.records,
                "rate": rate,
                "transactional_id": transactional_id,
            }
            self._loaders.append(Place("loader", CONFLUENT, number, order))
        for number, seat in enumerate(scenario.seats):
            order = {
                "transactional_id": f"transform-{number}",
                "instance_id": f"instance-{number}" if seat.static else None,
                "protocol": scenario.protocol,
                "assignor": scenario.assignor,
                "session_ms": scenario.session_ms,
                "heartbeat_ms": scenario.session_ms // 10,
                "records_max": scenario.records_max,
            }
            self._apps.append(Place("app", seat.kind, number, order))
        for number, kind in enumerate(scenario.followers):
            order = {"file": str(self.folder / f"follower-{number}.seen")}
            self._followers.append(Place("follower", kind, number, order))
        if scenario.load_s:
            last, ready = self._loaders, self._all_are_up
        else:
            last, ready = self._apps + self._followers, self._loading_is_over
        for place in last:
            place.start_at_s = None
        wait_until(ready, "everything is prepared", timeout_s=PREPARED_S, pause_s=TICK_S)
        for place in last:
            place.start_at_s = 0.0
        self._moved_at_s = time.monotonic()

    def _places(self) -> list[Place]:
        return self._loaders + self._apps + self._followers

    def _start(self, place: Place) -> None:
        place.lives += 1
        order = {
            **place.order,
            "name": f"{place.role}{place.number}-life{place.lives}",
            "bootstrap": self.broker.bootstrap,
            "timeout_ms": self.scenario.timeout_ms,
            "abort_share": self.scenario.abort_share,
            "seed": self._chance.randrange(1 << 30),
        }
        place.child = Child(place.role, place.kind, self.folder, order)
        place.start_at_s = None
        self._children.append(place.child)

    def _look_after(self) -> None:
        """Starts who is due to start, and takes note of who has ended."""
        now_s = time.monotonic()
        for place in self._places():
            child = place.child
            if child is not None and child.frozen and now_s >= place.thaw_at_s:
                child.thaw()
            if child is not None and not child.running and not place.done and place.start_at_s is None:
                self._note_end(child)
                if place.role == "loader" and child.told("done"):
                    place.done = True
                else:
                    place.start_at_s = now_s
            if place.start_at_s is not None and now_s >= place.start_at_s and self._may_start(place):
                self._start(place)
        for rival, since_s in self._rivals[:]:
            if not rival.running:
                self._rivals.remove((rival, since_s))
                self._note_end(rival)
            elif now_s - since_s > FENCED_S:
                rival.terminate()  # it had nothing to do, and does not know that it was fenced

    def _may_start(self, place: Place) -> bool:
        """A loader looks what is there: all that the one before it has sent must have arrived."""
        return place.role != "loader" or not place.lives or not undelivered(self.broker.port)

    def _note_end(self, child: Child) -> None:
        if child.killed or child.told("done") or (child.exit_code == 0 and child.told("closed")):
            return
        reason = child.last("fatal")
        assert child.exit_code == FATAL_EXIT and reason is not None, (
            f"{child.name} ended with {child.exit_code}: {child.events()[-3:]}\n{child.complaints()}"
        )
        name = str(reason).partition(":")[0]
        self.outcome.over[name] += 1
        self._say(f"{child.name} is over: {reason}")
        if name not in FENCED:
            self.outcome.failures.append(
                f"{child.name} was ended by an error that no fault explains: {reason}"
            )

    # --- what is done to them -----------------------------------------------------------------------------

    def _plan(self) -> list[tuple[float, str]]:
        """What is done, and after which share of the records."""
        steps = [what for what, count in self.scenario.steps for _ in range(count)]
        if self.scenario.shuffled:
            self._chance.shuffle(steps)
        return [((index + 1) / (len(steps) + 1), what) for index, what in enumerate(steps)]

    def _work(self) -> None:
        """Until everything is loaded and every step was taken."""
        plan = self._plan()
        # Loaders are met while they load, everybody else while the application works.
        queues = [
            ([step for step in plan if step[1] == KILL_LOADER], self._count_loaded),
            ([step for step in plan if step[1] != KILL_LOADER], self._count_committed),
        ]
        while any(steps for steps, _ in queues) or not self._loading_is_over():
            self._look_after()
            for steps, clock in queues:
                if steps and clock() >= steps[0][0] * self.scenario.records and self._take(steps[0][1]):
                    steps.pop(0)
            self._say_progress()
            time.sleep(TICK_S)

    def _take(self, what: str) -> bool:
        """Does it, unless nobody is there at the moment to whom it could be done."""
        if what in (KILL_BROKER, STOP_BROKER):
            self._restart_broker(what)
            return True
        places = {KILL_LOADER: self._loaders, KILL_FOLLOWER: self._followers}.get(what, self._apps)
        able = [place for place in places if self._is_at_work(place)]
        if not able:
            # Loaders that have finished cannot be killed any more.
            return bool(places) and all(place.done for place in places)
        place = self._chance.choice(able)
        child = place.child
        assert child is not None
        self._say(f"{what}: {place.label}, {self._so_far()}")
        if what == FREEZE:
            place.thaw_at_s = time.monotonic() + self._chance.uniform(*self.scenario.freeze_s)
            child.freeze()
        elif what == TWIN:
            self._rivals.append((child, time.monotonic()))
            self._start(place)
        else:
            if what == KILL_APP:
                self._wait_for_an_ending(place)
            child.kill()
            place.start_at_s = time.monotonic() + self._chance.uniform(*self.scenario.down_s)
        self.outcome.done[what] += 1
        return True

    def _is_at_work(self, place: Place) -> bool:
        child = place.child
        if place.done or child is None or not child.running or child.frozen:
            return False
        return child.told("ready") if place.role != "app" else child.told("committed")

    def _wait_for_an_ending(self, place: Place) -> None:
        """Half of the kills meet the milliseconds in which a transaction ends; chance alone seldom would."""
        if place.child is None or self._chance.random() < 0.5:
            return
        told, until_s = len(place.child.events()), time.monotonic() + ENDING_S
        while time.monotonic() < until_s:
            events = place.child.events()
            if len(events) > told and events[-1].kind == "ending":
                return
            told = len(events)
            time.sleep(ENDING_TICK_S)

    def _restart_broker(self, what: str) -> None:
        began_s = time.monotonic()
        if what == KILL_BROKER:
            at_work = [place for place in self._apps if self._is_at_work(place)]
            if at_work:
                self._wait_for_an_ending(self._chance.choice(at_work))
            self.broker.kill()
        else:
            code = self.broker.stop()
            assert code == 0, f"the broker stopped with {code}:\n{self.broker.log_since(0)[-3000:]}"
        self.broker.start()
        took_s = time.monotonic() - began_s
        self.outcome.broker_down_s += took_s
        self.outcome.done[what] += 1
        self._say(f"{what}, away {took_s:.1f} s, {self._so_far()}")

    # --- how far it is ------------------------------------------------------------------------------------

    def _count_loaded(self) -> int:
        return sum(
            max((each.last("loaded") or 0 for each in self._lives_of(place)), default=0)
            for place in self._loaders
        )

    def _so_far(self) -> str:
        return f"{self._count_loaded():,} loaded, {self._count_committed():,} committed"

    def _lives_of(self, place: Place) -> list[Child]:
        prefix = f"{place.role}{place.number}-life"
        return [child for child in self._children if child.name.startswith(prefix)]

    def _count_committed(self) -> int:
        """As far as the instances were told."""
        return sum(child.committed_records() for child in self._children if child.role == "app")

    def _loading_is_over(self) -> bool:
        self._look_after()
        self._say_progress()
        return all(place.done for place in self._loaders)

    def _say_progress(self) -> None:
        now_s = time.monotonic()
        moved = self._count_loaded(), self._count_committed()
        if moved != self._moved:
            self._moved, self._moved_at_s = moved, now_s
        if now_s - self._moved_at_s > STALLED_S:
            standing = {
                each.child.name: (each.child.events()[-2:], each.child.complaints()[-500:])
                for each in self._places()
                if each.child is not None
            }
            raise AssertionError(f"nothing moves for {STALLED_S} s at {self._so_far()}: {standing}")
        if now_s - self._told_at_s >= SAY_EVERY_S:
            self._told_at_s = now_s
            self._say(f"{self._so_far()}, {self._transactions_so_far()}")

    def _transactions_so_far(self) -> str:
        kinds = Counter(
            event.kind for child in self._children if child.role == "app" for event in child.events()
        )
        return f"{kinds['committed']:,} transactions committed, {kinds['aborted']:,} aborted"

    # --- the end ------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        """Until the group stands behind the last record of each partition."""
        self._loaded = read_topic(self.broker.bootstrap, INPUT, "read_committed")
        last = [-1] * PARTITIONS
        for record in self._loaded:
            last[record.partition] = max(last[record.partition], record.offset)

        def settled() -> bool:
            self._look_after()
            self._say_progress()
            committed = committed_offsets(self.broker.port)
            return all(committed.get(partition, 0) > offset for partition, offset in enumerate(last))

        try:
            wait_until(settled, "everything is processed", timeout_s=STALLED_S, pause_s=0.2)
        except AssertionError as error:
            stands = committed_offsets(self.broker.port)
            raise AssertionError(f"{error}; last records at {last}, the group at {stands}") from None

    def _end(self) -> None:
        """The instances end by themselves; then nobody writes any more, and the followers have to come to the
        end.
        """
        for place in self._apps:
            if place.child is not None:
                place.child.thaw()
        # One that has not come up yet would die of the signal instead of obeying it.
        wait_until(self._all_are_up, "every instance is up", timeout_s=END_S, pause_s=TICK_S)
        for child in [place.child for place in self._apps] + [rival for rival, _ in self._rivals]:
            assert child is not None
            child.terminate()
        wait_until(self._all_apps_have_ended, "every instance ends", timeout_s=END_S, pause_s=TICK_S)

    def _all_are_up(self) -> bool:
        self._look_after()
        return all(place.child and place.child.told("ready") for place in self._apps + self._followers)

    def _all_apps_have_ended(self) -> bool:
        for rival, since_s in self._rivals[:]:
            if not rival.running:
                self._rivals.remove((rival, since_s))
                self._note_end(rival)
        ended = [place.child for place in self._apps if place.child is not None and not place.child.running]
        for child in ended:
            assert child.exit_code == 0 and child.told("closed"), (
                f"{child.name} ended with {child.exit_code}: {child.events()[-3:]}\n{child.complaints()}"
            )
        return not self._rivals and len(ended) == len(self._apps)

    def _evidence(self) -> Evidence:
        bootstrap, port = self.broker.bootstrap, self.broker.port
        output = read_topic(bootstrap, OUTPUT, "read_committed")
        self._say(f"{len(output):,} records in the output, followers come to the end")
        files = {place.label: Path(place.order["file"]) for place in self._followers}
        until_s = time.monotonic() + END_S
        while time.monotonic() < until_s and any(
            not path.exists() or path.read_bytes().count(b"\n") < len(output) for path in files.values()
        ):
            self._look_after_followers()
            time.sleep(TICK_S)
        for place in self._followers:
            if place.child is not None:
                place.child.terminate()
        self.outcome.facts = log_facts(port, OUTPUT)
        return Evidence(
            records=self.scenario.records,
            loaded=self._loaded,
            output=output,
            uncommitted=read_topic(bootstrap, OUTPUT, "read_uncommitted"),
            followed={name: read_file(path) for name, path in files.items()},
            lives=[
                Life(child.name, child.order["transactional_id"], child.events())
                for child in self._children
                if child.role == "app"
            ],
            committed=committed_offsets(port),
            ends={**ends_of(port, INPUT), **ends_of(port, OUTPUT), **ends_of(port, "__consumer_offsets")},
        )

    def _look_after_followers(self) -> None:
        for place in self._followers:
            child = place.child
            if (
                child is None
                or (not child.running and place.start_at_s is None)
                or (place.start_at_s is not None and time.monotonic() >= place.start_at_s)
            ):
                self._start(place)

    def _count_loaders(self) -> None:
        for child in self._children:
            if child.role == "loader":
                for event in child.events():
                    if event.kind in ("committed", "aborted"):
                        self.outcome.loaders_transactions[event.kind] += 1
