"""The programs in `examples/`, run as their READMEs say, against a real broker."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.broker_process import BrokerFactory, BrokerProcess
from support.tools import REPOSITORY
from support.waiting import wait_until

EXAMPLES = REPOSITORY / "examples"
TIMEOUT_S = 60


@pytest.fixture
def broker(start_broker: BrokerFactory) -> BrokerProcess:
    # Nobody else joins these groups: their first members need not wait for more.
    return start_broker(settings={"group.initial.rebalance.delay.ms": "0"})


def command(broker: BrokerProcess, program: str, *args: object) -> list[str]:
    return [
        *(sys.executable, str(EXAMPLES / program), "--bootstrap-server", broker.bootstrap),
        *(str(each) for each in args),
    ]


def run(broker: BrokerProcess, program: str, *args: object, stdin: str = "") -> str:
    done = subprocess.run(
        command(broker, program, *args),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def running(broker: BrokerProcess, program: str, *args: object) -> Iterator[subprocess.Popen[str]]:
    """The program in the background; stopped with SIGTERM at the end, which it must take well."""
    process = subprocess.Popen(command(broker, program, *args), stdout=subprocess.PIPE, text=True)
    try:
        yield process
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_searches_are_recorded_with_an_own_encoder_and_partitioner_and_counted(broker: BrokerProcess) -> None:
    create_topic(broker, "searches", 3)
    recorded = run(broker, "search_keywords/record.py", EXAMPLES / "search_keywords" / "searches.csv")
    assert recorded == "60 searches recorded in searches\n"
    assert run(broker, "search_keywords/report.py") == (
        "developer: event streaming (7), laptop stand (4), python (3)\n"
        "parent: school bag (13), rain boots (6), bicycle 16 inch (4)\n"
        "traveller: rain jacket (8), night train (4), backpack 40 l (3)\n"
    )
    printed = cli(broker, "consume", "searches", "--from-beginning", "-e", "--format", "%p %k %v\\n")
    partition_of: dict[str, set[str]] = {}
    for line in printed.splitlines():
        partition, category, message = line.split(" ", 2)
        partition_of.setdefault(category, set()).add(partition)
        assert message.count(" | ") == 3
    assert {category: len(found) for category, found in partition_of.items()} == {
        "developer": 1,
        "parent": 1,
        "traveller": 1,
    }


def test_searches_with_bars_and_percent_signs_come_back_as_they_were(broker: BrokerProcess) -> None:
    create_topic(broker, "searches", 2)
    rows = "".join(f"traveller,t-1,{text}\n" for text in ("100% wool", *["c | d"] * 2, *["%7C"] * 3))
    assert run(broker, "search_keywords/record.py", stdin=rows).startswith("6 searches")
    assert run(broker, "search_keywords/report.py") == "traveller: %7C (3), c | d (2), 100% wool (1)\n"


def test_a_report_since_a_time_leaves_out_what_was_before(broker: BrokerProcess) -> None:
    create_topic(broker, "searches", 1)
    run(broker, "search_keywords/record.py", stdin="parent,p-1,rope\n")
    assert run(broker, "search_keywords/report.py", "--since", "2100-01-01T00:00:00Z") == ""
    assert run(broker, "search_keywords/report.py", "--since", "2000-01-01T00:00:00Z") == "parent: rope (1)\n"


def test_what_visitors_do_is_published_and_counted(broker: BrokerProcess) -> None:
    with running(broker, "activity_tracking/site.py", "--port", "0") as site:
        assert site.stdout is not None
        url = site.stdout.readline().strip()
        for visitor, path in (
            ("ann", "/"),
            ("ann", "/tent"),
            ("ann", "/search?q=tent"),
            ("bob", "/tent"),
            ("bob", "/search?q=boat"),
        ):
            visit(url.rstrip("/") + path, visitor)
        visit(url + "lamp", "bob", order=True)
        with pytest.raises(urllib.error.HTTPError):
            visit(url + "nothing-here", "ann")
        printed = run(broker, "activity_tracking/dashboard.py", "--events", 8)
    assert printed.splitlines()[-5:] == [
        "8 events of 2 visitors",
        "  pages: /search 2, /tent 2, / 1",
        "  searches: boat 1, tent 1",
        "  found nothing: boat 1",
        "  orders: lamp 1",
    ]


def test_an_event_that_is_not_json_ends_the_dashboard_with_its_place(broker: BrokerProcess) -> None:
    create_topic(broker, "site.orders", 1)
    subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", "produce", "site.orders", "-b", broker.bootstrap],
        input=b"not json\n",
        check=True,
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    done = subprocess.run(
        command(broker, "activity_tracking/dashboard.py"), capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert done.returncode == 1
    assert "site.orders-0" in done.stderr and "offset 0" in done.stderr and "Traceback" not in done.stderr


def visit(url: str, visitor: str, *, order: bool = False) -> None:
    request = urllib.request.Request(
        url, headers={"Cookie": f"visitor={visitor}"}, method="POST" if order else "GET"
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        assert answer.status == 200
        answer.read()


def test_logs_of_two_hosts_are_collected_through_rotations(broker: BrokerProcess, tmp_path: Path) -> None:
    out = tmp_path / "collected"
    written = {"one": Logger(tmp_path / "one.log"), "two": Logger(tmp_path / "two.log")}
    shippers = [
        running(
            *(broker, "log_aggregation/ship.py", f"web={logger.path}", "--host", host),
            *("--state", tmp_path / f"{host}.state", "--every", "0.05"),
        )
        for host, logger in written.items()
    ]
    with shippers[0], shippers[1], running(broker, "log_aggregation/collect.py", out):
        for logger in written.values():
            logger.write(50)
        assert_collected(out, written)
        written["one"].rename()
        written["one"].write(30)
        written["two"].write(5)
        assert_collected(out, written)
        written["two"].cut_off()
        written["two"].write(3)
        written["one"].rename()
        written["one"].write(1)
        assert_collected(out, written)


def test_a_restarted_shipper_goes_on_where_it_was_also_in_a_rotated_file(
    broker: BrokerProcess, tmp_path: Path
) -> None:
    out = tmp_path / "collected"
    logger = Logger(tmp_path / "app.log")
    ship = (
        "log_aggregation/ship.py",
        f"app={logger.path}",
        "--host",
        "h",
        "--state",
        tmp_path / "state",
        "--once",
    )
    logger.write(10)
    assert run(broker, *ship) == "10 lines shipped\n"
    logger.write(4)  # nobody looks
    logger.rename()
    logger.write(6)
    assert run(broker, *ship) == "10 lines shipped\n"
    assert run(broker, *ship) == ""
    assert run(broker, "log_aggregation/collect.py", out, "--lines", 20).startswith("20 lines")
    assert (out / "h" / "app.log").read_bytes() == b"".join(logger.lines)


def test_a_host_name_that_is_a_path_stays_within_the_collectors_directory(
    broker: BrokerProcess, tmp_path: Path
) -> None:
    out = tmp_path / "deep" / "collected"
    logger = Logger(tmp_path / "app.log")
    logger.write(1)
    run(
        *(broker, "log_aggregation/ship.py", f"app={logger.path}", "--host", "../../escaped"),
        *("--state", tmp_path / "state", "--once"),
    )
    run(broker, "log_aggregation/collect.py", out, "--lines", 1)
    assert [path.relative_to(out) for path in out.rglob("*.log")] == [Path("_.._escaped/app.log")]
    assert not (tmp_path / "escaped").exists()


class Logger:
    """A program that writes a log and remembers what it wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[bytes] = []
        self._rotations = 0
        path.touch()

    def write(self, count: int) -> None:
        with self.path.open("ab") as file:
            for _ in range(count):
                line = f"line {len(self.lines)} of {self.path.stem}\n".encode()
                self.lines.append(line)
                file.write(line)

    def rename(self) -> None:
        """logrotate's way: the file gets another name, and a new one takes its place."""
        self._rotations += 1
        self.path.rename(f"{self.path}.{self._rotations}")
        self.path.touch()

    def cut_off(self) -> None:
        """copytruncate."""
        shutil.copy(self.path, f"{self.path}.copy")
        os.truncate(self.path, 0)


def assert_collected(out: Path, written: dict[str, Logger]) -> None:
    """The collected files are exactly what was written, in order, without anything twice."""

    def collected() -> dict[str, bytes]:
        files = {host: out / host / "web.log" for host in written}
        return {host: path.read_bytes() if path.exists() else b"" for host, path in files.items()}

    expected = {host: b"".join(logger.lines) for host, logger in written.items()}
    wait_until(lambda: collected() == expected, "the collected logs", timeout_s=TIMEOUT_S)


def create_topic(broker: BrokerProcess, name: str, partitions: int) -> None:
    cli(broker, "topic", "create", name, "--partitions", str(partitions))


def cli(broker: BrokerProcess, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", *args, "-b", broker.bootstrap],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=True,
    )
    return done.stdout
