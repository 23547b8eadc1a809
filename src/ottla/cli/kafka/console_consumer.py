"""`kafka-console-consumer.sh`: print the records of a topic.

With `--group` it is a member of that group and commits what it printed. Without one Kafka's tool joins a
group with a random name, which nobody ever meets again; here the partitions are then read without a group,
which prints the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, open_client, pairs

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.blocking_group import BlockingGroupConsumer
    from ottla.client.fetcher import FetcherSettings
    from ottla.client.records import ConsumedRecord
    from ottla.model.types import TopicPartition

FETCH_KEYS = ("fetch.min.bytes", "fetch.max.bytes", "max.partition.fetch.bytes")
GROUP_KEYS = (
    "group.id",
    "group.protocol",
    "group.instance.id",
    "group.remote.assignor",
    "partition.assignment.strategy",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "auto.commit.interval.ms",
    "client.rack",
    "metadata.max.age.ms",
)
SILENT_KEYS = (
    "bootstrap.servers",
    "client.id",
    "enable.auto.commit",
    "security.protocol",
    "request.timeout.ms",
)


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
    from ottla.cli.reading import Printed, print_records
    from ottla.client.fetcher import Fetcher, FetcherSettings

    options = arguments().parse(args)
    properties = {
        **client_properties(options.consumer_config),
        **pairs(options.consumer_property, "--consumer-property"),
    }
    check(options, properties)
    shape = formatter(options)
    start = start_time(options, properties)
    isolation = options.isolation_level or properties.get("isolation.level", "read_uncommitted")
    numbers = {key: _number(properties, key) for key in FETCH_KEYS if key in properties}
    settings = FetcherSettings(
        min_bytes=numbers.get("fetch.min.bytes", 1),
        max_bytes=numbers.get("fetch.max.bytes", 50 * 1024 * 1024),
        partition_bytes_max=numbers.get("max.partition.fetch.bytes", 1024 * 1024),
        read_committed=isolation == "read_committed",
        reset=start_time(argparse.Namespace(from_beginning=options.from_beginning, offset=None), properties),
    )
    printed = Printed()
    code = 0
    group_id = options.group or properties.get("group.id")
    with open_client(options.bootstrap_server, properties, client_id="console-consumer") as client:
        if group_id is not None:
            from ottla.cli.group_consume import print_group_records

            consumer = group_consumer(client, options, properties, group_id, settings, start)
            try:
                return print_group_records(
                    client,
                    consumer,
                    shape,
                    sys.stdout.buffer,
                    count_max=options.max_messages if options.max_messages != -1 else None,
                    timeout_ms=options.timeout_ms,
                    printed=printed,
                )
            finally:
                print(f"Processed a total of {printed.count} messages", file=sys.stderr)
        fetcher = Fetcher(client.cluster, client.admin, settings)
        try:
            partitions = assigned(client, options)
            if options.offset is not None and options.offset.isdecimal():
                for tp in partitions:
                    fetcher.seek(tp, int(options.offset))
            else:
                client.run(fetcher.seek_by_time(dict.fromkeys(partitions, start)))
            print_records(
                client,
                fetcher,
                shape,
                sys.stdout.buffer,
                count_max=options.max_messages if options.max_messages != -1 else None,
                timeout_ms=options.timeout_ms,
                printed=printed,
            )
        except KeyboardInterrupt:
            code = EXIT_INTERRUPTED
    print(f"Processed a total of {printed.count} messages", file=sys.stderr)
    return code


def check(options: argparse.Namespace, properties: dict[str, str]) -> None:
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
        known = (*FETCH_KEYS, *GROUP_KEYS, *SILENT_KEYS, "auto.offset.reset", "isolation.level")
        if name not in known and not name.endswith("deserializer"):
            print(f"WARNING: the consumer setting {name} has no effect here", file=sys.stderr)


def _number(properties: dict[str, str], key: str, default: int = 0) -> int:
    if key not in properties:
        return default
    if not properties[key].isdecimal():
        raise UsageError(f"{key}={properties[key]} is not a number")
    return int(properties[key])


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


def group_consumer(
    client: Client,
    options: argparse.Namespace,
    properties: dict[str, str],
    group_id: str,
    fetching: FetcherSettings,
    reset: int,
) -> BlockingGroupConsumer:
    from ottla.cli.kafka.topic_filter import TopicFilter
    from ottla.client.blocking_group import CLASSIC, CONSUMER, BlockingGroupConsumer
    from ottla.client.group_consumer import GroupConsumerSettings
    from ottla.client.membership import GroupSettings

    protocol = properties.get("group.protocol", CLASSIC).lower()
    if protocol not in (CLASSIC, CONSUMER):
        raise UsageError(f"group.protocol={protocol} is not available: classic and consumer are")
    defaults = GroupSettings(group_id)
    strategy = properties.get("partition.assignment.strategy")
    group = GroupSettings(
        group_id,
        properties.get("group.instance.id"),
        session_timeout_ms=_number(properties, "session.timeout.ms", defaults.session_timeout_ms),
        heartbeat_interval_ms=_number(properties, "heartbeat.interval.ms", defaults.heartbeat_interval_ms),
        rebalance_timeout_ms=_number(properties, "max.poll.interval.ms", defaults.rebalance_timeout_ms),
        assignors=defaults.assignors if strategy is None else assignors(strategy),
        remote_assignor=properties.get("group.remote.assignor"),
        rack_id=properties.get("client.rack"),
        metadata_max_age_ms=_number(properties, "metadata.max.age.ms", defaults.metadata_max_age_ms),
    )
    commits = properties.get("enable.auto.commit", "true").strip().lower() != "false"
    interval_ms = _number(properties, "auto.commit.interval.ms", 5_000)
    topics: list[str] = []
    regex = None
    choose = None
    if options.include is None:
        topics = sorted({tp.topic for tp in assigned(client, options)})
    elif protocol == CONSUMER:
        regex = options.include.strip().replace(",", "|").replace(" ", "").strip("\"'")
    else:
        choose = TopicFilter(options.include, exclude_internal=True).select
    return BlockingGroupConsumer(
        client,
        group,
        protocol=protocol,
        topics=topics,
        regex=regex,
        fetching=fetching,
        consuming=GroupConsumerSettings(interval_ms if commits else None, reset, choose),
    )


def start_time(options: argparse.Namespace, properties: dict[str, str]) -> int:
    from ottla.client.admin import EARLIEST, LATEST

    reset = properties.get("auto.offset.reset", "latest")
    earliest = (
        options.from_beginning
        or options.offset == "earliest"
        or (options.offset is None and reset == "earliest")
    )
    return EARLIEST if earliest else LATEST


def assigned(client: Client, options: argparse.Namespace) -> list[TopicPartition]:
    """The partitions to read. As with Kafka's consumer, a topic that is asked for by name may be created."""
    from ottla.cli.kafka.topic_filter import TopicFilter
    from ottla.client.producer import NEW_TOPIC_TIMEOUT_MS
    from ottla.model.types import TopicPartition

    if options.include is not None:
        names = client.run(client.admin.list_topics())
        topics = TopicFilter(options.include, exclude_internal=True).select(names)
        if not topics:
            raise UsageError(f"no topic matches {options.include}")
        client.run(client.cluster.discover(topics))
    else:
        topics = [options.topic]
        client.run(
            client.cluster.discover(
                topics,
                create_missing=True,
                timeout_ms=NEW_TOPIC_TIMEOUT_MS,
                worth=lambda error: error.retriable,
            )
        )
    view = client.cluster.view
    if options.partition is not None:
        view.partition(options.topic, options.partition)
        return [TopicPartition(options.topic, options.partition)]
    return [TopicPartition(name, p.index) for name in topics for p in view.topic(name).partitions]


def formatter(options: argparse.Namespace) -> Callable[[ConsumedRecord], bytes]:
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
