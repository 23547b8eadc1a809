"""An ambush: one process stops at a named place until another has killed it there, or lets it go.

Kills at random moments mostly hit what takes long, and what matters is short: rows written and not reported,
a commit that nobody has heard of yet. So whoever runs a pipeline lays an ambush for such a place; the first
process that comes by stops there and says who it is. Everything goes through files of one folder, so it works
between the driver, Spark's tasks and the one who kills. Where no ambush is laid, passing by costs a look.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import uuid
from pathlib import Path
from typing import NamedTuple

LOOK_EVERY_S = 0.01
HELD_S = 120.0
"""So long one stays caught at most: then the one who lies in wait must be gone."""


class Prey(NamedTuple):
    pid: int
    executor: int
    """The process above that of the daemon which started it; of no meaning for the driver."""


class Ambush:
    def __init__(self, folder: Path) -> None:
        self._laid, self._caught, self._notes = folder / "laid", folder / "caught", folder / "notes"

    # --- who lies in wait -----------------------------------------------------------------------------------

    def lay(self, place: str) -> None:
        self.lift()
        self._laid.parent.mkdir(parents=True, exist_ok=True)
        part = self._laid.with_name("laying")
        part.write_text(place)
        part.rename(self._laid)

    def caught(self) -> Prey | None:
        try:
            return Prey(*json.loads(self._caught.read_text()))
        except FileNotFoundError:
            return None

    def lift(self) -> None:
        """Nobody is stopped any more, and who was caught goes on."""
        for path in (self._laid, self._caught):
            path.unlink(missing_ok=True)

    def notes(self) -> int:
        """How often somebody made a note."""
        return sum(1 for _ in self._notes.iterdir()) if self._notes.exists() else 0

    # --- who comes by ---------------------------------------------------------------------------------------

    def pass_by(self, place: str) -> None:
        """Goes on at once, unless an ambush is laid here and nobody else was caught in it."""
        with contextlib.suppress(FileNotFoundError):
            if self._laid.read_text() != place:
                return
            own = self._laid.with_name(f"caught-{os.getpid()}")
            self._laid.rename(own)  # of several, one succeeds
            part = own.with_suffix(".part")
            part.write_text(json.dumps([os.getpid(), _parent(os.getppid())]))
            own.unlink()
            part.rename(self._caught)
            until_s = time.monotonic() + HELD_S
            while self._caught.exists() and time.monotonic() < until_s:
                time.sleep(LOOK_EVERY_S)

    def note(self) -> None:
        self._notes.mkdir(parents=True, exist_ok=True)
        (self._notes / uuid.uuid4().hex).touch()


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1
