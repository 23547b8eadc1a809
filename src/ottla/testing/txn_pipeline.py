"""A simulated consume-transform-produce client: reads partitions with read_committed, writes what it read to
others, and commits how far it came, all in one transaction.

Its partitions are its transactional id's own (the way before KIP-447), so whoever has the id has them, too:
it first gets its epoch, which ends what a predecessor left open, and then asks for the committed offsets,
which have to be stable. After an abort it goes back to them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client import RETRY_BACKOFF_MS, Session
from ottla.testing.ledger import Violation
from ottla.testing.network import ConnectionLost
from ottla.testing.txn_client import ELSEWHERE, Died, TxnClient
from ottla.testing.txn_reader import READ_COMMITTED, Records
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)

GROUP_KEY: Final = 0
"""The key type of a group in FindCoordinator."""


def stable_offsets_request(group: str, tps: Sequence[TopicPartition]) -> OffsetFetchRequest:
    topics: dict[str, list[int]] = {}
    for tp in tps:
        topics.setdefault(tp.topic, []).append(tp.partition)
    return OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=group,
                topics=[
                    OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
                    for name, indexes in topics.items()
                ],
            )
        ],
        require_stable=True,
    )


class TxnPipeline(TxnClient):
    def __init__(
        self,
        *arguments: Any,
        group: str,
        inputs: Sequence[TopicPartition],
        outputs: Mapping[TopicPartition, TopicPartition],
        **options: Any,
    ) -> None:
        """`outputs`: for each input, where what is made of it goes."""
        super().__init__(*arguments, **options)
        self.group = group
        self.inputs = list(inputs)
        self.outputs = dict(outputs)
        self.committed: dict[TopicPartition, int] = {}
        """What it knows to be committed, by itself or before it."""
        self._views = {
            tp: Records(f"{self.name} {tp}", tp, READ_COMMITTED, self.books, self.ledger) for tp in inputs
        }

    def find_coordinators(self, session: Session) -> Steps[None]:
        yield from super().find_coordinators(session)
        yield from self.find_coordinator(session, GROUP_KEY, self.group)

    def begun(self) -> Steps[None]:
        """Goes back to what is committed."""
        request = stable_offsets_request(self.group, self.inputs)
        while True:
            began_ms = self.now_ms
            answer = yield from self.ask(request, self.random.choice((8, 9)))
            if answer is None:
                continue
            (group,) = answer.groups
            codes = {ErrorCode(group.error_code)} | {
                ErrorCode(each.error_code) for topic in group.topics for each in topic.partitions
            }
            codes.discard(ErrorCode.NONE)
            if not codes:
                break
            for code in codes:
                self.count("offset_fetch", code)
            if not codes <= ELSEWHERE | {ErrorCode.UNSTABLE_OFFSET_COMMIT}:
                raise Violation(f"{self.name}: OffsetFetch was answered with {codes}")
            yield Sleep(RETRY_BACKOFF_MS)
        for topic in group.topics:
            for each in topic.partitions:
                tp = TopicPartition(topic.name, each.partition_index)
                self.books.offset_read(self.group, tp, each.committed_offset, each.metadata, began_ms)
                self.committed[tp] = self._views[tp].position = max(each.committed_offset, 0)

    def work(self) -> Steps[None]:
        read = yield from self._poll()
        moved = {tp: view.position for tp, view in self._views.items() if view.position > self.committed[tp]}
        if not moved:
            return
        rng = self.random
        self.begin()
        requests: list[dict[TopicPartition, list[str]]] = []
        for tp, offset, _ in read:
            source = f"{tp.topic}-{tp.partition}@{offset}"
            if not requests or rng.random() < 0.3:
                requests.append({})
            requests[-1].setdefault(self.outputs[tp], []).append(source)
        if requests and rng.random() < 0.8:
            yield from self.write(requests)
            requests = []
        yield from self.commit_offsets(self.group, moved)
        if requests:
            yield from self.write(requests)
        if rng.random() < 0.15:
            yield from self.abort()
            yield from self.begun()
            return
        yield from self.commit()
        self.committed.update(moved)

    def _poll(self) -> Steps[list[tuple[TopicPartition, int, bytes]]]:
        request = FetchRequest(
            max_wait_ms=self.random.choice((0, 500, 1_000, 2_000)),
            min_bytes=1,
            max_bytes=self.random.choice((1, 3000, 1 << 20)),
            isolation_level=READ_COMMITTED,
            session_epoch=-1,
        )
        topics: dict[str, FetchTopic] = {}
        for tp, view in self._views.items():
            topics.setdefault(tp.topic, FetchTopic(topic=tp.topic, partitions=[])).partitions.append(
                FetchPartition(partition=tp.partition, fetch_offset=view.position, partition_max_bytes=2_000)
            )
        request.topics = list(topics.values())
        if self.over:
            raise Died
        try:
            session = yield from self.session()
            response = yield from session.call(request, 12)
        except ConnectionLost:
            yield from self._lost()
            return []
        read: list[tuple[TopicPartition, int, bytes]] = []
        for topic in response.responses:
            for each in topic.partitions:
                tp = TopicPartition(topic.topic, each.partition_index)
                code = ErrorCode(each.error_code)
                if code is not ErrorCode.NONE:
                    self.count("fetch", code)
                    if not code.retriable:
                        raise Violation(f"{self.name}: fetching {tp}: {code.name}")
                    continue
                read += [(tp, offset, value) for offset, value in self._views[tp].take(each)]
        return read
