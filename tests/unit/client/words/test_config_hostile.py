"""Whatever somebody writes as configuration ends in settings or in InvalidConfig, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.client.config import admin_settings, consumer_settings, producer_settings
from ottla.client.config_tables import TABLES
from ottla.client.errors import InvalidConfig
from ottla.client.settings import ClientSettings

Reader: TypeAlias = Callable[[Mapping[str, Any] | None, Mapping[str, Any]], ClientSettings]
READERS: list[Reader] = [
    producer_settings,
    consumer_settings,
    admin_settings,
]
NAMES = sorted({name for table in TABLES.values() for name in table})
WORDS = [
    "",
    "true",
    "FALSE",
    "-1",
    "0",
    "1",
    "5",
    "1e3",
    "nan",
    "all",
    "none",
    "zstd",
    "a,b",
    "64 KiB",
    "9" * 30,
]
VALUES = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=20),
    st.integers(),
    st.floats(),
    st.booleans(),
    st.none(),
    st.binary(max_size=4),
    st.lists(st.one_of(st.text(max_size=4), st.integers(), st.none()), max_size=3),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.builds(object),
)


def outcome(
    read: Reader, config: Mapping[str, Any], kwargs: Mapping[str, Any]
) -> ClientSettings | InvalidConfig:
    try:
        return read(config, kwargs)
    except InvalidConfig as error:
        return error


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@given(config=st.dictionaries(st.one_of(st.sampled_from(NAMES), st.text(max_size=12)), VALUES, max_size=4))
def test_any_configuration_is_taken_or_refused(read: Reader, config: dict[str, Any]) -> None:
    found = outcome(read, config, {"bootstrap_servers": "localhost:9092"})
    if isinstance(found, ClientSettings):
        assert found.bootstrap_servers == "localhost:9092"
    assert 0 < len(repr(found)) < 5_000


@pytest.mark.parametrize("read", READERS, ids=lambda read: read.__name__)
@given(name=st.sampled_from(NAMES), value=VALUES)
def test_a_refusal_names_the_setting_that_is_to_blame(read: Reader, name: str, value: Any) -> None:
    found = outcome(read, {"bootstrap.servers": "localhost:9092", name: value}, {})
    assert isinstance(found, ClientSettings) or name in str(found)
