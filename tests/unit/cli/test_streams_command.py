"""`ottla streams run`: the program is found in its file, and what is wrong is said before Spark starts."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ottla.cli import streams as command
from ottla.cli import streams_program
from ottla.cli.main import run

PROGRAM = """
from ottla.streams import StreamsBuilder
builder = StreamsBuilder()
builder.stream("in").map_values(lambda value: value.upper()).to("out")
"""


@pytest.fixture(autouse=True)
def _forget_the_program() -> Iterator[None]:
    path, modules = list(sys.path), set(sys.modules)
    yield
    sys.path[:] = path
    for name in set(sys.modules) - modules:
        if name == streams_program.MODULE:
            del sys.modules[name]


def written(tmp_path: Path, text: str, name: str = "shout.py") -> str:
    file = tmp_path / name
    file.write_text(text)
    return str(file)


def ottla_streams(*arguments: str) -> int:
    return run(command.streams, ["run", *arguments], "ottla streams")


def test_the_plan_is_printed_without_spark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ottla_streams(written(tmp_path, PROGRAM), "--describe") == 0
    said = capsys.readouterr().out
    assert "topics: [in]" in said and "topic: out" in said


def test_a_script_that_also_runs_itself_is_not_run_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = PROGRAM + "if __name__ == '__main__':\n    raise SystemExit('started twice')\n"
    assert ottla_streams(written(tmp_path, text), "--describe") == 0


def test_modules_beside_the_program_can_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path, "TOPIC = 'from-a-neighbour'\n", "names_of_topics_beside.py")
    text = PROGRAM.replace('"in"', "names_of_topics_beside.TOPIC")
    assert ottla_streams(written(tmp_path, "import names_of_topics_beside\n" + text), "--describe") == 0
    assert "from-a-neighbour" in capsys.readouterr().out


def test_only_modules_of_the_programs_own_folder_are_sent_as_code(tmp_path: Path) -> None:
    """A whole Python may lie below the folder, as in a home: its libraries are installed ones."""

    def module(name: str, file: str) -> ModuleType:
        made = ModuleType(name)
        made.__file__ = str(tmp_path / file)
        return made

    beside = [module("words", "words.py"), module("shop.prices", "shop/prices.py")]
    beside.append(module("shop", "shop/__init__.py"))
    installed = [
        *(module("json", "python/lib/python3.11/json/__init__.py"), module("os", "python/lib/os.py")),
        *(module("ottla.client", "ottla/client/__init__.py"), ModuleType("sys")),
        module("pyarrow.lib", ".venv/lib/python3.11/site-packages/pyarrow/lib.so"),
    ]
    assert [each for each in beside + installed if streams_program.lies_beside(each, tmp_path)] == beside


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("builder = (", "shout.py:1: '(' was never closed"),
        ("x = 1\nx.nothing()\n", "shout.py:2: 'int' object has no attribute 'nothing' (at: x.nothing())"),
        ("x = 1\n", "no StreamsBuilder in it"),
        (
            PROGRAM.replace("builder", "one") + PROGRAM.replace("builder", "two"),
            "which of one, two is meant?",
        ),
        (
            "from ottla.streams import StreamsBuilder\nbuilder = StreamsBuilder()\nbuilder.stream('')\n",
            ":3: ",
        ),
    ],
)
def test_a_program_that_is_none_is_one_line_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert ottla_streams(written(tmp_path, text), "--describe") == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_one_of_several_builders_can_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PROGRAM.replace("builder", "one") + PROGRAM.replace("builder", "two").replace('"in"', '"second"')
    file = written(tmp_path, text)
    assert ottla_streams(file, "--describe", "--name", "two") == 0
    assert "second" in capsys.readouterr().out
    assert ottla_streams(file, "--describe", "--name", "three") == 1


def test_wrong_options_are_usage_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, PROGRAM)
    assert ottla_streams(str(tmp_path / "missing.py")) == 2
    assert ottla_streams(file, "--available-now", "--interval-ms", "5") == 2
    assert ottla_streams(file, "--option", "nonsense") == 2
    assert ottla_streams(file, "--master", "spark://host:7077") == 2
    assert "all workers see" in capsys.readouterr().err


class Application:
    """What the command uses of a running application."""

    def __init__(self, batches: list[dict[str, float]], end: BaseException | None = None) -> None:
        self._batches = batches
        self._end = end
        self._now = {"batch": -1.0, "rows": 0.0, "rows_per_second": 0.0, "lag": 0.0}
        self.stopped = False

    def await_termination(self, timeout: float) -> bool:
        if self._batches:
            self._now = self._batches.pop(0)
            return False
        if isinstance(self._end, KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            return False
        if self._end is not None:
            raise self._end
        return True

    def progress(self) -> dict[str, dict[str, float]]:
        return {"stage": self._now}

    def stop(self) -> None:
        self.stopped = True


def batch(number: int, rows: int) -> dict[str, float]:
    return {"batch": number, "rows": rows, "rows_per_second": 1234.5, "lag": 7}


def started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, application: Application) -> dict[str, Any]:
    """The application is started instead of a real one; how it was asked for."""
    import ottla.streams.runtime

    asked: dict[str, Any] = {}

    def start(program: object, **arguments: Any) -> Application:
        asked.update(arguments)
        return application

    monkeypatch.setattr(ottla.streams.runtime, "run", start)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return asked


def test_every_batch_with_records_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = started(
        monkeypatch, tmp_path, Application([batch(0, 1000), batch(0, 1000), batch(1, 0), batch(2, 5)])
    )
    arguments = ("--available-now", "--option", "maxOffsetsPerTrigger=10", "-b", "host:1")
    assert ottla_streams(written(tmp_path, PROGRAM), *arguments) == 0
    lines = [line for line in capsys.readouterr().err.splitlines() if "stage:" in line]
    assert [line.split(" ", 1)[1] for line in lines] == [
        "stage: batch 0, 1,000 records, 1,234 records/s, 7 behind",
        "stage: batch 2, 5 records, 1,234 records/s, 7 behind",
    ]
    assert asked["application_id"] == "shout" and asked["bootstrap_servers"] == "host:1"
    assert asked["trigger"] == {"availableNow": True}
    assert asked["options"] == {"maxOffsetsPerTrigger": "10"}
    assert asked["checkpoint"] == str(tmp_path / "state" / "ottla" / "streams" / "shout")


def test_ctrl_c_stops_after_the_batch_and_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    application = Application([batch(0, 1)], KeyboardInterrupt())
    started(monkeypatch, tmp_path, application)
    assert ottla_streams(written(tmp_path, PROGRAM)) == 0
    assert application.stopped
    assert "stopping after the current batch" in capsys.readouterr().err


def test_a_failure_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ottla.streams.running.failures import ApplicationFailed

    failed = ApplicationFailed("stage s: map_values raised ValueError on in partition 1 offset 17")
    started(monkeypatch, tmp_path, Application([], failed))
    assert ottla_streams(written(tmp_path, PROGRAM), "--quiet") == 1
    assert capsys.readouterr().err == f"ottla: {failed}\n"
