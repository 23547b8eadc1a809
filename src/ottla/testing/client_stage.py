"""This package's own clients on a stage: who there is, what happens to them, and how their story ends.

The cast: idempotent and transactional producers, consumers by assignment and in groups of both protocols, and
pipelines that do both. A run (`client_run.py` with one broker, `cluster_run.py` with several) says what
happens to the brokers meanwhile. In the end everything that was called has to return, everything written has
to be read by every group, every client has to close and leave nothing behind; and the books (`client_books`)
are compared with the logs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ottla.client.admin_topics import NewTopic
from ottla.client.errors import OttlaError, TopicAlreadyExists
from ottla.client.settings import AdminSettings
from ottla.groups.record import decode_record
from ottla.log.log import Log
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client_books import ClientBooks, GroupReading, Status, Stored, Truth, truth_of
from ottla.testing.client_consumers import AssignedReader, GroupMember, Pipeline, Reader
from ottla.testing.client_host import ClientFailures, SimSession
from ottla.testing.client_producers import PlainWriter, TransactionalWriter, Writer
from ottla.testing.ledger import Violation
from ottla.testing.stage import Stage
from ottla.wire.messages.consumer_offsets import OffsetCommitKey

SETTLE_MS_MAX: Final = 120_000.0
"""Virtual time in which everything has to have ended once the faults have stopped."""
PLAIN: Final = "orders"
SPLIT: Final = "clicks"
"""Takes small batches only: larger ones come back and are split."""
TRANSACTIONAL: Final = "payments"
TRANSFORMED: Final = "totals"
PIPELINE_GROUP: Final = "pipeline"


class ClientStage(Stage):
    def _begin_cast(self, steps: int) -> None:
        """`steps`: how many things happen to clients while they work."""
        self.steps = steps
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

    @abstractmethod
    def _log_of(self, tp: TopicPartition) -> Log:
        """Where the truth about a partition is."""

    @abstractmethod
    def _offset_logs(self) -> list[Log]:
        """The logs of the groups' coordinators."""

    # -- the operator --

    def _new_admin(self) -> SimSession:
        settings = AdminSettings(
            bootstrap_servers=self.network.bootstrap, client_id="admin", request_timeout_ms=1_500
        )
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

    def _create(self, topic: NewTopic) -> Steps[None]:
        try:
            results = yield from self._ask(lambda: self._admin.admin.create_topics([topic]), "create")
            results.all()
        except TopicAlreadyExists:
            self.report["created_by_a_lost_request"] += 1

    # -- the cast --

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
        group = rng.choice(list(self._makers)) if self._makers else None
        members = [] if group is None else self._members(group)
        if kind < 0.2:
            if group is not None and len(members) < 3:
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

    def _calm_the_cast(self) -> None:
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

    def _until_none(self, reason_of: Callable[[], str | None], within_ms: float = SETTLE_MS_MAX) -> None:
        end_ms = self.scheduler.now_ms + within_ms
        while (reason := reason_of()) is not None:
            if self.scheduler.now_ms > end_ms:
                raise Violation(f"not settled {within_ms / 1000:.0f} s after the last fault: {reason}")
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
        return self._untransformed(truth)

    def _untransformed(self, truth: Truth) -> str | None:
        if PIPELINE_GROUP not in self._makers:
            return None
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
        found: Truth = {}
        for tp in self._partitions(*topics):
            log = self._log_of(tp)
            known = self._known.get(tp)
            if known is None or known[0] is not log or known[1] != log.log_end_offset:
                known = self._known[tp] = (log, log.log_end_offset, truth_of(log))
            found[tp] = known[2]
        return found

    def _lost_commit(self) -> str | None:
        """A commit that was acknowledged and is not in the log of its group's coordinator. (Where that was
        compacted, older commits are rightly gone.)
        """
        kept: set[tuple[str, TopicPartition, int]] = set()
        for log in self._offset_logs():
            if len(log.segments) > 1:
                return None
            for stored in truth_of(log):
                record = None if stored.key is None else decode_record(stored.key, stored.value or None)
                if (
                    record is not None
                    and isinstance(record.key, OffsetCommitKey)
                    and record.value is not None
                ):
                    tp = TopicPartition(record.key.topic, record.key.partition)
                    kept.add((record.key.group, tp, record.value.offset))
        for name, group in self.books.groups.items():
            for tp, offset, _ in group.committed:
                if (name, tp, offset) not in kept:
                    return f"the commit of {tp}@{offset} by group {name} was acknowledged, and is lost"
                self.report["commits_found"] += 1
        return None

    def _check(self) -> None:
        truth = self._truth(*self.topics)
        self.books.check(truth)
        lost = self._lost_commit()
        if lost is not None:
            raise Violation(lost)
        missing = self._untransformed(truth)
        if missing is not None:
            raise Violation(missing)
        self.report["records_transformed"] += sum(len(truth[tp]) for tp in self._partitions(TRANSFORMED))
