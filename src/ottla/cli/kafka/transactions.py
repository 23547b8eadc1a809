"""`kafka-transactions.sh`: what transactions there are, which of them hang, and how to end those.

Commands, tables and messages are those of Kafka 4.2. Only the order of partitions within a cell, and of
hanging transactions, differs: here they are sorted, there they come as a hash table has them.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.arguments import Arguments, Subcommand, connect

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError
    from ottla.client.transaction_views import ProducerState, TransactionToAbort
    from ottla.model.types import TopicPartition

LIST_COLUMNS: Final = ("TransactionalId", "Coordinator", "ProducerId", "TransactionState")
DESCRIBE_COLUMNS: Final = (
    "CoordinatorId",
    "TransactionalId",
    "ProducerId",
    "ProducerEpoch",
    "TransactionState",
    "TransactionTimeoutMs",
    "CurrentTransactionStartTimeMs",
    "TransactionDurationMs",
    "TopicPartitions",
)
PRODUCER_COLUMNS: Final = (
    "ProducerId",
    "ProducerEpoch",
    "LatestCoordinatorEpoch",
    "LastSequence",
    "LastTimestamp",
    "CurrentTransactionStartOffset",
)
HANGING_COLUMNS: Final = (
    "Topic",
    "Partition",
    "ProducerId",
    "ProducerEpoch",
    "CoordinatorEpoch",
    "StartOffset",
    "LastTimestamp",
    "Duration(min)",
)
NO_NAME: Final = "Unknown"
"""How the tool calls a state that its version does not know; `Dead` is one of them."""

MINUTE_MS: Final = 60_000


def whole(bits: int) -> Callable[[str], int]:
    """The type of an option that has to fit into a signed number of so many bits."""

    def convert(text: str) -> int:
        value = int(text)
        if not -(1 << bits - 1) <= value < 1 << bits - 1:
            raise argparse.ArgumentTypeError(f"{text} does not fit into {bits} bits")
        return value

    return convert


class Refused(Exception):
    """What goes to stderr before the tool ends with 1."""


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-transactions.sh",
        "Analyze the transactional state of producers; find hanging transactions and recover from them.",
        epilog="example: kafka-transactions.sh --bootstrap-server localhost:9092 describe "
        "--transactional-id t",
    )
    parser.add_bootstrap()
    commands = parser.add_commands()
    listing = commands.add_parser("list", help="list transactions")
    listing.add_argument("--duration-filter", type=whole(64), metavar="MS", help="only those open for longer")
    listing.add_argument("--transactional-id-pattern", metavar="REGEX", help="only ids that match")
    describing = commands.add_parser("describe", help="the state of a transactional id")
    describing.add_argument("--transactional-id", required=True, metavar="ID")
    producing = commands.add_parser("describe-producers", help="the active producers of a partition")
    producing.add_argument(
        "--broker-id", type=whole(32), metavar="ID", help="ask this replica, not the leader"
    )
    _add_partition(producing)
    aborting = commands.add_parser("abort", help="abort a hanging transaction")
    _add_partition(aborting)
    aborting.add_argument(
        "--start-offset", type=whole(64), metavar="N", help="where it begins (brokers since 3.0)"
    )
    aborting.add_argument("--producer-id", type=whole(64), metavar="ID", help="older brokers: its producer,")
    aborting.add_argument("--producer-epoch", type=whole(16), metavar="N", help="its epoch,")
    aborting.add_argument("--coordinator-epoch", type=whole(32), metavar="N", help="and its coordinator's")
    hanging = commands.add_parser("find-hanging", help="find hanging transactions")
    hanging.add_argument("--broker-id", type=whole(32), metavar="ID", help="in the replicas of this broker")
    hanging.add_argument(
        "--max-transaction-timeout",
        type=whole(32),
        default=15,
        metavar="MIN",
        help="in minutes, 15 by default",
    )
    hanging.add_argument("--topic", metavar="TOPIC", help="in this topic")
    hanging.add_argument("--partition", type=whole(32), metavar="N", help="in this partition of it")
    terminating = commands.add_parser("forceTerminateTransaction", help="abort the transaction of an id")
    terminating.add_argument("--transactionalId", required=True, metavar="ID")
    return parser


def _add_partition(command: Subcommand) -> None:
    command.add_argument("--topic", required=True, metavar="TOPIC")
    command.add_argument("--partition", type=whole(32), required=True, metavar="N")


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    try:
        check(options)
        with connect(options) as client:
            COMMANDS[options.command](client, options)
    except Refused as refusal:
        sys.stdout.flush()
        print(refusal, file=sys.stderr)
        return 1
    return 0


def check(options: argparse.Namespace) -> None:
    """Kafka's rules for what goes with what."""
    if options.command == "find-hanging":
        if options.topic is None and options.broker_id is None:
            raise Refused(
                "The `find-hanging` command requires either --topic or --broker-id to limit the scope of the "
                "search"
            )
        if options.partition is not None and options.topic is None:
            raise Refused("The --partition argument requires --topic to be provided")
    if options.command == "abort" and options.start_offset is None:
        if options.producer_id is None:
            raise Refused(
                "The transaction to abort must be identified either with --start-offset (for brokers on 3.0 "
                "or above) or with --producer-id, --producer-epoch, and --coordinator-epoch (for older "
                "brokers)"
            )
        for name in ("producer_epoch", "coordinator_epoch"):
            if getattr(options, name) is None:
                raise Refused(f"Missing required argument --{name.replace('_', '-')}")


def failed(what: str, error: OttlaError, reasons: dict[str, str] | None = None) -> Exception:
    """The error in the tool's words, if the cluster has spoken at all; `reasons` are Kafka's, by code."""
    from ottla.client.errors import ServerError

    reason = str(error)
    if isinstance(error, ServerError):
        reason = (reasons or {}).get(error.code.name, error.message)
    return Refused(f"{what}: {reason}. Enable debug logging for additional detail.")


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def show(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table whose cells are padded to the widest of their column, each followed by a tab."""
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    for row in cells:
        print("".join(f"{cell.ljust(width)}\t" for cell, width in zip(row, widths, strict=True)))


def state_name(state: str) -> str:
    return NO_NAME if state == "Dead" else state


def list_transactions(client: Client, options: argparse.Namespace) -> None:
    from ottla.client.errors import OttlaError

    duration_ms = -1 if options.duration_filter is None else options.duration_filter
    try:
        found = client.run(
            client.transactions.list_transactions(
                duration_ms=duration_ms, id_pattern=options.transactional_id_pattern
            )
        )
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        raise failed("Failed to list transactions", error) from None
    show(
        LIST_COLUMNS,
        [(t.transactional_id, t.coordinator_id, t.producer_id, state_name(t.state)) for t in found],
    )


def describe(client: Client, options: argparse.Namespace) -> None:
    from ottla.client.errors import OttlaError

    name = options.transactional_id
    try:
        found = client.run(client.transactions.describe_transaction(name))
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        about = f"DescribeTransactions request for transactionalId `{name}` failed"
        reasons = {
            "TRANSACTIONAL_ID_NOT_FOUND": f"{about} because the ID could not be found",
            "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": f"{about} due to authorization failure",
        }
        what = f"Failed to describe transaction state of transactional-id `{name}`"
        raise failed(what, error, reasons) from None
    start_ms = found.start_time_ms
    row = (
        found.coordinator_id,
        name,
        found.producer_id,
        found.producer_epoch,
        state_name(found.state),
        found.timeout_ms,
        "None" if start_ms is None else start_ms,
        "None" if start_ms is None else now_ms() - start_ms,
        ",".join(map(str, found.partitions)),
    )
    show(DESCRIBE_COLUMNS, [row])


def producers_of(
    client: Client, tp: TopicPartition, complaint: str, broker_id: int | None = None
) -> tuple[ProducerState, ...]:
    from ottla.client.errors import OttlaError

    try:
        found = client.run(client.transactions.describe_producers([tp], broker_id=broker_id))[tp]
        if isinstance(found, OttlaError):
            raise found
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        raise failed(complaint, error) from None
    return found


def describe_producers(client: Client, options: argparse.Namespace) -> None:
    from ottla.model.types import TopicPartition

    tp = TopicPartition(options.topic, options.partition)
    where = "leader" if options.broker_id is None else f"broker {options.broker_id}"
    complaint = f"Failed to describe producers for partition {tp} on {where}"
    show(
        PRODUCER_COLUMNS,
        [
            (
                s.producer_id,
                s.producer_epoch,
                -1 if s.coordinator_epoch is None else s.coordinator_epoch,
                s.last_sequence,
                s.last_timestamp_ms,
                "None" if s.txn_start_offset is None else s.txn_start_offset,
            )
            for s in producers_of(client, tp, complaint, options.broker_id)
        ],
    )


def transaction_to_abort(client: Client, options: argparse.Namespace) -> TransactionToAbort:
    from ottla.client.transaction_views import TransactionToAbort
    from ottla.model.types import TopicPartition

    tp = TopicPartition(options.topic, options.partition)
    if options.start_offset is None:
        return TransactionToAbort(
            tp, options.producer_id, options.producer_epoch, max(0, options.coordinator_epoch)
        )
    for state in producers_of(client, tp, f"Failed to validate producer state for partition {tp}"):
        if state.txn_start_offset == options.start_offset:
            return TransactionToAbort.of(tp, state)
    raise Refused(
        f"Could not find any open transactions starting at offset {options.start_offset} on partition {tp}"
    )


def abort(client: Client, options: argparse.Namespace) -> None:
    from ottla.client.errors import OttlaError

    spec = transaction_to_abort(client, options)
    try:
        client.run(client.transactions.abort_transaction(spec))
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        named = (
            f"AbortTransactionSpec(topicPartition={spec.topic_partition}, producerId={spec.producer_id}, "
            f"producerEpoch={spec.producer_epoch}, coordinatorEpoch={spec.coordinator_epoch})"
        )
        about = f"WriteTxnMarkers request with {named} failed"
        reasons = {
            "CLUSTER_AUTHORIZATION_FAILED": f"{about} due to cluster authorization error",
            "INVALID_PRODUCER_EPOCH": f"{about} due an invalid producer epoch",
            "TRANSACTION_COORDINATOR_FENCED": f"{about} since the provided coordinator epoch "
            f"{spec.coordinator_epoch} has been fenced by the active coordinator",
        }
        raise failed(f"Failed to abort transaction {named}", error, reasons) from None


def find_hanging(client: Client, options: argparse.Namespace) -> None:
    from ottla.cli.txn import partitions_of
    from ottla.client.errors import OttlaError

    indexes = [] if options.partition is None else [options.partition]
    try:
        partitions = partitions_of(client, options.topic, indexes, options.broker_id)
        found = client.run(
            client.transactions.find_hanging_transactions(
                partitions,
                older_than_ms=options.max_transaction_timeout * MINUTE_MS,
                now_ms=now_ms(),
                broker_id=options.broker_id,
            )
        )
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        raise failed("Failed to find hanging transactions", error) from None
    rows = []
    for item in found:
        s = item.producer
        epoch = -1 if s.coordinator_epoch is None else s.coordinator_epoch
        idle_ms = now_ms() - s.last_timestamp_ms
        rows.append(
            (
                *item.topic_partition,
                s.producer_id,
                s.producer_epoch,
                epoch,
                s.txn_start_offset,
                s.last_timestamp_ms,
                idle_ms // MINUTE_MS,
            )
        )
    show(HANGING_COLUMNS, rows)


def force_terminate(client: Client, options: argparse.Namespace) -> None:
    from ottla.client.errors import OttlaError

    name = options.transactionalId
    try:
        client.run(client.transactions.fence_producer(name))
    except OttlaError as error:
        if not client.cluster.contacted:
            raise
        raise failed(f"Failed to force terminate transactionalId `{name}`", error) from None


COMMANDS: Final = {
    "list": list_transactions,
    "describe": describe,
    "describe-producers": describe_producers,
    "abort": abort,
    "find-hanging": find_hanging,
    "forceTerminateTransaction": force_terminate,
}
