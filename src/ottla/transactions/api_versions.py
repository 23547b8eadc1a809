"""What the version of a request says about its sender: its generation, and which error codes it knows."""

from __future__ import annotations

from typing import Final

from ottla.model.errors import ErrorCode
from ottla.transactions.transaction import EPOCH_BUMP_VERSION
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest

_KNOWS_PRODUCER_FENCED: Final[dict[int, int]] = {
    InitProducerIdRequest.API_KEY: 4,
    AddPartitionsToTxnRequest.API_KEY: 2,
    AddOffsetsToTxnRequest.API_KEY: 2,
    EndTxnRequest.API_KEY: 2,
}
"""The first version of each API whose clients know PRODUCER_FENCED (KIP-588)."""


def error_for(api_key: int, api_version: int, code: ErrorCode) -> ErrorCode:
    """The code as this version of the API has it."""
    if code is ErrorCode.PRODUCER_FENCED and api_version < _KNOWS_PRODUCER_FENCED.get(api_key, 0):
        return ErrorCode.INVALID_PRODUCER_EPOCH
    return code


def client_version_of_add_partitions(api_version: int) -> int:
    """The client's transaction version. From 4 on, brokers ask, for a Produce or a TxnOffsetCommit that adds
    its partitions itself; AddOffsetsToTxn is always 0.
    """
    return EPOCH_BUMP_VERSION if api_version >= 4 else 0


def client_version_of_end_txn(api_version: int) -> int:
    return EPOCH_BUMP_VERSION if api_version >= 5 else 0
