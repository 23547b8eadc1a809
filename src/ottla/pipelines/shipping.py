"""The package on its way to a Spark cluster's workers.

    python -m ottla.pipelines.shipping ottla.tar.gz         # the archive, for spark-submit --archives

A worker needs this package (with its compiled codecs, which Python cannot import from a zip file) and what
that imports. `ensure_on_workers` asks the workers what they have, with a function that needs nothing but
Python. Where all have this version nothing is sent. Otherwise one archive is made from what is installed
here, Spark unpacks it beside each executor, and its folder goes into the Python path of every function of
this session; then the workers are asked again. What cannot work (no pyarrow, another Python) is
said at once and not by the first task that fails; what works slowly (codecs that do not fit the worker's
Python run interpreted) is logged.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import io
import logging
import os
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import ottla
from ottla.client.errors import IllegalState
from ottla.wire.record_codec import COMPILED

if TYPE_CHECKING:
    from pyspark import SparkContext

log = logging.getLogger("ottla.pipelines")

FOLDER: Final = "ottla_shipped"
"""The folder into which Spark unpacks the archive, beside each executor."""
NEEDED: Final = ("crc32c", "cramjam")
"""Distributions without which no record is read or written."""
HELPFUL: Final = ("fastavro", "protobuf")
"""Sent where they are installed here: Avro values, and the state of Python aggregates."""
ASKED_MAX: Final = 64
"""Tasks that ask. The workers of a cluster are made alike: a sample says enough."""
_LEFT_OUT: Final = re.compile(r"(^|/)__pycache__/|\.py[co]$|\.c$|(^|/)\.\./|^/|\.dist-info/(?!METADATA$)")


class WorkersUnfit(IllegalState):
    """The cluster's workers cannot run this program; the message says what they lack."""


@dataclass(frozen=True, slots=True)
class Worker:
    """What one worker said about its Python."""

    host: str
    python: str
    executable: str
    pyarrow: str | None
    ottla: str | None
    compiled: bool
    trouble: str
    """Why the package cannot be imported; empty when it can."""

    @property
    def ready(self) -> bool:
        return self.ottla == ottla.__version__ and not self.trouble


def is_local(master: str | None) -> bool:
    """Whether the tasks run in the driver's own process, with its Python and its files."""
    return master is not None and (master == "local" or master.startswith("local["))


# --- asking ----------------------------------------------------------------------------------------------


def _question() -> Callable[[Iterable[Any]], Iterator[tuple[Any, ...]]]:
    """A function for workers that do not have us: an inner function travels as its code, not as its name."""

    def answer(_: Iterable[Any]) -> Iterator[tuple[Any, ...]]:
        import importlib.metadata
        import platform
        import socket
        import sys

        try:
            arrow: str | None = importlib.metadata.version("pyarrow")
        except importlib.metadata.PackageNotFoundError:
            arrow = None
        version, compiled, trouble = None, False, ""
        try:
            import ottla
            from ottla.wire import compression, record_batch, record_codec  # noqa: F401

            version, compiled = ottla.__version__, bool(record_codec.COMPILED)
        except ImportError as error:
            trouble = str(error)
        python = f"{sys.version_info[0]}.{sys.version_info[1]} {platform.machine()}"
        yield (socket.gethostname(), python, sys.executable, arrow, version, compiled, trouble)

    return answer


def ask_workers(context: SparkContext) -> list[Worker]:
    """What the workers that are there now say; each kind of answer of a host once."""
    tasks = max(2, min(context.defaultParallelism, ASKED_MAX))
    try:
        said = context.parallelize(range(tasks), tasks).mapPartitions(_question()).collect()
    except Exception as error:
        if "Cannot run program" in str(error) or "PYTHON_VERSION_MISMATCH" in str(error):
            raise WorkersUnfit(
                f"the workers cannot run {context.pythonExec!r}: the environment variable PYSPARK_PYTHON "
                f"(or spark.pyspark.python) names the Python of the workers; it has to be "
                f"{sys.version_info[0]}.{sys.version_info[1]}, as here, with pyarrow"
            ) from error
        raise
    return [Worker(*facts) for facts in dict.fromkeys(said)]


def ensure_on_workers(context: SparkContext, ship: bool | None = None) -> bool:
    """Whether the package was sent: asked for by `ship`, or (None) because the workers do not have it.

    Called before anything is registered with the session: Spark remembers the Python path with each function.
    """
    if is_local(context.master) or ship is False:
        _note_interpreted(None)
        return False
    if ship is None:
        workers = ask_workers(context)
        _refuse_without_arrow(workers)
        if workers and all(worker.ready for worker in workers):
            _note_interpreted(workers)
            return False
    _send(context)
    workers = ask_workers(context)
    _refuse_without_arrow(workers)
    for worker in workers:
        if not worker.ready:
            raise WorkersUnfit(
                f"the worker on {worker.host} ({worker.executable}, Python {worker.python}) cannot import "
                f"ottla: {worker.trouble or f'it has version {worker.ottla}'}. What was sent was made for "
                f"Python {sys.version_info[0]}.{sys.version_info[1]}; use the same there, or install "
                f"ottla=={ottla.__version__} on the workers"
            )
    _note_interpreted(workers)
    log.info("ottla %s was sent to the workers of %s", ottla.__version__, context.master)
    return True


def _refuse_without_arrow(workers: Sequence[Worker]) -> None:
    for worker in workers:
        if worker.pyarrow is None:
            raise WorkersUnfit(
                f"the worker on {worker.host} has no pyarrow ({worker.executable}): records travel between "
                "Spark and Python as Arrow. Install pyarrow on the workers, or name another Python with "
                "PYSPARK_PYTHON"
            )


def _note_interpreted(workers: Sequence[Worker] | None) -> None:
    """Codecs that run interpreted give the same answers a hundred times slower: nobody has to guess why."""
    slow = [] if workers is None else [worker for worker in workers if not worker.compiled]
    if workers is None and not COMPILED:
        log.warning(
            "ottla's record codec runs interpreted (no compiled module): pipelines will be slow; "
            "reinstall ottla with a C compiler or from a wheel"
        )
    for worker in slow:
        log.warning(
            "ottla's record codec runs interpreted on %s (Python %s, no compiled module for it): pipelines "
            "will be slow; install ottla==%s there",
            worker.host,
            worker.python,
            ottla.__version__,
        )


# --- sending ---------------------------------------------------------------------------------------------


def _send(context: SparkContext) -> None:
    before = context.environment.get("PYTHONPATH", "")
    if FOLDER in before.split(os.pathsep):
        return  # by an earlier session: a second archive could not be unpacked into the same folder
    archive = write_archive(Path(tempfile.mkdtemp(prefix="ottla-ship-", dir=context._temp_dir)))
    # Spark serves the file to each executor, also to those that start later, and unpacks it there.
    context.addArchive(f"{archive}#{FOLDER}")
    # Beside each executor; and here, for the processes that Spark starts on the driver's side of a stream.
    # The variable also makes Spark start new processes: those that were asked may have imported another
    # version.
    from pyspark import SparkFiles

    places = [before, FOLDER, SparkFiles.get(FOLDER)]
    context.environment["PYTHONPATH"] = os.pathsep.join(filter(None, places))


def send_as_code(module: ModuleType) -> None:
    """Functions and classes of this module travel as their code: the workers cannot import it."""
    from pyspark import cloudpickle

    register: Callable[[ModuleType], None] = cloudpickle.register_pickle_by_value
    register(module)


def write_archive(target: Path) -> Path:
    """Writes the archive (into a folder: under a name that says its version and contents); its path."""
    content = archive_bytes()
    if target.is_dir():
        digest = hashlib.sha256(content).hexdigest()[:12]
        target = target / f"ottla-{ottla.__version__}-{digest}.tar.gz"
    target.write_bytes(content)
    return target


def archive_bytes() -> bytes:
    """What is installed here, as a tar.gz that has to be unpacked into a folder of the Python path."""
    buffer = io.BytesIO()
    # Compressing a little is enough: it travels once.
    with (
        gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1, mtime=0) as packed,
        # Files, where an installer has put links to them: what they point to is on this machine only.
        tarfile.open(fileobj=packed, mode="w", dereference=True) as archive,
    ):
        for name, path in sorted(shipped_files()):
            archive.add(path, arcname=name, filter=_anonymous)
    return buffer.getvalue()


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Nobody's file of no time: the same content is the same archive."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member


def shipped_files() -> Iterator[tuple[str, Path]]:
    """Name in the archive and file, of this package and what it needs."""
    package = Path(ottla.__file__).parent
    for root in (package, package.parent / "pyspark_ottla"):
        for path in root.rglob("*"):
            name = path.relative_to(package.parent).as_posix()
            if path.is_file() and not _LEFT_OUT.search(name):
                yield name, path
    for distribution in (*NEEDED, *HELPFUL):
        try:
            files = importlib.metadata.files(distribution)
        except importlib.metadata.PackageNotFoundError:
            files = None
        if files is None:
            if distribution in NEEDED:
                raise WorkersUnfit(
                    f"the files of {distribution} are not known (it was not installed by pip), so it cannot "
                    f"be sent to the workers: install ottla=={ottla.__version__} there"
                )
            continue
        for file in files:
            name = file.as_posix()
            path = Path(str(file.locate()))
            if not _LEFT_OUT.search(name) and path.is_file():
                yield name, path


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print("usage: python -m ottla.pipelines.shipping FILE.tar.gz", file=sys.stderr)
        return 2
    archive = write_archive(Path(arguments[0]))
    print(f"{archive}: ottla {ottla.__version__} for Python {sys.version_info[0]}.{sys.version_info[1]}")
    print("spark-submit \\")
    print(f"  --archives {archive}#{FOLDER} \\")
    print(f"  --conf spark.executorEnv.PYTHONPATH={FOLDER} \\")
    print(f"  --conf spark.yarn.appMasterEnv.PYTHONPATH={FOLDER} \\")
    print("  program.py")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
