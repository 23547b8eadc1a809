"""`meta.properties`: whose data a log directory holds. Kafka's file, one in each directory of `log.dirs`.

Version 1 (KRaft) has `node.id`, `cluster.id` and `directory.id`; version 0 called the first `broker.id` and
could lack the others: it is read, and written anew as version 1 at the next start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ottla.model.properties import PropertiesError, decode_properties, format_properties
from ottla.model.uuids import is_reserved, uuid_from_text, uuid_to_text
from ottla.ports.disk import Disk

META_PROPERTIES: Final = "meta.properties"


class BadMetaProperties(Exception):
    """A meta.properties is damaged, or of another node or cluster. The message is one line: what to do."""


@dataclass(frozen=True, slots=True)
class MetaProperties:
    node_id: int | None
    """None only in a file of version 0 that an old broker wrote before it had a number."""
    cluster_id: str | None
    directory_id: bytes | None
    version: int = 1


def encode_meta_properties(meta: MetaProperties) -> bytes:
    assert meta.node_id is not None and meta.cluster_id is not None, "version 1 names node and cluster"
    fields = {"node.id": str(meta.node_id)}
    if meta.directory_id is not None:
        fields["directory.id"] = uuid_to_text(meta.directory_id)
    fields |= {"version": "1", "cluster.id": meta.cluster_id}
    return format_properties(fields).encode("ascii")


def decode_meta_properties(data: bytes, path: str) -> MetaProperties:
    """Raises BadMetaProperties, naming the file, when a field is missing or makes no sense."""
    try:
        fields = decode_properties(data)
    except PropertiesError as error:
        raise _damaged(path, str(error)) from None
    version = _number(fields, "version", path)
    if version is None:
        raise _damaged(path, "it has no version")
    if version not in (0, 1):
        raise _damaged(path, f"its version is {version}, only 0 and 1 are known")
    node_id = _number(fields, "node.id" if version == 1 else "broker.id", path)
    cluster_id = fields.get("cluster.id") or None
    if version == 1 and node_id is None:
        raise _damaged(path, "it has no node.id")
    if version == 1 and cluster_id is None:
        raise _damaged(path, "it has no cluster.id")
    if node_id is not None and node_id < 0:
        if version == 1:
            raise _damaged(path, f"its node.id is {node_id}")
        node_id = None  # version 0 wrote -1 before a number was given
    directory_id = None
    if "directory.id" in fields:
        try:
            directory_id = uuid_from_text(fields["directory.id"])
        except ValueError as error:
            raise _damaged(path, f"its directory.id: {error}") from None
        if is_reserved(directory_id):
            raise _damaged(path, f"its directory.id {fields['directory.id']} is reserved")
    return MetaProperties(node_id, cluster_id, directory_id, version)


def read_meta_properties(disk: Disk, log_dir: str) -> MetaProperties | None:
    """None when the directory has no such file: it was never formatted."""
    path = f"{log_dir}/{META_PROPERTIES}"
    try:
        data = disk.read_file(path)
    except FileNotFoundError:
        return None
    return decode_meta_properties(data, path)


def write_meta_properties(disk: Disk, log_dir: str, meta: MetaProperties) -> None:
    """Afterwards the old file or the new one is there, never a mixture."""
    disk.write_file_atomic(f"{log_dir}/{META_PROPERTIES}", encode_meta_properties(meta))


def _damaged(path: str, what: str) -> BadMetaProperties:
    return BadMetaProperties(
        f"{path} is damaged: {what}; restore it from another directory of this node, or, "
        "if the data may go, remove all contents of the directory"
    )


def _number(fields: Mapping[str, str], name: str, path: str) -> int | None:
    text = fields.get(name)
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise _damaged(path, f"its {name} is {text!r}, not a number") from None
