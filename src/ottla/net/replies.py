"""The order of replies, without sockets: Kafka answers each connection's requests in the order they came.

A request opens a slot when it is dispatched and completes it whenever its answer is ready; `take` gives the
parts of all slots at the head that are complete. A slot that waits (acks=all, a long poll) holds back the
ones behind it, not the requests behind it. A reply that was held back and tells how things stand may be out
of date when its turn comes: it can be `renewed` then.

Parts are bytes, and `FileSlice`s that the sink sends from the page cache. Slices pin descriptors: each is
released exactly once, by the sink when it has sent it, or here when the connection is gone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, TypeAlias

from ottla.ports.disk import Buffer, FileSlice

Part: TypeAlias = Buffer | FileSlice

EARLY_BYTES: Final = 256 * 1024
"""Replies are sent at the end of the turn, joined; when this much has gathered it is sent at once."""


def release_slices(parts: list[Part]) -> None:
    for part in parts:
        if isinstance(part, FileSlice):
            part.release()


class Slot:
    """The place of one reply in the order. It is completed exactly once."""

    __slots__ = ("_replies", "parts", "renewed")

    def __init__(self, replies: ReplyQueue) -> None:
        self._replies = replies
        self.parts: list[Part] | None = None
        self.renewed: Callable[[], list[Part] | None] | None = None

    @property
    def completed(self) -> bool:
        return self.parts is not None

    def complete(self, parts: list[Part]) -> None:
        """The whole reply frame, its length first. When the connection is gone, the slices are released and
        that is all.
        """
        if self.parts is not None:
            raise AssertionError("a reply slot was completed twice")
        self.parts = parts
        self._replies.completed(self)

    def complete_for_now(self, parts: list[Part], renewed: Callable[[], list[Part] | None]) -> None:
        """The same; if others have to be sent before it, `renewed` is asked for the reply as it is then. None
        says that it still holds. Neither may have slices.
        """
        self.renewed = renewed
        self.complete(parts)

    def complete_empty(self) -> None:
        """There is no reply (acks=0)."""
        self.complete([])


class ReplyQueue:
    """The slots of one connection. `ready` is called when the slot at the head has become complete, and
    when so much is held that somebody should look at it.
    """

    __slots__ = ("closed", "has_ready", "held_bytes", "_slots", "_ready")

    def __init__(self, ready: Callable[[], None]) -> None:
        self.closed = False
        self.has_ready = False
        self.held_bytes = 0  # completed and not yet taken; slices count nothing
        self._slots: deque[Slot] = deque()
        self._ready = ready

    def __len__(self) -> int:
        return len(self._slots)

    def open_slot(self) -> Slot:
        slot = Slot(self)
        self._slots.append(slot)
        return slot

    def completed(self, slot: Slot) -> None:
        parts = slot.parts
        assert parts is not None
        if self.closed:
            release_slices(parts)
            return
        for part in parts:
            if not isinstance(part, FileSlice):
                self.held_bytes += len(part)
        if self._slots[0] is slot:
            slot.renewed = None  # it is as new as can be
            self.has_ready = True
            self._ready()
        elif self.held_bytes > EARLY_BYTES:
            self._ready()

    def take(self) -> list[Part]:
        """The parts that may be sent now, in order."""
        slots = self._slots
        taken: list[Part] = []
        self.has_ready = False
        while slots:
            slot = slots[0]
            parts = slot.parts
            if parts is None:
                break
            slots.popleft()
            for part in parts:
                if not isinstance(part, FileSlice):
                    self.held_bytes -= len(part)
            if slot.renewed is not None:
                parts = slot.renewed() or parts
            taken += parts
        return taken

    def close(self) -> None:
        self.closed = True
        self.has_ready = False
        self.held_bytes = 0
        slots, self._slots = self._slots, deque()
        for slot in slots:
            if slot.parts is not None:
                release_slices(slot.parts)
