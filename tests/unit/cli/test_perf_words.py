"""`ottla perf`: what is measured, how it is said, and the options that make no sense."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ottla.cli.main import cli, run
from ottla.cli.perf import unescaped
from ottla.cli.perf_measure import Interval, Latencies, Measurement, Result
from ottla.cli.perf_produce import PAYLOADS, file_payloads, random_payloads


class Heard:
    """A display that remembers."""

    def __init__(self) -> None:
        self.intervals: list[Interval] = []
        self.closed = 0

    def show(self, interval: Interval) -> None:
        self.intervals.append(interval)

    def close(self) -> None:
        self.closed += 1


def test_percentiles_are_right_to_one_percent() -> None:
    latencies = Latencies()
    for value in range(1, 10_001):
        latencies.add(value / 10)
    assert latencies.count == 10_000
    for percent, exact in ((50, 500.0), (95, 950.0), (99, 990.0), (99.9, 999.0)):
        assert latencies.percentile(percent) == pytest.approx(exact, rel=0.011)
    assert latencies.summary()["max"] == 1_000.0
    assert latencies.average_ms == pytest.approx(500.05)


def test_a_percentile_never_exceeds_the_largest_value() -> None:
    latencies = Latencies()
    latencies.add(7.0, 100)
    assert latencies.summary() == {"avg": 7.0, "p50": 7.0, "p95": 7.0, "p99": 7.0, "p99.9": 7.0, "max": 7.0}


def test_values_without_length_and_no_values_at_all_are_no_error() -> None:
    latencies = Latencies()
    assert latencies.percentile(99) == 0.0
    latencies.add(0.0)
    assert latencies.percentile(50) == 0.0


def test_a_display_is_told_once_per_interval_what_happened_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    heard = Heard()
    measurement = Measurement(heard, interval_s=1.0)
    measurement.start()
    for step in range(1, 41):
        now[0] = 100.0 + step * 0.1
        measurement.late(float(step))
        measurement.add(10, 1_000)
    measurement.stop()
    measurement.stop()
    assert [each.all_records for each in heard.intervals] == [100, 200, 300, 400]
    assert {each.records for each in heard.intervals} == {100}
    assert [each.latencies.max_ms for each in heard.intervals] == [10, 20, 30, 40]
    assert heard.closed == 1
    assert measurement.seconds == pytest.approx(4.0)
    assert (measurement.records, measurement.bytes, measurement.latencies.count) == (400, 40_000, 40)


def test_a_result_says_what_failed_and_that_it_was_interrupted() -> None:
    measurement = Measurement(Heard(), math.inf)
    measurement.add(3, 300)
    measurement.stop()
    result = Result(
        "sent", "clicks", "send", measurement, failed=2, errors={"DeliveryTimedOut": 2}, interrupted=True
    )
    assert "(interrupted)" in result.text()
    assert "2 records failed: DeliveryTimedOut (2)" in result.text()
    shown = json.loads(json.dumps(result.json()))
    assert shown["records"] == 3 and shown["failed"] == 2 and shown["interrupted"] is True
    assert "latency_ms" not in shown


def test_payloads_have_the_size_that_was_asked_for_and_are_the_same_in_every_run() -> None:
    payloads = random_payloads(100)
    assert len(payloads) == PAYLOADS and {len(each) for each in payloads} == {100}
    assert payloads == random_payloads(100)
    assert len(set(payloads)) > 900
    assert set(random_payloads(0)) == {b""}


def test_payloads_of_a_file_are_its_pieces(tmp_path: Path) -> None:
    path = tmp_path / "payloads"
    path.write_bytes(b"a;bb;;c\n")
    assert sorted(file_payloads(str(path), unescaped(";"))) == [b"a", b"bb", b"c\n"]
    path.write_bytes(b"x\ty\n")
    assert sorted(file_payloads(str(path), unescaped("\\t"))) == [b"x", b"y\n"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["produce", "t", "--record-size", "1", "--payload-file", "{file}"], "exclude each other"),
        (["produce", "t", "--payload-file", "{empty}"], "nothing in it"),
        (["produce", "t", "-X", "linger_mss=1"], "did you mean linger.ms?"),
        (["produce", "t", "-X", "linger"], "key=value"),
        (["produce", "t", "--records", "0"], "--records"),
        (["consume", "t", "-X", "linger.ms=1"], "a setting of producers"),
        (["latency", "t", "--acks", "0"], "--acks"),
    ],
)
def test_a_wrong_command_line_ends_with_one_line(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("x\n")
    (tmp_path / "empty").write_text("\n")
    args = [word.format(file=tmp_path / "file", empty=tmp_path / "empty") for word in words]
    assert run(cli, ["perf", *args, "-b", "127.0.0.1:1"], "ottla") in (1, 2)
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1
    assert not printed.out


@pytest.mark.parametrize(
    "words", [["produce", "t"], ["consume", "t"], ["consume", "t", "-g", "g"], ["latency", "t"]]
)
def test_nobody_at_the_address_is_one_line_and_not_a_long_wait(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, ["perf", *words, "-b", "127.0.0.1:1"], "ottla") == 1
    printed = capsys.readouterr()
    assert "no broker answers at 127.0.0.1:1" in printed.err and printed.err.count("\n") == 1
