"""The small files beside the metadata log: `quorum-state`, and two notes of this broker's own.

`quorum-state` is Kafka's: JSON with the epoch, its leader and this replica's vote; version 0 with static
voters, version 1 (which knows directory ids) where the voters are in the log.

`ottla-durable-end` says how far the log was known to be durable and committed: damage below it is no torn
tail. `ottla-joining` is there from the first start of a voter on an empty disk until it has caught up with a
leader: until then it does not know what it once promised, should the disk have been another's replacement.
"""

from __future__ import annotations

import base64
import binascii
import errno
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ottla.log.file_names import LOG_SUFFIX
from ottla.ports.disk import Disk
from ottla.raft.election_state import NO_NODE, ElectionState
from ottla.raft.voters import NO_DIRECTORY, ReplicaKey
from ottla.wire.record_batch import CorruptBatch, check_crc

QUORUM_STATE = "quorum-state"
DURABLE_END = "ottla-durable-end"
JOINING = "ottla-joining"


class QuorumStateFile:
    """Implements `raft.election_state.ElectionStore`."""

    def __init__(self, disk: Disk, dir_path: str, static_voters: Callable[[], list[int] | None]) -> None:
        """`static_voters` gives the ids for version 0, or None when the voters are in the log."""
        self._disk = disk
        self._dir = dir_path
        self._static_voters = static_voters

    @property
    def exists(self) -> bool:
        return self._disk.exists(f"{self._dir}/{QUORUM_STATE}")

    def read(self) -> ElectionState | None:
        try:
            data = self._disk.read_file(f"{self._dir}/{QUORUM_STATE}")
            return _decode(json.loads(data))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def write(self, state: ElectionState) -> None:
        voted = state.voted
        fields: dict[str, Any] = {
            "leaderId": state.leader_id,
            "leaderEpoch": state.epoch,
            "votedId": NO_NODE if voted is None else voted.node_id,
        }
        static = self._static_voters()
        if static is None:
            directory_id = NO_DIRECTORY if voted is None else voted.directory_id
            fields["votedDirectoryId"] = base64.urlsafe_b64encode(directory_id).decode().rstrip("=")
            fields["data_version"] = 1
        else:
            fields = {
                "clusterId": "",
                **fields,
                "appliedOffset": 0,
                "currentVoters": [{"voterId": each} for each in static],
                "data_version": 0,
            }
        data = json.dumps(fields, separators=(",", ":")).encode()
        self._disk.make_dirs(self._dir)
        self._disk.write_file_atomic(f"{self._dir}/{QUORUM_STATE}", data)


def _decode(fields: dict[str, Any]) -> ElectionState:
    voted_id = int(fields.get("votedId", NO_NODE))
    directory_id = NO_DIRECTORY
    text = fields.get("votedDirectoryId")
    if isinstance(text, str):
        with suppress(binascii.Error):
            directory_id = base64.urlsafe_b64decode(text + "==")
    voted = None if voted_id < 0 else ReplicaKey(voted_id, directory_id)
    return ElectionState(int(fields["leaderEpoch"]), int(fields.get("leaderId", NO_NODE)), voted)


class JoiningNote:
    def __init__(self, disk: Disk, dir_path: str) -> None:
        self._disk = disk
        self._path = f"{dir_path}/{JOINING}"
        self.is_there = disk.exists(self._path)

    def write(self) -> None:
        self._disk.write_file_atomic(self._path, b"")
        self.is_there = True

    def remove(self) -> None:
        self.is_there = False
        with suppress(FileNotFoundError):
            self._disk.remove(self._path)


def note_durable_end(disk: Disk, dir_path: str, offset: int) -> None:
    """Writes down how far the log is durable and committed, for the check of the next start."""
    disk.write_file_atomic(f"{dir_path}/{DURABLE_END}", b"%d\n" % offset)


def check_durable_part(disk: Disk, dir_path: str, snapshot_end: int) -> None:
    """Refuses a log that is damaged, or cut, below its noted end: replaying the rest of it would forget
    topics, and their data would be set aside. Nothing is touched.
    """
    try:
        noted = int(disk.read_file(f"{dir_path}/{DURABLE_END}"))
    except (FileNotFoundError, ValueError):
        return
    end = 0
    name = ""
    try:
        for name in disk.list_dir(dir_path):
            if name.endswith(LOG_SUFFIX):
                data = disk.read_file(f"{dir_path}/{name}")
                position = 0
                while position < len(data) and end < noted:
                    header = check_crc(data, position, len(data))
                    position += header.size_bytes
                    end = header.next_offset
    except CorruptBatch:
        pass
    if max(end, snapshot_end) < noted:
        raise OSError(
            errno.EIO,
            f"the metadata log is damaged behind offset {end}, but was once whole up to {noted}; nothing "
            f"was changed: restore {dir_path} from a copy, or remove {DURABLE_END} in it to go on with "
            "what is left",
            f"{dir_path}/{name}",
        )
