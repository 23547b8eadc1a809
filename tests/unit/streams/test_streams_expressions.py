"""Expressions: their SQL, their type, and the same result in Python that Spark would give."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from ottla.streams import (
    TopologyError,
    Windowed,
    avg_of,
    coalesce,
    concat,
    count_of,
    key,
    left,
    lit,
    max_of,
    min_of,
    right,
    sql,
    struct,
    sum_of,
    timestamp,
    value,
    window_end,
    window_start,
)
from ottla.streams.aggregate_expressions import aggregates_in
from ottla.streams.expressions import Expression, Row, Types

EVENT = "struct<user:string,delay:int,tags:array<string>,more:map<string,double>>"
TYPES = Types(key="string", value=EVENT)


@pytest.mark.parametrize(
    ("expression", "text", "type_name"),
    [
        (value["delay"] > 15, "(value['delay'] > 15)", "boolean"),
        (value["user"].lower(), "lower(value['user'])", "string"),
        (value["tags"][0], "get(value['tags'], 0)", "string"),
        (value["more"]["it's"], "value['more']['it\\'s']", "double"),
        ((value["delay"] > 1) & ~(key == "a"), "((value['delay'] > 1) AND (NOT (key = 'a')))", "boolean"),
        (1 - value["delay"] / 2, "(1 - (value['delay'] / 2))", "double"),
        (value["user"].split("."), "split(value['user'], '\\\\Q.\\\\E')", "array<string>"),
        (value["delay"].cast("string"), "CAST(value['delay'] AS string)", "string"),
        (value["delay"].is_not_null(), "(NOT (value['delay'] IS NULL))", "boolean"),
        (coalesce(value["delay"], 0), "coalesce(value['delay'], 0)", "int"),
        (concat(key, "-", value["user"]), "concat(key, '-', value['user'])", "string"),
        (
            struct(a=key, b=lit(1 << 40)),
            "named_struct('a', key, 'b', 1099511627776L)",
            "struct<a:string,b:bigint>",
        ),
        (timestamp, "timestamp", "timestamp"),
        (sql("upper(key)", returns="string"), "(upper(key))", "string"),
        (lit(Decimal("-12.50")), "-12.50BD", "decimal(4,2)"),
        (sum_of(lit(Decimal("0.005"))), "sum(0.005BD)", "decimal(13,3)"),
        (sum_of(value["delay"]), "sum(value['delay'])", "bigint"),
        (count_of(), "count(*)", "bigint"),
        (avg_of(value["delay"]), "avg(value['delay'])", "double"),
        (max_of(value["user"]), "max(value['user'])", "string"),
    ],
)
def test_an_expression_knows_its_sql_and_its_type(expression: Expression, text: str, type_name: str) -> None:
    assert expression.sql == text
    assert expression.type_in(TYPES) == type_name


RECORD = {"user": "Anna", "delay": 20, "tags": ["x", "y"], "more": {"a": 1.5}}


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (value["delay"] > 15, True),
        (value["user"].lower(), "anna"),
        (value["user"].upper(), "ANNA"),
        (value["user"].length(), 4),
        (value["user"].contains("nn"), True),
        (value["user"].startswith("A") & value["user"].endswith("z"), False),
        (value["user"].replace("nn", "n"), "Ana"),
        (lit(" a ").strip(), "a"),
        (lit("a.b..").split("."), ["a", "b", "", ""]),
        (value["tags"][1], "y"),
        (value["tags"][7], None),
        (value["more"]["b"], None),
        (value["delay"] + value["more"]["a"] * 2, 23.0),
        (lit(-7) % 3, -1),  # the sign of the dividend, as in Java
        (-value["delay"], -20),
        (value["delay"].cast("string"), "20"),
        (lit("7").cast("int") + 1, 8),
        (lit(True).cast("string"), "true"),
        (value["delay"].is_in(1, 20), True),
        (coalesce(value["more"]["b"], value["delay"]), 20),
        (struct(u=value["user"], late=value["delay"] > 15), {"u": "Anna", "late": True}),
        (timestamp, datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)),
    ],
)
def test_an_expression_is_computed_in_python(expression: Expression, result: Any) -> None:
    assert expression.evaluate("k", RECORD, 1_000) == result


NULL = value["more"]["nothing"] > 0.0


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (NULL, None),
        (~NULL, None),
        (NULL & lit(False), False),
        (NULL & lit(True), None),
        (NULL | lit(True), True),
        (NULL | lit(False), None),
        (NULL.is_null(), True),
        (value["nothing"] + 1, None),
        (value["nothing"].lower(), None),
    ],
)
def test_null_is_contagious_and_logic_has_three_values_as_in_sql(expression: Expression, result: Any) -> None:
    assert expression.evaluate("k", RECORD) is result


def test_windows_and_both_sides_of_a_join_are_columns() -> None:
    windowed = Windowed("a", 1_000, 2_000)
    assert key.evaluate(windowed, 1) == "a"
    assert window_start.evaluate(windowed, 1) == datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)
    assert window_end.sql == "window.end"
    joiner = struct(l=left, r=right["x"])
    assert joiner.sql == "named_struct('l', left_value, 'r', right_value['x'])"
    assert joiner.type_in(Types(key="string", left="int", right="struct<x:int>")) == "struct<l:int,r:int>"
    assert joiner.evaluate("k", None, left=1, right={"x": 2}) == {"l": 1, "r": 2}


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        (value["delai"] > 1, "there is no field 'delai' in struct<user:string"),
        (value["user"] > 1, "string cannot be compared with int"),
        (value["user"] + "x", "texts are joined by concat"),
        (value["user"] * 2, "'\\*' wants two numbers, not string and int"),
        (value["delay"].lower(), "lower wants a string, not int"),
        (value["delay"] & (value["delay"] > 1), "AND wants two conditions"),
        (key["a"], "is asked of string, which has no fields"),
        (key[0], "is asked of string, which is not an array"),
        (lit(Decimal("1.5")) + 1, "each operation on decimals has digits of its own"),
        (avg_of(lit(Decimal("1.5"))), "cast\\('double'\\) first"),
        (window_start, "only there where keys are windowed"),
        (left, "there is no 'left' here"),
        (coalesce(key, 1), "coalesce wants choices of one type"),
        (sum_of(key), "sum wants numbers, not string"),
        (sum_of(count_of()), "an aggregate of an aggregate"),
    ],
)
def test_an_expression_that_makes_no_sense_is_refused_in_a_sentence(
    expression: Expression, said: str
) -> None:
    with pytest.raises(TopologyError, match=said):
        expression.type_in(TYPES)


def test_a_python_object_cannot_be_looked_into_and_the_error_says_how_to_help() -> None:
    with pytest.raises(TopologyError, match="say its type with returns="):
        (value["delay"] > 15).type_in(Types(key="string", value="object"))


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda: bool(value["a"] == 1), "use & for and"),
        (lambda: list(value), "cannot be looped over"),
        (lambda: "a" in value, "use .contains"),
        (lambda: value["a"] == None, "use .is_null"),  # noqa: E711
        (lambda: value[-1], "counted from its beginning"),
        (lambda: value[1.5], "the name of a field or the index"),
        (lambda: value.split(""), "separator that is not empty"),
        (lambda: lit(datetime(2020, 1, 1)), "has no time zone"),
        (lambda: lit(object()), "cannot be a constant"),
        (lambda: lit(1 << 64), "does not fit into 64 bits"),
        (lambda: struct(), "at least one field"),
    ],
)
def test_a_mistake_is_named_where_it_is_written(mistake: Any, said: str) -> None:
    with pytest.raises(TopologyError, match=said):
        mistake()


def test_sql_of_the_users_is_left_to_spark() -> None:
    with pytest.raises(TopologyError, match="can only be computed by Spark"):
        sql("upper(value)", returns="string").evaluate("k", "v")


def test_aggregates_fold_values_and_leave_nulls_out() -> None:
    tree = struct(
        n=count_of(), some=count_of(value), total=sum_of(value), low=min_of(value), mean=avg_of(value)
    )
    leaves = aggregates_in(tree)
    states = [leaf.start() for leaf in leaves]
    for each in (3, None, 5):
        states = [leaf.add(state, Row("k", each)) for leaf, state in zip(leaves, states, strict=True)]
    result = tree.compute(Row("k", aggregates={id(a): s for a, s in zip(leaves, states, strict=True)}))
    assert result == {"n": 3, "some": 2, "total": 8, "low": 3, "mean": 4.0}


def test_the_sum_of_no_values_is_null() -> None:
    (leaf,) = aggregates_in(sum_of(value))
    state = leaf.add(leaf.start(), Row("k", None))
    assert leaf.compute(Row("k", aggregates={id(leaf): state})) is None


def test_merged_aggregates_are_those_of_all_values() -> None:
    for aggregate in (count_of(), sum_of(value), min_of(value), max_of(value), avg_of(value)):
        (leaf,) = aggregates_in(aggregate)

        def folded(values: list[int], leaf: Any = leaf) -> Any:
            state = leaf.start()
            for each in values:
                state = leaf.add(state, Row("k", each))
            return state

        assert leaf.merge(folded([1, 9]), folded([4])) == folded([1, 9, 4])
        assert leaf.merge(folded([]), folded([4])) == folded([4])
