"""`kafka-consumer-perf-test.sh`: read a topic as fast as possible."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, pairs
from ottla.cli.perf_measure import Interval, Measurement, Silence

BYTES_PER_MB = 1024 * 1024  # as Kafka's tool counts
COLUMNS = "data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec"
MORE_COLUMNS = "rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec"


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-consumer-perf-test.sh",
        "Measure how fast records can be read.",
        epilog="example: kafka-consumer-perf-test.sh --bootstrap-server localhost:9092 --topic t "
        "--messages 1000000",
    )
    parser.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT,...")
    parser.add_argument("--topic", required=True, help="the topic to read")
    parser.add_argument("--messages", "--num-records", required=True, type=int, help="how many records")
    parser.add_argument("--group", help="the group to read as; a new one by default")
    parser.add_argument(
        "--fetch-size", type=int, default=1024 * 1024, help="bytes of a partition in an answer"
    )
    parser.add_argument("--socket-buffer-size", type=int, default=2 * 1024 * 1024, help="SO_RCVBUF")
    parser.add_argument("--from-latest", action="store_true", help="begin with new records")
    parser.add_argument("--consumer.config", "--command-config", dest="consumer_config", metavar="FILE")
    parser.add_argument("--command-property", action="append", metavar="KEY=VALUE")
    parser.add_argument("--timeout", type=int, default=10_000, help="milliseconds without a record")
    parser.add_argument(
        "--reporting-interval", type=int, default=5_000, help="milliseconds between two lines"
    )
    parser.add_argument("--show-detailed-stats", action="store_true", help="a line for every interval")
    parser.add_argument(
        "--hide-header", action="store_true", help="leave out the line with the columns' names"
    )
    parser.add_argument(
        "--print-metrics", action="store_true", help="print the consumer's metrics at the end"
    )
    return parser


class Details:
    """A line for each interval, where somebody asked for it."""

    def __init__(self) -> None:
        self._bytes = 0

    def show(self, interval: Interval) -> None:
        self._bytes += interval.bytes
        mb, mb_per_s = self._bytes / BYTES_PER_MB, interval.bytes / BYTES_PER_MB / interval.seconds
        per_s = interval.records / interval.seconds
        print(
            f"{stamp(time.time())}, 0, {mb:.4f}, {mb_per_s:.4f}, {interval.all_records}, {per_s:.4f}, "
            f"0, {interval.seconds * 1000:.0f}, {mb_per_s:.4f}, {per_s:.4f}",
            flush=True,
        )

    def close(self) -> None:
        pass


def stamp(seconds: float) -> str:
    """`yyyy-MM-dd HH:mm:ss:SSS`"""
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S:%f")[:-3]


def run(args: Sequence[str]) -> int:
    import os

    from ottla.cli.perf import best_api
    from ottla.cli.perf_consume import ConsumeLoad, Consuming, measure_consume

    options = arguments().parse(args)
    if options.reporting_interval <= 0:
        raise UsageError("Reporting interval must be greater than 0.")
    if options.messages < 1:
        raise UsageError("--messages must be greater than 0")
    config: dict[str, str] = {
        "client.id": "perf-consumer-client",
        **client_properties(options.consumer_config),
        **pairs(options.command_property, "--command-property"),
        "bootstrap.servers": options.bootstrap_server,
        "receive.buffer.bytes": str(options.socket_buffer_size),
        "max.partition.fetch.bytes": str(options.fetch_size),
        "check.crcs": "false",
    }
    group = options.group or f"perf-consumer-{int.from_bytes(os.urandom(3)) % 100_000}"
    load = ConsumeLoad(
        options.topic,
        options.messages,
        timeout_s=options.timeout / 1000,
        group=group,
        from_latest=options.from_latest,
        api=best_api("poll"),
        config=dict(config),
    )
    if not options.hide_header:
        first = "time, threadId" if options.show_detailed_stats else "start.time, end.time"
        print(f"{first}, {COLUMNS}, {MORE_COLUMNS}")
    began = time.time()
    measurement = Measurement(
        Details() if options.show_detailed_stats else Silence(), options.reporting_interval / 1000
    )
    result = measure_consume(Consuming(load), measurement)
    if measurement.records < options.messages and not result.interrupted:
        print(
            "WARNING: Exiting before consuming the expected number of messages: "
            f"timeout ({options.timeout} ms) exceeded. "
            "You can use the --timeout option to increase the timeout."
        )
    if not options.show_detailed_stats:
        seconds = measurement.seconds
        joining_s = min(result.more.get("first_record_after_s") or 0.0, seconds)
        fetching_s = max(seconds - joining_s, 1e-9)
        mb = measurement.bytes / BYTES_PER_MB
        print(
            f"{stamp(began)}, {stamp(began + seconds)}, {mb:.4f}, {mb / seconds:.4f}, {measurement.records}, "
            f"{measurement.records / seconds:.4f}, {joining_s * 1000:.0f}, {fetching_s * 1000:.0f}, "
            f"{mb / fetching_s:.4f}, {measurement.records / fetching_s:.4f}"
        )
    if options.print_metrics:
        for metric_group, values in result.metrics.items():
            for name, value in values.items():
                print(f"{metric_group}:{name:40} : {value:.3f}")
    return 0
