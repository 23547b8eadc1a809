"""Which columns a sink takes, checked when Spark plans: names and types as Spark's Kafka connector has them.

`value` has to be there; `key`, `topic`, `headers`, `partition` may be, and `timestamp`, which the connector
does not know. Columns with other names are left out, as the connector does, so that what the source gives can
be written back as it is. Types come as Spark's short names (`binary`, `array<struct<...>>`), so that nothing
here needs Spark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from ottla.pipelines.options import InvalidOption

BYTES: Final = ("string", "binary")
_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "key": BYTES,
    "value": BYTES,
    "topic": ("string",),
    "partition": ("int",),
    "timestamp": ("timestamp", "timestamp_ntz"),
}
_HEADERS: Final = re.compile(r"array<struct<key:string,value:(binary|string)>>")
ORDER: Final = ("key", "value", "topic", "headers", "partition", "timestamp")


@dataclass(frozen=True, slots=True)
class SinkColumns:
    names: tuple[str, ...]
    """Those columns of the rows that are written, by their names in the rows, in the order of `ORDER`."""
    topic: str | None
    """The topic of all rows; None when each row has its own."""

    @classmethod
    def check(cls, fields: Iterable[tuple[str, str]], topic: str | None) -> SinkColumns:
        """From the rows' fields (name and type) and the option `topic`, which wins over the column."""
        found: dict[str, tuple[str, str]] = {}
        for name, kind in fields:
            known = name.lower()
            if known in ORDER:
                if known in found:
                    raise InvalidOption(f"there are several columns named {known!r}")
                found[known] = (name, kind)
        if "value" not in found:
            raise InvalidOption(
                "Required attribute 'value' not found: name the column that is to be written `value`"
            )
        if topic is None and "topic" not in found:
            raise InvalidOption(
                "topic option required when no 'topic' attribute is present. "
                "Use the topic option for setting a topic."
            )
        for known, (_, kind) in found.items():
            plain = kind.split(" collate ")[0]
            if known == "headers":
                if not _HEADERS.fullmatch(plain.replace(" ", "")):
                    raise InvalidOption(
                        f"headers attribute type must be array<struct<key:string,value:binary>>, not {kind}"
                    )
            elif plain not in _TYPES[known]:
                allowed = " or ".join(_TYPES[known])
                raise InvalidOption(f"{known} attribute type must be a {allowed}, not {kind}: cast it first")
        if topic is not None:
            found.pop("topic", None)
        return cls(tuple(found[known][0] for known in ORDER if known in found), topic)
