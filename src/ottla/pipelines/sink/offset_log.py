"""The file in which Spark notes the offsets of a micro-batch before it runs it: `offsets/<batch id>` of a
checkpoint. One line for the format's version, one for the query's settings, one for each source, which is `-`
for a source without news. Newer forms name their sources, with one JSON object for all.

Which lines are of topics is told by their form, `{"clicks":{"0":12}}`: no other source writes its offsets so.
"""

from __future__ import annotations

import json
from typing import Any

from ottla.model.types import TopicPartition
from ottla.pipelines.source.offsets import from_json


def topic_offsets(text: str) -> dict[TopicPartition, int]:
    """Up to where the batch reads, of all sources that are topics; where two read the same partition, the
    earlier offset, so that nothing counts as read that one of them has not read.
    """
    found: dict[TopicPartition, int] = {}
    for line in text.splitlines()[2:]:
        for offsets in _offsets_in(line):
            for tp, offset in offsets.items():
                found[tp] = min(offset, found.get(tp, offset))
    return found


def _offsets_in(line: str) -> list[dict[TopicPartition, int]]:
    try:
        value = json.loads(line)
    except ValueError:
        return []
    own = _read(value)
    if own is not None:
        return [own]
    if isinstance(value, dict):  # by the sources' names; their offsets are objects, or texts of them
        named = [_read(json.loads(each) if _is_json(each) else each) for each in value.values()]
        return [each for each in named if each is not None]
    return []


def _is_json(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("{") and value.endswith("}")


def _read(value: Any) -> dict[TopicPartition, int] | None:
    try:
        return from_json(value) or None
    except ValueError:
        return None
