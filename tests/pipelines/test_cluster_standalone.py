"""The same program on a real cluster: a standalone master and two workers that do not have our package.

The driver is a process of its own, started as a user would start it. It may not send its environment: the
workers' Python sees Spark and Arrow, and neither ottla nor what ottla depends on.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ottla
from ottla import NewTopic
from support.broker_process import BrokerProcess
from support.spark_cluster import JVM_OPTIONS, SparkCluster, clean_environment, python_without_ottla

RECORDS = 4_000
PARTITIONS = 4
DRIVER_TIMEOUT_S = 240

PROGRAM = """
import json, os, sys
from pyspark.sql import functions as F
from ottla.pipelines import session, write_stream

master, bootstrap, bare_python, conf, folder = sys.argv[1:6]
conf = json.loads(conf)
said = {}

os.environ["PYSPARK_PYTHON"] = bare_python
spark = session(master, conf=conf)
said["sent"] = spark.sparkContext.listArchives

def source(reader):
    return (reader.format("ottla").option("kafka.bootstrap.servers", bootstrap).option("subscribe", "in")
            .option("startingOffsets", "earliest"))

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

stream = source(spark.readStream).load().select("key", "value")
query = write_stream(stream, topic="once", exactly_once=True, bootstrap_servers=bootstrap,
                     checkpoint=folder + "/checkpoint", trigger={"availableNow": True},
                     application_id="on-a-cluster")
query.awaitTermination()
spark.stop()
print("SAID " + json.dumps(said))
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path / "cluster").start()
    yield cluster
    cluster.stop()


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


@pytest.mark.timeout(320)
def test_a_cluster_whose_workers_lack_the_package_runs_the_same_program(
    cluster: SparkCluster, shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    """Reads and writes, both sinks, on workers that get the package and its compiled codecs."""
    bare_python = python_without_ottla(tmp_path / "bare")
    sent = [b"value-%d" % number for number in range(RECORDS)]
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics([NewTopic(name, PARTITIONS) for name in ("in", "copy", "once")])
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap) as producer:
        for number, value in enumerate(sent):
            producer.send("in", value, key=b"%d" % number)
        producer.flush()
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        "spark.executor.extraJavaOptions": JVM_OPTIONS,
        "spark.sql.shuffle.partitions": "2",
    }
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    cluster.wait_for_workers()
    folder = tmp_path / "driver"
    folder.mkdir()
    done = subprocess.run(
        [
            *(sys.executable, str(program), cluster.master, shared_broker.bootstrap, str(bare_python)),
            *(json.dumps(conf), str(folder)),
        ],
        capture_output=True,
        text=True,
        cwd=folder,
        env=clean_environment(),
        timeout=DRIVER_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr[-6000:]}\n{cluster.logs()[-3000:]}"
    said = json.loads(done.stdout.rsplit("SAID ", 1)[1])
    assert sum(said["counts"].values()) == RECORDS and len(said["counts"]) == PARTITIONS
    assert len(said["sent"]) == 1 and said["sent"][0].endswith("#ottla_shipped")
    for where in said["where"]:
        cwd, executable, package, compiled = where.split("|")
        assert str(cluster.folder) in cwd and str(cluster.folder) in package
        assert executable == str(bare_python)
        assert compiled == "True", "the workers got no compiled codec"
    assert sorted(values(shared_broker, "copy", RECORDS)) == sorted(value + b"!" for value in sent)
    assert sorted(values(shared_broker, "once", RECORDS)) == sorted(sent)
    assert "Traceback" not in cluster.logs()
