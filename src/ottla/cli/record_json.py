"""Records of internal topics as JSON documents, with the names and the shape that Kafka's tool gives them.

A decoded message becomes a dictionary of the fields that its version has (`record_fields.py`): ids as 22
characters of base64, binary data as base64, tagged fields only where they are not at their default.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NamedTuple

from ottla.cli.record_fields import FIELDS
from ottla.model.uuids import uuid_to_text
from ottla.wire.framing import (
    UnknownRecordType,
    decode_coordinator_key,
    decode_coordinator_value,
    decode_metadata_record,
)
from ottla.wire.primitives import DecodeError
from ottla.wire.record_batch import Record

TOPIC_MESSAGES: Final = {
    "__consumer_offsets": "consumer_offsets",
    "__transaction_state": "transaction_state",
    "__share_group_state": "share_group_state",
    "__cluster_metadata": "cluster_metadata",
}
"""Internal topics, and the module of `wire/messages/` that has their records."""

METADATA: Final = "cluster_metadata"


class Decoded(NamedTuple):
    """A record of an internal topic, made readable; `problem` where it cannot be."""

    key: dict[str, Any] | None = None
    value: dict[str, Any] | None = None
    """None is a tombstone."""
    problem: str | None = None
    unknown_type: int | None = None


def document(message: Any, version: int) -> dict[str, Any]:
    """A message as Kafka's tools write it in a version."""
    kind = type(message)
    shown = FIELDS[kind.__module__.rpartition(".")[2]][kind.__name__]
    found: dict[str, Any] = {}
    default: Any = None
    for field in shown:
        if not field.first_version <= version <= field.last_version:
            continue
        value = getattr(message, field.attribute)
        if field.is_tagged:
            default = kind() if default is None else default
            if value == getattr(default, field.attribute):
                continue
        found[field.name] = _plain(value, version, is_uuid=field.is_uuid)
    return found


def _plain(value: Any, version: int, *, is_uuid: bool) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return uuid_to_text(bytes(value)) if is_uuid else base64.b64encode(value).decode()
    if isinstance(value, list | tuple):
        return [_plain(item, version, is_uuid=is_uuid) for item in value]
    return document(value, version)


def compact(value: Any) -> str:
    """JSON without spaces, as Kafka's tools print it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def decode_record(messages: str, record: Record) -> Decoded:
    """A record by the module of its topic's messages."""
    if messages == METADATA:
        return _decode_metadata(record)
    module = import_module(f"ottla.wire.messages.{messages}")
    if record.key is None:
        return Decoded(problem="it has no key")
    try:
        key = decode_coordinator_key(module.KEY_TYPES, record.key)
        typed = {"type": str(key.RECORD_TYPE), "data": document(key, 0)}
        if record.value is None:
            return Decoded(typed)
        value, version = decode_coordinator_value(module.VALUE_TYPES, key.RECORD_TYPE, record.value)
    except UnknownRecordType as error:
        return Decoded(problem=str(error), unknown_type=error.record_type)
    except DecodeError as error:
        return Decoded(problem=str(error))
    data = document(value, version)
    if type(value).__name__ == "GroupMetadataValue" and data.get("protocolType") == "consumer":
        for member, shown in zip(value.members, data["members"], strict=True):
            _embed(shown, "subscription", member.subscription, "ConsumerProtocolSubscription")
            _embed(shown, "assignment", member.assignment, "ConsumerProtocolAssignment")
    return Decoded(typed, {"version": str(version), "data": data})


def _embed(shown: dict[str, Any], name: str, data: bytes, message: str) -> None:
    """Replaces what consumers have put into a classic group's record by what it says, if it says anything."""
    from ottla.wire.messages import consumer_protocol

    version = int.from_bytes(data[:2], "big", signed=True)
    kind = getattr(consumer_protocol, message)
    if len(data) < 2 or not kind.MIN_VERSION <= version <= kind.MAX_VERSION:
        return
    try:
        decoded, _ = kind.decode(data, 2, len(data), version)
    except DecodeError:
        return
    shown[name] = document(decoded, version)


def _decode_metadata(record: Record) -> Decoded:
    if record.value is None:
        return Decoded(problem="it has no value")
    try:
        message, version = decode_metadata_record(record.value)
    except DecodeError as error:
        return Decoded(problem=str(error))
    name = re.sub(r"(?<!^)([A-Z])", r"_\1", type(message).__name__).upper()
    return Decoded(None, {"type": name, "version": version, "data": document(message, version)})


def control_document(kind: int, value: bytes) -> tuple[str, dict[str, Any]] | None:
    """A control record of a Raft quorum: what Kafka's dump tool calls it, and what it says."""
    from ottla.wire.messages import control_records
    from ottla.wire.record_batch import ControlType

    known: dict[int, tuple[str, Any]] = {
        ControlType.LEADER_CHANGE: ("LeaderChange:", control_records.LeaderChangeMessage),
        ControlType.SNAPSHOT_HEADER: ("SnapshotHeader", control_records.SnapshotHeaderRecord),
        ControlType.SNAPSHOT_FOOTER: ("SnapshotFooter", control_records.SnapshotFooterRecord),
        ControlType.KRAFT_VERSION: ("KRaftVersion", control_records.KRaftVersionRecord),
        ControlType.KRAFT_VOTERS: ("KRaftVoters", control_records.VotersRecord),
    }
    if kind not in known:
        return None
    name, message = known[kind]
    # The version is the first field of the data itself; newer ones are read as far as they are known.
    version = min(int.from_bytes(value[:2], "big", signed=True), message.MAX_VERSION)
    decode: Callable[..., tuple[Any, int]] = message.decode
    decoded, _ = decode(value, 0, len(value), version)
    return name, document(decoded, version)
