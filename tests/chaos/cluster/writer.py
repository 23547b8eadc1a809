"""An idempotent producer in a process of its own: librdkafka's or Ottla's, with acks=all.

    python writer.py '{"client": "librdkafka", "writer": 0, ...}'

It sends its records to all partitions in turn, as far as `pace.py` allows, and appends every acknowledgement
to a file. In the end it writes how many it sent to each partition, what failed, and the longest silence of a
partition that had records under way.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from chaos.cluster.pace import Pace
from chaos.cluster.records import ACK, key_of, value_of

DELIVERY_TIMEOUT_MS = 900_000
"""Nothing is given up: every record is acknowledged in the end, whatever happens meanwhile."""
FLUSH_S = 0.1
PAUSE_S = 0.005
RUN_LENGTH = 20
"""So many records go to one partition before the next one has its turn, so that batches fill."""


class Ledger:
    """What was sent and acknowledged."""

    def __init__(self, partitions: int, acks: BinaryIO) -> None:
        self.sent = [0] * partitions
        self.acked = 0
        self.errors: list[str] = []
        self.silence_s_max = 0.0
        self.slowest_partition = -1
        self.silence_ended_at = ""
        """By the wall clock, to find it in what the nodes wrote down."""
        self._acks = acks
        self._unanswered = [0] * partitions
        self._since_s = [0.0] * partitions
        self._flush_at_s = 0.0

    def take(self, partition: int) -> int:
        """The number of the next record for that partition, which is sent now."""
        number = self.sent[partition]
        self.sent[partition] = number + 1
        if not self._unanswered[partition]:
            self._since_s[partition] = time.monotonic()
        self._unanswered[partition] += 1
        return number

    def acknowledged(self, partition: int, number: int, offset: int) -> None:
        self._acks.write(ACK.pack(partition, number, offset))
        self._answered(partition)
        self.acked += 1

    def failed(self, partition: int, error: str) -> None:
        self._answered(partition)
        self.errors.append(error)

    def _answered(self, partition: int) -> None:
        now_s = time.monotonic()
        silence_s = now_s - self._since_s[partition]
        if silence_s > self.silence_s_max:
            self.silence_s_max, self.slowest_partition = silence_s, partition
            self.silence_ended_at = time.strftime("%H:%M:%S")
        self._since_s[partition] = now_s
        self._unanswered[partition] -= 1

    def flush(self) -> None:
        """Now and then: the driver reads the file's length."""
        if time.monotonic() >= self._flush_at_s:
            self._acks.flush()
            self._flush_at_s = time.monotonic() + FLUSH_S

    @property
    def is_settled(self) -> bool:
        return not any(self._unanswered)


def write_with_librdkafka(task: dict[str, Any], ledger: Ledger, wait: Callable[[int], bool]) -> None:
    from confluent_kafka import Producer

    producer = Producer(
        {
            "bootstrap.servers": task["bootstrap"],
            "client.id": f"writer-{task['writer']}",
            "enable.idempotence": True,
            "linger.ms": 5,
            "queue.buffering.max.messages": 50_000,
            "message.timeout.ms": DELIVERY_TIMEOUT_MS,
            "log_level": 2,
        }
    )

    def delivered(partition: int, number: int, error: Any, message: Any) -> None:
        if error is not None:
            ledger.failed(partition, f"partition {partition} number {number}: {error}")
        else:
            ledger.acknowledged(partition, number, message.offset())

    for count in range(task["records"]):
        while wait(count):
            producer.poll(PAUSE_S)
            ledger.flush()
        chosen = count // RUN_LENGTH % task["partitions"]
        number = ledger.take(chosen)
        key = key_of(task["writer"], number)
        while True:
            try:
                producer.produce(
                    task["topic"],
                    key=key,
                    value=value_of(key, chosen),
                    partition=chosen,
                    on_delivery=partial(delivered, chosen, number),
                )
                break
            except BufferError:
                producer.poll(0.05)
                ledger.flush()
        if count % 50 == 0:
            producer.poll(0)
            ledger.flush()
    while not ledger.is_settled:
        producer.poll(0.1)
        ledger.flush()


def write_with_ottla(task: dict[str, Any], ledger: Ledger, wait: Callable[[int], bool]) -> None:
    import ottla

    def delivered(partition: int, number: int, metadata: Any, error: Exception | None) -> None:
        if error is not None:
            ledger.failed(partition, f"partition {partition} number {number}: {error!r}")
        else:
            ledger.acknowledged(partition, number, metadata.offset)

    with ottla.Producer(
        bootstrap_servers=task["bootstrap"],
        client_id=f"writer-{task['writer']}",
        linger_ms=5,
        max_block_ms=DELIVERY_TIMEOUT_MS,
        delivery_timeout_ms=DELIVERY_TIMEOUT_MS,
    ) as producer:
        for count in range(task["records"]):
            while wait(count):
                time.sleep(PAUSE_S)
                ledger.flush()
            chosen = count // RUN_LENGTH % task["partitions"]
            number = ledger.take(chosen)
            key = key_of(task["writer"], number)
            producer.send(
                task["topic"],
                value_of(key, chosen),
                key=key,
                partition=chosen,
                on_delivery=partial(delivered, chosen, number),
            )
            if count % 50 == 0:
                ledger.flush()
        while not ledger.is_settled:
            with suppress(ottla.errors.OperationTimedOut):
                producer.flush(timeout=0.1)
            ledger.flush()


CLIENTS: dict[str, Callable[[dict[str, Any], Ledger, Callable[[int], bool]], None]] = {
    "librdkafka": write_with_librdkafka,
    "ottla": write_with_ottla,
}


def main() -> None:
    task = json.loads(sys.argv[1])
    pace = Pace(Path(task["pace"]))

    def wait(count: int) -> bool:
        return count >= pace.allowed(task["writer"])

    with Path(task["acks"]).open("wb") as acks:
        ledger = Ledger(task["partitions"], acks)
        CLIENTS[task["client"]](task, ledger, wait)
    Path(task["summary"]).write_text(
        json.dumps(
            {
                "sent": ledger.sent,
                "acked": ledger.acked,
                "errors": len(ledger.errors),
                "first_errors": ledger.errors[:5],
                "silence_s_max": ledger.silence_s_max,
                "slowest_partition": ledger.slowest_partition,
                "silence_ended_at": ledger.silence_ended_at,
            }
        )
    )


if __name__ == "__main__":
    main()
