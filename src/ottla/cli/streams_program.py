"""A user's file that says what a streams application does: loaded, and its topology found in it.

The file is run as a script would be, under a name of its own, so that `if __name__ == "__main__"` does not
start it a second time. Its functions have to reach Spark's workers, which cannot import it: the file, and
modules that lie beside it, are sent as code (`send_as_code`) and not by their names.
"""

from __future__ import annotations

import linecache
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ottla.streams.builder import StreamsBuilder
    from ottla.streams.plan import Topology

MODULE = "__ottla_program__"
PREFERRED = ("builder", "topology")


def load(path: Path) -> ModuleType:
    """Runs the file; what goes wrong in it is one line that names the place."""
    module = ModuleType(MODULE)
    module.__file__ = str(path)
    # As for `python FILE`: what lies beside it can be imported.
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[MODULE] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except SyntaxError as error:
        raise click.ClickException(f"{error.filename or path}:{error.lineno}: {error.msg}") from error
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        line = frames[-1].lineno if frames else 0
        source = linecache.getline(str(path), line or 0).strip()
        said = " ".join(str(error).split()) or type(error).__name__
        raise click.ClickException(
            f"{path}:{line}: {said}" + (f" (at: {source})" if source else "")
        ) from error
    return module


def find(module: ModuleType, path: Path) -> StreamsBuilder | Topology:
    """The program's StreamsBuilder or Topology: the one named so, or the only one."""
    from ottla.streams.builder import StreamsBuilder
    from ottla.streams.plan import Topology

    found: dict[str, StreamsBuilder | Topology] = {
        name: value for name, value in vars(module).items() if isinstance(value, StreamsBuilder | Topology)
    }
    for name in PREFERRED:
        if name in found:
            return found[name]
    if len({id(value) for value in found.values()}) == 1:
        return next(iter(found.values()))
    if not found:
        raise click.ClickException(
            f"{path}: no StreamsBuilder in it: write `builder = StreamsBuilder()` at its top level"
        )
    raise click.ClickException(
        f"{path}: which of {', '.join(sorted(found))} is meant? Name it `builder`, or give --name"
    )


def pick(module: ModuleType, name: str, path: Path) -> StreamsBuilder | Topology:
    """The one that was asked for."""
    from ottla.streams.builder import StreamsBuilder
    from ottla.streams.plan import Topology

    value = getattr(module, name, None)
    if not isinstance(value, StreamsBuilder | Topology):
        raise click.ClickException(f"{path}: {name} is no StreamsBuilder")
    return value


def send_as_code(path: Path) -> None:
    """Functions of the file and of modules beside it travel to workers as code."""
    from ottla.pipelines.shipping import send_as_code

    folder = path.parent.resolve()
    for module in list(sys.modules.values()):
        if isinstance(module, ModuleType) and (module.__name__ == MODULE or lies_beside(module, folder)):
            send_as_code(module)


def lies_beside(module: ModuleType, folder: Path) -> bool:
    """Whether a module was imported from this folder: by its own name, since a whole Python with all that is
    installed in it may lie somewhere below.
    """
    file = getattr(module, "__file__", None)
    if not file or module.__name__.split(".")[0] in ("ottla", "pyspark_ottla"):
        return False
    place = Path(file).resolve().with_suffix("")
    if place.name == "__init__":
        place = place.parent
    return place == folder.joinpath(*module.__name__.split("."))
