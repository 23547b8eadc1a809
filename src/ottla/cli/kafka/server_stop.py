"""`kafka-server-stop.sh`: ask the brokers of this machine that `kafka-server-start.sh` runs to stop.

They are found by their command line, as Kafka's script finds its own; `--node-id` and `--process-role` choose
among them by their properties file.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

from ottla.cli.kafka.arguments import Arguments
from ottla.model.properties import PropertiesError, decode_properties

MARK = "-m ottla.cli.kafka server-start "


class RunningServer(NamedTuple):
    pid: int
    arguments: list[str]


def run(args: Sequence[str]) -> int:
    parser = Arguments("kafka-server-stop.sh", "Stop the brokers that run on this machine.")
    parser.add_argument("--process-role", choices=["broker", "controller"], help="only nodes with this role")
    parser.add_argument("--node-id", type=int, help="only the node with this id")
    options = parser.parse_args(args)
    listing = subprocess.run(
        ["ps", "-ww", "ax", "-o", "pid=,args="], capture_output=True, text=True, check=True
    )
    stopped = 0
    for server in running_servers(listing.stdout):
        if not chosen(server, options.process_role, options.node_id):
            continue
        number = getattr(signal, "SIG" + os.environ.get("SIGNAL", "TERM"), signal.SIGTERM)
        os.kill(server.pid, number)
        stopped += 1
    if not stopped:
        print("No kafka server to stop", file=sys.stderr)
        return 1
    return 0


def running_servers(listing: str) -> list[RunningServer]:
    """The brokers in the output of `ps`: lines of a process id and its command line."""
    found = []
    for line in listing.splitlines():
        pid, _, command = line.strip().partition(" ")
        if pid.isdecimal() and MARK in command:
            found.append(RunningServer(int(pid), command.partition(MARK)[2].split()))
    return found


def chosen(server: RunningServer, role: str | None, node_id: int | None) -> bool:
    if role is None and node_id is None:
        return True
    properties = _properties(server)
    if node_id is not None and properties.get("node.id", properties.get("broker.id")) != str(node_id):
        return False
    roles = {name.strip() for name in properties.get("process.roles", "broker,controller").split(",")}
    return role is None or role in roles


def _properties(server: RunningServer) -> dict[str, str]:
    """The server's file as it is now, with the overrides of its command line."""
    properties: dict[str, str] = {}
    path = server.arguments[0] if server.arguments else ""
    try:
        # A relative path was relative to where that process was started.
        with open(os.path.join(os.readlink(f"/proc/{server.pid}/cwd"), path), "rb") as file:
            properties = decode_properties(file.read())
    except (OSError, PropertiesError):
        pass
    arguments = server.arguments[1:]
    for index, argument in enumerate(arguments):
        value = argument.removeprefix("--override=") if argument.startswith("--override=") else None
        if argument == "--override" and index + 1 < len(arguments):
            value = arguments[index + 1]
        if value is not None:
            name, _, text = value.partition("=")
            properties[name] = text
    return properties
