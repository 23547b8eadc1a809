"""The other end of a connection, as the broker sees it: real sockets and simulated ones both offer this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ottla.ports.effects import Waiter


class ReplySlot(Protocol):
    """The place of one reply in its connection's order. It is completed exactly once."""

    def complete(self, parts: list[Any]) -> None:
        """The reply's bytes and file slices; on a closed connection the slices are released at once."""
        ...

    def complete_for_now(self, parts: list[Any], renewed: Callable[[], list[Any] | None]) -> None:
        """A reply that may be out of date when the ones before it are sent: `renewed` is asked then, and says
        None when it is not.
        """
        ...

    def complete_empty(self) -> None:
        """This request has no reply (acks=0)."""
        ...


class KeptFrame(Protocol):
    def release(self) -> None:
        """The request's bytes are not needed any more."""
        ...


class Peer(Protocol):
    peer_host: str
    listener_name: str

    def open_slot(self) -> ReplySlot: ...

    def close(self, reason: str) -> None: ...

    def close_quietly(self, reason: str) -> None:
        """The same without a log line: for what is nobody's fault."""
        ...

    def keep_frame(self) -> KeptFrame:
        """Keeps the frame being handled readable after the handler's call, without a copy when it has a
        buffer of its own (frames above SMALL_FRAME_BYTES_MAX do).
        """
        ...

    def pause_reading(self, token: object) -> None:
        """No further request of this connection is dispatched until the same token resumes it."""
        ...

    def resume_reading(self, token: object) -> None: ...

    def add_waiter(self, waiter: Waiter) -> None:
        """The waiter expires when the connection is gone, so that nothing goes on waiting for it."""
        ...

    def discard_waiter(self, waiter: Waiter) -> None: ...
