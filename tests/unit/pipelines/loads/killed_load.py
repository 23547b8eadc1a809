"""A program that loads without Spark, and is killed on the way: at a chosen step, or after a chosen time.

    killed_load.py DIR FORMAT

For every step n of a load (each file that is created, linked, renamed or deleted) a child loads into a
directory of its own and is killed (SIGKILL) when it is about to take step n; then others are ended by a timer
at any moment, also inside of libraries. After each, another child loads again, without being killed, and a
third one checks what is there. Children are forks of a process that has imported everything.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake  # noqa: F401
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pyarrow.parquet

from ottla.pipelines.loads import delta_table, iceberg_catalog, iceberg_table, inspection  # noqa: F401
from ottla.pipelines.loads.data_file import Commit, position_mark
from ottla.pipelines.loads.errors import LoadError
from ottla.pipelines.loads.file_writing import FileWriting
from ottla.pipelines.loads.spec import TableSpec, record_columns
from ottla.pipelines.loads.tables import Table, create_table, open_table, require_table
from ottla.pipelines.loads.writers import Writer, clean_after_dead_writers, only_load

TOPIC, PARTITION = "clicks", 0
END = 6
ROWS_PER_COMMIT = 3
COLUMNS = ("value", "topic", "partition", "offset")
SCHEMA = pa.schema(
    [("value", pa.binary()), ("topic", pa.string()), ("partition", pa.int32()), ("offset", pa.int64())]
)
TIMED_KILLS = 8
FULL_AT_BYTES = (0, 150, 700, 1500)


def rows(start: int, end: int, partition: int = PARTITION) -> pa.RecordBatch:
    offsets = list(range(start, end))
    return pa.RecordBatch.from_pydict(
        {
            "value": [b"%d" % each for each in offsets],
            "topic": [TOPIC] * len(offsets),
            "partition": [partition] * len(offsets),
            "offset": offsets,
        },
        schema=SCHEMA,
    )


def made(path: Path, format: str) -> Table:
    spec = TableSpec(format, columns=record_columns(TableSpec()))
    return open_table(path) or create_table(path, spec, SCHEMA, ())


def write(table: Table, writer_id: str, start: int, end: int) -> Any:
    task = FileWriting(str(table.path), table.data_directory(), writer_id, COLUMNS)
    return task.write([rows(start, end)])


def load(path: Path, format: str) -> None:
    """What `ottla.pipelines.load` does, with the tasks in this process."""
    with only_load(path):
        table = made(path, format)
        clean_after_dead_writers(table)
        with Writer(path) as writer:
            for start in range(table.mark(position_mark(TOPIC, PARTITION)) or 0, END, ROWS_PER_COMMIT):
                files = write(table, writer.id, start, start + ROWS_PER_COMMIT)
                marks = {position_mark(TOPIC, PARTITION): start + ROWS_PER_COMMIT}
                table.commit(Commit("load", added=files, marks=marks))


def check(path: Path, format: str) -> None:
    found = inspection.verify_load(path)
    assert not found.problems, found.problems
    assert not found.strays, found.strays
    table = require_table(path)
    offsets = sorted(
        each for file in table.files() for each in range(file.first_offset, file.last_offset + 1)
    )
    assert offsets == list(range(END)), offsets
    assert found.records == END, found.records


def killed_at_step(number: int) -> None:
    """From now on the process is killed when it takes its nth step that changes the file system."""
    left = [number]
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if event == "open":
            if not isinstance(args[2], int) or not args[2] & writing:
                return
        elif event not in ("os.rename", "os.link", "os.remove", "os.mkdir", "os.truncate", "os.rmdir"):
            return
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def full_disk(limit_bytes: int) -> None:
    """From now on no file gets larger: the next write fails, as on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))


def forked(work: Callable[[], None]) -> int:
    """The signal that ended the child, or 0."""
    child = os.fork()
    if not child:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(code)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status)
    assert os.WEXITSTATUS(status) == 0, "a child failed, see above"
    return 0


def _called(work: Callable[[], None]) -> int:
    work()
    return 0


def main(base: Path, format: str) -> None:
    # Here, so that children find everything imported; but what deltalake starts does not survive a fork.
    here = forked if format == "delta" else _called
    here(lambda: load(base / "whole", format))
    here(lambda: check(base / "whole", format))
    began = time.monotonic()
    forked(lambda: load(base / "again", format))
    whole_s = time.monotonic() - began
    steps = 0
    while True:
        steps += 1
        if not attempt(base / f"step-{steps}", format, lambda n=steps: killed_at_step(n)):  # type: ignore[misc]
            break
    # Delta's own steps are out of Python's sight; the timer finds those.
    assert steps > (5 if format == "delta" else 15), f"only {steps} steps: are they still seen?"
    for number in range(TIMED_KILLS):
        delay_s = whole_s * (number + 1) / (TIMED_KILLS + 1)
        attempt(
            base / f"time-{number}",
            format,
            lambda d=delay_s: signal.setitimer(signal.ITIMER_REAL, d),  # type: ignore[misc]
        )
    for limit_bytes in FULL_AT_BYTES:
        attempt(base / f"full-{limit_bytes}", format, lambda n=limit_bytes: full_disk(n))  # type: ignore[misc]
    print(f"{steps} steps")


def attempt(path: Path, format: str, arm: Callable[[], Any]) -> bool:
    """Whether the first load was killed."""

    def first() -> None:
        arm()
        try:
            load(path, format)
        except (OSError, LoadError):
            if not path.name.startswith("full"):
                raise

    try:
        ended = forked(first)
        forked(lambda: load(path, format))
        forked(lambda: check(path, format))
    except AssertionError as error:
        raise AssertionError(f"{path.name}: {error}") from None
    shutil.rmtree(path)
    return ended != 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
