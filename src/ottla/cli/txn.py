"""`ottla txn`: list and describe transactions, show a partition's producers, find and abort hanging ones."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.duration import Duration
from ottla.cli.group import show, watch_option
from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError
    from ottla.client.transaction_views import TransactionToAbort
    from ottla.model.types import TopicPartition

INDEX = click.IntRange(0, 2**31 - 1)
PRODUCER_ID = click.IntRange(0, 2**63 - 1)
PRODUCER_EPOCH = click.IntRange(0, 2**15 - 1)
COORDINATOR_EPOCH = click.IntRange(-1, 2**31 - 1)

HANGING_AFTER = "15m"
"""Kafka's transaction.max.timeout.ms: no coordinator keeps a transaction open for longer."""


@click.group(
    epilog="""\b
Examples:
  ottla txn list --state Ongoing --duration 5m
  ottla txn describe orders-1
  ottla txn find-hanging --topic clicks
  ottla txn abort --topic clicks --partition 0 --start-offset 41"""
)
def txn() -> None:
    """List, describe and abort transactions, find hanging ones."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@txn.command(
    "list",
    short_help="List transactional ids: state, producer, how long open.",
    epilog="""\b
Examples:
  ottla txn list
  ottla txn list --state Ongoing --duration 5m
  ottla txn list --id-pattern 'orders-.*' --watch""",
)
@click.option(
    "--state",
    "states",
    multiple=True,
    metavar="STATE",
    help="Only those in this state: Empty, Ongoing, PrepareCommit, PrepareAbort, CompleteCommit, "
    "CompleteAbort, PrepareEpochFence, Dead.",
)
@click.option(
    "--duration", type=Duration(), metavar="15m", help="Only transactions open for longer than this."
)
@click.option(
    "--producer-id",
    "producer_ids",
    type=PRODUCER_ID,
    multiple=True,
    metavar="ID",
    help="Only of this producer.",
)
@click.option("--id-pattern", metavar="REGEX", help="Only transactional ids that match as a whole.")
@watch_option
@json_option
@bootstrap_option
def list_transactions(
    states: tuple[str, ...],
    duration: int | None,
    producer_ids: tuple[int, ...],
    id_pattern: str | None,
    watch_s: float | None,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """List the transactional ids of the cluster: the state of the last transaction, how long it is open."""
    from ottla.cli.txn_tables import listing_document, listing_text
    from ottla.client.transaction_views import OPEN_STATES

    wanted = chosen_states(states)
    if duration is not None and not wanted:
        # A broker counts from the last transaction's start, also where that has ended long ago.
        wanted = list(OPEN_STATES)

    def gather(client: Client) -> Any:
        found = client.run(
            client.transactions.list_transactions(
                wanted,
                producer_ids,
                duration_ms=-1 if duration is None else duration,
                id_pattern=id_pattern,
            )
        )
        # A listing does not say since when; a description does. One that has ended in between has no start.
        going = [item.transactional_id for item in found if item.state in OPEN_STATES]
        described = client.run(client.transactions.describe_transactions(going)) if going else {}
        return listing_document(found, described, now_ms())

    return show(bootstrap_server, watch_s, as_json, gather, listing_text)


def chosen_states(given: Sequence[str]) -> list[str]:
    from ottla.client.transaction_views import STATES

    known = {state.lower(): state for state in STATES}
    chosen = []
    for item in (item for text in given for item in text.split(",")):
        found = known.get(item.strip().lower().replace("_", ""))
        if found is None:
            raise click.UsageError(f"--state {item}: write one of {', '.join(STATES)}")
        chosen.append(found)
    return chosen


@txn.command(
    short_help="Describe transactional ids, with their partitions.",
    epilog="""\b
Examples:
  ottla txn describe orders-1
  ottla txn describe orders-1 --watch""",
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@watch_option
@json_option
@bootstrap_option
def describe(ids: tuple[str, ...], watch_s: float | None, as_json: bool, bootstrap_server: str) -> int:
    """Describe transactional ids: state, producer, how long the transaction is open, its partitions."""
    from ottla.cli.txn_tables import description_document, descriptions_text

    def gather(client: Client) -> Any:
        from ottla.client.errors import OttlaError

        documents = []
        found = client.run(client.transactions.describe_transactions(list(dict.fromkeys(ids))))
        for name, item in found.items():
            if isinstance(item, OttlaError):
                raise explained(item, name)
            documents.append(description_document(item, now_ms()))
        return documents

    return show(bootstrap_server, watch_s, as_json, gather, descriptions_text)


def explained(error: OttlaError, name: str) -> Exception:
    """The error, or for an id that is not there what to do about it."""
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    if isinstance(error, ServerError) and error.code == ErrorCode.TRANSACTIONAL_ID_NOT_FOUND:
        return click.ClickException(
            f"transactional id {name} does not exist: see those that do with: ottla txn list"
        )
    return error


@txn.command(
    short_help="Show the producers that write to a topic.",
    epilog="""\b
Examples:
  ottla txn producers clicks
  ottla txn producers clicks --partition 0""",
)
@click.argument("topic")
@click.option(
    "-p", "--partition", "indexes", type=INDEX, multiple=True, metavar="N", help="Only of this one."
)
@click.option("--broker-id", type=int, metavar="ID", help="Ask this replica instead of the leader.")
@watch_option
@json_option
@bootstrap_option
def producers(
    topic: str,
    indexes: tuple[int, ...],
    broker_id: int | None,
    watch_s: float | None,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Show the producers that have written to a topic lately, and where their open transactions begin."""
    from ottla.cli.txn_tables import producers_document, producers_text

    def gather(client: Client) -> Any:
        from ottla.client.errors import OttlaError

        partitions = partitions_of(client, topic, indexes)
        found = client.run(client.transactions.describe_producers(partitions, broker_id=broker_id))
        documents = []
        for tp, states in found.items():
            if isinstance(states, OttlaError):
                raise states
            documents.append(producers_document(tp, states))
        return documents

    return show(bootstrap_server, watch_s, as_json, gather, producers_text)


def partitions_of(
    client: Client, topic: str | None, indexes: Sequence[int] = (), broker_id: int | None = None
) -> list[TopicPartition]:
    """The partitions to speak of: those named, all of a topic, or all there are; of one broker's replicas."""
    from ottla.model.types import TopicPartition

    topics = None if topic is None else [topic]
    view = client.run(client.cluster.discover(topics))
    names = sorted(view.topics) if topic is None else [topic]
    if indexes and topic is not None:
        for index in indexes:
            view.partition(topic, index)
        return [TopicPartition(topic, index) for index in dict.fromkeys(indexes)]
    return [
        TopicPartition(name, partition.index)
        for name in names
        for partition in view.topic(name).partitions
        if broker_id is None or broker_id in partition.replicas
    ]


@txn.command(
    "find-hanging",
    short_help="Find transactions that no coordinator will end.",
    epilog="""\b
Examples:
  ottla txn find-hanging
  ottla txn find-hanging --topic clicks --older-than 1h""",
)
@click.option("--topic", metavar="TOPIC", help="Only in this topic; without it, in all.")
@click.option(
    "-p", "--partition", "indexes", type=INDEX, multiple=True, metavar="N", help="Only in this one."
)
@click.option("--broker-id", type=int, metavar="ID", help="Only in the replicas of this broker.")
@click.option(
    "--older-than",
    type=Duration(),
    default=HANGING_AFTER,
    show_default=True,
    metavar="15m",
    help="How long nothing was written: at least the longest timeout that producers use.",
)
@json_option
@bootstrap_option
def find_hanging(
    topic: str | None,
    indexes: tuple[int, ...],
    broker_id: int | None,
    older_than: int,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Find transactions that no coordinator will end, and that hold back read_committed readers."""
    from ottla.cli.txn_tables import hanging_document, hanging_text

    if indexes and topic is None:
        raise click.UsageError("--partition needs --topic")
    with open_client(bootstrap_server) as client:
        partitions = partitions_of(client, topic, indexes, broker_id)
        found = client.run(
            client.transactions.find_hanging_transactions(
                partitions, older_than_ms=older_than, now_ms=now_ms(), broker_id=broker_id
            )
        )
    document = hanging_document(found, now_ms())
    if as_json:
        print_json(document)
    else:
        click.echo(hanging_text(document))
    return 0


@txn.command(
    short_help="Abort an open transaction, or a hanging one.",
    epilog="""\b
Examples:
  ottla txn abort orders-1
  ottla txn abort --topic clicks --partition 0 --start-offset 41 --yes""",
)
@click.argument("transactional_id", required=False, metavar="[ID]")
@click.option("--topic", metavar="TOPIC", help="A hanging transaction: in which topic.")
@click.option("-p", "--partition", type=INDEX, metavar="N", help="In which partition.")
@click.option("--start-offset", type=int, metavar="N", help="Where it begins (see find-hanging).")
@click.option(
    "--producer-id", type=PRODUCER_ID, metavar="ID", help="Its producer, instead of --start-offset."
)
@click.option("--producer-epoch", type=PRODUCER_EPOCH, metavar="N", help="With --producer-id.")
@click.option("--coordinator-epoch", type=COORDINATOR_EPOCH, metavar="N", help="With --producer-id.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@bootstrap_option
def abort(
    transactional_id: str | None,
    topic: str | None,
    partition: int | None,
    start_offset: int | None,
    producer_id: int | None,
    producer_epoch: int | None,
    coordinator_epoch: int | None,
    yes: bool,
    bootstrap_server: str,
) -> int:
    """Abort the open transaction of a transactional id, or a hanging one in a partition.

    By its ID: the producer that uses it is fenced and the coordinator ends its transaction everywhere. By
    topic, partition and start offset: only a marker is written there, for transactions that no coordinator
    knows any more.
    """
    by_marker = (topic, partition, start_offset, producer_id, producer_epoch, coordinator_epoch)
    given = [value for value in by_marker if value is not None]
    if (transactional_id is None) == (not given):
        raise click.UsageError("say which transaction: its ID, or --topic, --partition and --start-offset")
    if transactional_id is not None:
        with open_client(bootstrap_server) as client:
            return abort_by_id(client, transactional_id, yes=yes)
    if topic is None or partition is None:
        raise click.UsageError("say where: --topic and --partition")
    exact = [producer_id, producer_epoch, coordinator_epoch]
    if (start_offset is None) == (exact == [None] * 3) or (start_offset is None and None in exact):
        raise click.UsageError(
            "give --start-offset, or --producer-id, --producer-epoch and --coordinator-epoch"
        )
    with open_client(bootstrap_server) as client:
        from ottla.client.transaction_views import TransactionToAbort
        from ottla.model.types import TopicPartition

        (tp,) = partitions_of(client, topic, [partition])
        if start_offset is not None:
            spec = beginning_at(client, tp, start_offset)
        else:
            assert producer_id is not None and producer_epoch is not None and coordinator_epoch is not None
            spec = TransactionToAbort(
                TopicPartition(topic, partition), producer_id, producer_epoch, max(0, coordinator_epoch)
            )
        confirm(
            f"abort the transaction of producer {spec.producer_id} epoch {spec.producer_epoch} in {tp}",
            yes=yes,
        )
        client.run(client.transactions.abort_transaction(spec))
    click.echo(f"aborted the transaction of producer {spec.producer_id} in {tp}")
    return 0


def abort_by_id(client: Client, name: str, *, yes: bool) -> int:
    from ottla.client.errors import OttlaError

    try:
        found = client.run(client.transactions.describe_transaction(name))
    except OttlaError as error:
        raise explained(error, name) from None
    if found.state != "Ongoing":
        raise click.ClickException(
            f"transactional id {name} has no open transaction to abort: its state is {found.state}"
        )
    confirm(
        f"abort the transaction of {name} in {len(found.partitions)} partitions and fence its producer",
        yes=yes,
    )
    fenced = client.run(client.transactions.fence_producer(name, transaction_timeout_ms=found.timeout_ms))
    click.echo(
        f"aborted the transaction of {name}; producer {fenced.producer_id} has epoch "
        f"{fenced.producer_epoch} now"
    )
    return 0


def beginning_at(client: Client, tp: TopicPartition, start_offset: int) -> TransactionToAbort:
    """The transaction open in a partition that begins at an offset."""
    from ottla.client.errors import OttlaError
    from ottla.client.transaction_views import TransactionToAbort

    states = client.run(client.transactions.describe_producers([tp]))[tp]
    if isinstance(states, OttlaError):
        raise states
    for state in states:
        if state.txn_start_offset == start_offset:
            return TransactionToAbort.of(tp, state)
    begins = sorted(s.txn_start_offset for s in states if s.txn_start_offset is not None)
    where = ", ".join(map(str, begins))
    known = f"those that are begin at {where}" if begins else "there is none"
    raise click.ClickException(f"no transaction open in {tp} begins at offset {start_offset}: {known}")


def confirm(what: str, *, yes: bool) -> None:
    """Asks a person; whoever is none has to say --yes."""
    import sys

    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(f"this would {what}: add --yes to do it")
    if not click.confirm(f"{what[:1].upper()}{what[1:]}?", err=True):
        raise click.ClickException("nothing was aborted")
