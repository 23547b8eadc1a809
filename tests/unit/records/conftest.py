"""Both forms of the record codec: a test that asks for `codec_form` runs compiled and interpreted."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from ottla.wire import record_batch, record_codec


def load_interpreted() -> ModuleType:
    name = "record_codec_interpreted"
    if name not in sys.modules:
        path = Path(record_batch.__file__).with_name("record_codec.py")
        spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


@pytest.fixture(params=["compiled", "interpreted"])
def codec_form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The record codec in one of its forms, also as the one that record_batch uses."""
    if request.param == "compiled":
        # A missing extension must fail here, not fall back: the broker's speed rests on it.
        assert record_codec.COMPILED, "record_codec is not compiled: run setup.py build_ext --inplace"
        return record_codec
    module = load_interpreted()
    assert not module.COMPILED
    monkeypatch.setattr(record_batch, "record_codec", module)
    return module
