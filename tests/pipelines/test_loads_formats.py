"""Loads of each format on Spark: every record once, byte by byte, run after run; options; refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import ottla
from ottla.model.types import TopicPartition
from ottla.pipelines.loads.errors import DataMissing, LoadError, LoadRefused
from ottla.pipelines.loads.inspection import describe_load, verify_load
from ottla.pipelines.loads.load import load
from ottla.pipelines.loads.read_load import read_load
from ottla.pipelines.values.dead_letters import dead_letters
from support.broker_process import BrokerProcess
from support.spark_cluster import spark_home_of_links
from support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

DAY_MS = 86_400_000
FIRST_MS = int(datetime(2024, 5, 1, tzinfo=UTC).timestamp() * 1000)
PARTITIONS = 3
Record = tuple[int, int, bytes | None, bytes | None, int, list[tuple[str, bytes | None]]]


def create(broker: BrokerProcess, topic: str, partitions: int = PARTITIONS) -> None:
    with ottla.Admin(broker.bootstrap) as admin:
        new = ottla.NewTopic(topic, partitions=partitions, configs={"retention.ms": "-1"})
        admin.create_topics([new]).all()


def produce(broker: BrokerProcess, topic: str, first: int, last: int, **settings: Any) -> list[Record]:
    """Records with every kind of key, value and header there is; gives them as they have to come back."""
    sent: list[tuple[Any, Record]] = []
    with ottla.Producer(broker.bootstrap, **settings) as producer:
        for n in range(first, last):
            key = None if n % 11 == 0 else b"" if n % 11 == 1 else b"k%d" % (n % 7)
            value = (None, b"", bytes(range(256)), b'"quoted, text"\r\n \xc3\xa9 ', b"v%d" % n)[n % 5]
            headers: list[tuple[str, bytes | None]] = (
                [("h", b"\xff%d" % n), ("none", None)] if n % 4 == 0 else []
            )
            timestamp = FIRST_MS + (n % 3) * DAY_MS + n
            future = producer.send(
                topic, value, key, headers=headers or None, partition=n % PARTITIONS, timestamp=timestamp
            )
            sent.append((future, (n % PARTITIONS, -1, key, value, timestamp, headers)))
        producer.flush()
        return [(r[0], future.result().offset, *r[2:]) for future, r in sent]


def records_of(df: DataFrame) -> list[Record]:
    found = []
    for row in df.collect():
        moment = row["timestamp"].replace(tzinfo=UTC) if row["timestamp"].tzinfo is None else row["timestamp"]
        time_ms = round(moment.timestamp() * 1000)
        headers = [
            (each["key"], None if each["value"] is None else bytes(each["value"]))
            for each in row["headers"] or ()
        ]
        key = None if row["key"] is None else bytes(row["key"])
        value = None if row["value"] is None else bytes(row["value"])
        found.append((row["partition"], row["offset"], key, value, time_ms, headers))
    return sorted(found, key=lambda each: each[:2])


def offsets_of(df: DataFrame) -> list[tuple[int, int]]:
    return sorted((row["partition"], row["offset"]) for row in df.select("partition", "offset").collect())


@pytest.mark.timeout(300)
def test_each_format_holds_every_record_once_byte_by_byte_over_runs(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    create(shared_broker, "formats")
    first = produce(shared_broker, "formats", 0, 300)
    with ottla.Producer(shared_broker.bootstrap, transactional_id="aborted") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for n in range(5):
            producer.send("formats", b"never", partition=n % PARTITIONS)
        producer.abort_transaction()
    formats = ("parquet", "json", "csv", "delta", "iceberg")
    for format in formats:
        result = load(
            "formats",
            tmp_path / format,
            format=format,
            bootstrap_servers=shared_broker.bootstrap,
            partition_by="day" if format != "json" else None,
            compression="gzip" if format == "json" else None,
            max_records_per_commit=200 if format in ("parquet", "delta") else 5_000_000,
            group=f"load-{format}",
            spark=spark,
        )
        assert result.records == 300 and result.group_error == ""
        assert result.commits == (2 if format in ("parquet", "delta") else 1)
        assert [(p.partition, p.start) for p in result.partitions] == [(0, 0), (1, 0), (2, 0)]
    second = produce(shared_broker, "formats", 300, 330)
    expected = sorted([*first, *second], key=lambda each: each[:2])
    for format in formats:
        # What the first run chose need not be said again, and nothing else is read again.
        result = load("formats", tmp_path / format, bootstrap_servers=shared_broker.bootstrap, spark=spark)
        assert result.records == 30 and result.format == format
        assert load("formats", tmp_path / format, bootstrap_servers=shared_broker.bootstrap).records == 0
        assert records_of(read_load(spark, tmp_path / format)) == expected, format
        assert verify_load(tmp_path / format).problems == []
        assert verify_load(tmp_path / format).records == 330

    import deltalake
    from pyiceberg.table import StaticTable

    delta = deltalake.DeltaTable(str(tmp_path / "delta")).to_pyarrow_table().to_pylist()
    iceberg = StaticTable.from_metadata(str(tmp_path / "iceberg")).scan().to_arrow().to_pylist()
    for rows in (delta, iceberg):
        found = sorted((row["partition"], row["offset"], row["key"], row["value"]) for row in rows)
        assert found == [each[:4] for each in expected]
    assert {str(row["day"]) for row in delta} == {"2024-05-01", "2024-05-02", "2024-05-03"}
    assert sorted(each.name for each in (tmp_path / "iceberg" / "data").iterdir()) == [
        "day=2024-05-01",
        "day=2024-05-02",
        "day=2024-05-03",
    ]
    with ottla.Admin(shared_broker.bootstrap) as admin:
        lag = admin.describe_group_lags(["load-parquet"]).all()["load-parquet"]
    assert lag.total == 30  # as the first run left it: the others were not given the group


@pytest.mark.timeout(300)
def test_where_a_load_begins_and_ends_is_the_users_choice(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    create(shared_broker, "limits")
    for batch in range(4):
        with ottla.Producer(shared_broker.bootstrap) as producer:
            for n in range(batch * 30, batch * 30 + 30):
                producer.send("limits", b"%d" % n, partition=n % 3, timestamp=FIRST_MS + batch * DAY_MS)
    where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
    to = tmp_path / "t"
    with pytest.raises(LoadRefused, match=r"topic no-such-topic does not exist"):
        load("no-such-topic", to, **where)
    assert not to.exists()
    plan = load("limits", to, since="2024-05-02", until="2024-05-03T00:00:00Z", dry_run=True, **where)
    assert [(p.start, p.end) for p in plan.partitions] == [(10, 20)] * 3 and not to.exists()

    load("limits", to, since="2024-05-02", until="2024-05-03", values="text", **where)
    assert offsets_of(read_load(spark, to)) == [(p, n) for p in range(3) for n in range(10, 20)]
    with pytest.raises(LoadRefused, match="add --reload"):
        load("limits", to, since="2024-05-01", **where)
    with pytest.raises(LoadRefused, match="would leave out 10"):
        load("limits", to, since="2024-05-04", **where)
    with pytest.raises(LoadRefused, match="begun with --format parquet, and this run asks for --format csv"):
        load("limits", to, format="csv", **where)
    # From a point in time on, again: what is there is replaced, in one commit.
    result = load("limits", to, from_offsets={"limits": {0: 5}}, reload=True, until="2024-05-04", **where)
    assert result.replaced_files == 1
    expected = [(0, n) for n in range(5, 30)] + [(p, n) for p in (1, 2) for n in range(10, 30)]
    assert offsets_of(read_load(spark, to)) == expected
    values = read_load(spark, to).where("partition = 1 and offset = 12").collect()[0]["value"]
    assert values == str(12 * 3 + 1)
    assert [each["operation"] for each in describe_load(to).history] == ["load", "reload", "load"]

    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.delete_records({TopicPartition("limits", 2): 35}).all()
    with pytest.raises(DataMissing, match=r"limits-2: the records from 30 to 34 .* --skip-missing"):
        load("limits", to, **where)
    result = load("limits", to, skip_missing=True, **where)
    assert [(gap.partition, gap.start, gap.end) for gap in result.gaps] == [(2, 30, 35)]
    assert offsets_of(read_load(spark, to))[-5:] == [(2, n) for n in range(35, 40)]

    with ottla.Admin(shared_broker.bootstrap) as admin:
        admin.delete_topics(["limits"]).all()
    create(shared_broker, "limits")
    with pytest.raises(LoadRefused, match="another topic with the name limits"):
        load("limits", to, **where)


@pytest.mark.timeout(300)
def test_values_are_decoded_or_the_bad_one_is_named(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    create(shared_broker, "typed", 1)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for n in range(6):
            producer.send("typed", b"nonsense" if n == 4 else json.dumps({"n": n, "who": {"name": f"u{n}"}}))
    schema = "n int, who struct<name string>"
    to = tmp_path / "t"
    where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
    with pytest.raises(LoadError, match=r"nothing of this commit counts: .*typed.*4"):
        load("typed", to, values="json", schema=schema, **where)
    assert describe_load(to).partitions == [] and read_load(spark, to).count() == 0
    load("typed", to, on_error="null", **where)
    rows = (
        read_load(spark, to)
        .where("value is not null")
        .select("offset", "value.n", "value.who.name")
        .collect()
    )
    assert sorted(tuple(row) for row in rows) == [(n, n, f"u{n}") for n in (0, 1, 2, 3, 5)]
    with pytest.raises(LoadRefused, match="neither Spark's DDL"):
        load("typed", tmp_path / "u", values="json", schema="n quux", **where)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("format", ["iceberg", "csv"])
def test_avro_goes_to_a_table_and_bad_values_with_their_headers_to_dead_letters_in_any_zone(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path, format: str
) -> None:
    """Days and hours are those of UTC, also in a session that somebody else has made."""
    topic, to = f"avro-{format}", tmp_path / "t"
    create(shared_broker, topic, 1)
    create(shared_broker, f"{topic}-bad", 1)
    fields = [{"name": "n", "type": "int"}, {"name": "who", "type": ["null", "string"]}]
    schema = json.dumps({"type": "record", "name": "R", "fields": fields})
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for n in range(6):
            value = bytes([2 * n]) + (b"\x00" if n % 2 else b"\x02\x04u%d" % n)
            bad = {3: bytes([6, 1]), 4: b"\x08"}.get(n)  # a member before the first; the end is missing
            headers = [("trace", b"\xff")] if n == 4 else None
            when_ms = FIRST_MS + 3_600_000 * n - 1
            producer.send(topic, bad or value, b"k%d" % n, headers=headers, partition=0, timestamp=when_ms)
    letters = dead_letters(f"{topic}-bad", bootstrap_servers=shared_broker.bootstrap)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/Sao_Paulo")
    try:
        where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
        chosen = {"values": "avro", "schema": schema, "headers": False, "format": format}
        with pytest.raises(LoadError, match=rf"{topic}, partition 0, offset 3, ValueError: value: a symbol"):
            load(topic, to, partition_by="day,hour", **chosen, **where)
        load(topic, to, partition_by="day,hour", on_error=letters, **chosen, **where)
        rows = sorted(read_load(spark, to).collect(), key=lambda row: int(row["offset"]))
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
    assert [(row["value"]["n"], row["value"]["who"]) for row in rows] == [
        (0, "u0"),
        (1, None),
        (2, "u2"),
        (5, None),
    ]
    assert "headers" not in rows[0]
    folders = sorted(str(each.parent.relative_to(to)) for each in to.rglob("part-*"))
    assert [each[each.index("day=") :] for each in folders] == [
        "day=2024-04-30/hour=2024-04-30-23",
        "day=2024-05-01/hour=2024-05-01-00",
        "day=2024-05-01/hour=2024-05-01-01",
        "day=2024-05-01/hour=2024-05-01-04",
    ]
    with ottla.SimpleConsumer(shared_broker.bootstrap) as consumer:
        sent = list(consumer.fetch(f"{topic}-bad", 0, 0))
    assert [(each.key, each.value) for each in sent] == [(b"k3", b"\x06\x01"), (b"k4", b"\x08")]
    first, second = (dict(each.headers) for each in sent)
    assert first["__connect.errors.offset"] == b"3" and "trace" not in first
    assert second["__connect.errors.offset"] == b"4" and second["trace"] == b"\xff"
    assert verify_load(to).problems == []


@pytest.mark.timeout(300)
def test_a_task_that_cannot_write_fails_the_commit_and_nothing_else(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    create(shared_broker, "full", 1)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for n in range(10):
            producer.send("full", b"%d" % n)
    where: dict[str, Any] = {"bootstrap_servers": shared_broker.bootstrap, "spark": spark}
    load("full", tmp_path / "t", until_offsets={"full": {0: 5}}, **where)
    blocked = tmp_path / "t" / f"batch-{1:012d}"
    blocked.write_text("no directory can be made here")
    with pytest.raises(LoadError, match=r"writing to .* failed, and nothing of this commit counts"):
        load("full", tmp_path / "t", **where)
    assert offsets_of(read_load(spark, tmp_path / "t")) == [(0, n) for n in range(5)]
    blocked.unlink()
    load("full", tmp_path / "t", **where)
    assert offsets_of(read_load(spark, tmp_path / "t")) == [(0, n) for n in range(10)]


def ottla_load(*arguments: str) -> list[str]:
    program = """
import sys
from ottla.cli.load import load
from ottla.cli.main import run
sys.exit(run(load, None, "ottla load"))
"""
    return [sys.executable, "-c", program, *arguments]


@pytest.mark.timeout(300)
def test_the_command_is_killed_in_the_middle_and_run_again(
    spark: SparkSession, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    create(shared_broker, "killed")
    expected = sorted(produce(shared_broker, "killed", 0, 400), key=lambda each: each[:2])
    to = tmp_path / "t"
    settings = ["--master", "local[2]", "--conf", "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1"]
    command = ottla_load("killed", "--to", str(to), "-b", shared_broker.bootstrap, *settings)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*command, "--max-records-per-commit", "4"],
            stdout=output,
            stderr=output,
            env=os.environ | {"SPARK_HOME": str(spark_home_of_links(tmp_path / "spark-home"))},
            start_new_session=True,
        )
        commits = to / "_ottla" / "commits"

        def some_commits() -> bool:
            if process.poll() is not None:
                output.seek(0)
                raise AssertionError(output.read().decode()[-3000:])
            return commits.is_dir() and len(list(commits.glob("*.json"))) >= 3

        wait_until(some_commits, "three commits", timeout_s=200)
        with pytest.raises(LoadRefused, match=f"another load is writing to {to} .process {process.pid} on"):
            load("killed", to, bootstrap_servers=shared_broker.bootstrap, spark=spark)
        os.killpg(process.pid, signal.SIGKILL)  # the driver, its Java and its Python workers
        process.wait()
    before = sum(each.records for each in describe_load(to).partitions)
    assert 0 < before < 400, before
    result = CliRunner().invoke(
        _command(), ["killed", "--to", str(to), "-b", shared_broker.bootstrap, "--master", "local[2]"]
    )
    assert result.exit_code == 0, result.output
    assert f"{400 - before:,} records in 1 commits" in result.output
    assert records_of(read_load(spark, to)) == expected
    listed = CliRunner().invoke(_command(), ["--list", str(to)])
    assert f"{to}: parquet, made by load" in listed.output and "killed  " in listed.output
    checked = CliRunner().invoke(_command(), ["--verify", str(to)])
    assert checked.exit_code == 0 and "400 records: no problem" in checked.output
    assert "belong to no commit" not in checked.output  # what the killed run had begun was deleted


def _command() -> Any:
    from ottla.cli.load import load as command

    return command


@pytest.mark.timeout(300)
def test_ctrl_c_between_commits_keeps_what_is_committed_and_says_so(
    spark: SparkSession,
    shared_broker: BrokerProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from ottla.cli.load_progress import LinesProgress
    from ottla.cli.main import run

    create(shared_broker, "stopped", 1)
    with ottla.Producer(shared_broker.bootstrap) as producer:
        for n in range(30):
            producer.send("stopped", b"%d" % n)
    told = LinesProgress.committed

    def interrupted(self: LinesProgress, ranges: Any, records: int) -> None:
        told(self, ranges, records)
        signal.raise_signal(signal.SIGINT)

    arguments = [
        "stopped",
        "--to",
        str(tmp_path / "t"),
        "-b",
        shared_broker.bootstrap,
        "--master",
        "local[2]",
    ]
    with monkeypatch.context() as patched:
        patched.setattr(LinesProgress, "committed", interrupted)
        assert run(_command(), [*arguments, "--max-records-per-commit", "10"], "ottla load") == 130
    assert "stopped: 1 commits with 10 records are in" in capsys.readouterr().err
    assert run(_command(), [*arguments, "--json"], "ottla load") == 0
    assert json.loads(capsys.readouterr().out)["records"] == 20
    assert offsets_of(read_load(spark, tmp_path / "t")) == [(0, n) for n in range(30)]
    assert run(_command(), arguments, "ottla load") == 0
    assert "nothing new for" in capsys.readouterr().out
    assert run(_command(), ["no-such-topic", *arguments[1:]], "ottla load") == 1
    assert "topic no-such-topic does not exist" in capsys.readouterr().err
