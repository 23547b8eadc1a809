"""What a broker finds on disk, or does not: taken, read-only, foreign, damaged, full. It says so in one
line, and loses nothing.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ottla.model.errors import ErrorCode
from support.broker_process import BrokerFactory, BrokerProcess
from support.raw_client import ConnectionEnded, RawClient, batch_of
from support.waiting import wait_until


def can_mount() -> bool:
    """Whether this process may mount a file system (root in most places, not in every container)."""
    with tempfile.TemporaryDirectory() as path:
        if subprocess.run(
            ["mount", "-t", "tmpfs", "tmpfs", path], capture_output=True, check=False
        ).returncode:
            return False
        subprocess.run(["umount", path], check=True)
        return True


needs_mount = pytest.mark.skipif(
    not can_mount(), reason="nothing can be mounted here; the limit on file sizes shows the same refusal"
)


def fill(broker: BrokerProcess, topic: str, count: int, first: int = 0) -> None:
    with RawClient(broker.port) as client:
        for index in range(first, first + count):
            assert client.produce(topic, batch_of(b"record %d" % index)).error_code == ErrorCode.NONE


def values(broker: BrokerProcess, topic: str) -> list[bytes | None]:
    with RawClient(broker.port) as client:
        return [each.value for each in client.read_all(topic)]


def refusal(broker: BrokerProcess, *, lines_max: int = 1) -> str:
    """Starts a broker that cannot start; the line that says why, which is the last."""
    mark = broker.log_mark()
    broker.launch()
    assert broker.wait_for_exit(15) == 1
    lines = broker.log_lines_since(mark)
    assert 1 <= len(lines) <= lines_max and not any("Traceback" in line for line in lines), "\n".join(lines)
    assert lines[-1].startswith("ottla: ")
    return lines[-1]


def test_a_second_process_on_the_same_directory_is_refused(start_broker: BrokerFactory) -> None:
    first = start_broker()
    with RawClient(first.port) as client:
        client.create_topic("t")
    fill(first, "t", 3)
    second = start_broker(start=False, data_dir=first.data_dir)
    assert str(first.data_dir) in refusal(second)
    assert values(first, "t") == [b"record 0", b"record 1", b"record 2"]
    first.kill()
    second.start()
    assert len(values(second, "t")) == 3, "a lock does not outlive its process"


def test_a_port_that_is_taken_is_one_line(start_broker: BrokerFactory, tmp_path: Path) -> None:
    first = start_broker()
    second = start_broker(start=False)
    second.port = first.port
    assert str(first.port) in refusal(second)


def test_a_data_directory_of_another_node_is_refused(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    assert broker.stop() == 0
    broker.settings["node.id"] = "7"
    broker.port = 0
    assert "node.id" in refusal(broker)


def test_garbage_in_meta_properties_is_refused(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    assert broker.stop() == 0
    (broker.data_dir / "meta.properties").write_bytes(b"\x00\xffgarbage")
    assert "meta.properties" in refusal(broker)


def test_a_data_directory_that_is_a_file_is_refused(start_broker: BrokerFactory, tmp_path: Path) -> None:
    path = tmp_path / "occupied"
    path.write_text("not a directory")
    assert "occupied" in refusal(start_broker(start=False, data_dir=path), lines_max=3)


def test_foreign_files_in_the_data_directory_are_left_alone(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic("t")
    fill(broker, "t", 2)
    assert broker.stop() == 0
    (broker.data_dir / "README").write_text("mine")
    (broker.data_dir / "lost+found").mkdir()
    broker.start()
    assert len(values(broker, "t")) == 2
    assert (broker.data_dir / "README").read_text() == "mine"


@needs_mount
def test_a_read_only_data_directory_is_refused(start_broker: BrokerFactory, small_disk: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    broker = start_broker(start=False, data_dir=small_disk / "data")
    assert str(small_disk) in refusal(broker, lines_max=3)


def test_sigterm_makes_the_next_start_a_clean_one(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic("t")
    fill(broker, "t", 20)
    assert broker.stop() == 0
    assert (broker.data_dir / ".kafka_cleanshutdown").exists()
    # A clean start trusts the files: with the marker, even a tail that would not survive a scan is not
    # looked at.
    epochs_before = (broker.data_dir / "t-0" / "leader-epoch-checkpoint").read_text()
    broker.start()
    assert not (broker.data_dir / ".kafka_cleanshutdown").exists(), "a crash from now on is not clean"
    fill(broker, "t", 1, first=20)
    assert (broker.data_dir / "t-0" / "leader-epoch-checkpoint").read_text() == epochs_before
    assert values(broker, "t") == [b"record %d" % index for index in range(21)]


def test_sigterm_answers_what_is_under_way(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic("t")
        answered = 0
        os.kill(broker.pid, signal.SIGTERM)
        try:
            while client.produce("t", batch_of(b"%d" % answered)).error_code == ErrorCode.NONE:
                answered += 1
        except (ConnectionEnded, OSError):
            pass
    assert broker.wait_for_exit() == 0
    broker.start()
    assert len(values(broker, "t")) >= answered


@pytest.mark.parametrize("damage", ["torn", "nonsense", "bit"])
def test_a_damaged_tail_is_cut_and_everything_before_it_kept(
    start_broker: BrokerFactory, damage: str
) -> None:
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic("t")
    fill(broker, "t", 30)
    broker.kill()
    log = broker.data_dir / "t-0" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    last = len(data) // 30
    if damage == "torn":
        data = data[: len(data) - last // 2]
    elif damage == "nonsense":
        data += os.urandom(5_000)
    else:
        data[-3] ^= 0x10
    log.write_bytes(data)
    kept = 30 if damage == "nonsense" else 29
    broker.start()
    assert values(broker, "t") == [b"record %d" % index for index in range(kept)]
    fill(broker, "t", 1, first=kept)
    assert values(broker, "t")[-1] == b"record %d" % kept


def test_missing_and_damaged_indexes_are_made_again(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with RawClient(broker.port) as client:
        client.create_topic("t", segment_bytes="1048576", index_interval_bytes="1000")
        for index in range(1000):
            client.produce("t", batch_of(b"%06d" % index + bytes(4000)), acks=1)
    assert broker.stop() == 0
    folder = broker.data_dir / "t-0"
    segments = sorted(folder.glob("*.index"))
    assert len(segments) >= 3
    segments[0].unlink()
    segments[1].write_bytes(b"\xff" * 37)
    sorted(folder.glob("*.timeindex"))[1].unlink()
    (broker.data_dir / ".kafka_cleanshutdown").unlink()
    broker.start()
    with RawClient(broker.port) as client:
        for offset in (0, 1, 333, 500, 998, 999):
            part = client.fetch("t", offset, partition_max_bytes=100)
            assert bytes(part.records or b"").find(b"%06d" % offset) > 0


# --- full disks
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    path = tmp_path / "small"
    path.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(path)], check=True)
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


@needs_mount
def test_a_full_disk_refuses_writes_and_loses_nothing(start_broker: BrokerFactory, small_disk: Path) -> None:
    broker = start_broker(data_dir=small_disk / "data")
    acked = []
    with RawClient(broker.port) as client:
        client.create_topic("t")
        for index in range(60):
            value = b"%06d" % index + bytes(700_000)
            answer = client.produce("t", batch_of(value))
            if answer.error_code != ErrorCode.NONE:
                break
            acked.append(value)
        assert 10 < len(acked) < 60
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        # What was acknowledged is readable all the while; what was refused is not.
        assert [each.value for each in client.read_all("t")] == acked
    # A restart on the full disk would have no room for its own files: it gets some.
    broker.kill()
    subprocess.run(["mount", "-o", "remount,size=48m", str(small_disk)], check=True)
    broker.start()
    assert values(broker, "t") == acked
    with RawClient(broker.port) as client:
        assert client.produce("t", batch_of(b"room again")).base_offset == len(acked)


@needs_mount
def test_a_disk_that_has_room_again_takes_writes_without_a_restart(
    start_broker: BrokerFactory, small_disk: Path
) -> None:
    broker = start_broker(data_dir=small_disk / "data")
    with RawClient(broker.port) as client:
        client.create_topic("t")
        ballast = small_disk / "ballast"
        with ballast.open("wb") as file:
            try:
                while file.write(bytes(100_000)):
                    file.flush()
            except OSError:
                pass
        refused = client.produce("t", batch_of(bytes(900_000)))
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        ballast.unlink()
        wait_until(
            lambda: client.produce("t", batch_of(b"fine again")).error_code == ErrorCode.NONE,
            "writes to be accepted again",
        )
        assert client.read_all("t")[-1].value == b"fine again"


def test_a_limit_on_file_sizes_refuses_writes_and_loses_nothing(start_broker: BrokerFactory) -> None:
    """RLIMIT_FSIZE: a write comes back short or fails, and the log is cut back to its last whole batch."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, 3_000_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    broker = start_broker(preexec=limit)
    acked = []
    with RawClient(broker.port) as client:
        client.create_topic("t")
        for index in range(10):
            value = b"%06d" % index + bytes(700_000)
            answer = client.produce("t", batch_of(value))
            if answer.error_code != ErrorCode.NONE:
                break
            acked.append(value)
        assert answer.error_code == ErrorCode.KAFKA_STORAGE_ERROR and len(acked) == 4
    broker.kill()
    unlimited = start_broker(data_dir=broker.data_dir)
    assert values(unlimited, "t") == acked
