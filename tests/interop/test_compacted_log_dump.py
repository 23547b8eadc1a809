"""Kafka's own DumpLogSegments reads what the cleaner writes: every codec, delete horizons, empty batches,
markers, and the three indexes.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ottla.net.disk import OsDisk
from ottla.wire.record_batch import LOG_APPEND_TIME, Codec, Record
from support.cleaning_bench import DAY_MS, NOW, CleaningBench
from support.java_client import JavaClient

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory: pytest.TempPathFactory, java: JavaClient) -> tuple[CleaningBench, JavaClient]:
    bench = CleaningBench(
        OsDisk(),
        str(tmp_path_factory.mktemp("cleaned") / "events-0"),
        index_interval_bytes=512,
        io_buffer_bytes=64 << 10,
    )
    for n in range(600):
        codec = Codec(n % 5)
        bench.now_ms = NOW + n
        if n % 10 == 3:
            bench.put(
                (b"key %d" % (n % 83), None), (b"other %d" % n, b"tombstone beside a value"), codec=codec
            )
        elif n % 10 == 5:
            bench.put(
                (b"key %d" % (n % 83), b"%d" % n), (b"in txn", b"%d" % n), producer=7, txn=True, codec=codec
            )
            bench.end_txn(7, commit=n % 20 == 5)
        elif n % 10 == 8:
            bench.put((b"key %d" % (n % 83), b"%d" % n), timestamp_type=LOG_APPEND_TIME, codec=codec)
        else:
            record = Record(0, bench.now_ms, b"key %d" % (n % 83), b"%d" % n, (("name", b"value"),))
            bench.put(record, (b"twice %d" % (n % 7), b"%d" % n), producer=9, codec=codec)
        if n % 150 == 149:
            bench.roll()
    bench.now_ms = NOW
    last = max(
        batch.header.last_offset
        for batch in bench.batches()
        if batch.header.producer_id == 7 and not batch.header.is_control
    )
    for _ in range(2):
        bench.now_ms += DAY_MS // 3
        bench.clean(last_offsets_of_producers={7: (last, 0)}, segment_bytes_max=20_000)
    return bench, java


def files(bench: CleaningBench, kind: str) -> list[Path]:
    return sorted(Path(bench.dir_path).glob(f"*.{kind}"))


def test_every_record_that_stays_is_decoded_with_its_offset(
    cleaned: tuple[CleaningBench, JavaClient],
) -> None:
    bench, java = cleaned
    text = java.call("dump", args=["--deep-iteration", "--files", ",".join(map(str, files(bench, "log")))])
    batches = bench.batches()
    offsets = [int(found) for found in re.findall(r"^\| offset: (\d+) ", text, re.M)]
    assert offsets == [record.offset for batch in batches for record in batch.records]
    assert text.count("isvalid: true") == text.count("baseOffset:") == len(batches)
    assert "isvalid: false" not in text
    assert set(re.findall(r"compresscodec: (\w+)", text)) == {"none", "gzip", "snappy", "lz4", "zstd"}
    headers = [batch.header for batch in batches]
    for name, values in {
        "baseOffset": [header.base_offset for header in headers],
        "lastOffset": [header.last_offset for header in headers],
        "count": [header.record_count for header in headers],
        "baseSequence": [header.base_sequence for header in headers],
        "producerId": [header.producer_id for header in headers],
        "partitionLeaderEpoch": [header.leader_epoch for header in headers],
    }.items():
        found = re.findall(rf"^(?=baseOffset: ).*?\b{name}: (-?\d+)", text, re.M)
        assert [int(value) for value in found] == values, name


def test_delete_horizons_and_timestamps_are_what_kafka_takes_them_for(
    cleaned: tuple[CleaningBench, JavaClient],
) -> None:
    """KIP-534: the horizon stands in the base timestamp, and every record's timestamp counts from it."""
    bench, java = cleaned
    text = java.call("dump", args=["--deep-iteration", "--files", ",".join(map(str, files(bench, "log")))])
    horizons = re.findall(r"deleteHorizonMs: OptionalLong(\.empty|\[\d+\])", text)
    expected = [
        f"[{batch.header.base_timestamp}]" if batch.header.has_delete_horizon else ".empty"
        for batch in bench.batches()
    ]
    assert horizons == expected and any(horizon != ".empty" for horizon in horizons)
    times = re.findall(r"^\| offset: \d+ (\w+): (-?\d+) keySize", text, re.M)
    assert times == [
        (
            "LogAppendTime" if batch.header.timestamp_type == LOG_APPEND_TIME else "CreateTime",
            str(record.timestamp),
        )
        for batch in bench.batches()
        for record in batch.records
    ]


def test_the_indexes_agree_with_their_segments(cleaned: tuple[CleaningBench, JavaClient]) -> None:
    bench, java = cleaned
    for kind in ("index", "timeindex"):
        assert len(files(bench, kind)) == len(bench.segments) >= 2
        for file in files(bench, kind):
            text = java.call("dump", args=["--files", str(file)])
            assert re.findall(r"^(?:offset|timestamp): \d+ ", text, re.M), f"{file.name} has no entries"
            assert "Mismatch" not in text and "Found" not in text and "not found" not in text, text
            assert "passed sanity check" in java.call(
                "dump", args=["--index-sanity-check", "--files", str(file)]
            )


def test_the_transaction_index_is_read(cleaned: tuple[CleaningBench, JavaClient]) -> None:
    bench, java = cleaned
    text = "".join(java.call("dump", args=["--files", str(file)]) for file in files(bench, "txnindex"))
    found = re.findall(r"producerId: (\d+) firstOffset: (\d+) lastOffset: (\d+)", text)
    assert [tuple(map(int, entry)) for entry in found] == [txn[:3] for txn in bench.aborted()]
    assert found
