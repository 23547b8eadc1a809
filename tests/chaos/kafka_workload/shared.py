"""What the workers of a run have in common: the topics, the history, the next value, and when to stop.

A key of the history is a partition of one of the topics.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer

from chaos.kafka_workload.history import History, Operation

TOPICS = ("chaos-a", "chaos-b")
PARTITIONS = 4
KEYS = [(topic, partition) for topic in TOPICS for partition in range(PARTITIONS)]
KEY_OF = {place: key for key, place in enumerate(KEYS)}

CALL_TIMEOUT_S = 10.0

# Clients complain about what is being done to them; their errors are in the history.
SILENT = logging.Logger("silent", logging.CRITICAL + 1)


@dataclass
class Shared:
    """What the workers of a run have in common."""

    bootstrap: str
    history: History
    seed: int
    # Seconds between two operations of one worker, on average; keeps a long history within bounds.
    pause_s: float = 0.02
    # Whether clients crash and stall on their own.
    disturbed: bool = True
    # Planted bugs change what senders are set to and what consumers hand out.
    sender_settings: dict[str, Any] = field(default_factory=dict)
    consumer_class: Callable[[dict[str, Any]], Consumer] = Consumer
    # Transactions whose commit succeeded and is said to be unknown: only planted bugs ask for it.
    commit_becomes_unknown: Callable[[Operation], bool] | None = None
    # Clients that have crashed, by their client id; the proxy lets nothing of theirs pass.
    dead: set[str] = field(default_factory=set)
    stop: threading.Event = field(default_factory=threading.Event)
    events: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    _value: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def next_value(self) -> int:
        with self._lock:
            self._value += 1
            return self._value

    def count(self, what: str, number: int = 1) -> None:
        with self._lock:
            self.events[what] += number
