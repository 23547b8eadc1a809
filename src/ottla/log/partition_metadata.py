"""`partition.metadata`: which topic, by id, the directory belongs to.

A topic that is deleted and made again has the same name and another id; this file tells the two apart.
"""

from __future__ import annotations

from ottla.model.uuids import uuid_from_text, uuid_to_text


def partition_metadata_text(topic_id: bytes) -> str:
    return f"version: 0\ntopic_id: {uuid_to_text(topic_id)}"


def parse_partition_metadata(text: str) -> bytes:
    """The topic id. Raises ValueError when the text is damaged, as by a crash before it was synced."""
    fields = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if not colon:
            raise ValueError(f"partition.metadata has a line without a colon: {line!r}")
        fields[name.strip()] = value.strip()
    if fields.get("version") != "0" or "topic_id" not in fields:
        raise ValueError("partition.metadata has no version 0 and topic_id")
    return uuid_from_text(fields["topic_id"])
