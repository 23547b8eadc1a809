"""Ports for listeners that are started later, by other processes.

The system's own choice (port 0) would do for a listener that stays open. One that is only asked for and given
back lies among those which the system hands out to every outgoing connection, and one of them may have it by
the time the listener comes. So these are drawn from below that range.
"""

from __future__ import annotations

import random
import socket
from typing import Final

LOWEST: Final = 10_000
_RANGE_FILE: Final = "/proc/sys/net/ipv4/ip_local_port_range"
_RANGE_BEGINS: Final = 32_768
"""Linux's default."""
_TRIES_PER_PORT: Final = 100


def unused_ports(host: str, count: int) -> list[int]:
    """Ports of the host's that nobody has now, all different. Raises OSError where none can be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    end = max(_outgoing_begin(), LOWEST + 10 * count)
    chance = random.SystemRandom()  # others draw at the same moment
    probes: list[socket.socket] = []
    try:
        for tries_left in range(_TRIES_PER_PORT * count, 0, -1):
            if len(probes) == count:
                break
            try:
                probes.append(socket.create_server((host, chance.randrange(LOWEST, end)), family=family))
            except OSError:
                if tries_left == 1:
                    raise
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()


def _outgoing_begin() -> int:
    try:
        with open(_RANGE_FILE, encoding="ascii") as file:
            return int(file.read().split()[0])
    except (OSError, ValueError):
        return _RANGE_BEGINS
