"""What `ottla start --brokers N` runs: the nodes of a cluster on one machine, each with its properties.

Nodes have the ids 1 to N. The first few are controllers, too (an odd number: the quorum's voters), the others
are brokers only. Clients' ports come in a row, the controllers' ports after them. Each node's data lies in
`DIR/broker-ID`, and its properties in `DIR/broker-ID.properties`, with which it can be started alone. What
the files of an earlier start say is kept where it cannot change without losing something: the voters, and
with `--port` left out the ports.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

CONTROLLERS_DEFAULT: Final = 3
REPLICATION_FACTOR_MAX: Final = 3
PORT_DEFAULT: Final = 9092
DATA_DEFAULT: Final = "/tmp/ottla-cluster"
WILDCARDS: Final = ("", "0.0.0.0", "::")

OWN_KEYS: Final = frozenset(
    {
        *("node.id", "broker.id", "process.roles", "log.dir", "log.dirs", "metadata.log.dir"),
        *("listeners", "advertised.listeners", "controller.listener.names"),
        *("controller.quorum.voters", "controller.quorum.bootstrap.servers"),
    }
)
"""What each node has of its own, or what keeps them together: not to be set for all."""

COMMENT: Final = """ Written by `ottla start --brokers`, anew at every start: give settings there with --set.
 This node alone: ottla start {path}"""


class BadLayout(Exception):
    """Such a cluster cannot be. The message is one line that says what to do."""


class Ports(NamedTuple):
    clients: tuple[int, ...]
    controllers: tuple[int, ...]


class PlannedNode(NamedTuple):
    node_id: int
    name: str
    host: str
    port: int
    """Where clients connect."""
    properties_path: str
    properties: Mapping[str, str]

    @property
    def address(self) -> str:
        host = "127.0.0.1" if self.host in WILDCARDS else self.host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


class Earlier(NamedTuple):
    """What the files in the data directory say of the cluster that was started there before."""

    brokers: int = 0
    voters: int = 0
    ports: Ports = Ports((), ())


def node_name(node_id: int) -> str:
    return f"broker-{node_id}"


def properties_path(root: str, node_id: int) -> str:
    return f"{root}/{node_name(node_id)}.properties"


def earlier_layout(found: Mapping[int, Mapping[str, str]]) -> Earlier:
    """From the properties of the nodes that are there, by node id."""
    if not found:
        return Earlier()
    voters = 0
    clients: list[int] = []
    controllers: list[int] = []
    for node_id in sorted(found):
        pairs = found[node_id]
        voters = max(voters, len([v for v in pairs.get("controller.quorum.voters", "").split(",") if v]))
        for listener in pairs.get("listeners", "").split(","):
            name, _, address = listener.partition("://")
            port = address.rpartition(":")[2]
            if port.isdecimal():
                (controllers if name == "CONTROLLER" else clients).append(int(port))
    return Earlier(len(found), voters, Ports(tuple(clients), tuple(controllers)))


def count_controllers(brokers: int, asked: int | None, earlier: Earlier) -> int:
    """How many of the nodes vote: an odd number, and for good."""
    if earlier.brokers > brokers:
        raise BadLayout(
            f"there are {earlier.brokers} brokers in the data directory, and their partitions with them: "
            f"start with --brokers {earlier.brokers} or more, or choose another directory with --data"
        )
    if earlier.voters:
        if asked is not None and asked != earlier.voters:
            raise BadLayout(
                f"the cluster in the data directory has {earlier.voters} controllers, and a new list of "
                "voters could lose its metadata: leave out --controllers, or choose another --data"
            )
        return earlier.voters
    if asked is None:
        return CONTROLLERS_DEFAULT if brokers >= CONTROLLERS_DEFAULT else 1
    if asked > brokers:
        raise BadLayout(f"--controllers {asked} is more than the --brokers {brokers}")
    if asked % 2 == 0:
        raise BadLayout(f"--controllers {asked}: an even number survives no more than {asked - 1}")
    return asked


def row_of_ports(first: int, brokers: int, controllers: int) -> Ports:
    last = first + brokers + controllers - 1
    if last > 65_535:
        raise BadLayout(f"--port {first}: the ports would go up to {last}, and 65535 is the last there is")
    return Ports(tuple(range(first, first + brokers)), tuple(range(first + brokers, last + 1)))


def replication_defaults(brokers: int) -> dict[str, str]:
    """As many replicas as make sense: one broker may fail where there are three."""
    factor = str(min(REPLICATION_FACTOR_MAX, brokers))
    min_isr = "2" if brokers >= REPLICATION_FACTOR_MAX else "1"
    return {
        "default.replication.factor": factor,
        "min.insync.replicas": min_isr,
        "offsets.topic.replication.factor": factor,
        "transaction.state.log.replication.factor": factor,
        "transaction.state.log.min.isr": min_isr,
    }


def plan_nodes(root: str, host: str, ports: Ports, settings: Mapping[str, str]) -> list[PlannedNode]:
    """The nodes with their properties; `settings` are for all of them and win over the defaults."""
    brokers = len(ports.clients)
    # A quorum's members find each other by these addresses: one that means every interface is none.
    controller_host = _in_url("127.0.0.1" if host in WILDCARDS else host)
    voters = ",".join(f"{i}@{controller_host}:{port}" for i, port in enumerate(ports.controllers, 1))
    nodes = []
    for node_id, port in enumerate(ports.clients, 1):
        listeners = [f"PLAINTEXT://{_in_url(host)}:{port}"]
        roles = "broker"
        if node_id <= len(ports.controllers):
            roles = "broker,controller"
            listeners.append(f"CONTROLLER://{controller_host}:{ports.controllers[node_id - 1]}")
        properties = {
            "node.id": str(node_id),
            "process.roles": roles,
            "listeners": ",".join(listeners),
            "controller.listener.names": "CONTROLLER",
            "controller.quorum.voters": voters,
            "log.dirs": f"{root}/{node_name(node_id)}",
            **replication_defaults(brokers),
            **{key: value for key, value in settings.items() if key not in OWN_KEYS},
        }
        nodes.append(
            PlannedNode(node_id, node_name(node_id), host, port, properties_path(root, node_id), properties)
        )
    return nodes


def refuse_own_keys(settings: Sequence[str]) -> None:
    """For `--set`: what would be the same for all nodes there, and has to differ."""
    for key in settings:
        if key in OWN_KEYS:
            raise BadLayout(
                f"--set {key} would be the same for every broker: --brokers chooses it for each (see "
                "--port, --host, --data and --controllers)"
            )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
