"""The table of a GlobalKTable, whole in each Python process that joins with it, and brought up to date as
it goes.

Spark keeps its Python workers from one micro-batch to the next. The first task in a worker reads the topic
from its beginning; every later one reads what has come since, up to the end of each partition as it is when
the task begins (of committed records only), before it joins its first record. A topic that has not changed
costs two questions, for its id and its ends. Kafka Streams does the same with the threads of its instances.

What is kept is the record's value as bytes where its serde makes something that a joiner could change, else
the value itself. A topic that was made anew is noticed by its id, and read from its beginning.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from ottla.client.admin_offsets import LATEST
from ottla.client.errors import OffsetOutOfRange
from ottla.model.types import TopicPartition
from ottla.pipelines import connections
from ottla.streams import objects
from ottla.streams.errors import SerdeError

if TYPE_CHECKING:
    from ottla.client.sync.simple_consumer import SimpleConsumer

_IMMUTABLE: Final = (str, bytes, int, float, bool)


class _Deserializer(Protocol):
    def deserialize(self, data: bytes | None) -> Any: ...


class _Encoded:
    """A value that is decoded at each look: a joiner may change what it is given."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


def hashable(key: Any) -> Hashable:
    """What stands for a key in a dict: equal for equal keys, also of those that Python cannot hash."""
    return key if isinstance(key, _IMMUTABLE) else ("object", objects.encode(key))


class GlobalSnapshot:
    """One topic as a table. `refresh` first, then `get`; both from any thread."""

    def __init__(
        self, settings: Mapping[str, str], topic: str, key_serde: _Deserializer, value_serde: _Deserializer
    ) -> None:
        self._settings = {**settings, "isolation.level": "read_committed"}
        self._topic = topic
        self._key_serde = key_serde
        self._value_serde = value_serde
        self._values: dict[Hashable, Any] = {}
        self._topic_id = b""
        self._next_offsets: dict[int, int] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Any) -> Any:
        """The table's value of a key, or None."""
        found = self._values.get(hashable(key))
        return self._value_serde.deserialize(found.data) if isinstance(found, _Encoded) else found

    def refresh(self) -> int:
        """Reads up to the topic's end; returns how many records that were."""
        with self._lock:
            admin = connections.admin(self._settings)
            topic = admin.describe_topics([self._topic]).all()[self._topic]
            partitions = [TopicPartition(self._topic, partition.partition) for partition in topic.partitions]
            ends = admin.list_offsets(dict.fromkeys(partitions, LATEST), read_committed=True).all()
            if topic.topic_id != self._topic_id:
                self._values.clear()  # of another topic of the same name nothing is true any more
                self._next_offsets.clear()
                self._topic_id = topic.topic_id
            return sum(self._read(tp.partition, ends[tp].offset) for tp in partitions)

    def _read(self, partition: int, end: int) -> int:
        start = self._next_offsets.get(partition, 0)
        if start >= end:
            return 0
        consumer = connections.simple_consumer(self._settings)
        try:
            count = self._read_range(consumer, partition, start, end)
        except OffsetOutOfRange:  # retention took what was next: what is left is all there is
            count = self._read_range(consumer, partition, consumer.earliest(self._topic, partition), end)
        self._next_offsets[partition] = end
        return count

    def _read_range(self, consumer: SimpleConsumer, partition: int, start: int, end: int) -> int:
        batches = consumer.read_range(self._topic, partition, start, end)
        return sum(self._replay(batch, partition) for batch in batches)

    def _replay(self, batch: Any, partition: int) -> int:
        keys, values, offsets = (batch.column(name).to_pylist() for name in ("key", "value", "offset"))
        for key_data, data, offset in zip(keys, values, offsets, strict=True):
            if key_data is None:
                continue
            try:
                key = hashable(self._key_serde.deserialize(key_data))
                value = None if data is None else self._value_serde.deserialize(data)
            except Exception as error:
                where = f"{self._topic}, partition {partition}, offset {offset}"
                raise SerdeError(f"global table: {where}: {type(error).__name__}: {error}") from error
            if data is None or value is None:
                self._values.pop(key, None)
            else:
                self._values[key] = value if isinstance(value, _IMMUTABLE) else _Encoded(data)
        return len(offsets)


_snapshots: dict[Hashable, tuple[str, GlobalSnapshot]] = {}
_snapshots_lock = threading.Lock()


def snapshot(
    name: str,
    run_id: str,
    settings: Mapping[str, str],
    topic: str,
    key_serde: _Deserializer,
    value_serde: _Deserializer,
) -> GlobalSnapshot:
    """This process's table of a topic for one node (`name`, unique to application and node). A worker may
    live longer than the application: the next start of it may read with other serdes, and gets a table of its
    own in the place of the old one.
    """
    key = name, topic, frozenset(settings.items())
    with _snapshots_lock:
        known = _snapshots.get(key)
        if known is None or known[0] != run_id:
            known = _snapshots[key] = (run_id, GlobalSnapshot(settings, topic, key_serde, value_serde))
        return known[1]
