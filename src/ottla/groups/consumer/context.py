"""What the parts of the consumer groups share: the shard's state, and what is underway.

What is underway is soft: it is in no record and dies with the process, which at worst computes something
again. It is kept by group id and not in the group, since a decision about a new group has no group to keep
it in before its records are replayed.
"""

from __future__ import annotations

from ottla.groups.classic.groups import ClassicGroups
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.metadata_hash import TopicHashes
from ottla.groups.environment import Environment
from ottla.groups.shard_state import ShardState
from ottla.model.errors import ErrorCode, KafkaError


class Underway:
    __slots__ = ("assigning", "resolving", "checked_version", "checked_epoch")

    def __init__(self) -> None:
        self.assigning: object | None = None
        """The computation of a target that runs as a job."""
        self.resolving: object | None = None
        """The matching of regular expressions that runs as a job."""
        self.checked_version: int | None = None
        """The view of the topics that the group's metadata hash was last compared with …"""
        self.checked_epoch = 0
        """… and the epoch that came of it; when the group is below, that decision was never written."""


class Context:
    __slots__ = ("state", "classic", "hashes", "_underway", "_names", "_names_version", "_new_names_version")

    def __init__(self, state: ShardState, classic: ClassicGroups) -> None:
        self.state = state
        self.classic = classic
        self.hashes = TopicHashes()
        self._underway: dict[str, Underway] = {}
        self._names: frozenset[str] = frozenset()
        self._names_version: int | None = None
        self._new_names_version = -1

    @property
    def env(self) -> Environment:
        return self.state.env

    def underway(self, group_id: str) -> Underway:
        underway = self._underway.get(group_id)
        if underway is None:
            underway = self._underway[group_id] = Underway()
        return underway

    def is_current(self, group_id: str, underway: Underway) -> bool:
        """The group is still the one that this belongs to."""
        return self._underway.get(group_id) is underway

    def forget(self, group_id: str) -> None:
        """The group is gone: jobs that still run for it will find that they are no longer wanted."""
        self._underway.pop(group_id, None)

    def forget_all(self) -> None:
        self._underway.clear()

    def find(self, group_id: str) -> ConsumerGroup | None:
        group = self.state.groups.get(group_id)
        return group if isinstance(group, ConsumerGroup) else None

    def group(self, group_id: str) -> ConsumerGroup:
        """Raises GROUP_ID_NOT_FOUND."""
        group = self.state.groups.get(group_id)
        if isinstance(group, ConsumerGroup):
            return group
        raise KafkaError(
            ErrorCode.GROUP_ID_NOT_FOUND,
            f"Group {group_id} not found." if group is None else f"Group {group_id} is not a consumer group.",
        )

    def new_names_version(self) -> int:
        """The version of the topics' view in which a name was seen that was not there before."""
        topics = self.env.topics
        if self._names_version != topics.version:
            names = frozenset(topics.names())
            if self._names_version is None or not names <= self._names:
                self._new_names_version = topics.version
            self._names = names
            self._names_version = topics.version
        return self._new_names_version

    def session_timeout_ms(self, group_id: str) -> int:
        own = self.env.group_config(group_id, "consumer.session.timeout.ms")
        return self.env.settings.consumer_session_timeout_ms if own is None else own

    def heartbeat_interval_ms(self, group_id: str) -> int:
        own = self.env.group_config(group_id, "consumer.heartbeat.interval.ms")
        return self.env.settings.consumer_heartbeat_interval_ms if own is None else own
