"""The checkpoint files of a log directory: Kafka's text, `version`, `count`, then a line per partition.

    0
    2
    orders 0 1042
    orders 1 998

One format holds four numbers, each in its own file: how far a log is known to be on stable storage, where it
starts, its high watermark, and how far it was compacted. They are hints that make a start short: a missing
file means zeros. `.kafka_cleanshutdown` is another small file: where it stands, nothing has to be recovered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from ottla.model.types import TopicPartition
from ottla.ports.disk import Disk

RECOVERY_POINT_CHECKPOINT: Final = "recovery-point-offset-checkpoint"
LOG_START_OFFSET_CHECKPOINT: Final = "log-start-offset-checkpoint"
HIGH_WATERMARK_CHECKPOINT: Final = "replication-offset-checkpoint"
CLEANER_CHECKPOINT: Final = "cleaner-offset-checkpoint"
CLEAN_SHUTDOWN_FILE: Final = ".kafka_cleanshutdown"

NO_BROKER_EPOCH: Final = -1

_VERSION: Final = 0


class CorruptCheckpoint(ValueError):
    """The text is not a checkpoint. What it held is lost; what it described is not."""


def checkpoint_line(tp: TopicPartition, offset: int) -> str:
    return f"{tp.topic} {tp.partition} {offset}\n"


def encode_checkpoint_lines(lines: list[str]) -> bytes:
    return (f"{_VERSION}\n{len(lines)}\n" + "".join(lines)).encode("utf-8")


def encode_checkpoint(offsets: Mapping[TopicPartition, int]) -> bytes:
    return encode_checkpoint_lines([checkpoint_line(tp, offset) for tp, offset in offsets.items()])


def decode_checkpoint(data: bytes) -> dict[TopicPartition, int]:
    """Raises CorruptCheckpoint, with what is wrong, for anything but a whole checkpoint of version 0."""
    try:
        lines = data.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"not UTF-8: {error}") from None
    if len(lines) < 2:
        raise CorruptCheckpoint("it ends before the number of entries")
    try:
        version, count = int(lines[0]), int(lines[1])
    except ValueError:
        raise CorruptCheckpoint(f"it begins with {lines[0]!r} and {lines[1]!r}, not two numbers") from None
    if version != _VERSION:
        raise CorruptCheckpoint(f"its version is {version}, only {_VERSION} is known")
    if count != len(lines) - 2:
        raise CorruptCheckpoint(f"it promises {count} entries and has {len(lines) - 2}")
    offsets: dict[TopicPartition, int] = {}
    for line in lines[2:]:
        fields = line.split(" ")
        try:
            topic, partition, offset = fields[0], int(fields[1]), int(fields[2])
        except (IndexError, ValueError):
            raise CorruptCheckpoint(f"{line!r} is not a topic, a partition and an offset") from None
        if len(fields) != 3 or not topic or partition < 0:
            raise CorruptCheckpoint(f"{line!r} is not a topic, a partition and an offset")
        offsets[TopicPartition(topic, partition)] = offset
    return offsets


def read_checkpoint(disk: Disk, path: str) -> dict[TopicPartition, int]:
    """Empty when there is no such file; CorruptCheckpoint or OSError otherwise."""
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return {}
    return decode_checkpoint(data)


def write_checkpoint(disk: Disk, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    disk.write_file_atomic(path, encode_checkpoint(offsets))


def encode_clean_shutdown(broker_epoch: int) -> bytes:
    """What stands in `.kafka_cleanshutdown`: by the epoch a controller knows whether data may be missing."""
    return json.dumps({"version": 0, "brokerEpoch": broker_epoch}, separators=(",", ":")).encode("ascii")


def decode_clean_shutdown(data: bytes) -> int:
    """The broker epoch, or -1 when the file holds none (older ones are empty): that it exists counts."""
    try:
        fields = json.loads(data)
        if isinstance(fields, dict) and fields.get("version") == 0:
            return int(fields["brokerEpoch"])
    except (ValueError, KeyError, TypeError):
        pass
    return NO_BROKER_EPOCH
