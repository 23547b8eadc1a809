"""One connection: bytes in, frames to the handler, replies out in order.

The protocol object of an asyncio transport (stock or uvloop, plain or TLS). What it knows about bytes is in
`frames`, about order in `replies`, about sending in `sink`; here they are tied together:

- `buffer_updated` hands every whole frame that arrived to the handler, then sends all replies that became
  complete, joined, then runs what the handlers deferred (`Turn`).
- Reading is paused by tokens, each by its owner: a request that waits before its effect, too many or too
  large replies unsent, no memory for a large frame, too many frames in one turn. While one token is set no
  frame is dispatched; frames that had already arrived are kept.
- `close` and a lost peer come to the same end: every slice and buffer is given back, waiters expire,
  `on_close` callbacks are called, and whoever completes a slot afterwards does no harm.

Timeouts are not timers: the listener's sweep calls `check_timeouts` every now and then.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any, Final, TypeAlias, cast

from ottla.net.frames import DiscardingReader, FrameError, FrameReader
from ottla.net.hub import Hub
from ottla.net.memory import FrameBuffer, HeldFrame
from ottla.net.replies import EARLY_BYTES, ReplyQueue, Slot
from ottla.net.sink import CopySink, SendfileSink, Sink
from ottla.ports.effects import Waiter

FRAMES_PER_TURN_MAX: Final = 64
"""Requests of one connection that are handled before the loop looks at the others."""

TLS_DRAIN_POLL_S: Final = 0.01
PARTING_MS: Final = 200
"""How long a peer that was told the end is given to close its side."""

Handler: TypeAlias = "Callable[[Connection, memoryview], None]"
"""Gets each frame without its length. The view is writable and valid only during the call, unless
`Connection.keep_frame` is called within it."""

_PAUSE_REPLIES: Final = "replies"
_PAUSE_MEMORY: Final = "memory"
_PAUSE_TURN: Final = "turn"
_PAUSE_DRAIN: Final = "drain"

_log = logging.getLogger(__name__)


class Connection(asyncio.BufferedProtocol):
    """`session`, `client_id`, `client_software_name`, `client_software_version` and `principal` are for the
    layer above; nothing here reads them.
    """

    __slots__ = (
        "listener_name",
        "peer_host",
        "peer_port",
        "local_host",
        "local_port",
        "session",
        "client_id",
        "client_software_name",
        "client_software_version",
        "principal",
        "opened_at",
        "closed",
        "close_reason",
        "_hub",
        "_handler",
        "_opened",
        "_lost",
        "_transport",
        "_sink",
        "_reader",
        "_replies",
        "_pauses",
        "_reading",
        "_pumping",
        "_flush_deferred",
        "_continue_scheduled",
        "_accounted_bytes",
        "_admitted",
        "_on_close",
        "_waiters",
        "_draining",
        "_parting",
        "_seen_bytes",
        "_active_at",
        "_seen_frames",
        "_frame_begun_at",
        "_seen_output",
        "_output_moved_at",
    )

    def __init__(
        self,
        hub: Hub,
        listener_name: str,
        handler: Handler,
        opened: Callable[[Connection], None],
        lost: Callable[[Connection], None],
    ) -> None:
        self.listener_name = listener_name
        self.peer_host = ""
        self.peer_port = 0
        self.local_host = ""
        self.local_port = 0
        self.session: Any = None
        self.client_id: str | None = None
        self.client_software_name = ""
        self.client_software_version = ""
        self.principal: Any = None
        self.opened_at = 0.0  # the loop's clock
        self.closed = False
        self.close_reason: str | None = None
        self._hub = hub
        self._handler = handler
        self._opened = opened
        self._lost = lost
        self._transport: asyncio.Transport | None = None
        self._sink: Sink | None = None
        self._reader = FrameReader(hub.memory, hub.settings.request_bytes_max)
        self._replies = ReplyQueue(self._reply_ready)
        self._pauses: set[object] = set()
        self._reading = True
        self._pumping = False
        self._flush_deferred = False
        self._continue_scheduled = False
        self._accounted_bytes = 0
        self._admitted = False
        self._on_close: list[Callable[[], None]] | None = None
        self._waiters: set[Waiter] | None = None
        self._draining = False
        self._parting = False
        self._seen_bytes = -1
        self._active_at = 0.0
        self._seen_frames = -1
        self._frame_begun_at = 0.0
        self._seen_output = -1
        self._output_moved_at = 0.0

    def __repr__(self) -> str:
        return f"<Connection {self.peer_host}:{self.peer_port} on {self.listener_name}>"

    # What the layer above uses.

    def open_slot(self) -> Slot:
        """The next place in the order of replies: one for every request, in the order of dispatch."""
        replies = self._replies
        slot = replies.open_slot()
        if len(replies) >= self._hub.settings.replies_max and not replies.closed:
            self.pause_reading(_PAUSE_REPLIES)
        return slot

    def keep_frame(self) -> HeldFrame:
        """Called within the handler, before anything is decoded: gives the frame's bytes to the caller, who
        releases them. For requests that wait before they use their bytes.
        """
        return self._reader.keep_frame()

    def pause_reading(self, token: object) -> None:
        """No further request of this connection is dispatched until the same token resumes it."""
        self._pauses.add(token)
        # Within a turn it is often resumed before the end; the transport is told then.
        if self._reading and not self._pumping:
            self._stop_reading()

    def resume_reading(self, token: object) -> None:
        pauses = self._pauses
        pauses.discard(token)
        if not pauses and not self._reading and not self._continue_scheduled and not self.closed:
            # The scratch may be another connection's at this moment, so held frames wait for their turn.
            self._continue_scheduled = True
            self._hub.loop.call_soon(self._continue)

    def close(self, reason: str) -> None:
        """Ends the connection at once, replies that were not sent are dropped; the reason is logged."""
        if not self.closed:
            self._hub.log.write(
                logging.WARNING,
                "%s: closing the connection from %s:%d: %s",
                self.listener_name,
                self.peer_host,
                self.peer_port,
                reason,
            )
            self._end(reason)

    def close_quietly(self, reason: str) -> None:
        """The same without a log line: for what is nobody's fault (idle, stopping)."""
        self._end(reason)

    def drain_and_close(self) -> None:
        """Takes no more requests, and closes when those under way are answered and sent."""
        self._draining = True
        self.pause_reading(_PAUSE_DRAIN)
        for waiter in tuple(self._waiters or ()):
            waiter.expire()  # a long poll is answered with what there is
        self._close_if_drained()

    def on_close(self, callback: Callable[[], None]) -> None:
        """Calls back once when the connection is gone; at once when it is already."""
        if self.closed:
            callback()
        elif self._on_close is None:
            self._on_close = [callback]
        else:
            self._on_close.append(callback)

    def add_waiter(self, waiter: Waiter) -> None:
        """The waiter expires when the connection is gone, so that nothing goes on waiting for it."""
        if self.closed:
            waiter.expire()
        elif self._waiters is None:
            self._waiters = {waiter}
        else:
            self._waiters.add(waiter)

    def discard_waiter(self, waiter: Waiter) -> None:
        if self._waiters is not None:
            self._waiters.discard(waiter)

    @property
    def request_bytes_max(self) -> int:
        """The largest frame that is accepted now (less before authentication)."""
        return self._reader.request_bytes_max

    @request_bytes_max.setter
    def request_bytes_max(self, value: int) -> None:
        self._reader.request_bytes_max = value

    @property
    def secure(self) -> bool:
        return isinstance(self._sink, CopySink)

    @property
    def requests(self) -> int:
        return self._reader.frames

    @property
    def bytes_received(self) -> int:
        return self._reader.bytes_received

    @property
    def bytes_sent(self) -> int:
        return self._sink.sent_bytes if self._sink is not None else 0

    @property
    def pending_replies(self) -> int:
        return len(self._replies)

    # What the transport calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = plain = cast(asyncio.Transport, transport)
        hub = self._hub
        self.opened_at = self._active_at = hub.loop.time()
        self.peer_host, self.peer_port = _address(plain.get_extra_info("peername"))
        self.local_host, self.local_port = _address(plain.get_extra_info("sockname"))
        refusal = hub.admit(self.peer_host)
        if refusal is not None:
            self.close(f"refused: {refusal}")
            return
        self._admitted = True
        sock = plain.get_extra_info("socket")
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError:
            pass  # the peer is gone already; connection_lost follows
        sink_class = SendfileSink if plain.get_extra_info("ssl_object") is None else CopySink
        self._sink = sink_class(hub, plain, self.close, self._drained)
        self._opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        if self.closed:
            return
        self._reader.received(nbytes)
        self._pump()

    def eof_received(self) -> bool:
        # As in Kafka: a peer that closes its side does not wait for answers. Said now, because the transport
        # would first try to write what it has queued, while handlers wait for a peer that is gone.
        self._end("the peer closed the connection")
        return False

    def pause_writing(self) -> None:
        if self._sink is not None:
            self._sink.block()

    def resume_writing(self) -> None:
        # Not here: this is within asyncio's own write, and when something below closes the connection there
        # (a peer that is gone), asyncio calls `connection_lost` twice.
        self._hub.loop.call_soon(self._go_on_writing)

    def _go_on_writing(self) -> None:
        if self._sink is not None and not self.closed:
            turn = self._hub.turn
            turn.active = True
            self._sink.unblock()
            turn.finish()

    def connection_lost(self, error: Exception | None) -> None:
        # First, so that `_end` does not abort it: asyncio would then call this a second time when the
        # transport was closing with replies still in its buffer.
        self._transport = None
        self._end("the peer closed the connection" if error is None else str(error))

    # The way in.

    def _pump(self) -> None:
        """Dispatches the frames that are there, and what follows from them."""
        turn = self._hub.turn
        turn.active = True
        self._pumping = True
        reader = self._reader
        next_frame = reader.next_frame
        handler = self._handler
        pauses = self._pauses
        budget = FRAMES_PER_TURN_MAX
        try:
            while not pauses:
                frame = next_frame()
                if frame is None:
                    # The rest of a large frame is mostly there already: asking the socket costs less than
                    # another turn of the loop.
                    rest = reader.rest_of_begun()
                    received = self._sink.receive(rest) if rest is not None and self._sink is not None else 0
                    if not received:
                        break
                    reader.received(received)
                    continue
                handler(self, frame)
                budget -= 1
                if not budget:
                    pauses.add(_PAUSE_TURN)
            reader.settle()
        except FrameError as error:
            self.close(str(error))
        except Exception:
            _log.exception("%r: a request could not be handled; closing the connection", self)
            self._end("a request could not be handled")
        self._pumping = False
        held_back = bool(pauses)
        if turn.woken == 1 and self._replies.has_ready:
            # A reader that has waited for what was just written gets it before the writer is told: it has
            # waited longer, and a reply costs as much as all else that either of them waits for. If there
            # are several, the writer does not wait for them.
            turn.finish()
            turn.active = True
        if not self.closed:
            if self._replies.has_ready:
                self._flush()
            if held_back and not pauses:
                pauses.add(_PAUSE_TURN)  # frames that were held back want to be continued with
            if pauses:
                self._stop_reading()
            if reader.wanted_bytes:
                self.pause_reading(_PAUSE_MEMORY)
                self._hub.memory.reserve_later(reader.wanted_bytes, self._memory_granted)
        if turn.deferred:
            turn.finish()
        else:
            turn.active = False

    def _memory_granted(self, buffer: FrameBuffer) -> None:
        self._reader.grant(buffer)
        self.resume_reading(_PAUSE_MEMORY)

    def _stop_reading(self) -> None:
        if self._reading:
            self._reading = False
            if self._transport is not None and not self._transport.is_closing():
                self._transport.pause_reading()
        if _PAUSE_TURN in self._pauses:
            self.resume_reading(_PAUSE_TURN)

    def _continue(self) -> None:
        """All pauses are over: first the frames that were held back, then the socket."""
        self._continue_scheduled = False
        if self.closed or self._pauses:
            return
        self._reader.replay()
        self._pump()
        if not (self._pauses or self.closed or self._reading or self._continue_scheduled):
            self._reading = True
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    # The way out.

    def _reply_ready(self) -> None:
        if self._replies.held_bytes > EARLY_BYTES:
            self._flush()
        elif not self._pumping and not self._flush_deferred:
            self._flush_deferred = True
            self._hub.turn.defer(self._flush)

    def _flush(self) -> None:
        self._flush_deferred = False
        sink = self._sink
        if self.closed or sink is None:
            return
        if self._replies.has_ready:
            parts = self._replies.take()
            if parts:
                sink.send(parts)
        self._drained()

    def _drained(self) -> None:
        """Something was sent, or more is waiting: are there too many replies, or few enough again?"""
        sink = self._sink
        if self.closed or sink is None:
            return
        replies = self._replies
        hub = self._hub
        held_bytes = replies.held_bytes + sink.held_bytes
        if sink.blocked and self._transport is not None:
            held_bytes += self._transport.get_write_buffer_size()
        if held_bytes != self._accounted_bytes:
            hub.reply_bytes += held_bytes - self._accounted_bytes
            self._accounted_bytes = held_bytes
        if held_bytes or self._pauses or self._draining:
            settings = hub.settings
            if (
                len(replies) >= settings.replies_max
                or held_bytes > settings.reply_bytes_max
                or (held_bytes and hub.reply_bytes > settings.total_reply_bytes_max)
            ):
                self.pause_reading(_PAUSE_REPLIES)
            elif _PAUSE_REPLIES in self._pauses and (
                len(replies) <= settings.replies_max // 2 and held_bytes <= settings.reply_bytes_max // 2
            ):
                self.resume_reading(_PAUSE_REPLIES)
            if self._draining:
                self._close_if_drained()

    def _close_if_drained(self) -> None:
        sink, transport = self._sink, self._transport
        if self._replies or self._parting or (sink is not None and sink.pending):
            return
        if sink is None or transport is None or transport.is_closing():
            self._end("stopping")
            return
        self._parting = True
        # Closing a socket that has unread bytes resets it, and a reset may destroy replies that the peer has
        # not read yet. So only our half is closed, and what still comes is thrown away until the peer closes.
        self._reader.close()
        self._reader = DiscardingReader(self._hub.memory)
        self._pauses.clear()
        if not self._reading:
            self._reading = True
            transport.resume_reading()
        if transport.can_write_eof():
            try:
                transport.write_eof()
            except OSError:  # the peer has gone, and the loop has not looked yet
                self._end("the peer closed the connection")
                return
            self._hub.loop.call_later(PARTING_MS / 1000, self._end, "stopping")
        else:
            self._part_secured(transport)

    def _part_secured(self, transport: asyncio.Transport) -> None:
        """TLS has no half-close, and asyncio drops what is unsent when data arrives during its goodbye: that
        is said only when the socket below has taken everything.
        """
        if self.closed:
            return
        below = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None)
        if below is not None and below.get_write_buffer_size():
            self._hub.loop.call_later(TLS_DRAIN_POLL_S, self._part_secured, transport)
        else:
            transport.close()
            self._hub.loop.call_later(PARTING_MS / 1000, self._end, "stopping")

    # The end.

    def _end(self, reason: str) -> None:
        if self.closed:
            return
        self.closed = True
        self.close_reason = reason
        hub = self._hub
        if self._transport is not None:
            self._transport.abort()
        hub.reply_bytes -= self._accounted_bytes
        self._accounted_bytes = 0
        if self._reader.wanted_bytes:
            hub.memory.leave_line(self._memory_granted)
        self._reader.close()
        if self._sink is not None:
            self._sink.close()
        self._replies.close()
        if self._waiters is not None:
            waiters, self._waiters = self._waiters, None
            for waiter in waiters:
                waiter.expire()
        callbacks, self._on_close = self._on_close or (), None
        for callback in callbacks:
            try:
                callback()
            except Exception:
                _log.exception("%r: a callback for its end failed", self)
        if self._admitted:
            hub.leave(self.peer_host)
            self._lost(self)

    def check_timeouts(self, now: float) -> None:
        """Called by the listener's sweep with the loop's time. Progress is seen by comparing counters with
        those of the last visit, so that the way of the data does not have to write down times.
        """
        settings = self._hub.settings
        reader = self._reader
        sink = self._sink
        if self.closed or sink is None:
            return
        seen_bytes = reader.bytes_received + sink.sent_bytes
        if seen_bytes != self._seen_bytes or self._replies:
            self._seen_bytes = seen_bytes
            self._active_at = now
        elif 0 <= settings.idle_timeout_ms < (now - self._active_at) * 1000:
            self.close_quietly("idle (connections.max.idle.ms)")
            return
        if (
            not reader.frames
            and not self._pauses
            and settings.handshake_timeout_ms < (now - self.opened_at) * 1000
        ):
            self.close("no request within the handshake timeout")
            return
        if not reader.mid_frame or reader.frames != self._seen_frames or self._pauses:
            self._seen_frames = reader.frames
            self._frame_begun_at = now
        elif settings.frame_timeout_ms < (now - self._frame_begun_at) * 1000:
            self.close(f"a frame was not whole after {settings.frame_timeout_ms:.0f} ms")
            return
        if sink.pending:
            assert self._transport is not None
            output = sink.sent_bytes - self._transport.get_write_buffer_size()
            if output != self._seen_output:
                self._seen_output = output
                self._output_moved_at = now
            elif settings.reply_timeout_ms < (now - self._output_moved_at) * 1000:
                self.close(f"the peer read no reply for {settings.reply_timeout_ms:.0f} ms")
        else:
            self._seen_output = -1


def _address(name: Any) -> tuple[str, int]:
    if isinstance(name, tuple) and len(name) >= 2:
        # An IPv4 peer of a socket for both families is the same peer.
        return str(name[0]).removeprefix("::ffff:"), int(name[1])
    return "", 0
