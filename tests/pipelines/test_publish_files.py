"""`ottla publish`: files of each format into a topic, and loads back as they were."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import ottla
from ottla.pipelines.loads.errors import LoadError, LoadRefused
from ottla.pipelines.loads.load import load
from ottla.pipelines.loads.publish import publish
from support.broker_process import BrokerProcess

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

KEEP = {"retention.ms": "-1"}  # the records are old
NOON_MS = int(datetime(2024, 5, 1, 12, tzinfo=UTC).timestamp() * 1000)
ROWS = [{"id": n, "name": f"né, {n}", "at": NOON_MS + n} for n in range(20)]


def consumed(broker: BrokerProcess, topic: str) -> list[Any]:
    found = []
    with ottla.SimpleConsumer(broker.bootstrap, isolation_level="read_committed") as consumer:
        for partition in consumer.partitions(topic):
            offset, end = consumer.earliest(topic, partition), consumer.latest(topic, partition)
            while offset < end:
                fetched = consumer.fetch(topic, partition, offset)
                found.extend(fetched)
                offset = fetched.next_offset
    return found


def parts(record: Any) -> tuple[Any, ...]:
    return record.partition, record.key, record.value, record.timestamp, list(record.headers)


@pytest.mark.timeout(300)
def test_a_load_is_restored_with_keys_values_headers_times_partitions_and_order(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.create_topics([ottla.NewTopic("origin", partitions=3, configs={"retention.ms": "-1"})]).all()
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for n in range(60):
            producer.send(
                "origin",
                (None, b"", b"\x00\xff%d" % n)[n % 3],
                None if n % 4 == 0 else b"k%d" % (n % 5),
                headers=[("h", b"%d" % n), ("h", None)] if n % 2 else None,
                partition=(n * 7) % 3,
                timestamp=NOON_MS - n,
            )
    expected = [parts(each) for each in consumed(shared_broker, "origin")]
    for format in ("parquet", "csv", "delta", "iceberg"):
        load("origin", tmp_path / format, format=format, max_records_per_commit=40, **where)
        topic = f"restored-{format}"
        result = publish(tmp_path / format, topic, restore=True, partitions=3, topic_configs=KEEP, **where)
        assert (result.records, result.created_partitions) == (60, 3)
        assert [parts(each) for each in consumed(shared_broker, topic)] == expected, format
    with pytest.raises(LoadRefused, match="records of partition 2, and topic small has 1 partitions"):
        publish(tmp_path / "csv", "small", restore=True, partitions=1, topic_configs=KEEP, **where)
    result = publish(tmp_path / "delta", "small", **where)  # not in its partitions, and otherwise as it was
    found = consumed(shared_broker, "small")
    assert sorted(repr(parts(each)[1:]) for each in found) == sorted(repr(each[1:]) for each in expected)
    assert len(found) == result.records == 60


@pytest.mark.timeout(300)
def test_files_of_each_format_become_records(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    import csv

    import fastavro
    import pyarrow as pa
    import pyarrow.parquet as pq

    where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    (tmp_path / "a.json").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in ROWS))
    with open(tmp_path / "a.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "name", "at"])
        writer.writeheader()
        writer.writerows(ROWS)
    fields = [
        {"name": "id", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "at", "type": "long"},
    ]
    with open(tmp_path / "a.avro", "wb") as out:
        fastavro.writer(out, {"type": "record", "name": "R", "fields": fields}, ROWS)
    for format in ("parquet", "json", "csv", "avro"):
        result = publish(
            tmp_path / f"a.{format}",
            f"from-{format}",
            key="id",
            timestamp="at",
            headers={"who": "name"},
            partitions=2,
            topic_configs=KEEP,
            **where,
        )
        assert (result.records, result.files) == (20, 1)
        found = sorted(consumed(shared_broker, f"from-{format}"), key=lambda each: int(each.key))
        assert [int(each.key) for each in found] == list(range(20))
        assert [each.timestamp for each in found] == [NOON_MS + n for n in range(20)]
        assert [list(each.headers) for each in found] == [[("who", f"né, {n}".encode())] for n in range(20)]
        values = [json.loads(each.value) for each in found]
        texts = format == "csv"
        assert values == [{k: str(v) for k, v in row.items()} if texts else row for row in ROWS], format
    json_values = {each.value.decode() for each in consumed(shared_broker, "from-json")}
    assert json_values == {json.dumps(row, ensure_ascii=False) for row in ROWS}  # byte by byte
    (tmp_path / "lines.txt").write_bytes("eins\n\n  zwei é\n".encode())
    publish(tmp_path / "lines.txt", "from-text", partitions=1, **where)
    assert [each.value.decode() for each in consumed(shared_broker, "from-text")] == ["eins", "", "  zwei é"]

    with pytest.raises(LoadRefused, match="there is no column 'idd': the files have id, name, at"):
        publish(tmp_path / "a.parquet", "from-parquet", key="idd", **where)
    with pytest.raises(LoadRefused, match="there is no column 'x': the files have id, name, at"):
        publish(tmp_path / "a.json", "from-json", value="x", **where)
    with pytest.raises(LoadRefused, match="topic nowhere does not exist: add --partitions N"):
        publish(tmp_path / "a.json", "nowhere", **where)
    with pytest.raises(LoadRefused, match="exists with 2 partitions, not 3"):
        publish(tmp_path / "a.json", "from-json", partitions=3, **where)
    with pytest.raises(LoadRefused, match="needs a directory that a load has made"):
        publish(tmp_path / "a.json", "from-json", restore=True, **where)
    (tmp_path / "bad.json").write_text('{"id": 1}\nnonsense\n')
    for chosen in ({}, {"value": "id"}):  # or the line would become a tombstone
        with pytest.raises(LoadError, match="publishing to from-json failed: not a JSON object: nonsense"):
            publish(tmp_path / "bad.json", "from-json", **chosen, **where)
    (tmp_path / "bad.avro").write_text("nonsense")
    with pytest.raises(LoadRefused, match=r"bad.avro is not an Avro file"):
        publish(tmp_path / "bad.avro", "from-json", **where)


@pytest.mark.timeout(300)
def test_exactly_once_publishes_new_files_only(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    from ottla.cli.publish import publish as command

    inbox = tmp_path / "inbox"
    inbox.mkdir()
    arguments = [str(inbox), "--format", "json", "--topic", "once", "--partitions", "2", "--key", "id"]
    arguments += ["-b", shared_broker.bootstrap, "--master", "local[2]"]
    (inbox / "1.json").write_text('{"id": 1}\n{"id": 2}\n')
    for number, total in ((2, 2), (3, 3)):
        once = ["--exactly-once", "--checkpoint", str(tmp_path / "checkpoint")]
        result = CliRunner().invoke(command, [*arguments, *once])
        assert result.exit_code == 0, (result.output, result.exception)
        assert len(consumed(shared_broker, "once")) == total
        (inbox / f"{number}.json").write_text(f'{{"id": {number + 1}}}\n')
    result = CliRunner().invoke(command, [*arguments, "--exactly-once"])
    assert result.exit_code == 2 and "need each other" in result.output
