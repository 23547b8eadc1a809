"""`kafka-producer-perf-test.sh`: write records as fast as possible, or at a rate."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, pairs
from ottla.cli.perf_measure import Interval, Latencies, Measurement, Result

BYTES_PER_MB = 1024 * 1024  # as Kafka's tool counts
INTERVAL_S = 5.0


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-producer-perf-test.sh",
        "Measure how fast records can be written.",
        epilog="example: kafka-producer-perf-test.sh --topic t --num-records 1000000 --record-size 100 "
        "--throughput -1 --producer-props bootstrap.servers=localhost:9092",
    )
    parser.add_argument("--topic", required=True, help="the topic to write to")
    parser.add_argument("--num-records", required=True, type=int, help="how many")
    parser.add_argument("--record-size", type=int, help="bytes of a record")
    parser.add_argument("--payload-file", metavar="FILE", help="send pieces of this file instead")
    parser.add_argument("--payload-delimiter", default="\\n", help="what is between two of them")
    parser.add_argument("--payload-monotonic", action="store_true", help="send 0, 1, 2 and so on")
    parser.add_argument("--throughput", required=True, type=float, help="records per second; -1: no limit")
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT,...", help="the brokers to connect to")
    parser.add_argument("--producer-props", "--command-property", nargs="+", metavar="KEY=VALUE")
    parser.add_argument("--producer.config", "--command-config", dest="producer_config", metavar="FILE")
    parser.add_argument(
        "--print-metrics", action="store_true", help="print the producer's metrics at the end"
    )
    parser.add_argument(
        "--reporting-interval", type=int, default=5_000, help="milliseconds between two lines"
    )
    for option in ("--transactional-id", "--transaction-duration-ms"):
        parser.add_argument(option, help=argparse.SUPPRESS)
    return parser


class KafkaLines:
    """The tool's lines, on standard output."""

    def show(self, interval: Interval) -> None:
        print(line(interval.records, interval.bytes, interval.seconds, interval.latencies) + ".", flush=True)

    def close(self) -> None:
        pass


def line(records: int, size_bytes: int, seconds: float, latencies: Latencies) -> str:
    return (
        f"{records} records sent, {records / seconds:.1f} records/sec "
        f"({size_bytes / BYTES_PER_MB / seconds:.2f} MB/sec), {latencies.average_ms:.2f} ms avg latency, "
        f"{latencies.max_ms:.2f} ms max latency"
    )


def run(args: Sequence[str]) -> int:
    from ottla.cli.perf import best_api, unescaped
    from ottla.cli.perf_produce import ProduceLoad, file_payloads, measure_produce, random_payloads

    options = arguments().parse(args)
    chosen = (options.record_size is not None, options.payload_file is not None, options.payload_monotonic)
    if sum(chosen) != 1:
        raise UsageError("exactly one of --record-size, --payload-file and --payload-monotonic is needed")
    if options.transactional_id is not None or options.transaction_duration_ms is not None:
        raise UsageError("transactions are not measured by this tool")
    if options.num_records < 1:
        raise UsageError("--num-records must be greater than 0")
    config: dict[str, str] = client_properties(options.producer_config)
    config.update(pairs(options.producer_props, "--producer-props"))
    if options.bootstrap_server:
        config["bootstrap.servers"] = options.bootstrap_server
    if options.payload_file is not None:
        payloads = file_payloads(options.payload_file, unescaped(options.payload_delimiter))
        if not payloads:
            raise UsageError(f"--payload-file {options.payload_file}: there is nothing in it")
    elif options.payload_monotonic:
        payloads = [str(number).encode() for number in range(options.num_records)]
    else:
        if options.record_size < 1:
            raise UsageError("--record-size must be greater than 0")
        payloads = random_payloads(options.record_size)
    rate = options.throughput if options.throughput > 0 else None
    load = ProduceLoad(options.topic, payloads, options.num_records, None, rate, best_api(), dict(config))
    interval_s = max(0.001, options.reporting_interval / 1000)
    result = measure_produce(load, Measurement(KafkaLines(), interval_s))
    print(summary(result))
    if options.print_metrics:
        for group, values in result.metrics.items():
            for name, value in values.items():
                print(f"{group}:{name:40} : {value:.3f}")
    return 1 if result.failed else 0


def summary(result: Result) -> str:
    measured = result.measurement
    late = measured.latencies
    ranks = ", ".join(f"{late.percentile(p):.0f} ms {p:g}th" for p in (50, 95, 99, 99.9))
    return f"{line(measured.records, measured.bytes, measured.seconds, late)}, {ranks}."
