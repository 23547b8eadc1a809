"""docs/streams.md: its examples are programs that can be written, described and (the first one) tested."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ottla.streams

PAGE = (Path(__file__).parents[3] / "docs" / "streams.md").read_text()


def test_all_examples_of_the_documentation_can_be_written() -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        if "import run" not in block:  # that one needs a broker
            exec(compile(block, "docs/streams.md", "exec"), names)
    text = names["builder"].describe("docs")
    assert "clicks-per-page" in text and "clicks-once" in text


def test_all_operators_are_in_the_documentation() -> None:
    from ottla.streams import KStream, KTable, StreamsBuilder
    from ottla.streams.kgrouped import CogroupedKStream, KGroupedStream, KGroupedTable

    for kind in (KStream, KTable, KGroupedStream, KGroupedTable, CogroupedKStream):
        for name in vars(kind):
            assert name.startswith("_") or f"{name}(" in PAGE, f"{kind.__name__}.{name} has no example"
    for name in ("stream", "table", "global_table", "describe"):
        assert f"builder.{name}(" in PAGE
    assert StreamsBuilder.__doc__


def test_every_public_name_can_be_imported() -> None:
    spark_only = {"run", "StreamsApplication"}
    for name in ottla.streams.__all__:
        if name not in spark_only:
            assert getattr(ottla.streams, name) is not None
    assert set(ottla.streams.__all__) <= set(dir(ottla.streams))
