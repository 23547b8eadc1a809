"""An idempotent producer writes while its broker is killed with -9 and started again: nothing is lost,
nothing comes twice.

    python tests/chaos/million.py --records 1000000 --kills 10 --client ottla

The producer is ours or librdkafka's, with acks=all and idempotence. Kills come at fixed counts of
acknowledged records, while thousands are under way; every start is on the same port and the same files. In
the end every record has to be acknowledged, and every partition has to hold exactly what was sent to it, in
order, at the offsets that were acknowledged. (A kill loses no page cache; what a power cut loses is shown by
the simulated disk.)
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition

import ottla
from support.broker_process import BrokerProcess
from support.raw_client import RawClient

TOPIC = "chaos"
DEADLINE_S = 600.0


class Outcome(NamedTuple):
    records: int
    kills: int
    unanswered_at_kills: list[int]
    """Records that were sent and not acknowledged at the moment of each kill: these are what may be lost or
    doubled.
    """
    produced_in_s: float
    read_in_s: float


class Ledger:
    """What was sent to each partition, in order, and at which offset each record was acknowledged."""

    def __init__(self, partitions: int) -> None:
        self.sent = [0] * partitions
        self.offsets: list[dict[int, int]] = [{} for _ in range(partitions)]
        self.acked = 0
        self.errors: list[str] = []

    def delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.errors.append(str(error))
        else:
            self.acknowledged(message.partition(), int(message.key()), message.offset())

    def acknowledged(self, partition: int, index: int, offset: int) -> None:
        self.offsets[partition][index] = offset
        self.acked += 1


class Killer:
    """Kills and restarts the broker beside the producer, which goes on meanwhile."""

    def __init__(
        self, broker: BrokerProcess, ledger: Ledger, records: int, kills: int, say: Callable[[str], None]
    ) -> None:
        self.unanswered: list[int] = []
        self._broker = broker
        self._ledger = ledger
        self._thresholds = [records * (number + 1) // (kills + 1) for number in range(kills)]
        self._say = say
        self._chance = random.Random(kills)
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def look(self) -> None:
        """Kills when the next count of acknowledgements is reached and the last kill is over."""
        done = len(self.unanswered)
        idle = self._thread is None or not self._thread.is_alive()
        if idle and done < len(self._thresholds) and self._ledger.acked >= self._thresholds[done]:
            self.finish()
            self._thread = threading.Thread(target=self._kill, args=(self._chance.random() * 0.02,))
            self._thread.start()

    def _kill(self, after_s: float) -> None:
        try:
            time.sleep(after_s)  # so that a kill does not always meet the same moment of a batch's life
            self._broker.kill()
            self.unanswered.append(sum(self._ledger.sent) - self._ledger.acked)
            self._say(f"kill -9 after {self._ledger.acked} acknowledgements, {self.unanswered[-1]} under way")
            self._broker.start()
        except BaseException as error:
            self._error = error

    def finish(self) -> None:
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error


def run(
    data_dir: Path,
    *,
    records: int,
    kills: int,
    partitions: int = 3,
    under_way: int = 5_000,
    client: str = "librdkafka",
    say: Callable[[str], None],
) -> Outcome:
    produce = CLIENTS[client]
    broker = BrokerProcess(data_dir).start()
    try:
        with RawClient(broker.port) as raw:
            raw.create_topic(TOPIC, partitions=partitions, segment_bytes="8388608")
        ledger = Ledger(partitions)
        began = time.monotonic()
        unanswered = produce(broker, ledger, records, kills, under_way, say)
        produced_in_s = time.monotonic() - began
        assert not ledger.errors, f"{len(ledger.errors)} records failed, the first with: {ledger.errors[0]}"
        assert len(unanswered) == kills, f"only {len(unanswered)} kills"
        assert ledger.acked == records, f"{ledger.acked} of {records} records were acknowledged"
        began = time.monotonic()
        check(broker, ledger)
        log = broker.log_since(0)
        assert "Traceback" not in log, log[-4000:]
        assert broker.stop() == 0
        return Outcome(records, kills, unanswered, produced_in_s, time.monotonic() - began)
    finally:
        broker.kill()


def produce_with_librdkafka(
    broker: BrokerProcess,
    ledger: Ledger,
    records: int,
    kills: int,
    under_way: int,
    say: Callable[[str], None],
) -> list[int]:
    producer = Producer(
        {
            "bootstrap.servers": broker.bootstrap,
            "enable.idempotence": True,
            "linger.ms": 2,
            "batch.num.messages": 500,
            "queue.buffering.max.messages": under_way,
            "message.timeout.ms": int(DEADLINE_S * 1000),
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 200,
            "retry.backoff.ms": 20,
            "log_level": 2,
        }
    )
    killer = Killer(broker, ledger, records, kills, say)
    partitions = len(ledger.sent)
    deadline = time.monotonic() + DEADLINE_S
    for number in range(records):
        partition = number % partitions
        index = ledger.sent[partition]
        while True:
            try:
                producer.produce(
                    TOPIC,
                    key=b"%d" % index,
                    value=b"record %d of partition %d" % (index, partition),
                    partition=partition,
                    on_delivery=ledger.delivered,
                )
                break
            except BufferError:
                producer.poll(0.01)
                assert time.monotonic() < deadline, "the producer makes no progress"
        ledger.sent[partition] += 1
        if number % 50 == 0:
            producer.poll(0)
            killer.look()
    while len(producer) and time.monotonic() < deadline and not ledger.errors:
        producer.poll(0.05)
        killer.look()
    killer.finish()
    return killer.unanswered


def produce_with_ottla(
    broker: BrokerProcess,
    ledger: Ledger,
    records: int,
    kills: int,
    under_way: int,
    say: Callable[[str], None],
) -> list[int]:
    killer = Killer(broker, ledger, records, kills, say)
    partitions = len(ledger.sent)

    def delivered(index: int, metadata: ottla.RecordMetadata | None, error: Exception | None) -> None:
        if metadata is None:
            ledger.errors.append(str(error))
        else:
            ledger.acknowledged(metadata.partition, index, metadata.offset)

    with ottla.Producer(
        bootstrap_servers=broker.bootstrap,
        linger_ms=2,
        buffer_memory=under_way * 100,
        max_block_ms=int(DEADLINE_S * 1000),
        delivery_timeout_ms=int(DEADLINE_S * 1000),
        reconnect_backoff_ms=20,
        reconnect_backoff_max_ms=200,
        retry_backoff_ms=20,
    ) as producer:
        for number in range(records):
            partition = number % partitions
            index = ledger.sent[partition]
            producer.send(
                TOPIC,
                b"record %d of partition %d" % (index, partition),
                key=b"%d" % index,
                partition=partition,
                on_delivery=partial(delivered, index),
            )
            ledger.sent[partition] += 1
            if number % 50 == 0:
                killer.look()
        while ledger.acked < records and not ledger.errors:
            with suppress(ottla.errors.OperationTimedOut):
                producer.flush(timeout=0.05)
            killer.look()
    killer.finish()
    return killer.unanswered


CLIENTS = {"librdkafka": produce_with_librdkafka, "ottla": produce_with_ottla}


def check(broker: BrokerProcess, ledger: Ledger) -> None:
    """Reads everything back and compares it with the ledger, record by record."""
    consumer = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": "unused",
            "enable.auto.commit": False,
            "check.crcs": True,
        }
    )
    partitions = len(ledger.sent)
    read = [0] * partitions
    consumer.assign([TopicPartition(TOPIC, partition, OFFSET_BEGINNING) for partition in range(partitions)])
    deadline = time.monotonic() + DEADLINE_S
    try:
        with RawClient(broker.port) as client:
            ends = [client.end_offset(TOPIC, partition) for partition in range(partitions)]
        assert ends == ledger.sent, f"the partitions end at {ends}, {ledger.sent} records were sent"
        while read != ends:
            assert time.monotonic() < deadline, f"only {read} of {ends} were read"
            messages: list[Any] = consumer.consume(10_000, 0.5)
            for message in messages:
                assert message.error() is None, message.error()
                partition, index = message.partition(), read[message.partition()]
                assert message.offset() == index == ledger.offsets[partition][index]
                assert message.key() == b"%d" % index
                assert message.value() == b"record %d of partition %d" % (index, partition)
                read[partition] += 1
    finally:
        consumer.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--partitions", type=int, default=3)
    parser.add_argument("--client", choices=CLIENTS, default="ottla")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(
            Path(folder) / "data",
            records=arguments.records,
            kills=arguments.kills,
            partitions=arguments.partitions,
            client=arguments.client,
            say=lambda line: print(line, flush=True),
        )
    print(
        f"{outcome.records:,} records from {arguments.client}'s idempotent producer, "
        f"{outcome.kills} times kill -9: "
        f"all acknowledged in {outcome.produced_in_s:.1f} s, "
        f"all read back once and in order in {outcome.read_in_s:.1f} s"
    )


if __name__ == "__main__":
    main()
