"""What `publish` was given: names and patterns made into files, and what is in them. Without Spark."""

from __future__ import annotations

import csv
import glob
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from ottla.pipelines.loads.errors import LoadRefused, NotALoad
from ottla.pipelines.loads.tables import Table, kind_of, open_table, table_path

FILE_FORMATS: Final = ("parquet", "json", "csv", "text", "avro")
PUBLISH_FORMATS: Final = (*FILE_FORMATS, "delta", "iceberg")
_SUFFIXES: Final = {
    ".parquet": "parquet",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".csv": "csv",
    ".txt": "text",
    ".log": "text",
    ".avro": "avro",
}
_PARQUET_MAGIC: Final = b"PAR1"
LINE_BYTES_MAX: Final = 64 * 1024 * 1024
"""Of a first line that is looked at to learn the columns."""


@dataclass(frozen=True, slots=True)
class PublishInput:
    given: tuple[str, ...]
    format: str
    files: tuple[Path, ...] = ()
    table: Table | None = None

    @property
    def count(self) -> int:
        return len(self.files) if self.table is None else len(self.table.files())

    @property
    def stream_path(self) -> str:
        """The one directory or pattern that was given, for a stream that watches it."""
        return "file://" + str(table_path(self.given[0]))

    def check_parquet(self) -> None:
        for path in self.files:
            with open(path, "rb") as file:
                begins = file.read(4)
                file.seek(0, 2)
                if file.tell() >= 12:
                    file.seek(-4, 2)
                if begins != _PARQUET_MAGIC or file.read(4) != _PARQUET_MAGIC:
                    raise LoadRefused(f"{path} is not a Parquet file, or it was cut off")

    def csv_header(self) -> list[str]:
        """The columns that the first file names; all have to name the same."""
        first: list[str] = []
        for path in self.files:
            with _opened(path) as file:
                names = next(csv.reader(line.decode(errors="replace") for line in file), [])
            if not names:
                raise LoadRefused(f"{path} has no first line with the names of the columns")
            if first and names != first:
                raise LoadRefused(f"{path} has other columns than {self.files[0]}: publish them one by one")
            first = names
        doubled = {name for name in first if first.count(name) > 1}
        if doubled:
            raise LoadRefused(f"{self.files[0]}: several columns are named {sorted(doubled)[0]!r}")
        return first

    def json_names(self) -> list[str] | None:
        """What the first object of the first file has; None where there is no line."""
        for path in self.files:
            with _opened(path) as file:
                while line := file.readline(LINE_BYTES_MAX):
                    if not line.strip():
                        continue
                    try:
                        found = json.loads(line)
                    except ValueError:
                        found = None
                    if not isinstance(found, dict):
                        raise LoadRefused(
                            f"{path}: its first line is not a JSON object (one is expected per line)"
                        )
                    return list(found)
        return None


def _opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")  # type: ignore[return-value]


def find_input(given: Sequence[str | Path], format: str | None) -> PublishInput:
    """Raises where nothing is there, or where it is not clear what it is."""
    if not given:
        raise LoadRefused("name at least one file")
    if format is not None and format not in PUBLISH_FORMATS:
        raise LoadRefused(f"--format {format}: write {', '.join(PUBLISH_FORMATS)}")
    texts = tuple(str(each) for each in given)
    if len(given) == 1 and table_path(texts[0]).is_dir():
        table = _table_in(table_path(texts[0]), format)
        if table is not None:
            return PublishInput(texts, _table_format(table), table=table)
    if format in ("delta", "iceberg"):
        raise LoadRefused(f"--format {format} needs one directory with such a table")
    files: list[Path] = []
    for text in texts:
        files.extend(_files_of(text))
    formats = {format} if format is not None else {_format_of(each) for each in files}
    if len(formats) > 1:
        raise LoadRefused(f"the files are of several formats ({', '.join(sorted(str(f) for f in formats))})")
    (only,) = formats
    assert only is not None
    return PublishInput(texts, only, tuple(dict.fromkeys(files)))


def _table_in(path: Path, format: str | None) -> Table | None:
    try:
        kind = kind_of(path)
    except NotALoad:
        return None
    if kind is None:
        return None
    table = open_table(path)
    assert table is not None
    there = _table_format(table)
    if format is not None and format != there:
        raise LoadRefused(f"{path} holds a table of format {there}, not {format}")
    return table


def _table_format(table: Table) -> str:
    if table.spec is not None:
        return table.spec.format
    return "delta" if (table.path / "_delta_log").is_dir() else "iceberg"


def _files_of(text: str) -> list[Path]:
    path = table_path(text)
    if path.is_file():
        return [path]
    if path.is_dir():
        found = sorted(
            each
            for each in path.rglob("*")
            if each.is_file()
            and not any(part.startswith(("_", ".")) for part in each.relative_to(path).parts)
        )
        if not found:
            raise LoadRefused(f"{path} has no files")
        return found
    found = sorted(Path(each) for each in glob.glob(str(path), recursive=True) if Path(each).is_file())
    if not found:
        raise LoadRefused(f"{text}: there is no such file")
    return found


def _format_of(path: Path) -> str:
    suffixes = [each for each in path.suffixes if each != ".gz"]
    found = _SUFFIXES.get(suffixes[-1].lower()) if suffixes else None
    if found is None:
        raise LoadRefused(f"{path}: its name does not say what it is: add --format {'|'.join(FILE_FORMATS)}")
    return found
