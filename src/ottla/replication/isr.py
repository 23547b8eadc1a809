"""The in-sync set: who leaves it, who comes back, and what the controller says to it.

The set is the controller's; a leader can only propose (AlterPartition). One proposal per partition is under
way at a time. Until its answer is known the leader does not know which set holds, so the high watermark waits
for the members of both, while `min.insync.replicas` is measured by the committed one.

A follower leaves when it has not had everything for `replica.lag.time.max.ms`. Only partitions with somebody
behind are looked at (`InSync.lagging`). It comes back when its fetch reaches the high watermark and the
beginning of the current epoch, and its broker is alive and the one that was registered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ottla.ports.clock import Clock

if TYPE_CHECKING:
    from ottla.replication.partition import Partition

RECOVERED: Final = 0
RECOVERING: Final = 1
"""A leader that was elected uncleanly: until it says otherwise, its set is itself alone."""


class IsrProposal:
    """A set that was proposed and not answered, with the state that it was proposed on."""

    __slots__ = ("isr", "leader_epoch", "partition_epoch", "is_expansion")

    def __init__(
        self, isr: tuple[int, ...], leader_epoch: int, partition_epoch: int, *, is_expansion: bool
    ) -> None:
        self.isr = isr
        self.leader_epoch = leader_epoch
        self.partition_epoch = partition_epoch
        self.is_expansion = is_expansion

    def __repr__(self) -> str:
        return f"IsrProposal({self.isr}, epochs {self.leader_epoch}/{self.partition_epoch})"


class InSync:
    """What the partitions of one broker share: the rules, and the doors to the outside."""

    __slots__ = ("clock", "lag_max_ms", "holds_below_min_isr", "may_join", "propose", "lagging")

    def __init__(
        self,
        clock: Clock,
        *,
        lag_max_ms: float,
        may_join: Callable[[int, int], bool],
        propose: Callable[[Partition, IsrProposal], None],
    ) -> None:
        """`may_join` says of a broker's id and epoch whether the controller would take it; `propose` sends a
        proposal, whose answer comes back as `Partition.isr_accepted` or `isr_rejected`.
        """
        self.clock = clock
        self.lag_max_ms = lag_max_ms
        self.holds_below_min_isr = False
        """KIP-966: with eligible leader replicas nothing is committed while the set is too small."""
        self.may_join = may_join
        self.propose = propose
        self.lagging: dict[Partition, None] = {}
        """Partitions of which a follower may be too far behind."""

    def check_lag(self) -> None:
        """Proposes sets without those that are too far behind. To be called every half `lag_max_ms`."""
        now_ms = self.clock.monotonic_ms()
        for partition in tuple(self.lagging):
            if not check_lag(partition, self, now_ms):
                del self.lagging[partition]


def check_lag(partition: Partition, shared: InSync, now_ms: float) -> bool:
    """Whether the partition has to be looked at again."""
    leading = partition.leading
    if leading is None or not partition.is_leader or partition.deleted:
        return False
    end_offset = partition.log.log_end_offset
    behind = False
    late: list[int] = []
    recount = False
    for follower in leading.followers.values():
        if not follower.in_isr and follower.log_end_offset >= partition.log.high_watermark:
            behind = True  # it wants to join, and somebody was against it
            consider_joining(partition, shared, follower.node_id)
        if follower.log_end_offset == end_offset or not (follower.in_isr or follower.keeps_up):
            continue
        behind = True
        if not follower.is_caught_up(end_offset, now_ms, shared.lag_max_ms):
            if follower.node_id in partition.isr:
                late.append(follower.node_id)
            elif follower.keeps_up:
                follower.keeps_up = False
                recount = True
    if recount:
        leading.count()
        partition.advance_high_watermark()
    if late and partition.proposal is None:
        propose(partition, shared, tuple(each for each in partition.isr if each not in late))
    return behind


def consider_joining(partition: Partition, shared: InSync, node_id: int) -> None:
    """A fetch of a follower that is outside the set."""
    leading = partition.leading
    assert leading is not None
    follower = leading.followers[node_id]
    log = partition.log
    if not shared.may_join(node_id, follower.broker_epoch):
        return
    end_offset = follower.log_end_offset
    if (
        partition.proposal is None
        and end_offset >= log.high_watermark
        and end_offset >= leading.epoch_start_offset
    ):
        propose(partition, shared, (*partition.isr, node_id))
    elif not follower.keeps_up and follower.is_caught_up(
        log.log_end_offset, shared.clock.monotonic_ms(), shared.lag_max_ms
    ):
        follower.keeps_up = True
        leading.count()
        shared.lagging[partition] = None


def reconsider(partition: Partition, shared: InSync) -> None:
    """Something that stood in the way of a follower may be gone."""
    leading = partition.leading
    if leading is not None and partition.is_leader:
        for follower in leading.followers.values():
            if not follower.in_isr and follower.log_end_offset >= partition.log.high_watermark:
                consider_joining(partition, shared, follower.node_id)


def propose(partition: Partition, shared: InSync, isr: tuple[int, ...]) -> None:
    proposal = IsrProposal(
        isr, partition.leader_epoch, partition.partition_epoch, is_expansion=len(isr) > len(partition.isr)
    )
    partition.proposal = proposal
    take_sets(partition)
    shared.propose(partition, proposal)


def take_sets(partition: Partition) -> None:
    """Marks who is in the maximal set: the committed one, and the one that may be."""
    leading = partition.leading
    if leading is None:
        return
    maximal = set(partition.isr)
    if partition.proposal is not None:
        maximal.update(partition.proposal.isr)
    for follower in leading.followers.values():
        follower.in_isr = follower.node_id in maximal
        if follower.in_isr:
            follower.keeps_up = False
    leading.count()
