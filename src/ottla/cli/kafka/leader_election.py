"""`kafka-leader-election.sh`: elect the leaders of partitions anew."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.errors import OttlaError


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-leader-election.sh",
        "Elect the leaders of partitions anew.",
        epilog="example: kafka-leader-election.sh --bootstrap-server localhost:9092 --election-type "
        "preferred --all-topic-partitions\n"
        'the file: {"partitions": [{"topic": "events", "partition": 0}]}',
    )
    parser.add_bootstrap()
    parser.add_argument("--admin.config", dest="command_config", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument(
        "--election-type",
        metavar="TYPE",
        help="preferred: the first replica, if it is in sync; unclean: any, where there is no leader",
    )
    parser.add_argument("--topic", metavar="NAME", help="one topic's, with --partition")
    parser.add_argument("--partition", type=int, metavar="NUMBER", help="the partition of --topic")
    parser.add_argument("--all-topic-partitions", action="store_true", help="of all that need it")
    parser.add_argument("--path-to-json-file", metavar="FILE", help="of the partitions in this file")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.client.admin_partitions import ElectionType
    from ottla.client.errors import OttlaError, ServerError
    from ottla.model.errors import ErrorCode

    options = arguments().parse(args)
    if options.election_type is None:
        raise UsageError("Missing required option(s): election-type")
    kinds = {"preferred": ElectionType.PREFERRED, "unclean": ElectionType.UNCLEAN}
    kind = kinds.get(options.election_type.lower())
    if kind is None:
        raise UsageError(f"--election-type {options.election_type}: preferred or unclean")
    partitions = chosen_partitions(options)
    with connect(options) as client:
        results = client.run(client.admin.elect_leaders(kind, partitions))

    def is_needless(outcome: OttlaError | None) -> bool:
        return isinstance(outcome, ServerError) and outcome.code == ErrorCode.ELECTION_NOT_NEEDED

    done = [tp for tp, outcome in results.items() if outcome is None]
    needless = [tp for tp, outcome in results.items() if is_needless(outcome)]
    failed = {
        tp: outcome
        for tp, outcome in results.items()
        if isinstance(outcome, OttlaError) and not is_needless(outcome)
    }
    if done:
        names = ", ".join(map(str, done))
        print(f"Successfully completed leader election ({kind.name}) for partitions {names}")
    if needless:
        print(f"Valid replica already elected for partitions {', '.join(map(str, needless))}")
    for tp, error in failed.items():
        print(f"Error completing leader election ({kind.name}) for partition: {tp}: {as_java(error)}")
    if failed:
        print(f"{len(failed)} replica(s) could not be elected")
        return 1
    return 0


def as_java(error: OttlaError) -> str:
    """The exception's name as the tool prints it: scripts look for it."""
    from ottla.client.errors import ServerError

    if not isinstance(error, ServerError):
        return str(error)
    name = "".join(word.capitalize() for word in error.code.name.split("_"))
    return f"org.apache.kafka.common.errors.{name.removesuffix('Exception')}Exception: {error.message}"


def chosen_partitions(options: argparse.Namespace) -> list[TopicPartition] | None:
    given = [
        name
        for name in ("topic", "all_topic_partitions", "path_to_json_file")
        if getattr(options, name) not in (None, False)
    ]
    if len(given) != 1:
        raise UsageError(
            "One and only one of the following options is required: topic, all-topic-partitions, "
            "path-to-json-file"
        )
    if options.topic is not None and options.partition is None:
        raise UsageError("Missing required option(s): partition")
    if options.partition is not None and options.topic is None:
        raise UsageError("Option partition is only allowed if topic is used")
    if options.topic is not None:
        return [TopicPartition(options.topic, options.partition)]
    if options.path_to_json_file is None:
        return None
    with open(options.path_to_json_file, encoding="utf-8") as file:
        return partitions_from_json(file.read())


def partitions_from_json(text: str) -> list[TopicPartition]:
    try:
        document: Any = json.loads(text)
    except ValueError:
        raise UsageError("Replica election data is empty") from None
    items = document.get("partitions") if isinstance(document, dict) else None
    if not isinstance(items, list):
        raise UsageError('Replica election data is missing "partitions" field')
    found = []
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("topic"), str):
            raise UsageError(f"{json.dumps(item)} is no topic with its partition")
        if not isinstance(item.get("partition"), int):
            raise UsageError(f"{json.dumps(item)} is no topic with its partition")
        found.append(TopicPartition(item["topic"], item["partition"]))
    twice = sorted({tp for tp in found if found.count(tp) > 1})
    if twice:
        names = ", ".join(map(str, twice))
        raise UsageError(f"Replica election data contains duplicate partitions: {names}")
    return found
