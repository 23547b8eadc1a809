"""Steps 2 to 5 and 8 of Kafka's quickstart (KRaft), with the commands as they are written there.

Only the port and the directory differ, in the properties file and in `localhost:9092`, because tests run side
by side.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.cli.unused_ports import unused_ports
from support.tools import REPOSITORY
from support.waiting import wait_until

TIMEOUT_S = 60

READ_EVENTS = (
    "bin/kafka-console-consumer.sh --topic quickstart-events --from-beginning "
    "--bootstrap-server localhost:9092"
)


class Quickstart:
    """A directory that looks like Kafka's after unpacking: `bin/` and `config/`."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port, controller_port = unused_ports("127.0.0.1", 2)
        self.data = home / "kraft-combined-logs"
        (home / "bin").symlink_to(REPOSITORY / "bin")
        (home / "config" / "kraft").mkdir(parents=True)
        text = (REPOSITORY / "config" / "kraft" / "server.properties").read_text()
        for old, new in (
            ("9092", str(self.port)),
            ("9093", str(controller_port)),
            ("/tmp/kraft-combined-logs", str(self.data)),
        ):
            assert old in text
            text = text.replace(old, new)
        self.config = home / "config" / "kraft" / "server.properties"
        self.config.write_text(text)
        self.environment = {**os.environ, "OTTLA_PYTHON": sys.executable, "LOG_DIR": str(home / "logs")}
        self.server: subprocess.Popen[bytes] | None = None
        self.output = home / "server.out"

    def written(self, line: str) -> str:
        return line.replace("localhost:9092", f"localhost:{self.port}")

    def sh(self, line: str, *, stdin: str = "", code: int = 0) -> str:
        """Runs a line of the quickstart in a shell; what it printed."""
        done = subprocess.run(
            ["sh", "-c", self.written(line)],
            cwd=self.home,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, (line, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done.stdout

    def spawn(self, line: str, **streams: object) -> subprocess.Popen[bytes]:
        """Runs a line without waiting for it; Ctrl-C reaches the program itself."""
        return subprocess.Popen(
            ["sh", "-c", f"exec {self.written(line)}"],
            cwd=self.home,
            env=self.environment,
            **streams,  # type: ignore[call-overload]
        )

    def start_server(self) -> None:
        with self.output.open("wb") as out:
            self.server = self.spawn(
                "bin/kafka-server-start.sh config/kraft/server.properties", stdout=out, stderr=out
            )
        self.wait_for_server(self.output)

    def wait_for_server(self, output: Path) -> None:
        def ready() -> bool:
            text = output.read_text() if output.exists() else ""
            assert self.server is None or self.server.poll() is None, text
            return f"PLAINTEXT://localhost:{self.port}" in text and "ready" in text

        wait_until(ready, "the broker's ready line", timeout_s=30)

    def interrupt_server(self) -> int:
        assert self.server is not None
        self.server.send_signal(signal.SIGINT)
        return self.server.wait(TIMEOUT_S)


@pytest.fixture
def quickstart(tmp_path: Path) -> Iterator[Quickstart]:
    made = Quickstart(tmp_path)
    yield made
    if made.server is not None and made.server.poll() is None:
        made.server.kill()
        made.server.wait()


def test_the_quickstart_runs_as_it_is_written(quickstart: Quickstart) -> None:
    # Step 2: a cluster id, the directory, the server.
    formatted = quickstart.sh(
        'KAFKA_CLUSTER_ID="$(bin/kafka-storage.sh random-uuid)"\n'
        "bin/kafka-storage.sh format -t $KAFKA_CLUSTER_ID -c config/kraft/server.properties\n"
        "echo $KAFKA_CLUSTER_ID"
    )
    first, cluster_id = formatted.splitlines()
    assert re.fullmatch(
        rf"Formatting metadata directory {quickstart.data} with metadata\.version \S+\.", first
    )
    assert f"cluster.id={cluster_id}" in (quickstart.data / "meta.properties").read_text()
    quickstart.start_server()
    assert cluster_id in quickstart.output.read_text()

    # Step 3: a topic.
    created = quickstart.sh(
        "bin/kafka-topics.sh --create --topic quickstart-events --bootstrap-server localhost:9092"
    )
    assert created == "Created topic quickstart-events.\n"
    described = quickstart.sh(
        "bin/kafka-topics.sh --describe --topic quickstart-events --bootstrap-server localhost:9092"
    )
    head, partition = described.splitlines()
    assert re.fullmatch(
        r"Topic: quickstart-events\tTopicId: [\w-]{22}\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: .*",
        head,
    )
    assert partition.startswith("\tTopic: quickstart-events\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1")

    # Step 4: events, typed one after the other; Ctrl-C stops the producer.
    producer = quickstart.spawn(
        "bin/kafka-console-producer.sh --topic quickstart-events --bootstrap-server localhost:9092",
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # Step 5: the consumer shows them while they come.
    consumer = quickstart.spawn(
        READ_EVENTS,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert producer.stdin is not None and consumer.stdout is not None
        for line in (b"This is my first event\n", b"This is my second event\n"):
            producer.stdin.write(line)
            producer.stdin.flush()
            assert consumer.stdout.readline() == line
        producer.send_signal(signal.SIGINT)
        assert producer.wait(TIMEOUT_S) == 130
        consumer.send_signal(signal.SIGINT)
        _, error = consumer.communicate(timeout=TIMEOUT_S)
        assert (consumer.returncode, error) == (130, b"Processed a total of 2 messages\n")
    finally:
        for process in (producer, consumer):
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    stream.close()

    # Events stay: read by as many as like, as often as they like.
    for _ in range(2):
        assert (
            quickstart.sh(f"{READ_EVENTS} --max-messages 2")
            == "This is my first event\nThis is my second event\n"
        )

    # Step 8: Ctrl-C stops the broker, and the data is removed.
    assert quickstart.interrupt_server() == 0
    quickstart.sh(f"rm -rf {quickstart.data}")
    assert not quickstart.data.exists()


def test_a_second_format_is_refused_and_a_restart_keeps_the_events(quickstart: Quickstart) -> None:
    cluster_id = quickstart.sh("bin/kafka-storage.sh random-uuid").strip()
    quickstart.sh(f"bin/kafka-storage.sh format -t {cluster_id} -c config/kraft/server.properties")
    quickstart.sh(f"bin/kafka-storage.sh format -t {cluster_id} -c config/kraft/server.properties", code=1)
    ignored = quickstart.sh(
        f"bin/kafka-storage.sh format -g -t {cluster_id} -c config/kraft/server.properties"
    )
    assert ignored == "All of the log directories are already formatted.\n"
    assert f"Found metadata: {{cluster.id={cluster_id}, directory.id=" in quickstart.sh(
        "bin/kafka-storage.sh info -c config/kraft/server.properties"
    )

    server = "--bootstrap-server localhost:9092"
    quickstart.start_server()
    quickstart.sh(f"bin/kafka-console-producer.sh --topic kept {server}", stdin="one\ntwo\n")
    assert quickstart.interrupt_server() == 0
    quickstart.start_server()
    read = quickstart.sh(
        f"bin/kafka-console-consumer.sh --topic kept --from-beginning --max-messages 2 {server}"
    )
    assert read == "one\ntwo\n"
    assert quickstart.sh(f"bin/kafka-cluster.sh cluster-id {server}") == f"Cluster ID: {cluster_id}\n"


def test_a_daemon_runs_in_the_background_until_it_is_stopped(quickstart: Quickstart) -> None:
    # A node id that no other test has: the stop script looks at all servers of the machine.
    node_id = 900_000 + quickstart.port
    text = quickstart.config.read_text()
    for old, new in (("node.id=1", f"node.id={node_id}"), ("voters=1@", f"voters={node_id}@")):
        assert old in text
        text = text.replace(old, new)
    quickstart.config.write_text(text)
    quickstart.sh(
        "bin/kafka-server-start.sh -daemon config/kraft/server.properties --override num.partitions=3"
    )
    try:
        quickstart.wait_for_server(quickstart.home / "logs" / "kafkaServer.out")
        quickstart.sh("bin/kafka-topics.sh --create --topic t --bootstrap-server localhost:9092")
        described = quickstart.sh(
            "bin/kafka-topics.sh --describe --topic t --bootstrap-server localhost:9092"
        )
        assert "PartitionCount: 3" in described
    finally:
        quickstart.sh(f"bin/kafka-server-stop.sh --node-id={node_id}")

    def stopped() -> bool:
        return "stopped in" in (quickstart.home / "logs" / "kafkaServer.out").read_text()

    wait_until(stopped, "the broker to stop", timeout_s=30)
    quickstart.sh(f"bin/kafka-server-stop.sh --node-id={node_id}", code=1)


def test_the_other_tools_work_on_a_running_broker(quickstart: Quickstart) -> None:
    quickstart.start_server()
    server = "--bootstrap-server localhost:9092"

    quickstart.sh(
        f"bin/kafka-topics.sh --create --topic events --partitions 2 --config segment.ms=60000 {server}"
    )
    quickstart.sh(f"bin/kafka-topics.sh --create --topic events --if-not-exists {server}")
    refused = quickstart.sh(f"bin/kafka-topics.sh --create --topic events {server}", code=1)
    assert refused.startswith("Error while executing topic command : Topic 'events' already exists")
    quickstart.sh(f"bin/kafka-topics.sh --alter --topic events --partitions 3 {server}")
    assert quickstart.sh(f"bin/kafka-topics.sh --list {server}") == "events\n"
    missing = quickstart.sh(f"bin/kafka-topics.sh --describe --topic nothing {server}", code=1)
    assert "Topic 'nothing' does not exist as expected" in missing

    options = "--property parse.key=true --property key.separator=: --property parse.headers=true"
    quickstart.sh(
        f"bin/kafka-console-producer.sh --topic events --compression-codec zstd {options} {server}",
        stdin="h:1\ta:first\n\tb:second\n",
    )
    prints = " ".join(f"--property print.{name}=true" for name in ("key", "headers", "partition", "offset"))
    read = quickstart.sh(
        f"bin/kafka-console-consumer.sh --topic events --from-beginning --timeout-ms 3000 {prints} {server}"
    )
    lines = {line.split("\t")[3]: line.split("\t") for line in read.splitlines()}
    assert lines["a"][2:] == ["h:1", "a", "first"]
    assert lines["b"][2:] == ["NO_HEADERS", "b", "second"]
    partition = lines["a"][0].removeprefix("Partition:")
    by_offset = quickstart.sh(
        f"bin/kafka-console-consumer.sh {server} --topic events --max-messages 1 "
        f"--partition {partition} --offset 0"
    )
    assert by_offset == "first\n"

    offsets = quickstart.sh(f"bin/kafka-get-offsets.sh --topic events {server}").splitlines()
    assert [line.rpartition(":")[0] for line in offsets] == ["events:0", "events:1", "events:2"]
    assert sum(int(line.rpartition(":")[2]) for line in offsets) == 2

    alter = f"bin/kafka-configs.sh {server} --alter --entity-type topics --entity-name events"
    done = quickstart.sh(f"{alter} --add-config 'cleanup.policy=[compact,delete]' --delete-config segment.ms")
    assert done == "Completed updating config for topic events.\n"
    described = quickstart.sh(f"bin/kafka-configs.sh {server} --describe --topic events").splitlines()
    assert described[0] == "Dynamic configs for topic events are:"
    assert [line.split()[0] for line in described[1:]] == ["cleanup.policy=compact,delete"]
    quickstart.sh(
        f"bin/kafka-configs.sh {server} --alter --broker-defaults --add-config log.retention.ms=99999"
    )
    defaults = quickstart.sh(f"bin/kafka-configs.sh {server} --describe --broker-defaults")
    assert defaults.startswith("Default configs for brokers in the cluster are:\n  log.retention.ms=99999 ")

    request = {"partitions": [{"topic": "events", "partition": int(partition), "offset": 1}], "version": 1}
    (quickstart.home / "offsets.json").write_text(json.dumps(request))
    deleted = quickstart.sh(f"bin/kafka-delete-records.sh {server} --offset-json-file offsets.json")
    assert deleted.splitlines()[-1] == f"partition: events-{partition}\tlow_watermark: 1"

    log_dirs = json.loads(quickstart.sh(f"bin/kafka-log-dirs.sh --describe {server}").splitlines()[-1])
    (directory,) = log_dirs["brokers"][0]["logDirs"]
    assert directory["logDir"] == str(quickstart.data)
    assert {item["partition"] for item in directory["partitions"]} == {"events-0", "events-1", "events-2"}

    versions = quickstart.sh(f"bin/kafka-broker-api-versions.sh {server}")
    assert versions.startswith(
        f"localhost:{quickstart.port} (id: 1 rack: null isFenced: false) -> (\n\tProduce(0): 0 to 13 "
    )
    features = quickstart.sh(f"bin/kafka-features.sh {server} describe")
    assert "Feature: metadata.version\tSupportedMinVersion: " in features
    quickstart.sh(f"bin/kafka-features.sh {server} downgrade --metadata 4.1-IV1")
    assert "FinalizedVersionLevel: 4.1-IV1" in quickstart.sh(f"bin/kafka-features.sh {server} describe")
    quickstart.sh(f"bin/kafka-features.sh {server} downgrade --metadata 4.2-IV1", code=1)

    segment = quickstart.data / f"events-{partition}" / "00000000000000000000.log"
    dumped = quickstart.sh(f"bin/kafka-dump-log.sh --print-data-log --files {segment}")
    assert "payload: first" in dumped
    metadata = quickstart.data / "__cluster_metadata-0" / "00000000000000000000.log"
    assert '{"type":"TOPIC_RECORD","version":0,"data":{"name":"events"' in quickstart.sh(
        f"bin/kafka-dump-log.sh --cluster-metadata-decoder --files {metadata}"
    )
    quickstart.sh(f"bin/kafka-topics.sh --delete --topic events {server}")
    assert quickstart.sh(f"bin/kafka-topics.sh --list {server}") == ""
    assert quickstart.interrupt_server() == 0


def test_the_scripts_find_python_without_being_told(tmp_path: Path) -> None:
    """Without OTTLA_PYTHON and .venv beside bin/, the python3 of the PATH is used."""
    shutil.copytree(REPOSITORY / "bin", tmp_path / "bin")
    environment = {
        name: value for name, value in os.environ.items() if name not in ("OTTLA_PYTHON", "VIRTUAL_ENV")
    }
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    done = subprocess.run(
        [str(tmp_path / "bin" / "kafka-storage.sh"), "random-uuid"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.strip()) == 22
