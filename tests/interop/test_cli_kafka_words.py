"""Kafka's own tools and ours say the same: scripts that read one read the other.

Kafka's classes come with the jars that the Java client is tested with.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import kafka_tools
from support.broker_process import BrokerProcess
from support.tools import REPOSITORY

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

TIMEOUT_S = 120


def kafkas(main_class: str, *args: str) -> tuple[int, str]:
    ran = kafka_tools.kafkas(main_class, *args)
    return ran.code, ran.out


def ours(name: str, *args: str, stdin: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.kafka", name, *args],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode, done.stdout


def test_configurations_are_described_in_the_same_words(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    server = ("--bootstrap-server", shared_broker.bootstrap)
    ours("topics", *server, "--create", "--topic", topic_name, "--config", "retention.ms=12345")
    of_group = ["--entity-type", "groups", "--entity-name", topic_name]
    altered = ours(
        "configs", *server, "--alter", *of_group, "--add-config", "consumer.session.timeout.ms=50000"
    )
    assert altered == (0, f"Completed updating config for group {topic_name}.\n")
    for what in (
        ["--topic", topic_name],
        ["--topic", topic_name, "--all"],
        of_group,
        ["--group", topic_name, "--all"],
        ["--entity-type", "brokers", "--entity-name", "1"],
    ):
        expected = kafkas("kafka.admin.ConfigCommand", *server, "--describe", *what)
        assert expected[0] == 0
        assert ours("configs", *server, "--describe", *what) == expected


def test_segment_files_are_dumped_in_the_same_words(shared_broker: BrokerProcess, topic_name: str) -> None:
    server = ("--bootstrap-server", shared_broker.bootstrap)
    ours("topics", *server, "--create", "--topic", topic_name)
    options = [f"--property={name}=true" for name in ("parse.key", "parse.headers")]
    lines = "h:1,i:2\tk1\tv1\n\tk2\tv2\n"
    for codec in ("none", "lz4"):
        where = [*server, "--topic", topic_name, "--compression-codec", codec]
        assert ours("console-producer", *where, *options, stdin=lines) == (0, "")
    log = shared_broker.data_dir / f"{topic_name}-0" / "00000000000000000000.log"
    metadata = shared_broker.data_dir / "__cluster_metadata-0" / "00000000000000000000.log"
    for args in (
        ["--files", str(log)],
        ["--files", str(log), "--deep-iteration"],
        ["--files", str(log), "--print-data-log"],
        ["--files", str(metadata), "--deep-iteration"],
    ):
        expected = kafkas("kafka.tools.DumpLogSegments", *args)
        assert expected[0] == 0
        assert ours("dump-log", *args) == expected


def test_directories_that_either_tool_formatted_are_known_to_the_other(tmp_path: Path) -> None:
    text = (REPOSITORY / "config" / "kraft" / "server.properties").read_text()
    assert "/tmp/kraft-combined-logs" in text
    cluster_id = ours("storage", "random-uuid")[1].strip()
    for index, (formatter, other) in enumerate(((ours, kafkas), (kafkas, ours))):
        config = tmp_path / f"{index}.properties"
        config.write_text(text.replace("/tmp/kraft-combined-logs", str(tmp_path / f"data-{index}")))
        name = {ours: "storage", kafkas: "kafka.tools.StorageTool"}
        code, printed = formatter(name[formatter], "format", "-t", cluster_id, "-c", str(config))
        assert code == 0 and "Formatting metadata directory" in printed
        info = [each(name[each], "info", "-c", str(config)) for each in (ours, kafkas)]
        assert info[0] == info[1] and info[0][0] == 0
        again = ("format", "-t", cluster_id, "-c", str(config))
        assert other(name[other], *again)[0] == 1
        code, printed = other(name[other], *again, "--ignore-formatted")
        assert code == 0 and printed.endswith("All of the log directories are already formatted.\n")
