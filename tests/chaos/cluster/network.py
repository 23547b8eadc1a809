"""What lies between the nodes of a cluster: the loopback interface, or a network of which every direction
between two nodes can be cut or made slow.

`Namespaces` gives each node a network namespace with two interfaces: `clients`, where the driver and its
clients reach it, and `peers`, where the nodes reach each other; each kind hangs on a bridge in the driver's
own namespace (`own_world.py`). A cut from A to B is a wrong hardware address in A's table of neighbours:
frames leave and reach nobody, and nobody is told, as when a cable is pulled. The other direction is another
table. A slow node sends through a token bucket. Clients reach every node all the time: what they see of a cut
is what the nodes make of it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from typing import NamedTuple, Protocol

from ottla.cli.unused_ports import unused_ports

CLIENT_PORT, CONTROLLER_PORT, INTERNAL_PORT = 9092, 9093, 9094
_CLIENTS, _PEERS = "10.200.0", "10.201.0"
_DRIVER = 254


class Ports(NamedTuple):
    """Where a node listens: for clients, for the quorum, for the other brokers."""

    client: str
    controller: str
    internal: str


class Network(Protocol):
    @property
    def can_cut(self) -> bool: ...

    def ports(self, node: int) -> Ports: ...

    def inside(self, node: int) -> list[str]:
        """What has to stand before a command that is to run where that node is."""

    def cut(self, source: int, target: int) -> None: ...

    def slow(self, node: int, kbit_per_s: int) -> None: ...

    def heal(self) -> None: ...

    def close(self) -> None: ...


class Loopback:
    """All nodes on the loopback interface, at ports that nobody has; nothing can be cut."""

    can_cut = False

    def __init__(self, nodes: Iterable[int]) -> None:
        nodes = list(nodes)
        free = unused_ports("127.0.0.1", 3 * len(nodes))
        self._ports = {
            node: Ports(*(f"127.0.0.1:{port}" for port in free[3 * at : 3 * at + 3]))
            for at, node in enumerate(nodes)
        }

    def ports(self, node: int) -> Ports:
        return self._ports[node]

    def inside(self, node: int) -> list[str]:
        return []

    def cut(self, source: int, target: int) -> None:
        raise AssertionError("the loopback interface cannot be cut")

    def slow(self, node: int, kbit_per_s: int) -> None:
        raise AssertionError("the loopback interface cannot be slowed")

    def heal(self) -> None:
        pass

    def close(self) -> None:
        pass


class Namespaces:
    can_cut = True

    def __init__(self, nodes: Iterable[int]) -> None:
        self._nodes = list(nodes)
        self._holders: dict[int, subprocess.Popen[bytes]] = {}
        self._cut: set[tuple[int, int]] = set()
        self._slow: set[int] = set()
        _run("ip", "link", "set", "lo", "up")
        for bridge, network in (("clients", _CLIENTS), ("peers", _PEERS)):
            _run("ip", "link", "add", bridge, "type", "bridge")
            _run("ip", "address", "add", f"{network}.{_DRIVER}/24", "dev", bridge)
            _run("ip", "link", "set", bridge, "up")
        for node in self._nodes:
            self._make(node)

    def _make(self, node: int) -> None:
        # A process that does nothing keeps the namespace while its broker is dead.
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], stdin=subprocess.DEVNULL)
        self._holders[node] = holder
        _wait_for_namespace(holder.pid)
        for bridge, network in (("clients", _CLIENTS), ("peers", _PEERS)):
            outer = f"{bridge}{node}"
            pair = ["type", "veth", "peer", "name", bridge, "netns", str(holder.pid)]
            _run("ip", "link", "add", outer, *pair)
            _run("ip", "link", "set", outer, "master", bridge, "up")
            self._in(node, "ip", "link", "set", bridge, "address", _hardware(bridge, node))
            self._in(node, "ip", "address", "add", f"{network}.{node}/24", "dev", bridge)
            self._in(node, "ip", "link", "set", bridge, "up")
        self._in(node, "ip", "link", "set", "lo", "up")
        for other in self._nodes:
            if other != node:
                self._point(node, other, _hardware("peers", other))

    def ports(self, node: int) -> Ports:
        return Ports(
            f"{_CLIENTS}.{node}:{CLIENT_PORT}",
            f"{_PEERS}.{node}:{CONTROLLER_PORT}",
            f"{_PEERS}.{node}:{INTERNAL_PORT}",
        )

    def inside(self, node: int) -> list[str]:
        return ["nsenter", "--net", "--target", str(self._holders[node].pid), "--"]

    def cut(self, source: int, target: int) -> None:
        """Nothing that `source` sends reaches `target` any more."""
        self._cut.add((source, target))
        self._point(source, target, "02:00:00:00:ff:ff")

    def slow(self, node: int, kbit_per_s: int) -> None:
        """Whatever the node sends to the others goes through a bucket of that rate."""
        self._slow.add(node)
        bucket = ["tbf", "rate", f"{kbit_per_s}kbit", "burst", "16kb", "latency", "400ms"]
        self._in(node, "tc", "qdisc", "replace", "dev", "peers", "root", *bucket)

    def heal(self) -> None:
        for source, target in self._cut:
            self._point(source, target, _hardware("peers", target))
        self._cut.clear()
        for node in self._slow:
            self._in(node, "tc", "qdisc", "delete", "dev", "peers", "root")
        self._slow.clear()

    def close(self) -> None:
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
        for bridge in ("clients", "peers"):
            _run("ip", "link", "delete", bridge)

    def _point(self, source: int, target: int, hardware: str) -> None:
        entry = [f"{_PEERS}.{target}", "lladdr", hardware, "dev", "peers", "nud", "permanent"]
        self._in(source, "ip", "neighbour", "replace", *entry)

    def _in(self, node: int, *command: str) -> None:
        _run(*self.inside(node), *command)


def _hardware(bridge: str, node: int) -> str:
    return f"02:00:00:00:{1 if bridge == 'clients' else 2:02x}:{node:02x}"


def _wait_for_namespace(pid: int) -> None:
    """Until the process has its own: `unshare` needs a moment."""
    deadline_s = time.monotonic() + 10
    while _namespace(pid) == _namespace("self"):
        assert time.monotonic() < deadline_s, "no network namespace"
        time.sleep(0.005)


def _namespace(pid: int | str) -> int:
    return os.stat(f"/proc/{pid}/ns/net").st_ino


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
