"""Java's `.properties` text (java.util.Properties.load), which server.properties is written in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.model.properties import PropertiesError, decode_properties, format_properties, parse_properties


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("a=1", {"a": "1"}),
        ("a = 1 ", {"a": "1 "}),
        ("a: 1", {"a": "1"}),
        ("a 1", {"a": "1"}),
        ("a\t\f: =1", {"a": "=1"}),
        ("  a=1", {"a": "1"}),
        ("a", {"a": ""}),
        ("a=", {"a": ""}),
        ("=1", {"": "1"}),
        ("# a=1\n! b=2\n\n c=3", {"c": "3"}),
        ("a=1\na=2", {"a": "2"}),
        ("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}),
        ("a=1,\\\n   2,\\\n   3", {"a": "1,2,3"}),
        ("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}),
        ("a=x\\\n#y", {"a": "x#y"}),
        ("a=1\\", {"a": "1"}),
        ("a\\=b=c", {"a=b": "c"}),
        ("a\\ b=c", {"a b": "c"}),
        ("a\\:b:c:d", {"a:b": "c:d"}),
        ("a=\\t\\n\\r\\f\\q", {"a": "\t\n\r\fq"}),
        ("a=\\u00e9\\u4E2D", {"a": "é中"}),
        ("a=\\ud83d\\ude00", {"a": "😀"}),
        ("a=x\u2028y", {"a": "x\u2028y"}),
        (
            "listeners=PLAINTEXT://:9092,CONTROLLER://:9093",
            {"listeners": "PLAINTEXT://:9092,CONTROLLER://:9093"},
        ),
    ],
)
def test_text_gives_the_pairs_that_java_reads(text: str, pairs: dict[str, str]) -> None:
    assert parse_properties(text) == pairs


def test_a_bad_unicode_escape_is_an_error_that_names_its_line() -> None:
    with pytest.raises(PropertiesError, match="line 2"):
        parse_properties("a=1\nb=\\u12g4")


def test_a_file_may_be_utf_8_or_latin_1() -> None:
    assert decode_properties("a=é".encode()) == {"a": "é"}
    assert decode_properties("a=é".encode("iso-8859-1")) == {"a": "é"}
    assert decode_properties("\ufeffa=1".encode()) == {"a": "1"}


@given(st.dictionaries(st.text(), st.text(), max_size=8))
def test_what_is_written_is_read_back(pairs: dict[str, str]) -> None:
    text = format_properties(pairs, comment="a comment\nof two lines")
    assert text.isascii()
    assert parse_properties(text) == pairs


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        pairs = parse_properties(text)
    except PropertiesError:
        return
    assert all(isinstance(each, str) for pair in pairs.items() for each in pair)
