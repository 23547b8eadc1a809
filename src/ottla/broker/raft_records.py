"""The control records of the metadata log and its snapshots: voters, kraft.version, header and footer.

A control batch may hold several of them; each record's key says its type, its value is a message of
`schema/records/control_records.txt`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ottla.model.limits import DECOMPRESSED_BATCH_BYTES_MAX
from ottla.raft.log_port import ControlRecord, LeaderStart
from ottla.raft.voters import Endpoint, ReplicaKey, VoterNode, VoterSet
from ottla.wire.messages import control_records as messages
from ottla.wire.primitives import Encoder
from ottla.wire.record_batch import (
    BatchHeader,
    ControlType,
    ReadableBuffer,
    control_type,
    decode_batch,
    encode_control_batch,
    iter_headers,
)

KRAFT_VERSION_MAX = 1


def voters_message(voters: VoterSet) -> messages.VotersRecord:
    return messages.VotersRecord(
        voters=[
            messages.VotersRecordVoter(
                voter_id=voter.key.node_id,
                voter_directory_id=voter.key.directory_id,
                endpoints=[
                    messages.Endpoint(name=each.name, host=each.host, port=each.port)
                    for each in voter.endpoints
                ],
                kraft_version_feature=messages.KRaftVersionFeature(
                    min_supported_version=voter.version_min, max_supported_version=voter.version_max
                ),
            )
            for voter in voters
        ]
    )


def voter_set(message: messages.VotersRecord) -> VoterSet:
    return VoterSet(
        VoterNode(
            ReplicaKey(voter.voter_id, bytes(voter.voter_directory_id)),
            tuple(Endpoint(each.name, each.host, each.port) for each in voter.endpoints),
            voter.kraft_version_feature.min_supported_version,
            voter.kraft_version_feature.max_supported_version,
        )
        for voter in message.voters
    )


def _value(message: Any, version: int = 0) -> bytes:
    out = Encoder()
    message.encode(out, version)
    return bytes(out.buf)


def voters_records(voters: VoterSet | None, kraft_version: int | None) -> list[tuple[int, bytes]]:
    """Type and value of the records that say them; first the version, as Kafka writes them."""
    records = []
    if kraft_version is not None:
        version = messages.KRaftVersionRecord(kraft_version=kraft_version)
        records.append((ControlType.KRAFT_VERSION, _value(version)))
    if voters is not None:
        records.append((ControlType.KRAFT_VOTERS, _value(voters_message(voters))))
    return records


def leader_start_records(start: LeaderStart) -> list[tuple[int, bytes]]:
    """The leader change, and the voters where the log does not have them yet."""

    def named(keys: Iterable[ReplicaKey]) -> list[messages.LeaderChangeMessageVoter]:
        return [messages.LeaderChangeMessageVoter(voter_id=key.node_id) for key in keys]

    # Version 1 would name directories, too; Kafka writes 0 always, and its tools read nothing else.
    change = messages.LeaderChangeMessage(
        version=0,
        leader_id=start.leader_id,
        voters=named(start.voters),
        granting_voters=named(start.granting),
    )
    return [
        (ControlType.LEADER_CHANGE, _value(change, 0)),
        *voters_records(start.voter_set, start.kraft_version),
    ]


def snapshot_head(
    voters: VoterSet, kraft_version: int, timestamp: int, epoch: int, last_log_timestamp: int
) -> bytearray:
    """The first batch of a snapshot. The voters are in it only where they are the log's own (KIP-853)."""
    header = messages.SnapshotHeaderRecord(last_contained_log_timestamp=last_log_timestamp)
    records = [(ControlType.SNAPSHOT_HEADER, _value(header))]
    if kraft_version >= 1:
        records += voters_records(voters, kraft_version)
    return encode_control_batch(records, timestamp=timestamp, base_offset=0, leader_epoch=epoch)


def snapshot_foot(timestamp: int, base_offset: int, epoch: int) -> bytearray:
    footer = (ControlType.SNAPSHOT_FOOTER, _value(messages.SnapshotFooterRecord()))
    return encode_control_batch([footer], timestamp=timestamp, base_offset=base_offset, leader_epoch=epoch)


def control_records_in(data: ReadableBuffer, position: int, header: BatchHeader) -> list[ControlRecord]:
    """What one control batch says about the quorum; nothing when it is only a leader change."""
    found = []
    whole = memoryview(data)[position : position + header.size_bytes]
    for record in decode_batch(whole, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX):
        kind = control_type(record.key)
        value = record.value or b""
        if kind == ControlType.KRAFT_VOTERS:
            message, _ = messages.VotersRecord.decode(value, 0, len(value), 0)
            found.append(ControlRecord(record.offset, voters=voter_set(message)))
        elif kind == ControlType.KRAFT_VERSION:
            version, _ = messages.KRaftVersionRecord.decode(value, 0, len(value), 0)
            found.append(ControlRecord(record.offset, kraft_version=version.kraft_version))
    return found


def all_control_records(data: ReadableBuffer) -> Iterator[ControlRecord]:
    for position, header in iter_headers(data, 0, len(data)):
        if header.is_control:
            yield from control_records_in(data, position, header)


def is_finished(data: ReadableBuffer, headers: Sequence[tuple[int, BatchHeader]]) -> bool:
    """Whether the last batch of a snapshot is its footer: the rest of it then is there, too."""
    if not headers or not headers[-1][1].is_control:
        return False
    position, header = headers[-1]
    whole = memoryview(data)[position : position + header.size_bytes]
    records = decode_batch(whole, decompressed_bytes_max=DECOMPRESSED_BATCH_BYTES_MAX)
    return bool(records) and control_type(records[-1].key) == ControlType.SNAPSHOT_FOOTER
