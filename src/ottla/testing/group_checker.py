"""Looks into a simulated broker's coordinator after every event, and compares it with its own log.

At every change: no partition is in the hands of two members, epochs do not go back, no decision has failed.
At random moments a new shard is made from the log of `__consumer_offsets`, and has to be what the living one
is. When the broker goes down the last state is kept; what the next one loads has to be the same, unless the
end of the log was lost, which only a power loss may do, and only above the high watermark.

A classic group writes its record when it becomes stable or empty: in between, what is agreed on is in memory
only, by design, and is compared when it is agreed.
"""

from __future__ import annotations

import traceback
from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

from ottla.broker.group_host import GroupHost
from ottla.client.consumer_protocol import read_assignment
from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.record import group_record
from ottla.groups.classic.states import ClassicState
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.record import decode_record
from ottla.groups.shard import Shard
from ottla.log.segment import marker_in
from ottla.testing.cluster import SimBroker
from ottla.testing.group_books import GroupBooks
from ottla.testing.ledger import Violation
from ottla.wire.record_batch import decode_batch, iter_headers

LATER: Final = "agreed on, not written yet"
"""Stands for a classic group between two records."""


@dataclass(frozen=True, slots=True)
class _LastSight:
    """A shard when its broker went down."""

    state: dict[str, Any]
    last_offset: int
    high_watermark: int


def hard_state(shard: Shard) -> dict[str, Any]:
    """What the log determines, by group, the offsets, and those of transactions that have not ended."""
    found: dict[str, Any] = {}
    for group_id, group in shard.state.groups.items():
        if isinstance(group, ConsumerGroup):
            found[group_id] = repr_of(group.hard_state())
        else:
            assert isinstance(group, ClassicGroup)
            if group.state not in (ClassicState.STABLE, ClassicState.EMPTY):
                found[group_id] = LATER
            elif group.members or group.generation:
                value = group_record(group).value
                value.current_state_timestamp = -1
                value.members.sort(key=lambda each: each.member_id)
                found[group_id] = repr(value)
            # A group that nobody has joined yet need not be in the log.
    offsets = shard.offsets.store
    for group_id in offsets.group_ids():
        found[f"offsets of {group_id}"] = {
            (topic, partition): committed
            for topic, partitions in offsets.of_group(group_id).items()
            for partition, committed in partitions.items()
        }
    for (producer_id, *place), entry in shard.offsets.pending.to_dict().items():
        found.setdefault(f"offsets of producer {producer_id}", {})[tuple(place)] = entry
    return found


def repr_of(value: Any) -> Any:
    """A frozen copy that compares by content: dicts lose their order."""
    if isinstance(value, dict):
        return {key: repr_of(each) for key, each in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(map(repr_of, value))
    return value


def state_from_log(host: GroupHost) -> dict[str, Any]:
    """A new shard that has read the host's log up to where the host is."""
    shard = Shard(host.shard.state.env)
    log = host.partition.log
    offset = log.log_start_offset
    while offset <= host.last_offset:
        found = log.read(offset, 1 << 20, upto_offset=host.last_offset + 1)
        if found.slice is None:
            raise Violation(f"{host.partition.tp} cannot be read at {offset}")
        try:
            data = found.slice.read()
        finally:
            found.slice.release()
        for position, header in iter_headers(data, 0, len(data)):
            if header.next_offset <= offset or position + header.size_bytes > len(data):
                continue
            offset = header.next_offset
            if header.is_control:
                marker = marker_in(data, position)
                if marker is not None:
                    shard.end_transaction(header.producer_id, marker.committed)
                continue
            producer_id = header.producer_id if header.is_transactional else -1
            for record in decode_batch(data, position, decompressed_bytes_max=1 << 24):
                if record.key is None:
                    raise Violation(f"{host.partition.tp}: record {record.offset} has no key")
                typed = decode_record(record.key, record.value)
                if typed is not None:
                    shard.replay(typed, record.offset, producer_id)
    return hard_state(shard)


class GroupChecker:
    def __init__(self, broker: SimBroker, books: GroupBooks, report: Counter[str]) -> None:
        self._broker = broker
        self._books = books
        self._report = report
        self._looked: dict[int, tuple[GroupHost, int]] = {}
        self._epochs: dict[str, tuple[str, int]] = {}
        """By group, its type and its newest durable generation or epoch."""
        self._last: dict[int, _LastSight] = {}
        self._unloaded: set[int] = set()

    def look(self, now_ms: float) -> None:
        """After each event: whatever has changed is checked."""
        broker = self._broker
        node = broker.node
        if node is None:
            return
        if node.groups.faults:
            fault = node.groups.faults[0]
            raise Violation(
                "a decision of the coordinator failed:\n" + "".join(traceback.format_exception(fault))
            )
        if not broker.up or not node.serving:
            return
        for index, host in node.groups.hosts.items():
            if host.loading or host.over:
                continue
            if self._looked.get(index) != (host, host.last_offset):
                if index in self._unloaded:
                    self._check_loaded(index, host)
                self._looked[index] = (host, host.last_offset)
                self._check_shard(host, now_ms)

    # -- one shard --

    def _check_shard(self, host: GroupHost, now_ms: float) -> None:
        for group in host.shard.state.groups.values():
            if isinstance(group, ConsumerGroup):
                self._check_owners(group)
                self._check_epoch(group.group_id, "consumer", group.epoch, group.is_empty, now_ms)
            elif isinstance(group, ClassicGroup):
                if group.state in (ClassicState.STABLE, ClassicState.EMPTY):
                    self._check_assignments(group)
                elif self._epochs.get(group.group_id, ("", 0))[0] != "consumer":
                    continue  # its generation is not written yet
                self._check_epoch(group.group_id, "classic", group.generation, group.is_empty, now_ms)
        for group_id in list(self._epochs):
            if group_id not in host.shard.state.groups and self._is_of(host, group_id):
                del self._epochs[group_id]
                self._books.reborn(group_id, now_ms)

    def _is_of(self, host: GroupHost, group_id: str) -> bool:
        node = self._broker.node
        assert node is not None
        return node.groups.partition_of(group_id) == host.partition.tp.partition

    def _check_owners(self, group: ConsumerGroup) -> None:
        owners: dict[tuple[bytes, int], str] = {}
        for member in group.members.values():
            for held in (member.assigned, member.pending_revocation):
                for topic_id, partitions in held.items():
                    for partition in partitions:
                        owner = owners.setdefault((topic_id, partition), member.member_id)
                        if owner != member.member_id or (
                            held is member.pending_revocation
                            and partition in member.assigned.get(topic_id, ())
                        ):
                            raise Violation(
                                f"{group.group_id}: partition {partition} of topic {topic_id.hex()} is in "
                                f"the hands of {owner} and of {member.member_id}"
                            )
            if member.epoch > group.epoch:
                raise Violation(
                    f"{group.group_id}: {member.member_id} has epoch {member.epoch} > {group.epoch}"
                )
        if group.assignment_epoch > group.epoch:
            raise Violation(f"{group.group_id}: target of epoch {group.assignment_epoch} > {group.epoch}")

    def _check_assignments(self, group: ClassicGroup) -> None:
        owners: dict[Any, str] = {}
        for member in group.members.values():
            for tp in read_assignment(bytes(member.assignment)):
                owner = owners.setdefault(tp, member.member_id)
                if owner != member.member_id:
                    raise Violation(
                        f"{group.group_id}: generation {group.generation} gives {tp} to {owner} and to "
                        f"{member.member_id}"
                    )

    def _check_epoch(self, group_id: str, kind: str, epoch: int, is_empty: bool, now_ms: float) -> None:
        known = self._epochs.get(group_id)
        if known is not None:
            before_kind, before = known
            if kind != before_kind:
                # Between two looks lies one batch: members that were there before are there now, or the
                # group was empty and the first member of another kind made it anew.
                if epoch < before or (is_empty and epoch == 0):
                    self._books.reborn(group_id, now_ms)
                    self._report["groups_replaced"] += 1
                else:
                    self._report["migrations"] += 1
            elif epoch < before:
                raise Violation(f"{group_id}: epoch {epoch} comes after {before}")
        self._epochs[group_id] = (kind, epoch)

    # -- against the log --

    def compare_with_log(self) -> None:
        """Every shard that is up: replaying its log gives what has been lived through."""
        node = self._broker.node
        if node is None or not self._broker.up or not node.serving:
            return
        for host in node.groups.hosts.values():
            if not host.loading and not host.over:
                self._compare(host, hard_state(host.shard), state_from_log(host), "the log says")
                self._report["replays_compared"] += 1

    def _compare(self, host: GroupHost, live: dict[str, Any], other: dict[str, Any], what: str) -> None:
        for key in sorted(live.keys() | other.keys()):
            mine, theirs = live.get(key), other.get(key)
            if mine != theirs and LATER not in (mine, theirs):
                raise Violation(f"{host.partition.tp}: {key} is\n  {mine}\n{what}\n  {theirs}")

    # -- across restarts --

    def goes_down(self, *, in_the_middle: bool = False) -> None:
        """The broker is about to stop, or has just died: its memory can still be seen. A classic group whose
        decision was cut off `in_the_middle` may have gone ahead of the log.
        """
        node = self._broker.node
        if node is None:
            return
        for index, host in node.groups.hosts.items():
            if not host.loading and not host.over:
                state = hard_state(host.shard)
                if in_the_middle:
                    for group_id, group in host.shard.state.groups.items():
                        if isinstance(group, ClassicGroup):
                            state[group_id] = LATER
                self._last[index] = _LastSight(state, host.last_offset, host.partition.log.high_watermark)
        self._unloaded = set(self._last)
        self._looked.clear()

    def _check_loaded(self, index: int, host: GroupHost) -> None:
        self._unloaded.discard(index)
        last = self._last.pop(index)
        loaded = hard_state(host.shard)
        self._compare(host, loaded, state_from_log(host), "the log says")
        if host.last_offset == last.last_offset:
            self._compare(host, loaded, last.state, "before the restart it was")
            self._report["restarts_compared"] += 1
        elif host.last_offset < last.last_offset:
            self._report["log_ends_lost"] += 1
            if host.last_offset + 1 < last.high_watermark:
                raise Violation(
                    f"{host.partition.tp} ends at {host.last_offset}, and everything below "
                    f"{last.high_watermark} was committed"
                )
            # Epochs that nobody was told may come again.
            for group_id, (kind, _) in list(self._epochs.items()):
                if self._is_of(host, group_id):
                    self._epochs[group_id] = (kind, self._books.told_epochs.get(group_id, 0))
