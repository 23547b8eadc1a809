"""What happens to the system while the workload runs: one seeded fault after another.

A fault is a method of `Faults`; the table `WEIGHTS` says how often which one is drawn. Each ends by itself,
so between two of them the system is whole. The seed replays the plan; how it meets the clients is the
machine's business.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping

from confluent_kafka import KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from chaos.kafka_workload import brokers
from chaos.kafka_workload.brokers import Broker
from chaos.kafka_workload.proxy import Proxy
from chaos.kafka_workload.second_generation import SecondGeneration
from chaos.kafka_workload.shared import TOPICS, Shared
from chaos.kafka_workload.workload import Transactor, Worker, fence
from ottla.wire.messages.index import ApiKey
from support.waiting import wait_until

WEIGHTS = {
    "kill": 4,
    "pause": 3,
    "restart": 2,
    "cut": 5,
    "delay": 3,
    "stall": 2,
    "lose_reply": 6,
    "keep_back": 4,
    "reconfigure": 4,
    "fence": 3,
}

# Requests whose answer matters most when it is lost, or which do harm when they come late.
TELLING = (
    ApiKey.PRODUCE,
    ApiKey.END_TXN,
    ApiKey.INIT_PRODUCER_ID,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.ADD_OFFSETS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
    ApiKey.FETCH,
)
LATE = (
    ApiKey.PRODUCE,
    ApiKey.PRODUCE,
    ApiKey.END_TXN,
    ApiKey.ADD_PARTITIONS_TO_TXN,
    ApiKey.TXN_OFFSET_COMMIT,
)
# A producer of the first generation keeps its epoch from one transaction to the next, and these two bear
# nothing else that says to which one they belong (a Produce has its sequence numbers). When the client was
# cut off, has asked again and is in its next transaction, the copy that was on its way all the time is taken
# for part of that one: offsets move back, or it ends too early. That is what KIP-890 describes and what its
# second generation ends, with an epoch for each transaction; Apache Kafka takes such a copy, too. So only
# the second generation's are kept back.
LATE_VERSION_MIN = {ApiKey.TXN_OFFSET_COMMIT: 5, ApiKey.END_TXN: 5}

CONFIGS = (
    {"segment.ms": "300"},
    {"segment.ms": "2000"},
    {"segment.bytes": "1048576"},
    {"flush.messages": "1"},
    {"flush.messages": "100", "flush.ms": "200"},
    {"index.interval.bytes": "0", "segment.ms": "1000"},
    {"compression.type": "gzip"},
    {"compression.type": "producer"},
    {"message.timestamp.type": "LogAppendTime"},
)
CONFIG_TIMEOUT_S = 15.0
# So many of each kind of operation succeed between two faults of a plan.
PROGRESS = 8
PROGRESS_S = 60.0


class Faults:
    weights: Mapping[str, int] = WEIGHTS

    def __init__(
        self,
        broker: Broker,
        proxy: Proxy,
        shared: Shared,
        workers: list[Worker],
        seed: int,
        say: Callable[[str], None],
        *,
        pause_s: tuple[float, float] = (0.5, 6.0),
    ) -> None:
        self.broker = broker
        self.proxy = proxy
        self.shared = shared
        self.say = say
        self.counts: Counter[str] = Counter()
        self.random = random.Random(f"{seed}/faults")
        self.stop = threading.Event()
        self._pause_s = pause_s
        kinds = (Transactor, SecondGeneration)
        self._transactors = [worker.name for worker in workers if issubclass(worker.kind, kinds)]

    def run(self) -> None:
        """One fault after another until `stop` is set."""
        names, weights = list(self.weights), list(self.weights.values())
        while not self.stop.is_set():
            self.stop.wait(self.random.uniform(*self._pause_s))
            if not self.stop.is_set():
                self._do(self.random.choices(names, weights)[0])

    def run_plan(self, plan: list[str]) -> None:
        """Those faults, each as soon as the clients have done something again."""
        for name in plan:
            self._wait_for_progress()
            self._do(name)
        self._wait_for_progress()

    def _do(self, name: str) -> None:
        self.shared.history.note(name)
        getattr(self, name)()
        self.counts[name] += 1

    def _wait_for_progress(self) -> None:
        operations = self.shared.history.operations
        before = len(operations)

        def is_moving() -> bool:
            done = [each for each in operations[before:] if each.outcome == "ok" and each.invoked > since]
            kinds = Counter(each.kind for each in done)
            return kinds["send"] >= PROGRESS and kinds["txn"] >= PROGRESS and kinds["poll"] >= PROGRESS

        since = self.shared.history.stamp()
        wait_until(
            is_moving, "sends, polls and transactions that succeed", timeout_s=PROGRESS_S, pause_s=0.05
        )

    def heal(self) -> None:
        self.proxy.heal()
        if not self.broker.running:
            self.broker.start()

    # --- the faults ---------------------------------------------------------------------------------------

    def kill(self) -> None:
        self.say("kill -9")
        self.broker.kill()
        self.stop.wait(self.random.choice([0, 0, 1, 4]))
        self._start()

    def restart(self) -> None:
        self.say("clean restart")
        self.broker.stop()
        self._start()

    def pause(self) -> None:
        for_s = self.random.choice([0.3, 1, 3, 7])
        self.say(f"paused for {for_s} s")
        brokers.pause(self.broker)
        try:
            self.stop.wait(for_s)
        finally:
            brokers.resume(self.broker)

    def cut(self) -> None:
        cut = self.proxy.cut(self.random, self.random.choice([0.2, 0.5, 1]))
        self.counts["connections cut"] += cut
        self.say(f"{cut} connections cut")

    def delay(self) -> None:
        self.proxy.delay_ms = self.random.choice([5, 30, 150])
        self.say(f"every frame delayed by {self.proxy.delay_ms} ms")
        self.stop.wait(self.random.uniform(1, 5))
        self.proxy.delay_ms = 0

    def stall(self) -> None:
        for_s = self.random.choice([0.5, 2, 6])
        self.say(f"the network stalls for {for_s} s")
        self.proxy.stall(True)
        try:
            self.stop.wait(for_s)
        finally:
            self.proxy.stall(False)

    def lose_reply(self) -> None:
        for api_key in self.random.sample(TELLING, 2):
            self.say(f"the next answer to {api_key.name} is lost")
            self.proxy.lose_reply(api_key)

    def keep_back(self) -> None:
        api_key = self.random.choice(LATE)
        for_s = self.random.choice([0.3, 2, 6, 12])
        self.say(f"the next {api_key.name} comes {for_s} s late")
        self.proxy.keep_back(api_key, for_s, LATE_VERSION_MIN.get(api_key, 0))

    def reconfigure(self) -> None:
        configs = self.random.choice(CONFIGS)
        self.say(f"topics get {configs}")
        alter(self.shared.bootstrap, configs)

    def fence(self) -> None:
        if not self._transactors:
            return
        victim = self.random.choice(self._transactors)
        done = fence(self.shared, victim)
        self.counts["producers fenced"] += done
        self.say(f"{victim} was fenced" if done else f"{victim} could not be fenced")

    def _start(self) -> None:
        self.broker.start()
        self.proxy.broker_port = self.broker.port


def alter(bootstrap: str, configs: dict[str, str]) -> bool:
    """Sets the topics' configuration, as far as the broker can be reached."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    resources = []
    for topic in TOPICS:
        entries = [
            ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
            for name, value in configs.items()
        ]
        resources.append(ConfigResource(ResourceType.TOPIC, topic, incremental_configs=entries))
    done = True
    for future in admin.incremental_alter_configs(resources, request_timeout=CONFIG_TIMEOUT_S).values():
        try:
            future.result(CONFIG_TIMEOUT_S)
        except (KafkaException, TimeoutError):
            done = False
    return done
