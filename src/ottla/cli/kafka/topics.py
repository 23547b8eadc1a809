"""`kafka-topics.sh`: create, list, describe, alter and delete topics."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.kafka.arguments import Arguments, UsageError, connect, pairs
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.admin import PartitionDescription, Results, TopicDescription
    from ottla.client.admin_partitions import PartitionReassignment
    from ottla.client.blocking import Client

ACTIONS = ("create", "list", "describe", "alter", "delete")


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-topics.sh",
        "Create, delete, describe, or change a topic.",
        epilog="example: kafka-topics.sh --create --topic events --bootstrap-server localhost:9092",
    )
    parser.add_bootstrap()
    for action in ACTIONS:
        parser.add_argument(f"--{action}", action="store_true", help=f"{action} topics")
    parser.add_argument("--topic", help="the topic; a regular expression except with --create")
    parser.add_argument("--topic-id", help="the topic's id, with --describe")
    parser.add_argument("--partitions", type=int, help="number of partitions")
    parser.add_argument("--replication-factor", type=int, help="replicas of each partition")
    parser.add_argument("--replica-assignment", metavar="ID:ID,ID:ID,...", help="brokers of each partition")
    parser.add_argument("--config", action="append", metavar="KEY=VALUE", help="a topic configuration")
    parser.add_argument("--if-exists", action="store_true", help="a missing topic is no error")
    parser.add_argument("--if-not-exists", action="store_true", help="an existing topic is no error")
    parser.add_argument("--exclude-internal", action="store_true", help="leave out internal topics")
    parser.add_argument("--under-replicated-partitions", action="store_true")
    parser.add_argument("--unavailable-partitions", action="store_true")
    parser.add_argument("--under-min-isr-partitions", action="store_true")
    parser.add_argument("--at-min-isr-partitions", action="store_true")
    parser.add_argument("--topics-with-overrides", action="store_true")
    parser.add_argument("--partition-size-limit-per-response", type=int, help=argparse.SUPPRESS)
    return parser


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    chosen = [action for action in ACTIONS if getattr(options, action)]
    if len(chosen) != 1:
        raise UsageError(
            "Command must include exactly one action: --list, --describe, --create, --alter or --delete"
        )
    (action,) = chosen
    if action in ("create", "alter", "delete") and options.topic is None:
        raise UsageError(f"--{action} needs --topic")
    if action == "alter" and options.config:
        raise UsageError("--alter changes partitions only: for configurations use kafka-configs.sh")
    run_action: dict[str, Callable[[Client, argparse.Namespace], int]] = {
        "create": create,
        "list": list_topics,
        "describe": describe,
        "alter": alter,
        "delete": delete,
    }
    with connect(options) as client:
        return run_action[action](client, options)


def failed(message: str) -> int:
    """How Kafka's tool reports what the cluster refused."""
    print(f"Error while executing topic command : {message}")
    return 1


def reported(results: Results[Any, None]) -> int:
    for error in results.failed.values():
        return failed(str(error))
    return 0


def assignment(text: str) -> dict[int, list[int]]:
    found = {}
    for index, item in enumerate(text.split(",")):
        try:
            replicas = [int(node.strip()) for node in item.split(":")]
        except ValueError:
            raise UsageError(f"--replica-assignment: {item!r} is not a list of broker ids") from None
        if len(set(replicas)) != len(replicas):
            raise UsageError(f"--replica-assignment: partition {index} names a broker twice")
        found[index] = replicas
    return found


def create(client: Client, options: argparse.Namespace) -> int:
    from ottla.client.admin import NewTopic
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    if options.replica_assignment and (options.partitions or options.replication_factor):
        raise UsageError("--replica-assignment excludes --partitions and --replication-factor")
    if options.partitions is not None and options.partitions < 1:
        raise UsageError("--partitions must be greater than 0")
    replicas = options.replication_factor
    if replicas is not None and not 0 < replicas < 32768:
        raise UsageError("--replication-factor must be between 1 and 32767")
    if "." in options.topic or "_" in options.topic:
        print(
            "WARNING: topics whose names differ only in '.' and '_' share a metric name: keep to one of them."
        )
    topic = NewTopic(
        options.topic,
        options.partitions or -1,
        replicas or -1,
        assignment(options.replica_assignment) if options.replica_assignment else {},
        pairs(options.config, "--config"),
    )
    for error in client.run(client.admin.create_topics([topic])).failed.values():
        exists = isinstance(error, ServerError) and error.code == ErrorCode.TOPIC_ALREADY_EXISTS
        return 0 if exists and options.if_not_exists else failed(str(error))
    print(f"Created topic {options.topic}.")
    return 0


def matching(client: Client, options: argparse.Namespace) -> list[str]:
    from ottla.cli.kafka.topic_filter import TopicFilter

    names = client.run(client.admin.list_topics())
    return TopicFilter(options.topic or ".*", exclude_internal=options.exclude_internal).select(names)


def list_topics(client: Client, options: argparse.Namespace) -> int:
    for name in matching(client, options):
        print(name)
    return 0


def alter(client: Client, options: argparse.Namespace) -> int:
    names = matching(client, options)
    if not names:
        return 0 if options.if_exists else failed(f"Topic '{options.topic}' does not exist as expected")
    if options.partitions is None:
        raise UsageError("--alter needs --partitions")
    extra: dict[str, list[list[int]]] = {}
    if options.replica_assignment:
        wanted = assignment(options.replica_assignment)
        for item in client.run(client.admin.describe_topics(names)).all().values():
            extra[item.name] = [wanted[index] for index in sorted(wanted)][len(item.partitions) :]
    counts = dict.fromkeys(names, options.partitions)
    return reported(client.run(client.admin.create_partitions(counts, extra)))


def delete(client: Client, options: argparse.Namespace) -> int:
    names = matching(client, options)
    if not names:
        return 0 if options.if_exists else failed(f"Topic '{options.topic}' does not exist as expected")
    return reported(client.run(client.admin.delete_topics(names)))


def describe(client: Client, options: argparse.Namespace) -> int:
    from ottla.client.admin import ConfigResourceType
    from ottla.model.uuids import uuid_to_text

    names = matching(client, options)
    if options.topic_id is not None:
        ids = {uuid_to_text(client.cluster.view.topic_id(name)): name for name in names}
        if options.topic_id not in ids:
            if options.if_exists:
                return 0
            return failed(f"TopicId '{options.topic_id}' does not exist as expected")
        names = [ids[options.topic_id]]
    elif not names and options.topic is not None and not options.if_exists:
        return failed(f"Topic '{options.topic}' does not exist as expected")
    if not names:
        return 0
    described = client.run(client.admin.describe_topics(names)).all().values()
    asked = client.admin.describe_configs(ConfigResourceType.TOPIC, names, synonyms=False)
    configs = client.run(asked).all()
    live = set(client.cluster.view.brokers)
    ongoing = reassignments(client)
    for item in described:
        entries = configs.get(item.name, [])
        overrides = {e.name: e.value or "" for e in entries if not e.is_default}
        all_values = {e.name: e.value or "" for e in entries}
        for line in description(item, overrides, all_values, live, options, ongoing):
            print(line)
    return 0


def description(
    item: TopicDescription,
    overrides: Mapping[str, str],
    all_values: Mapping[str, str],
    live: set[int],
    options: argparse.Namespace,
    ongoing: Mapping[TopicPartition, PartitionReassignment] | None = None,
) -> list[str]:
    """The lines of one topic; which of them is what the options ask for."""
    from ottla.model.uuids import uuid_to_text

    filters = [
        options.under_replicated_partitions,
        options.unavailable_partitions,
        options.under_min_isr_partitions,
        options.at_min_isr_partitions,
    ]
    lines = []
    if not any(filters) and (overrides or not options.topics_with_overrides):
        shown = ",".join(f"{key}={value}" for key, value in overrides.items())
        lines.append(
            f"Topic: {item.name}\tTopicId: {uuid_to_text(item.topic_id)}\t"
            f"PartitionCount: {len(item.partitions)}\tReplicationFactor: {item.replication_factor}\t"
            f"Configs: {shown}"
        )
    if options.topics_with_overrides:
        return lines
    min_isr = int(all_values.get("min.insync.replicas", "1") or 1)
    for p in item.partitions:
        moving = (ongoing or {}).get(TopicPartition(item.name, p.partition))
        # A replica that is only being added is not missed yet.
        wanted = len(p.replicas) - (len(moving.adding_replicas) if moving else 0)
        tests = [
            len(p.isr) < wanted,
            not p.has_leader or p.leader not in live,
            len(p.isr) < min_isr,
            len(p.isr) == min_isr,
        ]
        if not any(filters) or any(asked and holds for asked, holds in zip(filters, tests, strict=True)):
            lines.append(partition_line(item.name, p, moving))
    return lines


def reassignments(client: Client) -> dict[TopicPartition, PartitionReassignment]:
    """Those under way; none where the broker does not tell."""
    from ottla.client.errors import OttlaError

    try:
        return client.run(client.admin.list_partition_reassignments())
    except OttlaError:
        return {}


def partition_line(topic: str, p: PartitionDescription, moving: PartitionReassignment | None = None) -> str:
    def ids(values: Sequence[int] | None) -> str:
        return "N/A" if values is None else ",".join(str(value) for value in values)

    moves = ""
    if moving is not None:
        moves = (
            f"\tAdding Replicas: {ids(moving.adding_replicas)}"
            f"\tRemoving Replicas: {ids(moving.removing_replicas)}"
        )
    return (
        f"\tTopic: {topic}\tPartition: {p.partition}\tLeader: {p.leader if p.has_leader else 'none'}\t"
        f"Replicas: {ids(p.replicas)}\tIsr: {ids(p.isr)}{moves}\tElr: {ids(p.elr)}\t"
        f"LastKnownElr: {ids(p.last_known_elr)}"
    )
