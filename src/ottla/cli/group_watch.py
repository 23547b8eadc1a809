"""The live view: the same picture again and again, in place on a terminal, one after the other elsewhere.

Ctrl-C is how it is meant to end, so that is no failure. A cluster that goes away meanwhile is shown as such
and asked again; one that never answered is an error as everywhere.
"""

from __future__ import annotations

import json
import select
import shutil
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ottla.cli.interrupt import Interrupted, Interruptible

if TYPE_CHECKING:
    from ottla.client.blocking import Client

HOME, CLEAR_LINE, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
HIDE_CURSOR, SHOW_CURSOR, CLEAR_ALL = "\x1b[?25l", "\x1b[?25h", "\x1b[2J"


def watch(
    client: Client,
    gather: Callable[[Client], Any],
    text: Callable[[Any], str],
    interval_s: float,
    *,
    as_json: bool,
) -> int:
    from ottla.cli.main import explain
    from ottla.client.errors import OttlaError

    terminal = sys.stdout.isatty() and not as_json
    with Interruptible() as signals:
        client.waiting = signals.waiting
        if terminal:
            sys.stdout.write(HIDE_CURSOR + CLEAR_ALL)
        try:
            while True:
                began_s = time.monotonic()
                try:
                    picture = gather(client)
                    shown = json.dumps(picture, ensure_ascii=False) if as_json else text(picture)
                except OttlaError as error:
                    if not error.retriable or not client.cluster.contacted:
                        raise
                    shown = explain(error) or str(error)
                if terminal:
                    sys.stdout.write(redraw(shown, interval_s, shutil.get_terminal_size()))
                else:
                    sys.stdout.write(shown + ("\n" if as_json else "\n\n"))
                sys.stdout.flush()
                with signals.waiting():
                    left_s = max(0.0, began_s + interval_s - time.monotonic())
                    select.select([signals.wakeup_fd], [], [], left_s)
        except Interrupted:
            client.disconnect()
        finally:
            client.waiting = None
            if terminal:
                sys.stdout.write(SHOW_CURSOR)
                sys.stdout.flush()
    return 0


def redraw(shown: str, interval_s: float, size: tuple[int, int]) -> str:
    """One screen: a line with the time, and as much of the picture as fits (a longer line would scroll)."""
    width, height = max(20, size[0]), max(3, size[1])
    lines = shown.split("\n")
    room = height - 2
    if len(lines) > room:
        lines = [*lines[: room - 1], f"... {len(lines) - room + 1} more lines"]
    head = f"{time.strftime('%H:%M:%S')}  every {interval_s:g} s, Ctrl-C ends"
    return HOME + "".join(f"{line[:width]}{CLEAR_LINE}\n" for line in [head, *lines]) + CLEAR_BELOW
