"""The names that `ottla` and `ottla.aio` show: all are there, and none costs before it is used."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import ottla
import ottla.aio


@pytest.mark.parametrize("name", sorted(ottla.__all__))
def test_every_public_name_can_be_had(name: str) -> None:
    assert getattr(ottla, name) is not None
    assert name in dir(ottla)


@pytest.mark.parametrize("name", sorted(ottla.aio.__all__))
def test_every_public_name_of_aio_can_be_had(name: str) -> None:
    assert getattr(ottla.aio, name) is not None
    assert name in dir(ottla.aio)


def test_what_interceptors_are_given_can_be_named() -> None:
    assert ottla.ProducerRecord("t", b"v")._replace(key=b"k").key == b"k"
    assert ottla.BatchInfo("t", 0, 1, 70).record_count == 1


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Produser'"):
        ottla.Produser  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'Produser'"):
        ottla.aio.Produser  # type: ignore[attr-defined] # noqa: B018


def modules_after(statement: str) -> set[str]:
    program = f"import sys, json; before = set(sys.modules); {statement}; "
    program += "print(json.dumps(sorted(set(sys.modules) - before)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


def test_importing_ottla_imports_nothing_else() -> None:
    assert modules_after("import ottla") == {"ottla"}


def test_a_program_without_asyncio_does_not_import_it() -> None:
    for name in ("Producer", "Consumer", "Admin", "SimpleConsumer"):
        loaded = modules_after(f"import ottla; ottla.{name}")
        assert not loaded & {"asyncio", "pyarrow", "ottla.broker", "ottla.aio", "click"}, name
