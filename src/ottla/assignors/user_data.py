"""The bytes that sticky members put into their subscription's user data.

`sticky` (KIP-54): an array of (topic, partitions) that the member had, and from version 1 the generation in
which it got them; no version number is written, a reader tries the longer form first. `cooperative-sticky`
(KIP-429): the generation alone, since what is owned stands in the subscription itself. A member may send
anything: bytes that cannot be read count as "had nothing".
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from ottla.assignors.subscription import UNKNOWN_GENERATION
from ottla.model.types import TopicPartition

_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")


class PreviousAssignment(NamedTuple):
    partitions: tuple[TopicPartition, ...] = ()
    generation: int = UNKNOWN_GENERATION


def encode_previous_assignment(partitions: Iterable[TopicPartition], generation: int | None) -> bytes:
    """Version 1, or version 0 where `generation` is None."""
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(partitions):
        by_topic.setdefault(topic, []).append(number)
    parts = [_INT32.pack(len(by_topic))]
    for topic, numbers in by_topic.items():
        name = topic.encode()
        parts += (_INT16.pack(len(name)), name, struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    if generation is not None:
        parts.append(_INT32.pack(generation))
    return b"".join(parts)


def decode_previous_assignment(data: bytes | None) -> PreviousAssignment:
    if not data:
        return PreviousAssignment()
    try:
        partitions, end = _read_partitions(data)
    except (struct.error, ValueError):
        return PreviousAssignment()
    if len(data) - end < _INT32.size:
        return PreviousAssignment(partitions)
    return PreviousAssignment(partitions, _INT32.unpack_from(data, end)[0])


def _read_partitions(data: bytes) -> tuple[tuple[TopicPartition, ...], int]:
    found: list[TopicPartition] = []
    topics_left, at = _read_count(data, 0)
    while topics_left:
        topics_left -= 1
        length = _INT16.unpack_from(data, at)[0]
        at += _INT16.size
        if not 0 <= length <= len(data) - at:
            raise ValueError("a topic's name ends beyond the data")
        topic = data[at : at + length].decode("utf-8", "replace")
        count, at = _read_count(data, at + length)
        numbers = struct.unpack_from(f">{count}i", data, at)
        found += [TopicPartition(topic, number) for number in numbers]
        at += count * _INT32.size
    return tuple(found), at


def _read_count(data: bytes, at: int) -> tuple[int, int]:
    count = _INT32.unpack_from(data, at)[0]
    at += _INT32.size
    if not 0 <= count <= len(data) - at:
        raise ValueError("an array is longer than the data")
    return count, at


def encode_generation(generation: int) -> bytes:
    return _INT32.pack(generation)


def decode_generation(data: bytes | None) -> int:
    if data is None or len(data) < _INT32.size:
        return UNKNOWN_GENERATION
    generation: int = _INT32.unpack_from(data)[0]
    return generation
