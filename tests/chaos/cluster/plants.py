"""Damage that is done on purpose after a run, so that it can be seen that the checks find it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from chaos.cluster.checker import Found


class Plant:
    """Does nothing; each of the others changes one thing on its way to the checks."""

    expected = ""

    def read(self, partition: int, record: Found) -> Iterable[Found]:
        return (record,)

    def seen(self, entries: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        return entries

    def committed(self, offsets: dict[int, int]) -> dict[int, int]:
        return offsets

    def files(self, folders: Mapping[int, Path]) -> None:
        pass


class Lost(Plant):
    """An acknowledged record is gone, and all that follow have moved up."""

    expected = "lost"

    def read(self, partition: int, record: Found) -> Iterable[Found]:
        if partition or record.offset < 1000:
            return (record,)
        return () if record.offset == 1000 else (record._replace(offset=record.offset - 1),)


class Duplicate(Plant):
    expected = "duplicate"

    def read(self, partition: int, record: Found) -> Iterable[Found]:
        if partition or record.offset < 1000:
            return (record,)
        later = record._replace(offset=record.offset + 1)
        return (record, later) if record.offset == 1000 else (later,)


class Reordered(Plant):
    expected = "reordered"

    def __init__(self) -> None:
        self._kept: Found | None = None

    def read(self, partition: int, record: Found) -> Iterable[Found]:
        if partition or not 1003 <= record.offset <= 1004:
            return (record,)
        if self._kept is None:
            self._kept = record
            return ()
        return (record._replace(offset=1003), self._kept._replace(offset=1004))


class Changed(Plant):
    expected = "changed"

    def read(self, partition: int, record: Found) -> Iterable[Found]:
        if partition or record.offset != 1000:
            return (record,)
        return (record._replace(value=record.value[:-1] + b"?"),)


class DirtyRead(Plant):
    expected = "dirty read"

    def seen(self, entries: Iterator[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
        for at, (partition, writer, offset, number) in enumerate(entries):
            yield (partition, writer, offset, number + (at == 100))


class CommitLost(Plant):
    expected = "commit lost"

    def committed(self, offsets: dict[int, int]) -> dict[int, int]:
        return {partition: offset - 1 for partition, offset in offsets.items()}


class FlippedByte(Plant):
    """One bit in one record of one replica."""

    expected = "replicas of"

    def files(self, folders: Mapping[int, Path]) -> None:
        path = next(path for path in sorted(folders[max(folders)].glob("*.log")) if path.stat().st_size > 500)
        with path.open("r+b") as file:
            file.seek(300)
            (byte,) = file.read(1)
            file.seek(300)
            file.write(bytes([byte ^ 1]))


class ShortReplica(Plant):
    """One replica has lost its last batches."""

    expected = "replicas of"

    def files(self, folders: Mapping[int, Path]) -> None:
        path = max(path for path in folders[min(folders)].glob("*.log") if path.stat().st_size)
        data = path.read_bytes()
        path.write_bytes(data[: 12 + int.from_bytes(data[8:12], "big")])


PLANTS: dict[str, Plant] = {
    "lost": Lost(),
    "duplicate": Duplicate(),
    "reordered": Reordered(),
    "changed": Changed(),
    "dirty-read": DirtyRead(),
    "commit-lost": CommitLost(),
    "flipped-byte": FlippedByte(),
    "short-replica": ShortReplica(),
}
