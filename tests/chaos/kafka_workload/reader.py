"""A consumer of confluent-kafka that tells what it is handed in micro-operations.

It polls one record at a time, so that a rebalance, whose callbacks run within a poll, has its exact place
between the records.
"""

from __future__ import annotations

import random
import time
from contextlib import suppress
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    Consumer,
    KafkaException,
    TopicPartition,
)

from chaos.kafka_workload.history import Isolation, Micro, Poll, Reset
from chaos.kafka_workload.shared import CALL_TIMEOUT_S, KEY_OF, KEYS, SILENT, TOPICS, Shared


class Reader:
    """A consumer of confluent-kafka that tells micro-operations."""

    def __init__(
        self, shared: Shared, name: str, isolation: Isolation, group: str = "", protocol: str = "classic"
    ) -> None:
        self.shared = shared
        self.isolation = isolation
        self.group = group
        self.where: dict[int, int] = {}
        self.pending: list[Micro] = []
        settings: dict[str, Any] = {
            "bootstrap.servers": shared.bootstrap,
            "client.id": name,
            "group.id": group or "alone",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "isolation.level": f"read_{isolation}",
            "fetch.wait.max.ms": 100,
            "reconnect.backoff.max.ms": 500,
            "socket.timeout.ms": 10_000,
            "logger": SILENT,
        }
        if group and protocol == "consumer":
            settings["group.protocol"] = "consumer"
        elif group:
            strategy = "cooperative-sticky" if group.startswith("cooperative") else "range"
            settings |= {
                "session.timeout.ms": 6_000,
                "heartbeat.interval.ms": 500,
                "partition.assignment.strategy": strategy,
            }
        self.consumer = shared.consumer_class(settings)
        if group:
            self.consumer.subscribe(
                list(TOPICS), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost
            )

    def poll(self, records_max: int, timeout_s: float) -> list[Micro]:
        """What was handed out, and what happened to the assignment meanwhile, in order."""
        runs: list[tuple[int, list[int]]] = []
        micros: list[Micro] = []
        deadline_s = time.monotonic() + timeout_s

        def end_poll() -> None:
            nonlocal runs
            if runs:
                micros.append(Poll(runs, self.shared.history.stamp()))
            runs = []

        for _ in range(records_max):
            message = self.consumer.poll(max(deadline_s - time.monotonic(), 0))
            if self.pending:
                # Callbacks run before the message is handed out.
                end_poll()
                micros += self.pending
                self.pending = []
            if message is None:
                break
            error = message.error()
            if error is not None:
                self.shared.count(f"poll error {error.name()}")
                continue
            key, offset, value = record_of(message)
            if not runs or runs[-1][0] != key:
                runs.append((key, []))
            runs[-1][1].extend((offset, value))
            self.where[key] = offset + 1
        end_poll()
        return micros

    def assign(self, choose: random.Random) -> Reset:
        keys = choose.sample(range(len(KEYS)), choose.randint(2, len(KEYS)))
        places = []
        for key in keys:
            drawn = choose.random()
            if key in self.where:
                # Back a little, on, or to the end: never far back, or nothing else would be read.
                offset = OFFSET_END if drawn < 0.2 else max(0, self.where[key] - choose.randint(0, 300))
            else:
                offset = OFFSET_BEGINNING if drawn < 0.8 else OFFSET_END
            places.append(TopicPartition(*KEYS[key], offset))
        self.consumer.assign(places)
        return Reset(None, "assign")

    def rewind(self) -> Reset | None:
        """Back to the group's committed offsets; None when they cannot be had."""
        try:
            assigned = self.consumer.assignment()
            for place in self.consumer.committed(assigned, timeout=CALL_TIMEOUT_S):
                if place.error is not None:
                    return None
                if place.offset == OFFSET_INVALID:
                    place.offset = OFFSET_BEGINNING
                self.consumer.seek(place)
        except KafkaException:
            return None
        return Reset(None, "rewind")

    def commit(self) -> None:
        places = [
            TopicPartition(*KEYS[key], self.where[key])
            for key in map(_key_of, self.consumer.assignment())
            if key in self.where
        ]
        if places:
            with suppress(KafkaException):
                self.consumer.commit(offsets=places, asynchronous=False)
                self.shared.count("commits of offsets")

    def _on_assign(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        self.shared.count("rebalances: assigned")
        self._moved([*map(_key_of, places)], "assigned")

    def _on_revoke(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        self.shared.count("rebalances: revoked")
        self._moved([*map(_key_of, places)], "revoked")

    def _on_lost(self, _consumer: Consumer, places: list[TopicPartition]) -> None:
        self.shared.count("rebalances: lost")
        self._moved([*map(_key_of, places)], "lost")

    def _moved(self, keys: list[int], why: str) -> None:
        self.pending.append(Reset(keys, why))
        for key in keys:
            # Another member may have gone on; what this one saw is no place to commit.
            self.where.pop(key, None)


def close_consumer(consumer: Consumer) -> None:
    """Closes a consumer once it has given everything back.

    confluent-kafka's `close` can hang for ever, and every thread of this process with it, when it has to call
    back about a revocation: it holds the interpreter's lock and asks librdkafka's group for its protocol,
    which has ended already and does not answer (seen with 2.16).
    """
    deadline_s = time.monotonic() + 3
    with suppress(KafkaException, RuntimeError):
        consumer.unsubscribe()
        while consumer.assignment() and time.monotonic() < deadline_s:
            consumer.poll(0.05)
    consumer.close()


def record_of(message: Any) -> tuple[int, int, int]:
    """Key, offset and value."""
    return KEY_OF[message.topic(), message.partition()], message.offset(), int(message.value().split()[0])


def ends_of(micros: list[Micro]) -> list[TopicPartition]:
    """Where a reader goes on after these polls."""
    ends: dict[int, int] = {}
    for micro in micros:
        if isinstance(micro, Poll):
            for key, flat in micro.runs:
                ends[key] = flat[-2] + 1
    return [TopicPartition(*KEYS[key], offset) for key, offset in ends.items()]


def _key_of(place: TopicPartition) -> int:
    return KEY_OF[place.topic, place.partition]
