"""Bugs, planted one at a time between real clients and a real broker, to show that the checker finds each
class.

Most are the broker's bugs, made by the proxy out of its frames: an acknowledged batch that is not appended,
one that is appended twice, a list of aborted transactions that is empty. Where clients protect themselves
(librdkafka drops offsets that it did not ask for), the consumer is wrapped instead. The runs have no other
faults.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Message

from chaos.kafka_workload import checker
from chaos.kafka_workload.history import Operation, Send
from chaos.kafka_workload.proxy import Link, Plant, Request
from chaos.kafka_workload.session import Session
from chaos.kafka_workload.shared import Shared
from chaos.kafka_workload.workload import Poller, Sender, Transactor, Worker
from ottla.wire.framing import (
    decode_request,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from ottla.wire.messages.index import ApiKey
from ottla.wire.messages.produce import (
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.wire.record_batch import iter_headers

SECONDS = 6.0
HOLD_S = 0.05
_CORRELATION = struct.Struct(">i")

# Without sequence numbers the broker cannot know that a batch is missing, repeated or late.
UNPROTECTED = {"enable.idempotence": False, "batch.num.messages": 1, "linger.ms": 0}


def _read_request(frame: bytes) -> Any:
    header, at = decode_request_header(frame, 0, len(frame))
    return decode_request(header, frame, at, len(frame))


def _request_frame(message: Any, request: Request) -> bytes:
    parts = encode_request(message, request.version, request.correlation_id, request.client_id)
    return b"".join(bytes(part) for part in parts)[4:]


def _reply_frame(message: Any, request: Request) -> bytes:
    parts = encode_response(message, request.api_key, request.version, request.correlation_id)
    return b"".join(bytes(part) for part in parts)[4:]


class _Passing:
    """Changes nothing."""

    def __init__(self) -> None:
        self.random = random.Random(4)

    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        return frame

    def on_reply(self, link: Link, request: Request, frame: bytes) -> bytes:
        return frame

    def is_chosen(self, request: Request, api_key: ApiKey, client: str, chance: float = 0.1) -> bool:
        return (
            request.api_key == api_key
            and request.client_id.startswith(client)
            and self.random.random() < chance
        )


def _acknowledgement(request: Request, frame: bytes) -> bytes:
    """Success for every partition, without an offset, as for a duplicate that the broker knows."""
    topics = [
        TopicProduceResponse(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[
                PartitionProduceResponse(index=partition.index, base_offset=-1)
                for partition in topic.partition_data
            ],
        )
        for topic in _read_request(frame).topic_data
    ]
    return _reply_frame(ProduceResponse(responses=topics), request)


class AcknowledgedNotAppended(_Passing):
    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if not self.is_chosen(request, ApiKey.PRODUCE, "sender-1"):
            return frame
        await link.to_client(_acknowledgement(request, frame))
        return None


class AppendedTwice(_Passing):
    def __init__(self) -> None:
        super().__init__()
        self._correlation_id = 1 << 30

    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if self.is_chosen(request, ApiKey.PRODUCE, "sender-1"):
            await self.send_unseen(link, frame)
        return frame

    async def send_unseen(self, link: Link, frame: bytes) -> None:
        """To the broker under a number that the client does not know; the reply goes nowhere."""
        self._correlation_id += 1
        link.swallowed.add(self._correlation_id)
        await link.to_broker(frame[:4] + _CORRELATION.pack(self._correlation_id) + frame[8:])


class AcknowledgedElsewhere(_Passing):
    def on_reply(self, link: Link, request: Request, frame: bytes) -> bytes:
        if not self.is_chosen(request, ApiKey.PRODUCE, "sender-1"):
            return frame
        _, reply = decode_response(request.api_key, request.version, frame)
        for topic in reply.responses:
            for partition in topic.partition_responses:
                partition.base_offset += 1
        return _reply_frame(reply, request)


class AbortedNotListed(_Passing):
    def on_reply(self, link: Link, request: Request, frame: bytes) -> bytes:
        if not self.is_chosen(request, ApiKey.FETCH, "committed-1", 1):
            return frame
        _, reply = decode_response(request.api_key, request.version, frame)
        for topic in reply.responses:
            for partition in topic.partitions:
                partition.aborted_transactions = []
        return _reply_frame(reply, request)


class NotIsolated(_Passing):
    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if not self.is_chosen(request, ApiKey.FETCH, "committed-1", 1):
            return frame
        message = _read_request(frame)
        message.isolation_level = 0
        return _request_frame(message, request)


class BatchesLeftOut(_Passing):
    """Fetched batches are missing now and then: the first of an answer, or one in its middle."""

    def __init__(self, *, is_first: bool) -> None:
        super().__init__()
        self._is_first = is_first

    def on_reply(self, link: Link, request: Request, frame: bytes) -> bytes:
        if not self.is_chosen(request, ApiKey.FETCH, "uncommitted-1", 0.5):
            return frame
        _, reply = decode_response(request.api_key, request.version, frame)
        for topic in reply.responses:
            for partition in topic.partitions:
                if partition.records is not None:
                    partition.records = self._without(bytes(partition.records))
        return _reply_frame(reply, request)

    def _without(self, records: bytes) -> bytes:
        found = [(at, header) for at, header in iter_headers(records, 0, len(records))]
        starts = [at for at, _ in found] + [len(records)]
        place = 0 if self._is_first else 1
        # One has to follow: a reader that gets nothing asks again.
        if len(found) < place + 2 or found[place][1].is_control or found[place + 1][1].is_control:
            return records
        return records[: starts[place]] + records[starts[place + 1] :]


class SentInAnotherOrder(_Passing):
    """A batch overtakes the one before it."""

    def __init__(self) -> None:
        super().__init__()
        self._held: bytes | None = None

    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if request.api_key != ApiKey.PRODUCE or not request.client_id.startswith("sender-1"):
            return frame
        if self._held is None:
            self._held = frame
            link.proxy.keep(self._release(link, frame))
            return None
        held, self._held = self._held, None
        await link.to_broker(frame)
        return held

    async def _release(self, link: Link, frame: bytes) -> None:
        await asyncio.sleep(HOLD_S)
        if self._held is frame:
            self._held = None
            await link.to_broker(frame)


class AppendedLater(AppendedTwice):
    """A batch is acknowledged, and appended only after the next one to its partition."""

    def __init__(self) -> None:
        super().__init__()
        self._held: dict[tuple[str, bytes, int], bytes] = {}

    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if request.api_key != ApiKey.PRODUCE or not request.client_id.startswith("sender-1"):
            return frame
        (topic,) = _read_request(frame).topic_data
        (partition,) = topic.partition_data
        place = (topic.name, topic.topic_id, partition.index)
        held = self._held.pop(place, None)
        if held is not None:
            await link.to_broker(frame)
            await self.send_unseen(link, held)
            return None
        if self.random.random() < 0.5:
            return frame
        self._held[place] = frame
        await link.to_client(_acknowledgement(request, frame))
        return None


class OffsetsNotCommitted(_Passing):
    """TxnOffsetCommit is answered and not done."""

    async def on_request(self, link: Link, request: Request, frame: bytes) -> bytes | None:
        if request.api_key != ApiKey.TXN_OFFSET_COMMIT:
            return frame
        topics = [
            TxnOffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    TxnOffsetCommitResponsePartition(partition_index=partition.partition_index)
                    for partition in topic.partitions
                ],
            )
            for topic in _read_request(frame).topics
        ]
        await link.to_client(_reply_frame(TxnOffsetCommitResponse(topics=topics), request))
        return None


# --- wrapped consumers ------------------------------------------------------------------------------------


class _Altered:
    """A message with another value."""

    def __init__(self, message: Message, value: bytes) -> None:
        self._message = message
        self.value = lambda: value

    def __getattr__(self, name: str) -> Any:
        return getattr(self._message, name)


class _Wrapped(Consumer):  # type: ignore[misc, unused-ignore]
    """Hands out what the consumer does; final reads are left alone."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.is_final = settings["client.id"].startswith("final")
        self.is_committed = settings["isolation.level"] == "read_committed"
        self.before: Message | None = None
        self.random = random.Random(settings["client.id"])

    def poll(self, timeout: float = -1) -> Any:
        if self.is_final:
            return super().poll(timeout)
        message = self.planted(timeout)
        self.before = message
        return message

    def planted(self, timeout: float) -> Any:
        raise NotImplementedError

    def fetched(self, timeout: float) -> Any:
        return super().poll(timeout)


class _AgainWithin(_Wrapped):
    def planted(self, timeout: float) -> Any:
        if self.before is not None and self.random.random() < 0.05:
            return self.before
        return self.fetched(timeout)


class _AgainLater(_Wrapped):
    """An operation that ended without a record is followed by one that begins with an old one."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self._last: Message | None = None

    def planted(self, timeout: float) -> Any:
        if self.before is None and self._last is not None:
            message, self._last = self._last, None
            return message
        message = self.fetched(timeout)
        if message is not None:
            self._last = message
        return message


class _OtherValue(_Wrapped):
    def planted(self, timeout: float) -> Any:
        message = self.fetched(timeout)
        if message is not None and message.error() is None and self.random.random() < 0.02:
            return _Altered(message, b"999999999")
        return message


def _in_large_answers(settings: dict[str, Any]) -> Consumer:
    """Answers that hold several batches of a partition."""
    return Consumer({**settings, "fetch.min.bytes": 1_000_000, "fetch.wait.max.ms": 500})


class _Hidden:
    """Says of some commits that they are unknown, and hides one value of each from committed readers for
    good.
    """

    def __init__(self) -> None:
        self.values: set[int] = set()
        self._number = 0

    def commit_becomes_unknown(self, operation: Operation) -> bool:
        self._number += 1
        sends = self._sends(operation)
        if self._number % 5 or len(sends) < 2:
            return False
        self.values.add(sends[0].value)
        return True

    def _sends(self, operation: Operation) -> list[Send]:
        return [micro for micro in operation.micros if isinstance(micro, Send)]

    def consumer(self, settings: dict[str, Any]) -> Consumer:
        hidden = self.values

        class Hiding(_Wrapped):
            def poll(self, timeout: float = -1) -> Any:
                while True:
                    message = self.fetched(timeout)
                    if message is None or message.error() is not None or not self.is_committed:
                        return message
                    if int(message.value().split()[0]) not in hidden:
                        return message

        return Hiding(settings)


# --- the runs ---------------------------------------------------------------------------------------------


def _all(shared: Shared) -> list[Worker]:
    return [
        Sender(shared, "sender-1"),
        Transactor(shared, "transactor-1", reads=True),
        Transactor(shared, "transactor-2"),
        Poller(shared, "committed-1", "committed"),
        Poller(shared, "uncommitted-1", "uncommitted"),
    ]


def _group(shared: Shared) -> list[Worker]:
    return [*_all(shared), Transactor(shared, "transactor-3", group="transactors")]


def _nobody_reads(shared: Shared) -> list[Worker]:
    return [Sender(shared, "sender-1")]


@dataclass
class Planted:
    plant: Callable[[], Plant] | None = None
    shared: Callable[[], Mapping[str, Any]] = dict
    crew: Callable[[Shared], list[Worker]] = _all
    reads_finally: bool = True
    pauses: Mapping[str, Any] = field(default_factory=lambda: {"pause_s": 0.005})


def _unprotected() -> Mapping[str, Any]:
    return {"sender_settings": UNPROTECTED}


def _large_answers() -> Mapping[str, Any]:
    return {"consumer_class": _in_large_answers}


def _torn() -> Mapping[str, Any]:
    hidden = _Hidden()
    return {"commit_becomes_unknown": hidden.commit_becomes_unknown, "consumer_class": hidden.consumer}


PLANTS: dict[str, Planted] = {
    checker.LOST_WRITE: Planted(AcknowledgedNotAppended, _unprotected),
    checker.DUPLICATE: Planted(AppendedTwice, _unprotected),
    checker.INCONSISTENT_OFFSETS: Planted(AcknowledgedElsewhere),
    checker.ABORTED_READ: Planted(AbortedNotListed),
    checker.PRECOMMITTED_READ: Planted(NotIsolated),
    checker.TORN_TRANSACTION: Planted(None, _torn),
    f"internal-{checker.NONMONOTONIC_POLL}": Planted(None, lambda: {"consumer_class": _AgainWithin}),
    f"external-{checker.NONMONOTONIC_POLL}": Planted(
        None, lambda: {"consumer_class": _AgainLater}, pauses={"pause_s": 0.1}
    ),
    f"internal-{checker.POLL_SKIP}": Planted(lambda: BatchesLeftOut(is_first=False), _large_answers),
    f"external-{checker.POLL_SKIP}": Planted(lambda: BatchesLeftOut(is_first=True), _large_answers),
    checker.FETCH_SKIP: Planted(lambda: BatchesLeftOut(is_first=True), _large_answers),
    f"internal-{checker.NONMONOTONIC_SEND}": Planted(SentInAnotherOrder, _unprotected),
    f"external-{checker.NONMONOTONIC_SEND}": Planted(AppendedLater, _unprotected),
    checker.REPEATED_CONSUMPTION: Planted(OffsetsNotCommitted, crew=_group),
    checker.PHANTOM: Planted(None, lambda: {"consumer_class": _OtherValue}),
    checker.UNSEEN: Planted(crew=_nobody_reads, reads_finally=False),
}
assert set(PLANTS) == set(checker.CLASSES)


def run_planted(
    name: str, system: str, seed: int, folder: Path, *, is_planted: bool = True, seconds: float = SECONDS
) -> dict[str, int]:
    """A short run with that bug; how often the checker found what. Without the bug it is the same run."""
    planted = PLANTS[name]
    plant = planted.plant() if planted.plant is not None and is_planted else None
    shared = dict(planted.shared()) if is_planted else {}
    session = Session(
        system, seed, folder, lambda line: None, plant=plant, disturbed=False, **planted.pauses, **shared
    )
    outcome = session.run(
        seconds,
        with_faults=False,
        workers=planted.crew,
        reads_finally=planted.reads_finally or not is_planted,
    )
    return dict(outcome.report.counts)
