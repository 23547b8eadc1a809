"""`ottla start --brokers N`: prepares the directories of a cluster on one machine, then supervises it.

The decisions are in `cluster_layout.py`, the processes in `supervisor.py`; here are the disk, the free ports,
and the question whether everybody is there.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import click

from ottla.cli.cluster_layout import (
    COMMENT,
    DATA_DEFAULT,
    PORT_DEFAULT,
    BadLayout,
    PlannedNode,
    Ports,
    count_controllers,
    earlier_layout,
    plan_nodes,
    properties_path,
    refuse_own_keys,
    row_of_ports,
)
from ottla.cli.unused_ports import unused_ports

if TYPE_CHECKING:
    from ottla.ports.disk import DirLock

PROBE_INTERVAL_S: Final = 0.2
LOCK_FILE: Final = ".lock"
"""As Kafka calls it in each of its log directories."""


def start_cluster(
    brokers: int,
    *,
    base: Mapping[str, str],
    data: Sequence[str],
    host: str,
    port: int | None,
    controllers: int | None,
    settings: Mapping[str, str],
    restart: bool,
) -> int:
    """Runs the cluster until a signal; the exit code."""
    from ottla.cli.supervisor import Supervisor

    began_s = time.monotonic()
    if len(data) > 1:
        raise click.UsageError("--brokers keeps all nodes in one directory: give one --data")
    root = os.path.abspath(data[0] if data else DATA_DEFAULT)
    try:
        refuse_own_keys(list(settings))
        nodes = planned(root, brokers, host, port, controllers, {**base, **settings})
    except BadLayout as error:
        raise click.ClickException(str(error)) from None
    lock = locked(root)
    try:
        cluster_id = format_nodes(root, nodes)

        def ready() -> None:
            from ottla import __version__

            addresses = ",".join(node.address for node in nodes)
            plural = "" if brokers == 1 else "s"
            print(
                f"Ottla {__version__} cluster ready in {time.monotonic() - began_s:.2f} s: {addresses} "
                f"({brokers} broker{plural}, cluster {cluster_id}, data in {root})",
                flush=True,
            )

        supervisor = Supervisor(
            {node.name: child_command(node) for node in nodes},
            report=lambda line: print(line, file=sys.stderr, flush=True),
            restart=restart,
        )
        probe = Probe(nodes, cluster_id, supervisor.call_soon, lambda: supervisor.became_ready(ready))
        probe.start()
        try:
            return supervisor.run()
        finally:
            probe.cancel()
    finally:
        lock.release()


def locked(root: str) -> DirLock:
    """The directory for this process alone: a second one would write its properties over the first one's."""
    from ottla.net.disk import OsDisk

    try:
        os.makedirs(root, exist_ok=True)
        lock = OsDisk().lock(os.path.join(root, LOCK_FILE))
    except OSError as error:
        raise click.ClickException(f"cannot use {root}: {error.strerror}; choose another --data") from None
    if lock is None:
        raise click.ClickException(
            f"{root} is in use by another ottla start --brokers: stop that one, or choose another --data"
        )
    return lock


def child_command(node: PlannedNode) -> list[str]:
    return [sys.executable, "-m", "ottla.cli.main", "start", node.properties_path, "--supervised"]


def planned(
    root: str,
    brokers: int,
    host: str,
    port: int | None,
    controllers: int | None,
    settings: Mapping[str, str],
) -> list[PlannedNode]:
    from ottla.cli.server_properties import load_properties

    found: dict[int, Mapping[str, str]] = {}
    while os.path.exists(path := properties_path(root, len(found) + 1)):
        found[len(found) + 1] = load_properties(path)
    earlier = earlier_layout(found)
    voters = count_controllers(brokers, controllers, earlier)
    if port == 0:
        ports = free_ports(host, brokers, voters)
    elif port is None and (earlier.brokers, len(earlier.ports.controllers)) == (brokers, voters):
        ports = earlier.ports
    else:
        ports = row_of_ports(port or PORT_DEFAULT, brokers, voters)
    return plan_nodes(root, host, ports, settings)


def free_ports(host: str, brokers: int, controllers: int) -> Ports:
    """Ports that nobody has now, all different."""
    try:
        numbers = unused_ports(host, brokers + controllers)
    except OSError as error:
        raise BadLayout(f"cannot listen on {host}: {error.strerror}; choose another --host") from None
    return Ports(tuple(numbers[:brokers]), tuple(numbers[brokers:]))


def format_nodes(root: str, nodes: Sequence[PlannedNode]) -> str:
    """Writes the nodes' properties and formats what is not formatted yet, for one cluster: its id."""
    from ottla.cli.formatting import CannotFormat, format_directories, random_uuid_text
    from ottla.log.meta_properties import BadMetaProperties, read_meta_properties
    from ottla.model.config_key import ConfigError
    from ottla.model.properties import format_properties
    from ottla.net.disk import OsDisk

    disk = OsDisk()
    try:
        metas = [
            read_meta_properties(disk, node.properties["log.dirs"])
            for node in nodes
            if disk.exists(node.properties["log.dirs"])
        ]
        ids = [meta.cluster_id for meta in metas if meta is not None and meta.cluster_id is not None]
        cluster_id = ids[0] if ids else random_uuid_text()
        os.makedirs(root, exist_ok=True)
        for node in nodes:
            format_directories(disk, node.properties, cluster_id, ignore_formatted=True)
            text = format_properties(node.properties, COMMENT.format(path=node.properties_path))
            disk.write_file_atomic(node.properties_path, text.encode())
    except (CannotFormat, BadMetaProperties, ConfigError) as error:
        raise click.ClickException(str(error)) from None
    return cluster_id


class Probe(threading.Thread):
    """Asks the brokers whether they answer and know of each other, until they do; then says so once."""

    def __init__(
        self,
        nodes: Sequence[PlannedNode],
        cluster_id: str,
        call_soon: Callable[[Callable[[], None]], None],
        everybody_is_there: Callable[[], None],
    ) -> None:
        super().__init__(name="cluster-probe", daemon=True)
        self._nodes = nodes
        self._cluster_id = cluster_id
        self._call_soon = call_soon
        self._everybody_is_there = everybody_is_there
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()

    def run(self) -> None:
        from ottla.cli.session import only_failures_logged

        only_failures_logged()
        wanted = {node.node_id for node in self._nodes}
        for node in self._nodes:
            while not wanted <= known_brokers(node.address, self._cluster_id):
                if self._cancelled.wait(PROBE_INTERVAL_S):
                    return
        self._call_soon(self._everybody_is_there)


def known_brokers(address: str, cluster_id: str) -> set[int]:
    """The brokers that one of them tells its clients of: those that are registered and not fenced. None when
    another cluster answers there, on a port that one of these wanted.
    """
    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError

    try:
        with Client(
            address, client_id="ottla-start", connect_timeout_ms=2_000, request_timeout_ms=5_000
        ) as client:
            described = client.run(client.admin.describe_cluster())
            if described.cluster_id != cluster_id:
                return set()
            return {broker.node_id for broker in described.brokers}
    except OttlaError:
        return set()
