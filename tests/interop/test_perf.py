"""`ottla perf` and Kafka's performance scripts against a real broker: small loads whose numbers add up."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from support.broker_process import BrokerProcess
from support.tools import REPOSITORY

TIMEOUT_S = 60


def perf(broker: BrokerProcess, *args: str, code: int = 0) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", "perf", *args, "-b", broker.bootstrap, "--json"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == code, done.stderr
    shown: dict[str, Any] = json.loads(done.stdout)
    return shown


def script(broker: BrokerProcess, line: str) -> str:
    done = subprocess.run(
        f"bin/{line}".replace("SERVER", broker.bootstrap).split(),
        cwd=REPOSITORY,
        env={**os.environ, "OTTLA_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("produced", "consumed"), [("batch", "batch"), ("send", "poll")])
def test_what_perf_produce_wrote_perf_consume_reads(
    shared_broker: BrokerProcess, topic_name: str, produced: str, consumed: str
) -> None:
    written = perf(
        *(shared_broker, "produce", topic_name, "--partitions", "3", "-n", "25000", "--record-size", "64"),
        *("--api", produced, "--compression", "lz4", "-q"),
    )
    assert (written["records"], written["bytes"], written["failed"]) == (25_000, 25_000 * 64, 0)
    late = written["latency_ms"]
    assert 0 < late["p50"] <= late["p95"] <= late["p99"] <= late["p99.9"] <= late["max"]
    read = perf(shared_broker, "consume", topic_name, "--api", consumed, "-q")
    assert (read["records"], read["bytes"]) == (25_000, 25_000 * 64)
    by_group = perf(
        shared_broker, "consume", topic_name, "--api", consumed, "-q", "-g", topic_name, "-n", "25000"
    )
    assert by_group["records"] == 25_000


def test_a_rate_and_a_duration_are_kept(shared_broker: BrokerProcess, topic_name: str) -> None:
    shown = perf(
        *(
            shared_broker,
            "produce",
            topic_name,
            "--partitions",
            "1",
            "--throughput",
            "2000",
            "--duration",
            "1",
            "-q",
        ),
    )
    # Not faster than asked for; how much slower a busy machine is says nothing.
    assert 0 < shown["records"] <= 2_000 + 2_000 / 50
    assert shown["seconds"] >= 1


def test_a_record_goes_there_and_back(shared_broker: BrokerProcess, topic_name: str) -> None:
    shown = perf(shared_broker, "latency", topic_name, "--partitions", "1", "-n", "20", "--metrics", "-q")
    assert shown["records"] == 20
    assert 0 < shown["acknowledged_ms"]["p50"] <= shown["end_to_end_ms"]["p50"]
    assert shown["metrics"]


def test_ctrl_c_prints_what_was_measured_so_far(shared_broker: BrokerProcess, topic_name: str) -> None:
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "ottla.cli.main", "perf", "produce", topic_name, "--partitions", "1"),
            *("-b", shared_broker.bootstrap, "--duration", str(TIMEOUT_S), "--interval", "0.1", "--json"),
            *("--throughput", "5000"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert "records sent" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
    shown = json.loads(out)
    assert process.returncode == 130, err
    assert shown["interrupted"] is True and shown["records"] > 0
    assert "Traceback" not in err


def test_records_that_are_refused_are_counted_and_end_in_failure(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    subprocess.run(
        [
            *(
                sys.executable,
                "-m",
                "ottla.cli.main",
                "topic",
                "create",
                topic_name,
                "-b",
                shared_broker.bootstrap,
            ),
            *("--config", "max.message.bytes=200"),
        ],
        check=True,
        timeout=TIMEOUT_S,
        capture_output=True,
    )
    shown = perf(
        *(shared_broker, "produce", topic_name, "-n", "10", "--record-size", "1000", "--api", "send", "-q"),
        code=1,
    )
    assert shown["failed"] == 10 and list(shown["errors"]) == ["MessageTooLarge"]


def test_kafkas_performance_scripts_print_kafkas_lines(shared_broker: BrokerProcess, topic_name: str) -> None:
    printed = script(
        shared_broker,
        f"kafka-producer-perf-test.sh --topic {topic_name} --num-records 5000 --record-size 100 "
        "--throughput -1 --producer-props bootstrap.servers=SERVER acks=all",
    )
    assert re.fullmatch(
        r"5000 records sent, [\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency, [\d.]+ ms max "
        r"latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.",
        printed.splitlines()[-1],
    )
    printed = script(
        shared_broker,
        f"kafka-consumer-perf-test.sh --bootstrap-server SERVER --topic {topic_name} --messages 5000",
    )
    header, numbers = printed.splitlines()
    assert header.startswith(
        "start.time, end.time, data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
    )
    values = numbers.split(", ")
    assert len(values) == len(header.split(", ")) == 10 and int(values[4]) >= 5_000
    printed = script(shared_broker, f"kafka-e2e-latency.sh SERVER {topic_name} 10 all 20")
    assert re.fullmatch(
        r"Avg latency: [\d.]+ ms\nPercentiles: 50th = \d+, 99th = \d+, 99\.9th = \d+\n", printed
    )
