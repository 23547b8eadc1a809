"""`kafka-console-producer.sh`: publish the lines of standard input."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, open_client, pairs
from ottla.cli.record_input import TextLines

READER_KEYS = {
    "parse.key": "false",
    "key.separator": "\t",
    "parse.headers": "false",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
    "ignore.error": "false",
    "null.marker": "",
}


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-console-producer.sh",
        "Read lines from standard input and publish them.",
        epilog="example: kafka-console-producer.sh --topic events --bootstrap-server localhost:9092",
    )
    parser.add_argument("--topic", required=True, help="the topic to publish to")
    parser.add_argument("--bootstrap-server", metavar="HOST:PORT,...", help="the brokers to connect to")
    parser.add_argument("--broker-list", metavar="HOST:PORT,...", help="the older name of --bootstrap-server")
    parser.add_argument("--sync", action="store_true", help="send one request at a time (always the case)")
    parser.add_argument(
        "--compression-codec", nargs="?", const="gzip", help="none, gzip, snappy, lz4 or zstd (alone: gzip)"
    )
    parser.add_argument("--batch-size", type=int, help="bytes of a batch")
    parser.add_argument("--max-partition-memory-bytes", type=int, help="bytes of a batch")
    parser.add_argument("--request-required-acks", metavar="ACKS", help="all, -1, 1 or 0")
    parser.add_argument("--request-timeout-ms", type=int, help="how long an answer may take")
    parser.add_argument("--timeout", type=int, help="how long lines are gathered, in milliseconds")
    parser.add_argument("--producer-property", "--command-property", action="append", metavar="KEY=VALUE")
    parser.add_argument("--producer.config", "--command-config", dest="producer_config", metavar="FILE")
    parser.add_argument("--property", "--reader-property", action="append", metavar="KEY=VALUE")
    parser.add_argument("--reader-config", metavar="FILE", help="properties of the line reader")
    for option in (
        "--line-reader",
        "--max-block-ms",
        "--max-memory-bytes",
        "--message-send-max-retries",
        "--metadata-expiry-ms",
        "--retry-backoff-ms",
        "--socket-buffer-size",
    ):
        parser.add_argument(option, help=argparse.SUPPRESS)
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.cli.produce import STDIN, producer_config
    from ottla.cli.publishing import Deliveries, open_producer, prepare_topic, publish_lines
    from ottla.cli.record_input import InputError, LineReader

    options = arguments().parse(args)
    servers = options.bootstrap_server or options.broker_list
    if servers is None:
        raise UsageError('Missing required argument "[bootstrap-server]"')
    if options.line_reader is not None and not options.line_reader.endswith("LineMessageReader"):
        raise UsageError(f"--line-reader {options.line_reader} is not available: only LineMessageReader is")
    parse = line_parser({**client_properties(options.reader_config), **pairs(options.property, "--property")})
    given = producer_properties(options)
    config, linger_ms = producer_config(servers, given)
    prompting = os.isatty(STDIN) and sys.stdout.isatty()
    with open_client(servers, {}, client_id=config["client.id"]) as client:
        prepare_topic(client, options.topic)
    with open_producer(config) as producer:
        try:
            return publish_lines(
                producer,
                options.topic,
                LineReader(STDIN, strip_cr=True),
                parse,
                Deliveries(),
                linger_ms=linger_ms,
                prompt=_prompt if prompting else None,
            )
        except InputError as error:
            raise UsageError(str(error)) from None


def _prompt() -> None:
    print(">", end="", flush=True)


def line_parser(properties: Mapping[str, str]) -> TextLines:
    """LineMessageReader's properties."""
    for name in properties:
        if name not in READER_KEYS:
            print(f"WARNING: the property {name} is unknown and has no effect", file=sys.stderr)
    values = {**READER_KEYS, **properties}

    def enabled(name: str) -> bool:
        return values[name].strip().lower() == "true"

    def separator(name: str) -> bytes:
        if not values[name]:
            raise UsageError(f"the property {name} is empty")
        return os.fsencode(values[name])

    return TextLines(
        key_separator=separator("key.separator") if enabled("parse.key") else None,
        headers_delimiter=separator("headers.delimiter") if enabled("parse.headers") else None,
        headers_separator=separator("headers.separator"),
        header_key_separator=separator("headers.key.separator"),
        null_marker=os.fsencode(values["null.marker"]) if values["null.marker"] else None,
        lenient=enabled("ignore.error"),
    )


def producer_properties(options: argparse.Namespace) -> dict[str, str]:
    """The producer's settings: the file's, then the tool's options, then `--producer-property`."""
    from ottla.client.config_tables import PRODUCER

    given = {
        **client_properties(options.producer_config),
        **pairs(options.producer_property, "--producer-property"),
    }
    if given.get("security.protocol", "PLAINTEXT").upper() != "PLAINTEXT":
        raise UsageError(
            f"security.protocol={given['security.protocol']} is not available: only PLAINTEXT is"
        )
    found: dict[str, str] = {"client.id": "console-producer"}
    for name, value in (
        ("compression.type", options.compression_codec),
        ("batch.size", options.max_partition_memory_bytes),
        ("batch.size", options.batch_size),
        ("acks", options.request_required_acks),
        ("request.timeout.ms", options.request_timeout_ms),
        ("linger.ms", options.timeout),
    ):
        if value is not None:
            found[name] = str(value)
    for name, value in given.items():
        if name in PRODUCER and not PRODUCER[name].objects:
            found[name] = value
        elif not name.endswith(".serializer") and name not in ("bootstrap.servers", "security.protocol"):
            print(f"WARNING: the producer setting {name} has no effect here", file=sys.stderr)
    return found
