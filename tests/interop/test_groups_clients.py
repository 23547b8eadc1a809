"""Plain things that every client does with a group: subscribe, commit, come back, keep its place by name.

One process per member (`support/group_members/`); clients that know the KIP-848 protocol do it with both.
"""

from __future__ import annotations

import pytest

from chaos.groups.driver import broker_settings
from support.broker_process import BrokerFactory, BrokerProcess
from support.group_members.fixtures import SESSION_MS, Join, group_broker, join, write
from support.group_members.process import MemberProcess
from support.raw_client import RawClient
from support.waiting import wait_until

__all__ = ["group_broker", "join"]  # fixtures

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

CLASSIC = [(kind, "classic") for kind in ("confluent-kafka", "aiokafka", "kafka-python", "java")]
NEXT_GENERATION = [("confluent-kafka", "consumer"), ("java", "consumer")]
# How a client names the error that ends it; librdkafka has only its own text for a fatal one.
FATAL = {
    ("java", "FENCED_INSTANCE_ID"): "FENCED_INSTANCE_ID",
    ("java", "UNRELEASED_INSTANCE_ID"): "UNRELEASED_INSTANCE_ID",
    ("confluent-kafka", "FENCED_INSTANCE_ID"): "Static consumer fenced by other consumer",
    ("confluent-kafka", "UNRELEASED_INSTANCE_ID"): "instance ID is still used by another member",
}


def fatal_error(member: MemberProcess) -> str:
    (fatal,) = [event.data for event in member.events() if event.kind == "fatal"]
    assert isinstance(fatal, str)
    return fatal


@pytest.mark.parametrize(("kind", "protocol"), CLASSIC + NEXT_GENERATION)
def test_a_group_goes_on_where_it_committed_after_a_restart_of_the_broker(
    kind: str, protocol: str, start_broker: BrokerFactory, join: Join, topic_name: str
) -> None:
    """Offsets lie in __consumer_offsets and outlive the broker."""
    broker = start_broker(settings=broker_settings(SESSION_MS))
    with RawClient(broker.port) as client:
        client.create_topic(topic_name, 2)
    write(broker, topic_name, 0, 29)
    first = join(broker, kind, protocol, topic_name)
    first.wait_for(lambda _: first.committed() == {0: 30, 1: 30}, "both partitions are committed")
    assert first.delivered() == {0: list(range(30)), 1: list(range(30))}
    assert first.stop() == 0

    broker.kill()
    broker.start()
    write(broker, topic_name, 30, 34)
    second = join(broker, kind, protocol, topic_name)
    second.wait_for(lambda _: second.committed() == {0: 35, 1: 35}, "the new records are committed")
    assert second.delivered() == {0: list(range(30, 35)), 1: list(range(30, 35))}
    assert second.stop() == 0


@pytest.mark.parametrize(("kind", "protocol"), CLASSIC + NEXT_GENERATION)
def test_a_static_member_that_returns_within_its_session_causes_no_rebalance(
    kind: str, protocol: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-345: the name keeps the place; the others notice nothing. With KIP-848 a member has to say that it
    goes (epoch -2) for its name to be free within the session; with the classic protocol it may just die.
    """
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 4)
    members = [join(group_broker, kind, protocol, topic_name, instance_id=f"name-{n}") for n in range(2)]
    wait_until(
        lambda: all(len(member.owned()) == 2 for member in members),
        "two members share the partitions",
        timeout_s=40,
    )
    stays, goes = members
    before = [stays.count(what) for what in ("assigned", "revoked", "lost")]
    held = goes.owned()
    if protocol == "classic":
        goes.kill()
    else:
        assert goes.stop() == 0
    returned = join(group_broker, kind, protocol, topic_name, instance_id="name-1")
    returned.wait_for(lambda _: returned.owned() == held, f"it gets {held} back")
    # Records for all partitions: the one who stayed has polled, and would have heard of a rebalance.
    write(group_broker, topic_name, 0, 9, partitions=4)
    wait_until(
        lambda: all(m.committed() == dict.fromkeys(m.owned(), 10) for m in (stays, returned)),
        "both have committed what they own",
        timeout_s=30,
    )
    assert [stays.count(what) for what in ("assigned", "revoked", "lost")] == before


@pytest.mark.parametrize("kind", ["confluent-kafka", "java"])
def test_the_older_of_two_static_members_with_one_name_is_fenced(
    kind: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-345, classic protocol: the newcomer takes the name over, the older gets FENCED_INSTANCE_ID."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    older = join(group_broker, kind, "classic", topic_name, instance_id="one-name")
    older.wait_for(lambda _: older.owned() == {0, 1}, "it owns both partitions")
    newer = join(group_broker, kind, "classic", topic_name, instance_id="one-name")
    newer.wait_for(lambda _: newer.owned() == {0, 1}, "it owns both partitions")
    assert older.wait() == 3
    assert FATAL[kind, "FENCED_INSTANCE_ID"] in fatal_error(older)
    write(group_broker, topic_name, 0, 9)
    newer.wait_for(lambda _: newer.committed() == {0: 10, 1: 10}, "the newcomer works")


@pytest.mark.parametrize("kind", ["confluent-kafka", "java"])
def test_a_second_static_member_with_a_name_in_use_is_refused_by_the_newer_protocol(
    kind: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-848: UNRELEASED_INSTANCE_ID for the newcomer; the older one works on."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    older = join(group_broker, kind, "consumer", topic_name, instance_id="one-name")
    older.wait_for(lambda _: older.owned() == {0, 1}, "it owns both partitions")
    newer = join(group_broker, kind, "consumer", topic_name, instance_id="one-name")
    assert newer.wait() == 3
    assert FATAL[kind, "UNRELEASED_INSTANCE_ID"] in fatal_error(newer)
    write(group_broker, topic_name, 0, 9)
    older.wait_for(lambda _: older.committed() == {0: 10, 1: 10}, "the older one works on")
    assert newer.count("assigned") == 0


@pytest.mark.parametrize("kind", ["confluent-kafka", "java"])
def test_a_regular_expression_is_evaluated_by_the_broker(
    kind: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-848: Java's SubscriptionPattern, librdkafka's name that begins with ^; both match whole names."""
    names = [f"{topic_name}.{kind}.{suffix}" for suffix in ("a", "b", "ab", "other")]
    with RawClient(group_broker.port) as client:
        for name in names:
            client.create_topic(name)
    pattern = f"^{topic_name}\\.{kind}\\.[ab]+$" if kind != "java" else f"{topic_name}\\.{kind}\\.[ab]+"
    member = join(group_broker, kind, "consumer", topic_name, group=f"regex-{kind}", pattern=pattern)
    expected = {f"{name}-0" for name in names[:3]}
    member.wait_for(lambda _: member.owned() == expected, f"it owns {expected}")
    for name in names:
        write(group_broker, name, 0, 2, partitions=1)
    member.wait_for(lambda _: member.committed() == dict.fromkeys(expected, 3), "its commits")
    assert set(member.delivered()) == expected


@pytest.mark.parametrize("kind", ["confluent-kafka", "aiokafka", "kafka-python"])
def test_a_regular_expression_is_evaluated_by_a_classic_client(
    kind: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    names = [f"{topic_name}.{kind}.{suffix}" for suffix in ("a", "b", "other")]
    with RawClient(group_broker.port) as client:
        for name in names:
            client.create_topic(name)
    member = join(
        group_broker,
        kind,
        "classic",
        topic_name,
        group=f"regex-{kind}",
        pattern=f"^{topic_name}\\.{kind}\\.[ab]$",
    )
    expected = {f"{name}-0" for name in names[:2]}
    member.wait_for(lambda _: member.owned() == expected, f"it owns {expected}")


@pytest.mark.parametrize("kind", ["confluent-kafka", "aiokafka", "kafka-python", "java"])
def test_a_member_that_is_paused_past_its_session_is_replaced_and_returns(
    kind: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """The session timeout: a silent member is expelled, its commit refused, and it may join again."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    sleeper = join(group_broker, kind, "classic", topic_name, session_ms=2500)
    sleeper.wait_for(lambda _: sleeper.owned() == {0, 1}, "it owns both partitions")
    write(group_broker, topic_name, 0, 9)
    sleeper.wait_for(lambda _: sleeper.committed() == {0: 10, 1: 10}, "its commits")
    sleeper.pause()
    heir = join(group_broker, "confluent-kafka", "classic", topic_name)
    heir.wait_for(lambda _: heir.owned() == {0, 1}, "the heir owns both partitions")
    write(group_broker, topic_name, 10, 19)
    heir.wait_for(lambda _: heir.committed() == {0: 20, 1: 20}, "the heir's commits")
    assert heir.delivered() == {0: list(range(10, 20)), 1: list(range(10, 20))}
    sleeper.resume()
    wait_until(lambda: len(sleeper.owned()) == 1 and len(heir.owned()) == 1, "they share again", timeout_s=40)
    assert sleeper.owned() | heir.owned() == {0, 1}
