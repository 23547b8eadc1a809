"""Offsets and times as users write them: `--from-offsets FILE`, `--since TIME`."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ottla.model.types import TopicPartition
from ottla.pipelines.loads.errors import LoadRefused

OFFSET_MAX: Final = 2**63 - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST: Final = -2
LATEST: Final = -1


def parse_offsets(text: str, source: str) -> dict[TopicPartition, int]:
    """Spark's JSON, `{"clicks": {"0": 12, "1": -2}}` (-2 the oldest, -1 the end), or lines
    `clicks:0:12`, as Kafka's and our tools for offsets print them. `source` is named in errors.
    """
    stripped = text.strip()
    if stripped.startswith("{"):
        return _from_json(stripped, source)
    found: dict[TopicPartition, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = line.strip().rsplit(":", 2)
        if len(parts) != 3 or not parts[0] or not parts[1].isdecimal():
            raise LoadRefused(
                f"{source}, line {number}: write topic:partition:offset, not {line.strip()[:80]!r}"
            )
        found[TopicPartition(parts[0], int(parts[1]))] = _offset(parts[2], f"{source}, line {number}")
    if not found:
        raise LoadRefused(f"{source} names no offset")
    return found


def _from_json(text: str, source: str) -> dict[TopicPartition, int]:
    try:
        content: Any = json.loads(text)
    except ValueError as error:
        raise LoadRefused(f"{source} is not JSON: {error}") from None
    found: dict[TopicPartition, int] = {}
    for topic, partitions in content.items():
        if not isinstance(partitions, dict):
            raise LoadRefused(f'{source}: write {{"{topic}": {{"0": 12}}}}')
        for partition, offset in partitions.items():
            if not partition.isdecimal():
                raise LoadRefused(f"{source}: {topic}: {partition!r} is not the number of a partition")
            found[TopicPartition(topic, int(partition))] = _offset(offset, f"{source}: {topic}-{partition}")
    if not found:
        raise LoadRefused(f"{source} names no offset")
    return found


def _offset(value: Any, where: str) -> int:
    try:
        if isinstance(value, bool | float):
            raise ValueError
        offset = int(value)
    except (TypeError, ValueError):
        raise LoadRefused(f"{where}: {value!r} is not an offset") from None
    if not LATEST - 1 <= offset <= OFFSET_MAX:
        raise LoadRefused(f"{where}: {offset} is not an offset (-2 is the oldest, -1 the end)")
    return offset


def parse_time_ms(value: str | int | datetime, what: str) -> int:
    """Milliseconds since 1970, a datetime, or ISO 8601 (UTC where it names no zone)."""
    if isinstance(value, datetime):
        value = value.isoformat()
    text = str(value).strip()
    if text.isascii() and text.isdecimal():
        time_ms = int(text)
    else:
        try:
            moment = datetime.fromisoformat(text)
            since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
            time_ms = since // timedelta(milliseconds=1)
        except (ValueError, OverflowError):
            raise LoadRefused(
                f"{what} {text[:80]!r} is not a time: write milliseconds since 1970, or like "
                "2024-05-01T12:00:00Z"
            ) from None
    if not 0 <= time_ms <= OFFSET_MAX:
        raise LoadRefused(f"{what} {text[:80]!r} lies before 1970, or too late")
    return time_ms
