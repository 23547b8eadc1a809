"""What members of simulated groups committed, read, were given and delivered: and whether it fits together.

Each committed offset is a register. Every commit has a number, which travels in its metadata, so a read tells
which commit it saw: one that was refused may never be seen, an acknowledged one is not followed by an older
one, and none comes out of nothing. A commit whose reply was lost may or may not have happened, until somebody
sees it. Deletions and expiry are commits of nothing.

A member that was given a partition ends the rights of its former owner: from then on a commit under an older
generation or epoch must be refused. And whoever begins at a committed offset relies on others having
delivered everything before it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import inf
from typing import Final, Literal, NamedTuple, TypeAlias

from ottla.model.types import TopicPartition
from ottla.testing.ledger import Violation

NOTHING: Final = -1
"""The offset that OffsetFetch shows where nothing is committed."""

Fate: TypeAlias = Literal["unknown", "acked", "refused"]


class Actor(NamedTuple):
    """A process that commits: its name here, and its name as a static member, if it has one."""

    name: str
    instance_id: str | None = None


ADMIN: Final = Actor("admin")

_EVERYTHING: Final = TopicPartition("", -1)
"""Stands for all offsets of a group, where it is deleted."""


@dataclass(slots=True, eq=False)
class Commit:
    number: int
    group: str
    tp: TopicPartition
    offset: int
    actor: Actor
    epoch: int
    """The generation or member epoch it was made under; -1 without one."""
    began_ms: float
    ended_ms: float = inf
    fate: Fate = "unknown"

    @property
    def metadata(self) -> str:
        return f"commit {self.number}"

    def __str__(self) -> str:
        return f"{self.offset} ({self.metadata} of {self.actor.name} in epoch {self.epoch}, {self.fate})"


@dataclass(slots=True, eq=False)
class Tenure:
    """A member was told that a partition is its own."""

    actor: Actor
    epoch: int
    asked_ms: float
    told_ms: float
    base: Commit | None = None
    read_ms: float = inf
    """When it had read the committed offset, and which commit it saw then (None: nothing)."""


@dataclass(slots=True)
class _Register:
    commits: list[Commit] = field(default_factory=list)
    tenures: list[Tenure] = field(default_factory=list)
    delivered: set[int] = field(default_factory=set)


Key: TypeAlias = tuple[str, TopicPartition]


class GroupBooks:
    def __init__(self, report: Counter[str], *, retention_ms: float = inf) -> None:
        self.report = report
        self.retention_ms = retention_ms
        self.deleted_topics: set[str] = set()
        self.told_epochs: dict[str, int] = {}
        """By group, the newest generation or epoch that some member was told and that must be durable."""
        self._registers: dict[Key, _Register] = {}
        self._group_deletions: dict[str, list[Commit]] = {}
        self._number = 0
        self._reborn_ms: dict[str, float] = {}
        self._given: dict[tuple[str, int], dict[TopicPartition, Actor]] = {}

    def _register(self, group: str, tp: TopicPartition) -> _Register:
        return self._registers.setdefault((group, tp), _Register())

    # -- commits --

    def commit(
        self, group: str, tp: TopicPartition, offset: int, actor: Actor, epoch: int, now_ms: float
    ) -> Commit:
        """A commit is about to be sent."""
        self._number += 1
        commit = Commit(self._number, group, tp, offset, actor, epoch, now_ms)
        self._register(group, tp).commits.append(commit)
        return commit

    def deletion(self, group: str, tp: TopicPartition | None, now_ms: float) -> Commit:
        """Of one offset, or of the whole group."""
        if tp is not None:
            return self.commit(group, tp, NOTHING, ADMIN, -1, now_ms)
        self._number += 1
        deletion = Commit(self._number, group, _EVERYTHING, NOTHING, ADMIN, -1, now_ms)
        self._group_deletions.setdefault(group, []).append(deletion)
        return deletion

    def acked(self, commit: Commit, now_ms: float) -> None:
        if commit.fate == "refused":
            raise Violation(f"{commit.group} {commit.tp}: {commit} was refused and acknowledged")
        commit.fate = "acked"
        commit.ended_ms = min(commit.ended_ms, now_ms)
        self.report["commits_acked"] += 1
        if commit.epoch >= 0:
            self._check_rights(commit)

    def refused(self, commit: Commit) -> None:
        if commit.fate == "acked":
            raise Violation(f"{commit.group} {commit.tp}: {commit} was refused after it had been seen")
        commit.fate = "refused"
        self.report["commits_refused"] += 1

    def _check_rights(self, commit: Commit) -> None:
        reborn_ms = self._reborn_ms.get(commit.group, -inf)
        tenures = self._register(commit.group, commit.tp).tenures
        own_ms = max((each.told_ms for each in tenures if each.actor == commit.actor), default=-inf)
        for tenure in tenures:
            if tenure.actor == commit.actor or tenure.told_ms >= commit.began_ms:
                continue
            if tenure.asked_ms <= reborn_ms:
                continue  # in an earlier life of the group, whose epochs mean nothing now
            replaced = (
                tenure.actor.instance_id is not None
                and tenure.actor.instance_id == commit.actor.instance_id
                and tenure.asked_ms > own_ms
            )
            if tenure.epoch > commit.epoch or (replaced and tenure.epoch == commit.epoch):
                raise Violation(
                    f"{commit.group} {commit.tp}: {commit} was accepted although {tenure.actor.name} had "
                    f"been given the partition in epoch {tenure.epoch}"
                )

    # -- reads --

    def read(
        self,
        group: str,
        tp: TopicPartition,
        offset: int,
        metadata: str | None,
        began_ms: float,
        now_ms: float,
    ) -> Commit | None:
        """An OffsetFetch that began then has now shown this; the commit that it saw."""
        if tp.topic in self.deleted_topics:
            return None
        self.report["offsets_read"] += 1
        register = self._register(group, tp)
        commits = register.commits + self._group_deletions.get(group, [])
        settled = [c for c in commits if c.fate == "acked" and c.ended_ms < began_ms]
        floor = max(settled, key=lambda c: c.began_ms, default=None)
        floor_ms = -inf if floor is None else floor.began_ms
        if offset == NOTHING:
            self._read_nothing(commits, group, tp, floor, floor_ms, now_ms)
            return None
        seen = next((c for c in register.commits if c.metadata == metadata), None)
        if seen is None or seen.offset != offset:
            raise Violation(f"{group} {tp}: offset {offset} {metadata!r} is committed, which nobody did")
        if seen.fate == "refused":
            raise Violation(f"{group} {tp}: {seen} is in force")
        if seen.ended_ms < floor_ms:
            raise Violation(f"{group} {tp}: {seen} is in force, after {floor} was acknowledged")
        self._check_overwritten(register, seen, began_ms)
        seen.fate = "acked"
        seen.ended_ms = min(seen.ended_ms, now_ms)
        return seen

    def _read_nothing(
        self,
        commits: list[Commit],
        group: str,
        tp: TopicPartition,
        floor: Commit | None,
        floor_ms: float,
        now_ms: float,
    ) -> None:
        if floor is None or floor.offset == NOTHING:
            return
        for commit in commits:
            if commit.offset == NOTHING and commit.fate != "refused" and commit.ended_ms >= floor_ms:
                if commit.tp is not _EVERYTHING:  # what deleted this offset need not have deleted them all
                    commit.fate = "acked"
                    commit.ended_ms = min(commit.ended_ms, now_ms)
                return
        expires_ms = floor.began_ms + self.retention_ms
        if expires_ms > now_ms:
            raise Violation(f"{group} {tp}: nothing is committed, after {floor} was acknowledged")
        self.report["expirations_seen"] += 1
        expiry = self.commit(group, tp, NOTHING, ADMIN, -1, expires_ms)
        expiry.fate, expiry.ended_ms = "acked", now_ms

    def _check_overwritten(self, register: _Register, seen: Commit, began_ms: float) -> None:
        """The owner of a partition has read its offset: what a former owner sent now comes too late."""
        reborn_ms = self._reborn_ms.get(seen.group, -inf)
        for tenure in register.tenures:
            if (
                tenure.read_ms < began_ms
                and tenure.base is not seen
                and 0 <= seen.epoch < tenure.epoch
                and tenure.actor != seen.actor
                and tenure.asked_ms > reborn_ms
            ):
                raise Violation(
                    f"{seen.group} {seen.tp}: {seen} took effect after {tenure.actor.name} had begun to own "
                    f"the partition in epoch {tenure.epoch}"
                )

    # -- owning --

    def given(
        self,
        group: str,
        tp: TopicPartition,
        actor: Actor,
        epoch: int,
        asked_ms: float,
        now_ms: float,
        *,
        shared_epoch: bool,
    ) -> Tenure:
        """A member was told that the partition is its own. With `shared_epoch` (a generation) all members
        have one epoch, and within it a partition has one owner for good.
        """
        tenure = Tenure(actor, epoch, asked_ms, now_ms)
        self._register(group, tp).tenures.append(tenure)
        if shared_epoch and asked_ms > self._reborn_ms.get(group, -inf):
            owner = self._given.setdefault((group, epoch), {}).setdefault(tp, actor)
            if owner != actor and (actor.instance_id is None or owner.instance_id != actor.instance_id):
                raise Violation(
                    f"{group} {tp}: generation {epoch} gave it to {owner.name} and to {actor.name}"
                )
        return tenure

    def told(self, group: str, epoch: int, asked_ms: float) -> None:
        """Somebody was told a generation or epoch that the coordinator has to remember."""
        if asked_ms > self._reborn_ms.get(group, -inf):
            self.told_epochs[group] = max(epoch, self.told_epochs.get(group, 0))

    def joined(self, group: str, generation: int, newest: int, asked_ms: float) -> None:
        """`newest` is what `told_epochs` said when the request was sent."""
        if generation < newest and asked_ms > self._reborn_ms.get(group, -inf):
            raise Violation(f"{group}: generation {generation} comes after generation {newest}")

    def reborn(self, group: str, now_ms: float) -> None:
        """The group was deleted, or replaced by one of another kind while it was empty: epochs begin anew."""
        self._reborn_ms[group] = now_ms
        self.told_epochs.pop(group, None)
        self._given = {key: given for key, given in self._given.items() if key[0] != group}

    # -- delivering --

    def delivered(self, group: str, tp: TopicPartition, offset: int) -> None:
        seen = self._register(group, tp).delivered
        self.report["records_redelivered" if offset in seen else "records_delivered"] += 1
        seen.add(offset)

    def begins_at(self, group: str, tp: TopicPartition, offset: int) -> None:
        """A member goes on from a committed offset: what lies before it was somebody's."""
        missing = self.missing(group, tp, offset)
        if missing:
            raise Violation(f"{group} {tp}: reading begins at {offset}, nobody was given {missing[:10]}")

    def missing(self, group: str, tp: TopicPartition, end: int) -> list[int]:
        seen = self._register(group, tp).delivered
        return [] if len(seen) >= end else [offset for offset in range(end) if offset not in seen]
