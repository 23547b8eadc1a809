"""The load of `ottla perf latency`: one record at a time, sent, acknowledged, and read again.

A round trip is from the call of `send` to the moment a consumer has the record in hand; the acknowledgement
on the way is measured as well. One client waits while the other works, so nothing queues: this is the
latency of an idle cluster.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ottla.cli.perf_measure import Latencies, Measurement, Result
from ottla.cli.perf_produce import find_topic

if TYPE_CHECKING:
    import ottla

POLL_S_MAX: Final = 60.0
WARM_UP: Final = 10
"""Round trips before the measured ones: connections, sessions and caches are made in them."""


@dataclass(slots=True)
class LatencyLoad:
    topic: str
    records: int
    record_size: int = 100
    duration_s: float | None = None
    interval_s: float = 0.0
    """Pause between two round trips."""
    producer_config: dict[str, Any] = field(default_factory=dict)
    consumer_config: dict[str, Any] = field(default_factory=dict)


def measure_latency(load: LatencyLoad, measurement: Measurement) -> Result:
    """Runs the load; Ctrl-C ends it and what was measured is the result."""
    import ottla

    result = Result("sent and read", load.topic, "send", measurement, latency_name="end to end")
    acknowledged = Latencies()
    find_topic(load.producer_config, load.topic)
    with (
        ottla.Consumer(config=load.consumer_config) as consumer,
        ottla.Producer(config={"linger.ms": 0, **load.producer_config}) as producer,
    ):
        partitions = [ottla.TopicPartition(load.topic, p.index) for p in consumer.partitions_for(load.topic)]
        consumer.assign(partitions)
        consumer.seek_to_end(*partitions)
        for tp in partitions:  # resolved now: a record sent before that would be missed
            consumer.position(tp)
        try:
            for _ in range(WARM_UP):
                _round_trip(load, producer, consumer, partitions[0])
            measurement.start()
            began = time.perf_counter()
            while measurement.records < load.records:
                acknowledged_ms, read_ms = _round_trip(load, producer, consumer, partitions[0])
                acknowledged.add(acknowledged_ms)
                measurement.late(read_ms)
                measurement.add(1, load.record_size)
                if load.duration_s is not None and time.perf_counter() - began >= load.duration_s:
                    break
                if load.interval_s:
                    time.sleep(load.interval_s)
        except KeyboardInterrupt:
            result.interrupted = True
        finally:
            measurement.stop()
            result.metrics = {**consumer.metrics(), **producer.metrics()}
    result.more = {"acknowledged_ms": acknowledged.summary()}
    return result


def _round_trip(
    load: LatencyLoad, producer: ottla.Producer, consumer: ottla.Consumer, tp: ottla.TopicPartition
) -> tuple[float, float]:
    """Milliseconds to the acknowledgement, and until the record was read."""
    from ottla.errors import OperationTimedOut

    payload = os.urandom(load.record_size)
    began = time.perf_counter()
    stored = producer.send(tp.topic, payload, partition=tp.partition).result()
    acknowledged = time.perf_counter()
    while True:
        for record in consumer.poll(timeout=POLL_S_MAX):
            # Others may write to the topic meanwhile: only our own record ends the trip.
            if record.partition == stored.partition and record.offset == stored.offset:
                return (acknowledged - began) * 1000, (time.perf_counter() - began) * 1000
        if time.perf_counter() - began > POLL_S_MAX:
            raise OperationTimedOut(f"record {stored.offset} of {tp} was acknowledged and did not arrive")
