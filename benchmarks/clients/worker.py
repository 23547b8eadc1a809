"""One measured run, in a process of its own: so no client warms up, or slows down, another.

    python -m clients.worker produce|consume WAY ADDRESS BROKER_PID TOPIC PARTITIONS RECORDS VALUE_BYTES

prints what was measured as JSON.
"""

from __future__ import annotations

import json
import sys

from clients.consumers import CONSUMERS
from clients.producers import PRODUCERS
from clients.stopwatch import Stopwatch
from clients.workload import values


def main() -> None:
    kind, way, address = sys.argv[1:4]
    topic = sys.argv[5]
    broker_pid, partitions, records, value_bytes = (int(sys.argv[i]) for i in (4, 6, 7, 8))
    clock = Stopwatch(broker_pid)
    if kind == "produce":
        PRODUCERS[way](address, topic, values(value_bytes, records), clock)
        count = records
    else:
        count, size = CONSUMERS[way](address, topic, partitions, records, clock)
        if count < records or size != count * value_bytes:
            raise SystemExit(f"{way}: read {count} of {records} records, {size} bytes of {value_bytes} each")
    print(
        json.dumps(
            {
                "records": count,
                "seconds": clock.seconds,
                "records_per_s": count / clock.seconds,
                "mb_per_s": count * value_bytes / clock.seconds / 1e6,
                "client_cpu_s_per_million": clock.cpu_s / count * 1e6,
                "broker_cpu_s_per_gb": clock.broker_cpu_s / (count * value_bytes) * 1e9,
            }
        )
    )


if __name__ == "__main__":
    main()
