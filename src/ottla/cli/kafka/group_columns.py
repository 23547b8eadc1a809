"""The tables of `kafka-consumer-groups.sh`, column by column as Kafka 4.2 pads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.client.group_lag import GroupLag, PartitionLag
    from ottla.client.group_views import GroupDescription, GroupListing, MemberDescription
    from ottla.model.types import TopicPartition

MISSING = "-"


def columns(rows: Iterable[Sequence[object]], widths: Sequence[int]) -> list[str]:
    """Left-aligned cells of fixed width with a space between; a width of 0 leaves the last cell as it is."""
    return [" ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]


def _widest(minimum: int, texts: Iterable[str]) -> int:
    return max([minimum, *map(len, texts)])


def _shown(value: object) -> str:
    return MISSING if value is None else str(value)


def title_case(text: str) -> str:
    """`consumer` as Kafka prints a type: Consumer."""
    return text[:1].upper() + text[1:] if text else "Unknown"


def listing(groups: Sequence[GroupListing], *, types: bool, states: bool) -> list[str]:
    header, rows = ["GROUP"], [[group.group_id] for group in groups]
    widths = [_widest(15, (group.group_id for group in groups)) + 10]
    for wanted, name in ((types, "TYPE"), (states, "STATE")):
        if wanted:
            header.append(name)
            widths.append(20)
    for group, row in zip(groups, rows, strict=True):
        row += [title_case(group.type)] if types else []
        row += [group.state or "Unknown"] if states else []
    return columns([header, *rows], widths)


def offsets(item: GroupLag, *, verbose: bool) -> list[str]:
    rows = []
    for row in ordered(item):
        member = row.member
        committed = row.committed
        epoch = None if committed is None or committed.leader_epoch < 0 else committed.leader_epoch
        cells: list[str] = [
            item.group.group_id,
            row.topic_partition.topic,
            str(row.topic_partition.partition),
            *([_shown(epoch)] if verbose else []),
            _shown(committed.offset if committed else None),
            _shown(row.end),
            _shown(row.lag),
            member.member_id if member else MISSING,
            member.host if member else MISSING,
            member.client_id if member else MISSING,
        ]
        rows.append(cells)
    header = ["GROUP", "TOPIC", "PARTITION", *(["LEADER-EPOCH"] if verbose else [])]
    header += ["CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    widths = [
        _widest(15, (row[0] for row in rows)),
        _widest(15, (row[1] for row in rows)),
        10,
        *([15] if verbose else []),
        *(15, 15, 15),
        _widest(15, (row[-3] for row in rows)),
        _widest(15, (row[-2] for row in rows)),
        0,
    ]
    return columns([header, *rows], widths)


def ordered(item: GroupLag) -> list[PartitionLag]:
    """Kafka's order: the member with the most partitions first, what nobody has last."""
    counts = {member.member_id: len(member.assignment) for member in item.group.members}
    order = {
        member.member_id: place
        for place, member in enumerate(sorted(item.group.members, key=lambda m: -counts[m.member_id]))
    }
    last = len(order)
    return sorted(
        item.partitions,
        key=lambda row: (order[row.member.member_id] if row.member else last, row.topic_partition),
    )


def members(group: GroupDescription, *, verbose: bool) -> list[str]:
    static = any(member.instance_id for member in group.members)
    header = ["GROUP", "CONSUMER-ID", *(["GROUP-INSTANCE-ID"] if static else []), "HOST", "CLIENT-ID"]
    header.append("#PARTITIONS")
    rows = [
        [
            group.group_id,
            member.member_id,
            *([member.instance_id or ""] if static else []),
            member.host,
            member.client_id,
            str(len(member.assignment)),
        ]
        for member in group.members
    ]
    widths = [
        _widest(15, [group.group_id] if rows else []),
        _widest(15, (member.member_id for member in group.members)),
        *([_widest(17, (member.instance_id or "" for member in group.members))] if static else []),
        _widest(15, (member.host for member in group.members)),
        _widest(15, (member.client_id for member in group.members)),
        15,
    ]
    if verbose:
        header += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        for member, row in zip(group.members, rows, strict=True):
            row += _assignments(group, member)
        widths += [
            15,
            _widest(20, (row[-3] for row in rows)),
            15,
            _widest(20, (row[-1] for row in rows)),
        ]
    return [line + (" " if not verbose else "") for line in columns([header, *rows], widths)]


def _assignments(group: GroupDescription, member: MemberDescription) -> list[str]:
    target = member.target_assignment
    return [
        _shown(member.epoch),
        partitions(member.assignment),
        _shown(group.assignment_epoch),
        MISSING if target is None else partitions(target),
    ]


def partitions(assigned: Iterable[TopicPartition]) -> str:
    """`clicks:0,1;other:2`."""
    by_topic: dict[str, list[int]] = {}
    for tp in sorted(assigned):
        by_topic.setdefault(tp.topic, []).append(tp.partition)
    texts = (f"{topic}:{','.join(map(str, indexes))}" for topic, indexes in by_topic.items())
    return ";".join(texts) or MISSING


def state(group: GroupDescription, *, verbose: bool) -> list[str]:
    address = group.coordinator
    coordinator = (
        f"{address.host if address else ''}:{address.port if address else -1}  ({group.coordinator_id})"
    )
    header = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
    row = [group.group_id, coordinator, group.assignor or MISSING, group.state]
    widths = [_widest(15, [group.group_id]), _widest(25, [coordinator]), 20, 20]
    if verbose:
        header += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
        row += [_shown(group.group_epoch), _shown(group.assignment_epoch)]
        widths += [15, 25]
    return columns([[*header, "#MEMBERS"], [*row, str(len(group.members))]], [*widths, 0])
