"""Follows the output as it grows, read_committed, on confluent-kafka, and writes down every record it is
given.

    python -m chaos.exactly_once.follower '{"name": …, "bootstrap": …, "file": …}'

One line per record (`records.Seen`). Its own file is all that it remembers: a follower that comes after a
killed one cuts a torn last line off and goes on behind the last record of each partition. So the file is what
an application that stores its position together with its results would have, and it must equal what anybody
reads afterwards. `OutputFollower.java` does the same on Kafka's own consumer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from chaos.exactly_once.ledger import FATAL_EXIT, Ledger
from chaos.exactly_once.records import DOOMED, OUTPUT, PARTITIONS, SOURCE, TRANSACTION, Seen
from chaos.exactly_once.transactions import reason_of


def seen(message: Message) -> Seen:
    pairs: Any = message.headers() or []
    headers: dict[str, bytes] = {name: value or b"" for name, value in pairs}
    key: Any = message.key() or b""
    value: Any = message.value() or b""
    partition, offset = message.partition(), message.offset()
    assert partition is not None and offset is not None
    return Seen(
        partition,
        offset,
        key.decode(),
        value.decode(),
        headers.get(SOURCE, b"").decode(),
        headers.get(TRANSACTION, b"").decode(),
        DOOMED in headers,
    )


def read_file(path: Path) -> list[Seen]:
    """Every whole line."""
    if not path.exists():
        return []
    text = path.read_text()
    return [Seen.from_line(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def next_offsets(path: Path) -> list[int]:
    """Cuts a torn line off, and returns where each partition goes on."""
    offsets = [0] * PARTITIONS
    for record in read_file(path):
        offsets[record.partition] = record.offset + 1
    if path.exists():
        data = path.read_bytes()
        with path.open("r+b") as file:
            file.truncate(data.rfind(b"\n") + 1)
    return offsets


def main() -> None:
    ledger = Ledger()
    order = ledger.order
    path = Path(order["file"])
    offsets = next_offsets(path)
    consumer = Consumer(
        {
            "bootstrap.servers": order["bootstrap"],
            "client.id": order["name"],
            "group.id": "follower-unused",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.ms": 20,
            "reconnect.backoff.max.ms": 300,
            "log_level": 4,
        }
    )
    consumer.assign([TopicPartition(OUTPUT, partition, offset) for partition, offset in enumerate(offsets)])
    ledger.tell("ready", offsets)
    with path.open("ab", buffering=0) as file:
        while not ledger.stopping:
            lines = []
            for message in consumer.consume(500, 0.1):
                error = message.error()
                if error is None:
                    lines.append(seen(message).line())
                elif error.fatal():
                    ledger.tell("fatal", reason_of(error))
                    raise SystemExit(FATAL_EXIT)
            if lines:
                file.write("".join(lines).encode())
    try:
        consumer.close()
    except KafkaException as error:
        ledger.tell("hiccup", reason_of(error.args[0]))
    ledger.tell("closed")


if __name__ == "__main__":
    main()
