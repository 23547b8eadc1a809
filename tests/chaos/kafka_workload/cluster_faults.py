"""The workload on a cluster: its nodes behind the proxy, and what happens to them beside what happens to the
clients' connections.

Clients know the proxy's ports only, one for each node, so all that can be done between clients and a broker
can be done here as well. What happens to the nodes and to the network between them is that of
`chaos.cluster.faults`. In the end the replicas have to be equal, byte for byte.
"""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from chaos.cluster import faults as cluster_faults
from chaos.cluster import replicas
from chaos.cluster.cluster import SYSTEMS, Cluster
from chaos.cluster.network import Namespaces
from chaos.kafka_workload import brokers
from chaos.kafka_workload.faults import Faults
from chaos.kafka_workload.proxy import Proxy
from chaos.kafka_workload.shared import PARTITIONS, TOPICS
from support.raw_client import ConnectionEnded

SETTINGS = {
    key: value for key, value in brokers.SETTINGS.items() if not key.endswith((".factor", ".isr"))
} | {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "5000",
}
NODE_FAULTS = {
    **cluster_faults.KILLS,
    **cluster_faults.CUTS,
    "pause_node": 2,
    "restart_node": 2,
    "wipe_node": 1,
}
CLIENT_FAULTS = {
    "cut": 2,
    "delay": 1,
    "stall": 1,
    "lose_reply": 4,
    "keep_back": 3,
    "reconfigure": 2,
    "fence": 3,
}
SYNC_S = 120.0


class ClusterBroker:
    """A cluster in the place of the broker."""

    def __init__(self, system: str, folder: Path, proxy: Proxy, nodes: int) -> None:
        ids = range(1, nodes + 1)
        self.data_dir = folder
        self.cluster = Cluster(
            SYSTEMS[system](),
            folder,
            Namespaces(ids),
            ids,
            SETTINGS,
            advertised={node: f"127.0.0.1:{proxy.ports[node - 1]}" for node in ids},
        )
        for node in ids:
            host, port = self.cluster.nodes[node].ports.client.rsplit(":", 1)
            proxy.targets[node - 1] = (host, int(port))

    @property
    def port(self) -> int:
        return 0

    @property
    def pid(self) -> int:
        return 0

    @property
    def running(self) -> bool:
        return all(node.running for node in self.cluster.nodes.values())

    def start(self) -> None:
        self.cluster.start()

    def kill(self) -> None:
        self.cluster.close()

    def stop(self) -> None:
        self.cluster.stop()

    def complaints(self) -> list[str]:
        return self.cluster.complaints()

    def compared_replicas(self, topics: list[str], partitions: int) -> list[str]:
        """Stops every node and compares their files; what differs."""
        for topic in topics:
            self.cluster.wait_in_sync(topic, partitions, SYNC_S)
        states = {topic: self.cluster.partitions(topic) for topic in topics}
        consumer = Consumer(
            {"bootstrap.servers": self.cluster.bootstrap, "group.id": "unused", "log_level": 2}
        )
        ends: dict[tuple[str, int], int] = {}
        for topic in topics:
            for partition in range(partitions):
                low_high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=30)
                assert low_high is not None, f"no watermark of {topic}-{partition}"
                ends[topic, partition] = low_high[1]
        consumer.close()
        codes = self.cluster.stop()
        problems = [f"the nodes ended with {codes}"] if any(code not in (0, 143) for code in codes) else []
        for topic in topics:
            for state in states[topic]:
                name = f"{topic}-{state.partition}"
                folders = {node: self.cluster.nodes[node].data_dir / name for node in state.replicas}
                found = replicas.compare(folders, ends[topic, state.partition]).problems
                problems += [f"replicas of {name}: {each}" for each in found[:3]]
        return problems


class ClusterFaults(Faults):
    """The faults between clients and brokers, and those of the nodes."""

    broker: ClusterBroker
    weights = NODE_FAULTS | CLIENT_FAULTS

    def __init__(self, broker: ClusterBroker, *args: Any, **options: Any) -> None:
        super().__init__(broker, *args, **options)
        self._nodes = cluster_faults.Faults(
            broker.cluster,
            TOPICS[0],
            PARTITIONS,
            self.random.randrange(1_000_000),
            self.say,
            progress=lambda: sum(
                operation.outcome == "ok" for operation in list(self.shared.history.operations)
            ),
        )

    def heal(self) -> None:
        self.proxy.heal()
        self._nodes.heal()
        self.broker.cluster.wait_for_brokers()

    def _do(self, name: str) -> None:
        if name not in NODE_FAULTS:
            super()._do(name)
            return
        self.shared.history.note(name)
        self._nodes.do(name.removesuffix("_node") if name != "slow_node" else name)
        self.counts[name] += 1
        self._recover()

    def _recover(self) -> None:
        """Half of the time the next fault waits until the cluster is whole again."""
        if self.random.random() < 0.5:
            return
        deadline_s = time.monotonic() + SYNC_S
        cluster = self.broker.cluster
        while not self.stop.is_set():
            with suppress(OSError, ConnectionEnded):
                if all(cluster.is_in_sync(topic, PARTITIONS) for topic in TOPICS):
                    return
            assert time.monotonic() < deadline_s, f"not in sync within {SYNC_S} s: {cluster.seen(TOPICS[0])}"
            self.stop.wait(0.2)
