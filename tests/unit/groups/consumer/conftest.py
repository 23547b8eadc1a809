"""A world with two topics; when the test is over, a fresh replay of its log has to give its groups."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.consumer_group import World


@pytest.fixture
def world() -> Iterator[World]:
    world = World({"a": 6, "b": 3})
    yield world
    world.check()
    world.check_fresh_replay()
