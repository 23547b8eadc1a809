"""The map from keys to their latest offsets: how large it is, and where its memory comes from.

An entry takes 24 bytes of `log.cleaner.dedupe.buffer.size`, and the map counts as full when
`log.cleaner.io.buffer.load.factor` of the slots are taken. The loops are in `wire/compaction_codec`.
"""

from __future__ import annotations

import os
from typing import Final

from ottla.log.cleaning_job import CleaningFailed, CleaningJob
from ottla.wire.compaction_codec import OffsetTable
from ottla.wire.mapped_memory import mapped_memory

ENTRY_BYTES: Final = 24
_SLOTS_MAX: Final = 2**32 - 1
_ROOMY: Final = 2
"""Slots for every offset of a dirty part that fits easily: the emptier the table, the shorter the search."""


def capacity_of(job: CleaningJob) -> int:
    """How many keys the configured memory has room for."""
    slots = min(job.map_bytes // ENTRY_BYTES, _SLOTS_MAX)
    return max(0, min(int(slots * job.map_load_factor), slots - 1))


def make_offset_map(job: CleaningJob, end_offset: int) -> OffsetTable:
    """A table for the dirty part up to `end_offset`: as large as it can need, within the configured bound."""
    capacity = capacity_of(job)
    if capacity < 1:
        raise CleaningFailed(
            f"log.cleaner.dedupe.buffer.size leaves {job.map_bytes} bytes for one cleaner, too few for a "
            "single key: raise it, or lower log.cleaner.threads"
        )
    # There are not more keys than offsets, so that a small log takes little memory, however much is allowed.
    records_max = max(1, end_offset - job.first_dirty_offset)
    slots = min(job.map_bytes // ENTRY_BYTES, _SLOTS_MAX, _ROOMY * records_max + 2)
    memory = mapped_memory(slots * ENTRY_BYTES).cast("Q")
    # The key is chance, but what comes out of a cleaning does not depend on it.
    secret = os.urandom(16)
    return OffsetTable(
        memory,
        min(capacity, slots - 1),
        int.from_bytes(secret[:8], "little"),
        int.from_bytes(secret[8:], "little"),
    )
