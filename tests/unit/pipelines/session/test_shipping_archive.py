"""The archive for workers, and when it is sent: asked by a stand-in of Spark's context that runs the question
here.
"""

from __future__ import annotations

import io
import logging
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkFiles

import ottla
from ottla.pipelines import shipping
from ottla.pipelines.shipping import FOLDER, Worker, WorkersUnfit, archive_bytes, ensure_on_workers, is_local

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"


@pytest.fixture(autouse=True)
def _no_files_of_sparks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SparkFiles, "_root_directory", "files")
    monkeypatch.setattr(SparkFiles, "_is_running_on_worker", True)


class Context:
    """What `shipping` uses of a SparkContext; workers answer in turn what the test says."""

    defaultParallelism = 2
    pythonExec = "python3"

    def __init__(
        self, tmp_path: Path, *answers: list[Worker] | Exception, master: str = "spark://h:1"
    ) -> None:
        self.master = master
        self.answers = list(answers)
        self.archives: list[str] = []
        self.environment: dict[str, str] = {}
        self._temp_dir = str(tmp_path)

    def addArchive(self, path: str) -> None:
        self.archives.append(path)

    def parallelize(self, _: Iterable[int], slices: int) -> Context:
        return self

    def mapPartitions(self, question: Callable[[Iterable[Any]], Iterator[tuple[Any, ...]]]) -> Context:
        assert len(next(iter(question([])))) == 7
        return self

    def collect(self) -> list[tuple[Any, ...]]:
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return [tuple(getattr(worker, name) for name in Worker.__slots__) for worker in answer]


def worker(**facts: Any) -> Worker:
    chosen: dict[str, Any] = {
        "host": "w1",
        "python": f"{HERE} x86_64",
        "executable": "python3",
        "pyarrow": "20",
        "ottla": ottla.__version__,
        "compiled": True,
        "trouble": "",
    }
    return Worker(**(chosen | facts))


LACKING = worker(ottla=None, compiled=False, trouble="No module named 'ottla'")


def ask(context: Context, ship: bool | None = None) -> bool:
    return ensure_on_workers(context, ship)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("master", "local"),
    [
        *(("local", True), ("local[2]", True), ("local[*,3]", True), ("local-cluster[2,1,1024]", False)),
        *(("spark://h:7077", False), ("yarn", False), ("k8s://https://h", False), (None, False)),
    ],
)
def test_only_a_master_without_processes_of_its_own_is_local(master: str | None, local: bool) -> None:
    assert is_local(master) is local


def test_workers_that_have_this_version_are_sent_nothing(tmp_path: Path) -> None:
    context = Context(tmp_path, [worker(), worker(host="w2")])
    assert ask(context) is False
    assert context.archives == [] and context.environment == {}


@pytest.mark.parametrize("first", [LACKING, worker(ottla="0.0.1")])
def test_workers_without_this_version_are_sent_it_and_asked_again(tmp_path: Path, first: Worker) -> None:
    context = Context(tmp_path, [worker(host="w2"), first], [worker(), worker(host="w2")])
    assert ask(context) is True
    assert len(context.archives) == 1 and context.archives[0].endswith(f".tar.gz#{FOLDER}")
    assert context.environment["PYTHONPATH"].split(os.pathsep)[0] == FOLDER
    assert context.answers == []


def test_what_was_asked_for_is_sent_without_asking_first(tmp_path: Path) -> None:
    context = Context(tmp_path, [worker()])
    assert ask(context, ship=True) is True
    assert ask(Context(tmp_path), ship=False) is False
    assert ask(Context(tmp_path, master="local[2]"), ship=True) is False


def test_what_was_sent_once_is_not_sent_again(tmp_path: Path) -> None:
    context = Context(tmp_path, [worker()], [worker()])
    assert ask(context, ship=True) is True
    path = context.environment["PYTHONPATH"]
    assert ask(context, ship=True) is True
    assert len(context.archives) == 1 and context.environment["PYTHONPATH"] == path


def test_files_that_an_installer_has_linked_are_sent_as_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real.py").write_text("x = 1")
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    monkeypatch.setattr(shipping, "shipped_files", lambda: iter([("a/link.py", tmp_path / "link.py")]))
    with tarfile.open(fileobj=io.BytesIO(archive_bytes())) as archive:
        (member,) = archive.getmembers()
        assert member.isfile() and member.size == 5


def test_a_worker_that_cannot_use_what_it_was_sent_is_named_with_the_way_out(tmp_path: Path) -> None:
    context = Context(tmp_path, [LACKING], [worker(ottla=None, trouble="no cramjam", python="3.9 aarch64")])
    with pytest.raises(WorkersUnfit, match=r"w1 .*Python 3\.9 aarch64\).*no cramjam.*install ottla=="):
        ask(context)


def test_a_worker_without_arrow_is_named(tmp_path: Path) -> None:
    with pytest.raises(WorkersUnfit, match="w1 has no pyarrow"):
        ask(Context(tmp_path, [worker(pyarrow=None)]))


def test_a_python_that_the_workers_lack_is_named(tmp_path: Path) -> None:
    failed = RuntimeError('java.io.IOException: Cannot run program "python3": No such file')
    with pytest.raises(WorkersUnfit, match=r"cannot run 'python3'.*PYSPARK_PYTHON"):
        ask(Context(tmp_path, failed))


def test_an_interpreted_codec_is_never_silent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "ottla.pipelines"):
        ask(Context(tmp_path, [worker(compiled=False)]))
    assert "interpreted on w1" in caplog.text
    caplog.clear()
    with pytest.MonkeyPatch.context() as patch, caplog.at_level(logging.WARNING, "ottla.pipelines"):
        patch.setattr(shipping, "COMPILED", False)
        ask(Context(tmp_path, master="local[2]"))
    assert "runs interpreted" in caplog.text


def test_the_archive_is_all_that_a_bare_python_needs_to_read_records(tmp_path: Path) -> None:
    """With nothing else on its path (-S -I: no site-packages) but the unpacked folder."""
    content = archive_bytes()
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        names = archive.getnames()
        archive.extractall(tmp_path / FOLDER, filter="data")
    assert not [name for name in names if "__pycache__" in name or name.startswith(("/", ".."))]
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path / FOLDER)!r})\n"
        "import ottla.pipelines.connections, ottla.client.sync.simple_consumer, ottla.client.sync.producer\n"
        "import ottla.wire.compression, ottla.wire.record_codec as codec\n"
        "print(ottla.__version__, codec.COMPILED, codec.__file__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-I", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    version, compiled, file = done.stdout.split()
    assert (version, compiled) == (ottla.__version__, str(shipping.COMPILED))
    assert file.startswith(str(tmp_path))


def test_the_same_files_are_the_same_archive_without_names_of_this_machine() -> None:
    first = archive_bytes()
    assert first == archive_bytes()
    with tarfile.open(fileobj=io.BytesIO(first)) as archive:
        owners = {(member.uid, member.uname, member.mtime) for member in archive.getmembers()}
    assert owners == {(0, "", 0)}


def test_the_command_writes_the_archive_and_says_how_to_submit_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "ottla.tar.gz"
    assert shipping.main([str(target)]) == 0
    assert tarfile.is_tarfile(target)
    said = capsys.readouterr().out
    assert f"--archives {target}#{FOLDER}" in said and f"spark.executorEnv.PYTHONPATH={FOLDER}" in said
    assert shipping.main([]) == 2
