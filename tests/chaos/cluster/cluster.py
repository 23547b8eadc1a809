"""A cluster of three or five nodes as real processes, Ottla or Apache Kafka, behind one interface.

Every node is broker and controller, has a folder of its own (properties, data, what it printed), is formatted
with the cluster's id by the system's own tool, and listens three times: for clients, for the other brokers,
for the quorum (`network.py` says where). Apache Kafka takes the same properties: it proves the harness, and
what it shows under the same faults is what Kafka promises.

`Cluster` also asks the cluster what the faults and the checks need to know: who is the active controller, who
leads a partition and who is in sync.
"""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from chaos.cluster.network import Network
from ottla.model.errors import ErrorCode
from ottla.wire.messages.create_topics import CreatableTopic, CreatableTopicConfig, CreateTopicsRequest
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_quorum import (
    DescribeQuorumRequest,
    DescribeQuorumRequestPartitionData,
    DescribeQuorumRequestTopicData,
)
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from support.raw_client import ConnectionEnded, RawClient
from support.waiting import wait_until

CLUSTER_ID = "b3R0bGEtY2x1c3Rlci0wMQ"
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 90.0
ASK_TIMEOUT_S = 3.0
METADATA_TOPIC = "__cluster_metadata"

SETTINGS = {
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "INTERNAL",
    "listener.security.protocol.map": "CLIENT:PLAINTEXT,INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
    "offsets.topic.replication.factor": "3",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.replication.factor": "3",
    "transaction.state.log.min.isr": "2",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.replication.factor": "3",
    "share.coordinator.state.topic.min.isr": "2",
    "group.initial.rebalance.delay.ms": "200",
}
"""What a cluster needs; the rest is Kafka's defaults."""

Answer = Any


class PartitionState(NamedTuple):
    partition: int
    leader: int
    leader_epoch: int
    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]


class Quorum(NamedTuple):
    leader: int
    epoch: int
    high_watermark: int


class Node:
    """One process of the cluster, and what can be done to it."""

    def __init__(self, node_id: int, folder: Path, system: System, network: Network) -> None:
        self.id = node_id
        self.data_dir = folder / "data"
        self.properties = folder / "server.properties"
        self.log_path = folder / "output"
        self.ports = network.ports(node_id)
        self._system = system
        self._inside = network.inside(node_id)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def format(self) -> None:
        done = subprocess.run(
            self._system.format_command(self.properties), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"formatting node {self.id}: {(done.stdout + done.stderr)[-2000:]}"

    def start(self) -> None:
        """Starts the process and does not wait for anything."""
        assert not self.running
        with self.log_path.open("ab") as out:
            # A group of its own: what is typed at the driver is not meant for it.
            self._process = subprocess.Popen(
                [*self._inside, *self._system.start_command(self.properties)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(STOP_TIMEOUT_S)

    def stop(self) -> int:
        """SIGTERM, which is a controlled shutdown; the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self.wait_for_exit()

    def wait_for_exit(self) -> int:
        assert self._process is not None
        try:
            return self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"node {self.id} did not end within {STOP_TIMEOUT_S} s") from None

    def pause(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def wipe(self) -> None:
        """The disk is new: nothing is left of the node but its id and the cluster's."""
        assert not self.running
        shutil.rmtree(self.data_dir)
        self.format()

    def said(self, tail: int = 2000) -> str:
        return self.log_path.read_text(errors="replace")[-tail:] if self.log_path.exists() else ""


class System:
    """How one system is formatted and started."""

    name = ""

    def format_command(self, properties: Path) -> list[str]:
        raise NotImplementedError

    def start_command(self, properties: Path) -> list[str]:
        raise NotImplementedError

    def complaints(self, node: Node) -> list[str]:
        """Internal errors that the node wrote down."""
        raise NotImplementedError


class Ottla(System):
    name = "ottla"

    def format_command(self, properties: Path) -> list[str]:
        command = [sys.executable, "-m", "ottla.cli.main", "storage", "format"]
        return [*command, "-t", CLUSTER_ID, "-c", str(properties)]

    def start_command(self, properties: Path) -> list[str]:
        return [sys.executable, "-m", "ottla.cli.main", "start", str(properties)]

    def complaints(self, node: Node) -> list[str]:
        log = node.said(tail=50_000_000)
        found, at = [], log.find("Traceback")
        while at != -1 and len(found) < 3:
            found.append(f"node {node.id}: {log[at : at + 3000]}")
            at = log.find("Traceback", at + 3000)
        return found


class ApacheKafka(System):
    name = "kafka"

    def __init__(self, *jvm_options: str) -> None:
        # The jars are the benchmarks' business.
        sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
        from peers.apache_kafka import jars  # type: ignore[import-not-found]

        options = jvm_options or ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        self._java = ["java", *options, "-cp", f"{jars()}/*"]

    def format_command(self, properties: Path) -> list[str]:
        return [*self._java, "kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties)]

    def start_command(self, properties: Path) -> list[str]:
        return [*self._java, "kafka.Kafka", str(properties)]

    def complaints(self, node: Node) -> list[str]:
        return []


SYSTEMS: dict[str, type[System]] = {"ottla": Ottla, "kafka": ApacheKafka}


class Cluster:
    def __init__(
        self,
        system: System,
        folder: Path,
        network: Network,
        nodes: Iterable[int],
        settings: Mapping[str, str] | None = None,
        advertised: Mapping[int, str] | None = None,
    ) -> None:
        """`advertised`: where clients are told to find a node, when it is not where it listens."""
        self.system = system
        self.network = network
        self.nodes: dict[int, Node] = {}
        voters = ",".join(f"{node}@{network.ports(node).controller}" for node in nodes)
        for node_id in nodes:
            own = folder / f"node-{node_id}"
            own.mkdir(parents=True)
            node = self.nodes[node_id] = Node(node_id, own, system, network)
            client, controller, internal = node.ports
            pairs = {
                **SETTINGS,
                "node.id": str(node_id),
                "listeners": f"CLIENT://{client},INTERNAL://{internal},CONTROLLER://{controller}",
                "advertised.listeners": f"CLIENT://{(advertised or {}).get(node_id, client)},"
                f"INTERNAL://{internal}",
                "controller.quorum.voters": voters,
                "log.dirs": str(node.data_dir),
                **(settings or {}),
            }
            node.properties.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))

    @property
    def bootstrap(self) -> str:
        return ",".join(node.ports.client for node in self.nodes.values())

    def start(self) -> None:
        """Formats and starts all, and returns when every broker takes part."""
        with ThreadPoolExecutor() as pool:
            list(pool.map(Node.format, self.nodes.values()))
        for node in self.nodes.values():
            node.start()
        self.wait_for_brokers()

    def stop(self) -> list[int]:
        """SIGTERM for all at once (the last one alone has no quorum to ask); the exit codes."""
        with ThreadPoolExecutor() as pool:
            return list(pool.map(Node.stop, self.nodes.values()))

    def close(self) -> None:
        """Ends every process, whatever state it is in."""
        for node in self.nodes.values():
            node.kill()
        self.network.close()

    # --- what the cluster says ----------------------------------------------------------------------------

    def ask(
        self, request: Any, version: int, node: Node | None = None, timeout_s: float = ASK_TIMEOUT_S
    ) -> Answer:
        """Asks that node, or the first running one that answers; the last failure when none does."""
        asked = [node] if node is not None else [each for each in self.nodes.values() if each.running]
        failed: Exception = OSError("no node runs")
        for each in asked:
            try:
                with connected(each, timeout_s) as client:
                    return client.call(request, version)
            except (OSError, ConnectionEnded) as error:
                failed = error
        raise failed

    def wait_for_brokers(self, count: int | None = None, timeout_s: float = START_TIMEOUT_S) -> None:
        """Until every running node answers and knows of that many brokers that are not fenced."""
        wanted = len(self.nodes) if count is None else count

        def complete() -> bool:
            for node in self.nodes.values():
                if not node.running:
                    assert count is not None, f"node {node.id} ended: {node.said()}"
                    continue
                with suppress(OSError, ConnectionEnded):
                    if len(self.ask(DescribeClusterRequest(), 0, node).brokers) == wanted:
                        continue
                return False
            return True

        try:
            wait_until(complete, f"{wanted} brokers that every node knows", timeout_s=timeout_s, pause_s=0.1)
        except AssertionError as error:
            said = "\n".join(f"node {node.id}: {node.said()}" for node in self.nodes.values())
            raise AssertionError(f"{error}\n{said}") from None

    def quorum(self) -> Quorum | None:
        """Who is the active controller; None when nobody knows now."""
        request = DescribeQuorumRequest(
            topics=[
                DescribeQuorumRequestTopicData(
                    topic_name=METADATA_TOPIC,
                    partitions=[DescribeQuorumRequestPartitionData(partition_index=0)],
                )
            ]
        )
        for node in self.nodes.values():
            if not node.running:
                continue
            with suppress(OSError, ConnectionEnded):
                answer = self.ask(request, 1, node)
                if answer.error_code or not answer.topics:
                    continue
                (found,) = answer.topics[0].partitions
                if not found.error_code and found.leader_id in self.nodes:
                    return Quorum(found.leader_id, found.leader_epoch, found.high_watermark)
        return None

    def partitions(self, topic: str, node: Node | None = None) -> list[PartitionState]:
        """The partitions' states as a node sees them; none when it does not know the topic yet."""
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
        (found,) = self.ask(request, 12, node).topics
        if found.error_code:
            return []
        return [
            PartitionState(
                each.partition_index,
                each.leader_id,
                each.leader_epoch,
                tuple(each.replica_nodes),
                tuple(sorted(each.isr_nodes)),
            )
            for each in sorted(found.partitions, key=lambda each: each.partition_index)
        ]

    def create_topic(self, name: str, partitions: int, replication: int = 3, **configs: str) -> None:
        """Makes a topic (dots in config names are underscores) and waits until all replicas are in sync."""
        pairs = [
            CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()
        ]
        topic = CreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replication, configs=pairs
        )
        (made,) = self.ask(CreateTopicsRequest(topics=[topic], timeout_ms=60_000), 7, timeout_s=90).topics
        assert made.error_code == ErrorCode.NONE, (made.error_code, made.error_message)
        self.wait_in_sync(name, partitions)

    def is_in_sync(self, topic: str, partitions: int) -> bool:
        """Whether every node knows a leader and all replicas in sync for each partition."""
        for node in self.nodes.values():
            try:
                states = self.partitions(topic, node)
            except (OSError, ConnectionEnded):
                return False
            if len(states) != partitions or any(
                state.leader < 0 or len(state.in_sync) != len(state.replicas) for state in states
            ):
                return False
        return True

    def wait_in_sync(self, topic: str, partitions: int, timeout_s: float = START_TIMEOUT_S) -> None:
        try:
            wait_until(
                lambda: self.is_in_sync(topic, partitions),
                f"all replicas of {topic} in sync",
                timeout_s=timeout_s,
                pause_s=0.2,
            )
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.seen(topic)}") from None

    def seen(self, topic: str) -> str:
        seen = []
        for node in self.nodes.values():
            try:
                bad = [
                    f"{state.partition}: leader {state.leader} in sync {state.in_sync}"
                    for state in self.partitions(topic, node)
                    if state.leader < 0 or len(state.in_sync) != len(state.replicas)
                ]
                seen.append(f"node {node.id} sees {bad[:8]}")
            except (OSError, ConnectionEnded) as error:
                seen.append(f"node {node.id} does not answer ({error!r}, running: {node.running})")
        return "; ".join(seen)

    def complaints(self) -> list[str]:
        return [said for node in self.nodes.values() for said in self.system.complaints(node)]


def connected(node: Node, timeout_s: float = ASK_TIMEOUT_S) -> RawClient:
    """A connection to where the node listens for clients."""
    host, port = node.ports.client.rsplit(":", 1)
    connection = socket.create_connection((host, int(port)), timeout=timeout_s)
    return RawClient(0, connection=connection)
