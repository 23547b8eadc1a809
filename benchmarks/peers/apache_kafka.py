"""Apache Kafka as a peer: its jars from Maven, one node in KRaft mode, with its own defaults.

The jars lie in the git-ignored `.cache/` of the repository, fetched once per version of `pom.xml`. The node
is a broker and the controller of a cluster of one; the JVM's options are those of Kafka's own start script
(1 GB of heap, G1 with pauses of 20 ms). Only what a single node cannot do without is set: the replication
factors of the internal topics. It logs nothing (slf4j-nop), so no figure contains the cost of its logs.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from kafka_socket import KafkaSocket, create_topics
from systems import Running, wait_for_answer

POM = Path(__file__).with_name("pom.xml")
CACHE = POM.parent.parent.parent / ".cache" / "benchmarks"
INSTALL_S = 600
JVM_OPTIONS = [
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15"),
    "-Djava.awt.headless=true",
]
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}


class PeerMissing(Exception):
    """The peer cannot be had on this machine; the message says why."""


def version() -> str:
    found = re.search(r"<kafka.version>(.+?)</kafka.version>", POM.read_text())
    assert found is not None
    return found[1]


def jars() -> Path:
    """The folder with Kafka's jars, fetched when they are not there yet."""
    folder = CACHE / f"kafka-{version()}-{hashlib.sha256(POM.read_bytes()).hexdigest()[:12]}"
    if folder.exists():
        return folder
    for program in ("java", "mvn"):
        if shutil.which(program) is None:
            raise PeerMissing(f"Apache Kafka needs {program}, which is not installed")
    CACHE.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(dir=CACHE, prefix="part-"))
    command = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", "-DincludeScope=runtime"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={staging}"],
        capture_output=True,
        text=True,
        timeout=INSTALL_S,
        check=False,
    )
    if done.returncode:
        shutil.rmtree(staging, ignore_errors=True)
        raise PeerMissing(
            f"Kafka's jars could not be fetched with Maven: {(done.stdout + done.stderr).strip()[-300:]}"
        )
    staging.rename(folder)
    return folder


class RunningKafka(Running):
    def __init__(self, process: subprocess.Popen[str], address: str, folder: Path) -> None:
        super().__init__(process, address)
        self.folder = folder

    def stop(self) -> dict[str, float]:
        self.process.terminate()
        self._wait()
        shutil.rmtree(self.folder, ignore_errors=True)
        return {}


class ApacheKafka:
    """Apache Kafka, one node that is broker and controller. `settings` go on top of its defaults."""

    name = "kafka"

    def __init__(self, folder: Path | None, settings: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.settings = settings or {}
        self._class_path = f"{jars()}/*"

    def start(self, topic: str, partitions: int) -> RunningKafka:
        folder = Path(tempfile.mkdtemp(prefix="kafka-bench-", dir=self.folder))
        port, controller_port = _free_ports(2)
        listeners = f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller_port}"
        own = {
            "listeners": listeners,
            "controller.quorum.voters": f"1@localhost:{controller_port}",
            "log.dirs": str(folder / "data"),
        }
        properties = folder / "server.properties"
        properties.write_text(
            "".join(f"{key}={value}\n" for key, value in (SETTINGS | own | self.settings).items())
        )
        self._format(properties)
        with (folder / "output").open("w") as output:
            process = subprocess.Popen(
                ["java", *JVM_OPTIONS, "-cp", self._class_path, "kafka.Kafka", str(properties)],
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )
        running = RunningKafka(process, f"localhost:{port}", folder)
        try:
            wait_for_answer(running.address)
            with KafkaSocket(running.address) as connection:
                create_topics(connection, [topic], partitions)
        except BaseException:
            process.kill()
            process.wait()
            raise
        return running

    def _format(self, properties: Path) -> None:
        tool = ["java", "-Xmx256m", "-cp", self._class_path, "kafka.tools.StorageTool"]
        cluster_id = "b3R0bGEtYmVuY2htYXJrcw"
        done = subprocess.run(
            [*tool, "format", "-t", cluster_id, "-c", str(properties)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(
                f"Kafka's storage could not be formatted: {(done.stdout + done.stderr)[-500:]}"
            )


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now, all different."""
    probes = [socket.create_server(("localhost", 0)) for _ in range(count)]
    try:
        return [probe.getsockname()[1] for probe in probes]
    finally:
        for probe in probes:
            probe.close()
