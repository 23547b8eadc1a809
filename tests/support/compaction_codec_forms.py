"""The compaction codec in its two forms, and the cleaner with either of them."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from ottla.log.cleaner import cleaned_segment, copy_pass, key_pass, offset_map
from ottla.wire import compaction_codec, record_batch

FORMS = ["compiled", "interpreted"]


def load_form(form: str) -> ModuleType:
    if form == "compiled":
        # A missing extension must fail here, not fall back: the cleaner's speed rests on it.
        assert compaction_codec.COMPILED, "compaction_codec is not compiled: run setup.py build_ext --inplace"
        return compaction_codec
    name = "compaction_codec_interpreted"
    if name not in sys.modules:
        path = Path(record_batch.__file__).with_name("compaction_codec.py")
        spec = spec_from_loader(name, SourceFileLoader(name, str(path)))
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    assert not sys.modules[name].COMPILED
    return sys.modules[name]


def clean_with(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the cleaner use one form of the codec for as long as the patch lasts."""
    codec = load_form(form)
    for user in (cleaned_segment, copy_pass, key_pass, offset_map):
        for name in ("OffsetTable", "KeyIndexer", "BatchFilter", "index_points"):
            if hasattr(user, name):
                monkeypatch.setattr(user, name, getattr(codec, name))
