"""Spark's own Kafka connector, `format("kafka")`, reads and writes Ottla: batch and streaming, unmodified.

One process with the connector's jars and both formats: what the two read from one topic has to be equal, row
by row and column by column.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ottla
from ottla import NewTopic
from support.broker_process import BrokerProcess
from support.spark_cluster import JVM_OPTIONS, clean_environment, spark_home_of_links
from support.spark_connector import connector_jars

RECORDS = 2_000
LATER = 1_500
ABORTED = 100
PARTITIONS = 3
BASE_MS = 1_700_000_000_000
PROGRAM_TIMEOUT_S = 240

PROGRAM = """
import json, sys
from pyspark.sql import functions as F
from ottla.pipelines import session

bootstrap, folder, conf = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
spark = session("local[2]", conf=conf)
said = {}

def read(reader, format, **options):
    reader = (reader.format(format).option("kafka.bootstrap.servers", bootstrap)
              .option("subscribe", "events").option("includeHeaders", "true")
              .option("kafka.isolation.level", "read_committed"))
    return reader.options(**options).load()

theirs, ours = read(spark.read, "kafka"), read(spark.read, "ottla")
said["schemas"] = [df.schema.json() for df in (theirs, ours)]
said["counts"] = [df.count() for df in (theirs, ours)]
said["differences"] = [theirs.exceptAll(ours).count(), ours.exceptAll(theirs).count()]
uncommitted = {"kafka.isolation.level": "read_uncommitted"}
said["uncommitted"] = read(spark.read, "kafka", **uncommitted).count()

# Offsets by time, which the connector asks of the admin client.
since = json.dumps({"events": {str(p): %(since)d for p in range(%(partitions)d)}})
said["since"] = [
    read(spark.read, format, startingOffsetsByTimestamp=since).count() for format in ("kafka", "ottla")
]

rows = theirs.select("key", "value", "headers", "partition").where("topic = 'events'")
(rows.write.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("topic", "copy")
 .option("includeHeaders", "true").save())

stream = read(spark.readStream, "kafka", startingOffsets="earliest", maxOffsetsPerTrigger="500")
query = (stream.select("key", F.upper(F.col("value").cast("string")).alias("value"), "headers")
         .writeStream.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("topic", "upper")
         .option("includeHeaders", "true").option("checkpointLocation", folder + "/checkpoint")
         .trigger(availableNow=True).start())
query.awaitTermination()
said["batches"] = len([p for p in query.recentProgress if p["numInputRows"]])
said["rows"] = sum(p["numInputRows"] for p in query.recentProgress)
spark.stop()
print("SAID " + json.dumps(said))
"""


def records(broker: BrokerProcess, topic: str) -> list[tuple[int, bytes | None, bytes | None, object]]:
    """Partition, key, value and headers of all that a topic has, as our client reads it."""
    found = []
    with ottla.Consumer(
        bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest", isolation_level="read_committed"
    ) as consumer:
        partitions = [ottla.TopicPartition(topic, number) for number in range(PARTITIONS)]
        consumer.assign(partitions)
        ends = consumer.end_offsets(partitions)
        while any(consumer.position(partition) < ends[partition] for partition in partitions):
            for record in consumer.poll(1.0):
                found.append((record.partition, record.key, record.value, tuple(record.headers)))
    return sorted(found, key=repr)


@pytest.mark.interop
@pytest.mark.timeout(600)
def test_sparks_own_connector_reads_and_writes_and_sees_the_same_rows_as_our_source(
    shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    jars = connector_jars()
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics(
            NewTopic(name, PARTITIONS, configs={"retention.ms": "-1"}) for name in ("events", "copy", "upper")
        )
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap) as producer:
        for number in range(RECORDS):
            producer.send(
                "events",
                None if number % 97 == 0 else b"value-%d" % number,
                key=None if number % 13 == 0 else b"%d" % number,
                headers=[("n", b"%d" % number), ("n", None)] if number % 7 == 0 else [],
                timestamp=BASE_MS + number,
            )
        producer.flush()
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap, transactional_id="undecided") as producer:
        producer.init_transactions()
        producer.begin_transaction()
        for number in range(ABORTED):
            producer.send("events", b"aborted", key=b"%d" % number)
        producer.flush()
        producer.abort_transaction()
    conf = {
        "spark.ui.enabled": "false",
        "spark.jars": jars,
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
    }
    program = tmp_path / "program.py"
    program.write_text(PROGRAM % {"since": BASE_MS + LATER, "partitions": PARTITIONS})
    done = subprocess.run(
        [sys.executable, str(program), shared_broker.bootstrap, str(tmp_path), json.dumps(conf)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=clean_environment() | {"SPARK_HOME": str(spark_home_of_links(tmp_path / "spark-home"))},
        timeout=PROGRAM_TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    said = json.loads(done.stdout.rsplit("SAID ", 1)[1])
    theirs, ours = (
        [(field["name"], field["type"]) for field in json.loads(text)["fields"]] for text in said["schemas"]
    )
    assert theirs == ours
    written = records(shared_broker, "events")
    assert len(written) == RECORDS
    assert said["counts"] == [RECORDS, RECORDS], said
    assert said["differences"] == [0, 0]
    assert said["uncommitted"] == RECORDS + ABORTED
    assert said["since"] == [RECORDS - LATER, RECORDS - LATER]
    assert records(shared_broker, "copy") == written
    assert said["rows"] == RECORDS and said["batches"] >= RECORDS // 500
    upper = [
        (partition, key, None if value is None else value.upper(), headers)
        for partition, key, value, headers in written
        if key is not None
    ]
    assert [row for row in records(shared_broker, "upper") if row[1] is not None] == sorted(upper, key=repr)
