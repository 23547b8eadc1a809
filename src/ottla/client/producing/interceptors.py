"""Looking at records on their way: objects of the user's that are called at enqueue, before a send, and at
the acknowledgement.

An interceptor is an object with any of these methods:

- `on_enqueue(record) -> record`: a ProducerRecord as it was given to `send`, before it is serialized. What it
  returns is sent (`record._replace(value=...)` changes it); called in the caller's thread;
- `on_send(batch)`: a BatchInfo, just before the request that carries it leaves, and again when it is sent
once
  more. It runs inside of the sender, so it has to be quick and must not call the producer;
- `on_acknowledgement(metadata, error)`: RecordMetadata, and None or what went wrong (then the offset is -1,
and the
  partition is -1 when none was chosen yet). Called for every record, also for those that `send` refused;
- `close()`: the producer is closed.

Several of them form a chain: each gets what the one before it returned. What an interceptor raises is logged
and goes no further: the record is sent as it was. They are what Java calls ProducerInterceptor, and they
stand at the places of the first Kafka's CallbackHandler: `beforeEnqueue` is on_enqueue, `beforeSendingData`
is on_send.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ottla.client.errors import InvalidConfig
from ottla.client.records import RecordMetadata

log = logging.getLogger("ottla.client")

METHODS = ("on_enqueue", "on_send", "on_acknowledgement")


class ProducerRecord(NamedTuple):
    """A record as it was given to `send`."""

    topic: str
    value: Any = None
    key: Any = None
    headers: Any = None
    partition: int | None = None
    timestamp: Any = None


class BatchInfo(NamedTuple):
    """A batch that is about to leave; the size is what it takes in the request."""

    topic: str
    partition: int
    record_count: int
    size_bytes: int


class Interceptors:
    """The chain. `enqueues`, `sends` and `acknowledges` say whether anybody listens there."""

    def __init__(self, given: Sequence[Any]) -> None:
        chain = [each() if isinstance(each, type) else each for each in given]
        for each in chain:
            if not any(callable(getattr(each, name, None)) for name in METHODS):
                raise InvalidConfig(f"the interceptor {each!r} has none of {', '.join(METHODS)}")
        self._enqueue = _methods(chain, "on_enqueue")
        self._send = _methods(chain, "on_send")
        self._acknowledge = _methods(chain, "on_acknowledgement")
        self._close = _methods(chain, "close")
        self.enqueues = bool(self._enqueue)
        self.sends = bool(self._send)
        self.acknowledges = bool(self._acknowledge)

    def enqueue(self, record: ProducerRecord) -> ProducerRecord:
        for function in self._enqueue:
            try:
                changed = function(record)
                if not isinstance(changed, ProducerRecord):
                    raise TypeError(f"it returned {type(changed).__name__} instead of a ProducerRecord")
                record = changed
            except Exception:
                log.exception("an interceptor failed at on_enqueue of a record for topic %s", record.topic)
        return record

    def before_send(self, topic: str, partition: int, record_count: int, size_bytes: int) -> None:
        info = BatchInfo(topic, partition, record_count, size_bytes)
        for function in self._send:
            try:
                function(info)
            except Exception:
                log.exception("an interceptor failed at on_send of a batch for %s-%d", topic, partition)

    def acknowledged(self, metadata: RecordMetadata, error: Exception | None) -> None:
        for function in self._acknowledge:
            try:
                function(metadata, error)
            except Exception:
                log.exception("an interceptor failed at on_acknowledgement for topic %s", metadata.topic)

    def refused(self, topic: str, partition: int | None, error: Exception) -> None:
        """`send` raised this."""
        if self._acknowledge:
            number = partition if isinstance(partition, int) else -1
            self.acknowledged(RecordMetadata(topic, number, -1, -1), error)

    def close(self) -> None:
        closing, self._close = self._close, []
        for function in closing:
            try:
                function()
            except Exception:
                log.exception("an interceptor failed at close")


def _methods(chain: Sequence[Any], name: str) -> list[Callable[..., Any]]:
    return [function for each in chain if callable(function := getattr(each, name, None))]
