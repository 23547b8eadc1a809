"""Dead letters: a bad record as it was, sent to another topic, with headers that say where and why it failed.

The headers have the names that Kafka Connect gives them, so tools that know Connect's dead-letter queues know
these. Key, value, headers and timestamp are the original's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

HEADER_TOPIC: Final = "__connect.errors.topic"
HEADER_PARTITION: Final = "__connect.errors.partition"
HEADER_OFFSET: Final = "__connect.errors.offset"
HEADER_STAGE: Final = "__connect.errors.stage"
HEADER_EXCEPTION: Final = "__connect.errors.exception.class.name"
HEADER_MESSAGE: Final = "__connect.errors.exception.message"

KEY_STAGE: Final = "KEY_CONVERTER"
VALUE_STAGE: Final = "VALUE_CONVERTER"


@dataclass(frozen=True)
class DeadLetters:
    """A topic for bad records, and how the tasks of a query reach it."""

    topic: str
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)  # may have a password


OnError = Literal["fail", "null"] | DeadLetters


def dead_letters(
    topic: str, *, bootstrap_servers: str, options: Mapping[str, str] | None = None
) -> DeadLetters:
    """Bad records go to `topic`: for `on_error` of from_json, from_avro and the others.

    The tasks that decode send them and wait for the acknowledgement, before they hand on the good records of
    the same batch: every bad record arrives at least once, and again when Spark runs a task again. With
    `split` the bad records are rows to be written by the query itself, in its transaction if it has one.

    options: settings of the producer, with Kafka's names.
    """
    if not topic:
        raise ValueError("dead letters need a topic")
    settings = {**(options or {}), "bootstrap.servers": bootstrap_servers}
    return DeadLetters(topic, {name: str(value) for name, value in settings.items()})
