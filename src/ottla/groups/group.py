"""What every kind of group offers to those who do not care which kind it is: offsets, listing, deleting."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from ottla.coordination.record import CoordinatorRecord

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
"""Group types, as ListGroups names them."""

CONSUMER_PROTOCOL_TYPE: Final = "consumer"


class Client(NamedTuple):
    """Who sent a request."""

    client_id: str
    client_host: str
    """`/127.0.0.1`, with Java's slash, as Kafka shows it."""
    api_version: int


class Group(Protocol):
    group_id: str

    @property
    def type(self) -> str:
        """CLASSIC or CONSUMER."""
        ...

    @property
    def protocol_type(self) -> str:
        """`consumer`, `connect`, …; empty for a group that only holds offsets (a simple group)."""
        ...

    @property
    def state_name(self) -> str:
        """As ListGroups and DescribeGroups write it: `Empty`, `PreparingRebalance`, `Stable`, …"""
        ...

    @property
    def is_empty(self) -> bool:
        """It has no members."""
        ...

    def check_offset_commit(
        self, member_id: str, instance_id: str | None, generation: int, api_version: int, *, is_txn: bool
    ) -> None:
        """Raises the KafkaError that refuses the commit; `generation` is the member epoch in newer groups."""
        ...

    def session_after_commit_ms(self, member_id: str) -> int | None:
        """A commit counts as a sign of life in classic groups: the session timeout that begins anew with it.
        The timer's key is ("session", group_id, member_id).
        """
        ...

    def check_offset_fetch(self, member_id: str | None, member_epoch: int) -> None:
        """Raises the KafkaError that refuses the fetch."""
        ...

    def check_offset_delete(self) -> None:
        """Raises the KafkaError that refuses the whole request."""
        ...

    def check_delete(self) -> None:
        """Raises the KafkaError that refuses the deletion: NON_EMPTY_GROUP, GROUP_ID_NOT_FOUND."""
        ...

    def tombstones(self) -> list[CoordinatorRecord]:
        """What has to be written so that nothing of the group is left (its offsets apart)."""
        ...

    def is_subscribed_to(self, topic: str) -> bool:
        """Somebody in the group reads the topic, or may do so: its offsets do not expire."""
        ...

    def expires_from_ms(self, commit_timestamp_ms: int) -> int | None:
        """The moment (wall clock) from which the retention of an offset counts; None while it may not
        expire. Only asked for topics that nobody in the group is subscribed to.
        """
        ...
