"""Every test of the cleaner runs with the compiled and with the interpreted codec."""

from __future__ import annotations

import pytest

from support.compaction_codec_forms import FORMS, clean_with


@pytest.fixture(params=FORMS, autouse=True)
def codec_form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    clean_with(request.param, monkeypatch)
    return str(request.param)
