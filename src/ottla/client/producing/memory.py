"""`buffer.memory`: the bytes that batches may take, and who waits for some: first come, first served."""

from __future__ import annotations

from collections import deque

from ottla.client.effects import Signal


class Ticket:
    """Somebody who waits for memory."""

    __slots__ = ("needed_bytes", "granted", "called")

    def __init__(self, needed_bytes: int) -> None:
        self.needed_bytes = needed_bytes
        self.granted = False
        self.called = Signal()


class MemoryPool:
    def __init__(self, total_bytes: int) -> None:
        self.total_bytes = total_bytes
        self.free_bytes = total_bytes
        self.waiting: deque[Ticket] = deque()

    def take(self, needed_bytes: int) -> bool:
        """Takes some if there is enough and nobody waits."""
        if self.waiting or needed_bytes > self.free_bytes:
            return False
        self.free_bytes -= needed_bytes
        return True

    def wait(self, needed_bytes: int) -> Ticket:
        """A place in the line; what it asks for is set aside for it when `granted`."""
        ticket = Ticket(needed_bytes)
        self.waiting.append(ticket)
        return ticket

    def leave(self, ticket: Ticket) -> None:
        """Gives up the place, or what was granted."""
        if ticket.granted:
            ticket.granted = False
            self.release(ticket.needed_bytes)
        elif ticket in self.waiting:
            self.waiting.remove(ticket)
            self.serve()

    def release(self, released_bytes: int) -> None:
        self.free_bytes += released_bytes
        self.serve()

    def serve(self) -> None:
        while self.waiting and self.waiting[0].needed_bytes <= self.free_bytes:
            ticket = self.waiting.popleft()
            self.free_bytes -= ticket.needed_bytes
            ticket.granted = True
            ticket.called.notify()

    def call_everybody(self) -> None:
        """Wakes all who wait, for nothing (the producer closes)."""
        for ticket in list(self.waiting):
            ticket.called.notify()
