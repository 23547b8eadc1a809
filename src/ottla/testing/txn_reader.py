"""Simulated readers of transactions: what each isolation level shows, filtered as consumers have to.

With read_committed a consumer gets whole batches up to the last stable offset, and a list of the aborted
transactions among them; it skips their records itself. `Records` does that, and checks what every answer has
to keep: nothing above the last stable offset, which is never above the high watermark and never goes back.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, ZERO_UUID, Session, SimClient
from ottla.testing.ledger import Ledger, Violation
from ottla.testing.network import ConnectionLost
from ottla.testing.txn_books import PREFIX, TxnBooks
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.record_batch import decode_batch, iter_headers

READ_UNCOMMITTED: Final = 0
READ_COMMITTED: Final = 1
EARLIEST: Final = -2
"""The timestamp that asks ListOffsets for the beginning."""

LONG_POLL_MS: Final = 30_000
"""Whoever is not woken waits for longer than a run does when everything has ended."""

GONE: Final = frozenset((ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID))


class Records:
    """One consumer's view of one partition."""

    def __init__(
        self, name: str, tp: TopicPartition, isolation: int, books: TxnBooks, ledger: Ledger
    ) -> None:
        self.name = name
        self.tp = tp
        self.isolation = isolation
        self.position = 0
        self.last_stable_offset = 0
        self.high_watermark = 0
        self._books = books
        self._ledger = ledger

    def take(self, answer: Any) -> list[tuple[int, bytes]]:
        """The records of a partition's answer, from the position on, which moves behind them."""
        tp = self.tp
        stable, high_watermark = answer.last_stable_offset, answer.high_watermark
        if not self._books.is_deleted(tp):
            self._ledger.high_watermark(self.name, tp, high_watermark)
            if stable > high_watermark:
                raise Violation(f"{tp}: last stable offset {stable} > high watermark {high_watermark}")
            if stable < self.last_stable_offset:
                raise Violation(
                    f"{tp}: the last stable offset went back from {self.last_stable_offset} to {stable}"
                )
        self.last_stable_offset, self.high_watermark = stable, high_watermark
        limit = stable if self.isolation == READ_COMMITTED else high_watermark
        data = bytes(answer.records or b"")
        taken: list[tuple[int, bytes]] = []
        for offset, value in self._visible(data, answer, limit):
            if value.startswith(PREFIX):
                if self.isolation == READ_COMMITTED:
                    self._books.delivered(tp, offset, value)
                else:
                    self._books.seen(tp, offset, value)
            else:
                self._ledger.consumed(tp, offset, value)
            taken.append((offset, value))
        return taken

    def _visible(self, data: bytes, answer: Any, limit: int) -> Iterator[tuple[int, bytes]]:
        aborted = sorted((each.first_offset, each.producer_id) for each in answer.aborted_transactions or ())
        inside: set[int] = set()
        for at, header in iter_headers(data, 0, len(data)):
            if at + header.size_bytes > len(data):
                break  # cut by the size limit
            if header.last_offset >= limit:
                raise Violation(f"{self.tp}: offset {header.last_offset} was shown, above {limit}")
            while aborted and aborted[0][0] <= header.last_offset:
                inside.add(aborted.pop(0)[1])
            records = decode_batch(data, at, decompressed_bytes_max=1 << 24)
            if header.is_control:
                if records and records[0].key is not None and records[0].key[3] == 0:
                    inside.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in inside):
                for record in records:
                    if record.offset >= self.position:
                        yield record.offset, record.value or b""
            if header.next_offset > self.position:
                self.position = header.next_offset


class TxnReader(SimClient):
    """Reads one partition with long polls, until `stop` is set and the end is reached."""

    def __init__(self, *arguments: Any, books: TxnBooks, tp: TopicPartition, isolation: int) -> None:
        super().__init__(*arguments)
        self.books = books
        self.tp = tp
        self.records = Records(self.name, tp, isolation, books, self.ledger)
        self.topic_id = ZERO_UUID
        """Needed from Fetch version 13 on."""
        self.incremental = False
        self.stop = False
        self.done = False
        self._session_id = self._session_epoch = 0
        self._named = -1
        self._out_of_range = False

    def run(self, version: int = 12) -> Steps[list[tuple[int, bytes]]]:
        read: list[tuple[int, bytes]] = []
        while not self.done:
            session = yield from self.connect()
            self._session_id = self._session_epoch = 0
            try:
                while not self.done:
                    if self._out_of_range:
                        yield from self._begin_at_start(session)
                    request = self._request()
                    response = yield from session.call(request, version)
                    if response.error_code:
                        code = ErrorCode(response.error_code)
                        self.report[f"fetch_{code.name.lower()}"] += 1
                        raise ConnectionLost(code.name)
                    if request.session_epoch >= 0:
                        self._session_id = response.session_id
                        self._session_epoch = request.session_epoch + 1 if response.session_id else 0
                    for topic in response.responses:
                        for partition in topic.partitions:
                            self._take(partition, read)
            except ConnectionLost:
                self.report["consumer_reconnects"] += 1
                yield Sleep(RETRY_BACKOFF_MS * self.random.random())
            finally:
                session.close()
            if self.books.is_deleted(self.tp):
                self.done = True
        return read

    def _begin_at_start(self, session: Session) -> Steps[None]:
        """Retention was faster than this reader."""
        response = yield from session.call(
            ListOffsetsRequest(
                topics=[
                    ListOffsetsTopic(
                        name=self.tp.topic,
                        partitions=[
                            ListOffsetsPartition(partition_index=self.tp.partition, timestamp=EARLIEST)
                        ],
                    )
                ]
            ),
            6,
        )
        found = response.topics[0].partitions[0]
        if found.error_code != ErrorCode.NONE:
            raise ConnectionLost(ErrorCode(found.error_code).name)
        if found.offset < self.records.position and not self.books.is_deleted(self.tp):
            raise Violation(
                f"{self.tp}: {self.records.position} is out of range, the log is at {found.offset}"
            )
        self.records.position = found.offset
        self._out_of_range = False
        self.report["readers_overtaken"] += 1

    def _request(self) -> FetchRequest:
        incremental = self.incremental and not self.stop
        position = self.records.position
        request = FetchRequest(
            max_wait_ms=0 if self.stop else self.random.choice((200, LONG_POLL_MS)),
            min_bytes=1,
            max_bytes=self.random.choice((1, 3000, 1 << 20)),
            isolation_level=self.records.isolation,
            session_id=self._session_id if incremental else 0,
            session_epoch=self._session_epoch if incremental else -1,
        )
        if incremental and self._session_epoch > 0 and self._named == position:
            self.report["incremental_fetches"] += 1
            return request
        self._named = position
        request.topics = [
            FetchTopic(
                topic=self.tp.topic,
                topic_id=self.topic_id,
                partitions=[
                    FetchPartition(
                        partition=self.tp.partition,
                        fetch_offset=position,
                        partition_max_bytes=self.random.choice((1, 3000, 1 << 20)),
                    )
                ],
            )
        ]
        return request

    def _take(self, answer: Any, read: list[tuple[int, bytes]]) -> None:
        code = ErrorCode(answer.error_code)
        if code is not ErrorCode.NONE:
            self.report[f"fetch_{code.name.lower()}"] += 1
            if code is ErrorCode.OFFSET_OUT_OF_RANGE:
                self._out_of_range = True
                return
            if not code.retriable and code not in GONE:
                raise Violation(f"{self.name}: fetching {self.tp} from {self.records.position}: {code.name}")
            raise ConnectionLost(code.name)
        taken = self.records.take(answer)
        read += taken
        self.report["records_read"] += len(taken)
        if self.stop and self.records.position >= answer.high_watermark:
            self.done = True
