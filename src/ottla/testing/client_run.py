"""One simulated story of this package's own clients: the real core, on virtual time, through everything.

Idempotent and transactional producers, consumers by assignment and in groups of both protocols, and pipelines
that do both work against a whole broker through a network that is late and breaks, while the broker is
stopped, killed, crashes at a disk operation or loses its power, and while clients are killed, dawdle and
come back. Nothing of the client is replaced but what a shell brings: sockets, clock, chance (`client_host`).

Then it calms down. Within bounded time everything that was called has to return, everything written has to be
read by every group, every client has to close and leave nothing behind; and the books (`client_books`) are
compared with the logs of the broker after a last restart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ottla.client.admin_cluster import FeatureUpgradeType
from ottla.client.admin_topics import NewTopic
from ottla.client.errors import OttlaError, TopicAlreadyExists
from ottla.client.settings import AdminSettings
from ottla.log.log import Log
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.broker_lives import BrokerLives
from ottla.testing.broker_run import FREQUENT
from ottla.testing.client_books import ClientBooks, GroupReading, Status, Stored, Truth, truth_of
from ottla.testing.client_consumers import AssignedReader, GroupMember, Pipeline, Reader
from ottla.testing.client_host import ClientFailures, SimSession
from ottla.testing.client_producers import PlainWriter, TransactionalWriter, Writer
from ottla.testing.cluster import SimBroker
from ottla.testing.group_run import GROUP_PROPERTIES
from ottla.testing.internal_errors import InternalErrors
from ottla.testing.ledger import Violation
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.txn_run import TXN_PROPERTIES

SETTLE_MS_MAX: Final = 120_000.0
"""Virtual time in which everything has to have ended once the faults have stopped."""

ACTIONS_MS: Final = 900.0
PLAIN: Final = "orders"
SPLIT: Final = "clicks"
"""Takes small batches only: larger ones come back and are split."""
TRANSACTIONAL: Final = "payments"
TRANSFORMED: Final = "totals"
PIPELINE_GROUP: Final = "pipeline"
TOPIC_BYTES_MAX: Final = 420


class ClientRun(BrokerLives):
    def __init__(
        self, seed: int, *, steps: int = 20, crashes: int | None = None, slow_rate: float | None = None
    ) -> None:
        """`steps`: how many things happen to clients while they work."""
        self.seed = seed
        self.steps = steps
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.01, 0.03)),
                break_before_reply=rng.choice((0.0, 0.01, 0.04)),
                break_after_reply=rng.choice((0.0, 0.02)),
                slow_rate=rng.choice((0.0, 0.03)) if slow_rate is None else slow_rate,
            ),
        )
        power_losses = rng.random() < 0.5
        properties = {
            **FREQUENT,
            **TXN_PROPERTIES,
            **GROUP_PROPERTIES,
            "offsets.topic.num.partitions": str(rng.randint(1, 2)),
            "transaction.state.log.num.partitions": str(rng.randint(1, 2)),
            "group.initial.rebalance.delay.ms": str(rng.choice((0, 300))),
            "log.roll.ms": str(rng.choice((1_500, 604_800_000))),
        }
        if power_losses:
            properties["log.flush.interval.messages"] = "1"
        broker = SimBroker(scheduler, network, properties=properties)
        super().__init__(
            scheduler,
            network,
            broker,
            crashes=max(2, steps // 6) if crashes is None else crashes,
            power_losses=power_losses,
        )
        self.books = ClientBooks(self.report)
        self.topics: dict[str, int] = {}
        self.writers: list[Writer] = []
        self.readers: list[Reader] = []
        self._makers: dict[str, Callable[[], Reader]] = {}
        """How a member of each group is made."""
        self._group_topics: dict[str, list[str]] = {}
        self._names = 0
        self._never_late = False
        self._known: dict[TopicPartition, tuple[Log, int, list[Stored]]] = {}
        """Logs as they were last read, up to which offset."""
        self._failures = ClientFailures()
        self._admin = self._new_admin()

    def run(self) -> Counter[str]:
        try:
            with InternalErrors(), self._failures:
                self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part clients --seed {self.seed}"
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
        self._prepare()
        for number in range(rng.randint(2, 3)):
            self._add_plain_writer(hasty=number == 1 and rng.random() < 0.7)
        for number in range(rng.randint(1, 2)):
            self._add_transactional_writer(f"id-{number}")
        for _ in range(rng.randint(1, 2)):
            self._add_assigned_reader()
        for group in self._plan_groups():
            for _ in range(rng.randint(1, 3)):
                self._add_member(group)
        self._plan_crash()
        for _ in range(self.steps):
            self._run_for(rng.random() * ACTIONS_MS)
            self._something_happens()
        self._calm_down()
        self._settle()
        self._check()
        self.broker.stop()
        self.report["clean_shutdowns"] += 1
        self.broker.next_disk(power_loss=True)
        self._start_broker()
        self._check()

    def _event_over(self) -> None:
        self._failures.check()
        if not self.broker.up:
            self.report["crashes"] += 1

    def _downtime_ms(self) -> float:
        rng = self.random
        return rng.random() * rng.choice((100.0, 500.0, 4_000.0))

    def _plan_crash(self) -> None:
        if self.crashes_left <= 0:
            return
        self.crashes_left -= 1
        rng = self.random
        kind = rng.random()
        if kind < 0.5:
            when = rng.choice(("before", "torn", "after"))
            self.broker.disk.crash_at(self.broker.disk.operations + rng.randrange(600), when)  # type: ignore[arg-type]
        elif kind < 0.85:
            self.scheduler.call_after(rng.random() * 6_000.0, self._kill)
        else:
            self.scheduler.call_after(rng.random() * 6_000.0, self._stop_cleanly)

    def _kill(self) -> None:
        if not self._calm:
            self.broker.crash()

    def _stop_cleanly(self) -> None:
        if self.broker.up and not self._calm and self.broker.stop():
            self.report["clean_shutdowns"] += 1

    # -- the cast --

    def _new_admin(self) -> SimSession:
        settings = AdminSettings(bootstrap_servers="broker:9092", client_id="admin", request_timeout_ms=1_500)
        return SimSession(self.network, settings, self.report)

    def _ask(self, steps_of: Callable[[], Any], name: str) -> Steps[Any]:
        """An operator who tries until it works."""
        while True:
            try:
                return (yield from self._admin.runtime.run(steps_of(), name))
            except OttlaError as error:
                if isinstance(error, TopicAlreadyExists) or not error.retriable:
                    raise
                self.report["admin_retries"] += 1
                yield Sleep(100.0)

    def _prepare(self) -> None:
        rng, admin = self.random, self._admin.admin
        self.topics = {
            PLAIN: rng.randint(1, 3),
            SPLIT: rng.randint(1, 2),
            TRANSACTIONAL: rng.randint(1, 2),
            TRANSFORMED: rng.randint(1, 2),
        }
        configs = {SPLIT: {"max.message.bytes": str(TOPIC_BYTES_MAX)}}
        for name, count in self.topics.items():
            topic = NewTopic(name, count, 1, configs=configs.get(name, {}))

            def create(topic: NewTopic = topic) -> Steps[None]:
                try:
                    results = yield from self._ask(lambda: admin.create_topics([topic]), "create")
                    results.all()
                except TopicAlreadyExists:
                    self.report["created_by_a_lost_request"] += 1

            self._result(create())
        if rng.random() < 0.4:
            self.report["runs_of_generation_1"] += 1
            # An EndTxn that arrives after its client gave it up ends the next transaction, and nobody can
            # tell (which KIP-890 is about): in the first generation, nothing is as late as that.
            self._never_late = True
            self.network.faults.slow_rate = 0.0
            self._result(
                self._ask(
                    lambda: admin.update_features(
                        {"transaction.version": 1}, upgrade_type=FeatureUpgradeType.SAFE_DOWNGRADE
                    ),
                    "features",
                )
            )

    def _partitions(self, *topics: str) -> list[TopicPartition]:
        return [TopicPartition(topic, index) for topic in topics for index in range(self.topics[topic])]

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind}{self._names}"

    def _add_plain_writer(self, *, hasty: bool) -> None:
        writer = PlainWriter(self.network, self.books, self.report, self._name("w"), hasty=hasty)
        self.writers.append(writer)
        self.report["hasty_writers" if hasty else "patient_writers"] += 1
        self._go(writer.run(self._partitions(PLAIN, SPLIT), 60 + self.random.randrange(8 * self.steps)))

    def _add_transactional_writer(self, transactional_id: str) -> None:
        for rival in self.writers:
            if isinstance(rival, TransactionalWriter) and rival.transactional_id == transactional_id:
                rival.has_rival = True
                self.report["rivals"] += not rival.done
        name = self._name("t")
        writer = TransactionalWriter(self.network, self.books, self.report, name, transactional_id)
        self.writers.append(writer)
        self._go(writer.run(self._partitions(TRANSACTIONAL, PLAIN), 3 + self.random.randrange(self.steps)))

    def _add_assigned_reader(self) -> None:
        rng = self.random
        partitions = self._partitions(*self.topics)
        chosen = rng.sample(partitions, rng.randint(1, len(partitions)))
        self._start(AssignedReader(self.network, self.books, self.report, self._name("r"), chosen))

    def _plan_groups(self) -> list[str]:
        rng = self.random
        for protocol in ("classic", "consumer"):
            group = GroupReading(f"group-{protocol}", committed_only=rng.random() < 0.5)
            topics = rng.choice(([PLAIN, SPLIT], [TRANSACTIONAL], [PLAIN, TRANSACTIONAL]))
            strategy = rng.choice((("range",), ("cooperative-sticky",), ("range", "cooperative-sticky")))
            given: dict[str, Any] = {
                "group_protocol": protocol,
                "partition_assignment_strategy": strategy,
            }
            self._plan_group(group, topics, given)
        group = GroupReading(PIPELINE_GROUP, committed_only=True)
        self._plan_group(group, [PLAIN], {"group_protocol": rng.choice(("classic", "consumer"))})
        return list(self._makers)

    def _plan_group(self, group: GroupReading, topics: list[str], given: dict[str, Any]) -> None:
        self.books.groups[group.name] = group
        self._group_topics[group.name] = topics

        def make() -> Reader:
            if group.name == PIPELINE_GROUP:
                return Pipeline(
                    *(self.network, self.books, self.report, self._name("p"), group, topics),
                    self._partitions(TRANSFORMED),
                    **given,
                )
            auto = self.random.random() < 0.6
            return GroupMember(
                *(self.network, self.books, self.report, self._name("m"), group, topics),
                enable_auto_commit=auto,
                **given,
            )

        self._makers[group.name] = make

    def _add_member(self, group: str) -> None:
        self.report["members"] += 1
        self._start(self._makers[group]())

    def _start(self, reader: Reader) -> None:
        self.readers.append(reader)
        self._go(reader.run())

    def _members(self, group: str) -> list[Reader]:
        return [
            each
            for each in self.readers
            if each.group is not None
            and each.group.name == group
            and not (each.done or each.stopping or each.runtime.dead)
        ]

    # -- what happens --

    def _something_happens(self) -> None:
        rng = self.random
        kind = rng.random()
        group = rng.choice(list(self._makers))
        members = self._members(group)
        if kind < 0.2:
            if len(members) < 3:
                self._add_member(group)
        elif kind < 0.35:
            if members:
                member = rng.choice(members)
                member.stopping = True
        elif kind < 0.5:
            if members:
                rng.choice(members).die(unseen=rng.random() < 0.5)
        elif kind < 0.7:
            alive = [each for each in self.writers if not each.over and isinstance(each, TransactionalWriter)]
            if alive and rng.random() < 0.5:
                rng.choice(alive).die(unseen=rng.random() < 0.5)
            self._add_transactional_writer(f"id-{rng.randrange(2)}")
        elif kind < 0.8:
            plain = [each for each in self.writers if not each.over and isinstance(each, PlainWriter)]
            if plain and rng.random() < 0.5:
                rng.choice(plain).die(unseen=rng.random() < 0.5)
            self._add_plain_writer(hasty=rng.random() < 0.3)
        elif kind < 0.9:
            self._slow_spell()
        elif len([each for each in self.readers if each.group is None and not each.done]) < 3:
            self._add_assigned_reader()

    def _slow_spell(self) -> None:
        """For a while hardly anything arrives in time."""
        if self._never_late:
            return
        faults = self.network.faults
        before = faults.slow_rate
        faults.slow_rate = 0.6
        self.report["slow_spells"] += 1

        def over() -> None:
            if not self._calm:
                faults.slow_rate = before

        self.scheduler.call_after(self.random.random() * 2_500.0, over)

    # -- the end --

    def _calm_down(self) -> None:
        self.network.faults.calm()
        self.crashes_left = 0
        self._calm = True
        self.broker.disk.cancel_crash()
        if not self.broker.up:
            self._restart()
        for reader in self.readers:
            reader.calm = True
        for writer in self.writers:
            writer.calm = True
        for group in self._makers:
            if not self._members(group):
                self._add_member(group)
                self.readers[-1].calm = True

    def _settle(self) -> None:
        self._until_none(self._busy_writers)
        self._until_none(self._open_transactions)
        self._until_none(self._unread)
        for reader in self.readers:
            reader.stopping = True
        self._until_none(self._busy_readers)
        self._result(self._committed_offsets())
        self._admin.close()
        self.report["settled"] += 1

    def _until_none(self, reason_of: Callable[[], str | None]) -> None:
        end_ms = self.scheduler.now_ms + SETTLE_MS_MAX
        while (reason := reason_of()) is not None:
            if self.scheduler.now_ms > end_ms:
                raise Violation(f"not settled {SETTLE_MS_MAX / 1000:.0f} s after the last fault: {reason}")
            self._run_for(100.0)

    def _busy_writers(self) -> str | None:
        busy = [each.name for each in self.writers if not each.done]
        return f"{busy} are not done" if busy else None

    def _busy_readers(self) -> str | None:
        busy = [each.name for each in self.readers if not each.done]
        return f"{busy} are not done" if busy else None

    def _open_transactions(self) -> str | None:
        for tp, records in self._truth(TRANSACTIONAL, PLAIN).items():
            for record in records:
                if record.status is Status.OPEN:
                    return f"{tp}@{record.offset} is in an open transaction"
        return None

    def _unread(self) -> str | None:
        truth = self._truth(*self.topics)
        for name, group in self.books.groups.items():
            missing = self.books.unread(group, truth, self._group_topics[name])
            if missing is not None:
                return missing
        for reader in self.readers:
            if isinstance(reader, AssignedReader) and not reader.done:
                ends = {
                    tp: max((r.offset for r in records if r.counts or not reader.committed_only), default=-1)
                    for tp, records in truth.items()
                }
                if not reader.ends_at(ends):
                    return f"{reader.name} is at {reader.reading.last} of {ends}"
        return self.books.untransformed(truth, PLAIN, TRANSFORMED)

    def _committed_offsets(self) -> Steps[None]:
        """What the groups have committed, as anybody may ask, is nothing that they have not read."""
        groups = self._admin.groups
        for name, group in self.books.groups.items():
            found = yield from self._ask(partial(groups.committed_offsets, name), "offsets")
            for tp, committed in found.items():
                group.commits(tp, committed.offset)
                self.report["offsets_at_the_end"] += 1

    def _truth(self, *topics: str) -> Truth:
        node = self.broker.node
        assert node is not None
        found: Truth = {}
        for tp in self._partitions(*topics):
            log = node.partitions[tp].log
            known = self._known.get(tp)
            if known is None or known[0] is not log or known[1] != log.log_end_offset:
                known = self._known[tp] = (log, log.log_end_offset, truth_of(log))
            found[tp] = known[2]
        return found

    def _check(self) -> None:
        truth = self._truth(*self.topics)
        self.books.check(truth)
        missing = self.books.untransformed(truth, PLAIN, TRANSFORMED)
        if missing is not None:
            raise Violation(missing)
        self.report["records_transformed"] += sum(len(truth[tp]) for tp in self._partitions(TRANSFORMED))
