"""The memory that frames are received into: one scratch for all, and a budget for the large ones.

Small frames are read and handled in one shared scratch buffer: the loop reads one connection at a time, so
one is enough for any number of connections. A frame that is too large for that reserves its whole size here
before it is read; when the budget has no room, the connection waits in line, and what is granted is enough
for the frame to be finished: half-read frames cannot starve each other.

Buffers are anonymous maps, kept by size class for reuse: a fresh one costs a page fault per 4 KiB, a
`bytearray` of 100 MiB would stall the loop while it is filled with zeros, and an unmapped one really gives
its memory back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from mmap import PAGESIZE
from typing import Final

from ottla.model.limits import FRAME_MEMORY_BYTES_MAX, SMALL_FRAME_BYTES_MAX
from ottla.wire.mapped_memory import mapped_memory

POOLED_BYTES_MAX: Final = 32 * 1024 * 1024
"""What is kept for reuse when no large frame is under way."""

PARTIAL_BYTES_MAX: Final = 256 * 1024 * 1024
"""Pieces of small frames and frames held back by a paused connection, over all connections."""

_SIZE_CLASS_STEPS: Final = 4  # classes per doubling: at most a quarter of a buffer is never touched


def size_class(size: int) -> int:
    """The size of the buffer that serves a frame of `size` bytes."""
    step = max((1 << (size - 1).bit_length()) // (2 * _SIZE_CLASS_STEPS), PAGESIZE)
    return -(-size // step) * step


class FrameBuffer:
    """Memory for one large frame, taken from the budget until it is released (once)."""

    __slots__ = ("map", "size", "view", "_memory")

    def __init__(self, memory: FrameMemory, buffer: memoryview, size: int) -> None:
        self.map = buffer
        self.size = size
        self.view = buffer[:size]
        self._memory: FrameMemory | None = memory

    def release(self) -> None:
        memory = self._memory
        if memory is not None:
            self._memory = None
            memory._give_back(self)


class HeldFrame:
    """A frame's bytes that outlive its handler's call: `view` stays valid until `release`."""

    __slots__ = ("view", "_memory", "_buffer", "_size")

    def __init__(self, memory: FrameMemory, view: memoryview, buffer: FrameBuffer | None) -> None:
        self._memory: FrameMemory | None = memory
        self._buffer = buffer
        self._size = len(view)
        if buffer is None:
            # The scratch belongs to the next connection in a moment, so these bytes have to be copied.
            view = memoryview(bytearray(view))
            memory.held_bytes += self._size
        self.view = view

    def release(self) -> None:
        memory = self._memory
        if memory is not None:
            self._memory = None
            self.view = memoryview(b"")
            if self._buffer is not None:
                self._buffer.release()
                self._buffer = None
            else:
                memory.held_bytes -= self._size
                memory._grant()


class FrameMemory:
    """The scratch, the budget and the pool of one event loop."""

    def __init__(
        self,
        bytes_max: int = FRAME_MEMORY_BYTES_MAX,
        *,
        small_frame_bytes_max: int = SMALL_FRAME_BYTES_MAX,
        partial_bytes_max: int = PARTIAL_BYTES_MAX,
        pooled_bytes_max: int = POOLED_BYTES_MAX,
    ) -> None:
        self.bytes_max = bytes_max
        self.small_frame_bytes_max = small_frame_bytes_max
        self.partial_bytes_max = partial_bytes_max
        # Room for the tail of one small frame and as much again in the same read.
        self.scratch = memoryview(bytearray(2 * small_frame_bytes_max))
        self.reserved_bytes = 0  # buffers of large frames
        self.held_bytes = 0  # copies of small frames whose requests wait
        self.partial_bytes = 0  # tails that connections keep between reads
        self.pooled_bytes = 0
        self._pooled_bytes_max = pooled_bytes_max
        self._pool: dict[int, list[memoryview]] = {}
        self._unused: dict[int, int] = {}  # by size: how many of the pool nobody took since the last trim
        self._line: deque[tuple[int, Callable[[FrameBuffer], None]]] = deque()

    @property
    def waiting(self) -> int:
        """How many connections stand in line for memory."""
        return len(self._line)

    def reserve(self, size: int) -> FrameBuffer | None:
        """A buffer for a frame of `size` bytes, or None when the budget has no room for it now, or when
        others stand in line.
        """
        if self._line or not self._has_room(size):
            return None
        return self._make(size)

    def reserve_later(self, size: int, granted: Callable[[FrameBuffer], None]) -> None:
        """Stands in line: `granted` is called when it is its turn and there is room."""
        self._line.append((size, granted))
        self._grant()

    def leave_line(self, granted: Callable[[FrameBuffer], None]) -> None:
        """A connection that died waiting. It may have been at the head, so the next are looked at."""
        self._line = deque(entry for entry in self._line if entry[1] != granted)
        self._grant()

    def trim(self) -> None:
        """Gives half of the buffers that were not used since the last time back to the operating system:
        called now and then, so that a burst of large frames is forgotten, and those that come again and again
        find their memory.
        """
        for size, buffers in list(self._pool.items()):
            for _ in range((self._unused.get(size, 0) + 1) // 2):
                buffers.pop(0)
                self.pooled_bytes -= size
            if buffers:
                self._unused[size] = len(buffers)
            else:
                del self._pool[size]
                self._unused.pop(size, None)

    def _has_room(self, size: int) -> bool:
        used = self.reserved_bytes + self.held_bytes
        # A frame larger than the whole budget (`socket.request.max.bytes` may be set so) goes alone.
        return used + size <= self.bytes_max or used == 0

    def _make(self, size: int) -> FrameBuffer:
        rounded = size_class(size)
        buffers = self._pool.get(rounded)
        if buffers:
            buffer = buffers.pop()
            self.pooled_bytes -= rounded
            if len(buffers) < self._unused.get(rounded, 0):
                self._unused[rounded] = len(buffers)
        else:
            buffer = mapped_memory(rounded)
        self.reserved_bytes += size
        return FrameBuffer(self, buffer, size)

    def _give_back(self, buffer: FrameBuffer) -> None:
        self.reserved_bytes -= buffer.size
        buffer.view = memoryview(b"")
        rounded = len(buffer.map)
        if self.pooled_bytes + rounded <= self._pooled_bytes_max:
            self._pool.setdefault(rounded, []).append(buffer.map)
            self.pooled_bytes += rounded
        if self._line:
            self._grant()

    def _grant(self) -> None:
        while self._line and self._has_room(self._line[0][0]):
            size, granted = self._line.popleft()
            granted(self._make(size))
