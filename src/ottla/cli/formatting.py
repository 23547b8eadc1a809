"""Formatting a node's directories: giving each a `meta.properties` before the first start.

A broker that stands alone formats itself when it finds its directories empty. Whoever wants to choose the
cluster's id, as Kafka's tools do, formats first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.log.meta_properties import MetaProperties, read_meta_properties, write_meta_properties
from ottla.model.server_config import ServerConfig
from ottla.model.uuids import is_reserved, uuid_from_text, uuid_to_text
from ottla.ports.disk import Disk
from ottla.raft.voters import ReplicaKey, VoterNode, VoterSet


class CannotFormat(Exception):
    """The directories are as they were. The message is one line."""


@dataclass(slots=True)
class FormatOutcome:
    formatted: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)


def random_uuid() -> bytes:
    """A random id that Kafka would hand out: not one of the reserved, and its text begins with no dash."""
    while True:
        # Version and variant bits as in RFC 4122, since Kafka's ids are Java's random UUIDs.
        raw = bytearray(os.urandom(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        uuid = bytes(raw)
        if not is_reserved(uuid):
            return uuid


def random_uuid_text() -> str:
    return uuid_to_text(random_uuid())


def check_cluster_id(text: str) -> None:
    """Kafka's rule for `format -t`: a UUID as 22 characters of URL-safe base64."""
    try:
        uuid_from_text(text)
    except ValueError:
        raise CannotFormat(
            f"the cluster id {text!r} is not 22 characters of URL-safe base64: make one with random-uuid"
        ) from None


def directories(config: ServerConfig) -> list[str]:
    """Every directory that gets a meta.properties: those for logs, and the metadata log's own."""
    return list(dict.fromkeys([*config.log_dirs, config.metadata_log_dir]))


def first_voters(
    config: ServerConfig, *, standalone: bool, initial_controllers: str | None, no_initial_controllers: bool
) -> VoterSet | None:
    """The voters to begin with, where they are to be in the log (KIP-853); None where the file names them, or
    where others will tell.
    """
    from ottla.broker.quorum_format import BadVoters, parse_first_voters
    from ottla.broker.quorum_settings import QuorumSettings

    chosen = standalone or initial_controllers is not None or no_initial_controllers
    if config.voters:
        if (
            initial_controllers is not None
            or no_initial_controllers
            or (standalone and not config.knows_no_other)
        ):
            raise CannotFormat(
                "controller.quorum.voters names the voters: leave it out to keep them in the metadata log"
            )
        return None
    if not config.is_controller:
        if initial_controllers is not None or standalone:
            raise CannotFormat("process.roles says broker only: a broker has no voters to begin with")
        return None
    if not chosen and not config.knows_no_other:
        raise CannotFormat(
            "controller.quorum.voters is not set on this controller: use --standalone, --initial-controllers "
            "or --no-initial-controllers"
        )
    name = config.controller_listener_names[0] if config.controller_listener_names else "CONTROLLER"
    if initial_controllers is not None:
        try:
            voters = parse_first_voters(initial_controllers, name)
        except BadVoters as error:
            raise CannotFormat(f"--initial-controllers: {error}") from None
        if config.node_id not in voters:
            raise CannotFormat(f"--initial-controllers does not name this node, {config.node_id}")
        return voters
    if not standalone:
        return None
    endpoints = QuorumSettings.of(config).endpoints
    return VoterSet([VoterNode(ReplicaKey(config.node_id, random_uuid()), endpoints)])


def format_directories(
    disk: Disk,
    pairs: Mapping[str, str],
    cluster_id: str,
    *,
    ignore_formatted: bool,
    standalone: bool = False,
    initial_controllers: str | None = None,
    no_initial_controllers: bool = False,
) -> FormatOutcome:
    """Formats the directories that a configuration names. Nothing is written when one is in the way."""
    from ottla.broker.quorum_format import write_first_voters

    check_cluster_id(cluster_id)
    config = ServerConfig(pairs)
    voters = first_voters(
        config,
        standalone=standalone,
        initial_controllers=initial_controllers,
        no_initial_controllers=no_initial_controllers,
    )
    outcome = FormatOutcome()
    for path in directories(config):
        found = read_meta_properties(disk, path) if disk.exists(path) else None
        if found is None:
            outcome.formatted.append(path)
            continue
        if not ignore_formatted:
            raise CannotFormat(
                f"Log directory {path} is already formatted. Use --ignore-formatted to ignore this directory "
                "and format the others."
            )
        if found.cluster_id != cluster_id:
            raise CannotFormat(f"{path} belongs to cluster {found.cluster_id}, not to {cluster_id}")
        if found.node_id != config.node_id:
            raise CannotFormat(f"{path} belongs to node {found.node_id}, not to node {config.node_id}")
        outcome.already.append(path)
    for path in outcome.formatted:
        disk.make_dirs(path)
        directory_id = random_uuid()
        if voters is not None and path == config.metadata_log_dir:
            own = voters.get(config.node_id)
            assert own is not None
            directory_id = own.key.directory_id
            # Before the directory counts as formatted: a crash in between is formatted again.
            write_first_voters(disk, path, voters, int(time.time() * 1000))
        write_meta_properties(disk, path, MetaProperties(config.node_id, cluster_id, directory_id))
    return outcome
