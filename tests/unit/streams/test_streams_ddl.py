"""Types in Spark's DDL: one spelling per type, parts of types, and sentences for what is not one."""

from __future__ import annotations

import pytest

from ottla.streams import ddl
from ottla.streams.errors import TopologyError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("string", "string"),
        ("LONG", "bigint"),
        ("integer", "int"),
        ("bytes", "binary"),
        ("user string, delay int", "struct<user:string,delay:int>"),
        ("user: string, delay: int NOT NULL", "struct<user:string,delay:int>"),
        ("struct<a: array<int>, b:map<string, double>>", "struct<a:array<int>,b:map<string,double>>"),
        ("array< struct<a:int> >", "array<struct<a:int>>"),
        ("decimal(10, 2)", "decimal(10,2)"),
        ("decimal", "decimal(10,0)"),
        ("`a b` int, `c``d` string", "struct<`a b`:int,`c``d`:string>"),
        ("struct<>", "struct<>"),
        ("object", "object"),
    ],
)
def test_a_type_has_one_spelling(written: str, meant: str) -> None:
    assert ddl.type_of(written) == meant
    assert ddl.type_of(meant) == meant


@pytest.mark.parametrize(
    "written",
    [
        "",
        "strin",
        "array<",
        "array<int",
        "map<string>",
        "a int,",
        "a int b",
        "struct<a int",
        "decimal(50,2)",
        "int>",
        "array<object>",
        "a int, A string",
        "a int; drop",
        "array<" * 100 + "int" + ">" * 100,
    ],
)
def test_what_is_not_a_type_is_refused_with_its_text(written: str) -> None:
    with pytest.raises(TopologyError, match="is not a type that Spark's DDL has"):
        ddl.type_of(written)


def test_parts_of_types_are_found() -> None:
    nested = ddl.type_of("a struct<x int, y map<string,int>>, `b c` array<decimal(5,2)>")
    assert ddl.fields(nested) == {"a": "struct<x:int,y:map<string,int>>", "b c": "array<decimal(5,2)>"}
    assert ddl.element("array<map<string,int>>") == "map<string,int>"
    assert ddl.map_types("map<string,struct<a:int,b:int>>") == ("string", "struct<a:int,b:int>")
    assert ddl.fields("string") is None
    assert ddl.element("struct<a:int>") is None


@pytest.mark.parametrize(
    ("one", "two", "sum_of_both"),
    [
        ("int", "bigint", "bigint"),
        ("smallint", "smallint", "smallint"),
        ("int", "double", "double"),
        ("int", "float", "double"),  # Spark's ANSI rule: a float has fewer digits than an int
        ("float", "float", "float"),
    ],
)
def test_a_sum_has_the_wider_type(one: str, two: str, sum_of_both: str) -> None:
    assert ddl.wider(one, two) == ddl.wider(two, one) == sum_of_both
