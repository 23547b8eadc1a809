"""Memory by the page, from the operating system and back to it: it costs nothing until it is touched, is not
filled with zeros while the GIL is held, and is really given back.

Private on purpose: Python's own default makes a file in memory that processes could share, whose pages cost
several times as much to touch for the first time.
"""

from __future__ import annotations

import mmap


def mapped_memory(size: int) -> memoryview:
    """`size` bytes, zero at first; gone when the last view of it is."""
    return memoryview(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
