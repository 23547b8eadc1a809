"""What the controller's functions return: an answer, and the records that make it true.

Nothing has happened when a decision is made. The records are appended to the metadata log and replayed into
the image; only then, and only if the append held, is the answer sent.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from ottla.metadata.records import MetadataRecord

R = TypeVar("R")


class Decision(NamedTuple, Generic[R]):
    response: R
    records: list[MetadataRecord]
