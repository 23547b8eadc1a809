"""The state of one shard (one partition of `__consumer_offsets`) that its parts share."""

from __future__ import annotations

from ottla.coordination.timers import Timers
from ottla.groups.environment import Environment
from ottla.groups.group import Group


class Meter:
    """Bytes of members' metadata that a shard holds. Clients decide how much that is, so it is counted."""

    __slots__ = ("size_bytes",)

    def __init__(self) -> None:
        self.size_bytes = 0


class ShardState:
    """`groups` holds every group that has any state besides offsets, and those made for offsets alone."""

    __slots__ = ("env", "groups", "timers", "metadata")

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.groups: dict[str, Group] = {}
        self.timers = Timers()
        self.metadata = Meter()
