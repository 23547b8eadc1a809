"""What is not installed with Ottla by default, asked for by name when it is needed."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def pyarrow_for(what: str) -> Any:
    """The module `pyarrow`, or an ImportError that says what needs it and how to get it."""
    try:
        import_module("pyarrow.compute")  # a module of its own, which the other one does not import
        return import_module("pyarrow")
    except ImportError as error:
        raise ImportError(f"{what} needs pyarrow: pip install 'ottla[arrow]'") from error
