"""Which ids are due, without looking at the others: a heap with lazy deletion.

An id has at most one time. Times mostly move further away (every change of an id makes it younger): that is
one store in a dict; the heap's entry stays where it is, and moves when it comes to the top.
"""

from __future__ import annotations

import heapq


class Deadlines:
    __slots__ = ("_times", "_queued", "_heap")

    def __init__(self) -> None:
        self._times: dict[str, int] = {}
        self._queued: dict[str, int] = {}
        """Where the heap has an id: never later than its time. An entry that says something else is void."""
        self._heap: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def set(self, transactional_id: str, time_ms: int) -> None:
        self._times[transactional_id] = time_ms
        queued_ms = self._queued.get(transactional_id)
        if queued_ms is None or time_ms < queued_ms:
            self._push(transactional_id, time_ms)
            self._tidy()

    def discard(self, transactional_id: str) -> None:
        """The heap's entry is kept for a time that may be set soon."""
        self._times.pop(transactional_id, None)
        self._tidy()

    def due(self, before_ms: int, limit: int) -> tuple[list[str], bool]:
        """Up to `limit` ids with a time below `before_ms`, the earliest first, and whether there are more.
        They stay until they are discarded or set anew.
        """
        found: list[str] = []
        heap = self._heap
        more = False
        while heap and heap[0][0] < before_ms:
            queued_ms, transactional_id = heap[0]
            if self._queued.get(transactional_id) != queued_ms:
                heapq.heappop(heap)
                continue
            time_ms = self._times.get(transactional_id)
            if time_ms is None:
                heapq.heappop(heap)
                del self._queued[transactional_id]
            elif time_ms > queued_ms:
                self._queued[transactional_id] = time_ms
                heapq.heapreplace(heap, (time_ms, transactional_id))
            elif len(found) == limit:
                more = True
                break
            else:
                heapq.heappop(heap)
                del self._queued[transactional_id]  # else an older entry of the same time would count again
                found.append(transactional_id)
        for transactional_id in found:
            self._push(transactional_id, self._times[transactional_id])
        return found, more

    def _push(self, transactional_id: str, time_ms: int) -> None:
        self._queued[transactional_id] = time_ms
        heapq.heappush(self._heap, (time_ms, transactional_id))

    def _tidy(self) -> None:
        if len(self._heap) <= 64 or len(self._heap) <= 4 * len(self._times):
            return
        self._queued = dict(self._times)
        self._heap = [(time_ms, transactional_id) for transactional_id, time_ms in self._times.items()]
        heapq.heapify(self._heap)
