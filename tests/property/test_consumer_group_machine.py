"""Consumer groups under random events, checked against what KIP-848 promises.

At any moment a partition has at most one owner (it is assigned to, or not yet given up by, at most one
member), whoever reads a partition is its owner, and epochs of members never go back; a group that is left
in peace comes to rest within a few heartbeats, with every partition assigned; and at every moment the log,
replayed, gives the same state.
"""

from __future__ import annotations

from itertools import count
from typing import Any
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.coordination.outcome import try_now
from ottla.groups.classic.states import ClassicState
from ottla.groups.consumer import target
from ottla.groups.consumer.group import EMPTY, STABLE
from ottla.groups.consumer.member import STATIC_LEAVE_EPOCH, Partitions
from ottla.model.errors import ErrorCode
from support.consumer_group import ClassicConsumer, Consumer, World

_TOPICS = ("a", "b", "c", "ab")
_REGEXES = ("a.*", "b|c", "zz.*")
_INSTANCES = ("i1", "i2")
_CLIENTS_MAX = 6

_topics = st.lists(st.sampled_from(_TOPICS), min_size=1, max_size=3, unique=True)
_which = st.integers(0, _CLIENTS_MAX - 1)


class ConsumerGroupMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.assign_at_once = True
        self._patch = patch.object(
            target, "try_now", lambda steps, most: try_now(steps, most if self.assign_at_once else 0)
        )
        self._patch.start()
        self.world = World({"a": 4, "b": 1})
        self.clients: list[Consumer | ClassicConsumer] = []
        self.numbers = count()
        self.epochs: dict[str, int] = {}

    def teardown(self) -> None:
        self._patch.stop()

    @initialize(
        policy=st.sampled_from(("bidirectional", "bidirectional", "upgrade")), range_first=st.booleans()
    )
    def configure(self, policy: str, range_first: bool) -> None:
        assignors = ("range", "uniform") if range_first else ("uniform", "range")
        self.world.change_settings(consumer_migration_policy=policy, consumer_assignors=assignors)

    def client(self, which: int) -> Consumer | ClassicConsumer:
        return self.clients[which % len(self.clients)]

    # --- members ------------------------------------------------------------------------------------------

    @precondition(lambda self: len(self.clients) < _CLIENTS_MAX)
    @rule(
        topics=_topics,
        regex=st.none() | st.sampled_from(_REGEXES),
        instance=st.none() | st.sampled_from(_INSTANCES),
    )
    def comes(self, topics: list[str], regex: str | None, instance: str | None) -> None:
        if any(each.instance == instance is not None for each in self.clients):
            instance = None
        member_id = f"m{next(self.numbers)}"
        client = Consumer(self.world, member_id, *topics, regex=regex, instance=instance, rebalance_ms=20_000)
        self.clients.append(client)
        client.beat()

    @precondition(lambda self: len(self.clients) < _CLIENTS_MAX)
    @rule(topics=_topics, instance=st.none() | st.sampled_from(_INSTANCES))
    def comes_classic(self, topics: list[str], instance: str | None) -> None:
        if any(each.instance == instance is not None for each in self.clients):
            instance = None
        self.clients.append(
            ClassicConsumer(self.world, *topics, instance=instance, rebalance_ms=20_000, session_ms=30_000)
        )
        self.clients[-1].beat()

    @precondition(lambda self: self.clients)
    @rule(which=_which, lose_reply=st.booleans(), full=st.booleans(), adopt=st.booleans())
    def beats(self, which: int, lose_reply: bool, full: bool, adopt: bool) -> None:
        client = self.client(which)
        if isinstance(client, Consumer):
            client.beat(lose_reply=lose_reply, full=full, adopt=adopt)
        else:
            client.beat()

    @precondition(lambda self: self.clients)
    @rule(which=_which, times=st.integers(1, 4))
    def goes_on(self, which: int, times: int) -> None:
        for _ in range(times):
            self.client(which).beat()

    @precondition(lambda self: self.clients)
    @rule(which=_which, topics=_topics, regex=st.none() | st.sampled_from(_REGEXES))
    def subscribes(self, which: int, topics: list[str], regex: str | None) -> None:
        client = self.client(which)
        if isinstance(client, Consumer):
            client.subscribe(*topics, regex=regex or "")
        else:
            client.topics = topics
        client.beat()

    @precondition(lambda self: self.clients)
    @rule(which=_which)
    def leaves(self, which: int) -> None:
        client = self.client(which)
        self.clients.remove(client)
        client.leave()

    @precondition(lambda self: self.clients)
    @rule(which=_which)
    def dies(self, which: int) -> None:
        self.clients.remove(self.client(which))

    @precondition(lambda self: any(each.instance for each in self.clients))
    @rule(which=_which, as_classic=st.booleans(), topics=st.none() | _topics, cleanly=st.booleans())
    def static_member_returns(
        self, which: int, as_classic: bool, topics: list[str] | None, cleanly: bool
    ) -> None:
        static = [each for each in self.clients if each.instance is not None]
        old = static[which % len(static)]
        self.clients.remove(old)
        if isinstance(old, Consumer) and cleanly and old.epoch > 0:
            old.leave(STATIC_LEAVE_EPOCH)
        names = topics or list(old.topics or ["a"])
        if as_classic:
            self.clients.append(
                ClassicConsumer(
                    self.world, *names, instance=old.instance, rebalance_ms=20_000, session_ms=30_000
                )
            )
        else:
            member_id = f"m{next(self.numbers)}"
            self.clients.append(
                Consumer(self.world, member_id, *names, instance=old.instance, rebalance_ms=20_000)
            )
        self.clients[-1].beat()

    # --- the cluster --------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(_TOPICS), partitions=st.integers(1, 6))
    def topic_changes(self, name: str, partitions: int) -> None:
        facts = self.world.env.topics.topic(name)
        if facts is None:
            self.world.create(**{name: partitions})
        elif facts.partition_count < partitions:
            self.world.grow(name, partitions)
        else:
            self.world.delete(name)
            for client in self.clients:
                if isinstance(client, ClassicConsumer):
                    client.reads.pop(
                        name, None
                    )  # names are all it knows: a new topic of that name is not this one

    @rule(ms=st.sampled_from((100, 3_000, 11_000, 25_000)))
    def time_passes(self, ms: int) -> None:
        self.world.advance(ms)

    @rule(steps=st.integers(1, 10))
    def jobs_go_on(self, steps: int) -> None:
        self.world.work(steps)

    @rule(at_once=st.booleans())
    def assignments_are(self, at_once: bool) -> None:
        self.assign_at_once = at_once

    @rule()
    def broker_restarts(self) -> None:
        self.world = self.world.restart()
        for client in self.clients:
            client.world = self.world
            if isinstance(client, ClassicConsumer):
                client.joining = client.syncing = None

    # --- what has to hold ---------------------------------------------------------------------------------

    @rule()
    def is_left_in_peace(self) -> None:
        for _ in range(25):
            for client in self.clients:
                client.beat()
                self.world.work()
            self.world.advance(4_000)
            self.world.work()
        if not self.clients:
            assert (
                self.world.state.groups.get("g") is None or self.world.state.groups["g"].state_name == EMPTY
            )
        elif self.world.is_consumer_group:
            self._check_rest()
        else:
            assert all(isinstance(client, ClassicConsumer) for client in self.clients)
            assert self.world.classic_group.state is ClassicState.STABLE

    def _check_rest(self) -> None:
        group = self.world.group
        assert group.state_name == STABLE
        assert group.members.keys() == {client.member_id for client in self.clients}
        assigned: set[tuple[str, int]] = set()
        subscribed: set[str] = set()
        for client in self.clients:
            member = client.state
            reads = client.reads
            assert reads == self.world.named(member.assigned)
            assigned |= {(name, number) for name, numbers in reads.items() for number in numbers}
            subscribed |= member.topic_names
            if member.pattern is not None:
                subscribed |= group.resolutions[member.pattern].topics
        wanted = {
            (name, number)
            for name in subscribed
            if (facts := self.world.env.topics.topic(name)) is not None
            for number in range(facts.partition_count)
        }
        assert assigned == wanted

    @invariant()
    def epochs_never_go_back(self) -> None:
        if not self.world.is_consumer_group:
            self.epochs = {}
            return
        before = self.epochs
        self.epochs = {member_id: member.epoch for member_id, member in self.world.group.members.items()}
        for member_id, epoch in self.epochs.items():
            assert epoch >= before.get(member_id, epoch) or epoch == STATIC_LEAVE_EPOCH

    @invariant()
    def whoever_reads_owns(self) -> None:
        if not self.world.is_consumer_group:
            return
        for client in self.clients:
            member = self.world.group.members.get(client.member_id)
            if member is None:
                continue  # it is fenced, and will be told
            if isinstance(client, Consumer):
                reads: Partitions = client.owned
            elif client.assigned_by is self.world.group:
                reads = {
                    facts.topic_id: frozenset(numbers)
                    for name, numbers in client.reads.items()
                    if (facts := self.world.env.topics.topic(name)) is not None
                }
            else:
                continue
            for topic_id, numbers in reads.items():
                owned: frozenset[int] = member.assigned.get(topic_id, frozenset())
                assert numbers <= owned | member.pending_revocation.get(topic_id, frozenset())


ConsumerGroupMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestConsumerGroupMachine: Any = ConsumerGroupMachine.TestCase


def test_the_machine_can_convert_groups_both_ways() -> None:
    """The events above reach what they are meant to reach."""
    world = World({"a": 4})
    classic = ClassicConsumer(world, "a")
    for _ in range(4):
        classic.beat()
        world.advance(3_000)
    assert not world.is_consumer_group
    consumer = Consumer(world, "m", "a")
    consumer.beat()
    assert world.is_consumer_group
    consumer.leave()
    assert not world.is_consumer_group
    assert classic.heartbeat() in (ErrorCode.REBALANCE_IN_PROGRESS, ErrorCode.ILLEGAL_GENERATION)
