"""What is to be sent and what is under way: one request of a kind to a destination at a time.

A request that is not answered within its time is forgotten, and a late answer to it is nobody's. After a
failure a destination is left alone for a while, twice as long after each in a row.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ottla.ports.peers import Address
from ottla.raft.messages import Request, Response
from ottla.raft.settings import RaftSettings


class Send(NamedTuple):
    number: int
    """Goes back with the response or the failure."""
    node_id: int
    """-1 for a bootstrap address, where nobody knows who listens."""
    address: Address
    request: Request
    timeout_ms: float


class Reply(NamedTuple):
    token: Any
    response: Response


class _UnderWay(NamedTuple):
    send: Send
    epoch: int
    deadline_ms: float


class Outbox:
    __slots__ = ("sends", "replies", "_settings", "_number", "_under_way", "_failures", "_ready_at_ms")

    def __init__(self, settings: RaftSettings) -> None:
        self.sends: list[Send] = []
        self.replies: list[Reply] = []
        self._settings = settings
        self._number = 0
        self._under_way: dict[int, _UnderWay] = {}
        self._failures: dict[Address, int] = {}
        self._ready_at_ms: dict[Address, float] = {}

    def reply(self, token: Any, response: Response) -> None:
        self.replies.append(Reply(token, response))

    def is_under_way(self, kind: type[Any], address: Address | None = None) -> bool:
        return any(
            type(each.send.request) is kind and (address is None or each.send.address == address)
            for each in self._under_way.values()
        )

    def ready_at_ms(self, address: Address) -> float:
        return self._ready_at_ms.get(address, -inf)

    def send(
        self, node_id: int, address: Address, request: Request, epoch: int, now_ms: float, wait_ms: float = 0
    ) -> bool:
        """False when the destination has one of these already, or is left alone after a failure."""
        if self.ready_at_ms(address) > now_ms or self.is_under_way(type(request), address):
            return False
        self._number += 1
        timeout_ms = self._settings.request_timeout_ms + wait_ms
        send = Send(self._number, node_id, address, request, timeout_ms)
        self._under_way[send.number] = _UnderWay(send, epoch, now_ms + timeout_ms)
        self.sends.append(send)
        return True

    def take(self, number: int, now_ms: float, *, failed: bool) -> tuple[Send, int] | None:
        """The request that this answers and the epoch it was sent in; None when nobody waits for it."""
        found = self._under_way.pop(number, None)
        if found is None:
            return None
        address = found.send.address
        if failed:
            self._note_failure(address, now_ms)
        else:
            self._failures.pop(address, None)
            self._ready_at_ms.pop(address, None)
        return found.send, found.epoch

    def _note_failure(self, address: Address, now_ms: float) -> None:
        count = self._failures[address] = min(self._failures.get(address, 0) + 1, 16)
        pause_ms = min(
            self._settings.retry_backoff_ms * 2 ** (count - 1), self._settings.retry_backoff_max_ms
        )
        self._ready_at_ms[address] = now_ms + pause_ms

    def pause(self, address: Address, until_ms: float) -> None:
        self._ready_at_ms[address] = max(until_ms, self.ready_at_ms(address))

    def expire(self, now_ms: float) -> list[Send]:
        """Forgets what was not answered in time."""
        late = [each for each in self._under_way.values() if each.deadline_ms <= now_ms]
        for each in late:
            del self._under_way[each.send.number]
            self._note_failure(each.send.address, now_ms)
        return [each.send for each in late]

    def drop_all(self) -> None:
        """A new epoch: what was asked in the old one interests nobody."""
        self._under_way.clear()
        self._failures.clear()
        self._ready_at_ms.clear()

    def next_deadline_ms(self, now_ms: float) -> float:
        """When something expires, or a destination may be asked again."""
        soonest = min((each.deadline_ms for each in self._under_way.values()), default=inf)
        return min([soonest, *(at for at in self._ready_at_ms.values() if at > now_ms)])
