"""A manager on a virtual disk, a clock that tests move by hand, and a driver of one line, for these tests."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from typing import Any

from ottla.log.log import Log
from ottla.log.manager import LogManager, ManagerSettings
from ottla.model.log_config import LogConfig
from ottla.model.types import TopicPartition
from ottla.ports.disk import Disk, FileSlice
from ottla.ports.effects import DiskJob, Effect, Sleep, Steps
from ottla.testing.disk import VirtualDisk
from ottla.wire.record_batch import Record, encode_batch

TOPIC_ID = bytes(range(16))
ORDERS = TopicPartition("orders", 0)
CLICKS = TopicPartition("clicks", 3)


class HandClock:
    """Stands still until a test moves it; `tick_ms` passes at each look at the monotonic time."""

    def __init__(self) -> None:
        self.wall_ms = 1_700_000_000_000
        self.since_boot_ms = 0.0
        self.tick_ms = 0.0

    def now_ms(self) -> int:
        return self.wall_ms

    def monotonic_ms(self) -> float:
        self.since_boot_ms += self.tick_ms
        return self.since_boot_ms

    def pass_ms(self, duration_ms: int) -> None:
        self.wall_ms += duration_ms
        self.since_boot_ms += duration_ms


def uuids() -> Callable[[], bytes]:
    """Sixteen bytes that differ each time."""
    numbers = itertools.count(10**6)
    return lambda: next(numbers).to_bytes(8, "big") + b"eight by"


_UUIDS = uuids()


def make_manager(
    disk: Disk,
    dirs: Sequence[str] = ("/data",),
    *,
    clock: HandClock | None = None,
    config: LogConfig | None = None,
    config_for: Callable[[str], LogConfig] | None = None,
    node_id: int = 1,
    settings: ManagerSettings | None = None,
) -> LogManager:
    fixed = config or LogConfig()
    return LogManager(
        disk,
        clock or HandClock(),
        dirs,
        node_id=node_id,
        settings=settings or ManagerSettings(),
        config_for=config_for or (lambda topic: fixed),
        new_uuid=_UUIDS,
    )


def started(
    disk: Disk,
    dirs: Sequence[str] = ("/data",),
    *,
    clock: HandClock | None = None,
    config: LogConfig | None = None,
) -> LogManager:
    manager = make_manager(disk, dirs, clock=clock, config=config)
    manager.start("cluster")
    return manager


def append(log: Log, count: int = 1, *, timestamp: int = 1_700_000_000_000, value: bytes = b"v" * 50) -> None:
    for _ in range(count):
        log.append_as_leader(encode_batch([Record(0, timestamp, b"k", value)]), 0, timestamp)


def contents(log: Log) -> bytes:
    """The bytes of the log's first segment from its start."""
    piece = log.read(log.log_start_offset, 1 << 20, upto_offset=log.log_end_offset, min_one_batch=True).slice
    assert isinstance(piece, FileSlice)
    try:
        return piece.read()
    finally:
        piece.release()


def run(steps: Steps[Any], *, between: Callable[[Effect], None] | None = None) -> list[Effect]:
    """Runs a pass to its end, disk jobs at once, sleeps not at all; gives the effects that it yielded."""
    effects: list[Effect] = []
    value: Any = None
    error: BaseException | None = None
    while True:
        try:
            effect = steps.throw(error) if error is not None else steps.send(value)
        except StopIteration:
            return effects
        effects.append(effect)
        if between is not None:
            between(effect)
        value, error = None, None
        if isinstance(effect, DiskJob):
            try:
                value = effect.call()
            except Exception as raised:
                error = raised
        else:
            assert isinstance(effect, Sleep)


def reboot(disk: VirtualDisk) -> VirtualDisk:
    """kill -9: the page cache survives, the locks do not."""
    disk.crash()
    return disk.restart(random.Random(1), power_loss=False)
