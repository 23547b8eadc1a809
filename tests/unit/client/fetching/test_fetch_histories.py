"""Random histories: the fetcher against a cluster that moves leaders, loses sessions, refuses and dies; and
the session alone against a broker that keeps the other half of it.
"""

from __future__ import annotations

from typing import Any

from fetch_stage import Log, Stage
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ottla.client.consuming.fetch_sessions import FINAL_EPOCH, FetchSession, Plan, Wanted
from ottla.client.consuming.positions import FetchState
from ottla.client.errors import BrokerUnavailable, ServerError
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages import fetch

PARTITIONS = 4
NODES = (1, 2, 3)
TPS = [TopicPartition("t", i) for i in range(PARTITIONS)]
partition = st.integers(0, PARTITIONS - 1)

PASSING = st.sampled_from(
    [
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ]
)
TOP_LEVEL = st.sampled_from(
    [
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
        ErrorCode.UNKNOWN_SERVER_ERROR,
    ]
)


class FetcherMachine(RuleBasedStateMachine):
    """Whatever happens, each assigned partition gives its records in order, each once, from where it was last
    sought to; and once the trouble is over, all of them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stage = Stage(max_partition_fetch_bytes=600, queued_max_bytes=6_000)
        self.logs: list[Log] = self.stage.topic("t", PARTITIONS, leaders=NODES)
        self.fetcher = self.stage.start()
        self.expected: dict[TopicPartition, int] = {}
        self.paused: set[TopicPartition] = set()

    @initialize(chosen=st.sets(partition, min_size=1))
    def begin(self, chosen: set[int]) -> None:
        self.assign(chosen)

    @rule(chosen=st.sets(partition))
    def assign(self, chosen: set[int]) -> None:
        wanted = {TPS[i] for i in chosen}
        self.fetcher.assign(wanted)
        self.expected = {tp: offset for tp, offset in self.expected.items() if tp in wanted}
        self.paused &= wanted
        assert self.fetcher.missing() == wanted - set(self.expected)
        for tp in wanted - set(self.expected):
            self.fetcher.seek(tp, 0)
            self.expected[tp] = 0

    @rule(i=partition, part=st.floats(0, 1))
    def seek(self, i: int, part: float) -> None:
        if TPS[i] in self.expected:
            offset = int(self.logs[i].next_offset * part)
            self.fetcher.seek(TPS[i], offset)
            self.expected[TPS[i]] = offset

    @rule(i=partition, where=st.sampled_from([-2, -1]))
    def reset(self, i: int, where: int) -> None:
        tp = TPS[i]
        if tp in self.expected and not self.stage.dead:
            self.fetcher.reset(tp, where)
            self.stage.run(lambda: self.fetcher.has_position(tp), limit_ms=60_000)
            self.expected[tp] = 0 if where == -2 else self.logs[i].next_offset

    @rule(i=partition)
    def pause(self, i: int) -> None:
        if TPS[i] in self.expected:
            self.fetcher.pause([TPS[i]])
            self.paused.add(TPS[i])

    @rule()
    def resume(self) -> None:
        self.fetcher.resume(self.paused)
        self.paused.clear()

    @rule(i=partition, batches=st.integers(1, 6), count=st.integers(1, 5))
    def append(self, i: int, batches: int, count: int) -> None:
        for _ in range(batches):
            self.logs[i].append(count, size=40)
        self.stage.appended()

    @rule(i=partition, node=st.sampled_from(NODES), told=st.booleans())
    def move_leader(self, i: int, node: int, told: bool) -> None:
        self.stage.hints = told
        self.logs[i].leader = node
        self.logs[i].epoch += 1
        self.stage.appended()

    @rule(i=partition, code=PASSING)
    def refuse(self, i: int, code: int) -> None:
        self.logs[i].errors.append(code)
        self.stage.appended()

    @rule(code=TOP_LEVEL)
    def refuse_a_whole_request(self, code: int) -> None:
        def once(node_id: int, request: Any) -> Any:
            del self.stage.overrides["Fetch"]
            return fetch.FetchResponse(error_code=code)

        self.stage.overrides["Fetch"] = once

    @rule()
    def forget_sessions(self) -> None:
        self.stage.sessions.clear()

    @rule(by=st.integers(1, 3))
    def confuse_sessions(self, by: int) -> None:
        for session in self.stage.sessions.values():
            session.epoch += by

    @rule(open_sessions=st.booleans())
    def sessions_on_or_off(self, open_sessions: bool) -> None:
        self.stage.with_sessions = open_sessions

    @precondition(lambda self: not self.stage.dead)
    @rule(node=st.sampled_from(NODES))
    def kill(self, node: int) -> None:
        self.stage.dead.add(node)
        for held in [held for held in self.stage.held if held.node_id == node]:
            held.done = True
            self.stage.held.remove(held)
            held.pending.failed(BrokerUnavailable(f"host{node}"))
        for key in [key for key in self.stage.sessions if key[0] == node]:
            del self.stage.sessions[key]

    @rule()
    def revive(self) -> None:
        self.stage.dead.clear()

    @rule(duration_ms=st.sampled_from([0, 1, 3, 40, 700]))
    def wait(self, duration_ms: int) -> None:
        self.stage.run(limit_ms=duration_ms)

    @rule(count=st.integers(1, 50), columns=st.booleans())
    def take(self, count: int, columns: bool) -> None:
        if columns:
            for tp, taken in self._attempt(lambda: self.fetcher.take_columns(count * 40)):
                offsets = list(memoryview(taken.filled().offsets).cast("B").cast("q"))
                assert offsets == list(range(self.expected[tp], self.expected[tp] + len(offsets)))
                self.expected[tp] += len(offsets)
                assert tp not in self.paused
            return
        for record in self._attempt(lambda: self.fetcher.take(count)):
            tp = TopicPartition(record.topic, record.partition)
            assert tp not in self.paused
            assert record.offset == self.expected[tp]
            self.expected[tp] += 1

    def _attempt(self, take: Any) -> Any:
        try:
            return take()
        except ServerError as error:
            if error.code != ErrorCode.UNKNOWN_SERVER_ERROR:  # of a whole request: nothing to do but raise it
                raise
            return []

    @invariant()
    def positions_are_what_was_handed_out(self) -> None:
        for tp, offset in self.expected.items():
            position = self.fetcher.position(tp)
            assert position is None or position.offset == offset

    @invariant()
    def one_request_per_broker(self) -> None:
        assert self.stage.in_flight_max <= 1

    @invariant()
    def the_books_agree(self) -> None:
        fetcher = self.fetcher
        brokers = fetcher._brokers.values()
        states = fetcher._positions.partitions
        assert fetcher.buffered_bytes == sum(broker.held_bytes for broker in brokers)
        waiting = sum(c.left_bytes for s in states.values() for c in s.chunks if not s.paused)
        assert sum(broker.waiting_bytes for broker in brokers) == waiting
        for state in states.values():
            holds = [broker.node_id for broker in brokers if state.tp in broker.wanted]
            assert holds == ([] if state.node_id == -1 else [state.node_id])
            assert state in fetcher._positions.by_state[state.state].values()
        assert sum(len(found) for found in fetcher._positions.by_state.values()) == len(states)
        assert set(fetcher._positions.by_state) == set(FetchState)

    def teardown(self) -> None:
        stage = self.stage
        stage.dead.clear()
        stage.overrides.clear()
        for log in self.logs:
            log.errors.clear()
        self.resume()
        ends = {tp: self.logs[tp.partition].next_offset for tp in self.expected}

        def all_there() -> bool:
            self.take(1_000, columns=False)
            return self.expected == ends

        stage.run(all_there, limit_ms=120_000)
        self.the_books_agree()
        stage.do(self.fetcher.close())
        assert self.fetcher.buffered_bytes == 0


FetcherMachine.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestFetcherHistories = FetcherMachine.TestCase


class SessionMachine(RuleBasedStateMachine):
    """After every answer that both sides call good, the broker's session is what the client wants read."""

    def __init__(self) -> None:
        super().__init__()
        self.session = FetchSession()
        self.wanted: dict[TopicPartition, Wanted] = {}
        self.touched: set[TopicPartition] = set()
        self.plan: Plan | None = None
        self.broker_id = 0
        self.broker_epoch = 0
        self.broker: dict[TopicPartition, Wanted] = {}
        self.numbers = 100

    @rule(i=partition, offset=st.integers(0, 3), topic_id=st.sampled_from([b"a" * 16, b"b" * 16]))
    def want(self, i: int, offset: int, topic_id: bytes) -> None:
        self.wanted[TPS[i]] = Wanted(topic_id, offset, 0, 100)
        self.touched.add(TPS[i])

    @rule(i=partition)
    def unwant(self, i: int) -> None:
        self.wanted.pop(TPS[i], None)
        self.touched.add(TPS[i])

    @precondition(lambda self: self.plan is None and self.wanted)
    @rule()
    def send(self) -> None:
        self.plan = self.session.plan(self.wanted, self.touched, self.wanted.get)
        if self.session.full:
            assert self.plan.to_send == self.wanted and not self.plan.to_forget
        else:
            assert set(self.plan.to_send) <= self.touched
            assert {tp for _, tp in self.plan.to_forget} <= self.touched
        self.touched.clear()

    @precondition(lambda self: self.plan is not None)
    @rule(opens=st.booleans(), news=st.sets(partition))
    def answer(self, opens: bool, news: set[int]) -> None:
        plan = self.plan
        assert plan is not None
        self.plan = None
        if plan.session_epoch == 0:
            self.broker = dict(plan.to_send)
            named = set(self.broker)
            if opens:
                self.numbers += 1
                self.broker_id, self.broker_epoch = self.numbers, 1
            else:
                self.broker_id = 0
        elif plan.session_id != self.broker_id or not self.broker_id:
            self._refuse(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
            return
        elif plan.session_epoch != self.broker_epoch:
            self._refuse(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
            return
        else:
            self.broker_epoch += 1
            for topic_id, tp in plan.to_forget:
                assert self.broker.pop(tp).topic_id == topic_id
            self.broker.update(plan.to_send)
            named = {tp for tp in self.broker if tp.partition in news}
        assert self.broker == self.session.partitions
        found, reason = self.session.take_in(self._response(named))
        assert found is not None and set(found) == named, reason
        assert self.session.full == (self.broker_id == 0)
        assert (self.session.id, self.session.epoch) == (
            (self.broker_id, self.broker_epoch) if self.broker_id else (0, 0)
        )
        untouched = [tp for tp in self.broker if tp not in self.touched]
        assert all(self.wanted.get(tp) == self.broker[tp] for tp in untouched)

    def _response(self, named: set[TopicPartition]) -> fetch.FetchResponse:
        topics: dict[bytes, list[fetch.PartitionData]] = {}
        for tp in named:
            data = fetch.PartitionData(partition_index=tp.partition, records=b"")
            topics.setdefault(self.broker[tp].topic_id, []).append(data)
        return fetch.FetchResponse(
            session_id=self.broker_id,
            responses=[
                fetch.FetchableTopicResponse(topic_id=topic_id, partitions=partitions)
                for topic_id, partitions in topics.items()
            ],
        )

    def _refuse(self, code: ErrorCode) -> None:
        found, reason = self.session.take_in(fetch.FetchResponse(error_code=code))
        assert found is None and reason is not None
        assert self.session.full
        assert (self.session.id == 0) == (code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND)

    @precondition(lambda self: self.plan is not None)
    @rule(code=TOP_LEVEL)
    def refuse(self, code: ErrorCode) -> None:
        self.plan = None
        before = self.session.id
        found, _ = self.session.take_in(fetch.FetchResponse(error_code=code))
        assert found is None and self.session.full
        assert self.session.id == (0 if code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND else before)

    @precondition(lambda self: self.plan is not None)
    @rule(arrived=st.booleans())
    def lose_the_answer(self, arrived: bool) -> None:
        plan = self.plan
        assert plan is not None
        self.plan = None
        if arrived and plan.session_epoch == self.broker_epoch:
            self.broker_epoch += 1
        self.session.lost()
        assert self.session.full

    @precondition(lambda self: self.plan is not None and self.session.partitions)
    @rule()
    def lie(self) -> None:
        """An answer about a partition that was not asked for."""
        self.plan = None
        full = self.session.full
        data = [fetch.PartitionData(partition_index=99, records=b"")]
        topic = fetch.FetchableTopicResponse(topic_id=b"z" * 16, partitions=data)
        found, reason = self.session.take_in(fetch.FetchResponse(session_id=5, responses=[topic]))
        assert found is None and reason is not None and self.session.full
        assert not full or self.session.id == 0

    @rule()
    def evict(self) -> None:
        self.broker_id = 0

    @precondition(lambda self: self.plan is None)
    @rule()
    def close(self) -> None:
        had = self.session.id
        plan = self.session.plan_close()
        assert (plan is None) == (had == 0)
        if plan is not None:
            assert (plan.session_id, plan.session_epoch) == (had, FINAL_EPOCH)


SessionMachine.TestCase.settings = settings(max_examples=200, stateful_step_count=40)
TestSessionHistories = SessionMachine.TestCase
