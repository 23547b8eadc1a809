"""`kafka-console-consumer.sh`: print the records of a topic.

With `--group` it is a member of that group and commits what it printed. Without one Kafka's tool joins a
group with a random name, which nobody ever meets again; here the partitions are then read without a group,
which prints the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, open_client, pairs

if TYPE_CHECKING:
    import ottla
    from ottla.client.records import ConsumerRecord
    from ottla.model.types import TopicPartition

SILENT_KEYS = ("bootstrap.servers", "security.protocol")


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-console-consumer.sh",
        "Read records and print them.",
        epilog="example: kafka-console-consumer.sh --topic events --from-beginning "
        "--bootstrap-server localhost:9092",
    )
    parser.add_argument(
        "--bootstrap-server", required=True, metavar="HOST:PORT,...", help="brokers to connect to"
    )
    parser.add_argument("--topic", help="the topic to read")
    parser.add_argument("--include", "--whitelist", metavar="REGEX", help="topics to read")
    parser.add_argument("--partition", type=int, help="only this partition")
    parser.add_argument("--offset", help="with --partition: a number, earliest or latest")
    parser.add_argument("--from-beginning", action="store_true", help="begin with the oldest record")
    parser.add_argument("--max-messages", type=int, help="stop after so many")
    parser.add_argument("--timeout-ms", type=int, help="stop when nothing came for so long")
    parser.add_argument("--formatter", metavar="CLASS", help="how to print records")
    parser.add_argument("--formatter-config", metavar="FILE", help="properties of the formatter")
    parser.add_argument("--property", "--formatter-property", action="append", metavar="KEY=VALUE")
    parser.add_argument("--consumer-property", "--command-property", action="append", metavar="KEY=VALUE")
    parser.add_argument("--consumer.config", "--command-config", dest="consumer_config", metavar="FILE")
    parser.add_argument("--isolation-level", choices=["read_committed", "read_uncommitted"])
    parser.add_argument("--group", help="read as a member of this consumer group")
    parser.add_argument("--skip-message-on-error", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--enable-systest-events", action="store_true", help=argparse.SUPPRESS)
    for option in ("--key-deserializer", "--value-deserializer"):
        parser.add_argument(option, metavar="CLASS")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.cli.main import EXIT_INTERRUPTED
    from ottla.cli.reading import Printed, open_consumer, print_records
    from ottla.client.errors import InvalidConfig

    options = arguments().parse(args)
    properties = {
        **client_properties(options.consumer_config),
        **pairs(options.consumer_property, "--consumer-property"),
    }
    check(options, properties)
    shape = formatter(options)
    group_id = options.group or properties.get("group.id")
    printed = Printed()
    count_max = options.max_messages if options.max_messages != -1 else None
    try:
        consumer = open_consumer(consumer_config(options, properties, group_id))
    except InvalidConfig as error:
        raise UsageError(str(error)) from None
    code = 0
    with closing(consumer):
        partitions = assigned(options, properties)
        if group_id is not None:
            from ottla.cli.group_consume import print_group_records

            subscribe(consumer, options, partitions)
            try:
                return print_group_records(
                    consumer,
                    shape,
                    sys.stdout.buffer,
                    count_max=count_max,
                    timeout_ms=options.timeout_ms,
                    printed=printed,
                )
            finally:
                print(f"Processed a total of {printed.count} messages", file=sys.stderr)
        try:
            consumer.assign(partitions)
            if options.offset is not None and options.offset.isdecimal():
                for tp in partitions:
                    consumer.seek(tp, int(options.offset))
            elif begins_with_oldest(options, properties):
                consumer.seek_to_beginning()
            else:
                consumer.seek_to_end()
            print_records(
                consumer,
                shape,
                sys.stdout.buffer,
                count_max=count_max,
                timeout_ms=options.timeout_ms,
                printed=printed,
            )
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
    print(f"Processed a total of {printed.count} messages", file=sys.stderr)
    return code


def consumer_config(
    options: argparse.Namespace, properties: dict[str, str], group_id: str | None
) -> dict[str, Any]:
    from ottla.cli.reading import CONSUMER_CONFIG
    from ottla.client.config_tables import CONSUMER

    known = {
        name: value for name, value in properties.items() if name in CONSUMER and not CONSUMER[name].objects
    }
    config: dict[str, Any] = {
        **CONSUMER_CONFIG,
        "client.id": "console-consumer",
        **known,
        "bootstrap.servers": options.bootstrap_server,
        "group.id": group_id,
        "auto.offset.reset": "earliest" if begins_with_oldest(options, properties) else "latest",
    }
    if options.isolation_level is not None:
        config["isolation.level"] = options.isolation_level
    strategy = properties.get("partition.assignment.strategy")
    if strategy is not None:
        config["partition.assignment.strategy"] = assignors(strategy)
    if group_id is None:
        config["enable.auto.commit"] = False
    return config


def check(options: argparse.Namespace, properties: dict[str, str]) -> None:
    from ottla.client.config_tables import CONSUMER

    if (options.topic is None) == (options.include is None):
        raise UsageError("Exactly one of --include/--topic is required.")
    group_id = properties.get("group.id")
    if options.group is not None and group_id is not None and options.group != group_id:
        raise UsageError(
            "The group ids provided in different places (directly using '--group', via "
            "'--consumer-property', or via '--consumer.config') do not match. "
            f"Detected group ids: '{options.group}', '{group_id}'"
        )
    if options.partition is not None and (options.group or group_id) is not None:
        raise UsageError("Options group and partition cannot be specified together.")
    if options.partition is not None and options.topic is None:
        raise UsageError("--partition needs --topic")
    if options.offset is not None:
        if options.partition is None:
            raise UsageError("--offset needs --partition")
        if options.from_beginning:
            raise UsageError("--from-beginning and --offset cannot be specified together.")
        if options.offset not in ("earliest", "latest") and not options.offset.isdecimal():
            raise UsageError(f"--offset {options.offset}: expected earliest, latest, or a number")
    for name in properties:
        known = name in CONSUMER or name in SILENT_KEYS or name.endswith("deserializer")
        if not known or name == "interceptor.classes":
            print(f"WARNING: the consumer setting {name} has no effect here", file=sys.stderr)


ASSIGNOR_CLASSES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


def assignors(text: str) -> tuple[str, ...]:
    """`partition.assignment.strategy`: Java's class names, or the names that go over the wire."""
    found = []
    for item in text.split(","):
        name = item.strip().rpartition(".")[2]
        known = ASSIGNOR_CLASSES.get(name, name)
        if known not in ASSIGNOR_CLASSES.values():
            raise UsageError(
                f"partition.assignment.strategy={item.strip()} is not available: "
                f"{', '.join(ASSIGNOR_CLASSES)} are"
            )
        found.append(known)
    return tuple(found)


def subscribe(
    consumer: ottla.Consumer, options: argparse.Namespace, partitions: list[TopicPartition]
) -> None:
    if options.include is not None:
        from ottla import Whitelist

        consumer.subscribe(Whitelist(options.include))
    else:
        consumer.subscribe({tp.topic for tp in partitions})


def begins_with_oldest(options: argparse.Namespace, properties: dict[str, str]) -> bool:
    reset = properties.get("auto.offset.reset", "latest")
    return bool(
        options.from_beginning
        or options.offset == "earliest"
        or (options.offset is None and reset == "earliest")
    )


def assigned(options: argparse.Namespace, properties: dict[str, str]) -> list[TopicPartition]:
    """The partitions to read. As with Kafka's consumer, a topic that is asked for by name may be created."""
    from ottla.cli.kafka.topic_filter import TopicFilter
    from ottla.cli.publishing import prepare_topic
    from ottla.model.types import TopicPartition

    with open_client(options.bootstrap_server, properties, client_id="console-consumer") as client:
        if options.include is not None:
            names = client.run(client.admin.list_topics())
            topics = TopicFilter(options.include, exclude_internal=True).select(names)
            if not topics and (options.group or properties.get("group.id")) is None:
                raise UsageError(f"no topic matches {options.include}")
            client.run(client.cluster.discover(topics))
        else:
            topics = [options.topic]
            prepare_topic(client, options.topic, options.partition)
        view = client.cluster.view
        if options.partition is not None:
            return [TopicPartition(options.topic, options.partition)]
        return [TopicPartition(name, p.index) for name in topics for p in view.topic(name).partitions]


def formatter(options: argparse.Namespace) -> Callable[[ConsumerRecord], bytes]:
    from ottla.cli.kafka.message_formatter import default_formatter

    kind = (options.formatter or "DefaultMessageFormatter").rpartition(".")[2]
    if kind == "NoOpMessageFormatter":
        return lambda record: b""
    if kind != "DefaultMessageFormatter":
        raise UsageError(
            f"--formatter {options.formatter} is not available: DefaultMessageFormatter and "
            "NoOpMessageFormatter are"
        )
    properties = {**client_properties(options.formatter_config), **pairs(options.property, "--property")}
    if options.key_deserializer is not None:
        properties["key.deserializer"] = options.key_deserializer
    if options.value_deserializer is not None:
        properties["value.deserializer"] = options.value_deserializer
    return default_formatter(properties)
