"""The small parts of the consumer, by themselves: strategies, patterns, listeners, what is handed out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from ottla.assignors.subscription import Subscription
from ottla.client.consuming.assignors import resolve
from ottla.client.consuming.consumed import first_offsets
from ottla.client.consuming.handing import HandingOut, offsets_of
from ottla.client.consuming.listener import Listener
from ottla.client.consuming.subscription import Blacklist, Interest, Whitelist, checked, interest
from ottla.client.errors import IllegalState, InvalidArgument, InvalidConfig
from ottla.client.records import ConsumerRecord, OffsetAndMetadata
from ottla.client.view import ClusterView, TopicView
from ottla.model.types import TopicPartition

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def record(partition: int, offset: int, topic: str = "t") -> ConsumerRecord:
    return ConsumerRecord(topic, partition, offset, 0, 0, None, b"", (), 3)


# --- strategies ------------------------------------------------------------------------------------------


class Own:
    name = "own"

    def assign(self, counts: Any, members: Any) -> dict[str, list[tuple[str, int]]]:
        return {"a": [("t", 1)], "b": [("t", 0)]}


def test_a_strategy_is_a_list_of_names_of_java_classes_or_of_objects() -> None:
    assert resolve(["range", "cooperative-sticky"]).names == ("range", "cooperative-sticky")
    java = "org.apache.kafka.clients.consumer.StickyAssignor"
    assert resolve(f"{java}, roundrobin").names == ("sticky", "roundrobin")
    mixed = resolve([Own(), "range"])
    assert mixed.names == ("own", "range") and not mixed.own["own"].cooperative
    assert mixed.own["own"].user_data(frozenset()) is None
    members = {"a": Subscription(("t",)), "b": Subscription(("t",)), "c": Subscription(("t",))}
    assert mixed.own["own"].assign({"t": 2}, members) == {"a": [T1], "b": [T0], "c": []}


@pytest.mark.parametrize(
    "wrong", [[], ["best"], [object()], [Own(), Own()], [type("N", (), {"name": "n"})()]]
)
def test_a_strategy_that_means_nothing_is_refused(wrong: list[Any]) -> None:
    with pytest.raises(InvalidConfig):
        resolve(wrong)


def test_user_data_has_to_be_bytes() -> None:
    class Chatty(Own):
        def user_data(self, topics: frozenset[str]) -> str:
            return "words"

    with pytest.raises(IllegalState, match="bytes"):
        resolve([Chatty()]).own["own"].user_data(frozenset({"t"}))


# --- patterns --------------------------------------------------------------------------------------------


def view(*names: str) -> ClusterView:
    topics = {n: TopicView(n, b"", n.startswith("__"), (), 0) for n in names}
    topics["broken"] = TopicView("broken", b"", False, (), 5)
    return ClusterView(topics=topics)


def chosen(wanted: Interest, *names: str, exclude_internal: bool = True) -> set[str]:
    return set(wanted.chosen(view(*names), exclude_internal=exclude_internal))


NAMES = ("clicks", "clicks.eu", "views", "__consumer_offsets")


@pytest.mark.parametrize(
    ("pattern", "exclude", "expected"),
    [
        ("clicks.*", None, {"clicks", "clicks.eu"}),
        ("clicks", None, {"clicks"}),  # the whole name, as in Java
        (re.compile(".*"), None, {"clicks", "clicks.eu", "views"}),
        (".*", "views", {"clicks", "clicks.eu"}),
        (".*", ["views", ".*eu"], {"clicks"}),
        (Whitelist("clicks, views"), None, {"clicks", "views"}),
        (Blacklist("clicks|views"), None, {"clicks.eu"}),
        (Blacklist("clicks"), ["views"], {"clicks.eu"}),
    ],
)
def test_a_pattern_chooses_among_the_topics_of_the_cluster(
    pattern: Any, exclude: Any, expected: set[str]
) -> None:
    assert chosen(interest(None, pattern, exclude, broker_matches=False), *NAMES) == expected


def test_internal_topics_are_chosen_only_where_they_are_not_excluded() -> None:
    wanted = interest(None, ".*", None, broker_matches=False)
    assert "__consumer_offsets" in chosen(wanted, *NAMES, exclude_internal=False)


def test_with_kip_848_the_coordinator_applies_what_re2_can_say() -> None:
    assert interest(None, "a.*", None, broker_matches=True) == Interest(regex="a.*")
    assert interest(Whitelist("a,b"), None, None, broker_matches=True) == Interest(regex="a|b")
    assert interest(None, "a.*", "ab", broker_matches=True).by_filter
    assert interest(Blacklist("a"), None, None, broker_matches=True).by_filter


def test_topics_by_name_may_be_excluded_too_and_something_has_to_be_left() -> None:
    assert interest("clicks", None, None, broker_matches=False).topics == {"clicks"}
    assert interest(["a", "b"], None, "b", broker_matches=False).topics == {"a"}
    for wrong in ((None, None), (["a"], "b"), ([], None), ([""], None), ([7], None), (None, "(")):
        with pytest.raises(InvalidArgument):
            interest(*wrong, None, broker_matches=False)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument):
        interest(["a"], None, "a", broker_matches=False)
    with pytest.raises(InvalidArgument):
        Whitelist(7)  # type: ignore[arg-type]


# --- listeners -------------------------------------------------------------------------------------------


def test_a_listener_is_an_object_or_functions_and_losses_fall_back_to_revocations() -> None:
    class Theirs:  # kafka-python's names
        def on_partitions_revoked(self, partitions: Any) -> None: ...
        def on_partitions_assigned(self, partitions: Any) -> None: ...

    theirs = Theirs()
    assert Listener.of(theirs) == Listener(
        theirs.on_partitions_assigned, theirs.on_partitions_revoked, theirs.on_partitions_revoked
    )
    assert Listener.of() == Listener()
    assert Listener.of(on_lost=print).on_lost is print
    with pytest.raises(InvalidArgument):
        Listener.of(theirs, on_lost=print)
    with pytest.raises(InvalidArgument):
        Listener.of(on_lost=7)  # type: ignore[arg-type]


# --- handing out -----------------------------------------------------------------------------------------


class Core:
    """What HandingOut needs of a core."""

    def __init__(self) -> None:
        self.unhanded: Any = None
        self.fetcher = self.consumed = self
        self.sought: list[tuple[TopicPartition, int]] = []
        self.back: list[ConsumerRecord] = []

    def seek(self, tp: TopicPartition, offset: int, leader_epoch: int) -> None:
        self.sought.append((tp, offset))

    def hand_back(self, records: Any) -> None:
        self.back += records


def test_what_was_not_handed_on_is_known_at_every_moment() -> None:
    core = Core()
    handing = HandingOut(core)  # type: ignore[arg-type]
    batch = [record(0, 0), record(1, 0), record(0, 1), record(1, 1)]
    rest = handing.iterate(batch)
    assert {tp: at.offset for tp, at in core.unhanded().items()} == {T0: 0, T1: 0}
    assert next(rest) == batch[0]
    handing.forget({T1})
    assert list(rest) == [] and list(handing.left()) == [batch[2]]
    assert next(handing.rest) == batch[2]
    assert not handing.left()
    handing.failed()
    assert core.back == [batch[2]]


def test_what_is_left_of_a_paused_partition_is_read_again() -> None:
    core = Core()
    handing = HandingOut(core)  # type: ignore[arg-type]
    rest = handing.iterate([record(0, 5), record(1, 7), record(0, 6), record(1, 8)])
    next(rest)
    handing.give_back([T1])
    assert core.sought == [(T1, 7)]
    assert [r.offset for r in handing.left()] == [6]


def test_a_record_in_hand_stays_in_hand_when_others_are_dropped() -> None:
    """It is handed back if its handling raises, also after the code has paused or sought elsewhere."""
    core = Core()
    handing = HandingOut(core)  # type: ignore[arg-type]
    batch = [record(0, 5), record(1, 7), record(0, 6), record(1, 8)]
    next(handing.iterate(batch))
    handing.forget({T1})
    handing.failed()
    assert core.back == [batch[0], batch[2]]
    core.back.clear()
    next(handing.iterate(batch))
    handing.give_back([T0])
    handing.failed()
    assert core.back == [batch[0], batch[1], batch[3]]
    core.back.clear()
    next(handing.iterate(batch))
    handing.forget({T0})  # whoever seeks has said where that partition goes on
    handing.failed()
    assert not core.back and list(handing.left()) == [batch[1], batch[3]]


def test_a_poll_after_an_iteration_gets_what_was_left() -> None:
    core = Core()
    handing = HandingOut(core)  # type: ignore[arg-type]
    next(handing.iterate([record(0, n) for n in range(5)]))
    assert [r.offset for r in handing.take_left(2)] == [1, 2]
    assert [r.offset for r in handing.take_left(None)] == [3, 4]
    assert handing.take_left(None) == []
    handing.whole([record(0, 9)])
    handing.failed()
    assert [r.offset for r in core.back] == [9]
    handing.polling()
    handing.failed()
    assert len(core.back) == 1


def test_offsets_to_commit_are_written_in_several_ways() -> None:
    assert offsets_of(None) is None
    assert offsets_of({T0: 5, ("t", 1): OffsetAndMetadata(6, "m")}) == {
        T0: OffsetAndMetadata(5),
        T1: OffsetAndMetadata(6, "m"),
    }
    assert offsets_of(record(1, 8)) == {T1: OffsetAndMetadata(9, "", 3)}
    assert offsets_of([record(0, 2), record(0, 4), record(0, 3)]) == {T0: OffsetAndMetadata(5, "", 3)}
    for wrong in ({T0: "5"}, {T0: True}, {"t": 5}, 7, "all"):
        with pytest.raises(InvalidArgument):
            offsets_of(wrong)


def test_the_first_offsets_of_a_list_are_where_its_partitions_would_have_to_begin_again() -> None:
    records = [record(0, 4), record(1, 9), record(0, 5)]
    assert first_offsets(records) == {T0: OffsetAndMetadata(4, "", 3), T1: OffsetAndMetadata(9, "", 3)}


@pytest.mark.parametrize("wrong", ["t-0", ("t",), ("t", -1), ("", 0), ("t", "0"), None])
def test_what_is_no_partition_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidArgument):
        checked(wrong)
