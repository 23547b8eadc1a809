"""The systems under test: three nodes each, broker and controller, on the loopback interface, fresh for each
turn and gone before the next one starts.

The processes are those of the chaos harness (tests/chaos/cluster). Apache Kafka has the JVM options of its
own start script; both have their defaults, but for what a cluster needs.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

import machine
from ballast import Ballast
from kafka_socket import KafkaSocket, delete_topics
from systems import wait_until_gone

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from chaos.cluster.cluster import ApacheKafka, Cluster, Ottla, System
from chaos.cluster.network import Loopback
from peers.apache_kafka import JVM_OPTIONS

NODES = (1, 2, 3)
SETTINGS = {"log.segment.delete.delay.ms": "100"}
"""A row's files go when it is over: what is not yet on disk would be written back in the next one."""
GONE_S = 5.0


class Turn:
    """One cluster, from its start to its end; to be used in a with statement."""

    def __init__(self, name: str, data: Path | None, ballast: Ballast) -> None:
        self.name = name
        self._ballast = ballast
        self._folder = Path(tempfile.mkdtemp(prefix="replication-bench-", dir=data))
        system: System = ApacheKafka(*JVM_OPTIONS) if name == "kafka" else Ottla()
        self._cluster = Cluster(system, self._folder, Loopback(NODES), NODES, SETTINGS)

    def __enter__(self) -> Turn:
        try:
            self._cluster.start()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._cluster.stop()
        finally:
            self._end()

    def _end(self) -> None:
        self._cluster.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def address(self) -> str:
        return self._cluster.bootstrap

    @property
    def pids(self) -> list[int]:
        return [node.pid for node in self._cluster.nodes.values()]

    @contextmanager
    def topic(self, name: str, partitions: int, writes_mb: float) -> Iterator[None]:
        """A topic for one row, with memory that is ready for about so much, three times."""
        with self._ballast.handed_over(writes_mb * len(NODES)):
            self._cluster.create_topic(name, partitions)
            yield
            with KafkaSocket(self.address.split(",")[0]) as connection:
                delete_topics(connection, [name])
            folders = [node.data_dir for node in self._cluster.nodes.values()]
            wait_until_gone(folders, name, GONE_S)

    def memory_mb(self) -> dict[str, float]:
        """Of the three together."""
        each = [machine.memory_mb(pid) for pid in self.pids]
        return {key: sum(one[key] for one in each) for key in each[0]}

    def in_sync(self, topic: str, partitions: int) -> bool:
        return self._cluster.is_in_sync(topic, partitions)
