"""The broker under test, Ottla or Apache Kafka: started behind a proxy, killed, paused, restarted.

Clients know only the proxy's address, which the broker advertises, so every byte between them can be cut,
delayed or changed. Apache Kafka is the oracle: what it shows under the same faults is what Kafka promises.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from ottla.cli.unused_ports import unused_ports
from support.broker_process import BrokerProcess
from support.waiting import wait_until

START_TIMEOUT_S = 90.0
STOP_TIMEOUT_S = 60.0

# Kafka's keys with which groups and transactions settle in seconds instead of minutes.
SETTINGS = {
    "group.initial.rebalance.delay.ms": "200",
    "group.min.session.timeout.ms": "1000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "500",
    "offsets.topic.num.partitions": "4",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "4",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
}


class Broker(Protocol):
    """What the faults are done to."""

    data_dir: Path

    @property
    def port(self) -> int: ...

    @property
    def pid(self) -> int: ...

    @property
    def running(self) -> bool: ...

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def stop(self) -> None: ...

    def complaints(self) -> list[str]: ...


def make_broker(system: str, folder: Path, advertised_port: int) -> Broker:
    settings = SETTINGS | {"advertised.listeners": f"PLAINTEXT://127.0.0.1:{advertised_port}"}
    return OttlaBroker(folder, settings) if system == "ottla" else KafkaBroker(folder, settings)


def pause(broker: Broker) -> None:
    os.kill(broker.pid, signal.SIGSTOP)


def resume(broker: Broker) -> None:
    os.kill(broker.pid, signal.SIGCONT)


def segments(broker: Broker, topics: list[str]) -> int:
    """How many segments the topics' partitions have on disk now."""
    return sum(len(list(broker.data_dir.rglob(f"{topic}-*/*.log"))) for topic in topics)


class OttlaBroker:
    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.data_dir = folder / "data"
        (self._port,) = unused_ports("127.0.0.1", 1)
        self._process = BrokerProcess(self.data_dir, settings=settings, log_path=folder / "broker.out")

    @property
    def port(self) -> int:
        return self._port

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.running

    def start(self) -> None:
        # What it says when it is ready is the address that it advertises: the proxy's.
        self._process.port = self._port
        self._process.start()

    def kill(self) -> None:
        self._process.kill()

    def stop(self) -> None:
        self._process.stop()

    def complaints(self) -> list[str]:
        """Internal errors that the broker wrote down."""
        log = self._process.log_since(0)
        return [log[at : at + 2000] for at in _found(log, "Traceback")][:5]


class KafkaBroker:
    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        # The oracle's jars are the benchmarks' business.
        sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))
        from peers.apache_kafka import SETTINGS as PEER_SETTINGS  # type: ignore[import-not-found]
        from peers.apache_kafka import jars

        self.data_dir = folder / "data"
        self._class_path = f"{jars()}/*"
        self._port, controller_port = unused_ports("127.0.0.1", 2)
        self._properties = folder / "server.properties"
        self._output = folder / "broker.out"
        self._process: subprocess.Popen[bytes] | None = None
        own = {
            "listeners": f"PLAINTEXT://127.0.0.1:{self._port},CONTROLLER://127.0.0.1:{controller_port}",
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "log.dirs": str(self.data_dir),
        }
        lines = [f"{key}={value}\n" for key, value in ({**PEER_SETTINGS, **settings, **own}).items()]
        self._properties.write_text("".join(lines))
        self._java("kafka.tools.StorageTool", "format", "-t", "b3R0bGEtd29ya2xvYWQtMQ", "-c").wait()

    @property
    def port(self) -> int:
        return self._port

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        self._process = process = self._java("kafka.Kafka")

        def listens() -> bool:
            assert process.poll() is None, f"Kafka ended with {process.returncode}, see {self._output}"
            with suppress(OSError), socket.create_connection(("127.0.0.1", self._port), 1):
                return True
            return False

        wait_until(listens, "Kafka's port", timeout_s=START_TIMEOUT_S, pause_s=0.1)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_TIMEOUT_S)

    def stop(self) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def complaints(self) -> list[str]:
        return []

    def _java(self, main: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [
            "java",
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            self._class_path,
            main,
        ]
        with self._output.open("ab") as out:
            return subprocess.Popen(
                [*command, *arguments, str(self._properties)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )


def _found(text: str, what: str) -> list[int]:
    places: list[int] = []
    at = text.find(what)
    while at != -1:
        places.append(at)
        at = text.find(what, at + 1)
    return places
