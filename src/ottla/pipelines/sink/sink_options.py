"""What a user wrote with `.option(...)` for a sink, or gave to `write_stream`: read, and checked."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.client.config import producer_settings
from ottla.client.config_tables import PRODUCER
from ottla.model.topics import topic_name_problem
from ottla.pipelines.options import GENERIC_NAMES, KAFKA_PREFIX, InvalidOption, client_settings

SINK_NAMES: Final = ("topic", "batchAttempts", "checkpointLocation", "queryName", "includeHeaders")
BATCH_ATTEMPTS: Final = 4
"""How often a micro-batch is tried, as often as Spark tries a task."""
TRANSACTION_TIMEOUT_MS: Final = 600_000
"""A micro-batch has to be done in this time. Brokers allow 15 minutes by default; readers with read_committed
wait so long when a driver dies and nobody starts it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SinkOptions:
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    """Of the producer. There may be secrets among them: not to be printed."""
    topic: str | None = None
    batch_attempts: int = BATCH_ATTEMPTS

    @classmethod
    def parse(cls, options: Mapping[str, str], *, exactly_once: bool = False) -> SinkOptions:
        given = _known(options)
        settings = client_settings(options)
        if "transactional.id" in settings:
            raise InvalidOption(
                "kafka.transactional.id is not supported: transactions are Spark's to begin and to end; "
                "write_stream(..., exactly_once=True, application_id=...) uses them"
            )
        settings = {name: value for name, value in settings.items() if name in PRODUCER}
        if exactly_once:
            settings.setdefault("transaction.timeout.ms", str(TRANSACTION_TIMEOUT_MS))
            if settings.get("enable.idempotence", "true").lower() != "true":
                raise InvalidOption("kafka.enable.idempotence=false is not possible with exactly_once")
            if settings.get("acks", "all") not in ("all", "-1"):
                raise InvalidOption("kafka.acks has to be all with exactly_once")
        producer_settings(settings, {})  # a wrong value is told now, and not by every task
        topic = given.get("topic")
        if topic is not None and (problem := topic_name_problem(topic)) is not None:
            raise InvalidOption(f"topic: {problem}")
        return cls(
            settings=tuple(sorted(settings.items())),
            topic=topic,
            batch_attempts=_attempts(given.get("batchAttempts")),
        )


def _known(options: Mapping[str, str]) -> dict[str, str]:
    by_name = {name.lower(): name for name in SINK_NAMES}
    found: dict[str, str] = {}
    for name, value in options.items():
        lowered = name.lower()
        if lowered in by_name:
            found[by_name[lowered]] = value
        elif not lowered.startswith(KAFKA_PREFIX) and lowered not in GENERIC_NAMES:
            near = difflib.get_close_matches(lowered, by_name, n=1, cutoff=0.6)
            hint = f"; did you mean {by_name[near[0]]}?" if near else ""
            raise InvalidOption(f"{name}: the sink has no such option{hint}")
    return found


def _attempts(text: str | None) -> int:
    if text is None:
        return BATCH_ATTEMPTS
    if not str(text).strip().isdecimal() or not 1 <= int(text) <= 1000:
        raise InvalidOption(f"batchAttempts: {text!r} is not a number from 1 to 1000")
    return int(text)
