"""Fused steps: a chain of Python functions as one pass over columns."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from ottla.streams import KStream, RecordError, StreamsBuilder, TopologyError, value
from ottla.streams.fused import fuse
from ottla.streams.plan import Node


def chain(stream: Any) -> list[Node]:
    """The steps of a stream behind its source."""
    nodes: list[Node] = []
    node = stream.node
    while node.parents:
        nodes.append(node)
        (node,) = node.parents
    return nodes[::-1]


def start() -> KStream:
    return StreamsBuilder().stream("a")


def run(stream: Any, keys: list[Any], values: list[Any]) -> tuple[list[int], list[Any], list[Any]]:
    return tuple(fuse(chain(stream))(keys, values))  # type: ignore[return-value]


def test_each_output_row_says_which_input_row_it_comes_from() -> None:
    stream = (
        start()
        .flat_map_values(lambda v: v.split())
        .filter(lambda k, v: v != "drop")
        .map(lambda k, v: (v, len(v)))
        .map_values(lambda k, v: f"{k}{v}")
    )
    assert run(stream, ["x", "y", "z"], ["a drop bb", "", "ccc"]) == (
        [0, 0, 2],
        ["a", "bb", "ccc"],
        ["a1", "bb2", "ccc3"],
    )


@pytest.mark.parametrize(
    ("stream", "result"),
    [
        (start().select_key(lambda k, v: v), ([0, 1], ["a", None], ["a", None])),
        (start().filter_not(lambda k, v: v), ([1], ["y"], [None])),
        (
            start().flat_map(lambda k, v: [(v, k)] * 2),
            ([0, 0, 1, 1], ["a", "a", None, None], ["x", "x", "y", "y"]),
        ),
        (start().flat_map_values(lambda v: None), ([], [], [])),
        (start().peek(lambda k, v: v), ([0, 1], ["x", "y"], ["a", None])),
        (start().filter(value == "a"), ([0], ["x"], ["a"])),
        (start().filter_not(value == "b"), ([0], ["x"], ["a"])),  # null is neither equal nor unequal
        (start().map(key=value.upper()), ([0, 1], ["A", None], ["a", None])),
        (start().flat_map_values(value.split("a")), ([0, 0], ["x", "x"], ["", ""])),
    ],
)
def test_each_step_does_what_it_says_also_with_nulls(stream: Any, result: Any) -> None:
    assert run(stream, ["x", "y"], ["a", None]) == result


def test_a_branch_takes_the_records_for_which_its_predicate_is_the_first_that_holds() -> None:
    small, large = start().branch(lambda k, v: v < 5, lambda k, v: v < 50)
    rest = start().split().branch(lambda k, v: v < 5).branch(lambda k, v: v < 50).default_branch()["0"]
    values = [1, 10, 100, 2]
    assert [run(stream, [None] * 4, values)[0] for stream in (small, large, rest)] == [[0, 3], [1], [2]]


def test_of_a_table_deletions_pass_unseen_and_dropped_rows_become_deletions() -> None:
    table = StreamsBuilder().table("t").map_values(lambda v: v + 1).filter(lambda k, v: v > 5)
    assert run(table, ["x", "y", "z"], [1, None, 7]) == ([0, 1, 2], ["x", "y", "z"], [None, None, 8])


def test_an_error_names_the_step_and_the_record_of_the_input() -> None:
    stream = start().flat_map_values(str.split).map_values(int, name="to-int")
    with pytest.raises(RecordError) as raised:
        fuse(chain(stream))(
            ["x", "y"], ["1 2", "3 four"], lambda row: f"topic a, partition 0, offset {row + 40}"
        )
    assert str(raised.value) == (
        "to-int failed on the record of topic a, partition 0, offset 41 (key 'y', value 'four'): "
        "ValueError: invalid literal for int() with base 10: 'four'"
    )
    assert isinstance(raised.value.__cause__, ValueError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


class Loud:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        (start().map(lambda k, v: v), "cannot unpack|not enough values|too many values"),
        (
            start().flat_map_values(lambda v: "text"),
            "of results was expected, not 'text'",
        ),
        (start().flat_map_values(lambda v: 5), "'int' object is not iterable"),
        (start().flat_map(lambda k, v: [1]), "cannot unpack"),
    ],
)
def test_a_function_that_returns_the_wrong_shape_is_an_error_of_that_record(stream: Any, said: str) -> None:
    with pytest.raises(RecordError, match=said):
        run(stream, ["x"], [Loud()])


def test_only_stateless_steps_can_be_fused() -> None:
    with pytest.raises(TopologyError, match="is not a step that can be fused"):
        fuse([start().group_by_key().count().node])
