"""CRC-32C: the C function of the package `crc32c`, without the rest of that package.

Its front module reads the metadata of installed packages and an argument parser, for a version number and a
command line that nobody here asks for: a tenth of the time that a broker takes to start. So the extension is
loaded from where the package lies; if it lies there under another name, the package is imported as usual.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec

__all__ = ["crc32c"]


def _load() -> Callable[..., int]:
    package = find_spec("crc32c")
    places = None if package is None else package.submodule_search_locations
    extension = PathFinder.find_spec("_crc32c", list(places)) if places else None
    if extension is None or extension.loader is None:
        from crc32c import crc32c as function

        return function
    module = module_from_spec(extension)
    extension.loader.exec_module(module)
    loaded: Callable[..., int] = module.crc32c
    return loaded


crc32c: Callable[..., int] = _load()
"""`crc32c(data, value=0)`: of a buffer, going on from the value of what came before it."""
