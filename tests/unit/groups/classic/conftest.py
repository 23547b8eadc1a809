"""A stage with Kafka's default settings, checked once more when the test is over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.classic_group import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.check_replay()
