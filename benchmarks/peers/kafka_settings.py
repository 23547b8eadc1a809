"""The two ways in which Apache Kafka takes part: as it is shipped, and as its documentation recommends.

Both log nothing (slf4j-nop), so no figure contains the cost of Kafka's own logs.
"""

from __future__ import annotations

from dataclasses import dataclass

_NEEDED = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
"""What a cluster of one node cannot do without."""

_SHIPPED = {
    "num.network.threads": "3",
    "num.io.threads": "8",
    "socket.send.buffer.bytes": "102400",
    "socket.receive.buffer.bytes": "102400",
    "socket.request.max.bytes": "104857600",
    "num.partitions": "1",
    "num.recovery.threads.per.data.dir": "2",
    "log.retention.hours": "168",
    "log.segment.bytes": "1073741824",
    "log.retention.check.interval.ms": "300000",
}
"""The values of the `server.properties` that Kafka 4.2 comes with; those of them that a benchmark feels are
the built-in defaults, too.
"""

_RECOMMENDED = _SHIPPED | {
    # Kafka's sample of a production configuration has socket buffers of 1 MB; its threads are those of the
    # shipped file, which on a small machine are more than there are cores already.
    "socket.send.buffer.bytes": "1048576",
    "socket.receive.buffer.bytes": "1048576",
}

_START_SCRIPT = (
    *("-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:+ExplicitGCInvokesConcurrent", "-XX:MaxInlineLevel=15"),
    "-Djava.awt.headless=true",
)
"""What kafka-server-start.sh and kafka-run-class.sh give to the JVM."""

_OPERATIONS_PAGE = (
    # 6 GB in Kafka's documentation, for a broker with a machine of its own; 4 leaves the page cache its part
    # of a machine that runs other systems and the client, too.
    *("-Xmx4G", "-Xms4G", "-server", "-XX:MetaspaceSize=96m", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20"),
    *("-XX:InitiatingHeapOccupancyPercent=35", "-XX:G1HeapRegionSize=16M", "-XX:MinMetaspaceFreeRatio=50"),
    *("-XX:MaxMetaspaceFreeRatio=80", "-XX:+ExplicitGCInvokesConcurrent", "-Djava.awt.headless=true"),
)
"""The arguments that Kafka's operations pages call typical."""


@dataclass(frozen=True, slots=True)
class KafkaSettings:
    jvm_options: tuple[str, ...]
    properties: dict[str, str]


DEFAULT = KafkaSettings(_START_SCRIPT, _NEEDED | _SHIPPED)
RECOMMENDED = KafkaSettings(_OPERATIONS_PAGE, _NEEDED | _RECOMMENDED)
