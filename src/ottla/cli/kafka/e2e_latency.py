"""`kafka-e2e-latency.sh`: one record at a time, there and back."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties
from ottla.cli.perf_measure import Measurement, Silence


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-e2e-latency.sh",
        "Measure how long a record is under way from a producer to a consumer.",
        epilog="example: kafka-e2e-latency.sh --bootstrap-server localhost:9092 --topic t "
        "--num-records 10000 --producer-acks all --record-size 20",
    )
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT,...")
    parser.add_argument("--topic")
    parser.add_argument("--num-records", type=int)
    parser.add_argument("--producer-acks", choices=["1", "all"])
    parser.add_argument("--record-size", type=int)
    parser.add_argument("--command-config", metavar="FILE", help="a properties file for both clients")
    # The older form: five or six words without options.
    parser.add_argument("words", nargs="*", help="HOST:PORT,... TOPIC COUNT ACKS SIZE [FILE]")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.cli.perf import create_topic
    from ottla.cli.perf_latency import LatencyLoad, measure_latency

    options = arguments().parse(args)
    if options.words:
        if len(options.words) not in (5, 6):
            raise UsageError("expected: HOST:PORT,... TOPIC COUNT ACKS SIZE [FILE]")
        servers, topic, count_text, acks, size_text, *file = options.words
        if not count_text.isdecimal() or not size_text.isdecimal():
            raise UsageError("the number of records and their size are numbers")
        count, size, path = int(count_text), int(size_text), file[0] if file else None
    else:
        servers, topic, count = options.bootstrap_server, options.topic, options.num_records
        acks, size, path = options.producer_acks, options.record_size, options.command_config
        if None in (servers, topic, count, acks, size):
            raise UsageError(
                "--bootstrap-server, --topic, --num-records, --producer-acks and --record-size are needed"
            )
    if acks not in ("1", "all"):
        raise UsageError("Latency testing requires synchronous acknowledgement. Please use 1 or all")
    if count < 1:
        raise UsageError("--num-records must be greater than 0")
    config = {**client_properties(path), "bootstrap.servers": servers}
    create_topic(servers, topic, 1, 1)
    load = LatencyLoad(
        topic, count, size, producer_config={**config, "acks": acks}, consumer_config=dict(config)
    )
    result = measure_latency(load, Measurement(Silence(), 3600.0))
    late = result.measurement.latencies
    print(f"Avg latency: {late.average_ms:.4f} ms")
    print(
        f"Percentiles: 50th = {late.percentile(50):.0f}, 99th = {late.percentile(99):.0f}, "
        f"99.9th = {late.percentile(99.9):.0f}"
    )
    return 0
