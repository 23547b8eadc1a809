"""The way of markers to partitions that other brokers lead: a line for each broker, one request at a time.

Thousands of transactions may end at once, and all of them have written to the partitions of the same few
brokers. So whatever is for one broker stands in one line, and when the request before has been answered,
everything that has come meanwhile goes with the next (WriteTxnMarkers).

An errand is the marker of one transaction for some partitions of one broker, and comes back with a code for
each. What a code means, and who leads the partition by then, is for whoever gave the errand (`txn_markers`):
nothing is tried again here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.ports.peers import Address, PeerUnavailable
from ottla.transactions.markers import TxnToEnd
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.broker.transaction_host import TransactionHost

LANE: Final = "txn-markers"
VERSION: Final = 2
ANSWER_TIMEOUT_MS: Final = 35_000
"""Longer than the leader waits until its markers are replicated, so that it is the one who answers."""
PARTITIONS_MAX: Final = 5_000
"""Of one request, about: an errand goes whole. Its answer comes when the slowest of them is replicated."""

Codes = dict[TopicPartition, ErrorCode]


class MarkerErrand:
    __slots__ = ("host", "job", "broker_id", "partitions", "codes", "dropped", "_on_done")

    def __init__(
        self,
        host: TransactionHost,
        job: TxnToEnd,
        broker_id: int,
        partitions: Sequence[TopicPartition],
        on_done: Callable[[], None],
    ) -> None:
        self.host = host
        self.job = job
        self.broker_id = broker_id
        self.partitions = partitions
        self.codes: Codes | None = None
        """What became of it; None as long as nobody knows."""
        self.dropped = False
        """Nobody wants it any more: it is not sent, if it was not yet."""
        self._on_done = on_done

    def finish(self, codes: Codes) -> None:
        self.codes = codes
        if not self.dropped:
            self._on_done()

    def fail(self, code: ErrorCode) -> None:
        self.finish(dict.fromkeys(self.partitions, code))


class MarkerChannels:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._lines: dict[int, deque[MarkerErrand]] = {}
        """By broker; there is a line as long as a task serves it."""

    def put(self, errand: MarkerErrand) -> None:
        broker_id = errand.broker_id
        line = self._lines.get(broker_id)
        if line is not None:
            line.append(errand)
            return
        line = self._lines[broker_id] = deque((errand,))
        self._node.driver.spawn(self._serve(broker_id, line), f"markers for broker {broker_id}")

    def _serve(self, broker_id: int, line: deque[MarkerErrand]) -> Steps[None]:
        # What is decided in the same pass of the loop goes with the first request.
        yield Sleep(0)
        while line:
            batch = _next_batch(line)
            if batch:
                yield from self._send(broker_id, batch)
        del self._lines[broker_id]

    def _send(self, broker_id: int, batch: list[MarkerErrand]) -> Steps[None]:
        node = self._node
        broker = node.image.brokers.get(broker_id)
        if broker is None or broker.fenced:
            _fail(batch, ErrorCode.BROKER_NOT_AVAILABLE)
            return
        endpoint = node.endpoint_of(broker)
        request = WriteTxnMarkersRequest(markers=[_marker(each) for each in batch])
        try:
            response: WriteTxnMarkersResponse = yield from node.peers.call(
                Address(endpoint.host, endpoint.port),
                request,
                VERSION,
                lane=LANE,
                timeout_ms=ANSWER_TIMEOUT_MS,
            )
        except PeerUnavailable:
            _fail(batch, ErrorCode.NETWORK_EXCEPTION)
            return
        found = _codes_by_producer(response)
        for errand in batch:
            codes = found.get(errand.job.producer_id, {})
            errand.finish({tp: codes.get(tp, ErrorCode.UNKNOWN_SERVER_ERROR) for tp in errand.partitions})


def _next_batch(line: deque[MarkerErrand]) -> list[MarkerErrand]:
    """The errands of the next request: of each producer one, because the answers are known by producer."""
    batch: list[MarkerErrand] = []
    later: list[MarkerErrand] = []
    producers: set[int] = set()
    partitions = 0
    while line and partitions < PARTITIONS_MAX:
        errand = line.popleft()
        if errand.dropped or errand.host.over:
            errand.fail(ErrorCode.NOT_COORDINATOR)
        elif errand.job.producer_id in producers:
            later.append(errand)
        else:
            producers.add(errand.job.producer_id)
            partitions += len(errand.partitions)
            batch.append(errand)
    line.extendleft(reversed(later))
    return batch


def _marker(errand: MarkerErrand) -> WritableTxnMarker:
    job = errand.job
    topics: dict[str, WritableTxnMarkerTopic] = {}
    for name, index in errand.partitions:
        topic = topics.get(name)
        if topic is None:
            topic = topics[name] = WritableTxnMarkerTopic(name=name)
        topic.partition_indexes.append(index)
    return WritableTxnMarker(
        producer_id=job.producer_id,
        producer_epoch=job.producer_epoch,
        transaction_result=job.committed,
        topics=list(topics.values()),
        coordinator_epoch=job.coordinator_epoch,
        transaction_version=job.transaction_version,
    )


def _codes_by_producer(response: WriteTxnMarkersResponse) -> dict[int, Codes]:
    return {
        marker.producer_id: {
            TopicPartition(topic.name, each.partition_index): ErrorCode(each.error_code)
            for topic in marker.topics
            for each in topic.partitions
        }
        for marker in response.markers
    }


def _fail(batch: list[MarkerErrand], code: ErrorCode) -> None:
    for errand in batch:
        errand.fail(code)
