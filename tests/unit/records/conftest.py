"""Both forms of the record codec: a test that asks for `codec_form` runs compiled and interpreted."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from ottla.wire import record_batch, record_codec, record_writer

COMPILED = {"record_codec": record_codec, "record_writer": record_writer}


def load_interpreted(module_name: str) -> ModuleType:
    name = f"{module_name}_interpreted"
    if name not in sys.modules:
        path = Path(record_batch.__file__).with_name(f"{module_name}.py")
        spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


@pytest.fixture(params=["compiled", "interpreted"])
def codec_form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The record codec in one of its forms; record_batch uses it, and the record writer, in that form."""
    for name, module in COMPILED.items():
        if request.param == "compiled":
            # A missing extension must fail here, not fall back: the broker's speed rests on it.
            assert module.COMPILED, f"{name} is not compiled: run setup.py build_ext --inplace"
        else:
            module = load_interpreted(name)
            assert not module.COMPILED
        monkeypatch.setattr(record_batch, name, module)
    return record_batch.record_codec
