"""A well-behaved client that goes on producing and fetching while somebody else misbehaves, and notes how
long it waited.
"""

from __future__ import annotations

import statistics
import threading
import time
from pathlib import Path

from ottla.model.errors import ErrorCode
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of, records_of


class Bystander:
    """Used as a context manager around the misbehaviour; leaving it checks that nothing was noticed.

    A round is one record written with acks=all and read back. The median says what a round costs on this
    machine at this moment; the worst one is what somebody else's misbehaviour may cost. The time for which
    the kernel had no core for the broker's loop or for the bystander is not counted: other tests take it.
    """

    def __init__(
        self, broker: BrokerProcess, topic: str, *, worst_ms: float = 2_000, median_ms: float = 100
    ) -> None:
        self.rounds_ms: list[float] = []
        self._limits_ms = (worst_ms, median_ms)
        self._topic = topic
        self._broker_pid = broker.pid
        self._client = RawClient(broker.port)
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="bystander")

    def __enter__(self) -> Bystander:
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        before = len(self.rounds_ms)
        deadline = time.monotonic() + 10
        while kind is None and len(self.rounds_ms) < before + 3 and self._thread.is_alive():
            assert time.monotonic() < deadline, "the bystander is not served any more"
            time.sleep(0.01)
        self._stop.set()
        self._thread.join(20)
        self._client.close()
        if kind is not None:
            return
        if self._error is not None:
            raise AssertionError("the bystander was disturbed") from self._error
        worst_ms, median_ms = self._limits_ms
        assert max(self.rounds_ms) < worst_ms, f"a bystander waited {max(self.rounds_ms):.0f} ms"
        assert statistics.median(self.rounds_ms) < median_ms, (
            f"median {statistics.median(self.rounds_ms):.0f} ms"
        )

    def _run(self) -> None:
        count = 0
        try:
            while not self._stop.is_set():
                began, held_up = time.monotonic(), self._held_up_ms()
                value = b"bystander %d" % count
                written = self._client.produce(self._topic, batch_of(value))
                assert written.error_code == ErrorCode.NONE, written.error_code
                read = self._client.fetch(self._topic, written.base_offset)
                assert [r.value for r in records_of(read.records)] == [value]
                took_ms = (time.monotonic() - began) * 1000
                self.rounds_ms.append(max(0.0, took_ms - (self._held_up_ms() - held_up)))
                count += 1
                self._stop.wait(0.005)
        except BaseException as error:
            self._error = error

    def _held_up_ms(self) -> float:
        """For how long the broker's main thread and this one have waited for a core, in all."""
        return sum(
            int(Path(stat).read_text(encoding="ascii").split()[1]) / 1e6
            for stat in (f"/proc/{self._broker_pid}/schedstat", "/proc/thread-self/schedstat")
        )
