"""How replies leave: from memory, and from files without passing through Python.

A sink has one job: send the parts it is given, in order, as far as the peer takes them, and hold the rest.
There are two. `SendfileSink` gives large file slices to `os.sendfile` on the transport's own descriptor,
which is allowed only while the transport has nothing queued; asyncio tells when that is, because its
write-buffer limits are set to 0. `CopySink` is for TLS, where the bytes have to be encrypted here: it
reads and writes in pieces, between the transport's high and low water marks.

Both treat files the same way otherwise:
- A small slice is read with `preadv(RWF_NOWAIT)` and joined with the bytes around it: one packet, one call.
- A page that is not in memory must not stall the loop. `RWF_NOWAIT` answers EAGAIN for it; a worker thread
  then reads the range, tells the kernel to go on with what follows it, and the sink goes on when it is there.
  File systems without it count as warm.
- One turn sends at most `TURN_BYTES_MAX`, so that one fast reader does not keep the loop from the others.
- A slice is released when its last byte was handed to the kernel, or when the connection is gone; never
  while a worker thread still reads from its descriptor.
"""

from __future__ import annotations

import asyncio
import os
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from errno import EAGAIN, EINVAL, ENOSYS, EOPNOTSUPP
from typing import Any, Final

from ottla.net.hub import Hub
from ottla.net.replies import Part, release_slices
from ottla.ports.disk import Buffer, FileSlice

TURN_BYTES_MAX: Final = 1024 * 1024
"""About half a millisecond of sendfile."""

SMALL_SLICE_BYTES_MAX: Final = 32 * 1024
"""Up to here one preadv and a joined write are cheaper than a sendfile of their own."""

JOIN_BYTES_MAX: Final = 256 * 1024
"""Memory parts are joined up to this; it is also what a transport has to hold of a peer that stops
reading."""

LARGE_PART_BYTES_MIN: Final = 64 * 1024
"""A memory part of this size is written by itself: joining it would copy it once more."""

PROBE_STRIDE_BYTES: Final = 128 * 1024
"""The kernel's read-ahead window: what is in memory is in memory in pieces of about this size."""

WARM_RUN_BYTES_MIN: Final = 8 * 1024 * 1024
"""When so much was in memory without a gap, only the ends of what is sent next are looked at (each look costs
a system call), until something is missing again: what leaves memory leaves it in long stretches, too."""

READ_AHEAD_BYTES: Final = 4 * 1024 * 1024
"""A reader that meets cold data usually wants what follows, too: the disk goes on while the socket is busy,
and one trip to a worker serves several answers."""

_NOWAIT_REFUSED: Final = frozenset({EOPNOTSUPP, EINVAL, ENOSYS})


class SliceTruncated(Exception):
    """The file ended before the slice did: the promised bytes cannot be sent, so the connection must end."""


class Sink(ABC):
    """What both sinks share: the parts that wait, joining, cold files. Subclasses say how a large slice goes.

    `drained` is called whenever something was sent, `failed` when the connection has to be given up.
    """

    def __init__(
        self,
        hub: Hub,
        transport: asyncio.Transport,
        failed: Callable[[str], None],
        drained: Callable[[], None],
    ) -> None:
        self.sent_bytes = 0  # handed to the transport or the kernel so far
        self.held_bytes = 0  # memory parts in `_outbox`
        self.blocked = False  # the transport has had enough; `unblock` comes when it has not
        self._loop = hub.loop
        self._transport = transport
        self._workers = hub.workers
        self._failed = failed
        self._drained = drained
        self._outbox: deque[Part] = deque()
        self._slice_sent = 0  # how much of the slice at the head is gone
        self._warm_until = 0  # no probe of the head slice is needed before this position
        self._warm_run_bytes = 0  # found in memory since something was not
        self._worker_slice: FileSlice | None = None
        self._turn_pending: asyncio.Handle | None = None
        self._closed = False

    @property
    def pending(self) -> bool:
        """Whether there is something that was not yet handed to the kernel."""
        return bool(self._outbox) or self._transport.get_write_buffer_size() > 0

    def receive(self, into: memoryview) -> int:
        """What the peer has sent that the transport has not read, if that can be had; 0 if not."""
        return 0

    def send(self, parts: list[Part]) -> None:
        """Takes the parts over, slices included, and sends what can be sent now."""
        if not self._outbox and not self.blocked and len(parts) == 1:
            only = parts[0]
            if not isinstance(only, FileSlice):
                # Nearly every produce reply comes this way.
                self.sent_bytes += len(only)
                self._transport.write(only)
                return
        for part in parts:
            if not isinstance(part, FileSlice):
                self.held_bytes += len(part)
        self._outbox.extend(parts)
        self.pump()

    def block(self) -> None:
        self.blocked = True

    def unblock(self) -> None:
        self.blocked = False
        self.pump()
        self._drained()

    def close(self) -> None:
        """Releases every slice, except one that a worker is reading: that one when the worker is done."""
        self._closed = True
        self.held_bytes = 0
        if self._turn_pending is not None:
            self._turn_pending.cancel()
            self._turn_pending = None
        outbox, self._outbox = list(self._outbox), deque()
        if self._worker_slice is not None:
            outbox = [part for part in outbox if part is not self._worker_slice]
        release_slices(outbox)

    def pump(self) -> None:
        """Sends until there is nothing left, the transport is full, a file is cold, or the turn is over."""
        turn_bytes = TURN_BYTES_MAX
        while self._outbox and not (self.blocked or self._closed or self._held_up()):
            part = self._outbox[0]
            try:
                if isinstance(part, FileSlice) and part.length - self._slice_sent > SMALL_SLICE_BYTES_MAX:
                    sent = self._send_large_slice(part, turn_bytes)
                else:
                    sent = self._send_joined()
            except ConnectionError:
                self._transport.abort()  # the peer is gone, which is nobody's fault: no line in the log
                return
            except (OSError, SliceTruncated) as error:
                self._failed(f"sending failed: {error}")
                return
            self.sent_bytes += sent
            turn_bytes -= sent
            if turn_bytes <= 0 and self._outbox:
                # The few bytes that end a reply do not wait for another turn: its reader waits for them.
                if turn_bytes > -JOIN_BYTES_MAX and not isinstance(self._outbox[0], FileSlice):
                    continue
                self._turn_pending = self._loop.call_soon(self._next_turn)
                return

    def _held_up(self) -> bool:
        return self._worker_slice is not None or self._turn_pending is not None

    def _next_turn(self) -> None:
        self._turn_pending = None
        self.pump()
        self._drained()

    def _send_joined(self) -> int:
        """Memory parts and small slices, up to the next large slice or enough for one write."""
        outbox = self._outbox
        pieces: list[Buffer] = []
        size = 0
        more = False
        while outbox:
            part = outbox[0]
            if isinstance(part, FileSlice):
                if part.length - self._slice_sent > SMALL_SLICE_BYTES_MAX:
                    more = True
                    break
                piece = self._read_small_slice(part)
                if piece is None:
                    break
                pieces.append(piece)
                size += len(piece)
                self._finish_slice(part)
            else:
                length = len(part)
                if length >= LARGE_PART_BYTES_MIN and pieces:
                    more = True
                    break
                outbox.popleft()
                self.held_bytes -= length
                pieces.append(part)
                size += length
            if size >= JOIN_BYTES_MAX or (len(pieces) == 1 and size >= LARGE_PART_BYTES_MIN):
                more = bool(outbox)
                break
        if pieces:
            self._write(pieces[0] if len(pieces) == 1 else b"".join(pieces), more)
        return size

    def _write(self, data: Buffer, more: bool) -> None:
        self._transport.write(data)

    @abstractmethod
    def _send_large_slice(self, part: FileSlice, bytes_max: int) -> int:
        """Sends up to `bytes_max` bytes of a slice too large to be joined with others; how many it sent."""

    def _advance_slice(self, part: FileSlice, sent: int) -> None:
        """Before the transport is given the bytes: it may call `unblock`, and so `pump`, from within."""
        self._slice_sent += sent
        if self._slice_sent == part.length:
            self._finish_slice(part)

    def _finish_slice(self, part: FileSlice) -> None:
        self._outbox.popleft()
        self._slice_sent = 0
        self._warm_until = 0
        part.release()

    def _read_small_slice(self, part: FileSlice) -> Buffer | None:
        """The rest of a slice, or None when it is not in memory and a worker was sent to get it."""
        position = part.position + self._slice_sent
        length = part.length - self._slice_sent
        if part.fd < 0 or self._warm_until >= position + length:
            return _read(part, position, length)
        newest = part.file.newest(length, position)
        if newest is not None:
            return newest
        buffer = bytearray(length)
        try:
            if os.preadv(part.fd, (buffer,), position, os.RWF_NOWAIT) == length:
                return buffer
        except OSError as error:
            if error.errno in _NOWAIT_REFUSED:
                self._warm_until = position + length
                return self._read_small_slice(part)
            if error.errno != EAGAIN:
                raise
        self._warm_up(part, position, length)
        return None

    def _is_warm(self, part: FileSlice, position: int, length: int) -> bool:
        """Whether the range can be sent without waiting for the disk; if not, a worker is on its way."""
        end = position + length
        if end <= self._warm_until:
            return True
        probe = begin = max(position, self._warm_until)
        fd = part.fd
        is_run = self._warm_run_bytes >= WARM_RUN_BYTES_MIN
        stride = max(end - 1 - begin, 1) if is_run else PROBE_STRIDE_BYTES
        try:
            while probe < end:
                if not os.preadv(fd, (_PROBE,), probe, os.RWF_NOWAIT):
                    raise SliceTruncated(f"{part.file.path} ends before {probe}")
                probe += stride
        except OSError as error:
            if error.errno in _NOWAIT_REFUSED:
                self._warm_until = part.position + part.length
                return True
            if error.errno != EAGAIN:
                raise
            self._warm_up(part, position, length)
            return False
        self._warm_until = end
        self._warm_run_bytes += end - begin
        return True

    def _warm_up(self, part: FileSlice, position: int, length: int) -> None:
        self._worker_slice = part
        self._warm_run_bytes = 0
        end = position + length

        def arrived(_: Any, error: BaseException | None) -> None:
            self._worker_slice = None
            if self._closed:
                part.release()
                return
            if error is not None:
                self._failed(f"reading {part.file.path} failed: {error}")
                return
            # Whatever the page cache does meanwhile: this range is not probed again, so each round gets
            # further.
            self._warm_until = end
            self.pump()
            self._drained()

        self._workers.submit(_Preload(part.fd, position, length), arrived)


def _read(part: FileSlice, position: int, length: int) -> bytes:
    data = part.file.pread(length, position) if part.fd < 0 else os.pread(part.fd, length, position)
    if len(data) < length:
        raise SliceTruncated(f"{part.file.path} ends at {position + len(data)}")
    return data


_DISCARDED: Final = memoryview(bytearray(TURN_BYTES_MAX))
"""What is read for the page cache's sake alone goes here, from all threads at once: nobody looks at it, and
fresh memory for every range would cost more than the copy into it."""


class _Preload:
    """Reads a range of a file, so that its pages are in memory. Runs in a worker thread."""

    __slots__ = ("_fd", "_position", "_length")

    def __init__(self, fd: int, position: int, length: int) -> None:
        self._fd = fd
        self._position = position
        self._length = length

    def __call__(self) -> None:
        ahead_bytes = max(self._length, READ_AHEAD_BYTES)
        os.posix_fadvise(self._fd, self._position, ahead_bytes, os.POSIX_FADV_WILLNEED)
        os.preadv(self._fd, (_DISCARDED[: self._length],), self._position)


_PROBE: Final = bytearray(1)


class SendfileSink(Sink):
    """For plain sockets. Expects the transport's write-buffer limits to be 0, so that `block` and `unblock`
    tell exactly whether the transport has anything queued.
    """

    def __init__(
        self,
        hub: Hub,
        transport: asyncio.Transport,
        failed: Callable[[str], None],
        drained: Callable[[], None],
    ) -> None:
        super().__init__(hub, transport, failed, drained)
        transport.set_write_buffer_limits(high=0)
        self._writability = hub.writability
        self._fd: int = transport.get_extra_info("socket").fileno()
        self._socket: socket.socket | None = None
        self._full = False
        """The socket took less than it was offered; `_has_room` comes when it has room again."""

    def close(self) -> None:
        super().close()
        self._full = False
        self._writability.forget(self._fd)
        if self._socket is not None:
            self._socket.detach()

    def receive(self, into: memoryview) -> int:
        if self._closed:
            return 0
        try:
            return self._raw_socket().recv_into(into)
        except OSError:
            return 0  # nothing there; or the connection is broken, which the transport will find out itself

    def _held_up(self) -> bool:
        return self._full or self._worker_slice is not None or self._turn_pending is not None

    def _write(self, data: Buffer, more: bool) -> None:
        if more and not self._transport.get_write_buffer_size():
            # A slice follows: MSG_MORE lets its first bytes share the packet.
            try:
                sent = self._raw_socket().send(data, socket.MSG_MORE)
            except BlockingIOError:
                sent = 0
            if sent == len(data):
                return
            data = memoryview(data)[sent:]
        self._transport.write(data)

    def _raw_socket(self) -> socket.socket:
        """The transport's descriptor under another object, for what the transport does not do; detached
        before the transport closes it.
        """
        if self._socket is None:
            self._socket = socket.socket(fileno=self._fd)
        return self._socket

    def _send_large_slice(self, part: FileSlice, bytes_max: int) -> int:
        if self._transport.get_write_buffer_size():
            self.blocked = True  # cannot happen while the limits are 0; waiting is right in any case
            return 0
        position = part.position + self._slice_sent
        length = part.length - self._slice_sent
        if length > bytes_max + SMALL_SLICE_BYTES_MAX:
            length = bytes_max  # else a turn that is spent but for a few bytes would leave them to the next
        if part.fd < 0:
            data = _read(part, position, length)
            self._advance_slice(part, length)
            self._transport.write(data)
            return length
        if not self._is_warm(part, position, length):
            return 0
        try:
            sent = os.sendfile(self._fd, part.fd, position, length)
        except BlockingIOError:
            self._wait_for_room()
            return 0
        if sent == 0:
            raise SliceTruncated(f"{part.file.path} ends before {position}")
        self._advance_slice(part, sent)
        if sent < length:
            self._wait_for_room()  # the socket is full: asking it once more would only say so
        return sent

    def _wait_for_room(self) -> None:
        self._full = True
        self._writability.tell_once(self._fd, self._has_room)

    def _has_room(self) -> None:
        self._full = False
        self.pump()
        self._drained()


class CopySink(Sink):
    """For TLS: bytes are read from the file and written to the transport, which encrypts them."""

    def __init__(
        self,
        hub: Hub,
        transport: asyncio.Transport,
        failed: Callable[[str], None],
        drained: Callable[[], None],
    ) -> None:
        super().__init__(hub, transport, failed, drained)
        transport.set_write_buffer_limits(high=JOIN_BYTES_MAX, low=JOIN_BYTES_MAX // 4)

    def _send_large_slice(self, part: FileSlice, bytes_max: int) -> int:
        position = part.position + self._slice_sent
        length = min(part.length - self._slice_sent, bytes_max, JOIN_BYTES_MAX)
        if part.fd >= 0 and not self._is_warm(part, position, length):
            return 0
        data = _read(part, position, length)
        self._advance_slice(part, length)
        self._transport.write(data)
        return length
