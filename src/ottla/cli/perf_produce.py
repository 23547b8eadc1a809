"""The load of `ottla perf produce`: records as fast as the producer takes them, or at a given rate.

With `batch` whole columns go through `send_batch`; with `send` every record is an object of its own. The
latency of a record is from the call to the acknowledgement.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ottla.cli.perf_measure import Measurement, Result

if TYPE_CHECKING:
    import ottla

PAYLOADS: Final = 1_000
"""So many different payloads are made beforehand and used in turn."""
CHUNK_RECORDS_MAX: Final = 10_000
CHUNK_BYTES_MAX: Final = 1 << 20
CHUNKS_PER_SECOND: Final = 50
"""With a rate: how finely a second is cut."""
MEASURED_ALL_RATE_MAX: Final = 20_000
SAMPLE_EVERY: Final = 10
"""With `send`, above that rate, the latency of every tenth record is measured: a callback costs, too."""
FLUSH_S_AFTER_INTERRUPT: Final = 5.0


@dataclass(slots=True)
class ProduceLoad:
    topic: str
    payloads: list[bytes]
    records: int | None
    duration_s: float | None = None
    rate: float | None = None
    """Records per second; None: as many as possible."""
    api: str = "batch"
    config: dict[str, Any] = field(default_factory=dict)


def random_payloads(size_bytes: int) -> list[bytes]:
    """Letters at random, the same in every run: what Kafka's tool sends, and compressible like it."""
    chance = random.Random(0)
    pool = bytes(chance.choices(range(ord("A"), ord("Z") + 1), k=size_bytes + PAYLOADS * 7))
    return [pool[i * 7 : i * 7 + size_bytes] for i in range(PAYLOADS)]


def file_payloads(path: str, delimiter: bytes) -> list[bytes]:
    """The pieces of a file, in an order that is random and the same in every run."""
    with open(path, "rb") as file:
        pieces = [piece for piece in file.read().split(delimiter) if piece]
    random.Random(0).shuffle(pieces)
    return pieces


def measure_produce(load: ProduceLoad, measurement: Measurement) -> Result:
    """Runs the load; Ctrl-C ends it and what was measured is the result."""
    import ottla

    result = Result("sent", load.topic, load.api, measurement)
    find_topic(load.config, load.topic)
    producer = ottla.Producer(config=load.config)
    try:
        producer.partitions_for(load.topic)  # finding the cluster is no part of the load
        tables = _Tables(load) if load.api == "batch" else None  # nor is loading pyarrow
        measurement.start()
        try:
            if tables is not None:
                _batches(producer, load, tables, result)
            else:
                _sends(producer, load, result)
            producer.flush()
        except KeyboardInterrupt:
            result.interrupted = True
            _flush_for_a_while(producer)
        measurement.stop()
        result.metrics = producer.metrics()
    finally:
        measurement.stop()
        producer.close(timeout=0 if result.interrupted else None)
    return result


def find_topic(config: Mapping[str, Any], topic: str) -> None:
    """Says soon what is wrong with the cluster or the topic; a producer would wait `max.block.ms`."""
    from ottla.cli.publishing import prepare_topic
    from ottla.client.blocking import Client
    from ottla.client.config import producer_settings

    settings = producer_settings(config, {})
    with Client(settings.bootstrap_servers, client_id=settings.client_id) as client:
        prepare_topic(client, topic)


def _flush_for_a_while(producer: ottla.Producer) -> None:
    from ottla.errors import OperationTimedOut

    with suppress(OperationTimedOut):
        producer.flush(timeout=FLUSH_S_AFTER_INTERRUPT)


class _Pace:
    """When the next chunk may leave, and when it is all over."""

    def __init__(self, load: ProduceLoad) -> None:
        self._began = time.perf_counter()
        self._rate = load.rate
        self._ends = None if load.duration_s is None else self._began + load.duration_s

    def wait(self, sent: int) -> None:
        if self._rate is not None:
            ahead_s = sent / self._rate - (time.perf_counter() - self._began)
            if ahead_s > 0:
                time.sleep(ahead_s)

    def over(self) -> bool:
        return self._ends is not None and time.perf_counter() >= self._ends


def _chunk_records(load: ProduceLoad) -> int:
    size_bytes = max(1, sum(map(len, load.payloads)) // len(load.payloads))
    count = max(1, min(CHUNK_RECORDS_MAX, CHUNK_BYTES_MAX // size_bytes))
    if load.rate is not None:
        count = max(1, min(count, int(load.rate / CHUNKS_PER_SECOND)))
    return count


def _acknowledged(result: Result, began: float, count: int, error: Exception | None) -> None:
    if error is None:
        result.measurement.late((time.perf_counter() - began) * 1000, count)
    else:
        name = type(error).__name__
        result.failed += count
        result.errors[name] = result.errors.get(name, 0) + count


def _sends(producer: ottla.Producer, load: ProduceLoad, result: Result) -> None:
    chunk = _chunk_records(load)
    every = 1 if load.rate is not None and load.rate <= MEASURED_ALL_RATE_MAX else SAMPLE_EVERY
    payloads, count = load.payloads, len(load.payloads)
    topic, send, clock = load.topic, producer.send, time.perf_counter
    failed_unmeasured = partial(_failed, result)
    pace = _Pace(load)
    sent = 0
    while (load.records is None or sent < load.records) and not pace.over():
        upto = sent + chunk if load.records is None else min(sent + chunk, load.records)
        size_bytes = 0
        for index in range(sent, upto):
            payload = payloads[index % count]
            size_bytes += len(payload)
            if index % every:
                send(topic, payload, on_delivery=failed_unmeasured)
            else:
                send(topic, payload, on_delivery=partial(_delivered, result, clock()))
        result.measurement.add(upto - sent, size_bytes)
        sent = upto
        pace.wait(sent)


def _delivered(result: Result, began: float, metadata: object, error: Exception | None) -> None:
    _acknowledged(result, began, 1, error)


def _failed(result: Result, metadata: object, error: Exception | None) -> None:
    if error is not None:
        _acknowledged(result, 0.0, 1, error)


class _Tables:
    """The payloads as tables with one column."""

    def __init__(self, load: ProduceLoad) -> None:
        self._payloads = load.payloads
        self.chunk = _chunk_records(load)
        self._whole = self._table(self.chunk)

    def of(self, records: int) -> tuple[Any, int]:
        """A table with so many rows, and their bytes."""
        return self._whole if records == self.chunk else self._table(records)

    def _table(self, records: int) -> tuple[Any, int]:
        import pyarrow

        values = [self._payloads[index % len(self._payloads)] for index in range(records)]
        return pyarrow.table({"value": pyarrow.array(values, pyarrow.binary())}), sum(map(len, values))


def _batches(producer: ottla.Producer, load: ProduceLoad, tables: _Tables, result: Result) -> None:
    chunk = tables.chunk
    under_way: deque[tuple[float, int, ottla.BatchFuture]] = deque()
    pace = _Pace(load)
    sent = 0
    try:
        while (load.records is None or sent < load.records) and not pace.over():
            records = chunk if load.records is None else min(chunk, load.records - sent)
            columns, size_bytes = tables.of(records)
            under_way.append((time.perf_counter(), records, producer.send_batch(load.topic, columns)))
            _settle(result, under_way)
            result.measurement.add(records, size_bytes)
            sent += records
            pace.wait(sent)
        while under_way:  # one after the other, so that each is measured when it is done
            under_way[0][2].exception()
            _settle(result, under_way)
    except KeyboardInterrupt:
        _flush_for_a_while(producer)
        _settle(result, under_way)
        raise


def _settle(result: Result, under_way: deque[tuple[float, int, ottla.BatchFuture]]) -> None:
    """Measures the tables that were acknowledged since the last look; all rows of one have its latency."""
    now = time.perf_counter()
    while under_way and under_way[0][2].done():
        began, records, future = under_way.popleft()
        for failed in future.errors():
            name = type(failed.error).__name__
            result.failed += len(failed.rows)
            result.errors[name] = result.errors.get(name, 0) + len(failed.rows)
            records -= len(failed.rows)
        if records:
            result.measurement.late((now - began) * 1000, records)
