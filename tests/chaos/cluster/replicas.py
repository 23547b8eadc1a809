"""Compares the replicas of a partition on their disks: batch for batch, byte for byte, up to the high
watermark.

Segments may begin at different offsets on different replicas (each rolls by its own clock and restarts), so
what is compared is the sequence of batches. Every batch's own checksum is checked, too: two replicas that are
wrong alike are wrong.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import crc32c

_HEAD = struct.Struct(">qiibI")
"""Base offset, length, leader epoch, magic, checksum."""
_LENGTH_FROM = 12
_CHECKED_FROM = 21


class Batch(NamedTuple):
    base_offset: int
    size: int
    digest: int


class Compared(NamedTuple):
    batches: int
    bytes: int
    problems: list[str]


def compare(folders: Mapping[int, Path], high_watermark: int) -> Compared:
    """The partition's folders, by node: each has to hold the same batches below the high watermark."""
    problems: list[str] = []
    held = {node: list(batches(folder, high_watermark, problems)) for node, folder in folders.items()}
    (first, expected), *others = held.items()
    end = expected[-1].base_offset if expected else -1
    if high_watermark and not expected:
        problems.append(f"node {first} holds nothing below the high watermark {high_watermark}")
    for node, found in others:
        if found == expected:
            continue
        at = next((at for at, (a, b) in enumerate(zip(expected, found, strict=False)) if a != b), None)
        if at is None:
            problems.append(
                f"node {node} holds {len(found)} batches below {high_watermark}, node {first} {len(expected)}"
                f" (the last at {end})"
            )
        else:
            problems.append(f"batch {at}: node {first} has {expected[at]}, node {node} has {found[at]}")
    return Compared(len(expected), sum(batch.size for batch in expected), problems)


def batches(folder: Path, high_watermark: int, problems: list[str]) -> Iterator[Batch]:
    """The batches of one replica below the high watermark."""
    for path in sorted(folder.glob("*.log")):
        data = memoryview(path.read_bytes())
        at = 0
        while at + _CHECKED_FROM <= len(data):
            base_offset, length, _epoch, _magic, checksum = _HEAD.unpack_from(data, at)
            size = _LENGTH_FROM + length
            if base_offset >= high_watermark:
                return
            if length <= 0 or at + size > len(data):
                problems.append(f"{folder.parent.parent.name}/{folder.name}/{path.name} is broken at {at}")
                return
            whole = data[at : at + size]
            if crc32c.crc32c(whole[_CHECKED_FROM:]) != checksum:
                problems.append(
                    f"{folder.parent.parent.name}/{folder.name}: wrong checksum at offset {base_offset}"
                )
            yield Batch(base_offset, size, zlib.crc32(whole))
            at += size
