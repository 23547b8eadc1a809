"""Looking into segment files, whole and damaged, through both commands that show them."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from crc32c import crc32c

from ottla.cli.kafka.__main__ import run as run_tool
from ottla.cli.main import cli, run
from ottla.log.producer_snapshot import SnapshotEntry, encode_snapshot
from ottla.wire.framing import encode_coordinator_key, encode_coordinator_value
from ottla.wire.messages.transaction_state import PartitionsSchema, TransactionLogKey, TransactionLogValue
from ottla.wire.record_batch import Codec, EndTxnMarker, Record, encode_batch, encode_end_txn_batch
from support.tools import REPOSITORY

BASE = "00000000000000000100"


def dump(*args: object) -> int:
    return run(cli, ["storage", "dump", *[str(arg) for arg in args]], "ottla")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / f"{BASE}.log"
    records = [
        Record(0, 1_000, b"k", b"v", (("h", b"1"),)),
        Record(0, 1_001, None, b"\xff"),
        Record(0, 1_002, b"gone", None),
    ]
    batches = [
        encode_batch(
            records, base_offset=100, codec=Codec.ZSTD, producer_id=5, producer_epoch=1, base_sequence=9
        ),
        encode_end_txn_batch(
            EndTxnMarker(True, 3), producer_id=5, producer_epoch=1, timestamp=1_003, base_offset=103
        ),
    ]
    path.write_bytes(b"".join(bytes(batch) for batch in batches))
    return path


def second_batch_at(path: Path) -> int:
    return 12 + int.from_bytes(path.read_bytes()[8:12], "big")


def test_a_log_shows_its_batches(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump(log) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == str(log)
    assert "position 0  offsets 100..102  records 3" in lines[1]
    assert "codec zstd  producer 5 epoch 1  sequence 9..11" in lines[1]
    assert "offsets 103..103" in lines[2]
    assert "transactional  control  commit by coordinator epoch 3" in lines[2]
    assert len(lines) == 3


def test_a_log_shows_its_records_when_asked(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump(log, "--records") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].strip() == 'offset 100  timestamp 1000  key "k"  value "v"  headers h="1"'
    assert lines[3].strip() == "offset 101  timestamp 1001  key null  value 0xff"
    assert lines[4].strip() == 'offset 102  timestamp 1002  key "gone"  value null'
    assert lines[6].strip() == "offset 103  timestamp 1003  commit by coordinator epoch 3"


def test_a_file_of_another_kind_does_not_hide_those_after_it(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`dump clicks-0/*` meets partition.metadata, too."""
    other = log.parent / "partition.metadata"
    other.write_text("version: 0\n")
    assert dump(other, log) == 2
    shown = capsys.readouterr()
    assert shown.out.splitlines()[0] == str(log) and "offsets 103..103" in shown.out
    assert shown.err.startswith(f"ottla: {other}: expected the name of a segment's file")


def test_json_has_one_object_a_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump(log, "--deep", "--json") == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item.get("base_offset", item.get("offset")) for item in items] == [100, 100, 101, 102, 103, 103]
    assert items[2]["value"] == {"base64": "/w=="}
    assert (items[-1]["marker"], items[-1]["coordinator_epoch"]) == ("commit", 3)


def test_kafkas_dump_tool_shows_the_same_in_its_own_words(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool("dump-log", ["--files", str(log), "--print-data-log"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [f"Dumping {log}", "Log starting offset: 100"]
    assert lines[2].startswith(
        "baseOffset: 100 lastOffset: 102 count: 3 baseSequence: 9 lastSequence: 11 producerId: 5 "
        "producerEpoch: 1 partitionLeaderEpoch: -1 isTransactional: false isControl: false "
        "deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1002 size: "
    )
    assert lines[2].endswith("isvalid: true") and " magic: 2 compresscodec: zstd crc: " in lines[2]
    assert lines[3] == (
        "| offset: 100 CreateTime: 1000 keySize: 1 valueSize: 1 sequence: 9 headerKeys: [h] key: k payload: v"
    )
    assert lines[7].startswith("| offset: 103") and "endTxnMarker: COMMIT" in lines[7]


def test_a_flipped_bit_is_reported_with_its_batchs_position(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = second_batch_at(log)
    data = bytearray(log.read_bytes())
    data[-2] ^= 1  # within the marker's value
    log.write_bytes(data)
    assert dump(log) == 1
    captured = capsys.readouterr()
    assert "offsets 100..102" in captured.out
    assert captured.err.startswith(f"ottla: {log} is damaged at position {at}: CRC is")
    # Kafka's tool goes on behind a wrong CRC: it is a property of the batch.
    assert run_tool("dump-log", ["--files", str(log), "--deep-iteration"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].endswith("isvalid: true") and lines[6].endswith("isvalid: false")
    assert "endTxnMarker: COMMIT" in lines[7]


def test_a_torn_tail_is_reported_where_it_begins(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = second_batch_at(log)
    log.write_bytes(log.read_bytes()[:-5])
    assert dump(log, "--json") == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["damaged_at"] == at and "does not fit" in last["problem"]
    log.write_bytes(log.read_bytes()[: at + 20])
    assert dump(log) == 1
    assert "too few for a batch header" in capsys.readouterr().err
    assert run_tool("dump-log", ["--files", str(log)]) == 0
    assert capsys.readouterr().out.endswith(f"Found 20 invalid bytes at the end of {BASE}.log\n")


def test_kafkas_dump_tool_goes_as_far_as_max_bytes_and_no_further(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = log.stat().st_size
    for limit, batches in ((whole, 2), (whole - 1, 1), (second_batch_at(log), 1), (10, 0)):
        assert run_tool("dump-log", ["--files", str(log), "--max-bytes", str(limit)]) == 0
        assert capsys.readouterr().out.count("baseOffset") == batches


def test_a_delete_horizon_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """KIP-534: a batch that compaction has marked carries the horizon where its base timestamp was."""
    path = tmp_path / f"{BASE}.log"
    batch = bytearray(encode_batch([Record(0, 1_000, b"k", None)], base_offset=100))
    batch[22] |= 0x40
    batch[27:35] = (5_000).to_bytes(8, "big")
    batch[17:21] = crc32c(bytes(batch[21:])).to_bytes(4, "big")
    path.write_bytes(batch)
    assert dump(path) == 0
    assert "delete horizon 5000" in capsys.readouterr().out
    assert run_tool("dump-log", ["--files", str(path)]) == 0
    assert "deleteHorizonMs: OptionalLong[5000]" in capsys.readouterr().out


def transaction_log(tmp_path: Path) -> Path:
    directory = tmp_path / "__transaction_state-7"
    directory.mkdir()
    key = encode_coordinator_key(TransactionLogKey(transactional_id="orders"))
    value = TransactionLogValue(
        producer_id=5,
        producer_epoch=2,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema(topic="clicks", partition_ids=[0, 2])],
        transaction_last_update_timestamp_ms=1_001,
        transaction_start_timestamp_ms=1_000,
        client_transaction_version=2,
    )
    records = [
        Record(0, 1, key, encode_coordinator_value(value, 1)),
        Record(0, 2, key, encode_coordinator_value(TransactionLogValue(producer_id=5), 0)),
        Record(0, 3, key, None),
        Record(0, 4, b"\x00\x63", b""),
        Record(0, 5, b"\x00", b""),
    ]
    path = directory / f"{BASE}.log"
    path.write_bytes(encode_batch(records, base_offset=100))
    return path


def test_records_of_the_transaction_log_are_decoded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tagged fields are shown where they differ from their default, and in versions that have them."""
    path = transaction_log(tmp_path)
    assert run_tool("dump-log", ["--transaction-log-decoder", "--files", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()[3:]
    key = 'key: {"type":"0","data":{"transactionalId":"orders"}}'
    assert lines[0].endswith(
        key + ' payload: {"version":"1","data":{"producerId":5,"producerEpoch":2,'
        '"transactionTimeoutMs":60000,"transactionStatus":1,"transactionPartitions":'
        '[{"topic":"clicks","partitionIds":[0,2]}],"transactionLastUpdateTimestampMs":1001,'
        '"transactionStartTimestampMs":1000,"clientTransactionVersion":2}}'
    )
    assert '"version":"0"' in lines[1] and "clientTransactionVersion" not in lines[1]
    assert lines[2].endswith(f"{key} payload: <DELETE>")
    assert lines[3].endswith("key: Unknown record type 99 at offset 103, skipping.")
    assert "key: Error at offset 104, skipping. " in lines[4]


def test_records_of_internal_topics_are_known_by_their_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = transaction_log(tmp_path)
    assert dump(path, "--records", "--json") == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()][1:]
    assert items[0]["key"]["data"] == {"transactionalId": "orders"}
    assert items[0]["value"]["data"]["transactionStatus"] == 1
    assert items[2]["value"] is None
    assert items[3]["problem"] == "unknown record type 99"
    assert dump(path, "--records", "--decode", "none") == 0
    assert "transactionalId" not in capsys.readouterr().out
    elsewhere = tmp_path / f"{BASE}.log"
    elsewhere.write_bytes(path.read_bytes())
    assert dump(elsewhere, "--records", "--decode", "transactions") == 0
    assert "transactionalId" in capsys.readouterr().out


def test_the_table_of_fields_is_what_the_schema_says() -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "generate_record_fields.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_checkpoints_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    epochs = tmp_path / "leader-epoch-checkpoint"
    epochs.write_text("0\n2\n0 0\n3 17\n")
    offsets = tmp_path / "recovery-point-offset-checkpoint"
    offsets.write_text("0\n1\nclicks 2 41\n")
    assert dump(epochs, offsets) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:3] == ["  epoch 0  start offset 0", "  epoch 3  start offset 17"]
    assert lines[4] == "  topic clicks  partition 2  offset 41"
    epochs.write_text("0\n5\n0 0\n")
    assert dump(epochs) == 1
    assert "promises 5 entries and holds 1" in capsys.readouterr().err


def test_a_preallocated_tail_is_not_damage(log: Path) -> None:
    log.write_bytes(log.read_bytes() + bytes(5_000))
    assert dump(log) == 0


def test_an_offset_index_is_checked_against_the_log_beside_it(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    index = log.with_suffix(".index")
    index.write_bytes(struct.pack(">IIII", 2, 0, 3, second_batch_at(log)) + bytes(16))
    assert dump(index) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  offset 102  position 0",
        f"  offset 103  position {second_batch_at(log)}",
    ]
    index.write_bytes(struct.pack(">IIII", 2, 0, 3, second_batch_at(log) + 1))
    assert dump(index) == 1
    assert "damaged at position 8: no batch at position" in capsys.readouterr().err
    index.write_bytes(struct.pack(">II", 1, 0))
    assert run_tool("dump-log", ["--files", str(index)]) == 0
    captured = capsys.readouterr()
    assert captured.out.endswith("offset: 101 position: 0\n")
    assert captured.err == f"Mismatches in :{index}\n  Index offset: 101, log offset: 102\n"
    index.write_bytes(struct.pack(">IIII", 3, 0, 2, 99))
    assert dump(index) == 1
    assert "does not rise" in capsys.readouterr().err
    index.write_bytes(bytes(11))
    assert dump(index) == 1
    assert "damaged at position 8: 3 bytes are not a whole entry of 8" in capsys.readouterr().err


def test_a_time_index_shows_timestamps_and_offsets(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{BASE}.timeindex"
    path.write_bytes(struct.pack(">qIqI", 1_000, 2, 1_005, 3))
    assert dump(path) == 0
    assert capsys.readouterr().out.splitlines()[1:] == [
        "  timestamp 1000  offset 102",
        "  timestamp 1005  offset 103",
    ]
    path.write_bytes(struct.pack(">qIqI", 1_005, 2, 1_000, 3))
    assert dump(path) == 1


def test_a_producer_snapshot_is_checked_by_its_crc(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{BASE}.snapshot"
    data = encode_snapshot([SnapshotEntry(5, 1, 11, 102, 2, 1_002, -1, -1)])
    path.write_bytes(data)
    assert dump(path, "--json") == 0
    item = json.loads(capsys.readouterr().out)
    assert (item["producer_id"], item["last_sequence"], item["last_offset"]) == (5, 11, 102)
    assert run_tool("dump-log", ["--files", str(path)]) == 0
    assert "producerId: 5 producerEpoch: 1" in capsys.readouterr().out
    # Sequences begin anew after the largest, and a producer of which only a marker is known has none.
    entries = [
        SnapshotEntry(5, 1, 1, 102, 2, 1_002, 3, 99),
        SnapshotEntry(6, 0, -1, -1, 0, 1_003, 4, -1),
    ]
    path.write_bytes(encode_snapshot(entries))
    assert run_tool("dump-log", ["--files", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "coordinatorEpoch: 3 currentTxnFirstOffset: OptionalLong[99]" in lines[1]
    assert "firstSequence: 2147483647 lastSequence: 1 lastOffset: 102" in lines[1]
    assert lines[2].endswith("lastTimestamp: 1003 ")
    assert dump(path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith("coordinator epoch 3  transaction from 99")
    assert "sequence" not in lines[2]
    path.write_bytes(data[:-1] + b"\x01")
    assert dump(path) == 1
    assert "CRC" in capsys.readouterr().err


def test_aborted_transactions_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"{BASE}.txnindex"
    path.write_bytes(struct.pack(">hqqqq", 0, 5, 100, 103, 99))
    assert dump(path) == 0
    assert "producer id 5  first offset 100  last offset 103" in capsys.readouterr().out
    path.write_bytes(struct.pack(">hqqqq", 1, 5, 100, 103, 99))
    assert dump(path) == 1


def test_a_file_that_is_no_segments_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello")
    assert dump(path) == 2
    assert dump(tmp_path / "missing.log") == 2


def test_a_time_index_that_disagrees_with_its_log_is_complained_about(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = log.with_suffix(".timeindex")
    path.write_bytes(struct.pack(">qIqI", 1_000, 2, 1_003, 9))
    assert run_tool("dump-log", ["--files", str(path)]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1:] == ["timestamp: 1000 offset: 102", "timestamp: 1003 offset: 109"]
    assert captured.err.splitlines() == [
        f"Found timestamp mismatch in :{path}",
        "  Index timestamp: 1000, log timestamp: 1002",
        "The following indexed offsets are not found in the log.",
        "Indexed offset: 109, found log offset: -1",
    ]


def test_kafkas_dump_tool_steps_over_files_it_does_not_know(
    tmp_path: Path, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text("hello")
    assert run_tool("dump-log", ["--files", f"{notes},{log}"]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"Ignoring unknown file {notes}\n"
    assert captured.out.count("baseOffset") == 2
