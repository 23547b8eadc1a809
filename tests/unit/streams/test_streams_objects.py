"""The canonical encoding: equal objects are equal bytes, and everything comes back as it was."""

from __future__ import annotations

import contextlib
import math
import threading
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.streams import SerdeError, Windowed
from ottla.streams.objects import decode, encode, encode_key

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(),
    st.binary(),
    st.datetimes(timezones=st.just(UTC)),
    st.datetimes(),
    st.dates(),
)
OBJECTS = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=3), inner, max_size=4),
        st.builds(Windowed, inner, st.integers(0, 1 << 62), st.integers(0, 1 << 62)),
    ),
    max_leaves=12,
)


def same(one: Any, two: Any) -> bool:
    """Equal, and of the same types all the way down."""
    if type(one) is not type(two):
        return False
    if isinstance(one, (list, tuple)):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return one.keys() == two.keys() and all(same(one[name], two[name]) for name in one)
    if isinstance(one, Windowed):
        return same((one.key, one.start_ms, one.end_ms), (two.key, two.start_ms, two.end_ms))
    return bool(one == two)


@settings(max_examples=150, deadline=None)
@given(OBJECTS)
def test_an_object_comes_back_as_it_was(thing: Any) -> None:
    assert same(decode(encode(thing)), thing)
    assert encode_key(thing) == encode(thing)


@settings(max_examples=150, deadline=None)
@given(OBJECTS, OBJECTS)
def test_equal_objects_are_equal_bytes_and_others_are_not(one: Any, two: Any) -> None:
    assert (encode(one) == encode(two)) == same(one, two)


def test_the_order_of_a_dict_does_not_matter() -> None:
    assert encode({"a": 1, "b": [2]}) == encode({"b": [2], "a": 1})


def test_zeros_nans_and_moments_have_one_form() -> None:
    assert encode(-0.0) == encode(0.0)
    assert encode(math.nan) == encode(-math.nan)
    berlin = datetime(2024, 1, 1, 12, tzinfo=timezone(timedelta(hours=1)))
    assert encode(berlin) == encode(datetime(2024, 1, 1, 11, tzinfo=UTC))


def test_types_are_kept_apart() -> None:
    assert len({encode(thing) for thing in (1, 1.0, True, "1", b"1", (1,), [1])}) == 7


def test_other_objects_are_pickled_as_values_and_refused_as_keys() -> None:
    assert decode(encode(Decimal("1.5"))) == Decimal("1.5")
    assert decode(encode({"when": [frozenset({1})]})) == {"when": [frozenset({1})]}
    with pytest.raises(SerdeError, match="cannot be a key: a frozenset has no canonical form"):
        encode_key(("a", frozenset({1})))


@given(st.decimals(allow_nan=False), st.integers(0, 5))
def test_decimals_are_keys_whatever_the_zeros_at_their_end(number: Decimal, zeros: int) -> None:
    """A column of type decimal may be a key: Spark takes 1.5 and 1.50 for equal."""
    assert decode(encode_key(number)) == number
    if number.is_finite():
        sign, digits, exponent = number.as_tuple()
        assert isinstance(exponent, int)
        longer = Decimal((sign, (*digits, *[0] * zeros), exponent - zeros))
        assert encode_key(longer) == encode_key(number)
    assert encode_key(Decimal("-0.00")) == encode_key(Decimal(0))
    assert encode_key(Decimal(1)) != encode_key(1)


def test_what_cannot_be_pickled_is_said() -> None:
    with pytest.raises(SerdeError, match="cannot be pickled"):
        encode(threading.Lock())


def test_an_object_that_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(SerdeError, match="nested more than"):
        encode(endless)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=40).filter(lambda data: b"p" not in data))
def test_any_bytes_are_an_object_or_an_error(data: bytes) -> None:
    # a date out of range, a text that is none, a list as a dict's key
    with contextlib.suppress(SerdeError, UnicodeDecodeError, OverflowError, ValueError, TypeError):
        decode(data)


@given(OBJECTS)
@settings(max_examples=50, deadline=None)
def test_a_cut_encoding_is_never_read(thing: Any) -> None:
    data = encode(thing)
    with pytest.raises(SerdeError):
        decode(data[:-1])


def test_dates_are_not_moments() -> None:
    assert decode(encode(date(2024, 2, 29))) == date(2024, 2, 29)
    assert encode(date(2024, 1, 1)) != encode(datetime(2024, 1, 1))
