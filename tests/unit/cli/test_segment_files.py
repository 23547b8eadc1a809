"""Looking into segment files, whole and damaged, through both commands that show them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from ottla.cli.kafka.__main__ import run as run_tool
from ottla.cli.main import cli, run
from ottla.log.producer_snapshot import SnapshotEntry, encode_snapshot
from ottla.wire.record_batch import Codec, EndTxnMarker, Record, encode_batch, encode_end_txn_batch

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
    assert "offsets 103..103" in lines[2] and "transactional  control" in lines[2]
    assert len(lines) == 3


def test_a_log_shows_its_records_when_asked(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump(log, "--records") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].strip() == 'offset 100  timestamp 1000  key "k"  value "v"  headers h="1"'
    assert lines[3].strip() == "offset 101  timestamp 1001  key null  value 0xff"
    assert lines[4].strip() == 'offset 102  timestamp 1002  key "gone"  value null'
    assert lines[6].strip() == "offset 103  timestamp 1003  commit"


def test_json_has_one_object_a_line(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dump(log, "--deep", "--json") == 0
    items = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [item.get("base_offset", item.get("offset")) for item in items] == [100, 100, 101, 102, 103, 103]
    assert items[2]["value"] == {"base64": "/w=="}
    assert items[-1]["marker"] == "commit"


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
    data[-1] ^= 1
    log.write_bytes(data)
    assert dump(log) == 1
    captured = capsys.readouterr()
    assert "offsets 100..102" in captured.out
    assert captured.err.startswith(f"ottla: {log} is damaged at position {at}: CRC is")
    assert run_tool("dump-log", ["--files", str(log)]) == 1


def test_a_torn_tail_is_reported_where_it_begins(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    at = second_batch_at(log)
    log.write_bytes(log.read_bytes()[:-5])
    assert dump(log, "--json") == 1
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert last["damaged_at"] == at and "does not fit" in last["problem"]
    log.write_bytes(log.read_bytes()[: at + 20])
    assert dump(log) == 1
    assert "too few for a batch header" in capsys.readouterr().err


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
