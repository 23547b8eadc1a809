"""Functions of the user's program, sent to the workers as they are.

A function at the top level of a module is sent by name, and a worker imports the module to find it: which it
cannot, when the module is the program itself or lies beside it. So modules that are not installed are sent
whole: those of the program's functions, processors and serdes, and what they import from the folder that
they are in.
"""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from ottla.streams import plan
from ottla.streams.serdes import Serde

_SENT_WITH_US: Final = frozenset({"ottla", "pyspark_ottla"})
_PACKAGES: Final = frozenset({"site-packages", "dist-packages"})


def ship_by_value(topology: plan.Topology) -> None:
    """Has the modules of the program's functions sent along with them."""
    from pyspark import cloudpickle

    for module in modules_of(topology):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]


def modules_of(topology: plan.Topology) -> list[ModuleType]:
    """The modules of functions and classes in the program that are not installed, and their neighbours."""
    homes: dict[str, ModuleType] = {}
    for node in topology.nodes():
        for thing in _things(node):
            home = thing if hasattr(thing, "__module__") else type(thing)
            module = sys.modules.get(home.__module__ or "")
            if module is not None and not _installed(module):
                homes[module.__name__] = module
    roots = {_root(module) for module in homes.values()}
    return [
        module
        for module in list(sys.modules.values())
        if not _installed(module)
        and module.__name__ != "__main__"  # that one is sent by value anyway
        and (module.__name__ in homes or roots & set(_path(module).parents))
    ]


def _things(thing: Any) -> Iterator[Any]:
    """What of the user's is in a node: functions, classes, objects that are called."""
    for field in fields(thing):
        entry = getattr(thing, field.name)
        for item in entry if isinstance(entry, tuple) else (entry,):
            if isinstance(item, (plan.Aggregation, Serde)):
                yield from _things(item)
            elif field.name == "user" or (callable(item) and not isinstance(item, plan.Node)):
                yield item


def _installed(module: ModuleType) -> bool:
    """Whether a worker can import it by its name."""
    if getattr(module, "__file__", None) is None or module.__name__.split(".")[0] in _SENT_WITH_US:
        return True  # built in; sent with the package
    path = _path(module)
    return bool(_PACKAGES & set(path.parts)) or any(home in path.parents for home in _homes())


def _path(module: ModuleType) -> Path:
    assert module.__file__ is not None
    return Path(module.__file__).resolve()


def _root(module: ModuleType) -> Path:
    """The folder from which the module is imported."""
    path = _path(module)
    depth = module.__name__.count(".") + (path.name == "__init__.py")
    return path.parents[min(depth, len(path.parents) - 1)]


@functools.cache
def _homes() -> frozenset[Path]:
    # The prefix itself is not one of them: a program may lie below /usr, too.
    return frozenset(
        Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib", "purelib", "platlib")
    )
