"""The systems that an exactly-once run can be held against: Ottla, and Apache Kafka as the oracle of what is
normal.

Both are one node on a port that it keeps through kills, stops and starts, with the same settings, which make
groups and transactions settle in seconds instead of minutes. Kafka's jars and way of starting are the
benchmarks' (`benchmarks/peers`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Protocol

from ottla.cli.unused_ports import unused_ports
from support.broker_process import BrokerProcess
from support.tools import REPOSITORY
from support.waiting import wait_until

SYSTEMS = ("ottla", "kafka")
KAFKA_START_S = 240.0
KAFKA_STOP_S = 60.0
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def die_with_the_run() -> None:
    """In a child before its program starts: it does not outlive a run that is itself killed, and a Ctrl-C
    reaches the run alone, which then ends its children in order.
    """
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.setsid()


def settings(session_ms: int) -> dict[str, str]:
    return {
        "auto.create.topics.enable": "false",
        "group.initial.rebalance.delay.ms": "200",
        "group.min.session.timeout.ms": "1000",
        "group.consumer.min.session.timeout.ms": "1000",
        "group.consumer.session.timeout.ms": str(session_ms),
        "group.consumer.min.heartbeat.interval.ms": "100",
        "group.consumer.heartbeat.interval.ms": "300",
        "offsets.topic.num.partitions": "4",
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    }


class Broker(Protocol):
    """`support.broker_process.BrokerProcess` is one."""

    @property
    def bootstrap(self) -> str: ...

    @property
    def port(self) -> int: ...

    @property
    def running(self) -> bool: ...

    def start(self) -> Any: ...

    def stop(self) -> int: ...

    def kill(self) -> None: ...

    def log_since(self, mark: int) -> str: ...


class KafkaProcess:
    """Apache Kafka, one node that is broker and controller."""

    def __init__(self, folder: Path, own_settings: dict[str, str]) -> None:
        sys.path.insert(0, str(REPOSITORY / "benchmarks"))
        from peers import apache_kafka

        self._peer: Any = apache_kafka
        self._class_path = f"{apache_kafka.jars()}/*"
        self._output = folder / "kafka.out"
        self._process: subprocess.Popen[bytes] | None = None
        port, controller_port = unused_ports("127.0.0.1", 2)
        self.port: int = port
        listeners = f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}"
        own = {
            "listeners": listeners,
            "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
            "log.dirs": str(folder / "kafka-data"),
            # A killed node is known as dead only after its session; it cannot register again before.
            "broker.session.timeout.ms": "6000",
            "broker.heartbeat.interval.ms": "1000",
        }
        self._properties = folder / "server.properties"
        lines = (apache_kafka.SETTINGS | own_settings | own).items()
        self._properties.write_text("".join(f"{key}={value}\n" for key, value in lines))
        apache_kafka.ApacheKafka(folder).format(self._properties)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> KafkaProcess:
        with self._output.open("ab") as out:
            self._process = subprocess.Popen(
                [
                    "java",
                    *self._peer.JVM_OPTIONS,
                    "-cp",
                    self._class_path,
                    "kafka.Kafka",
                    str(self._properties),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                preexec_fn=die_with_the_run,
            )
        from kafka_socket import api_versions

        def answers() -> bool:
            assert self.running, f"Kafka ended: {self.log_since(0)[-2000:]}"
            try:
                api_versions(self.bootstrap)
            except OSError:
                return False
            return True

        wait_until(answers, "Kafka answers", timeout_s=KAFKA_START_S, pause_s=0.05)
        return self

    def stop(self) -> int:
        """SIGTERM; a JVM that was asked to end says so with 143, which counts as clean."""
        assert self._process is not None
        self._process.terminate()
        code = self._process.wait(KAFKA_STOP_S)
        return 0 if code in (143, -signal.SIGTERM) else code

    def kill(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def log_since(self, mark: int) -> str:
        return self._output.read_text(errors="replace")[mark:] if self._output.exists() else ""


def new_broker(system: str, folder: Path, session_ms: int) -> Broker:
    """A broker of its own data, not started yet."""
    if system == "kafka":
        return KafkaProcess(folder, settings(session_ms))
    assert system == "ottla"
    return BrokerProcess(folder / "data", settings=settings(session_ms), preexec=die_with_the_run)


def undelivered(port: int) -> bool:
    """Whether the broker at this port has yet to read what processes sent that are gone now.

    A killed process's kernel still delivers what it had written, then ends the connection; until the broker
    has read up to that end its side of the connection is in CLOSE_WAIT and the other in FIN_WAIT.
    """
    half_closed = {"04", "05", "08"}  # FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT
    suffix = f":{port:04X}"
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        path = Path(table)
        for line in path.read_text().splitlines()[1:] if path.exists() else ():
            _, local, remote, state = line.split()[:4]
            if state in half_closed and (local.endswith(suffix) or remote.endswith(suffix)):
                return True
    return False
