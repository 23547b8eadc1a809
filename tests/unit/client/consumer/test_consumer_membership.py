"""`ottla.Consumer` as a member of a group: listeners, assignors, losses, and a broker that dies."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

import pytest

from chaos.groups.driver import broker_settings
from ottla.assignors.subscription import Subscription
from ottla.client.consuming.subscription import Blacklist, Whitelist
from ottla.client.errors import CommitFailed, IllegalState, MaxPollExceeded, OttlaError, ServerError
from ottla.client.records import ConsumerRecord
from ottla.client.sync.admin import Admin
from ottla.client.sync.consumer import Consumer
from ottla.model.types import TopicPartition
from support.broker_process import BrokerFactory, BrokerProcess
from support.waiting import wait_until
from unit.client.consumer.stage import (
    MakeConsumer,
    consumer_of,
    create,
    group_broker,
    poll_until,
    read,
    write,
)

__all__ = ["consumer_of", "group_broker"]  # fixtures

pytestmark = pytest.mark.timeout(120)

BOTH = pytest.mark.parametrize("protocol", ["classic", "consumer"])


class Diary:
    """A listener that writes down what it was told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, list[int]]] = []

    def on_assigned(self, partitions: list[TopicPartition]) -> None:
        self.told.append(("assigned", [tp.partition for tp in partitions]))

    def on_revoked(self, partitions: list[TopicPartition]) -> None:
        self.told.append(("revoked", [tp.partition for tp in partitions]))

    def on_lost(self, partitions: list[TopicPartition]) -> None:
        self.told.append(("lost", [tp.partition for tp in partitions]))


def partitions_of(consumer: Consumer) -> set[int]:
    return {tp.partition for tp in consumer.assignment()}


# --- listeners -------------------------------------------------------------------------------------------


def test_with_an_eager_assignor_all_is_revoked_before_anything_is_assigned(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """The order of Java's ConsumerRebalanceListener, and at the end what is left is revoked by close."""
    create(group_broker, topic_name, 4)
    first, second = (
        consumer_of(partition_assignment_strategy=["range"]),
        consumer_of(partition_assignment_strategy=["range"]),
    )
    diary = Diary()
    first.subscribe([topic_name], listener=diary)
    poll_until(first, lambda: partitions_of(first) == {0, 1, 2, 3}, "the first has everything")
    second.subscribe([topic_name])
    poll_until(
        [first, second],
        lambda: len(partitions_of(first)) == len(partitions_of(second)) == 2,
        "the two share",
    )
    kept = sorted(partitions_of(first))
    first.close()
    assert diary.told == [
        ("assigned", [0, 1, 2, 3]),
        ("revoked", [0, 1, 2, 3]),
        ("assigned", kept),
        ("revoked", kept),
    ]
    poll_until(second, lambda: partitions_of(second) == {0, 1, 2, 3}, "the second has everything")


@pytest.mark.parametrize(
    ("protocol", "options"),
    [("classic", {"partition_assignment_strategy": ["cooperative-sticky"]}), ("consumer", {})],
)
def test_a_cooperative_rebalance_takes_only_what_moves_and_the_rest_is_read_on(
    protocol: str,
    options: dict[str, Any],
    group_broker: BrokerProcess,
    consumer_of: MakeConsumer,
    topic_name: str,
) -> None:
    """KIP-429 and KIP-848: no record of a kept partition is read twice, and none has to wait for the
    newcomer to have joined."""
    create(group_broker, topic_name, 4)
    write(group_broker, topic_name, 0, 9, partitions=4)
    first = consumer_of(group_protocol=protocol, **options)
    second = consumer_of(group_protocol=protocol, **options)
    diary = Diary()
    first.subscribe([topic_name], listener=diary)
    seen = read(first, 40)
    second.subscribe([topic_name])
    write(group_broker, topic_name, 10, 19, partitions=4)
    records: list[ConsumerRecord] = []
    poll_until(
        [first, second],
        lambda: len(partitions_of(first)) == len(partitions_of(second)) == 2,
        "the two share",
        seen=records,
    )
    revoked = [told for told in diary.told if told[0] == "revoked"]
    assert len(revoked) == 1 and len(revoked[0][1]) == 2, diary.told
    assert set(revoked[0][1]) == partitions_of(second)
    poll_until([first, second], lambda: len(records) >= 40, "the new records", seen=records)
    everything = sorted((r.partition, r.offset) for r in [*seen, *records])
    assert everything == [(p, offset) for p in range(4) for offset in range(20)]


@BOTH
def test_a_listener_may_commit_and_seek(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """Both happen within poll, while the partitions are still, or already, assigned."""
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 9, partitions=1)
    tp = TopicPartition(topic_name, 0)
    first = consumer_of(group_protocol=protocol, enable_auto_commit=False)

    def assigned(partitions: list[TopicPartition]) -> None:
        if partitions:
            assert first.position(tp) == 0
            first.seek(tp, 5)

    first.subscribe([topic_name], on_assigned=assigned, on_revoked=lambda partitions: first.commit())
    assert [r.offset for r in read(first, 5)] == [5, 6, 7, 8, 9]
    first.close()
    assert consumer_of().committed(tp)[tp].offset == 10  # type: ignore[union-attr]


def test_what_a_listener_raises_comes_out_of_poll_and_the_rebalance_is_done(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)

    def assigned(partitions: list[TopicPartition]) -> None:
        raise LookupError("not today")

    consumer = consumer_of()
    consumer.subscribe([topic_name], on_assigned=assigned)
    with pytest.raises(LookupError, match="not today"):
        poll_until(consumer, lambda: False, "an error")
    assert [r.offset for r in read(consumer, 5)] == list(range(5))


# --- assignors -------------------------------------------------------------------------------------------


class ByAge:
    """Everything to the member that says it is the oldest."""

    name = "by-age"

    def __init__(self, age: int) -> None:
        self.age = age
        self.saw: dict[str, Subscription] = {}

    def user_data(self, topics: frozenset[str]) -> bytes:
        return b"%d" % self.age

    def assign(
        self, partition_counts: Mapping[str, int], subscriptions: Mapping[str, Subscription]
    ) -> dict[str, list[TopicPartition]]:
        self.saw = dict(subscriptions)
        oldest = max(subscriptions, key=lambda member: int(subscriptions[member].user_data or b"0"))
        return {oldest: [TopicPartition(t, p) for t, n in partition_counts.items() for p in range(n)]}


def test_an_assignor_of_the_users_own_decides_with_what_members_told_it(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 3)
    young, old = (
        consumer_of(topic_name, partition_assignment_strategy=[ByAge(age), "range"]) for age in (20, 60)
    )
    poll_until(
        [young, old],
        lambda: partitions_of(old) == {0, 1, 2} and not partitions_of(young),
        "the older one has everything",
    )
    write(group_broker, topic_name, 0, 4, partitions=3)
    assert len(read(old, 15)) == 15


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky", "cooperative-sticky"])
def test_every_built_in_assignor_shares_fairly(
    name: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 6)
    members = [consumer_of(topic_name, partition_assignment_strategy=[name]) for _ in range(3)]
    poll_until(
        members,
        lambda: (
            all(len(m.assignment()) == 2 for m in members)
            and len(set().union(*(partitions_of(m) for m in members))) == 6
        ),
        "two partitions each",
    )


@pytest.mark.parametrize(
    ("made", "complaint"),
    [
        (lambda counts, members: {"nobody": []}, "who is not there"),
        (lambda counts, members: {m: [("no-such", 0)] for m in members}, "does not exist"),
        (lambda counts, members: {m: [(t, 0), (t, 0)] for m in members for t in counts}, "to .* and to"),
        (lambda counts, members: [1 // 0], "division"),
    ],
)
def test_a_wrong_assignment_of_the_users_own_is_raised_by_poll_and_not_sent(
    made: Any, complaint: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    class Wrong:
        name = "wrong"
        assign = staticmethod(made)

    create(group_broker, topic_name)
    consumer = consumer_of(topic_name, partition_assignment_strategy=[Wrong()])
    with pytest.raises((IllegalState, ZeroDivisionError), match=complaint):
        poll_until(consumer, lambda: False, "an error")
    assert not consumer.assignment()


# --- topics ----------------------------------------------------------------------------------------------


@BOTH
def test_a_pattern_with_exclusion_follows_topics_that_come_and_internal_ones_are_left_out(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    names = [f"{topic_name}.{suffix}" for suffix in ("a", "secret", "b")]
    create(group_broker, names[0])
    create(group_broker, names[1])
    consumer = consumer_of(group_protocol=protocol)
    consumer.subscribe(pattern=f"{topic_name}\\..*", exclude=[".*secret.*"])
    poll_until(consumer, lambda: consumer.assignment() == {TopicPartition(names[0], 0)}, "the first topic")
    create(group_broker, names[2])
    expected = {TopicPartition(names[0], 0), TopicPartition(names[2], 0)}
    poll_until(consumer, lambda: consumer.assignment() == expected, "the later topic")
    assert consumer.subscription() == {names[0], names[2]}
    consumer.subscribe([names[1]])  # another subscription takes its place
    poll_until(consumer, lambda: consumer.assignment() == {TopicPartition(names[1], 0)}, "the other topic")


@BOTH
def test_white_and_black_lists_choose_topics(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """The TopicFilter of the high-level consumer: commas mean "or", a black list everything else."""
    names = [f"{topic_name}.{suffix}" for suffix in "abc"]
    for name in names:
        create(group_broker, name)
    white = consumer_of(group_protocol=protocol)
    white.subscribe(Whitelist(f"{names[0]},{names[1]}"))
    expected = {TopicPartition(name, 0) for name in names[:2]}
    poll_until(white, lambda: white.assignment() == expected, "the white list's topics")
    black = consumer_of(group_protocol=protocol, group_id=f"{topic_name}-black")
    black.subscribe(Blacklist(f"{names[0]}|(?!{topic_name}).*"))
    expected = {TopicPartition(name, 0) for name in names[1:]}
    poll_until(black, lambda: black.assignment() == expected, "all but the black list's topics")


@BOTH
def test_a_topic_that_is_created_after_it_was_subscribed_to_is_read(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    consumer = consumer_of(topic_name, group_protocol=protocol, allow_auto_create_topics=False)
    poll_until(consumer, lambda: consumer.group_metadata().generation_id > 0, "it joins")
    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 2, partitions=1)
    assert len(read(consumer, 3)) == 3


# --- losses ----------------------------------------------------------------------------------------------


@BOTH
def test_a_topic_that_is_made_anew_under_its_name_is_read_from_its_beginning(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """Offsets of the old topic mean nothing in the new one (KIP-516), and the member keeps its place: the
    coordinator of KIP-848 is told of the new id.
    """
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 2)
    consumer = consumer_of(topic_name, group_protocol=protocol, allow_auto_create_topics=False)
    read(consumer, 6)
    with Admin(bootstrap_servers=group_broker.bootstrap) as admin:
        admin.delete_topics([topic_name]).all()
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 5)
    seen: list[ConsumerRecord] = []
    poll_until(consumer, lambda: len(seen) >= 12, "the new records", seen=seen)
    assert sorted((r.partition, r.offset) for r in seen) == [(p, n) for p in range(2) for n in range(6)]
    consumer.commit()
    assert {at.offset for at in consumer.committed().values() if at} == {6}


@BOTH
def test_poll_that_comes_too_late_costs_the_partitions_and_the_next_one_joins_again(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-62: after max.poll.interval.ms the member leaves; commits are refused, with the reason; the next
    poll tells the loss and joins again."""
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 4)
    diary = Diary()
    slow = consumer_of(group_protocol=protocol, max_poll_interval_ms=1500, auto_commit_interval_ms=60_000)
    slow.subscribe([topic_name], listener=diary)
    assert len(read(slow, 10)) == 10
    heir = consumer_of(topic_name, group_protocol=protocol)
    # While the slow one works on its records, nobody polls for it; the heir gets everything.
    again: list[ConsumerRecord] = []
    poll_until(heir, lambda: len(again) >= 10, "nothing was committed, so it comes again", seen=again)
    assert partitions_of(heir) == {0, 1}
    with pytest.raises(MaxPollExceeded, match=r"max\.poll\.interval\.ms"):
        slow.commit()
    assert [kind for kind, _ in diary.told if kind != "assigned"] in ([], ["revoked"])
    poll_until(
        [slow, heir], lambda: len(partitions_of(slow)) == len(partitions_of(heir)) == 1, "they share again"
    )
    kinds = [kind for kind, partitions in diary.told if partitions]
    assert kinds in (["assigned", "lost", "assigned"], ["assigned", "revoked", "assigned"]), diary.told


def test_a_member_that_was_removed_loses_its_partitions_and_its_commit_is_refused(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """An administrator removes the member: the coordinator no longer knows it. Nothing may be committed over
    the heads of those who have the partitions now."""
    from ottla.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
    from support.raw_client import RawClient

    create(group_broker, topic_name)
    write(group_broker, topic_name, 0, 4, partitions=1)
    diary = Diary()
    consumer = consumer_of(heartbeat_interval_ms=2000)
    consumer.subscribe([topic_name], listener=diary)
    assert len(read(consumer, 5)) == 5
    who = consumer.group_metadata()
    with RawClient(group_broker.port) as client:
        request = LeaveGroupRequest(group_id=who.group_id, members=[MemberIdentity(member_id=who.member_id)])
        assert client.call(request, 4).error_code == 0
    with pytest.raises(CommitFailed, match="delivered again"):
        consumer.commit()
    poll_until(consumer, lambda: ("lost", [0]) in diary.told, "the loss is told")
    poll_until(consumer, consumer.assignment, "it has joined again")
    assert consumer.group_metadata().member_id != who.member_id


def test_heartbeats_go_on_while_nobody_polls(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-62: the session is kept up by the background, so that work may take longer than it."""
    create(group_broker, topic_name)
    consumer = consumer_of(topic_name, session_timeout_ms=3000)
    poll_until(consumer, consumer.assignment, "its partitions")
    who = consumer.group_metadata()

    def heartbeats() -> float:
        return consumer.metrics()["consumer-coordinator-metrics"].get("heartbeat-total", 0)

    before = heartbeats()
    wait_until(
        lambda: heartbeats() > before + 35,
        "heartbeats for longer than the session",
        timeout_s=20,
    )
    consumer.poll(timeout=0.01)
    assert consumer.group_metadata() == who and consumer.assignment()


@BOTH
def test_a_static_member_keeps_its_partitions_when_closed_unless_it_leaves_for_good(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    """KIP-345, and KIP-1092 for `close(leave=True)`."""
    create(group_broker, topic_name, 2)

    def member(name: str) -> Consumer:
        return consumer_of(topic_name, group_protocol=protocol, group_instance_id=name)

    stays, goes = member("stays"), member("goes")
    poll_until(
        [stays, goes], lambda: len(partitions_of(stays)) == len(partitions_of(goes)) == 1, "the two share"
    )
    held, generation = partitions_of(goes), stays.group_metadata().generation_id
    goes.close()
    goes = member("goes")
    poll_until([stays, goes], lambda: partitions_of(goes) == held, "it has its partition back")
    assert stays.group_metadata().generation_id == generation
    goes.close(leave=True)
    poll_until(stays, lambda: partitions_of(stays) == {0, 1}, "the one that stays has everything")


@BOTH
def test_unsubscribing_leaves_the_group_and_commits(
    protocol: str, group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name, 2)
    write(group_broker, topic_name, 0, 4)
    first = consumer_of(topic_name, group_protocol=protocol)
    second = consumer_of(topic_name, group_protocol=protocol)
    assert len(read(first, 10)) == 10
    first.unsubscribe()
    assert not first.assignment() and not first.subscription()
    poll_until(second, lambda: partitions_of(second) == {0, 1}, "the other one has everything")
    assert second.poll(timeout=0.2) == []
    first.assign([TopicPartition(topic_name, 0)])  # now it may
    first.seek_to_beginning()
    assert len(read(first, 5)) == 5


def test_a_group_of_another_protocol_is_refused_with_advice_once_each_time(
    group_broker: BrokerProcess, consumer_of: MakeConsumer, topic_name: str
) -> None:
    create(group_broker, topic_name)
    first = consumer_of(topic_name, partition_assignment_strategy=["range"])
    poll_until(first, first.assignment, "its partitions")
    other = consumer_of(topic_name, partition_assignment_strategy=["roundrobin"])
    for _ in range(2):
        with pytest.raises(ServerError, match="none of these assignors"):
            poll_until(other, lambda: False, "an error")


# --- a broker that dies ----------------------------------------------------------------------------------


@pytest.fixture
def mortal(start_broker: BrokerFactory) -> BrokerProcess:
    return start_broker(settings=broker_settings(6000))


def consumer_at(broker: BrokerProcess, topic: str, **settings: Any) -> Consumer:
    return Consumer(
        topic,
        **{
            "bootstrap_servers": broker.bootstrap,
            "group_id": "g",
            "auto_offset_reset": "earliest",
            "fetch_max_wait_ms": 50,
            **settings,
        },
    )


@BOTH
def test_a_broker_that_is_killed_within_a_poll_and_comes_back_is_read_on(
    protocol: str, mortal: BrokerProcess, topic_name: str
) -> None:
    create(mortal, topic_name)
    write(mortal, topic_name, 0, 9, partitions=1)
    with consumer_at(mortal, topic_name, group_protocol=protocol) as consumer:
        assert len(read(consumer, 10)) == 10
        consumer.commit()
        assassin = threading.Timer(0.2, mortal.kill)
        assassin.start()
        assert consumer.poll(timeout=1.0) == []
        assassin.join()
        mortal.start()
        write(mortal, topic_name, 10, 14, partitions=1)
        assert [r.offset for r in read(consumer, 5)] == list(range(10, 15))
        consumer.commit()
        tp = TopicPartition(topic_name, 0)
        assert consumer.committed(tp)[tp].offset == 15  # type: ignore[union-attr]


@BOTH
def test_close_returns_soon_when_the_broker_is_dead(
    protocol: str, mortal: BrokerProcess, topic_name: str
) -> None:
    create(mortal, topic_name)
    write(mortal, topic_name, 0, 9, partitions=1)
    consumer = consumer_at(mortal, topic_name, group_protocol=protocol)
    assert len(read(consumer, 10)) == 10
    mortal.kill()
    began = time.monotonic()
    consumer.close()
    assert time.monotonic() - began < 15  # far below its limit of 30 s: nobody listens there
    assert isinstance(consumer.commit_error, OttlaError)  # so the records will be delivered again


def test_a_commit_waits_for_a_broker_that_restarts(mortal: BrokerProcess, topic_name: str) -> None:
    create(mortal, topic_name)
    write(mortal, topic_name, 0, 9, partitions=1)
    with consumer_at(mortal, topic_name, session_timeout_ms=6000) as consumer:
        assert len(read(consumer, 10)) == 10
        mortal.kill()
        restart = threading.Thread(target=mortal.start)
        restart.start()
        consumer.commit(timeout=30)
        restart.join()
        tp = TopicPartition(topic_name, 0)
        assert consumer.committed(tp)[tp].offset == 10  # type: ignore[union-attr]
