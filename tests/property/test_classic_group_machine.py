"""A classic group under random clients: they join, sync, beat, leave, restart, lose replies, fall silent, and
the coordinator crashes.

The leader assigns the four partitions of a topic in ranges. Whatever happens: a partition has one owner per
generation, generations go up, every promise is answered when enough time has passed, and (checked by the
stage after every event) the log says what the group is. Ways that are not in the table of states fail an
assertion of the group itself.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.groups.classic.group import ClassicGroup
from ottla.groups.classic.states import ClassicState
from ottla.model.errors import ErrorCode
from ottla.wire.messages.join_group import JoinGroupResponse
from ottla.wire.messages.sync_group import SyncGroupResponse
from support.classic_group import Reply, Stage

PARTITIONS = 4
CLIENTS = 5
STATIC_CLIENTS = 2
PROTOCOLS: tuple[dict[str, bytes], ...] = (
    {"range": b"a"},
    {"range": b"b"},
    {"range": b"a", "sticky": b""},
    {"sticky": b"", "range": b"a"},
)
LONG_ENOUGH_MS = 3 * 300_000
"""Longer than any rebalance timeout, session or first join here, one after the other."""

FORGET = (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.FENCED_INSTANCE_ID)


def ranges(member_ids: list[str]) -> dict[str, bytes]:
    """The partitions of one topic, cut into ranges as the range assignor does."""
    assigned: dict[str, bytes] = {}
    begin = 0
    for number, member_id in enumerate(sorted(member_ids)):
        count = PARTITIONS // len(member_ids) + (number < PARTITIONS % len(member_ids))
        assigned[member_id] = bytes(range(begin, begin + count))
        begin += count
    return assigned


class SimulatedClient:
    def __init__(self, number: int) -> None:
        self.number = number
        self.instance = f"static-{number}" if number < STATIC_CLIENTS else None
        self.member_id = ""
        self.joined: JoinGroupResponse | None = None
        self.joining: Reply[JoinGroupResponse] | None = None
        self.syncing: Reply[SyncGroupResponse] | None = None
        self.syncing_generation = -1
        """The one that the sync asked about; a later join may be answered before its reply is read."""

    def forget(self) -> None:
        self.member_id = ""
        self.joined = None
        self.drop_replies()

    def drop_replies(self) -> None:
        self.joining = None
        self.syncing = None


clients = st.integers(0, CLIENTS - 1)


class ClassicGroupMachine(RuleBasedStateMachine):
    @initialize(max_size=st.sampled_from((2**31 - 1, CLIENTS, 3)))
    def begin(self, max_size: int) -> None:
        self.stage = Stage(max_size=max_size)
        self.clients = [SimulatedClient(number) for number in range(CLIENTS)]
        self.owners: dict[tuple[int, int], str] = {}
        """Who was told, in which generation, that it has which partition; coordinators come and go."""
        self.generation = 0

    # --- events -----------------------------------------------------------------------------------------

    @rule(
        number=clients,
        protocols=st.sampled_from(PROTOCOLS),
        version=st.sampled_from((0, 3, 4, 5, 6, 7, 8, 9)),
        session_ms=st.sampled_from((6_000, 30_000)),
        rebalance_ms=st.sampled_from((0, 5_000, 60_000, 60_000)),
    )
    def join(
        self, number: int, protocols: dict[str, bytes], version: int, session_ms: int, rebalance_ms: int
    ) -> None:
        client = self.clients[number]
        client.joining = self.stage.join(
            client.member_id,
            protocols=protocols,
            instance=client.instance,
            version=max(version, 5) if client.instance else version,
            session_ms=session_ms,
            rebalance_ms=rebalance_ms,
        )

    @rule(number=clients)
    def sync(self, number: int) -> None:
        client = self.clients[number]
        joined = client.joined
        if joined is not None:
            leads = joined.leader == client.member_id and not joined.skip_assignment
            client.syncing_generation = client.joined.generation_id
            client.syncing = self.stage.sync(
                client.member_id,
                joined.generation_id,
                ranges([member.member_id for member in joined.members]) if leads and joined.members else None,
                instance=client.instance,
            )

    @rule()
    def everybody_reads_its_replies_and_syncs(self) -> None:
        for number in range(CLIENTS):
            self.read_replies(number)
        for number in range(CLIENTS):
            self.sync(number)
        for number in range(CLIENTS):
            self.read_replies(number)

    @rule(numbers=st.sets(clients, min_size=1), version=st.sampled_from((3, 6, 9)))
    def some_rebalance_as_they_should(self, numbers: set[int], version: int) -> None:
        """Otherwise chance would hardly ever bring a group of several members to rest."""
        for number in sorted(numbers):
            for _ in range(2):  # the first time for a member id
                self.join(number, PROTOCOLS[0], version, 30_000, 20_000)
                self.read_replies(number)
        joining = [self.clients[number].joining for number in numbers]
        for reply in joining:
            if reply is not None and not reply.done:
                self.stage.advance_until(reply)
        self.everybody_reads_its_replies_and_syncs()

    @rule(number=clients)
    def read_replies(self, number: int) -> None:
        client = self.clients[number]
        if client.joining is not None and client.joining.done:
            response, client.joining = client.joining.value, None
            if response.error_code == ErrorCode.MEMBER_ID_REQUIRED:
                client.member_id = response.member_id
            elif response.error_code == ErrorCode.NONE:
                client.member_id = response.member_id
                client.joined = response
            elif response.error_code in FORGET:
                client.forget()
        if client.syncing is not None and client.syncing.done:
            answer, client.syncing = client.syncing.value, None
            if answer.error_code == ErrorCode.NONE:
                self.own(client, client.syncing_generation, answer.assignment)
            elif answer.error_code in FORGET:
                client.forget()

    def own(self, client: SimulatedClient, generation: int, partitions: bytes) -> None:
        # A static member that restarts keeps what it has, under another member id.
        name = client.instance or client.member_id
        for partition in partitions:
            assert self.owners.setdefault((generation, partition), name) == name

    @rule(number=clients)
    def replies_are_lost(self, number: int) -> None:
        self.clients[number].drop_replies()

    @rule(number=clients)
    def heartbeat(self, number: int) -> None:
        client = self.clients[number]
        if client.joined is not None:
            error = self.stage.heartbeat(
                client.member_id, client.joined.generation_id, instance=client.instance
            )
            if error in FORGET:
                client.forget()

    @rule(number=clients)
    def leave(self, number: int) -> None:
        client = self.clients[number]
        self.stage.leave((client.member_id, client.instance))
        client.forget()

    @rule(number=clients)
    def restart_client(self, number: int) -> None:
        self.clients[number].forget()

    @rule(ms=st.sampled_from((1, 100, 3_000, 3_000, 6_000, 20_000, 61_000, 301_000)))
    def time_passes(self, ms: int) -> None:
        self.stage.advance(ms)

    @precondition(lambda self: self.stage.log)
    @rule()
    def the_coordinator_crashes(self) -> None:
        """What was not written is forgotten; whoever waits has to ask the new process."""
        self.stage = self.stage.restarted()
        self.stage.run(self.stage.groups.loaded())
        self.generation = 0
        for client in self.clients:
            client.drop_replies()

    # --- what always holds ------------------------------------------------------------------------------

    @invariant()
    def generations_go_up(self) -> None:
        group = self.group()
        if group is not None:
            assert group.generation >= self.generation
            self.generation = group.generation

    @invariant()
    def whoever_waits_is_a_member_with_a_timer_in_sight(self) -> None:
        group = self.group()
        waiting = self.stage.groups.parked()
        assert {id(promise) for promise in waiting} == {id(promise) for promise in self.stage.unanswered()}
        if group is not None:
            if group.state is ClassicState.PREPARING_REBALANCE:
                assert ("join", "g") in self.stage.state.timers
            if group.state is ClassicState.COMPLETING_REBALANCE:
                assert ("sync", "g") in self.stage.state.timers
            assert group.waiting_to_join == sum(m.parked_join is not None for m in group.members.values())
            assert group.leader_id in (group.members or [None])
            assert group.static_ids == {
                member.instance_id: member.member_id for member in group.members.values() if member.is_static
            }
            assert group.metadata_bytes == sum(member.metadata_bytes for member in group.members.values())
            assert group.pending_sync <= group.members.keys()
            assert not group.pending_join & group.members.keys()
            assert group.is_empty <= (not group.members)

    def group(self) -> ClassicGroup | None:
        group = self.stage.state.groups.get("g")
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def teardown(self) -> None:
        """Everybody falls silent: nobody waits for ever, and nothing is left behind."""
        if not hasattr(self, "stage"):
            return
        self.stage.advance(LONG_ENOUGH_MS)
        assert not self.stage.unanswered()
        assert not len(self.stage.state.timers)
        group = self.group()
        if group is not None:
            assert group.is_empty
            assert not group.pending_join


ClassicGroupMachine.TestCase.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
TestClassicGroupMachine = ClassicGroupMachine.TestCase
