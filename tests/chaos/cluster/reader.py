"""A member of a consumer group in a process of its own, which reads along and commits, until it is told to
stop.

    python reader.py '{"bootstrap": ..., "topic": ..., "seen": ..., "committed": ...}'

Every record that it is handed and every commit that is acknowledged goes into a file. End of input is the
word to stop.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from confluent_kafka import Consumer, KafkaException, TopicPartition

from chaos.cluster.records import COMMITTED, SEEN, parsed

COMMIT_S = 0.5
BATCH = 2000


def main() -> None:
    task = json.loads(sys.argv[1])
    stop = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stop.set()), daemon=True).start()
    consumer = Consumer(
        {
            "bootstrap.servers": task["bootstrap"],
            "group.id": task["group"],
            "client.id": "reader",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "check.crcs": True,
            "log_level": 2,
        }
    )
    consumer.subscribe([task["topic"]])
    positions: dict[int, int] = {}
    commit_at_s = 0.0
    with Path(task["seen"]).open("wb") as seen, Path(task["committed"]).open("wb") as committed:
        while not stop.is_set():
            for message in consumer.consume(BATCH, 0.1):
                key, offset, partition = message.key(), message.offset(), message.partition()
                if message.error() is not None or key is None or offset is None or partition is None:
                    continue
                writer, number = parsed(bytes(key))
                seen.write(SEEN.pack(partition, writer, offset, number))
                positions[partition] = offset + 1
            if positions and time.monotonic() >= commit_at_s:
                commit_at_s = time.monotonic() + COMMIT_S
                wanted = [TopicPartition(task["topic"], each, offset) for each, offset in positions.items()]
                try:
                    done = consumer.commit(offsets=wanted, asynchronous=False) or []
                except KafkaException:
                    continue
                for each in done:
                    if each.error is None:
                        committed.write(COMMITTED.pack(each.partition, each.offset))
                seen.flush()
                committed.flush()


if __name__ == "__main__":
    main()
