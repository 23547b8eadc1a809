"""What `format` leaves in a controller's directory where the voters are to be in the log (KIP-853).

The snapshot `00000000000000000000-0000000000.checkpoint` names the first voters. The first leader writes them
into the log; whoever is formatted without them learns them from there.
"""

from __future__ import annotations

from ottla.broker.raft_log import METADATA_PARTITION
from ottla.broker.raft_records import KRAFT_VERSION_MAX
from ottla.broker.raft_snapshots import SnapshotFiles, bootstrap_batches
from ottla.model.uuids import is_reserved, uuid_from_text
from ottla.ports.disk import Disk
from ottla.raft.log_port import OffsetAndEpoch
from ottla.raft.voters import Endpoint, ReplicaKey, VoterNode, VoterSet

BOOTSTRAP = OffsetAndEpoch(0, 0)


class BadVoters(ValueError):
    """The text does not name voters. The message is one line."""


def write_first_voters(disk: Disk, metadata_log_dir: str, voters: VoterSet, now_ms: int) -> None:
    files = SnapshotFiles(disk, f"{metadata_log_dir}/{METADATA_PARTITION}")
    files.write_now(BOOTSTRAP, bootstrap_batches(voters, KRAFT_VERSION_MAX, (), 0, now_ms))


def parse_first_voters(text: str, listener_name: str) -> VoterSet:
    """`1@host:9093:JEXY6aqzQY-32P5TStzaFg,2@...`: id, address, directory id, as Kafka's tool takes them."""
    voters = []
    for each in text.split(","):
        node_id, at, rest = each.strip().partition("@")
        address, _, directory = rest.rpartition(":")
        host, _, port = address.rpartition(":")
        if not at or not host or not node_id.isdecimal() or not port.isdecimal() or not 0 < int(port) < 65536:
            raise BadVoters(f"{each.strip()!r} is not id@host:port:directory-id")
        try:
            directory_id = uuid_from_text(directory)
        except ValueError as error:
            raise BadVoters(f"{each.strip()!r}: {error}") from None
        if is_reserved(directory_id):
            raise BadVoters(f"{each.strip()!r}: the directory id is reserved")
        endpoint = Endpoint(listener_name, host.strip("[]"), int(port))
        voters.append(VoterNode(ReplicaKey(int(node_id), directory_id), (endpoint,)))
    if len({voter.key.node_id for voter in voters}) != len(voters):
        raise BadVoters("a voter is named twice")
    return VoterSet(voters)
