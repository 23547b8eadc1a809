"""The load of `ottla perf consume`: a topic read as fast as the consumer gives it.

With `batch` whole columns come out of `poll_arrow`; with `poll` every record is an object. Without a group
all partitions are read from the beginning, and it ends with what was there when it began.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from ottla.cli.perf_measure import Measurement, Result

if TYPE_CHECKING:
    from collections.abc import Callable

    import ottla

POLL_S: Final = 0.2


@dataclass(slots=True)
class ConsumeLoad:
    topic: str
    records: int | None
    """None: what is there at the beginning."""
    timeout_s: float = 10.0
    """It ends when nothing came for so long."""
    duration_s: float | None = None
    group: str | None = None
    from_latest: bool = False
    api: str = "batch"
    config: dict[str, Any] = field(default_factory=dict)


class Consuming:
    """A consumer that stands where the load begins."""

    def __init__(self, load: ConsumeLoad) -> None:
        import ottla

        config = dict(load.config)
        config.setdefault("auto.offset.reset", "latest" if load.from_latest else "earliest")
        if load.group is not None:
            config["group.id"] = load.group
        self.load = load
        self.expected = load.records
        self.consumer = ottla.Consumer(config=config)
        try:
            if load.group is not None:
                self.consumer.partitions_for(load.topic)  # it has to exist
                self.consumer.subscribe([load.topic])
            else:
                self._assign()
        except BaseException:
            self.consumer.close()
            raise

    def _assign(self) -> None:
        from ottla import TopicPartition

        consumer, load = self.consumer, self.load
        partitions = [TopicPartition(load.topic, p.index) for p in consumer.partitions_for(load.topic)]
        consumer.assign(partitions)
        if load.from_latest:
            consumer.seek_to_end(*partitions)
        else:
            consumer.seek_to_beginning(*partitions)
            if load.records is None and load.duration_s is None:
                first, last = consumer.beginning_offsets(partitions), consumer.end_offsets(partitions)
                self.expected = sum(last[tp] - first[tp] for tp in partitions)


def measure_consume(consuming: Consuming, measurement: Measurement) -> Result:
    """Runs the load; Ctrl-C ends it and what was measured is the result."""
    load, consumer = consuming.load, consuming.consumer
    result = Result("read", load.topic, load.api, measurement)
    poll = _columns(consumer) if load.api == "batch" else _objects(consumer)
    measurement.start()
    began = quiet_since = time.perf_counter()
    first_after_s: float | None = None
    try:
        while consuming.expected is None or measurement.records < consuming.expected:
            count, size_bytes = poll()
            now = time.perf_counter()
            if count:
                measurement.add(count, size_bytes)
                quiet_since = now
                if first_after_s is None:
                    first_after_s = now - began
            elif now - quiet_since >= load.timeout_s or _at_end(consuming):
                break
            if load.duration_s is not None and now - began >= load.duration_s:
                break
    except KeyboardInterrupt:
        result.interrupted = True
    finally:
        measurement.stop()
        result.metrics = consumer.metrics()
        consumer.close()
    result.more = {"first_record_after_s": None if first_after_s is None else round(first_after_s, 6)}
    return result


def _at_end(consuming: Consuming) -> bool:
    """A read of what is there counts offsets, of which some have no record (transactions, compaction)."""
    load = consuming.load
    until_end = load.records is None and load.duration_s is None and not load.from_latest
    return until_end and load.group is None and consuming.consumer.at_end()


def _columns(consumer: ottla.Consumer) -> Callable[[], tuple[int, int]]:
    import pyarrow.compute

    length, total = pyarrow.compute.binary_length, pyarrow.compute.sum

    def poll() -> tuple[int, int]:
        batch = consumer.poll_arrow(timeout=POLL_S)
        if not batch.num_rows:
            return 0, 0
        keys, values = (total(length(batch.column(name))).as_py() or 0 for name in ("key", "value"))
        return batch.num_rows, keys + values

    return poll


def _objects(consumer: ottla.Consumer) -> Callable[[], tuple[int, int]]:
    def poll() -> tuple[int, int]:
        records = consumer.poll(timeout=POLL_S)
        return len(records), sum(len(record.value or b"") + len(record.key or b"") for record in records)

    return poll
