"""What the groups of a shard know of the world outside: time, chance, topics, settings.

The coordinator's shell owns one and replaces `topics` and `settings` when the metadata changes.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from ottla.groups.settings import GroupSettings
from ottla.model.uuids import uuid_to_text
from ottla.ports.clock import Clock
from ottla.ports.topic_view import TopicView


class Environment:
    __slots__ = ("clock", "chance", "topics", "settings", "group_config", "metadata_bytes")

    def __init__(
        self,
        clock: Clock,
        chance: Random,
        topics: TopicView,
        settings: GroupSettings,
        group_config: Callable[[str, str], int | None] = lambda group_id, name: None,
    ) -> None:
        self.clock = clock
        self.chance = chance
        self.topics = topics
        self.settings = settings
        self.group_config = group_config
        """A group's own value of a key such as `consumer.session.timeout.ms`, or None where it has none."""

        self.metadata_bytes: Callable[[], int] = lambda: 0
        """What the members' metadata takes in all shards together."""

    def new_uuid_text(self) -> str:
        return uuid_to_text(self.chance.randbytes(16))
