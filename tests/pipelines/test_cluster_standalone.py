"""The same program on a real cluster: a standalone master and two workers that do not have our package.

The driver is a process of its own, started as a user would start it. It may not send its environment: the
workers' Python sees Spark and Arrow, and neither ottla nor what ottla depends on.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from topic_reading import records

import ottla
from ottla import NewTopic
from ottla.pipelines import verify_load
from support.broker_process import BrokerProcess
from support.spark_cluster import JVM_OPTIONS, SparkCluster, clean_environment, python_without_ottla

RECORDS = 4_000
LINES = 600
SECRET = "hunter2-and-more"
PARTITIONS = 4
DRIVER_TIMEOUT_S = 240

PROGRAM = """
import json, os, sys
from pyspark.sql import functions as F
from ottla.pipelines import session, write_stream

master, bootstrap, bare_python, conf, folder = sys.argv[1:6]
conf = json.loads(conf)
secret = os.environ["THE_SECRET"]
said = {}

os.environ["PYSPARK_PYTHON"] = bare_python
spark = session(master, conf=conf)
said["sent"] = spark.sparkContext.listArchives

def source(reader):
    return (reader.format("ottla").option("kafka.bootstrap.servers", bootstrap).option("subscribe", "in")
            .option("startingOffsets", "earliest").option("kafka.sasl.password", secret))

df = source(spark.read).load()
rows = df.groupBy("partition").count().orderBy("partition").collect()
said["counts"] = {row["partition"]: row["count"] for row in rows}

def where(batches):
    import os, sys
    import pyarrow as pa
    import ottla
    from ottla.wire.record_codec import COMPILED
    for batch in batches:
        facts = [os.getcwd(), sys.executable, ottla.__file__, str(COMPILED)]
        yield pa.RecordBatch.from_pydict({"facts": ["|".join(facts)]})

facts = df.select("key").mapInArrow(where, "facts string").distinct().collect()
said["where"] = sorted({row["facts"] for row in facts})

doubled = df.select("key", F.concat("value", F.lit("!")).alias("value"))
(doubled.write.format("ottla").mode("append").option("kafka.bootstrap.servers", bootstrap)
 .option("topic", "copy").save())

import ottla.pipelines.sink.transaction as sink

marker = folder + "/killed"

class Ambushed(sink.TransactionalTask):
    # The first task that has written its rows takes its executor with it before it can say so.
    def _write(self, batches, task):
        stored = super()._write(batches, task)
        if stored:
            import os, signal
            try:
                os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return stored
            with open(f"/proc/{os.getppid()}/stat") as daemon:
                executor = int(daemon.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{executor}/comm") as name:
                assert name.read().strip() == "java"
            os.kill(executor, signal.SIGKILL)
            os._exit(1)
        return stored

sink.TransactionalTask = Ambushed
stream = source(spark.readStream).load().select("key", "value")
query = write_stream(stream, topic="once", exactly_once=True, bootstrap_servers=bootstrap,
                     checkpoint=folder + "/checkpoint", trigger={"availableNow": True},
                     application_id="on-a-cluster", options={"kafka.sasl.password": secret})
query.awaitTermination()
query.explain(True)  # what a user prints; the event log has the plans of all queries
said["killed"] = os.path.exists(marker)

# Commands find the session that runs in their process: what is left of them is their work.
from ottla.cli.main import cli, run
place = ["--master", master, "--bootstrap-server", bootstrap]
publish = ["publish", folder + "/files", "--topic", "lines", "--key", "id", "--partitions", "4"]
load = ["load", "lines", "--to", folder + "/table", "--partition-by", "day"]
said["codes"] = [run(cli, [*each, *place], "ottla") for each in (publish, load)]
spark.stop()
print("SAID " + json.dumps(said))
"""


WORDCOUNT = """
from ottla.streams import StreamsBuilder
from word_splitting import words

builder = StreamsBuilder()
lines = builder.stream("texts")
counts = lines.flat_map_values(words).group_by(lambda key, word: word).count()
counts.to_stream().to("word-counts", value_serde="long")
"""
WORDS = """
def words(text):
    return text.lower().split()
"""
CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": JVM_OPTIONS,
    "spark.executor.extraJavaOptions": JVM_OPTIONS,
    "spark.sql.shuffle.partitions": "2",
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path_factory.mktemp("spark") / "cluster").start()
    cluster.wait_for_workers()
    yield cluster
    cluster.stop()


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return python_without_ottla(tmp_path_factory.mktemp("python") / "bare")


def values(broker: BrokerProcess, topic: str, count: int) -> list[bytes]:
    """The committed values of a topic, once `count` are there, and what comes after them."""
    found: list[bytes] = []
    with ottla.Consumer(
        bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        consumer.assign([ottla.TopicPartition(topic, number) for number in range(PARTITIONS)])
        end = sum(consumer.end_offsets(consumer.assignment()).values())
        assert end >= count
        while len(found) < count:
            batch = consumer.poll_arrow(10.0)
            assert batch.num_rows, f"{len(found)} of {count} records in {topic}"
            found += batch.column("value").to_pylist()
        found += consumer.poll_arrow(0.2).column("value").to_pylist()
    return found


def check_logs(cluster: SparkCluster) -> None:
    """Nothing went wrong in Python but that tasks of the batch with the killed executor refused to write."""
    for trace in cluster.logs().split("Traceback (most recent call last)")[1:]:
        assert "RetriedTask: task" in trace, trace[:4000]


@pytest.mark.timeout(320)
def test_a_cluster_whose_workers_lack_the_package_runs_the_same_program(
    cluster: SparkCluster, bare_python: Path, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """Reads and writes, both sinks, files into a topic and a topic into a table, on workers that get the
    package and its compiled codecs. An executor is killed with -9 when a task of it has written its rows into
    the transaction and not yet said so: the batch is aborted, and run again. A password is in no plan and
    no log.
    """
    sent = [b"value-%d" % number for number in range(RECORDS)]
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS) for name in ("in", "copy", "once")])
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap) as producer:
        for number, value in enumerate(sent):
            producer.send("in", value, key=b"%d" % number)
        producer.flush()
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    folder = tmp_path / "driver"
    (folder / "files").mkdir(parents=True)
    (folder / "events").mkdir()
    logged = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": (folder / "events").as_uri(),
    }
    rows = [{"id": number, "text": f"line {number}"} for number in range(LINES)]
    for at in range(3):
        lines = "".join(json.dumps(row) + "\n" for row in rows[at::3])
        (folder / "files" / f"part-{at}.json").write_text(lines)
    done = subprocess.run(
        [
            *(sys.executable, str(program), cluster.master, shared_broker.bootstrap, str(bare_python)),
            *(json.dumps(CONF | logged), str(folder)),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env=clean_environment() | {"SPARK_HOME": str(cluster.home), "THE_SECRET": SECRET},
        timeout=DRIVER_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[-6000:]}\n{cluster.logs()[-3000:]}"
    said = json.loads(done.stdout.rsplit("SAID ", 1)[1])
    written = [file for file in (folder / "events").rglob("*") if file.is_file()]
    events = "".join(file.read_text(errors="replace") for file in written)
    assert "SparkListenerSQLExecutionStart" in events
    assert SECRET not in done.stdout + done.stderr + events + cluster.logs()
    assert sum(said["counts"].values()) == RECORDS and len(said["counts"]) == PARTITIONS
    assert len(said["sent"]) == 1 and said["sent"][0].endswith("#ottla_shipped")
    for where in said["where"]:
        cwd, executable, package, compiled = where.split("|")
        assert str(cluster.folder) in cwd and str(cluster.folder) in package
        assert executable == str(bare_python)
        assert compiled == "True", "the workers got no compiled codec"
    assert sorted(values(shared_broker, "copy", RECORDS)) == sorted(value + b"!" for value in sent)
    assert sorted(values(shared_broker, "once", RECORDS)) == sorted(sent)
    assert said["killed"] and "batch 0 failed and is run again" in done.stderr
    all_rows = records(shared_broker.bootstrap, "once", isolation_level="read_uncommitted")
    assert len(all_rows) > RECORDS  # those of the aborted batch are there for who wants to see them
    assert said["codes"] == [0, 0], done.stderr
    published = [json.loads(value) for value in values(shared_broker, "lines", LINES)]
    assert sorted(published, key=lambda row: row["id"]) == rows
    table = folder / "table"
    checked = verify_load(table)
    assert (checked.records, checked.problems, checked.strays) == (LINES, [], [])
    files = [pq.read_table(file, columns=["key", "value"]) for file in table.rglob("*.parquet")]
    loaded = {row["key"]: json.loads(row["value"]) for row in pa.concat_tables(files).to_pylist()}
    assert loaded == {b"%d" % row["id"]: row for row in rows}
    check_logs(cluster)


@pytest.mark.timeout(320)
def test_a_streams_program_of_two_files_runs_on_such_a_cluster_by_its_command(
    cluster: SparkCluster, bare_python: Path, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """`ottla streams run wordcount.py --master spark://...`, in transactions: the program, and a module that
    lies beside it, get to workers that have neither them nor the package.
    """
    (tmp_path / "wordcount.py").write_text(WORDCOUNT)
    (tmp_path / "word_splitting.py").write_text(WORDS)
    texts = [f"Line {number % 50} the {'odd' if number % 2 else 'even'} one" for number in range(LINES)]
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS) for name in ("texts", "word-counts")])
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap) as producer:
        for text in texts:
            producer.send("texts", text)
    settings = [part for name, value in CONF.items() for part in ("--conf", f"{name}={value}")]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ottla.cli.main", "streams", "run", "wordcount.py", "--available-now"),
            *("--guarantee", "exactly_once_v2", "--checkpoint", str(tmp_path / "checkpoint")),
            *("--master", cluster.master, "--bootstrap-server", shared_broker.bootstrap, *settings),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment() | {"SPARK_HOME": str(cluster.home), "PYSPARK_PYTHON": str(bare_python)},
        timeout=DRIVER_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[-6000:]}\n{cluster.logs()[-3000:]}"
    expected = Counter(word for text in texts for word in text.lower().split())
    found = [(each.key, each.value) for each in records(shared_broker.bootstrap, "word-counts")]
    assert len(found) == len(expected)  # one micro-batch: a row for each word
    counts = {(key or b"").decode(): struct.unpack(">q", value or b"")[0] for key, value in found}
    assert counts == expected
    check_logs(cluster)
