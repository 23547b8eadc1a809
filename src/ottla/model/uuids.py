"""Kafka's way of writing UUIDs: sixteen bytes, as URL-safe base64 without padding (22 characters)."""

from __future__ import annotations

import base64
import binascii
from typing import Final

RESERVED_IDS: Final = 100
"""Smaller numbers name things like the metadata topic, or a directory that is not known."""


def uuid_to_text(uuid: bytes) -> str:
    return base64.urlsafe_b64encode(uuid).decode("ascii").rstrip("=")


def uuid_from_text(text: str) -> bytes:
    """Raises ValueError when `text` is not 22 characters of URL-safe base64."""
    if len(text) != 22:
        raise ValueError(f"{text!r} is not a Kafka UUID: 22 characters of URL-safe base64 are expected")
    try:
        return base64.b64decode(text + "==", altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError(f"{text!r} is not a Kafka UUID: {error}") from None


def is_reserved(uuid: bytes) -> bool:
    """Kafka never hands out the reserved numbers, nor an id whose text begins with a dash."""
    return int.from_bytes(uuid, "big") < RESERVED_IDS or uuid_to_text(uuid).startswith("-")
