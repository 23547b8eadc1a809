"""What the transaction commands read and print, without a broker: durations, tables, Kafka's own rules."""

from __future__ import annotations

import click
import pytest

from ottla.cli.duration import Duration, duration_text
from ottla.cli.kafka.__main__ import run as run_tool
from ottla.cli.kafka.transactions import show
from ottla.cli.txn_tables import (
    description_document,
    descriptions_text,
    hanging_document,
    hanging_text,
    listing_document,
    listing_text,
    producers_document,
    producers_text,
)
from ottla.client.errors import ServerError
from ottla.client.transaction_views import (
    OpenTransaction,
    ProducerState,
    TransactionDescription,
    TransactionListing,
)
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

CLICKS = TopicPartition("clicks", 0)
OPEN = ProducerState(5, 1, 7, 1_000, None, 41)
DONE = ProducerState(4, 0, -1, 900, 3, None)


@pytest.mark.parametrize(
    ("text", "duration_ms"),
    [("0", 0), ("250", 250), ("250ms", 250), ("90s", 90_000), ("15m", 900_000), ("2 h", 7_200_000)],
)
def test_a_duration_has_a_unit_or_is_in_milliseconds(text: str, duration_ms: int) -> None:
    assert Duration().convert(text, None, None) == duration_ms


@pytest.mark.parametrize("text", ["", "-1", "1.5s", "5w", "m", "٣s", "9" * 19 + "d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(click.UsageError):
        Duration().convert(text, None, None)


@pytest.mark.parametrize(
    ("duration_ms", "text"),
    [(-5, "0ms"), (999, "999ms"), (61_000, "1m 1s"), (3_600_000, "1h"), (90_061_000, "1d 1h")],
)
def test_a_duration_is_told_in_its_two_largest_units(duration_ms: int, text: str) -> None:
    assert duration_text(duration_ms) == text


def test_transactions_are_listed_by_their_id() -> None:
    found = [TransactionListing("b", 1, 5, "Ongoing"), TransactionListing("a", 2, 6, "Empty")]
    lines = listing_text(listing_document(found, {}, 0)).splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["a", "Empty", "6", "2", "-"],
        ["b", "Ongoing", "5", "1", "-"],
    ]
    assert listing_text([]) == "no transactions"


def test_a_listing_says_how_long_each_transaction_is_open() -> None:
    """ListTransactions has no start time: it comes from a description, which may be later than the end."""
    names = ("ended", "going", "gone")
    found = [TransactionListing(name, 1, 5, "Ongoing") for name in names]
    going = TransactionDescription("going", 1, None, "Ongoing", 5, 1, 60_000, 1_000, (CLICKS,))
    described = {
        "going": going,
        "ended": going._replace(transactional_id="ended", state="CompleteCommit", partitions=()),
        "gone": ServerError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND),
    }
    document = listing_document(found, described, 66_000)
    assert [item["duration_ms"] for item in document] == [None, 65_000, None]
    assert [line.rsplit("  ", 1)[1].strip() for line in listing_text(document).splitlines()] == [
        "open for",
        "-",
        "1m 5s",
        "-",
    ]


def test_only_an_open_transaction_has_a_duration() -> None:
    """A coordinator remembers when the last transaction began, also after its end."""
    going = TransactionDescription("a", 1, Address("h", 9092), "Ongoing", 5, 1, 60_000, 1_000, (CLICKS,))
    ended = going._replace(state="CompleteCommit", partitions=())
    documents = [description_document(item, 66_000) for item in (going, ended)]
    assert [document["duration_ms"] for document in documents] == [65_000, None]
    assert descriptions_text(documents) == (
        "transactional id a  Ongoing  producer 5 epoch 1  timeout 1m  coordinator h:9092 (1)  "
        "open for 1m 5s\n"
        "  partitions clicks:0\n\n"
        "transactional id a  CompleteCommit  producer 5 epoch 1  timeout 1m  coordinator h:9092 (1)\n"
        "  partitions -"
    )


def test_producers_and_hanging_transactions_are_tables() -> None:
    document = producers_document(CLICKS, [OPEN, DONE])
    assert [p["producer_id"] for p in document["producers"]] == [4, 5]
    assert producers_text([document]).splitlines()[2].split() == [
        "clicks",
        "0",
        "5",
        "1",
        "-",
        "7",
        "1000",
        "41",
    ]
    assert producers_text([producers_document(CLICKS, [])]) == "no producers"
    hanging = hanging_document([OpenTransaction(CLICKS, OPEN)], 3_601_000)
    assert hanging[0]["idle_ms"] == 3_600_000
    assert hanging_text(hanging).splitlines()[1].split() == ["clicks", "0", "41", "5", "1", "-", "1h"]
    assert hanging_text([]) == "no hanging transactions"


def test_kafkas_tables_pad_every_cell_and_end_it_with_a_tab(capsys: pytest.CaptureFixture[str]) -> None:
    show(("Id", "State"), [("orders", "Empty"), (1, "PrepareAbort")])
    assert (
        capsys.readouterr().out == "Id    \tState       \t\norders\tEmpty       \t\n1     \tPrepareAbort\t\n"
    )


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["find-hanging"], "requires either --topic or --broker-id"),
        (["find-hanging", "--broker-id", "1", "--partition", "0"], "requires --topic to be provided"),
        (["abort", "--topic", "t", "--partition", "0"], "must be identified either with --start-offset"),
        (["abort", "--topic", "t", "--partition", "0", "--producer-id", "1"], "argument --producer-epoch"),
        (
            ["abort", "--topic", "t", "--partition", "0", "--producer-id", "1", "--producer-epoch", "1"],
            "Missing required argument --coordinator-epoch",
        ),
        (
            ["abort", "--topic", "t", "--partition", "0", "--producer-epoch", "40000"],
            "40000 does not fit into 16 bits",
        ),
        (["describe"], "--transactional-id"),
        (["forceTerminateTransaction"], "--transactionalId"),
        (["frobnicate"], "invalid choice"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_kafkas_tool_has_kafkas_rules(
    args: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool("transactions", ["--bootstrap-server", "localhost:1", *args]) == 1
    assert problem in capsys.readouterr().err
