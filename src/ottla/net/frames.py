"""Frames out of a stream of bytes, without sockets: Kafka's messages, each behind a length of four bytes.

While a connection has no unfinished frame it owns no memory: bytes arrive in the scratch that all
connections share, and whole frames are handed out in place. What is left over is saved to a buffer of the
connection's own. The next read lands in the scratch behind the place where the saved bytes belong; they are
put back only when a frame can be finished, so a peer that sends single bytes does not cause quadratic
copying, and a pipelining peer costs one extra copy of half a frame per read instead of an extra system call.

A frame that does not fit the scratch takes a buffer from the budget (`FrameMemory`) and the rest of it is
received straight into that; `rest_of_begun` says where, when one was just begun and the rest is probably
there.

Usage: `buffer()` to receive into, `received(n)`, then `next_frame()` until it gives None, then `settle()`
before anybody else may use the scratch. `replay()` puts saved whole frames (held back while the connection
was paused) back in the scratch, as if they had just arrived.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from ottla.model.limits import REQUEST_BYTES_MAX
from ottla.net.memory import FrameBuffer, FrameMemory, HeldFrame

FRAME_BYTES_MIN: Final = 8
"""Api key, version and correlation id: nothing shorter can be a request."""

PEEK_BYTES: Final = 16 * 1024
"""After a large frame the next one is probably large too; reading only its beginning into the scratch keeps
the copy into its own buffer small."""

_length_at = Struct(">i").unpack_from

_HTTP_VERBS: Final = (b"GET ", b"POST", b"HEAD", b"PUT ", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")


class FrameError(Exception):
    """The peer sent something that is no frame; the connection cannot be continued."""


def prefix_problem(prefix: bytes, request_bytes_max: int, *, first: bool) -> str:
    """Says what a length prefix that was refused probably is, in words that help whoever reads the log."""
    if first and prefix[:2] == b"\x16\x03":
        return "a TLS handshake arrived on a plaintext listener: the client's security.protocol is SSL"
    if first and prefix in _HTTP_VERBS:
        return "an HTTP request arrived on a listener that speaks the Kafka protocol"
    length = int.from_bytes(prefix, "big", signed=True)
    if length > request_bytes_max:
        return f"a frame of {length} bytes is larger than socket.request.max.bytes ({request_bytes_max})"
    if length < 0:
        return f"a frame has the negative length {length}"
    return f"a frame of {length} bytes is too short for a request header"


class FrameReader:
    """The receiving half of one connection."""

    __slots__ = (
        "request_bytes_max",
        "frames",
        "bytes_received",
        "wanted_bytes",
        "_memory",
        "_scratch",
        "_scratch_bytes",
        "_pos",
        "_end",
        "_saved",
        "_saved_bytes",
        "_need",
        "_large",
        "_large_end",
        "_just_begun",
        "_current",
        "_current_buffer",
        "_peek",
    )

    def __init__(self, memory: FrameMemory, request_bytes_max: int = REQUEST_BYTES_MAX) -> None:
        self.request_bytes_max = request_bytes_max
        self.frames = 0
        self.bytes_received = 0
        self.wanted_bytes = 0
        """Not 0: the next frame needs this much of the budget, which had no room; see `grant`."""
        self._memory = memory
        self._scratch = memory.scratch
        self._scratch_bytes = len(memory.scratch)
        self._pos = 0  # the window of the scratch that is not yet handed out
        self._end = 0
        self._saved: bytearray | None = None  # what is kept between reads
        self._saved_bytes = 0
        self._need = 0  # bytes that the saved frame has to have to be whole, prefix included
        self._large: FrameBuffer | None = None
        self._large_end = 0  # how much of the large frame is there
        self._just_begun = False
        self._current: memoryview | None = None  # the frame handed out last
        self._current_buffer: FrameBuffer | None = None
        self._peek = False

    @property
    def mid_frame(self) -> bool:
        """Whether a frame was begun and is not yet whole, or held back."""
        return self._saved_bytes > 0 or self._large is not None

    def buffer(self) -> memoryview:
        """Where the next bytes of this connection are to be received."""
        large = self._large
        if large is not None:
            return large.view[self._large_end :]
        start = self._saved_bytes
        if start:
            if start >= self._scratch_bytes:
                # Only a transport that delivers after it was paused gets here.
                raise FrameError("bytes arrived while the connection was paused")
            return self._scratch[start:]
        return self._scratch[:PEEK_BYTES] if self._peek else self._scratch

    def received(self, nbytes: int) -> None:
        """Tells that `nbytes` were put at the beginning of `buffer()`."""
        self.bytes_received += nbytes
        if self._large is not None:
            self._large_end += nbytes
            return
        saved_bytes = self._saved_bytes
        if not saved_bytes:
            self._pos = 0
            self._end = nbytes
            return
        end = saved_bytes + nbytes
        saved = self._saved
        assert saved is not None
        if end < self._need:
            saved[saved_bytes:] = self._scratch[saved_bytes:end]
            self._saved_bytes = end
            self._memory.partial_bytes += nbytes
            return
        self._scratch[:saved_bytes] = saved
        self._drop_saved()
        self._pos = 0
        self._end = end

    def replay(self) -> None:
        """Puts everything that was saved back in the scratch, to be handed out by `next_frame`."""
        saved_bytes = self._saved_bytes
        if saved_bytes and self._large is None:
            assert self._saved is not None
            self._scratch[:saved_bytes] = self._saved
            self._drop_saved()
            self._pos = 0
            self._end = saved_bytes

    def next_frame(self) -> memoryview | None:
        """The next whole frame without its length: writable, and valid until the next call, unless
        `keep_frame` is called. None when there is none, or when it first needs memory (`wanted_bytes`).
        Raises FrameError.
        """
        if self._current_buffer is not None:
            self._current_buffer.release()
            self._current_buffer = None
        large = self._large
        if large is not None:
            if self._large_end < large.size:
                return None
            self._large = None
            self._current_buffer = large
            self._peek = True
            self.frames += 1
            self._current = large.view
            return self._current
        pos = self._pos
        left = self._end - pos
        if left < 4:
            return None
        length: int = _length_at(self._scratch, pos)[0]
        if length < FRAME_BYTES_MIN or length > self.request_bytes_max:
            prefix = bytes(self._scratch[pos : pos + 4])
            self._pos = self._end = 0
            raise FrameError(prefix_problem(prefix, self.request_bytes_max, first=self.frames == 0))
        start = pos + 4
        stop = start + length
        if stop <= self._end:
            self._pos = stop
            self._peek = False
            self.frames += 1
            self._current = frame = self._scratch[start:stop]
            return frame
        if length > self._memory.small_frame_bytes_max:
            large = self._memory.reserve(length)
            if large is None:
                self.wanted_bytes = length
            else:
                self._begin_large(large, self._scratch[start : self._end])
                self._pos = self._end = 0
        return None

    def rest_of_begun(self) -> memoryview | None:
        """After `next_frame` gave None: where the rest of a large frame goes, once, if it was begun just now.
        What is received there is told with `received`, as always.
        """
        if not self._just_begun:
            return None
        self._just_begun = False
        assert self._large is not None
        return self._large.view[self._large_end :]

    def settle(self) -> None:
        """Saves what is left in the scratch: afterwards another connection may use it."""
        self._current = None
        if self._current_buffer is not None:
            self._current_buffer.release()
            self._current_buffer = None
        pos = self._pos
        left = self._end - pos
        if left:
            # The scratch is the next connection's in a moment: these bytes have to be copied.
            self._saved = bytearray(self._scratch[pos : self._end])
            self._saved_bytes = left
            self._need = 4 if left < 4 else 4 + _length_at(self._saved)[0]
            self._pos = self._end = 0
            memory = self._memory
            memory.partial_bytes += left
            if memory.partial_bytes > memory.partial_bytes_max:
                raise FrameError(f"unfinished frames hold {memory.partial_bytes} bytes, the most allowed")

    def grant(self, buffer: FrameBuffer) -> None:
        """The memory that `wanted_bytes` asked for."""
        self.wanted_bytes = 0
        saved = self._saved
        assert saved is not None and buffer.size == self._need - 4
        self._begin_large(buffer, memoryview(saved)[4:])
        self._drop_saved()

    def keep_frame(self) -> HeldFrame:
        """Makes the frame handed out last the caller's own until it releases it: without a copy when the
        frame has a buffer to itself.
        """
        current, buffer = self._current, self._current_buffer
        assert current is not None, "there is a frame to keep only while it is handled"
        self._current_buffer = None
        self._current = None
        return HeldFrame(self._memory, current, buffer)

    def close(self) -> None:
        """Gives all memory back."""
        self.wanted_bytes = 0
        self._pos = self._end = 0
        if self._saved_bytes:
            self._drop_saved()
        self._just_begun = False
        if self._large is not None:
            self._large.release()
            self._large = None

    def _begin_large(self, buffer: FrameBuffer, beginning: memoryview) -> None:
        self._large = buffer
        self._large_end = len(beginning)
        self._just_begun = True
        buffer.view[: len(beginning)] = beginning

    def _drop_saved(self) -> None:
        self._memory.partial_bytes -= self._saved_bytes
        self._saved = None
        self._saved_bytes = 0


class DiscardingReader(FrameReader):
    """For a connection that takes no more requests: what arrives is dropped."""

    __slots__ = ()

    def buffer(self) -> memoryview:
        return self._scratch

    def received(self, nbytes: int) -> None:
        self.bytes_received += nbytes
