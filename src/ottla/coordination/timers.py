"""Deadlines of members and groups: one heap with lazy deletion.

Most timers are sessions that every heartbeat moves further away: that is one store in a dict; the heap entry
stays where it is, and moves when it comes to the top. Time is passed in.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Hashable
from itertools import count
from math import inf

from ottla.coordination.outcome import Outcome


class _Timer:
    __slots__ = ("deadline_ms", "queued_ms", "action")

    def __init__(self, deadline_ms: float, action: Callable[[], Outcome]) -> None:
        self.deadline_ms = deadline_ms
        self.queued_ms = deadline_ms
        """Where the heap has it: never later than the deadline."""
        self.action = action


class Timers:
    def __init__(self) -> None:
        self.on_earlier: Callable[[float], None] | None = None
        """Told when a deadline is set that comes before all others."""
        self._timers: dict[Hashable, _Timer] = {}
        self._heap: list[tuple[float, int, Hashable, _Timer]] = []
        self._order = count()  # equal deadlines expire in the order in which they were set

    def __contains__(self, key: Hashable) -> bool:
        return key in self._timers

    def __len__(self) -> int:
        return len(self._timers)

    def set(self, key: Hashable, deadline_ms: float, action: Callable[[], Outcome]) -> None:
        """`deadline_ms` is on the monotonic clock; a timer of the same key is replaced."""
        timer = self._timers.get(key)
        if timer is not None and timer.queued_ms <= deadline_ms:
            timer.deadline_ms = deadline_ms
            timer.action = action
            return
        timer = self._timers[key] = _Timer(deadline_ms, action)
        self._push(key, timer)

    def move(self, key: Hashable, deadline_ms: float) -> bool:
        """Moves a timer that is there; False when there is none."""
        timer = self._timers.get(key)
        if timer is None:
            return False
        if timer.queued_ms <= deadline_ms:
            timer.deadline_ms = deadline_ms
        else:
            self.set(key, deadline_ms, timer.action)
        return True

    def deadline_of(self, key: Hashable) -> float | None:
        timer = self._timers.get(key)
        return None if timer is None else timer.deadline_ms

    def cancel(self, key: Hashable) -> None:
        self._timers.pop(key, None)
        if len(self._heap) > 64 and len(self._heap) > 4 * len(self._timers):
            self._heap = [entry for entry in self._heap if self._timers.get(entry[2]) is entry[3]]
            heapq.heapify(self._heap)

    def clear(self) -> None:
        self._timers.clear()
        self._heap.clear()

    def next_deadline_ms(self) -> float:
        """The earliest deadline, or infinity."""
        heap = self._heap
        while heap:
            queued_ms, _, key, timer = heap[0]
            if self._timers.get(key) is not timer:
                heapq.heappop(heap)
            elif timer.deadline_ms > queued_ms:
                heapq.heappop(heap)
                timer.queued_ms = timer.deadline_ms
                heapq.heappush(heap, (timer.deadline_ms, next(self._order), key, timer))
            else:
                return queued_ms
        return inf

    def pop_due(self, now_ms: float) -> Callable[[], Outcome] | None:
        """Takes out one timer that is due; the caller calls its action."""
        if self.next_deadline_ms() > now_ms:
            return None
        _, _, key, timer = heapq.heappop(self._heap)
        del self._timers[key]
        return timer.action

    def _push(self, key: Hashable, timer: _Timer) -> None:
        is_first = not self._heap or timer.deadline_ms < self._heap[0][0]
        heapq.heappush(self._heap, (timer.deadline_ms, next(self._order), key, timer))
        if is_first and self.on_earlier is not None:
            self.on_earlier(timer.deadline_ms)
