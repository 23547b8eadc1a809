"""What the group commands read and print, without a broker: scopes, times, files, tables, the live view."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import click
import pytest

from ottla.cli.group_reset import (
    BadInput,
    ResetRequest,
    parse_datetime_ms,
    parse_duration,
    parse_plan,
    parse_scope,
)
from ottla.cli.group_tables import lag_document, lag_text, members_document, members_text, partitions_text
from ottla.cli.group_watch import redraw
from ottla.cli.kafka import group_columns
from ottla.cli.kafka.__main__ import run as run_tool
from ottla.cli.kafka.arguments import UsageError
from ottla.cli.kafka.console_consumer import assignors
from ottla.client.group_lag import GroupLag, PartitionLag
from ottla.client.group_views import CommittedOffset, GroupDescription, GroupListing, MemberDescription
from ottla.client.offset_reset import ResetTo
from ottla.client.view import Address
from ottla.model.types import TopicPartition

CLICKS = [TopicPartition("clicks", n) for n in range(3)]
OTHER = TopicPartition("other", 0)

LITTLE = MemberDescription("cc-b0c50545", "cc", "/127.0.0.1", (CLICKS[0],))
MUCH = MemberDescription("inst-1-a8579fb5", "cc", "/127.0.0.1", (CLICKS[2], OTHER), "inst-1")
CLASSIC = GroupDescription(
    "g1", "classic", "Stable", "consumer", "range", (LITTLE, MUCH), 1, Address("127.0.0.1", 29092)
)
KIP_848 = GroupDescription(
    "g2",
    "consumer",
    "Stable",
    "consumer",
    "uniform",
    (
        MemberDescription(
            "MM5+k4EiS5OtTw3NCgNDdA",
            "cc",
            "/127.0.0.1",
            tuple(CLICKS[:2]),
            epoch=1,
            target_assignment=tuple(CLICKS),
        ),
    ),
    1,
    Address("127.0.0.1", 29092),
    2,
    1,
)
EMPTY = CLASSIC._replace(group_id="gone", state="Empty", assignor="", members=())
LAG = GroupLag(
    CLASSIC,
    (
        PartitionLag(CLICKS[0], CommittedOffset(13, 0), 15, LITTLE),
        PartitionLag(CLICKS[1], CommittedOffset(20), None, None),
        PartitionLag(CLICKS[2], None, 17, MUCH),
        PartitionLag(OTHER, CommittedOffset(7, 3), 7, MUCH),
    ),
)


def test_topics_are_given_with_or_without_partitions() -> None:
    assert parse_scope(["a", "b:0,2", "b:5"]) == {"a": None, "b": [0, 2, 5]}
    assert parse_scope(["a:1", "a"]) == {"a": None}
    for wrong in ("a:", ":1", "a:x", "a:1,,2", "a:-1"):
        with pytest.raises(click.UsageError):
            parse_scope([wrong])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P1D", timedelta(days=1)),
        ("PT1H30M", timedelta(minutes=90)),
        ("p2dt3s", timedelta(days=2, seconds=3)),
        ("PT0.5S", timedelta(milliseconds=500)),
        ("-PT5M", timedelta(minutes=-5)),
        ("PT-5M", timedelta(minutes=-5)),
    ],
)
def test_durations_are_those_that_java_reads(text: str, expected: timedelta) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize("text", ["", "P", "PT", "P1DT", "1D", "P1H", "PT1D", "P1M", "P999999999999D"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(BadInput):
        parse_duration(text)


def test_a_time_without_a_zone_is_utc_as_in_kafkas_tool() -> None:
    expected = 1_714_564_800_123
    assert parse_datetime_ms("2024-05-01T12:00:00.123") == expected
    assert parse_datetime_ms("2024-05-01T12:00:00.123Z") == expected
    assert parse_datetime_ms("2024-05-01T14:00:00.123+02:00") == expected
    assert parse_datetime_ms("1960-01-01T00:00:00.000") == 0  # -1 and -2 would mean something else
    with pytest.raises(BadInput):
        parse_datetime_ms("tomorrow")


def test_a_plan_is_read_with_and_without_groups() -> None:
    assert parse_plan(["a,0,5", "", "a,1,6"], "g") == {
        "g": {TopicPartition("a", 0): 5, TopicPartition("a", 1): 6}
    }
    assert parse_plan(["g,a,0,5", "h,a,0,6"], None) == {
        "g": {TopicPartition("a", 0): 5},
        "h": {TopicPartition("a", 0): 6},
    }
    for wrong in ("a,0", "a,x,5", "a,0,-1", "a,0,5"):
        with pytest.raises(BadInput, match="line 1"):
            parse_plan([wrong], None)


def test_a_reset_to_offset_0_is_a_target_and_a_file_needs_lines_for_the_group(tmp_path: Path) -> None:
    flags = {"to_earliest": False, "to_offset": 0, "shift_by": None, "from_file": None}
    request = ResetRequest.parse("g", ["t"], False, flags)
    assert request.target == (ResetTo.OFFSET, 0) and request.topics == {"t": None}
    plan = tmp_path / "plan.csv"
    plan.write_text("h,t,0,1\n")
    with pytest.raises(click.UsageError, match="nothing for group g"):
        ResetRequest.parse("g", [], False, {"from_file": str(plan)})
    plan.write_text("t,0,1\nh,t,0,2\n")
    assert ResetRequest.parse("g", [], False, {"from_file": str(plan)}).offsets == {TopicPartition("t", 0): 1}


def test_a_described_group_shows_its_lag_with_unknowns_as_dashes_and_a_total() -> None:
    text = lag_text(lag_document(LAG)).splitlines()
    assert text[0] == (
        "group g1  classic  Stable  members 2  assignor range  coordinator 127.0.0.1:29092 (1)"
    )
    rows = [line.split() for line in text[2:]]
    assert rows[0][:5] == ["clicks", "0", "13", "15", "2"]
    assert rows[1] == ["clicks", "1", "20", "-", "-", "-", "-", "-"]
    assert rows[2][2:6] == ["-", "17", "-", "inst-1-a8579fb5"]
    assert rows[4] == ["total", "4", "2"]
    document = lag_document(LAG)
    assert document["lag"] == 2
    assert [p["lag"] for p in document["partitions"]] == [2, None, None, 0]


def test_members_show_where_their_assignment_is_going() -> None:
    text = members_text([members_document(KIP_848), members_document(EMPTY)])
    assert "clicks:0,1 -> clicks:0,1,2" in text
    assert "group gone  classic  Empty  members 0" in text
    assert partitions_text([("b", 1), ("a", 2), ("a", 0)]) == "a:0,2 b:1"


def test_the_live_view_stays_within_the_screen() -> None:
    shown = redraw("\n".join(f"line {n} {'x' * 200}" for n in range(50)), 2.0, (40, 10))
    lines = re.sub(r"\x1b\[[0-9?]*[A-Za-z]", "", shown).rstrip("\n").split("\n")
    assert len(lines) == 9 and all(len(line) <= 40 for line in lines)
    assert lines[-1] == "... 43 more lines"
    assert "Ctrl-C" in lines[0] and lines[1].startswith("line 0")
    small = redraw("one\ntwo", 2.0, (80, 24))
    assert small.count("\n") == 3 and "more lines" not in small


# -- Kafka's tool: the expected lines are what Kafka 4.2.1 printed for the same groups


def test_offsets_are_printed_in_kafkas_columns_and_order() -> None:
    lines = group_columns.offsets(LAG, verbose=False)
    assert lines == [
        "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             "
        "CONSUMER-ID     HOST            CLIENT-ID",
        "g1              clicks          2          -               17              -               "
        "inst-1-a8579fb5 /127.0.0.1      cc",
        "g1              other           0          7               7               0               "
        "inst-1-a8579fb5 /127.0.0.1      cc",
        "g1              clicks          0          13              15              2               "
        "cc-b0c50545     /127.0.0.1      cc",
        "g1              clicks          1          20              -               -               "
        "-               -               -",
    ]
    verbose = group_columns.offsets(LAG, verbose=True)
    assert verbose[0].split()[2:5] == ["PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET"]
    assert verbose[2].split()[3:5] == ["3", "7"]


def test_members_are_printed_in_kafkas_columns() -> None:
    assert group_columns.members(CLASSIC, verbose=False) == [
        "GROUP           CONSUMER-ID     GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     ",
        "g1              cc-b0c50545                       /127.0.0.1      cc              1               ",
        "g1              inst-1-a8579fb5 inst-1            /127.0.0.1      cc              2               ",
    ]
    verbose = group_columns.members(KIP_848, verbose=True)
    assert verbose == [
        "GROUP           CONSUMER-ID            HOST            CLIENT-ID       #PARTITIONS     "
        "CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT   ",
        "g2              MM5+k4EiS5OtTw3NCgNDdA /127.0.0.1      cc              2               "
        "1               clicks:0,1           1               clicks:0,1,2        ",
    ]
    (empty,) = group_columns.members(EMPTY, verbose=False)
    assert empty == "GROUP           CONSUMER-ID     HOST            CLIENT-ID       #PARTITIONS     "
    assert group_columns.partitions((CLICKS[2], OTHER)) == "clicks:2;other:0"


def test_states_are_printed_in_kafkas_columns() -> None:
    assert group_columns.state(CLASSIC, verbose=False) == [
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS",
        "g1              127.0.0.1:29092  (1)      range                Stable               2",
    ]
    assert group_columns.state(KIP_848, verbose=True) == [
        "GROUP           COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                "
        "GROUP-EPOCH     TARGET-ASSIGNMENT-EPOCH   #MEMBERS",
        "g2              127.0.0.1:29092  (1)      uniform              Stable               "
        "2               1                         1",
    ]


def test_groups_are_listed_with_the_columns_that_are_asked_for() -> None:
    groups = [GroupListing("g2", "consumer", "Stable", "consumer"), GroupListing("old", "consumer", "", "")]
    assert group_columns.listing(groups, types=True, states=True) == [
        "GROUP                     TYPE                 STATE               ",
        "g2                        Consumer             Stable              ",
        "old                       Unknown              Unknown             ",
    ]
    assert group_columns.listing([], types=False, states=True) == [
        "GROUP                     STATE               "
    ]


def test_only_groups_of_consumers_are_consumer_groups() -> None:
    kinds = [("consumer", "classic"), ("", "classic"), ("connect", "classic"), ("share", "share")]
    listed = [GroupListing(f"g{n}", protocol, "Stable", kind) for n, (protocol, kind) in enumerate(kinds)]
    assert [group.is_consumer_group for group in listed] == [True, True, False, False]


def test_a_regular_expression_is_checked_by_the_brokers_rules(capsys: pytest.CaptureFixture[str]) -> None:
    base = ["--bootstrap-server", "a:1", "--validate-regex"]
    assert run_tool("consumer-groups", [*base, "a.*"]) == 0
    assert capsys.readouterr().out == "The regular expression `a.*` is valid.\n"
    assert run_tool("consumer-groups", [*base, "(a"]) == 0
    assert capsys.readouterr().out.startswith("The regular expression `(a` is invalid: missing )")


def test_assignors_are_named_by_java_class_or_by_wire_name() -> None:
    java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor, range"
    assert assignors(java) == ("cooperative-sticky", "range")
    with pytest.raises(UsageError, match="not available"):
        assignors("com.example.Best")
