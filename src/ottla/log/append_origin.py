"""Who appends, which decides what is checked."""

from __future__ import annotations

from enum import Enum


class AppendOrigin(Enum):
    CLIENT = "client"
    """A produce request: everything is checked."""
    COORDINATOR = "coordinator"
    """A coordinator on this broker: offset commits of transactions have a producer, but no sequences."""
    REPLICATION = "replication"
    """A follower: the leader has checked."""
    RAFT_LEADER = "raft leader"
    """The metadata quorum's leader, which assigns offsets and epochs itself."""
