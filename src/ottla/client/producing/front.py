"""From what a user gives to `send` to a record in line: interceptors, serializers, partition, append.

`Front.send` is the way of every record, so it is short: bytes without key and headers go through one branch,
one choice of partition and one append. It returns the record's delivery; or, when something has to be
waited for (the topic is not known yet, the memory is full), the steps that will get there, which the shell
runs:

    delivery = front.send("clicks", b"...", None, None, None, None, None)
    if delivery.__class__ is not RecordFuture:
        delivery = runtime.run(delivery)

Serializers, interceptors and a user's partitioner run without the lock (`guard`: the runtime's, or nothing
at all under asyncio), since nobody knows how long they take or what they call; each runs once for a record.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from operator import index
from typing import TYPE_CHECKING, Any, TypeAlias

from ottla.client.effects import ClientSteps, Invoke, Wait
from ottla.client.errors import (
    ClientClosed,
    IllegalState,
    InvalidArgument,
    InvalidConfig,
    OttlaError,
    SerializationFailed,
)
from ottla.client.producing.batch import RECORD_BYTES, Delivery, record_size
from ottla.client.producing.interceptors import Interceptors, ProducerRecord
from ottla.client.producing.partitioners import (
    KeyPartitioner,
    Partitioner,
    StickyPartitioner,
    asked,
    built_in,
    checked,
)
from ottla.client.producing.serializers import Converter, HeaderList, serializer, to_bytes
from ottla.client.records import OffsetAndMetadata, RecordMetadata
from ottla.client.settings import ProducerSettings
from ottla.client.view import TopicView
from ottla.model.topics import topic_name_problem
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.producing.core import ProducerCore

log = logging.getLogger("ottla.client")

HeaderPairs: TypeAlias = tuple[tuple[str, bytes | None], ...]
OnDelivery: TypeAlias = Callable[[RecordMetadata | None, Exception | None], object]
Sent: TypeAlias = Delivery | ClientSteps[Delivery]

TIMESTAMP_MS_MAX = 2**63 - 1


class Front:
    def __init__(
        self, core: ProducerCore, settings: ProducerSettings, guard: AbstractContextManager[Any]
    ) -> None:
        host = core.session.host
        self._core = core
        self._metadata = core.session.metadata
        self._max_block_ms = settings.max_block_ms
        self._guard = guard
        self._now_ms = host.clock.now_ms
        self._key = serializer(settings.key_serializer, "key_serializer")
        self._value = serializer(settings.value_serializer, "value_serializer")
        self._bytes_go_through = self._value is None
        sticky = StickyPartitioner(
            core.limit_bytes,
            host.chance,
            load=core.queued if settings.partitioner_adaptive_partitioning_enable else None,
            left=core.close_batch,
        )
        self.own_partitioner: Callable[..., Any] | None = None
        given = settings.partitioner
        self.partitioner: Partitioner = KeyPartitioner(sticky)
        if isinstance(given, str):
            self.partitioner = built_in(
                given, sticky, host.chance, ignore_keys=settings.partitioner_ignore_keys
            )
        elif callable(given):
            self.own_partitioner = given
        else:
            raise InvalidConfig(f"partitioner is {given!r}: give a name or a function")
        self._choose = choose = self.partitioner.choose
        self._choose_without_key: Callable[[TopicView, int], int] = lambda topic, size: choose(
            topic, None, size
        )
        if isinstance(self.partitioner, KeyPartitioner):
            self._choose_without_key = sticky.choose
        self._interceptors = Interceptors(settings.interceptors)
        if self._interceptors.sends:
            core.before_send = self._interceptors.before_send
        self.send: Callable[..., Sent] = self._send
        """The way of a record, with the arguments of `_send`."""
        if self._interceptors.enqueues or self._interceptors.acknowledges:
            self.send = self._send_intercepted
        elif self._key is None and self._value is None and self.own_partitioner is None:
            self.send = self._short_way()

    def close(self) -> None:
        """From now on `send` raises ClientClosed."""
        self.send = _refuse

    def abandon(self) -> None:
        """In a child process, where nothing would ever leave: from now on `send` says so."""
        self.send = _refuse_in_child

    def closed(self) -> None:
        """Everything has ended: the interceptors are told."""
        self._interceptors.close()

    # --- the way of a record ----------------------------------------------------------------------------

    def _short_way(self) -> Callable[..., Sent]:
        """`_send` for those who have bytes and nothing special: a third less time for each of their
        records.
        """
        guard, now_ms, known, append = self._guard, self._now_ms, self._core.topic, self._core.try_append
        choose, choose_without_key, otherwise = self._choose, self._choose_without_key, self._send

        def send(
            topic: str,
            value: Any,
            key: Any,
            headers: Any,
            partition: int | None,
            timestamp: Any,
            on_delivery: OnDelivery | None,
        ) -> Sent:
            if (
                value.__class__ is bytes
                and (key is None or key.__class__ is bytes)
                and headers is None
                and partition is None
                and timestamp is None
                and topic.__class__ is str
            ):
                with guard:
                    view = known(topic)
                    if view is not None:
                        size_bytes = RECORD_BYTES + len(value)
                        if key is None:
                            chosen = choose_without_key(view, size_bytes)
                        else:
                            chosen = choose(view, key, size_bytes + len(key))
                        delivery = append(topic, chosen, key, value, (), now_ms(), on_delivery)
                        if delivery is not None:
                            return delivery
            return otherwise(topic, value, key, headers, partition, timestamp, on_delivery)

        return send

    def _send(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Any,
        partition: int | None,
        timestamp: Any,
        on_delivery: OnDelivery | None,
    ) -> Sent:
        if topic.__class__ is not str:
            check_topic(topic)
        key_bytes: bytes | None
        value_bytes: bytes | None
        pairs: HeaderPairs
        if key is None and headers is None and value.__class__ is bytes and self._bytes_go_through:
            key_bytes, value_bytes, pairs = None, value, ()
            size_bytes = RECORD_BYTES + len(value)
        else:
            key_bytes, value_bytes, pairs = self._convert(topic, key, value, headers)
            size_bytes = record_size(key_bytes, value_bytes, pairs)
        timestamp_ms = self._now_ms() if timestamp is None else _timestamp_ms(timestamp)
        own = self.own_partitioner
        if own is not None and partition is None:
            found = self._known(topic)
            if found is None:
                return self._waiting(
                    topic, None, key_bytes, value_bytes, pairs, timestamp_ms, on_delivery, (key, value)
                )
            partition = asked(own, found, key, value)
        core = self._core
        with self._guard:
            view = core.topic(topic)
            if view is not None:
                if partition is None:
                    partition = (
                        self._choose_without_key(view, size_bytes)
                        if key_bytes is None
                        else self._choose(view, key_bytes, size_bytes)
                    )
                elif not (partition.__class__ is int and 0 <= partition < len(view.partitions)):
                    view = None
            if view is not None:
                delivery = core.try_append(
                    topic,
                    partition,  # type: ignore[arg-type]
                    key_bytes,
                    value_bytes,
                    pairs,
                    timestamp_ms,
                    on_delivery,
                )
                if delivery is not None:
                    return delivery
        if view is None:
            check_topic(topic)
            if partition is not None:
                partition = _check_partition(partition)
        return self._waiting(
            topic, partition, key_bytes, value_bytes, pairs, timestamp_ms, on_delivery, (key, value)
        )

    def _known(self, topic: str) -> TopicView | None:
        with self._guard:
            view = self._core.topic(topic)
        if view is None:
            check_topic(topic)
        return view

    def _waiting(
        self,
        topic: str,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        pairs: HeaderPairs,
        timestamp_ms: int,
        on_delivery: OnDelivery | None,
        given: tuple[Any, Any],
    ) -> ClientSteps[Delivery]:
        """The rest of `send` where it has to wait: for the topic, for the partition, for memory."""
        core = self._core
        view = core.topic(topic)
        if view is None:
            view = yield from core.await_topic(topic)
        if partition is None:
            if self.own_partitioner is not None:
                partition = yield Invoke(asked, (self.own_partitioner, view, *given))
            else:
                partition = self._choose(view, key, record_size(key, value, pairs))
        elif partition >= len(view.partitions):
            view = yield from self._newer(topic, view)  # partitions may have been added
            checked(partition, view)
        return (yield from core.append(topic, partition, key, value, pairs, timestamp_ms, on_delivery))

    def _newer(self, topic: str, view: TopicView) -> ClientSteps[TopicView]:
        self._metadata.request()
        yield Wait(self._metadata.updated, self._max_block_ms)
        return self._core.topic(topic) or view

    # --- with interceptors ------------------------------------------------------------------------------

    def _send_intercepted(
        self,
        topic: str,
        value: Any,
        key: Any,
        headers: Any,
        partition: int | None,
        timestamp: Any,
        on_delivery: OnDelivery | None,
    ) -> Sent:
        record = ProducerRecord(topic, value, key, headers, partition, timestamp)
        record = self._interceptors.enqueue(record)
        topic, value, key, headers, partition, timestamp = record
        callback = on_delivery
        if self._interceptors.acknowledges:
            callback = self._acknowledging(topic, partition, on_delivery)
        try:
            sent = self._send(topic, value, key, headers, partition, timestamp, callback)
        except Exception as error:
            self._interceptors.refused(topic, partition, error)
            raise
        if isinstance(sent, Delivery):
            return sent
        return self._watched(sent, topic, partition)

    def _watched(
        self, steps: ClientSteps[Delivery], topic: str, partition: int | None
    ) -> ClientSteps[Delivery]:
        try:
            return (yield from steps)
        except Exception as error:
            yield Invoke(self._interceptors.refused, (topic, partition, error))
            raise

    def _acknowledging(self, topic: str, partition: int | None, on_delivery: OnDelivery | None) -> OnDelivery:
        def acknowledged(metadata: RecordMetadata | None, error: Exception | None) -> None:
            self._interceptors.acknowledged(
                metadata or RecordMetadata(topic, -1 if partition is None else partition, -1, -1), error
            )
            if on_delivery is not None:
                on_delivery(metadata, error)

        return acknowledged

    # --- to bytes ---------------------------------------------------------------------------------------

    def _convert(
        self, topic: str, key: Any, value: Any, headers: Any
    ) -> tuple[bytes | None, bytes | None, HeaderPairs]:
        pairs = () if headers is None else header_pairs(headers)
        key_by, value_by = self._key, self._value
        if (key_by is not None and key_by.arity == 3) or (value_by is not None and value_by.arity == 3):
            growing: HeaderList = list(pairs)
            key_bytes = _converted(key_by, topic, growing, key, "key_serializer")
            value_bytes = _converted(value_by, topic, growing, value, "value_serializer")
            return key_bytes, value_bytes, header_pairs(growing)
        key_bytes = _converted(key_by, topic, [], key, "key_serializer")
        value_bytes = _converted(value_by, topic, [], value, "value_serializer")
        return key_bytes, value_bytes, pairs


def _converted(
    by: Converter | None, topic: str, headers: HeaderList, value: Any, setting: str
) -> bytes | None:
    if value is None:
        return None
    if by is None:
        return value if value.__class__ is bytes else to_bytes(value, setting)
    result = by.convert(topic, headers, value)
    if result.__class__ is bytes:
        return result
    try:
        return to_bytes(result, setting)
    except SerializationFailed as error:
        raise SerializationFailed(f"{setting} returned {type(result).__name__} and not bytes") from error


def header_pairs(headers: Any) -> HeaderPairs:
    """Headers as they travel: a tuple of (name, bytes or None), from a mapping or from pairs, in their
    order.
    """
    found = []
    try:
        pairs = list(headers.items() if isinstance(headers, Mapping) else headers)
    except TypeError:
        raise InvalidArgument(
            f"headers are a mapping or a list of (name, value) pairs, not {type(headers).__name__}"
        ) from None
    for pair in pairs:
        try:
            name, value = pair
        except (TypeError, ValueError):
            raise InvalidArgument(f"a header is a (name, value) pair, not {pair!r}") from None
        if not isinstance(name, str):
            raise InvalidArgument(f"a header's name is a text, not {type(name).__name__}")
        if value is not None and value.__class__ is not bytes:
            if isinstance(value, str):
                value = value.encode()
            elif isinstance(value, bytes | bytearray | memoryview):
                value = bytes(value)
            else:
                raise InvalidArgument(
                    f"the value of header {name!r} is bytes or a text, not {type(value).__name__}"
                )
        found.append((name, value))
    return tuple(found)


def _timestamp_ms(given: Any) -> int:
    """Milliseconds since 1970, from those or from a datetime (one without a zone is local time, as in
    Python).
    """
    if isinstance(given, datetime):
        timestamp_ms = round(given.timestamp() * 1000)
    else:
        try:
            timestamp_ms = -1 if isinstance(given, bool) else index(given)
        except TypeError:
            raise InvalidArgument(
                f"a timestamp is milliseconds since 1970 as an int, or a datetime, not {type(given).__name__}"
            ) from None
    if not 0 <= timestamp_ms <= TIMESTAMP_MS_MAX:
        raise InvalidArgument(f"the timestamp {given!r} is before 1970 or no time at all")
    return timestamp_ms


def check_topic(topic: Any) -> None:
    """Only where a topic is not known yet: one that is known has a legal name."""
    if not isinstance(topic, str):
        raise InvalidArgument(f"a topic's name is a text, not {type(topic).__name__}")
    problem = topic_name_problem(topic)
    if problem is not None:
        raise InvalidArgument(problem)


def _check_partition(given: Any) -> int:
    try:
        number = -1 if isinstance(given, bool) else index(given)
    except TypeError:
        number = -1
    if number < 0:
        raise InvalidArgument(f"a partition is a number from 0 on, not {given!r}")
    return number


def offsets_of(
    offsets: Mapping[TopicPartition, OffsetAndMetadata | int],
) -> dict[TopicPartition, OffsetAndMetadata]:
    """What `send_offsets_to_transaction` is given; a number stands for an offset without metadata."""
    return {
        TopicPartition(*tp): OffsetAndMetadata(offset) if isinstance(offset, int) else offset
        for tp, offset in offsets.items()
    }


def abort_quietly(core: ProducerCore) -> ClientSteps[None]:
    """The abort after something else went wrong: that is what the caller should see, so this is only
    logged.
    """
    try:
        yield from core.abort_transaction()
    except OttlaError as error:
        log.warning("the transaction could not be aborted: %s", error)


def _refuse_in_child(*given: Any) -> Sent:
    raise IllegalState("this producer was made before a fork: make a new one in the child process")


def _refuse(*given: Any) -> Sent:
    raise ClientClosed("the producer is closed")
