"""One change of one partition: from its state and what is wished to a PartitionChangeRecord, or to none.

Whoever decides sets the targets (in-sync set, replicas, directories ...) and calls `build()`, which keeps the
rules that join them:

1. A reassignment is complete when all replicas that are to stay are in sync; then the others go.
2. While the in-sync set is smaller than `min.insync.replicas`, whoever leaves it stays eligible (KIP-966):
   nothing can be acknowledged without it. Once the set is large enough again, nobody outside is eligible.
3. The leader stays while it may lead. Otherwise the first replica in sync that may lead, then an eligible
   one when nobody is in sync, then, when neither is left, the last known leader, then, where the topic allows
   it, any replica: the last two are unclean, reset the in-sync set and mark the leader as recovering.
4. The leader is named in the record, and with that its epoch raised, when it changes or when a replica is
   taken off the list. A smaller in-sync set alone raises no epoch (KAFKA-15021).
5. The in-sync set becomes empty only where eligible replicas are kept; else the last member stays in it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import NamedTuple

from ottla.metadata.image import (
    LEADER_RECOVERING,
    LEADER_UNCHANGED,
    NO_LEADER,
    UNASSIGNED_DIRECTORY,
    PartitionState,
)
from ottla.wire.messages.cluster_metadata import PartitionChangeRecord


class Election(Enum):
    PREFERRED = "preferred"
    """The first replica if it can lead, whoever leads now."""
    ONLINE = "online"
    """Somebody who is in sync, or nobody."""
    UNCLEAN = "unclean"
    """Somebody, even if records are lost with it."""


class Elected(NamedTuple):
    node_id: int
    unclean: bool


_NOBODY = Elected(NO_LEADER, False)


def _unassigned(node_id: int) -> bytes:
    return UNASSIGNED_DIRECTORY


class PartitionChange:
    """Set the targets, then `build()` once."""

    __slots__ = (
        "topic_id",
        "partition_id",
        "state",
        "may_lead",
        "min_insync_replicas",
        "elr_enabled",
        "new_directory",
        "election",
        "isr",
        "replicas",
        "removing_replicas",
        "adding_replicas",
        "leader_recovery_state",
        "directories",
        "unclean_shutdown",
        "_eligible",
    )

    def __init__(
        self,
        topic_id: bytes,
        partition_id: int,
        state: PartitionState,
        *,
        may_lead: Callable[[int], bool],
        min_insync_replicas: int,
        elr_enabled: bool,
        election: Election = Election.ONLINE,
        new_directory: Callable[[int], bytes] = _unassigned,
    ) -> None:
        self.topic_id = topic_id
        self.partition_id = partition_id
        self.state = state
        self.may_lead = may_lead
        self.min_insync_replicas = min_insync_replicas
        self.elr_enabled = elr_enabled
        self.new_directory = new_directory
        """Where a broker puts a replica that it did not have before."""
        self.election = election
        self.isr = state.isr
        self.replicas = state.replicas
        self.removing_replicas = state.removing_replicas
        self.adding_replicas = state.adding_replicas
        self.leader_recovery_state = state.leader_recovery_state
        self.directories: Mapping[int, bytes] = {}
        """By broker, the directory that it says it uses now."""
        self.unclean_shutdown: Collection[int] = ()
        """Brokers that may have lost records which they had acknowledged: they are not eligible any more."""
        self._eligible = state.eligible_leader_replicas

    def build(self) -> PartitionChangeRecord | None:
        state = self.state
        record = PartitionChangeRecord(topic_id=self.topic_id, partition_id=self.partition_id)
        changed = self._complete_reassignment()
        self._keep_eligible()
        elected = self._elect()
        if elected.unclean:
            self.isr = (elected.node_id,)
            self._eligible = ()
            self.leader_recovery_state = LEADER_RECOVERING
        elif elected.node_id in self._eligible:
            self.isr = (elected.node_id,)
            self._eligible = tuple(
                each for each in self._eligible if each != elected.node_id and not self._enough_in_sync()
            )
        if elected.unclean or elected.node_id != state.leader:
            changed = True
            record.leader = elected.node_id
        if self.replicas != state.replicas:
            changed = True
            record.replicas = list(self.replicas)
            if record.leader == LEADER_UNCHANGED and not set(state.replicas) <= set(self.replicas):
                record.leader = state.leader
        if not self.isr and not self.elr_enabled:
            self.isr = tuple(each for each in state.isr if each in self.replicas) or self.replicas[:1]
        if self.isr != state.isr:
            changed = True
            record.isr = list(self.isr)
        if not self.elr_enabled:
            self._eligible = ()
        if self._eligible != state.eligible_leader_replicas:
            changed = True
            record.eligible_leader_replicas = list(self._eligible)
        last_known = self._last_known_leader(elected.node_id)
        if last_known != state.last_known_elr:
            changed = True
            record.last_known_elr = list(last_known)
        if self.removing_replicas != state.removing_replicas:
            changed = True
            record.removing_replicas = list(self.removing_replicas)
        if self.adding_replicas != state.adding_replicas:
            changed = True
            record.adding_replicas = list(self.adding_replicas)
        if self.leader_recovery_state != state.leader_recovery_state:
            changed = True
            record.leader_recovery_state = self.leader_recovery_state
        if self.directories or record.replicas is not None:
            directories = self._directories()
            if directories != state.directories:
                changed = True
                record.directories = list(directories)
        return record if changed else None

    def _complete_reassignment(self) -> bool:
        if not self.removing_replicas and not self.adding_replicas:
            return False
        replicas, isr = self.replicas, self.isr
        if self.removing_replicas:
            replicas = tuple(each for each in replicas if each not in self.removing_replicas)
            isr = tuple(each for each in isr if each not in self.removing_replicas)
        if not replicas or not set(replicas) <= set(isr):
            return False
        self.replicas, self.isr = replicas, isr
        self.removing_replicas = self.adding_replicas = ()
        return True

    def _keep_eligible(self) -> None:
        if not self.elr_enabled:
            return
        if self._enough_in_sync():
            self._eligible = ()
            return
        candidates = dict.fromkeys((*self.state.eligible_leader_replicas, *self.state.isr))
        self._eligible = tuple(
            each
            for each in candidates
            if each in self.replicas and each not in self.isr and each not in self.unclean_shutdown
        )

    def _enough_in_sync(self) -> bool:
        """Whether the leader acknowledges writes, so that whoever is not in sync misses some."""
        # A reassignment in progress lists more replicas than the topic's factor says.
        factor = len(self.replicas) - len(self.removing_replicas)
        return len(self.isr) >= min(self.min_insync_replicas, factor)

    # The election

    def _elect(self) -> Elected:
        leader = self.state.leader
        if self.election is Election.PREFERRED and self._is_clean_choice(self.replicas[0]):
            return Elected(self.replicas[0], False)
        if self._is_clean_choice(leader):
            return Elected(leader, False)
        for replica in self.replicas:
            if self._is_clean_choice(replica):
                return Elected(replica, False)
        last_known = self.state.last_known_elr
        if (
            self.elr_enabled
            and not self.isr
            and not self._eligible
            and len(last_known) == 1
            and last_known[0] in self.replicas
            and self.may_lead(last_known[0])
        ):
            return Elected(last_known[0], True)
        if self.election is Election.UNCLEAN:
            for replica in self.replicas:
                if self.may_lead(replica):
                    return Elected(replica, True)
        return _NOBODY

    def _is_clean_choice(self, node_id: int) -> bool:
        in_line = self.isr or self._eligible
        return node_id in in_line and self.may_lead(node_id)

    def _last_known_leader(self, elected: int) -> tuple[int, ...]:
        state = self.state
        if not self.elr_enabled or elected != NO_LEADER:
            return ()
        if state.last_known_elr:
            return state.last_known_elr
        if self.isr:
            return ()
        if state.leader in self.replicas:
            return (state.leader,)
        # It had no leader, and now loses its last clean replica: that one is the best that is known.
        return () if self._eligible else (*state.isr, *state.eligible_leader_replicas)[:1]

    def _directories(self) -> tuple[bytes, ...]:
        state = self.state
        known = dict(zip(state.replicas, state.directories, strict=False))
        known.update(self.directories)
        return tuple(known[each] if each in known else self.new_directory(each) for each in self.replicas)
