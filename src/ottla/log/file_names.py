"""The names of a partition's files: Kafka's, twenty digits of the segment's base offset and a suffix.

A snapshot's number is the offset that the producer state in it has reached. `.deleted` marks what waits for
its removal, `.cleaned` and `.swap` what a compaction was writing when the process died.
"""

from __future__ import annotations

from typing import Final

LOG_SUFFIX: Final = ".log"
OFFSET_INDEX_SUFFIX: Final = ".index"
TIME_INDEX_SUFFIX: Final = ".timeindex"
TXN_INDEX_SUFFIX: Final = ".txnindex"
SNAPSHOT_SUFFIX: Final = ".snapshot"
DELETED_SUFFIX: Final = ".deleted"
CLEANED_SUFFIX: Final = ".cleaned"
SWAP_SUFFIX: Final = ".swap"

LEADER_EPOCH_CHECKPOINT: Final = "leader-epoch-checkpoint"
PARTITION_METADATA: Final = "partition.metadata"

_DIGITS: Final = 20


def segment_path(dir_path: str, base_offset: int, suffix: str) -> str:
    return f"{dir_path}/{base_offset:020d}{suffix}"


def split_name(name: str) -> tuple[int, str] | None:
    """`(base offset, suffix)` of a segment's file, or None for a name that is not one."""
    if len(name) > _DIGITS and name[_DIGITS] == "." and name[:_DIGITS].isdecimal() and name.isascii():
        return int(name[:_DIGITS]), name[_DIGITS:]
    return None
