"""One number for everything that a group's assignment depends on in the cluster's topics.

A group remembers the number in its metadata record; when it comes out different, topics were created,
deleted or have other partitions or racks, and the group needs a new epoch. Each topic is hashed once per
view; a group's number is the sum over its topics, so their order does not matter. (Kafka hashes the same
facts with another function: a group taken over from it gets one new epoch.)
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from ottla.ports.topic_view import TopicView


class TopicHashes:
    __slots__ = ("_version", "_hashes")

    def __init__(self) -> None:
        self._version: int | None = None
        self._hashes: dict[str, int] = {}

    def clear(self) -> None:
        self._version = None

    def of_group(self, names: Iterable[str], topics: TopicView) -> int:
        """Zero for no topics; names of topics that do not exist count for nothing."""
        if self._version != topics.version:
            self._version = topics.version
            self._hashes = {}
        hashes = self._hashes
        total = 0
        for name in names:
            value = hashes.get(name)
            if value is None:
                value = _topic_hash(name, topics)
                if value:
                    hashes[name] = value  # names of no topic are not kept: a peer may think up any number
            total += value
        total &= 0xFFFF_FFFF_FFFF_FFFF
        return total - (1 << 64) if total >> 63 else total


def _topic_hash(name: str, topics: TopicView) -> int:
    facts = topics.topic(name)
    if facts is None:
        return 0
    digest = blake2b(facts.topic_id, digest_size=8)
    digest.update(facts.partition_count.to_bytes(4, "big"))
    digest.update(name.encode())
    for partition, racks in enumerate(topics.racks(name)):
        if racks:
            text = "\0".join(sorted(racks))
            digest.update(f"\0{partition}\0{len(text)}\0{text}".encode())
    return int.from_bytes(digest.digest(), "big")
