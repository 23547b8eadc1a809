"""How a broker that a supervisor started ends with it: it watches its standard input.

The supervisor holds the other end of that pipe and never writes. However it ends, kill -9 included, the
kernel closes its end, and the broker stops as after SIGTERM; one that cannot is ended after a while. (Linux
could send a signal at a parent's death, but only Linux, and only a signal that comes once.)
"""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import Final

STOP_S_MAX: Final = 30.0


def stop_with_supervisor(input_fd: int = 0, *, stop_s_max: float = STOP_S_MAX) -> None:
    """Ends this process soon after the last writer of `input_fd` has gone."""

    def watch() -> None:
        while os.read(input_fd, 4096):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(stop_s_max)
        os._exit(1)

    threading.Thread(target=watch, name="supervisor-watch", daemon=True).start()
