"""Which modules of a program are sent to the workers whole."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.streams import StreamsBuilder
from ottla.streams.running.by_value import modules_of
from ottla.streams.serdes import time_windowed


def shout(line: str) -> str:
    return line.upper()


def add(key: str, line: str, total: int) -> int:
    return total + len(line)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder from which modules are imported."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def names_of(builder: StreamsBuilder) -> set[str]:
    """Without the tests' own modules, which lie in one folder."""
    return {module.__name__ for module in modules_of(builder.build())}


def test_modules_that_no_worker_can_import_are_sent_and_installed_ones_are_not() -> None:
    builder = StreamsBuilder()
    builder.stream("in").map_values(json.loads).map_values(str).to("a")
    assert modules_of(builder.build()) == []
    builder.stream("in").map_values(shout).to("b")
    assert sys.modules[__name__] in modules_of(builder.build())
    other = StreamsBuilder()
    other.stream("in").group_by_key().aggregate(int, add).to_stream().to("c")
    sent = names_of(other)
    assert __name__ in sent
    assert not {name for name in sent if name.split(".")[0] in ("ottla", "pytest", "json", "__main__")}


def test_what_a_program_imports_from_its_own_folder_is_sent_with_it(program: Path) -> None:
    """A lambda that calls a helper of another file is sent with the helper's name only."""
    (program / "helper_of_mine.py").write_text("def shout(line):\n    return line.upper()\n")
    (program / "kit_of_mine").mkdir()
    (program / "kit_of_mine" / "__init__.py").write_text("")
    (program / "kit_of_mine" / "steps.py").write_text(
        "import helper_of_mine\nstep = lambda line: helper_of_mine.shout(line)\n"
    )
    from kit_of_mine.steps import step  # type: ignore[import-not-found]

    builder = StreamsBuilder()
    builder.stream("in").map_values(step).to("out")
    assert names_of(builder) == {"helper_of_mine", "kit_of_mine", "kit_of_mine.steps"}


def test_the_module_of_a_serde_is_sent_too(program: Path) -> None:
    (program / "serde_of_mine.py").write_text(
        "class Upper:\n"
        "    def serialize(self, thing):\n        return thing.upper().encode()\n"
        "    def deserialize(self, data):\n        return data.decode().lower()\n"
    )
    from serde_of_mine import Upper  # type: ignore[import-not-found]

    plain = StreamsBuilder()
    plain.stream("in", value_serde=Upper()).to("out")
    assert names_of(plain) == {"serde_of_mine"}
    within = StreamsBuilder()
    within.stream("in", key_serde=time_windowed(Upper(), 5)).to("out", key_serde="json")
    assert names_of(within) == {"serde_of_mine"}
