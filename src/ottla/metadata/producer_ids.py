"""Producer ids: handed to brokers in blocks, so that InitProducerId costs one record in a thousand."""

from __future__ import annotations

from typing import Final, NamedTuple

from ottla.metadata.brokers import known_broker
from ottla.metadata.decision import Decision
from ottla.metadata.image import MetadataImage
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.allocate_producer_ids import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
)
from ottla.wire.messages.cluster_metadata import ProducerIdsRecord

BLOCK_IDS: Final = 1000
PRODUCER_ID_MAX: Final = 2**63 - 1


class ProducerIdBlock(NamedTuple):
    first_id: int
    size: int

    @property
    def next_first_id(self) -> int:
        return self.first_id + self.size


def allocate_block(image: MetadataImage, broker_id: int, broker_epoch: int) -> Decision[ProducerIdBlock]:
    """The next block. Raises KafkaError for a broker that is not registered under this epoch."""
    known_broker(image, broker_id, broker_epoch)
    first_id = image.next_producer_id
    if first_id > PRODUCER_ID_MAX - BLOCK_IDS:
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, "All producer ids have been used.")
    record = ProducerIdsRecord(
        broker_id=broker_id, broker_epoch=broker_epoch, next_producer_id=first_id + BLOCK_IDS
    )
    return Decision(ProducerIdBlock(first_id, BLOCK_IDS), [record])


def allocate_producer_ids(
    image: MetadataImage, request: AllocateProducerIdsRequest
) -> Decision[AllocateProducerIdsResponse]:
    try:
        decision = allocate_block(image, request.broker_id, request.broker_epoch)
    except KafkaError as error:
        return Decision(AllocateProducerIdsResponse(error_code=error.code), [])
    block = decision.response
    response = AllocateProducerIdsResponse(
        error_code=0, producer_id_start=block.first_id, producer_id_len=block.size
    )
    return Decision(response, decision.records)
