"""Applications that read with the real consumer core: by assignment, in groups, and in pipelines.

A reader by assignment jumps about: it seeks, pauses, rewinds, asks for offsets, takes columns instead of
records, and in the end reads on to the end of everything. A member of a group polls, sometimes too late,
commits in every way there is, steps back at times, leaves or is killed. A pipeline is a member that writes
what it read to another topic, with its offsets in the producer's transaction.

What is given to each goes into the books; buffered bytes and the time that a close takes are looked at here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from random import Random
from typing import Any, Final

from ottla.client.admin_offsets import EARLIEST, LATEST
from ottla.client.consuming.core import ConsumerCore
from ottla.client.errors import (
    BrokerUnavailable,
    CommitFailed,
    OperationTimedOut,
    OttlaError,
    RequestTimedOut,
    ServerError,
    WokenUp,
)
from ottla.client.records import OffsetAndMetadata
from ottla.client.settings import ConsumerSettings
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.testing.client_books import ClientBooks, GroupReading, Reading, origin
from ottla.testing.client_host import Abandoned, SimSession
from ottla.testing.client_producers import CLOSE_SLACK_MS, TransactionalWriter
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork

ANSWER_BYTES_MAX: Final = 64_000
"""What an answer may be larger than it was asked to be: its frame, and a first batch that is given whole."""
CALL_MS: Final = 3_000.0
CLOSES_MS: Final = (0.0, 500.0, 5_000.0)
UNREACHABLE: Final = (BrokerUnavailable, RequestTimedOut)
"""What is raised as long as no broker was ever reached."""
REFUSED_COMMITS: Final = frozenset(
    {ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.STALE_MEMBER_EPOCH, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
)


def consumer_settings(rng: Random, name: str, **given: Any) -> ConsumerSettings:
    return ConsumerSettings(
        **{
            "client_id": name,
            "request_timeout_ms": rng.choice((1_200, 3_000)),
            "default_api_timeout_ms": 20_000,
            "retry_backoff_ms": rng.choice((5, 50, 100)),
            "retry_backoff_max_ms": rng.choice((100, 400)),
            "reconnect_backoff_ms": rng.choice((5, 50)),
            "reconnect_backoff_max_ms": 300,
            "connections_max_idle_ms": rng.choice((400, 540_000)),
            "metadata_max_age_ms": rng.choice((700, 300_000)),
            "auto_offset_reset": "earliest",
            "isolation_level": rng.choice(("read_committed", "read_uncommitted")),
            "fetch_min_bytes": rng.choice((1, 1, 300)),
            "fetch_max_wait_ms": rng.choice((50, 500)),
            "fetch_max_bytes": rng.choice((1_000, 52_428_800)),
            "max_partition_fetch_bytes": rng.choice((300, 1_500, 1_048_576)),
            "queued_max_bytes": rng.choice((2_000, 67_108_864)),
            "max_poll_records": rng.choice((1, 10, 500)),
            "session_timeout_ms": rng.choice((1_500, 3_000)),
            "heartbeat_interval_ms": 400,
            "max_poll_interval_ms": rng.choice((2_500, 6_000)),
            "auto_commit_interval_ms": rng.choice((200, 1_000)),
            **given,
        }
    )


class Reader:
    """What all have: a core, its reading, and polls that are looked at."""

    def __init__(
        self, network: SimNetwork, books: ClientBooks, report: Counter[str], name: str, **given: Any
    ) -> None:
        self.name = name
        self.done = False
        self.stopping = False
        self.calm = False
        self.random = network.scheduler.random
        self.settings = consumer_settings(
            self.random, name, **{"bootstrap_servers": network.bootstrap, **given}
        )
        self._network = network
        self._books = books
        self._report = report
        self.group: GroupReading | None = None
        self.committed_only = self.settings.isolation_level == "read_committed"
        self.reading = Reading(name, committed_only=self.committed_only)
        books.readings.append(self.reading)
        self.session = SimSession(network, self.settings, report)
        self.runtime = self.session.runtime
        self.core = ConsumerCore(self.session, self.settings)

    def die(self, *, unseen: bool) -> None:
        self._report["consumers_killed"] += 1
        self.runtime.kill(unseen=unseen)

    def run(self) -> Steps[None]:
        try:
            yield from self._live()
        except Abandoned:
            self._report["consumers_abandoned"] += 1
        self.done = True

    def _live(self) -> Steps[None]:
        raise NotImplementedError

    def _poll(self, timeout_ms: float) -> Steps[list[tuple[TopicPartition, int, bytes]]]:
        rng, core = self.random, self.core
        self._check_buffer()
        clock = self.runtime.clock
        contacted = self.session.cluster.contacted
        found: list[tuple[TopicPartition, int, bytes]] = []
        try:
            if rng.random() < 0.15:
                polled = yield from self.runtime.run(core.poll_columns(timeout_ms), f"{self.name} columns")
                for part in polled:
                    found += _rows(part)
            else:
                if rng.random() < 0.03:
                    core.wakeup()
                began_ms = clock.monotonic_ms()
                records = yield from self.runtime.run(core.poll(timeout_ms), f"{self.name} poll")
                found = [(TopicPartition(r.topic, r.partition), r.offset, bytes(r.value)) for r in records]
                self._report["polls"] += 1
                if len(records) > self.settings.max_poll_records:
                    raise Violation(f"{self.name}: {len(records)} records in one poll")
                if self.group is None and clock.monotonic_ms() - began_ms > timeout_ms + CLOSE_SLACK_MS:
                    raise Violation(f"{self.name}: a poll took {clock.monotonic_ms() - began_ms:.0f} ms")
        except WokenUp:
            self._report["wakeups"] += 1
        except UNREACHABLE:
            if contacted:
                raise
            self._report["polls_without_a_broker"] += 1
        for tp, offset, value in found:
            self._books.read(tp, offset, value)
            given = self.reading.take(tp, offset, value)
            if self.group is not None:
                self.group.take(given)
        return found

    def _check_buffer(self) -> None:
        fetcher, settings = self.core.fetcher, self.settings
        asked = min(settings.queued_max_bytes, settings.fetch_max_bytes)
        if fetcher.buffered_bytes > settings.queued_max_bytes + min(asked, ANSWER_BYTES_MAX) + 20_000:
            raise Violation(
                f"{self.name}: {fetcher.buffered_bytes} bytes are buffered, "
                f"queued_max_bytes is {settings.queued_max_bytes}"
            )

    def _try(self, steps: Any, name: str) -> Steps[Any]:
        """An operation that may be out of luck while the broker is away, but ends in its time."""
        clock = self.runtime.clock
        began_ms = clock.monotonic_ms()
        calm = self.calm
        try:
            return (yield from self.runtime.run(steps, f"{self.name} {name}"))
        except (OperationTimedOut, WokenUp, *UNREACHABLE):
            if calm:
                raise
            self._report["operations_timed_out"] += 1
            return None
        finally:
            took_ms = clock.monotonic_ms() - began_ms
            if took_ms > CALL_MS + CLOSE_SLACK_MS and not self.runtime.dead:
                raise Violation(f"{self.name}: {name} took {took_ms:.0f} ms, {CALL_MS:.0f} were given")

    def _close(self, timeout_ms: float | None) -> Steps[None]:
        clock = self.runtime.clock
        began_ms = clock.monotonic_ms() - self.runtime.listening_ms
        yield from self.runtime.run(self.core.close(timeout_ms), f"{self.name} close")
        took_ms = clock.monotonic_ms() - self.runtime.listening_ms - began_ms
        if timeout_ms is not None and took_ms > timeout_ms + CLOSE_SLACK_MS:
            raise Violation(f"{self.name}: close({timeout_ms:.0f} ms) took {took_ms:.0f} ms")
        if self.core.fetcher.buffered_bytes:
            raise Violation(f"{self.name}: {self.core.fetcher.buffered_bytes} bytes are held after close")
        # A session that the broker was just waiting in is ended without anybody waiting for that.
        yield from self.runtime.sleep(self.settings.request_timeout_ms * 1.5)
        self.session.close()
        self._report["consumers_closed"] += 1


def _rows(part: Any) -> list[tuple[TopicPartition, int, bytes]]:
    tp, pending = part
    columns = pending.filled()
    ends = memoryview(columns.values.offsets).cast("B").cast("i")
    offsets = memoryview(columns.offsets).cast("B").cast("q")
    data = bytes(columns.values.data)
    return [(tp, offsets[row], data[ends[row] : ends[row + 1]]) for row in range(columns.row_count)]


class AssignedReader(Reader):
    def __init__(
        self,
        network: SimNetwork,
        books: ClientBooks,
        report: Counter[str],
        name: str,
        partitions: Sequence[TopicPartition],
    ) -> None:
        super().__init__(network, books, report, name)
        self.partitions = list(partitions)

    def ends_at(self, ends: dict[TopicPartition, int]) -> bool:
        """Whether everything up to there was read, or lies before where it jumped to."""
        for tp in self.partitions:
            if tp not in self.core.assignment():
                return False
            position = self.core.fetcher.position(tp)
            jumped = self.reading.has_moved(tp) and position is not None and position.offset > ends[tp]
            if not jumped and self.reading.last.get(tp, -1) < ends[tp]:
                return False
        return True

    def _live(self) -> Steps[None]:
        rng, core = self.random, self.core
        core.assign(self.partitions)
        while not self.stopping:
            if not self.calm and rng.random() < 0.2:
                yield from self._do_something()
            elif self.calm and core.fetcher.paused():
                core.resume(sorted(core.fetcher.paused()))
            elif self.calm and len(core.assignment()) < len(self.partitions):
                self._assign(self.partitions)
            yield from self._poll(rng.choice((0.0, 50.0, 300.0)))
            if rng.random() < 0.3:
                yield from self.runtime.sleep(rng.random() * 200.0)
        yield from self._close(rng.choice((None, *CLOSES_MS)))

    def _assign(self, partitions: Sequence[TopicPartition]) -> None:
        self.reading.moved(set(partitions) - self.core.assignment())
        self.core.assign(partitions)

    def _do_something(self) -> Steps[None]:
        rng, core, reading = self.random, self.core, self.reading
        tp = rng.choice(sorted(core.assignment()))
        kind = rng.randrange(8)
        if kind == 0:
            reading.moved([tp])
            core.seek(tp, rng.randint(0, reading.last.get(tp, 0) + 1))
            self._report["seeks"] += 1
        elif kind == 1:
            reading.moved([tp])
            core.seek_to_time([tp], rng.choice((EARLIEST, LATEST)) if rng.random() < 0.8 else 1)
            self._report["seeks_by_time"] += 1
        elif kind == 2:
            paused = core.fetcher.paused()
            (core.resume if tp in paused else core.pause)([tp])
            self._report["pauses"] += 1
        elif kind == 3:
            some = [each for each in self.partitions if rng.random() < 0.7] or self.partitions
            self._assign(some)
            self._report["assignments_changed"] += 1
        elif kind == 4:
            found = yield from self._try(core.end_offsets([tp], CALL_MS), "end_offsets")
            self._report["offsets_asked"] += found is not None
        elif kind == 5:
            found = yield from self._try(core.beginning_offsets([tp], CALL_MS), "beginning_offsets")
            if found is not None and found[tp] != 0:
                raise Violation(f"{tp} begins at {found[tp]}")
        elif kind == 6:
            yield from self._try(core.position(tp, CALL_MS), "position")
        else:
            found = yield from self._try(core.offsets_for_times({tp: 1}, CALL_MS), "offsets_for_times")


class GroupMember(Reader):
    def __init__(
        self,
        network: SimNetwork,
        books: ClientBooks,
        report: Counter[str],
        name: str,
        group: GroupReading,
        topics: Sequence[str],
        **given: Any,
    ) -> None:
        level = "read_committed" if group.committed_only else "read_uncommitted"
        super().__init__(network, books, report, name, group_id=group.name, isolation_level=level, **given)
        self.group = group
        self.topics = list(topics)

    def _live(self) -> Steps[None]:
        self._subscribe()
        while not self.stopping:
            found = yield from self._poll_in_group()
            yield from self._deal_with(found)
            yield from self._dawdle()
        yield from self._close(self.random.choice((None, *CLOSES_MS)))

    def _subscribe(self) -> None:
        given: dict[str, Any] = {"topics": self.topics}
        if self.random.random() < 0.3:
            given = {"pattern": "|".join(self.topics)}
        self.core.subscribe(**given, on_assigned=self._assigned, on_revoked=self._revoked, on_lost=self._lost)

    def _assigned(self, partitions: Iterable[TopicPartition]) -> None:
        self.reading.moved(partitions)
        self._report["rebalances"] += 1
        if set(partitions) - self.core.assignment():
            raise Violation(f"{self.name} was told of {partitions} and has {self.core.assignment()}")

    def _revoked(self, partitions: Iterable[TopicPartition]) -> None:
        self._report["revocations"] += 1

    def _lost(self, partitions: Iterable[TopicPartition]) -> None:
        self._report["losses"] += 1

    def _poll_in_group(self) -> Steps[list[tuple[TopicPartition, int, bytes]]]:
        return (yield from self._poll(self.random.choice((0.0, 50.0, 300.0))))

    def _deal_with(self, found: list[tuple[TopicPartition, int, bytes]]) -> Steps[None]:
        rng, core = self.random, self.core
        kind = rng.random()
        if kind < 0.1:
            yield from self._commit(None)
        elif kind < 0.15:
            core.commit_async(None, self._committed)
        elif kind < 0.2 and found:
            tp, offset, _ = found[-1]
            if tp in core.assignment():
                yield from self._commit({tp: OffsetAndMetadata(offset + 1, "by hand")})
        elif kind < 0.24 and found and not self.calm:
            tp, offset, _ = rng.choice(found)
            if tp in core.assignment():
                self.reading.moved([tp])
                core.seek(tp, offset)
                self._report["steps_back"] += 1
        elif kind < 0.27 and core.assignment() and not self.calm:
            chosen = sorted(core.assignment())
            if (yield from self._try_rewind(chosen)):
                self._report["rewinds"] += 1
        elif kind < 0.3 and core.assignment():
            paused = core.fetcher.paused()
            if paused:
                core.resume(sorted(paused))
            elif not self.calm:
                core.pause([rng.choice(sorted(core.assignment()))])
        if self.calm and core.fetcher.paused():
            core.resume(sorted(core.fetcher.paused()))

    def _try_rewind(self, chosen: Sequence[TopicPartition]) -> Steps[bool]:
        self.reading.moved(chosen)  # also where it is out of luck half way
        try:
            yield from self.runtime.run(self.core.rewind(chosen), f"{self.name} rewind", CALL_MS)
            return True
        except (OperationTimedOut, BrokerUnavailable, WokenUp):
            return False

    def _commit(self, offsets: dict[TopicPartition, OffsetAndMetadata] | None) -> Steps[bool]:
        committed = self.core.consumed.offsets() if offsets is None else offsets
        try:
            found = self.core.commit(offsets, CALL_MS)
            yield from self.runtime.run(found, f"{self.name} commit")
        except (CommitFailed, OperationTimedOut, BrokerUnavailable, WokenUp) as error:
            self._report[f"commits_refused_{type(error).__name__}"] += 1
            return False
        except ServerError as error:
            if error.code not in REFUSED_COMMITS:
                raise
            self._report["commits_refused_ServerError"] += 1
            return False
        assert self.group is not None
        for tp, at in committed.items():
            self.group.commits(tp, at.offset)
        self._report["commits_by_hand"] += 1
        return True

    def _committed(self, offsets: Any, error: OttlaError | None) -> None:
        if error is None:
            assert self.group is not None
            for tp, at in offsets.items():
                self.group.commits(tp, at.offset)
            self._report["commits_async"] += 1

    def _dawdle(self) -> Steps[None]:
        rng = self.random
        if rng.random() < 0.3:
            yield from self.runtime.sleep(rng.random() * 200.0)
        if not self.calm and rng.random() < 0.015:
            self._report["late_polls"] += 1
            yield from self.runtime.sleep(self.settings.max_poll_interval_ms * (1.0 + rng.random()))


class Pipeline(GroupMember):
    """Reads with read_committed, writes what it made of it in a transaction that also has its offsets."""

    def __init__(
        self,
        network: SimNetwork,
        books: ClientBooks,
        report: Counter[str],
        name: str,
        group: GroupReading,
        topics: Sequence[str],
        targets: Sequence[TopicPartition],
        **given: Any,
    ) -> None:
        super().__init__(network, books, report, name, group, topics, enable_auto_commit=False, **given)
        self.targets = list(targets)
        self.writer = TransactionalWriter(network, books, report, f"{name}w", f"{name}-id")

    def die(self, *, unseen: bool) -> None:
        super().die(unseen=unseen)
        self.writer.runtime.kill(unseen=unseen)

    def _live(self) -> Steps[None]:
        writer = self.writer
        if not (yield from writer._begin_life()):
            raise Violation(f"{self.name}: the producer cannot begin")
        self._subscribe()
        while not self.stopping:
            found = yield from self._poll_in_group()
            if found:
                yield from self._transform(found)
            yield from self._dawdle()
        yield from self._close(self.random.choice((None, *CLOSES_MS)))
        yield from writer._close(None, lambda error: False)

    def _transform(self, found: list[tuple[TopicPartition, int, bytes]]) -> Steps[None]:
        writer, core, rng = self.writer, self.core, self.random
        offsets: dict[TopicPartition, OffsetAndMetadata] = {}
        for tp, offset, _ in found:
            offsets[tp] = OffsetAndMetadata(offset + 1)
        who = core.group_metadata()

        def work() -> Steps[None]:
            transaction = writer.transaction
            assert transaction is not None
            for tp, offset, _ in found:
                target = rng.choice(self.targets)
                value = yield from writer._give(target, origin(tp, offset))
                transaction.records.append((target, value))
            yield from writer.runtime.run(
                writer.core.send_offsets_to_transaction(offsets, who), f"{self.name} send_offsets"
            )

        alive = yield from writer._in_transaction(work, commit=rng.random() < 0.85)
        if not alive:
            raise Violation(f"{self.name}: the producer was fenced, and nobody else has its id")
        if writer.last_committed:
            return
        # Nothing of it counts: back to what is committed. Whoever is out of luck here has to insist, since
        # the next poll would go on behind what was read.
        while core.assignment():
            if (yield from self._try_rewind(sorted(core.assignment()))):
                return
