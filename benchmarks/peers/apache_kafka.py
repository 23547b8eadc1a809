"""Apache Kafka as a peer: its jars from Maven, one node in KRaft mode that is broker and controller.

The jars lie in the git-ignored `.cache/` of the repository, fetched once per version of `pom.xml`. What it is
started with is in `kafka_settings.py`. Its storage is formatted when a folder is made for it, so that no
start that is measured contains the formatting.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from children import die_with_the_run
from kafka_socket import KafkaSocket, create_topics
from ottla.cli.unused_ports import unused_ports
from peers.kafka_settings import DEFAULT, KafkaSettings
from systems import RunningNode, wait_for_answer

POM = Path(__file__).with_name("pom.xml")
CACHE = POM.parent.parent.parent / ".cache" / "benchmarks"
INSTALL_S = 600
START_S = 180
OWN = "own.properties"
JVM_OPTIONS = DEFAULT.jvm_options
SETTINGS = DEFAULT.properties


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


class ApacheKafka:
    """Apache Kafka, one node. `settings` go on top of those that it is `tuned` with."""

    def __init__(
        self,
        folder: Path | None,
        settings: dict[str, str] | None = None,
        *,
        name: str = "kafka",
        tuned: KafkaSettings = DEFAULT,
    ) -> None:
        self.name = name
        self.folder = folder
        self.settings = settings or {}
        self._tuned = tuned
        self._class_path = f"{jars()}/*"

    def new_folder(self) -> Path:
        """With its ports, which stay the same, and its storage formatted."""
        folder = Path(tempfile.mkdtemp(prefix="kafka-bench-", dir=self.folder))
        port, controller_port = unused_ports("127.0.0.1", 2)
        own = {
            "listeners": f"PLAINTEXT://localhost:{port},CONTROLLER://localhost:{controller_port}",
            "controller.quorum.voters": f"1@localhost:{controller_port}",
            "log.dirs": str(folder / "data"),
        }
        (folder / OWN).write_text("".join(f"{key}={value}\n" for key, value in own.items()))
        self.format(self._properties(folder))
        return folder

    def _properties(self, folder: Path) -> Path:
        """Written anew for each start, since another start on the same data may have other settings."""
        properties = folder / "server.properties"
        lines = (self._tuned.properties | self.settings).items()
        own = (folder / OWN).read_text()
        properties.write_text(own + "".join(f"{key}={value}\n" for key, value in lines))
        return properties

    def launch(self, folder: Path, *, keep: bool = True) -> RunningNode:
        """Starts a node on the data in `folder`, new or not, and does not wait for it."""
        properties = self._properties(folder)
        address = re.search(r"PLAINTEXT://(localhost:\d+)", properties.read_text())
        assert address is not None
        with (folder / "output").open("w") as output:
            process = subprocess.Popen(
                ["java", *self._tuned.jvm_options, "-cp", self._class_path, "kafka.Kafka", str(properties)],
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                preexec_fn=die_with_the_run,
            )
        return RunningNode(process, address[1], folder, keep=keep)

    def start(self, topic: str, partitions: int) -> RunningNode:
        running = self.launch(self.new_folder(), keep=False)
        try:
            wait_for_answer(running.address, START_S)
            with KafkaSocket(running.address) as connection:
                create_topics(connection, [topic], partitions)
        except BaseException:
            running.kill()
            raise
        return running

    def format(self, properties: Path) -> None:
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
