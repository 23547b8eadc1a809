"""The partition of `__consumer_offsets` that a group belongs to is the one that Java computes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.coordination.partitioner import java_hash, partition_of_key


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),  # Java: "hello".hashCode()
        ("Hello, World!", 1498789909),
        ("polygenelubricants", -2147483648),  # the well-known string whose hash has no absolute value
        ("é", 233),
        ("日本語", 25921943),
        ("\U0001f600", 1772899),  # two code units: d83d * 31 + de00
    ],
)
def test_the_hash_is_javas_over_utf_16_code_units(text: str, expected: int) -> None:
    assert java_hash(text) == expected


def test_the_hash_that_has_no_absolute_value_goes_to_partition_0() -> None:
    assert partition_of_key("polygenelubricants", 50) == 0


def test_a_negative_hash_loses_its_sign_before_the_modulo() -> None:
    text = "clickstream"
    assert java_hash(text) < 0
    assert partition_of_key(text, 50) == -java_hash(text) % 50


@given(st.text(max_size=40), st.integers(1, 1_000))
def test_every_group_id_has_a_partition(group_id: str, partition_count: int) -> None:
    assert 0 <= partition_of_key(group_id, partition_count) < partition_count


@given(st.text(max_size=20))
def test_the_hash_is_the_polynomial_in_31_of_the_code_units(text: str) -> None:
    data = text.encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2)]
    total = sum(unit * 31 ** (len(units) - 1 - i) for i, unit in enumerate(units)) % 2**32
    assert java_hash(text) % 2**32 == total
