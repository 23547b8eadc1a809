"""One simulated story of transactions: clients of both generations come, die and haunt while the broker does.

The whole broker runs on the virtual disk, clock and network. Writers put transactions over the partitions of
a few topics, pipelines read one topic with read_committed and write another, with their offsets in the
transaction. Clients die between any two requests, pause for longer than their transaction may last, and share
transactional ids. Somebody aborts what is open, topics are created and deleted, one topic loses its old
records, the internal topics are compacted. Requests and replies are lost, messages come late, the broker is
stopped, killed, crashes at a disk operation, loses its power, finds its disk full or broken.

Then it all calms down: within bounded time every transaction has ended everywhere, everything was
transformed once, and each transaction is there as a whole or not at all, the same after a last restart. The
books (`txn_books`) say whether what clients saw fits together, the checker (`txn_checker`) whether the
broker's logs and memory do.

With power losses `log.flush.interval.messages` is 1, so that what was decided is durable; without it, only
`kill -9` is survived, as in Kafka on one node.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from ottla.model.types import TopicPartition
from ottla.testing.broker_lives import BrokerLives
from ottla.testing.broker_run import FREQUENT
from ottla.testing.client import SimProducer, TopicCreator
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import HOST, SimBroker
from ottla.testing.group_books import GroupBooks
from ottla.testing.group_checker import GroupChecker
from ottla.testing.internal_errors import InternalErrors
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.txn_books import TxnBooks
from ottla.testing.txn_checker import TxnChecker
from ottla.testing.txn_client import TxnClient, TxnWriter
from ottla.testing.txn_operator import TxnOperator
from ottla.testing.txn_pipeline import TxnPipeline
from ottla.testing.txn_reader import READ_COMMITTED, READ_UNCOMMITTED, TxnReader

TXN_PROPERTIES: Final = {
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "700",
    "log.cleaner.backoff.ms": "600",
    "log.cleaner.min.cleanable.ratio": "0.05",
    "log.cleaner.dedupe.buffer.size": "2097152",
}

SETTLE_MS_MAX: Final = 60_000.0
"""Virtual time in which everything has to have ended once the faults have stopped: time-outs of transactions,
loading, markers, and what a pipeline has left to do."""

CATCH_UP_MS_MAX: Final = 8_000.0
"""In this time readers have to be at the end once nothing is written any more: less than their long polls."""

TIMEOUTS_MS: Final = (2_500, 6_000)
EXPIRATION_MS: Final = 5_000
"""For how long a transactional id is remembered that nobody uses, in runs in which they are forgotten."""
ACTIONS_MS: Final = 900.0
GROUP: Final = "pipeline"
SECOND_DISK: Final = "/second"
"""The one that has errors at times; the metadata log is on the other."""


class TxnRun(BrokerLives):
    def __init__(
        self, seed: int, *, steps: int = 25, crashes: int | None = None, slow_rate: float | None = None
    ) -> None:
        """`steps`: how many things happen to clients and topics. `slow_rate`: how many messages are late;
        the seed decides when it is left out.
        """
        self.seed = seed
        self.steps = steps
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.01, 0.03)),
                break_before_reply=rng.choice((0.0, 0.01, 0.05)),
                break_after_reply=rng.choice((0.0, 0.02)),
                slow_rate=rng.choice((0.0, 0.03, 0.08)) if slow_rate is None else slow_rate,
            ),
        )
        power_losses = rng.random() < 0.6
        self.expiry = rng.random() < 0.2
        properties = {
            **FREQUENT,
            **TXN_PROPERTIES,
            "offsets.topic.num.partitions": str(rng.randint(1, 2)),
            "transaction.state.log.num.partitions": str(rng.randint(1, 3)),
            "log.roll.ms": str(rng.choice((700, 2_000, 604_800_000))),
            "log.cleaner.delete.retention.ms": str(rng.choice((0, 2_000, 86_400_000))),
        }
        if self.expiry:
            properties["transactional.id.expiration.ms"] = str(EXPIRATION_MS)
            properties["transaction.remove.expired.transaction.cleanup.interval.ms"] = "900"
        if power_losses:
            properties["log.flush.interval.messages"] = "1"
        broker = SimBroker(scheduler, network, properties=properties)
        broker.clock.skew_ms = rng.choice((0.0, -1_800_000.0, 3_600_000.0))
        super().__init__(
            scheduler,
            network,
            broker,
            crashes=max(3, steps // 6) if crashes is None else crashes,
            power_losses=power_losses,
        )
        self.ledger = Ledger()
        self.books = TxnBooks(self.report, ids_expire=self.expiry)
        self.checker = TxnChecker(broker, self.books, self.report)
        self.groups = GroupChecker(broker, GroupBooks(self.report), self.report)
        self.topics: dict[str, int] = {}
        self.clients: list[TxnClient] = []
        self._readers: list[TxnReader] = []
        self._producers: list[SimProducer] = []
        self._names = 0
        """Operators' requests under way."""
        self._seen_down = False
        self._reboots = self._disk_is_broken = False
        self._topic_ids: dict[str, bytes] = {}
        self._writer_ids: list[str] = []
        self._pipelines: dict[str, list[TopicPartition]] = {}
        """By transactional id, what it reads."""

    def run(self) -> Counter[str]:
        try:
            with InternalErrors():
                self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part transactions --seed {self.seed}"
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
        self._create_topic("in", rng.randint(1, 3))
        self._create_topic("out", rng.randint(1, 2))
        self._create_topic("aux", rng.randint(1, 2), {"retention.ms": "2500"} if rng.random() < 0.4 else {})
        self._writer_ids = [f"writer-{number}" for number in range(rng.randint(1, 3))]
        inputs = self._partitions("in")
        count = rng.randint(1, len(inputs))
        self._pipelines = {f"pipeline-{number}": inputs[number::count] for number in range(count)}
        for name in (*self._writer_ids, *self._pipelines):
            self._add_client(name)
        self._plain_producer()
        self._plan_crash()
        if rng.random() < 0.3:
            self.scheduler.call_after(rng.random() * 10_000.0, self._fill_the_disk)
        for _ in range(self.steps):
            self._run_for(rng.random() * ACTIONS_MS)
            self._something_happens()
            if rng.random() < 0.3:
                self._compare_with_logs()
        self._calm_down()
        self._settle()
        self._check_everything()
        # Once more through a restart: the last word is what the disk holds.
        self._stop_cleanly(at_the_end=True)
        self.broker.next_disk(power_loss=True)
        self._start_broker()
        self._settle()
        self._check_everything()
        if self.expiry:
            self._check_expiry()
        self._compare_with_logs()

    def _check_expiry(self) -> None:
        """Nobody uses the ids any more: they are forgotten, and a restart does not bring them back."""
        self._run_for(EXPIRATION_MS + 2_000.0)
        node = self.broker.node
        assert node is not None
        left = [each for host in node.transactions.hosts.values() for each in host.shard.registry]
        if left:
            raise Violation(f"{left} are remembered for longer than transactional.id.expiration.ms")
        self.report["expiries_checked"] += 1

    def _calm_down(self) -> None:
        self.network.faults.calm()
        self.crashes_left = 0
        self._calm = True
        self._make_room()
        self.broker.disk.heal(SECOND_DISK)
        self.broker.disk.cancel_crash()
        if self.broker.up and self._has_lost_partitions():
            self._stop_cleanly(at_the_end=True)
        if not self.broker.up:
            self._restart()
        for client in self._alive():
            if isinstance(client, TxnWriter):
                client.stopping = True
            client.pause_rate = 0.0
            client.calls_left = 1 << 30
        for name in self._pipelines:
            for elder in self._alive(name)[:-1]:
                elder.die()

    def _has_lost_partitions(self) -> bool:
        """A partition that was made while the disk was full, or whose disk is broken, comes with the next
        start.
        """
        node = self.broker.node
        assert node is not None
        return any(
            (topic.name, index) not in node.partitions or not node.partitions[topic.name, index].is_leader
            for topic in node.image.topics.values()
            for index in topic.partitions
        )

    def _settle(self) -> None:
        self._wait(lambda: all(each.done for each in self._producers) and self._operations == 0)
        self._until_none(self._unsettled, SETTLE_MS_MAX)
        for client in self._alive():
            client.stopping = True
        self._wait(lambda: not self._alive())
        self._until_none(self.checker.unfinished, SETTLE_MS_MAX)
        self._until_none(self._unread, CATCH_UP_MS_MAX)
        self.report["settled"] += 1

    def _until_none(self, reason_of: Any, within_ms: float) -> None:
        end_ms = self.scheduler.now_ms + within_ms
        while (reason := reason_of()) is not None:
            if self.scheduler.now_ms > end_ms:
                raise Violation(f"not settled {within_ms / 1000:.0f} s after the last fault: {reason}")
            self._run_for(100.0)

    def _unsettled(self) -> str | None:
        """What is still missing until the pipelines have read everything and nothing is open."""
        writers = [each.name for each in self._alive() if isinstance(each, TxnWriter)]
        if writers:
            return f"{writers} are not done"
        node = self.broker.node
        if node is None or not self.broker.up:
            return "the broker is down"
        for name, inputs in self._pipelines.items():
            alive = self._alive(name)
            if not alive:
                self._add_client(name)
                return f"{name} was not there"
            pipeline = alive[-1]
            assert isinstance(pipeline, TxnPipeline)
            for tp in inputs:
                end = node.partitions[tp].log.log_end_offset
                if pipeline.committed.get(tp, 0) != end:
                    return f"{pipeline.name} has committed {pipeline.committed} and {tp} ends at {end}"
        return self.checker.unfinished()

    def _unread(self) -> str | None:
        node = self.broker.node
        assert node is not None
        for reader in self._readers:
            if reader.done:
                continue
            log = node.partitions[reader.tp].log
            # One that retention has overtaken hears of it with its next fetch, as in Kafka.
            if log.log_start_offset <= reader.records.position != log.log_end_offset:
                return f"{reader.name} is at {reader.records.position} of {log.log_end_offset}"
        return None

    def _check_everything(self) -> None:
        node = self.broker.node
        assert node is not None
        read: dict[TopicPartition, list[tuple[int, bytes]]] = {}
        for topic in ("in", "out", "aux"):
            for tp in self._partitions(topic):
                read[tp] = self._result(self._reader(tp, READ_COMMITTED, stop=True).run())
                self.report["partitions_checked"] += 1
        starts = {tp: node.partitions[tp].log.log_start_offset for tp in read}
        operator = self._operator()
        self._result(operator.look([*self._writer_ids, *self._pipelines], ended=True))
        inputs = self._partitions("in")
        offsets = self._result(operator.read_offsets(GROUP, inputs))
        for tp in inputs:
            end = node.partitions[tp].log.log_end_offset
            if end and offsets[tp] != end:
                raise Violation(f"{tp}: {offsets[tp]} is committed at the end, not {end}")
        self.books.check_whole(read, starts)
        self.books.check_pipeline(
            {tp: [offset for offset, _ in read[tp]] for tp in inputs},
            [read[tp] for tp in self._partitions("out")],
        )
        self._compare_with_logs()

    def _compare_with_logs(self) -> None:
        self.checker.compare_with_log()
        self.groups.compare_with_log()

    # -- what happens --

    def _something_happens(self) -> None:
        rng = self.random
        kind = rng.random()
        name = rng.choice((*self._writer_ids, *self._pipelines))
        alive = self._alive(name)
        if kind < 0.35:
            if not alive:
                self._add_client(name)
        elif kind < 0.5:
            if alive:
                self.report["zombies"] += 1
                self._add_client(name)
        elif kind < 0.65:
            if alive:
                client = rng.choice(alive)
                client.vanish() if rng.random() < 0.5 else client.die()
        elif kind < 0.75:
            tp = rng.choice(self._partitions("aux"))
            self._operate(self._operator().abort_open(tp, stale=rng.random() < 0.3))
        elif kind < 0.83:
            self._operate(self._operator().look(list(self._pipelines), ended=False))
        elif kind < 0.9:
            self._plain_producer()
        else:
            self._topics_change()

    def _topics_change(self) -> None:
        rng = self.random
        temporary = [topic for topic in self.topics if topic.startswith("temp")]
        if self._disk_is_broken:
            return  # a name that is used again while its old log is out of reach is another story
        if not temporary:
            name = rng.choice(("temp-1", "temp-2"))  # also one that was there before
            self.topics[name] = 0
            self._operate(self._new_topic(name))
        elif self.topics[temporary[0]]:
            del self.topics[temporary[0]]
            self._operate(self._operator().delete_topic(temporary[0]))

    def _new_topic(self, name: str) -> Any:
        creator = TopicCreator(*self._client(f"creator-{name}"))
        yield from creator.run(name, 2, {"segment.ms": "300"})
        self.report["topics_created"] += 1
        self.topics[name] = 2
        for client in self._alive():
            if isinstance(client, TxnWriter):
                client.tps += self._partitions(name)

    # -- the cast --

    def _client(self, name: str) -> tuple[SimNetwork, VirtualClock, str, str, Ledger, Counter[str]]:
        return self.network, self._clock, HOST, name, self.ledger, self.report

    def _operator(self) -> TxnOperator:
        return TxnOperator(*self._client("operator"), books=self.books)

    def _alive(self, transactional_id: str | None = None) -> list[TxnClient]:
        self.clients = [each for each in self.clients if not each.over]
        return [each for each in self.clients if transactional_id in (None, each.transactional_id)]

    def _add_client(self, transactional_id: str) -> None:
        rng = self.random
        self._names += 1
        name = f"{transactional_id}#{self._names}"
        generation = rng.choice((1, 2))
        options: dict[str, Any] = {
            "books": self.books,
            "transactional_id": transactional_id,
            "generation": generation,
            "timeout_ms": rng.choice(TIMEOUTS_MS),
        }
        self.report[f"clients_of_generation_{generation}"] += 1
        client: TxnClient
        if transactional_id in self._pipelines:
            outputs = self._partitions("out")
            inputs = self._pipelines[transactional_id]
            client = TxnPipeline(
                *self._client(name),
                group=GROUP,
                inputs=inputs,
                outputs={tp: outputs[tp.partition % len(outputs)] for tp in inputs},
                **options,
            )
        else:
            tps = [tp for topic in self.topics if topic != "out" for tp in self._partitions(topic)]
            client = TxnWriter(*self._client(name), tps=tps, **options)
        if not self._calm:
            client.pause_rate = rng.choice((0.0, 0.0, 0.03))
            if rng.random() < 0.5:
                client.calls_left = rng.randint(1, 60)
        self.clients.append(client)
        self._go(client.run())

    def _create_topic(self, name: str, count: int, configs: dict[str, str] | None = None) -> None:
        configs = {"segment.ms": str(self.random.choice((300, 2_000, 604_800_000))), **(configs or {})}
        creator = TopicCreator(*self._client(f"creator-{name}"))
        self._result(creator.run(name, count, configs))
        assert creator.topic_id is not None
        self._topic_ids[name] = creator.topic_id
        self.topics[name] = count
        for tp in self._partitions(name):
            for isolation in (READ_COMMITTED, READ_UNCOMMITTED):
                reader = self._reader(tp, isolation)
                reader.incremental = self.random.random() < 0.5
                self._readers.append(reader)
                self._go(reader.run(self.random.choice((11, 12, 13, 17))))

    def _reader(self, tp: TopicPartition, isolation: int, *, stop: bool = False) -> TxnReader:
        self._names += 1
        reader = TxnReader(
            *self._client(f"reader-{isolation}-{tp}#{self._names}"),
            books=self.books,
            tp=tp,
            isolation=isolation,
        )
        reader.topic_id = self._topic_ids[tp.topic]
        reader.stop = stop
        return reader

    def _plain_producer(self) -> None:
        """Somebody who writes without transactions among the others."""
        self._names += 1
        producer = SimProducer(*self._client(f"plain#{self._names}"))
        self._producers.append(producer)
        tp = self.random.choice((*self._partitions("in"), *self._partitions("in"), *self._partitions("aux")))
        self._go(producer.run(tp, self.random.randint(1, 4), version=12, pause_ms=1_000.0))

    def _partitions(self, topic: str) -> list[TopicPartition]:
        return [TopicPartition(topic, index) for index in range(self.topics[topic])]

    # -- crashes --

    def _plan_crash(self) -> None:
        if self.crashes_left <= 0:
            return
        self.crashes_left -= 1
        rng = self.random
        kind = rng.random()
        if kind < 0.5:
            when = rng.choice(("before", "torn", "after"))
            self.broker.disk.crash_at(self.broker.disk.operations + rng.randrange(250), when)  # type: ignore[arg-type]
        elif kind < 0.75:
            self.scheduler.call_after(rng.random() * 6_000.0, self._kill)
        elif kind < 0.9:
            self.scheduler.call_after(rng.random() * 6_000.0, self._stop_cleanly)
        else:
            self.scheduler.call_after(rng.random() * 4_000.0, self._break_the_disk)

    def _break_the_disk(self) -> None:
        """One of the two disks has errors, and is well again after a restart. Where a sync failed, the whole
        machine starts again: pages that could not be written may stay readable and are never written, which
        only those notice who read them from the disk.
        """
        if self.broker.up and not self._calm:
            self.report["broken_disks"] += 1
            kinds: tuple[str, ...] = ("append",)
            if self.power_losses:
                kinds = self.random.choice((("append",), ("sync",), ("append", "write", "sync")))
                self._reboots = "sync" in kinds
            self._disk_is_broken = True
            self.broker.disk.fail(SECOND_DISK, *kinds)
            self.scheduler.call_after(500.0 + self.random.random() * 3_000.0, self._kill)

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
            self.groups.goes_down(in_the_middle=in_the_middle)

    def _stop_cleanly(self, *, at_the_end: bool = False) -> None:
        if self.broker.up and (at_the_end or not self._calm):
            self._compare_with_logs()
            self._see_it_go_down()
            if self.broker.stop():
                self.report["clean_shutdowns"] += 1

    def _event_over(self) -> None:
        self.checker.look()
        self.groups.look(self.scheduler.now_ms)
        if not self.broker.up:
            self.report["restarts"] += 1

    def _went_down(self) -> None:
        self._see_it_go_down(in_the_middle=True)
        self._disk_is_broken = False
        if self._reboots:
            self._reboots = False
            self.broker.next_disk(power_loss=True)

    def _downtime_ms(self) -> float:
        """Sometimes it is away for longer than transactions last."""
        return self.random.choice((300.0, 300.0, 5_000.0)) * self.random.random()

    def _start_broker(self) -> None:
        self._seen_down = False
        super()._start_broker()
        self.checker.came_up()
