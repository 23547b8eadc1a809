"""The clients of the workload: workers that send, poll and run transactions until they are told to stop.

Each worker is a thread with a seeded choice of its own, living one client's life after another (`process`
names the life): it crashes now and then, which means that its client is dropped in the middle of what it
did. What it was about to do and what it then knew goes into the `History`.

* `Sender`: an idempotent producer; an operation is a few sends and their acknowledgements.
* `Transactor`: transactions of sends, and of polls of a committed reader, either of assigned partitions or
  as a member of a group whose offsets are sent within the transaction. Most are committed, some aborted,
  some left open for longer than their timeout, some left by a crash.
* `Poller`: a reader, committed or not, of assigned partitions at places of its choice, or in a group.

All are confluent-kafka's; `other_clients.py` has the same with clients written in Python.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from chaos.kafka_workload.history import (
    OFFSET_UNKNOWN,
    Isolation,
    Micro,
    Operation,
    Outcome,
    Reset,
    Send,
)
from chaos.kafka_workload.reader import Reader, close_consumer, ends_of
from chaos.kafka_workload.shared import CALL_TIMEOUT_S, KEYS, SILENT, Shared

# librdkafka forgets its brokers when it bootstraps again, and send_offsets_to_transaction may then wait for
# ever for a group coordinator that it has forgotten (its issues 5456 and 5511), whichever broker it talks to.
NO_BOOTSTRAP_AGAIN = {"metadata.recovery.strategy": "none"}

SEND_TIMEOUT_S = 12.0
END_TIMEOUT_S = 40.0


class Worker(threading.Thread):
    """One thread, one client at a time."""

    def __init__(self, shared: Shared, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.shared = shared
        self.history = shared.history
        self.random = random.Random(f"{shared.seed}/{name}")
        self.life = 0
        # What does the work: this, unless it does so in another process.
        self.kind: type[Worker] = type(self)

    @property
    def process(self) -> str:
        return f"{self.name}#{self.life}"

    def run(self) -> None:
        self.run_lives(lambda: self.life + 1)

    def run_lives(self, next_life: Callable[[], int]) -> None:
        try:
            while not self.shared.stop.is_set():
                self.life = next_life()
                self.live()
        except Exception as error:
            self.shared.failures.append(f"{self.process} ended with {error!r}")
            raise

    def live(self) -> None:
        """One client from its start to its end."""
        raise NotImplementedError

    def rest(self) -> None:
        self.shared.stop.wait(self.random.expovariate(1 / self.shared.pause_s))

    def happens(self, chance: float) -> bool:
        return self.shared.disturbed and self.random.random() < chance

    def draw_sends(self) -> list[Send]:
        """A few sends, often several to one key, so that their order says something."""
        keys = self.random.sample(range(len(KEYS)), self.random.randint(1, 3))
        return [
            Send(self.random.choice(keys), self.shared.next_value()) for _ in range(self.random.randint(1, 6))
        ]

    def crashed(self, client: str, *clients: Any) -> None:
        """The client is gone with all it had: to the broker nothing of it arrives from here on."""
        self.shared.dead.add(self.process)
        self.shared.count(f"crashed {client}")
        # Its end may take a while, since it still tries to say goodbye.
        threading.Thread(
            target=_bury, args=[list(clients)], name=f"end of {self.process}", daemon=True
        ).start()
        operation = self.history.invoke(self.process, "crash")
        self.history.complete(operation, "ok")


def _bury(clients: list[Any]) -> None:
    """Ends clients without their consent; the list holds the last references."""
    while clients:
        client = clients.pop()
        with suppress(KafkaException, RuntimeError):
            if isinstance(client, Producer):
                client.purge()
                # The callbacks of what was purged.
                client.poll(0)
            else:
                close_consumer(client)
        del client


class Sends:
    """The sends of one operation and what came back for them."""

    def __init__(self, sends: list[Send], size: Callable[[], int]) -> None:
        self.sends = sends
        self.answered = 0
        self.errors: list[str] = []
        self._size = size

    def send(self, producer: Producer, place: int) -> None:
        key, value, _ = self.sends[place]
        topic, partition = KEYS[key]
        # Padding makes batches and segments of different sizes.
        data = b"%d " % value + b"." * self._size()
        try:
            producer.produce(
                topic,
                data,
                partition=partition,
                on_delivery=lambda error, message: self._on(place, error, message),
            )
        except BufferError as error:
            self.answered += 1
            self.errors.append(str(error))

    def _on(self, place: int, error: KafkaError | None, message: Message) -> None:
        self.answered += 1
        if error is not None:
            self.errors.append(error.name())
            return
        offset = message.offset()
        known = offset if offset is not None and offset >= 0 else OFFSET_UNKNOWN
        self.sends[place] = self.sends[place]._replace(offset=known)

    def wait(self, producer: Producer, timeout_s: float) -> bool:
        """Whether every send was acknowledged."""
        deadline_s = time.monotonic() + timeout_s
        while self.answered < len(self.sends) and time.monotonic() < deadline_s:
            try:
                producer.poll(0.05)
            except KafkaException as failed:
                # Fatal, and told by whatever is called next.
                self.errors.append(failed.args[0].name())
                return False
        return self.answered == len(self.sends) and not self.errors

    @property
    def is_all_acknowledged(self) -> bool:
        return all(send.offset is not None for send in self.sends)

    @property
    def error(self) -> str:
        return ", ".join(sorted(set(self.errors))) or f"{len(self.sends) - self.answered} without an answer"


class Sender(Worker):
    """Sends outside of transactions."""

    def live(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.shared.bootstrap,
                "client.id": self.process,
                "enable.idempotence": True,
                "linger.ms": self.random.choice([0, 2, 10]),
                "compression.type": self.random.choice(["none", "lz4", "zstd"]),
                "message.timeout.ms": 10_000,
                "request.timeout.ms": 5_000,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 500,
                "logger": SILENT,
                **self.shared.sender_settings,
            }
        )
        while not self.shared.stop.is_set():
            sends = Sends(self.draw_sends(), lambda: self.random.randint(0, 300))
            operation = self.history.invoke(self.process, "send", sends.sends)
            for place in range(len(sends.sends)):
                sends.send(producer, place)
            if self.happens(0.003):
                self._finish(operation, sends, False)
                self.crashed("sender", producer)
                return
            self._finish(operation, sends, sends.wait(producer, SEND_TIMEOUT_S))
            if any(name in ("_FATAL", "_FENCED") for name in sends.errors):
                self.crashed("sender after a fatal error", producer)
                return
            self.rest()
        producer.flush(SEND_TIMEOUT_S)

    def _finish(self, operation: Operation, sends: Sends, is_all: bool) -> None:
        operation.micros = list(sends.sends)
        self.history.complete(operation, "ok" if is_all else "info", "" if is_all else sends.error)


class Poller(Worker):
    def __init__(
        self, shared: Shared, name: str, isolation: Isolation, group: str = "", protocol: str = "classic"
    ) -> None:
        super().__init__(shared, name)
        self.isolation = isolation
        self.group = group
        self.protocol = protocol
        self.where: dict[int, int] = {}

    def live(self) -> None:
        reader = Reader(self.shared, self.process, self.isolation, self.group, self.protocol)
        if not self.group:
            reader.where = self.where
            self._assign(reader)
        polls = 0
        while not self.shared.stop.is_set():
            operation = self.history.invoke(self.process, "poll", isolation=self.isolation)
            operation.micros = reader.poll(self.random.randint(1, 200), 0.3)
            self.history.complete(operation, "ok")
            polls += 1
            if self.happens(0.004):
                self.crashed("poller", reader.consumer)
                return
            if self.group and self.random.random() < 0.1:
                reader.commit()
            if not self.group and self.random.random() < 0.02:
                self._assign(reader)
            self.rest()
        close_consumer(reader.consumer)

    def _assign(self, reader: Reader) -> None:
        operation = self.history.invoke(self.process, "assign", isolation=self.isolation)
        operation.micros = [reader.assign(self.random)]
        self.history.complete(operation, "ok")


class Transactor(Worker):
    """Transactions; with `group`, its reader's offsets are part of them."""

    def __init__(
        self, shared: Shared, name: str, *, reads: bool = False, group: str = "", timeout_ms: int = 8_000
    ) -> None:
        super().__init__(shared, name)
        self.reads = reads
        self.group = group
        self.timeout_ms = timeout_ms
        # Whoever is in a group needs seconds to get partitions again.
        self.end_chance = 0.002 if group else 0.01

    def live(self) -> None:
        producer = Producer(
            {
                "bootstrap.servers": self.shared.bootstrap,
                "client.id": self.process,
                "transactional.id": self.name,
                "transaction.timeout.ms": self.timeout_ms,
                "linger.ms": self.random.choice([0, 2, 10]),
                "request.timeout.ms": 5_000,
                "retry.backoff.ms": 50,
                "reconnect.backoff.max.ms": 500,
                "logger": SILENT,
                **NO_BOOTSTRAP_AGAIN,
            }
        )
        if not self._initialise(producer):
            self.crashed("transactor at its start", producer)
            return
        reader = (
            Reader(self.shared, self.process, "committed", self.group) if self.reads or self.group else None
        )
        consumers = [reader.consumer] if reader is not None else []
        if reader is not None and not self.group:
            self._tell_reset(reader.assign(self.random))
        while not self.shared.stop.is_set():
            sends = Sends(self.draw_sends(), lambda: self.random.randint(0, 300))
            operation = self.history.invoke(
                self.process,
                "txn",
                sends.sends,
                isolation="committed" if reader else "",
                transactional=True,
                group=self.group,
            )
            outcome, error, is_usable = self._transact(producer, reader, operation, sends)
            self.history.complete(operation, outcome, error)
            if not is_usable:
                self.crashed("transactor", producer, *consumers)
                return
            if reader is not None and self.group and outcome != "ok":
                reset = reader.rewind()
                if reset is None:
                    self.crashed("transactor that could not rewind", producer, *consumers)
                    return
                self._tell_reset(reset)
            elif reader is not None and not self.group and self.random.random() < 0.02:
                self._tell_reset(reader.assign(self.random))
            self.rest()
        if reader is not None:
            close_consumer(reader.consumer)

    def _tell_reset(self, reset: Reset) -> None:
        operation = self.history.invoke(self.process, "assign", isolation="committed")
        operation.micros = [reset]
        self.history.complete(operation, "ok")

    def _initialise(self, producer: Producer) -> bool:
        while not self.shared.stop.is_set():
            try:
                producer.init_transactions(CALL_TIMEOUT_S)
            except KafkaException as failed:
                error = failed.args[0]
                self.shared.count(f"init_transactions {error.name()}")
                if error.fatal() or not error.retriable():
                    return False
            else:
                return True
        return False

    def _transact(
        self, producer: Producer, reader: Reader | None, operation: Operation, sends: Sends
    ) -> tuple[Outcome, str, bool]:
        """The outcome, the error, and whether the client can go on."""
        polled: list[Micro] = []
        try:
            producer.begin_transaction()
            split = self.random.randint(0, len(sends.sends))
            for place in range(split):
                sends.send(producer, place)
            if reader is not None:
                polled += reader.poll(self.random.randint(1, 50), 0.2)
            for place in range(split, len(sends.sends)):
                sends.send(producer, place)
            if self.happens(self.end_chance):
                return "fail", "crashed within the transaction", False
            if self.happens(0.005):
                # Longer than the transaction may last: the coordinator aborts it.
                self.shared.count("transactions left open for too long")
                self.shared.stop.wait(self.timeout_ms / 1000 + 2)
            is_to_commit = self.random.random() < 0.85
            if reader is not None and self.group:
                # What was polled may be another member's by now.
                is_to_commit &= not any(isinstance(micro, Reset) for micro in polled)
                ends = ends_of(polled)
                if is_to_commit and ends:
                    members = reader.consumer.consumer_group_metadata()
                    producer.send_offsets_to_transaction(ends, members, CALL_TIMEOUT_S)
            if is_to_commit or self.random.random() > 10 * self.end_chance:
                is_to_commit &= sends.wait(producer, SEND_TIMEOUT_S)
            if is_to_commit:
                operation.micros = [*sends.sends[:split], *polled, *sends.sends[split:]]
                return self._commit(producer, operation, sends)
            return ("fail", "aborted" if not sends.errors else sends.error, self._abort(producer, sends))
        except KafkaException as failed:
            error = failed.args[0]
            return "fail", error.name(), not error.fatal() and self._abort(producer, sends)
        finally:
            operation.micros = [*sends.sends[:split], *polled, *sends.sends[split:]]

    def _commit(self, producer: Producer, operation: Operation, sends: Sends) -> tuple[Outcome, str, bool]:
        operation.commit_at = self.history.stamp()
        deadline_s = time.monotonic() + END_TIMEOUT_S
        while True:
            try:
                producer.commit_transaction(CALL_TIMEOUT_S)
            except KafkaException as failed:
                error = failed.args[0]
                if error.txn_requires_abort():
                    return "info", error.name(), self._abort(producer, sends)
                if error.fatal() or not error.retriable() or time.monotonic() > deadline_s:
                    return "info", error.name(), False
            else:
                if self.shared.commit_becomes_unknown is not None and self.shared.commit_becomes_unknown(
                    operation
                ):
                    return "info", "said to be unknown", True
                return "ok", "", True

    def _abort(self, producer: Producer, sends: Sends) -> bool:
        """Whether it was aborted and the producer can go on.

        After an abort, librdkafka 2.16 gives the sequence numbers of purged sends to the next ones, also when
        their connection was lost and the broker has them: it then takes the next ones for duplicates and
        acknowledges them without having them. Apache Kafka does, too. So that producer ends here.
        """
        is_all_answered = sends.is_all_acknowledged
        deadline_s = time.monotonic() + END_TIMEOUT_S
        while time.monotonic() < deadline_s:
            try:
                producer.abort_transaction(CALL_TIMEOUT_S)
            except KafkaException as failed:
                error = failed.args[0]
                if error.fatal() or not error.retriable():
                    return False
            else:
                return is_all_answered
        return False


def fence(shared: Shared, transactional_id: str) -> bool:
    """Another producer takes the id: the coordinator aborts what is open and fences the owner."""
    producer = Producer(
        {
            "bootstrap.servers": shared.bootstrap,
            "client.id": "fence",
            "transactional.id": transactional_id,
            "logger": SILENT,
            **NO_BOOTSTRAP_AGAIN,
        }
    )
    try:
        producer.init_transactions(CALL_TIMEOUT_S)
    except KafkaException:
        return False
    return True


Make = Callable[..., Worker]


def in_this_process(shared: Shared, kind: type[Worker], name: str, **args: Any) -> Worker:
    worker: Worker = kind(shared, name, **args)
    return worker


def make_workers(shared: Shared, *, is_small: bool = False, make: Make = in_this_process) -> list[Worker]:
    """The usual crew; the small one is for runs of seconds."""
    workers: list[Worker] = [
        make(shared, Sender, "sender-1"),
        make(shared, Sender, "sender-2"),
        make(shared, Transactor, "transactor-1"),
        make(shared, Transactor, "transactor-2", reads=True, timeout_ms=4_000),
        make(shared, Transactor, "transactor-3", group="transactors"),
        make(shared, Poller, "committed-1", isolation="committed"),
        make(shared, Poller, "uncommitted-1", isolation="uncommitted"),
        make(shared, Poller, "classic-1", isolation="committed", group="classic-group"),
        make(shared, Poller, "classic-2", isolation="committed", group="classic-group"),
    ]
    if not is_small:
        workers += [
            make(shared, Transactor, "transactor-4", group="transactors", timeout_ms=4_000),
            make(shared, Poller, "cooperative-1", isolation="uncommitted", group="cooperative-group"),
            make(shared, Poller, "cooperative-2", isolation="uncommitted", group="cooperative-group"),
            make(
                shared,
                Poller,
                "consumer-1",
                isolation="committed",
                group="consumer-group",
                protocol="consumer",
            ),
            make(
                shared,
                Poller,
                "consumer-2",
                isolation="committed",
                group="consumer-group",
                protocol="consumer",
            ),
        ]
    return workers


def plain_workers(shared: Shared) -> list[Worker]:
    """Those that need no transactions."""
    return [worker for worker in make_workers(shared) if not isinstance(worker, Transactor)]
