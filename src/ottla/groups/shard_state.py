"""The state of one shard (one partition of `__consumer_offsets`) that its parts share."""

from __future__ import annotations

from ottla.groups.environment import Environment
from ottla.groups.group import Group
from ottla.groups.timers import Timers


class ShardState:
    """`groups` holds every group that has any state besides offsets, and those made for offsets alone."""

    __slots__ = ("env", "groups", "timers")

    def __init__(self, env: Environment) -> None:
        self.env = env
        self.groups: dict[str, Group] = {}
        self.timers = Timers()
