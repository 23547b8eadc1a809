"""`ottla streams run wordcount.py` as a user starts it: output while it runs, Ctrl-C, and going on later."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import ottla
from ottla import NewTopic
from support.broker_process import BrokerProcess
from support.spark_cluster import JVM_OPTIONS, clean_environment, spark_home_of_links
from support.waiting import wait_until

WAIT_S = 240.0
WORDCOUNT = """
from ottla.streams import StreamsBuilder
from word_splitting import words

builder = StreamsBuilder()
lines = builder.stream("lines")
counts = lines.flat_map_values(words).group_by(lambda key, word: word).count()
counts.to_stream().to("counts", value_serde="long")
"""
WORDS = """
def words(line):
    if "poison" in line:
        raise ValueError("this line cannot be split")
    return line.lower().split()
"""
COMMAND = "import sys\nfrom ottla.cli.main import run\nfrom ottla.cli.streams import streams\n" + (
    'sys.exit(run(streams, None, "ottla streams"))\n'
)


class Command:
    """A process of `ottla streams run`."""

    def __init__(self, folder: Path, broker: BrokerProcess, *arguments: str) -> None:
        self.stderr = folder / f"stderr-{len(list(folder.glob('stderr-*')))}"
        environment = clean_environment() | {
            "XDG_STATE_HOME": str(folder / "state"),
            "SPARK_HOME": str(folder / "spark-home"),
        }
        with self.stderr.open("wb") as err:
            self.process = subprocess.Popen(
                [
                    *(sys.executable, "-c", COMMAND, "run", str(folder / "wordcount.py")),
                    *("--master", "local[2]", "-b", broker.bootstrap),
                    *("--conf", f"spark.driver.extraJavaOptions={JVM_OPTIONS}"),
                    *("--conf", "spark.driver.memory=512m", *arguments),
                ],
                stdin=subprocess.DEVNULL,
                stderr=err,
                env=environment,
                cwd=folder,
                # As a terminal does: Ctrl-C goes to all of the command's processes.
                start_new_session=True,
            )

    def said(self) -> str:
        return self.stderr.read_text()

    def ctrl_c(self) -> int:
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(WAIT_S)


def publish(broker: BrokerProcess, *lines: str) -> None:
    with ottla.Producer(bootstrap_servers=broker.bootstrap) as producer:
        for line in lines:
            producer.send("lines", line, partition=0)
        producer.flush()


class Counts:
    """The newest count of each word, as the topic tells it."""

    def __init__(self, broker: BrokerProcess) -> None:
        self._consumer = ottla.Consumer(bootstrap_servers=broker.bootstrap, auto_offset_reset="earliest")
        self._consumer.assign([ottla.TopicPartition("counts", 0)])
        self._newest: dict[str, int] = {}

    def now(self) -> dict[str, int]:
        for record in self._consumer.poll(0.05):
            self._newest[record.key.decode()] = struct.unpack(">q", record.value)[0]
        return self._newest

    def close(self) -> None:
        self._consumer.close()


@pytest.mark.timeout(600)
def test_a_program_runs_until_ctrl_c_and_goes_on_where_it_was(
    shared_broker: BrokerProcess, tmp_path: Path
) -> None:
    spark_home_of_links(tmp_path / "spark-home")
    (tmp_path / "wordcount.py").write_text(WORDCOUNT)
    (tmp_path / "word_splitting.py").write_text(WORDS)
    with ottla.Admin(bootstrap_servers=shared_broker.bootstrap) as admin:
        admin.create_topics([NewTopic("lines", 1), NewTopic("counts", 1)])
    publish(shared_broker, "Hello world", "hello again")
    counts = Counts(shared_broker)
    first = Command(tmp_path, shared_broker)
    try:

        def counted(**expected: int) -> bool:
            assert first.process.poll() is None, first.said()
            return counts.now() == expected

        wait_until(lambda: counted(hello=2, world=1, again=1), "the first counts", timeout_s=WAIT_S)
        # Only the newest batch is told of, now and then: the next one must not come before that.
        wait_until(lambda: "batch 0, 2 records" in first.said(), "a line of progress", timeout_s=WAIT_S)
        publish(shared_broker, "hello")
        wait_until(lambda: counted(hello=3, world=1, again=1), "the next count", timeout_s=WAIT_S)
        assert first.ctrl_c() == 0, first.said()
    finally:
        first.process.kill()
    said = first.said()
    assert "batch 0, 2 records" in said and said.rstrip().endswith("stopped")
    assert "Traceback" not in said and "Exception" not in said, said

    # The next start counts on from where it was; a line that a function cannot take ends it, and is named.
    publish(shared_broker, "hello hello", "poison")
    second = Command(tmp_path, shared_broker, "--available-now", "--option", "maxOffsetsPerTrigger=1")
    assert second.process.wait(WAIT_S) == 1, second.said()
    assert counts.now()["hello"] == 5, counts.now()
    last = second.said().rstrip().splitlines()[-1]
    assert last.startswith("ottla: ") and "this line cannot be split" in last
    assert "lines" in last and "offset 4" in last, last
    assert "Traceback" not in second.said(), second.said()
    counts.close()
