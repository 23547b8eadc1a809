"""A member of a classic group: who it is, which protocols it speaks, what it was assigned, what it waits for.

A member waits in JoinGroup until the generation is complete and in SyncGroup until the leader has sent the
assignment; the promise of that response is kept here. While it waits it cannot send heartbeats, so its
session does not expire, with one exception: somebody who joins for the first time may never have got its
member id, and is given up after a while even though it waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from struct import Struct
from typing import Final, NamedTuple

from ottla.coordination.promise import Promise
from ottla.model.limits import GROUP_SUBSCRIBED_TOPICS_MAX
from ottla.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from ottla.wire.messages.join_group import JoinGroupRequestProtocol, JoinGroupResponse
from ottla.wire.messages.sync_group import SyncGroupResponse
from ottla.wire.primitives import DecodeError

_SUBSCRIPTION_HEAD: Final = Struct(">hi")


class ParkedJoin(NamedTuple):
    promise: Promise[JoinGroupResponse]
    api_version: int
    """The form of some fields depends on it, and those who wait together speak different ones."""


class ClassicMember:
    __slots__ = (
        "member_id",
        "instance_id",
        "client_id",
        "client_host",
        "rebalance_timeout_ms",
        "session_timeout_ms",
        "protocol_type",
        "protocols",
        "assignment",
        "is_new",
        "parked_join",
        "parked_sync",
        "_topics",
        "_topics_of",
    )

    def __init__(
        self,
        member_id: str,
        *,
        instance_id: str | None = None,
        client_id: str = "",
        client_host: str = "",
        rebalance_timeout_ms: int,
        session_timeout_ms: int,
        protocol_type: str,
        protocols: Mapping[str, bytes],
        assignment: bytes = b"",
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.client_id = client_id
        self.client_host = client_host
        self.rebalance_timeout_ms = rebalance_timeout_ms
        self.session_timeout_ms = session_timeout_ms
        self.protocol_type = protocol_type
        self.protocols: Mapping[str, bytes] = protocols
        """Name to metadata, in the member's order of preference."""
        self.assignment = assignment
        self.is_new = False
        self.parked_join: ParkedJoin | None = None
        """Changed through the group only, which counts those who wait."""
        self.parked_sync: Promise[SyncGroupResponse] | None = None
        self._topics: frozenset[str] | None = None
        self._topics_of: bytes | None = None

    @property
    def is_static(self) -> bool:
        return self.instance_id is not None

    @property
    def needs_no_heartbeat(self) -> bool:
        return not self.is_new and (self.parked_join is not None or self.parked_sync is not None)

    @property
    def metadata_bytes(self) -> int:
        return protocols_bytes(self.protocols)

    def metadata(self, protocol_name: str | None) -> bytes:
        return self.protocols[protocol_name or ""]

    def vote(self, candidates: set[str]) -> str:
        """The protocol that it likes best among those that everybody speaks."""
        return next(name for name in self.protocols if name in candidates)

    def matches(self, protocols: Mapping[str, bytes]) -> bool:
        """Same protocols, same metadata, same order."""
        return list(self.protocols.items()) == list(protocols.items())

    def subscribed_topics(self, protocol_name: str) -> frozenset[str] | None:
        """The topics in its metadata, where that is a subscription of the consumer protocol; None where it
        cannot be read. Parsed once per metadata.
        """
        metadata = self.protocols[protocol_name]
        if self._topics_of is not metadata:
            self._topics_of = metadata
            self._topics = parse_subscribed_topics(metadata)
        return self._topics


def protocols_bytes(protocols: Mapping[str, bytes]) -> int:
    """What they take in memory, in rough terms; names count, too."""
    return sum(len(name) + len(metadata) for name, metadata in protocols.items())


def protocols_of(protocols: Iterable[JoinGroupRequestProtocol]) -> dict[str, bytes]:
    """As a mapping; of a protocol named twice the first counts."""
    result: dict[str, bytes] = {}
    for protocol in protocols:
        result.setdefault(protocol.name, protocol.metadata)
    return result


def parse_subscribed_topics(metadata: bytes) -> frozenset[str] | None:
    """Version 0 of a subscription is the beginning of every later one, so only that much is read."""
    if len(metadata) < _SUBSCRIPTION_HEAD.size:
        return None
    _, topic_count = _SUBSCRIPTION_HEAD.unpack_from(metadata)
    if topic_count > GROUP_SUBSCRIBED_TOPICS_MAX:
        return None
    try:
        subscription, _ = ConsumerProtocolSubscription.decode(metadata, 2, len(metadata), 0)
    except DecodeError:
        return None
    return frozenset(subscription.topics)
