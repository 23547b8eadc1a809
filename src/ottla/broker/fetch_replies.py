"""The usual reply to a fetch, records of one partition, without a response object.

It differs from the last one of the same partition in a few numbers, and to encode it anew costs more than to
find the records. So the frame around the records is kept as a template, by version; its numbers stand in
front of the records, behind them come empty tagged fields only.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from ottla.ports.disk import Buffer, FileSlice
from ottla.replication.partition import Partition
from ottla.wire.framing import encode_response
from ottla.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from ottla.wire.messages.index import ApiKey
from ottla.wire.primitives import write_uvarint

TEMPLATES_SINCE: Final = 12
"""From here on lengths are varints, and every client has moved on."""

_INT32: Final = Struct(">i")
_SIZE_AND_CORRELATION_ID: Final = Struct(">ii")
_SESSION_ID_AT: Final = 15  # behind size, correlation id, no tagged fields, throttle time and error code
_OFFSETS: Final = Struct(">qqq")  # high watermark, last stable offset, log start
_MARK: Final = 0x5AC3_96E7_0F1E_D24B
_RECORDS: Final = b"records of a template"


_Template = tuple[bytes, int, bytes]
"""What stands before the length of the records, where the offsets are in it, and what follows the records."""


def usual_reply(
    partition: Partition, data: PartitionData, version: int, correlation_id: int, session_id: int
) -> list[Buffer | FileSlice] | None:
    """The parts of the whole frame; None where the reply is not a usual one."""
    records = data.records
    if version < TEMPLATES_SINCE or type(records) is not FileSlice or data.aborted_transactions:
        return None
    # A list without entries is told to those who asked for committed records, none at all to others.
    key = version if data.aborted_transactions is None else -version
    templates = partition.fetch_replies
    template = templates.get(key) if templates is not None else None
    if template is None:
        template = _remember(partition, version, key)
    before, offsets_at, tail = template
    head = bytearray(before)
    _INT32.pack_into(head, _SESSION_ID_AT, session_id)
    _OFFSETS.pack_into(head, offsets_at, data.high_watermark, data.last_stable_offset, data.log_start_offset)
    length = records.length
    write_uvarint(head, length + 1)
    _SIZE_AND_CORRELATION_ID.pack_into(head, 0, len(head) + length + len(tail) - 4, correlation_id)
    return [head, records, tail]


def _remember(partition: Partition, version: int, key: int) -> _Template:
    data = PartitionData(
        partition_index=partition.tp.partition,
        high_watermark=_MARK,
        last_stable_offset=_MARK,
        log_start_offset=_MARK,
        aborted_transactions=None if key > 0 else [],
        records=_RECORDS,
    )
    topic = FetchableTopicResponse(topic=partition.tp.topic, topic_id=partition.topic_id, partitions=[data])
    frame = b"".join(encode_response(FetchResponse(responses=[topic]), ApiKey.FETCH, version, 0))
    records_at = frame.index(_RECORDS)
    template = (
        frame[: records_at - 1],  # without the one byte of their length
        frame.index(_OFFSETS.pack(_MARK, _MARK, _MARK)),
        frame[records_at + len(_RECORDS) :],
    )
    if partition.fetch_replies is None:
        partition.fetch_replies = {}
    partition.fetch_replies[key] = template
    return template
