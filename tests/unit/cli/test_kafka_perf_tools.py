"""Kafka's performance tools: wrong command lines end with 1 and say why, before anybody is connected to."""

from __future__ import annotations

import pytest

from ottla.cli.kafka.__main__ import run

PRODUCE = ["--topic", "t", "--num-records", "5", "--throughput", "-1"]
SERVER = ["--bootstrap-server", "127.0.0.1:1"]
LATENCY = [*SERVER, "--topic", "t", "--num-records", "5"]


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("producer-perf-test", PRODUCE, "exactly one of --record-size"),
        ("producer-perf-test", [*PRODUCE, "--record-size", "1", "--payload-monotonic"], "exactly one of"),
        ("producer-perf-test", [*PRODUCE, "--record-size", "0"], "--record-size must be greater than 0"),
        ("producer-perf-test", [*PRODUCE, "--record-size", "1"], "bootstrap.servers"),
        (
            "producer-perf-test",
            [*PRODUCE, "--record-size", "1", "--producer-props", "linger.mss=1", "bootstrap.servers=h:1"],
            "did you mean linger.ms?",
        ),
        ("producer-perf-test", [*PRODUCE, "--record-size", "1", "--transactional-id", "x"], "transactions"),
        ("consumer-perf-test", [*SERVER, "--topic", "t"], "--messages"),
        ("consumer-perf-test", [*SERVER, "--topic", "t", "--messages", "0"], "greater than 0"),
        (
            "consumer-perf-test",
            [*SERVER, "--topic", "t", "--messages", "1", "--reporting-interval", "0"],
            "Reporting interval must be greater than 0",
        ),
        ("e2e-latency", [*LATENCY, "--producer-acks", "0", "--record-size", "1"], "--producer-acks"),
        ("e2e-latency", [*LATENCY, "--record-size", "1"], "are needed"),
        ("e2e-latency", ["127.0.0.1:1", "t", "5", "0", "20"], "Please use 1 or all"),
        ("e2e-latency", ["127.0.0.1:1", "t", "five", "1", "20"], "are numbers"),
        ("e2e-latency", ["127.0.0.1:1", "t"], "expected: HOST:PORT"),
    ],
)
def test_a_wrong_command_line_is_explained(
    tool: str, args: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tool, args) == 1
    printed = capsys.readouterr()
    assert said in printed.err
    assert "Traceback" not in printed.err and not printed.out


def test_nobody_at_the_address_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("e2e-latency", ["127.0.0.1:1", "t", "5", "all", "20"]) == 1
    printed = capsys.readouterr()
    assert "no broker answers at 127.0.0.1:1" in printed.err and printed.err.count("\n") == 1
