"""The Produce request for some batches, and the answer to it, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ottla.client.effects import Call, Versioned
from ottla.client.errors import OttlaError, ServerError
from ottla.client.producing.batch import Batch
from ottla.client.settings import ProducerSettings
from ottla.client.view import ClusterView
from ottla.model.errors import ErrorCode
from ottla.model.types import NO_TOPIC_ID
from ottla.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

TOPIC_IDS_SINCE: Final = 13
IMPLICIT_ADDS_SINCE: Final = 12
"""From this version on, a batch of a transaction adds its partition to it (KIP-890)."""

STALE_METADATA: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.LISTENER_NOT_FOUND,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.NETWORK_EXCEPTION,
    }
)
"""Answers after which the partition's leader has to be looked up again."""

LEADER_MOVED: Final = frozenset({ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH})
"""Answers that may say who leads now (KIP-951)."""

SURELY_NOT_STORED: Final = frozenset(
    {
        ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER,
        ErrorCode.UNKNOWN_PRODUCER_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.CONCURRENT_TRANSACTIONS,
    }
)
"""Answers by which the batch is not in the log. After others that allow to try again it may be: a leader that
was replaced while it waited for its followers says NOT_LEADER_OR_FOLLOWER, too."""


class ProduceCall:
    """One request: one batch each of some partitions that one node leads."""

    def __init__(
        self,
        node_id: int,
        batches: Sequence[Batch],
        records: Sequence[bytearray],
        view: ClusterView,
        settings: ProducerSettings,
        transactional_id: str | None,
        *,
        implicit_adds: bool,
    ) -> None:
        self.node_id = node_id
        self.batches = batches
        self._records = records
        """What is sent, whatever becomes of the batches meanwhile."""
        self._settings = settings
        self._transactional_id = transactional_id
        self._topic_ids = {batch.lane.tp.topic: view.topic_id(batch.lane.tp.topic) for batch in batches}
        if transactional_id is not None and not implicit_adds:
            version_max = IMPLICIT_ADDS_SINCE - 1
        elif NO_TOPIC_ID in self._topic_ids.values():
            version_max = TOPIC_IDS_SINCE - 1
        else:
            version_max = ProduceRequest.MAX_VERSION
        self.call = Call(
            node_id,
            Versioned(ProduceRequest.API_KEY, self._build),
            version_max=version_max,
            timeout_ms=settings.request_timeout_ms,
            answered=settings.acks != 0,
        )

    def _build(self, version: int) -> ProduceRequest:
        topics: dict[str, list[PartitionProduceData]] = {}
        for batch, records in zip(self.batches, self._records, strict=True):
            tp = batch.lane.tp
            data = PartitionProduceData(index=tp.partition, records=records)
            topics.setdefault(tp.topic, []).append(data)
        return ProduceRequest(
            transactional_id=self._transactional_id,
            acks=self._settings.acks,
            timeout_ms=self._settings.request_timeout_ms,
            topic_data=[
                TopicProduceData(topic_id=self._topic_ids[name], partition_data=data)
                if version >= TOPIC_IDS_SINCE
                else TopicProduceData(name=name, partition_data=data)
                for name, data in topics.items()
            ],
        )

    def answers(self, response: ProduceResponse) -> Iterator[tuple[Batch, PartitionProduceResponse]]:
        """What the broker says of each batch; UNKNOWN_SERVER_ERROR where it says nothing."""
        names = {topic_id: name for name, topic_id in self._topic_ids.items() if topic_id != NO_TOPIC_ID}
        found: dict[tuple[str, int], PartitionProduceResponse] = {}
        for topic in response.responses:
            name = names.get(bytes(topic.topic_id)) or topic.name or ""
            for partition in topic.partition_responses:
                found[(name, partition.index)] = partition
        for batch in self.batches:
            answer = found.get(batch.lane.tp)
            if answer is None:
                answer = PartitionProduceResponse(
                    index=batch.lane.tp.partition,
                    error_code=ErrorCode.UNKNOWN_SERVER_ERROR,
                    error_message="the broker's answer leaves the partition out",
                )
            yield batch, answer


def error_in(batch: Batch, answer: PartitionProduceResponse) -> OttlaError:
    return ServerError(answer.error_code, answer.error_message, subject=str(batch.lane.tp))


def record_errors_in(batch: Batch, answer: PartitionProduceResponse) -> dict[int, OttlaError] | None:
    """The errors of single records (KIP-467), where the broker names them."""
    if not answer.record_errors:
        return None
    # One bad record alone is what the partition's code speaks of; of several, the messages tell them apart.
    code = answer.error_code if len(answer.record_errors) == 1 else ErrorCode.INVALID_RECORD
    return {
        entry.batch_index: ServerError(
            code, entry.batch_index_error_message or answer.error_message, subject=str(batch.lane.tp)
        )
        for entry in answer.record_errors
    }
