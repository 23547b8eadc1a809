"""The small sister of `make million`: an idempotent producer and a broker that is killed under it."""

from __future__ import annotations

from pathlib import Path

import pytest
from million import run


@pytest.mark.interop
@pytest.mark.parametrize("client", ["ottla", "librdkafka"])
def test_every_acknowledged_record_is_read_back_once_and_in_order(tmp_path: Path, client: str) -> None:
    outcome = run(tmp_path / "data", records=60_000, kills=3, under_way=2_000, client=client, say=print)
    assert outcome.kills == 3
    assert max(outcome.unanswered_at_kills) > 0, "no kill met a record under way"
