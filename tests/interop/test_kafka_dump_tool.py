"""Kafka's own DumpLogSegments reads what the broker leaves on disk: logs, indexes, snapshots, cluster
metadata.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from ottla.cli.cluster_start import free_ports
from ottla.cli.formatting import random_uuid_text
from ottla.cli.main import cli, run
from support.broker_process import BrokerProcess
from support.cluster_command import ClusterCommand
from support.java_client import JavaClient
from support.peers.confluent import Confluent
from support.peers.event import Event
from support.peers.java import Java
from support.raw_client import RawClient

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

RECORDS_EACH = 900
WRITERS = ["none", "gzip", "snappy", "zstd"]


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory, java: JavaClient) -> tuple[Path, JavaClient]:
    """A data directory with a topic of several segments and codecs, after a kill -9, a recovery and a clean
    end.
    """
    broker = BrokerProcess(tmp_path_factory.mktemp("dumped") / "data").start()
    try:
        with RawClient(broker.port) as client:
            client.create_topic("dumped", segment_bytes="1048576", index_interval_bytes="4096")
            client.create_topic("gone")
        chance = random.Random(3)
        events = [
            Event(b"key %d" % i, chance.randbytes(700) + bytes(200), (("name", b"value"),))
            for i in range(RECORDS_EACH)
        ]
        for codec in WRITERS:
            Confluent().write(broker.bootstrap, "dumped", events, codec, **{"batch.size": "20000"})
        broker.kill()
        broker.start()
        Java(java).write(broker.bootstrap, "dumped", events, "lz4")
        java.call("delete_topic", broker.bootstrap, topic="gone")
        assert broker.stop() == 0
    finally:
        broker.kill()
    return broker.data_dir, java


def test_every_record_of_every_segment_is_decoded(dumped: tuple[Path, JavaClient]) -> None:
    data_dir, java = dumped
    logs = sorted((data_dir / "dumped-0").glob("*.log"))
    assert len(logs) >= 4
    text = java.call("dump", args=["--deep-iteration", "--files", ",".join(map(str, logs))])
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", text, re.M)]
    assert offsets == list(range(5 * RECORDS_EACH))
    assert text.count("isvalid: true") == text.count("baseOffset:")
    assert "isvalid: false" not in text and "Found" not in text and "Non-consecutive" not in text
    assert set(re.findall(r"compresscodec: (\w+)", text)) == {"none", "gzip", "snappy", "lz4", "zstd"}
    assert text.count("headerKeys: [name]") == 5 * RECORDS_EACH
    sequences = re.findall(r"producerId: (\d+) .*?\n\| offset: \d+ .*? sequence: (\d+)", text)
    assert len({producer for producer, _ in sequences}) == 5
    epochs = [int(found) for found in re.findall(r"partitionLeaderEpoch: (\d+)", text)]
    assert epochs == sorted(epochs) and epochs[-1] > epochs[0], (
        "the unclean restart has a leader epoch of its own"
    )


def test_indexes_agree_with_their_segments(dumped: tuple[Path, JavaClient]) -> None:
    """The tool looks every entry up in the log, and runs the check of a broker's start."""
    data_dir, java = dumped
    for kind in ("index", "timeindex"):
        files = sorted((data_dir / "dumped-0").glob(f"*.{kind}"))
        assert len(files) >= 4
        for file in files:
            text = java.call("dump", args=["--files", str(file)])
            entries = re.findall(r"^(?:offset|timestamp): \d+ ", text, re.M)
            assert entries, f"{file.name} has no entries"
            assert "Mismatch" not in text and "Found" not in text and "not found" not in text, text
            checked = java.call("dump", args=["--index-sanity-check", "--files", str(file)])
            assert "passed sanity check" in checked, checked


def test_producer_snapshots_are_read(dumped: tuple[Path, JavaClient]) -> None:
    data_dir, java = dumped
    snapshot = max((data_dir / "dumped-0").glob("*.snapshot"))
    assert snapshot.name == f"{5 * RECORDS_EACH:020}.snapshot"
    text = java.call("dump", args=["--files", str(snapshot)])
    found = re.findall(
        r"producerId: (\d+) producerEpoch: (\d+) .* lastSequence: (\d+) lastOffset: (\d+)", text
    )
    assert len(found) == 5
    assert {int(last_sequence) for _, _, last_sequence, _ in found} == {RECORDS_EACH - 1}
    assert sorted(int(last_offset) for *_, last_offset in found) == [
        count * RECORDS_EACH - 1 for count in range(1, 6)
    ]


def test_the_cluster_metadata_is_decoded(dumped: tuple[Path, JavaClient]) -> None:
    data_dir, java = dumped
    logs = sorted((data_dir / "__cluster_metadata-0").glob("*.log"))
    text = java.call("dump", args=["--cluster-metadata-decoder", "--files", ",".join(map(str, logs))])
    kinds = re.findall(r'"type":"(\w+)"', text)
    for kind in (
        "FEATURE_LEVEL_RECORD",
        "REGISTER_BROKER_RECORD",
        "TOPIC_RECORD",
        "PARTITION_RECORD",
        "CONFIG_RECORD",
        "PRODUCER_IDS_RECORD",
        "PARTITION_CHANGE_RECORD",
        "REMOVE_TOPIC_RECORD",
    ):
        assert kind in kinds, f"no {kind} among {sorted(set(kinds))}"
    assert '"name":"dumped"' in text and "isvalid: false" not in text
    assert "LeaderChange" in text


SNAPSHOT_OFTEN = ("--set", "metadata.log.max.record.bytes.between.snapshots=1000")


def metadata_texts(folder: Path, java: JavaClient) -> tuple[str, str]:
    """What the tool says of a node's metadata log, and of its newest snapshot."""
    logs = sorted(folder.glob("*.log"))
    newest = max(folder.glob("*.checkpoint"))
    log_text = java.call("dump", args=["--cluster-metadata-decoder", "--files", ",".join(map(str, logs))])
    snapshot_text = java.call("dump", args=["--cluster-metadata-decoder", "--files", str(newest)])
    for text in (log_text, snapshot_text):
        assert "isvalid: false" not in text and text.count("isvalid: true") == text.count("baseOffset:")
    assert f"Snapshot end offset: {int(newest.name[:20])}, epoch: {int(newest.name[21:31])}" in snapshot_text
    assert "SnapshotHeader" in snapshot_text and "SnapshotFooter" in snapshot_text
    return log_text, snapshot_text


def test_a_clusters_metadata_and_its_snapshots_are_decoded_on_every_node(
    tmp_path: Path, java: JavaClient
) -> None:
    cluster = ClusterCommand(tmp_path, 3, *SNAPSHOT_OFTEN)
    try:
        for name in ("kept", "grown", "gone"):
            cluster.ottla("topic", "create", name, "-p", "3")
        cluster.ottla("config", "alter", "--topic", "kept", "--add", "retention.ms=123456")
        cluster.ottla("topic", "delete", "gone")
        cluster.ottla("topic", "create", "last", "-p", "12")
    finally:
        assert cluster.stop() == 0, cluster.log()
    for node_id in (1, 2, 3):
        folder = cluster.data_dir / f"broker-{node_id}" / "__cluster_metadata-0"
        log_text, snapshot_text = metadata_texts(folder, java)
        assert "LeaderChange" in log_text and "REMOVE_TOPIC_RECORD" in log_text
        kinds = set(re.findall(r'"type":"(\w+)"', snapshot_text))
        assert kinds >= {
            *("FEATURE_LEVEL_RECORD", "REGISTER_BROKER_RECORD", "REGISTER_CONTROLLER_RECORD"),
            *("TOPIC_RECORD", "PARTITION_RECORD", "CONFIG_RECORD"),
        }
        assert set(re.findall(r'"name":"(kept|grown|gone)","topicId"', snapshot_text)) == {"kept", "grown"}


def test_a_quorum_whose_voters_are_in_its_log_is_decoded(tmp_path: Path, java: JavaClient) -> None:
    """KIP-853: KRaftVersion and Voters records, in the log and in snapshots."""
    port = free_ports("127.0.0.1", 1, 1).controllers[0]
    settings = {
        "node.id": "1",
        "process.roles": "broker,controller",
        "listeners": f"PLAINTEXT://127.0.0.1:0,CONTROLLER://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "controller.quorum.bootstrap.servers": f"127.0.0.1:{port}",
        "metadata.log.max.record.bytes.between.snapshots": "500",
    }
    broker = BrokerProcess(tmp_path / "data", settings=settings)
    properties = tmp_path / "node.properties"
    lines = [f"{key}={value}\n" for key, value in {**settings, "log.dirs": broker.data_dir}.items()]
    properties.write_text("".join(lines))
    formatting = ["storage", "format", "-t", random_uuid_text(), "-c", str(properties), "--standalone"]
    assert run(cli, formatting, "ottla") == 0
    try:
        broker.start()
        with RawClient(broker.port) as client:
            for number in range(3):
                client.create_topic(f"topic-{number}")
        assert broker.stop() == 0
    finally:
        broker.kill()
    for text in metadata_texts(broker.data_dir / "__cluster_metadata-0", java):
        assert "LeaderChange" in text or "SnapshotHeader" in text
        assert '"kRaftVersion":1' in text and '"voters":[{"voterId":1,"voterDirectoryId":' in text
