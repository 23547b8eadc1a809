"""Several simulated nodes that are one cluster: each with a disk, a clock and a process of its own.

A node's name is its place on the network (`n1`, `n2`, ...), so that ways between nodes, and between nodes and
clients, can be cut. Either every node is controller and broker, or three are controllers and the others
brokers. Clocks are wrong, each by its own amount, and run at slightly different rates.

`SimCluster` starts and ends lives; what happens when is a run's business (`cluster_run.py`).
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Final

from ottla.broker.node import Node
from ottla.log.meta_properties import MetaProperties, encode_meta_properties
from ottla.model.uuids import is_reserved, uuid_to_text
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import SimBroker
from ottla.testing.disk import Survival
from ottla.testing.ledger import Violation
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler

CLIENT_PORT: Final = 9092
CONTROLLER_PORT: Final = 9093
DRIFT_MAX: Final = 0.002
"""Two milliseconds a second: far worse than real clocks, which need hours for that."""
SKEW_MS_MAX: Final = 2_000.0


class SimNode(SimBroker):
    """One of several."""

    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        node_id: int,
        cluster_id: str,
        properties: Mapping[str, str],
    ) -> None:
        rng = scheduler.random
        self._cluster_id = cluster_id
        super().__init__(
            scheduler,
            network,
            address=f"n{node_id}",
            properties=properties,
            clock=VirtualClock(
                scheduler,
                skew_ms=(rng.random() - 0.5) * 2 * SKEW_MS_MAX,
                drift=(rng.random() - 0.5) * 2 * DRIFT_MAX,
            ),
        )
        self.node_id = node_id

    @property
    def name(self) -> str:
        return self.address

    @property
    def is_controller(self) -> bool:
        return self.config.is_controller

    @property
    def is_broker(self) -> bool:
        return self.config.is_broker

    @property
    def is_paused(self) -> bool:
        return self.gate.is_shut

    @property
    def serving(self) -> bool:
        return self.up and self.node is not None and self.node.serving

    def wipe(self) -> None:
        """Empty directories, formatted for the cluster, as an operator puts them in."""
        super().wipe()
        for path in self.config.log_dirs:
            meta = MetaProperties(self.config.node_id, self._cluster_id, new_uuid(self._scheduler.random))
            self.disk.write_file_atomic(f"{path}/meta.properties", encode_meta_properties(meta))
            self.disk.sync_dir(path)


class SimCluster:
    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        *,
        combined: int = 3,
        controllers: int = 0,
        brokers: int = 0,
        properties: Mapping[str, str] | None = None,
    ) -> None:
        """`combined` nodes that are both, `controllers` and `brokers` that are one of it."""
        self.scheduler = scheduler
        self.network = network
        cluster_id = uuid_to_text(new_uuid(scheduler.random))
        voters = ",".join(f"{i}@n{i}:{CONTROLLER_PORT}" for i in range(1, combined + controllers + 1))
        self.nodes: dict[int, SimNode] = {}
        for node_id in range(1, combined + controllers + brokers + 1):
            listeners = []
            if node_id <= combined or node_id > combined + controllers:
                listeners.append(f"PLAINTEXT://n{node_id}:{CLIENT_PORT}")
            roles = ["broker"] if listeners else []
            if node_id <= combined + controllers:
                listeners.append(f"CONTROLLER://n{node_id}:{CONTROLLER_PORT}")
                roles.append("controller")
            self.nodes[node_id] = SimNode(
                scheduler,
                network,
                node_id,
                cluster_id,
                {
                    **(properties or {}),
                    "node.id": str(node_id),
                    "process.roles": ",".join(roles),
                    "listeners": ",".join(listeners),
                    "controller.quorum.voters": voters,
                },
            )
        network.bootstrap = ",".join(f"{each.name}:{CLIENT_PORT}" for each in self.brokers)

    # -- who there is --

    @property
    def brokers(self) -> list[SimNode]:
        return [each for each in self.nodes.values() if each.is_broker]

    @property
    def controllers(self) -> list[SimNode]:
        return [each for each in self.nodes.values() if each.is_controller]

    def running(self) -> Iterator[Node]:
        """The nodes of processes that run, also while they are paused."""
        for each in self.nodes.values():
            if each.up and each.node is not None:
                yield each.node

    def active_controller(self) -> Node | None:
        """The one with the highest epoch, of those that believe they are."""
        active = [each for each in self.running() if each.quorum.is_active]
        return max(active, key=lambda each: each.quorum.epoch, default=None)

    # -- their lives --

    def start(self) -> None:
        for each in self.nodes.values():
            self.start_node(each)

    def start_node(self, node: SimNode) -> None:
        """Starts a process; one that a planned crash ends at once is started again."""
        while not node.start():
            node.next_disk(power_loss=False)
        self.check()

    def restart_node(self, node: SimNode, *, power_loss: bool, bit_flips: bool = True) -> None:
        node.next_disk(power_loss=power_loss, survival=Survival(bit_flips=bit_flips, unseen_flips=False))
        self.start_node(node)

    def check(self) -> None:
        for each in self.nodes.values():
            if each.fatal_errors:
                raise Violation(f"{each.name} gave up: {each.fatal_errors[0]!r}") from each.fatal_errors[0]

    def heal(self) -> None:
        """Every process goes on, every way is whole."""
        self.network.heal()
        self.network.faults.calm()
        for each in self.nodes.values():
            each.disk.cancel_crash()
            if each.is_paused:
                each.go_on()

    def end(self) -> None:
        for each in self.nodes.values():
            each.crash()


def new_uuid(rng: random.Random) -> bytes:
    while is_reserved(found := rng.randbytes(16)):
        pass
    return found


def some_of(rng: random.Random, nodes: list[SimNode]) -> tuple[list[str], list[str]]:
    """Two parts of the nodes, both of them with somebody in it."""
    names = [each.name for each in nodes]
    rng.shuffle(names)
    at = rng.randint(1, len(names) - 1)
    return names[:at], names[at:]
