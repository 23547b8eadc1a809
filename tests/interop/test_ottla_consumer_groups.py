"""Ottla's consumer in one group with librdkafka's and Java's, by both protocols, and alone with itself.

One process per member (`support/group_members/`).
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from chaos.groups.driver import Run, Scenario, broker_settings
from chaos.groups.scenarios import seats
from support.broker_process import BrokerFactory, BrokerProcess
from support.group_members.fixtures import SESSION_MS, Join, group_broker, join, write
from support.group_members.process import MemberProcess
from support.raw_client import RawClient
from support.waiting import wait_until

__all__ = ["group_broker", "join"]  # fixtures

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

PARTITIONS = 6


def shared(members: list[MemberProcess]) -> bool:
    """Whether everybody has an equal share and no partition has two owners."""
    owned = [member.owned() for member in members]
    everything = set().union(*owned)
    return everything == set(range(PARTITIONS)) and all(len(o) == PARTITIONS // len(members) for o in owned)


def delivered_once(members: list[MemberProcess], first: int, last: int) -> bool:
    """Whether each record of every partition was processed by exactly one member, in order."""
    found: dict[object, list[int]] = {}
    for member in members:
        for partition, offsets in member.delivered().items():
            fresh = [offset for offset in offsets if first <= offset <= last]
            if fresh:
                assert partition not in found, f"{partition} came to two members"
                found[partition] = fresh
    return found == {partition: list(range(first, last + 1)) for partition in range(PARTITIONS)}


@pytest.mark.parametrize(
    ("others", "protocol", "assignor"),
    [
        (("confluent-kafka", "java"), "classic", "range"),
        (("confluent-kafka", "java"), "classic", "roundrobin"),
        (("java", "java"), "classic", "sticky"),
        (("confluent-kafka", "java"), "classic", "cooperative-sticky"),
        (("confluent-kafka", "java"), "consumer", "uniform"),
    ],
)
def test_members_of_three_clients_share_a_group_and_hand_partitions_on(
    others: tuple[str, str],
    protocol: str,
    assignor: str,
    group_broker: BrokerProcess,
    join: Join,
    topic_name: str,
) -> None:
    """Whoever is leader assigns for all; every assignor that two clients have in common, and KIP-848."""
    options = {"assignors": (assignor,)} if protocol == "classic" else {"remote_assignor": assignor}
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, PARTITIONS)
    members = [join(group_broker, "ottla", protocol, topic_name, **options)]
    members[0].wait_for(lambda _: members[0].owned() == set(range(PARTITIONS)), "the first has everything")
    members += [join(group_broker, kind, protocol, topic_name, **options) for kind in others]
    wait_until(lambda: shared(members), "the three share the partitions", timeout_s=60)
    write(group_broker, topic_name, 0, 19, partitions=PARTITIONS)
    wait_until(lambda: delivered_once(members, 0, 19), "each record came once", timeout_s=30)
    wait_until(
        lambda: all(m.committed() == dict.fromkeys(m.owned(), 20) for m in members), "all is committed"
    )

    assert members[1].stop() == 0  # a clean leave: its partitions go to the two others at once
    rest = [members[0], members[2]]
    wait_until(lambda: shared(rest), "the two that are left share the partitions", timeout_s=60)
    write(group_broker, topic_name, 20, 29, partitions=PARTITIONS)
    wait_until(lambda: delivered_once(rest, 20, 29), "each new record came once", timeout_s=30)

    assert members[0].stop() == 0
    members[2].wait_for(lambda _: members[2].owned() == set(range(PARTITIONS)), "the last has everything")
    assert members[2].stop() == 0


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_killed_member_is_replaced_when_its_session_is_over(
    protocol: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, PARTITIONS)
    members = [join(group_broker, kind, protocol, topic_name) for kind in ("ottla", "confluent-kafka")]
    wait_until(lambda: shared(members), "the two share the partitions", timeout_s=60)
    members[1].kill()
    members[0].wait_for(lambda _: members[0].owned() == set(range(PARTITIONS)), "ours takes over")
    write(group_broker, topic_name, 0, 9, partitions=PARTITIONS)
    members[0].wait_for(
        lambda _: members[0].committed() == dict.fromkeys(range(PARTITIONS), 10), "everything is committed"
    )


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_our_group_goes_on_where_it_committed_after_a_restart_of_the_broker(
    protocol: str, start_broker: BrokerFactory, join: Join, topic_name: str
) -> None:
    """Members outlive the broker: they find it again, join again, and neither lose nor repeat what was
    committed."""
    broker = start_broker(settings=broker_settings(SESSION_MS))
    with RawClient(broker.port) as client:
        client.create_topic(topic_name, 2)
    write(broker, topic_name, 0, 29)
    member = join(broker, "ottla", protocol, topic_name)
    member.wait_for(lambda _: member.committed() == {0: 30, 1: 30}, "both partitions are committed")
    broker.kill()
    broker.start()
    write(broker, topic_name, 30, 34)
    member.wait_for(lambda _: member.committed() == {0: 35, 1: 35}, "the new records are committed")
    assert member.delivered() == {0: list(range(35)), 1: list(range(35))}
    assert member.stop() == 0

    write(broker, topic_name, 35, 39)
    second = join(broker, "ottla", protocol, topic_name)
    second.wait_for(lambda _: second.committed() == {0: 40, 1: 40}, "the next member goes on from there")
    assert second.delivered() == {0: list(range(35, 40)), 1: list(range(35, 40))}
    assert second.stop() == 0


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_our_static_member_that_returns_within_its_session_causes_no_rebalance(
    protocol: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-345: the name keeps the place; the others notice nothing."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 4)
    members = [
        join(group_broker, "ottla", protocol, topic_name, instance_id=f"name-{n}", assignors=("sticky",))
        for n in range(2)
    ]
    wait_until(lambda: all(len(m.owned()) == 2 for m in members), "two members share", timeout_s=40)
    stays, goes = members
    before = [stays.count(what) for what in ("assigned", "revoked", "lost")]
    held = goes.owned()
    assert goes.stop() == 0  # a static member does not leave when it is closed
    returned = join(group_broker, "ottla", protocol, topic_name, instance_id="name-1", assignors=("sticky",))
    returned.wait_for(lambda _: returned.owned() == held, f"it gets {held} back")
    write(group_broker, topic_name, 0, 9, partitions=4)
    wait_until(
        lambda: all(m.committed() == dict.fromkeys(m.owned(), 10) for m in (stays, returned)),
        "both have committed what they own",
        timeout_s=30,
    )
    assert [stays.count(what) for what in ("assigned", "revoked", "lost")] == before


@pytest.mark.parametrize(("protocol", "older_ends"), [("classic", True), ("consumer", False)])
def test_one_of_two_static_members_with_one_name_is_refused_with_advice(
    protocol: str, older_ends: bool, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """KIP-345: the classic protocol fences the older one, KIP-848 refuses the newcomer."""
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    older = join(group_broker, "ottla", protocol, topic_name, instance_id="one-name")
    older.wait_for(lambda _: older.owned() == {0, 1}, "it owns both partitions")
    newer = join(group_broker, "ottla", protocol, topic_name, instance_id="one-name")
    ends, stays = (older, newer) if older_ends else (newer, older)
    assert ends.wait() == 3
    (fatal,) = [event.data for event in ends.events() if event.kind == "fatal"]
    assert "group.instance.id" in fatal, fatal
    write(group_broker, topic_name, 0, 9)
    stays.wait_for(lambda _: stays.committed() == {0: 10, 1: 10}, "the other one works")


def test_a_member_that_is_paused_past_its_session_loses_its_partitions_and_returns(
    group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    with RawClient(group_broker.port) as client:
        client.create_topic(topic_name, 2)
    sleeper = join(group_broker, "ottla", "classic", topic_name, session_ms=2500)
    sleeper.wait_for(lambda _: sleeper.owned() == {0, 1}, "it owns both partitions")
    write(group_broker, topic_name, 0, 9)
    sleeper.wait_for(lambda _: sleeper.committed() == {0: 10, 1: 10}, "its commits")
    sleeper.pause()
    heir = join(group_broker, "confluent-kafka", "classic", topic_name)
    heir.wait_for(lambda _: heir.owned() == {0, 1}, "the heir owns both partitions")
    write(group_broker, topic_name, 10, 19)
    heir.wait_for(lambda _: heir.committed() == {0: 20, 1: 20}, "the heir's commits")
    sleeper.resume()
    wait_until(lambda: len(sleeper.owned()) == len(heir.owned()) == 1, "they share again", timeout_s=40)
    assert sleeper.count("lost") == 1
    pairs = itertools.chain(sleeper.owned(), heir.owned())
    assert sorted(pairs, key=str) == [0, 1]


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_pattern_means_the_topics_whose_whole_name_it_matches_also_later_ones(
    protocol: str, group_broker: BrokerProcess, join: Join, topic_name: str
) -> None:
    """Kafka's rule; KIP-848 has the coordinator apply it (RE2)."""
    names = [f"{topic_name}.{suffix}" for suffix in ("a", "b", "ab", "other")]
    with RawClient(group_broker.port) as client:
        for name in names[:1] + names[2:]:
            client.create_topic(name)
        member = join(
            group_broker,
            "ottla",
            protocol,
            topic_name,
            pattern=f"{topic_name}\\.[ab]+",
            group=f"re-{protocol}",
        )
        expected = {f"{names[0]}-0", f"{names[2]}-0"}
        member.wait_for(lambda _: member.owned() == expected, f"it owns {expected}")
        client.create_topic(names[1])
    expected.add(f"{names[1]}-0")
    member.wait_for(lambda _: member.owned() == expected, "the later topic is found")
    for name in names:
        write(group_broker, name, 0, 2, partitions=1)
    member.wait_for(lambda _: member.committed() == dict.fromkeys(expected, 3), "its commits")


CHAOS = (
    Scenario(
        "ours-with-librdkafka-range",
        seats(("ottla", "confluent-kafka"), 4, static=1),
        steps=0,
        first=3,
        plan=(("calm", 0), ("kill", 0), ("crash", 0), ("join", 0), ("leave", 2), ("join", 3), ("calm", 0)),
    ),
    Scenario(
        "ours-with-java-cooperative",
        seats(("ottla", "java"), 4),
        steps=0,
        first=2,
        assignors=("cooperative-sticky",),
        plan=(("calm", 0), ("join", 2), ("crash", 0), ("join", 3), ("kill", 0), ("leave", 1), ("calm", 0)),
    ),
    Scenario(
        "ours-with-librdkafka-next-generation",
        seats(("ottla", "confluent-kafka"), 4, "consumer", static=1),
        steps=0,
        first=2,
        plan=(("calm", 0), ("join", 2), ("crash", 0), ("join", 3), ("kill", 0), ("leave", 1), ("calm", 0)),
    ),
    Scenario(
        "ours-migrate-from-classic-to-next-generation",
        seats(("ottla",), 2) + seats(("ottla",), 2, "consumer"),
        steps=0,
        first=2,
        plan=(("calm", 0), ("join", 2), ("restart", 0), ("leave", 0), ("join", 3), ("kill", 1), ("calm", 0)),
    ),
)


@pytest.mark.parametrize("scenario", CHAOS, ids=lambda scenario: scenario.name)
def test_every_record_is_delivered_while_our_members_and_the_broker_come_and_go(
    scenario: Scenario, start_broker: BrokerFactory, tmp_path: Path
) -> None:
    """Nothing skipped, one owner at a time, redelivery only from the last commit, commits never go back
    (`chaos/groups/checker.py`)."""
    hurried = replace(scenario, pause_s=(0.1, 0.4), records_per_s=400, session_ms=3000, work_ms=10)
    broker = start_broker(settings=broker_settings(hurried.session_ms))
    outcome = Run(broker, hurried, 1, tmp_path / "members", say=print).run()
    print(outcome.summary())
    assert not outcome.problems(), "\n".join(outcome.problems()[:20])
    assert outcome.produced > 0 and outcome.report.commits > 0 and outcome.report.samples > 0
