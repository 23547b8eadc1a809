"""Cuts a stream of bytes into response frames, whoever reads the stream.

Small frames are received into a scratch buffer, several at once, and copied out, since decoded messages hold
views of their frame. Of a large frame the beginning is copied and the rest received straight into its own
buffer. That buffer grows with what has arrived: a peer that announces much and sends little costs little.
"""

from __future__ import annotations

from typing import Final

from ottla.client.conversation import frame_size

SCRATCH_BYTES: Final = 64 * 1024
GROWTH_BYTES_MIN: Final = 1024 * 1024
"""A frame up to this size is allocated at once; a larger one begins with it and doubles."""


class Receiver:
    """`buffer()` says where to receive to; `received(count)` gives the frames that are complete now. Those
    who are served in turn by one thread may share a scratch buffer.
    """

    __slots__ = ("_scratch", "_head", "_frame", "_size", "_filled", "_view")

    def __init__(self, scratch: memoryview) -> None:
        self._scratch = scratch
        self._head = b""
        """Bytes of an unfinished size."""
        self._frame: bytearray | None = None
        self._size = 0
        self._filled = 0
        self._view: memoryview | None = None

    def buffer(self) -> memoryview:
        frame = self._frame
        if frame is None:
            return self._scratch
        if self._filled == len(frame):
            frame += bytes(min(len(frame), self._size - len(frame)))
        self._view = memoryview(frame)[self._filled :]
        return self._view

    def received(self, count: int) -> list[bytearray]:
        """Raises ProtocolError when the peer's bytes cannot be frames."""
        frame = self._frame
        if frame is not None:
            if self._view is not None:
                self._view.release()
                self._view = None
            self._filled += count
            if self._filled < self._size:
                return []
            self._frame = None
            return [frame]
        scratch = self._scratch
        frames: list[bytearray] = []
        at = 0
        if self._head:
            missing = 4 - len(self._head)
            head = self._head + bytes(scratch[: min(missing, count)])
            if len(head) < 4:
                self._head = head
                return frames
            self._head = b""
            at = self._cut(frame_size(head), missing, count, frames)
        while at < count:
            if count - at < 4:
                self._head = bytes(scratch[at:count])
                break
            at = self._cut(frame_size(scratch[at : at + 4]), at + 4, count, frames)
        return frames

    def _cut(self, size: int, at: int, count: int, frames: list[bytearray]) -> int:
        """Takes a frame of this size that begins at `at`, or what is there of it; gives where it ends."""
        end = at + size
        if end <= count:
            frames.append(bytearray(self._scratch[at:end]))
            return end
        frame = bytearray(min(size, GROWTH_BYTES_MIN))
        self._filled = count - at
        frame[: self._filled] = self._scratch[at:count]
        self._frame = frame
        self._size = size
        return count
