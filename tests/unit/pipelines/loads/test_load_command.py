"""The command lines of load and publish, as far as they go without Spark."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from killed_load import END, load, made

from ottla.cli.load import load as load_command
from ottla.cli.main import run
from ottla.cli.publish import publish as publish_command
from ottla.pipelines.loads.load import _uninterrupted


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "name at least one topic"),
        (["t"], "--to DIR"),
        (["t", "--to", "d", "--since", "1", "--from-offsets", "f"], "exclude each other"),
        (["t", "--to", "d", "--until", "1", "--until-offsets", "f"], "exclude each other"),
        (["t", "--to", "d", "--reload"], "needs to know from where"),
        (["t", "--to", "d", "--on-error", "null", "--dead-letters", "x"], "exclude each other"),
        (["t", "--list", "d"], "leave out topics"),
        (["t", "--to", "d", "--format", "orc"], "orc"),
        (["t", "--to", "d", "--conf", "x"], "write --conf key=value"),
    ],
)
def test_wrong_options_are_refused_with_a_line(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(load_command, arguments, "ottla load") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert sentence in line


def test_files_that_cannot_be_read_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "latin").write_bytes(b"\xff")
    for name, sentence in (("missing", "No such file"), ("latin", "is not UTF-8")):
        arguments = ["t", "--to", str(tmp_path / "d"), "--from-offsets", str(tmp_path / name)]
        assert run(load_command, arguments, "ottla load") == 1
        assert sentence in capsys.readouterr().err
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "mine.txt").write_text("x")
    assert run(load_command, ["t", "--to", str(tmp_path / "d")], "ottla load") == 1
    assert "holds other files (mine.txt)" in capsys.readouterr().err
    assert run(publish_command, ["f", "--topic", "t", "--checkpoint", "c"], "ottla publish") == 2
    assert "need each other" in capsys.readouterr().err


@pytest.mark.parametrize("format", ["parquet", "delta", "iceberg"])
def test_a_table_is_listed_and_verified_without_spark(
    tmp_path: Path, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t"
    load(path, format)
    assert run(load_command, ["--list", str(path)], "ottla load") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{path}: {format}, made by load")
    assert lines[2].split()[:6] == ["clicks", "0", "0", str(END - 1), str(END), str(END)]
    assert run(load_command, ["--list", str(path), "--json"], "ottla load") == 0
    assert json.loads(capsys.readouterr().out)["partitions"][0]["position"] == END
    assert run(load_command, ["--verify", str(path)], "ottla load") == 0
    assert f"{END} records: no problem" in capsys.readouterr().out
    (path / made(path, format).files()[0].path).unlink()
    assert run(load_command, ["--verify", str(path)], "ottla load") == 1
    assert "is missing" in capsys.readouterr().err
    assert run(load_command, ["--list", str(tmp_path / "none")], "ottla load") == 1
    assert "does not exist" in capsys.readouterr().err


def test_ctrl_c_during_a_commit_waits_until_it_is_through() -> None:
    steps = []

    def commit() -> None:
        with _uninterrupted():
            signal.raise_signal(signal.SIGINT)
            steps.append("committed")

    with pytest.raises(KeyboardInterrupt):
        commit()
    assert steps == ["committed"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)  # the handler is back
