"""Spark's casts in Python, as far as expressions computed without Spark need them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from ottla.streams.errors import TopologyError

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(time_ms: int) -> datetime:
    return EPOCH + timedelta(milliseconds=time_ms)


def cast_to(thing: Any, type_name: str) -> Any:
    match type_name:
        case "string":
            if isinstance(thing, bool):
                return "true" if thing else "false"
            return thing.decode() if isinstance(thing, bytes) else str(thing)
        case "tinyint" | "smallint" | "int" | "bigint":
            return int(thing.timestamp()) if isinstance(thing, datetime) else int(thing)
        case "float" | "double":
            return thing.timestamp() if isinstance(thing, datetime) else float(thing)
        case "boolean":
            if isinstance(thing, str):
                return thing.strip().lower() in ("t", "true", "y", "yes", "1")
            return bool(thing)
        case "binary":
            return thing.encode() if isinstance(thing, str) else bytes(thing)
        case "timestamp" if isinstance(thing, (int, float)):
            return EPOCH + timedelta(seconds=thing)
        case "timestamp" if isinstance(thing, str):
            moment = datetime.fromisoformat(thing)
            return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        case "timestamp":
            return thing
        case "date" if isinstance(thing, str):
            return date.fromisoformat(thing)
        case "date" if isinstance(thing, datetime):
            return thing.date()
    raise TopologyError(f"the test driver cannot cast to {type_name}")
