"""One simulated story of a whole broker and its clients: a bad network, crashes, and the books at the end.

Producers (idempotent, up to five requests in flight) and consumers work on a few partitions through
connections that break, while the broker is killed, loses power, dies at a random disk operation, or is
restarted cleanly. Then the network calms down, everybody finishes, and each partition is read from its start:
the ledger says whether every promise was kept.

A seed decides which crashes there are. With `flush.messages=1` an acknowledged record survives a power loss;
without it, only `kill -9`, because the page cache is all there is (DESIGN: nothing acknowledged is lost,
within the flush policy).
"""

from __future__ import annotations

from collections import Counter

from ottla.model.types import TopicPartition
from ottla.testing.broker_lives import BrokerLives
from ottla.testing.client import ConfigChanger, SimConsumer, SimProducer, TopicCreator
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import HOST, SimBroker
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler

RUN_MS_MAX = 120_000.0
"""Virtual time; honest runs take some seconds. Producers that are refused for ever have lost their topic."""

FREQUENT = {
    "log.flush.offset.checkpoint.interval.ms": "700",
    "log.flush.start.offset.checkpoint.interval.ms": "900",
    "replica.high.watermark.checkpoint.interval.ms": "500",
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "800",
}
"""What runs in the background runs often, so that crashes fall into it."""


class BrokerRun(BrokerLives):
    def __init__(self, seed: int, *, batches: int = 60, crashes: int = 4) -> None:
        self.seed = seed
        self.batches = batches
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.01, 0.05)),
                break_before_reply=rng.choice((0.0, 0.01, 0.05)),
                break_after_reply=rng.choice((0.0, 0.02)),
                slow_rate=rng.choice((0.0, 0.05)),
            ),
        )
        power_losses = rng.random() < 0.6
        broker = SimBroker(scheduler, network, properties=FREQUENT)
        broker.clock.skew_ms = rng.choice((0.0, -1_800_000.0, 3_600_000.0))
        super().__init__(scheduler, network, broker, crashes=crashes, power_losses=power_losses)
        self.ledger = Ledger()
        self._topic_ids: dict[str, bytes] = {}

    def run(self) -> Counter[str]:
        try:
            self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part broker --seed {self.seed}"
                f" --steps {self.batches}"
            ) from error
        finally:
            self._end()
        self._sum_up()
        self.report["records_acked"] += self.ledger.acked_count
        return self.report

    # -- the story --

    def _run(self) -> None:
        rng = self.random
        self._start_broker()
        topics = self._create_topics()
        changers = {topic: ConfigChanger(*self._client(f"changer-{topic}")) for topic in topics}
        for topic, changer in changers.items():
            self._go(changer.run(topic))
        partitions = [
            TopicPartition(topic, index) for topic, count in topics.items() for index in range(count)
        ]
        producers = []
        for number in range(rng.randint(2, 4)):
            producer = SimProducer(*self._client(f"p{number}"))
            producers.append(producer)
            tp = rng.choice(partitions)
            producer.topic_id = self._topic_ids[tp.topic]
            self._go(producer.run(tp, self.batches, version=rng.choice((3, 8, 12, 13))))
        consumers = []
        for tp in partitions:
            consumer = SimConsumer(*self._client(f"c-{tp}"))
            consumers.append(consumer)
            consumer.topic_id = self._topic_ids[tp.topic]
            consumer.incremental = rng.random() < 0.5
            self._go(consumer.run(tp, version=rng.choice((7, 11, 12, 13, 17))))
        self._plan_crash()
        if rng.random() < 0.3:
            self.scheduler.call_after(rng.random() * 2000.0, self._fill_the_disk)
        give_up_ms = self.scheduler.now_ms + RUN_MS_MAX
        while not all(producer.done for producer in producers):
            self._advance()
            if self.scheduler.now_ms > give_up_ms:
                raise Violation(f"the producers are not done after {RUN_MS_MAX / 1000:.0f} virtual seconds")
        self.network.faults.calm()
        self.crashes_left = 0
        self._calm = True
        self._make_room()
        self.broker.disk.cancel_crash()
        if not self.broker.up:
            self._restart()
        for consumer in consumers:
            consumer.stop = True
        for changer in changers.values():
            changer.stop = True
        self._wait(
            lambda: all(c.done for c in consumers) and all(changer.done for changer in changers.values())
        )
        # Once more through a restart, so that the last word is what the disk holds.
        self.broker.stop()
        self.report["clean_shutdowns"] += 1
        self.broker.next_disk(power_loss=True)
        self._start_broker()
        for tp in partitions:
            self.ledger.check_at_the_end(tp, self._read_all(tp))
            self.report["partitions_checked"] += 1
        for topic, changer in changers.items():
            finder = TopicCreator(*self._client("finder"))
            if self._result(finder.find(topic)) != self._topic_ids[topic]:
                raise Violation(f"{topic} has another id than when it was created")
            self._result(changer.check(topic))

    def _client(self, name: str) -> tuple[SimNetwork, VirtualClock, str, str, Ledger, Counter[str]]:
        return self.network, self._clock, HOST, name, self.ledger, self.report

    def _create_topics(self) -> dict[str, int]:
        rng = self.random
        topics = {}
        for name in ("orders", "clicks")[: rng.randint(1, 2)]:
            configs = {"segment.ms": str(rng.choice((300, 2_000, 604_800_000)))}
            if self.power_losses:
                configs["flush.messages"] = "1"
            creator = TopicCreator(*self._client(f"creator-{name}"))
            topics[name] = rng.randint(1, 2)
            self._result(creator.run(name, topics[name], configs))
            assert creator.topic_id is not None
            self._topic_ids[name] = creator.topic_id
        return topics

    def _read_all(self, tp: TopicPartition) -> list[tuple[int, bytes]]:
        reader = SimConsumer(*self._client(f"reader-{tp}"))
        reader.stop = True
        records: list[tuple[int, bytes]] = self._result(reader.run(tp))
        return records

    # -- crashes --

    def _plan_crash(self) -> None:
        """One of: at a disk operation to come, at a moment, or a clean restart at a moment."""
        if self.crashes_left <= 0:
            return
        self.crashes_left -= 1
        rng = self.random
        kind = rng.random()
        if kind < 0.6:
            when = rng.choice(("before", "torn", "after"))
            self.broker.disk.crash_at(self.broker.disk.operations + rng.randrange(150), when)  # type: ignore[arg-type]
        elif kind < 0.85:
            self.scheduler.call_after(rng.random() * 3000.0, self._kill)
        else:
            self.scheduler.call_after(rng.random() * 3000.0, self._stop_cleanly)

    def _fill_the_disk(self) -> None:
        """For a while there is no room: appends are refused, producers try again, nothing is lost."""
        if self._calm:
            return
        self.broker.disk.capacity_bytes = self.broker.disk.used_bytes() + self.random.randrange(3000)
        self.scheduler.call_after(200.0 + self.random.random() * 1500.0, self._make_room)

    def _kill(self) -> None:
        if not self._calm:
            self.broker.crash()

    def _stop_cleanly(self) -> None:
        if self.broker.up and not self._calm and self.broker.stop():
            self.report["clean_shutdowns"] += 1

    def _event_over(self) -> None:
        if not self.broker.up:
            self.report["crashes"] += 1

    def _downtime_ms(self) -> float:
        return self.random.random() * 500.0
