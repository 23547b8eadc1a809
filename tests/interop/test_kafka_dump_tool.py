"""Kafka's own DumpLogSegments reads what the broker leaves on disk: logs, indexes, snapshots, cluster
metadata.
"""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from support.broker_process import BrokerProcess
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
