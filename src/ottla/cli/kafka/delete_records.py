"""`kafka-delete-records.sh`: delete the records before given offsets.

As in Kafka, a partition that could not be cut is a line of the output, and the others are cut all the same:
only a command that did nothing ends with 1.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.errors import OttlaError

EXCEPTIONS: Final = {
    "OFFSET_OUT_OF_RANGE": (
        "OffsetOutOfRangeException",
        "The requested offset is not within the range of offsets maintained by the server.",
    ),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        "UnknownTopicOrPartitionException",
        "This server does not host this topic-partition.",
    ),
    "POLICY_VIOLATION": (
        "PolicyViolationException",
        "Request parameters do not satisfy the configured policy.",
    ),
    "TOPIC_AUTHORIZATION_FAILED": ("TopicAuthorizationException", "Topic authorization failed."),
}
"""The names and sentences that scripts look for in this tool's output."""


def run(args: Sequence[str]) -> int:
    from ottla.client.errors import OttlaError, ServerError

    parser = Arguments(
        "kafka-delete-records.sh",
        "Delete the records of partitions up to given offsets.",
        epilog='the file: {"partitions": [{"topic": "events", "partition": 0, "offset": 100}], "version": 1}',
    )
    parser.add_bootstrap()
    parser.add_argument("--offset-json-file", required=True, metavar="FILE", help="which offsets")
    options = parser.parse(args)
    try:
        with open(options.offset_json_file, encoding="utf-8") as file:
            before = parse_offsets(file.read())
    except ValueError as error:
        raise UsageError(str(error)) from None
    outcomes: dict[TopicPartition, int | OttlaError] = {}
    with connect(options) as client:
        # A topic that is missing is that topic's failure: the others are cut.
        view = client.run(client.cluster.refresh(sorted({tp.topic for tp in before})))
        print("Executing records delete operation")
        for tp in before:
            try:
                view.partition(tp.topic, tp.partition)
            except ServerError as error:
                outcomes[tp] = error
        left = {tp: offset for tp, offset in before.items() if tp not in outcomes}
        outcomes.update(client.run(client.admin.delete_records(left)))
    print("Records delete operation completed:")
    for tp, outcome in sorted(outcomes.items()):
        if isinstance(outcome, OttlaError):
            print(f"partition: {tp}\terror: {as_java(outcome)}")
        else:
            print(f"partition: {tp}\tlow_watermark: {outcome}")
    return 0


def as_java(error: OttlaError) -> str:
    from ottla.client.errors import ServerError

    if isinstance(error, ServerError) and error.code.name in EXCEPTIONS:
        name, sentence = EXCEPTIONS[error.code.name]
        return f"org.apache.kafka.common.errors.{name}: {sentence}"
    return str(error)


def parse_offsets(text: str) -> dict[TopicPartition, int]:
    """Raises ValueError, in the tool's words, where the text is not what the help shows."""
    try:
        document = json.loads(text)
    except ValueError:
        raise ValueError("The input string is not a valid JSON") from None
    if not isinstance(document, dict):
        raise ValueError("The input string is not a valid JSON object")
    version = document.get("version", 1)
    if version != 1:
        raise ValueError(f"Not supported version field value {version}")
    items = document.get("partitions")
    if not isinstance(items, list):
        raise ValueError("Missing partitions field")
    found: dict[TopicPartition, int] = {}
    twice = set()
    for item in items:
        tp = TopicPartition(_field(item, "topic", str), _whole(item, "partition", 32))
        if tp in found:
            twice.add(tp)
        found[tp] = _whole(item, "offset", 64)
    if twice:
        names = ",".join(map(str, sorted(twice)))
        raise ValueError(f"Offset json file contains duplicate topic partitions: {names}")
    return found


def _field(item: Any, name: str, kind: type) -> Any:
    if not isinstance(item, dict) or name not in item:
        raise ValueError(f"No such field exists: `{name}`")
    value = item[name]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"Expected `{name}` to be a {kind.__name__}, received {json.dumps(value)}")
    return value


def _whole(item: Any, name: str, bits: int) -> int:
    value: int = _field(item, name, int)
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"Expected `{name}` to fit into {bits} bits, received {value}")
    return value
