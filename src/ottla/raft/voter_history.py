"""Which voters were in force from which offset of the log on.

A VotersRecord counts from the moment it is appended, committed or not (the Raft dissertation, section 4.1),
so a truncation has to give the former set back. Static voters, and those of a bootstrap snapshot, stand at
offset -1.
"""

from __future__ import annotations

from ottla.raft.voters import VoterSet


class VoterHistory:
    __slots__ = ("_sets", "_versions")

    def __init__(self, voters: VoterSet, kraft_version: int = 0) -> None:
        self._sets: list[tuple[int, VoterSet]] = [(-1, voters)]
        self._versions: list[tuple[int, int]] = [(-1, kraft_version)]

    @property
    def voters(self) -> VoterSet:
        return self._sets[-1][1]

    @property
    def voters_offset(self) -> int:
        """Where the set in force was written; -1 when it is in no record of the log."""
        return self._sets[-1][0]

    @property
    def kraft_version(self) -> int:
        return self._versions[-1][1]

    def at(self, offset: int) -> tuple[VoterSet, int]:
        """The voters and the kraft.version that held at the end of what lies below `offset`."""
        voters = [each for at, each in self._sets if at < offset]
        versions = [each for at, each in self._versions if at < offset]
        return voters[-1] if voters else self._sets[0][1], versions[-1] if versions else self._versions[0][1]

    def note_voters(self, offset: int, voters: VoterSet) -> None:
        self._sets.append((offset, voters))

    def note_version(self, offset: int, kraft_version: int) -> None:
        self._versions.append((offset, kraft_version))

    def restart(self, offset: int, voters: VoterSet, kraft_version: int) -> None:
        """A snapshot took the place of everything below `offset`."""
        self._sets = [(offset - 1, voters)]
        self._versions = [(offset - 1, kraft_version)]

    def truncate_from_end(self, end_offset: int) -> bool:
        """Forgets what was written at or after `end_offset`; True when other voters are in force now."""
        before = self.voters
        self._sets = [self._sets[0], *(each for each in self._sets[1:] if each[0] < end_offset)]
        self._versions = [self._versions[0], *(each for each in self._versions[1:] if each[0] < end_offset)]
        return self.voters != before

    def truncate_from_start(self, start_offset: int) -> None:
        """Of what lies below `start_offset`, only the last word is kept."""
        while len(self._sets) > 1 and self._sets[1][0] < start_offset:
            del self._sets[0]
        while len(self._versions) > 1 and self._versions[1][0] < start_offset:
            del self._versions[0]
