"""Records of `__cluster_metadata`: which version each is written in, and bytes to records and back.

The version follows from the finalized `metadata.version`, so that every node of a cluster that agreed on a
level can read what is written. A record whose type is unknown was written by a newer version and is an error:
stepping over it would give this node another state than the others.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from ottla.wire.framing import decode_metadata_record, encode_metadata_record
from ottla.wire.messages.cluster_metadata import (
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
)

MetadataRecord: TypeAlias = Any
"""Any of the record classes of `wire.messages.cluster_metadata`: they share no base class."""

_VERSIONS: Final[dict[type[Any], tuple[tuple[int, int], ...]]] = {
    RegisterBrokerRecord: ((17, 3), (8, 2), (0, 1)),
    PartitionRecord: ((23, 2), (17, 1), (0, 0)),
    PartitionChangeRecord: ((23, 2), (17, 1), (0, 0)),
    BrokerRegistrationChangeRecord: ((17, 2), (0, 1)),
}
"""By record, from which `metadata.version` on it is written in which version. All others have only 0."""


def record_version(record: MetadataRecord, metadata_version: int) -> int:
    for since, version in _VERSIONS.get(type(record), ()):
        if metadata_version >= since:
            return version
    return 0


def encode_record(record: MetadataRecord, metadata_version: int) -> bytes:
    """The value of the log record; its key is null."""
    return encode_metadata_record(record, record_version(record, metadata_version))


def decode_record(value: bytes | memoryview) -> MetadataRecord:
    """Raises wire's DecodeError."""
    record, _version = decode_metadata_record(value)
    return record
