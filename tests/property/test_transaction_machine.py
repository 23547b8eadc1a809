"""Transactional ids under random producers of both generations: they begin, add, end, lose answers and try
again, go on after errors, are replaced and come back as zombies; markers are late, the coordinator crashes,
time passes, epochs run out, ids are forgotten, the feature `transaction.version` goes up and down.

Whatever happens: a decided outcome never changes, the epochs of a producer id never go back and belong to one
producer, nothing joins a transaction after its decision, a fenced producer can neither add nor end, Complete
comes only after every marker, an acknowledged commit has exactly the partitions that were acknowledged, and
in the end everything comes to rest. The stage checks after every event that the log says what the shard is;
ways that are not in the table of states fail an assertion of the shard itself.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.transactions.record import decode_record, transaction_of
from ottla.transactions.states import COMMITTED, State
from ottla.transactions.transaction import Transaction
from support.transaction_stage import BEGINS_MS, Stage

IDS = ("orders", "payments")
CLIENTS = 6
PARTITIONS = tuple(TopicPartition(topic, number) for topic in ("a", "b") for number in range(2))
TIMEOUTS_MS = (1_000, 60_000)
EXPIRATION_MS = 1_000_000
RESULT_ERRORS = frozenset(
    (
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.PRODUCER_FENCED,
        ErrorCode.INVALID_TXN_STATE,
        ErrorCode.UNSUPPORTED_VERSION,
    )
)


class Client:
    """One process. Processes with even numbers are of the newer generation, unless the broker cannot."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.transactional_id = IDS[number % len(IDS)]
        self.producer: tuple[int, int] | None = None
        self.added: set[TopicPartition] = set()
        """Acknowledged since the last end that this client knows of."""
        self.unsure = False
        """An answer was lost: the coordinator may be ahead of `added`."""

    @property
    def is_newer(self) -> bool:
        return self.number // len(IDS) % 2 == 0

    def holds(self, producer: tuple[int, int]) -> None:
        self.producer = producer
        self.added = set()
        self.unsure = False


clients = st.integers(0, CLIENTS - 1)
zombies = st.sampled_from((False, False, False, True))
"""Whether a request is of any process, or of the one that has the id: chance would hardly find it."""
lost = st.sampled_from((False, False, False, True))


class TransactionMachine(RuleBasedStateMachine):
    @initialize(version=st.sampled_from((0, 1, 2, 2)), epoch=st.sampled_from((None, 32_760, 32_764, 32_766)))
    def begin(self, version: int, epoch: int | None) -> None:
        self.stage = Stage(version, id_expiration_ms=EXPIRATION_MS)
        self.clients = [Client(number) for number in range(CLIENTS)]
        self.holder: dict[str, int] = {}
        """Who was last given an id. Everybody else who had it is fenced."""
        self.owners: dict[tuple[int, int], int] = {}
        """Who was ever told this producer id and epoch."""
        self.marked: set[tuple[str, int, int]] = set()
        self.seen = 0
        self.epochs: dict[int, int] = {}
        self.names: dict[int, str] = {}
        self.logged: dict[str, Transaction] = {}
        if epoch is not None:
            for producer_id, name in enumerate(IDS):
                self.stage.set(Transaction(name, producer_id, epoch, 60_000, updated_ms=BEGINS_MS))

    # --- producers --------------------------------------------------------------------------------------

    @rule(number=clients, timeout_ms=st.sampled_from(TIMEOUTS_MS), goes_on=st.booleans(), is_lost=lost)
    def init(self, number: int, timeout_ms: int, goes_on: bool, is_lost: bool) -> None:
        client = self.clients[number]
        had = client.producer if goes_on and client.producer is not None else (-1, -1)
        answer = self.stage.init(client.transactional_id, had, timeout_ms=timeout_ms)
        if answer.error_code == ErrorCode.NONE:
            if had != (-1, -1) and client.transactional_id in self.holder:
                assert self.holder[client.transactional_id] == number, "a fenced producer went on"
            self.given(client, (answer.producer_id, answer.producer_epoch))
            if not is_lost:
                client.holds((answer.producer_id, answer.producer_epoch))
        else:
            assert answer.error_code in (ErrorCode.CONCURRENT_TRANSACTIONS, ErrorCode.PRODUCER_FENCED)
            assert answer.error_code != ErrorCode.PRODUCER_FENCED or had != (-1, -1)

    @rule(
        number=clients,
        zombie=zombies,
        partitions=st.sets(st.sampled_from(PARTITIONS), min_size=1),
        is_lost=lost,
    )
    def add(self, number: int, zombie: bool, partitions: set[TopicPartition], is_lost: bool) -> None:
        client = self.chosen(number, zombie)
        if client.producer is None:
            return
        before = self.stage.shard.registry.get(client.transactional_id)
        answers = self.stage.add(
            client.producer,
            *sorted(partitions),
            transactional_id=client.transactional_id,
            version=2 if client.is_newer else 0,
        )
        (code,) = set(answers.values())
        if code == ErrorCode.NONE:
            self.check_holder(client)
            assert before is not None and not before.is_ending
            client.unsure |= is_lost
            if not is_lost:
                client.added |= partitions
        else:
            assert code in RESULT_ERRORS and code != ErrorCode.INVALID_TXN_STATE

    @rule(number=clients, zombie=zombies, partitions=st.sets(st.sampled_from(PARTITIONS), min_size=1))
    def verify(self, number: int, zombie: bool, partitions: set[TopicPartition]) -> None:
        client = self.chosen(number, zombie)
        if client.producer is None:
            return
        answers = self.stage.add(
            client.producer, *partitions, transactional_id=client.transactional_id, verify=True
        )
        for partition, code in answers.items():
            if code == ErrorCode.NONE:
                self.check_holder(client)
                assert partition in self.stage.now(client.transactional_id).partitions
            if partition in client.added and not client.unsure and self.is_open(client):
                assert code == ErrorCode.NONE

    @rule(number=clients, zombie=zombies, committed=st.booleans(), is_lost=lost)
    def end(self, number: int, zombie: bool, committed: bool, is_lost: bool) -> None:
        client = self.chosen(number, zombie)
        if client.producer is None:
            return
        before = self.stage.shard.registry.get(client.transactional_id)
        decided = len(self.stage.to_mark)
        answer = self.stage.end(
            client.producer,
            committed,
            transactional_id=client.transactional_id,
            version=5 if client.is_newer else 4,
        )
        if answer.error_code != ErrorCode.NONE:
            assert answer.error_code in RESULT_ERRORS
            assert len(self.stage.to_mark) == decided
            return
        self.check_holder(client)
        assert before is not None
        now = self.stage.now(client.transactional_id)
        assert (now.state in COMMITTED) == committed, "the answer is about the other outcome"
        if before.state is State.ONGOING:
            (job,) = self.stage.to_mark[decided:]
            assert job.committed == committed
            if client.unsure:
                assert set(job.partitions) >= client.added
            else:
                assert set(job.partitions) == client.added
        if client.is_newer:
            self.given(client, (answer.producer_id, answer.producer_epoch))
        if is_lost:
            client.unsure = True
        elif client.is_newer:
            client.holds((answer.producer_id, answer.producer_epoch))
        else:
            client.holds(client.producer)

    @rule(
        number=clients,
        partitions=st.sets(st.sampled_from(PARTITIONS), min_size=1),
        committed=st.booleans(),
        is_lost=lost,
        crashes=st.booleans(),
    )
    def a_producer_runs_a_transaction(
        self, number: int, partitions: set[TopicPartition], committed: bool, is_lost: bool, crashes: bool
    ) -> None:
        """As it should: with the answer lost it tries again. The markers of its end are left to chance."""
        client = self.chosen(number, zombie=False)
        for _ in range(3):
            self.markers_are_written()
            if client.producer is None or self.holder.get(client.transactional_id) != client.number:
                self.init(client.number, 60_000, False, False)
        self.add(client.number, True, partitions, False)
        self.end(client.number, True, committed, is_lost)
        if crashes:
            self.the_coordinator_crashes()
        if is_lost:
            self.markers_are_written()
            self.end(client.number, True, committed, False)

    def chosen(self, number: int, zombie: bool) -> Client:
        client = self.clients[number]
        return client if zombie else self.clients[self.holder.get(client.transactional_id, number)]

    def given(self, client: Client, producer: tuple[int, int]) -> None:
        assert 0 <= producer[1] < 32_767
        assert self.owners.setdefault(producer, client.number) == client.number, "two have one epoch"
        self.holder[client.transactional_id] = client.number

    def check_holder(self, client: Client) -> None:
        assert self.holder[client.transactional_id] == client.number, "a fenced producer was served"

    def is_open(self, client: Client) -> bool:
        now = self.stage.shard.registry.get(client.transactional_id)
        return (
            now is not None
            and now.state is State.ONGOING
            and (now.producer_id, now.producer_epoch) == client.producer
        )

    # --- the world --------------------------------------------------------------------------------------

    @rule()
    def markers_are_written(self) -> None:
        for job in self.stage.to_mark:
            self.marked.add((job.transactional_id, job.producer_id, job.producer_epoch))
        self.stage.write_markers()

    @rule()
    def the_coordinator_crashes(self) -> None:
        self.stage.restart()

    @rule(step_ms=st.sampled_from((1, 500, 1_001, 60_001)), limit=st.integers(1, 3))
    def time_passes(self, step_ms: int, limit: int) -> None:
        self.stage.clock.ms += step_ms
        while self.stage.abort_timed_out(limit):
            pass
        for transaction in self.stage.shard.registry:
            if transaction.state is State.ONGOING:
                assert transaction.started_ms + transaction.timeout_ms >= self.stage.clock.now_ms()

    @rule(limit=st.integers(1, 3), really=st.integers(0, 5))
    def a_long_time_passes(self, limit: int, really: int) -> None:
        if really:
            return
        self.stage.clock.ms += EXPIRATION_MS
        while self.stage.expire_ids(limit):
            pass
        for transaction in self.stage.shard.registry:
            assert transaction.state in (State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT)
        for name in IDS:
            if self.stage.shard.registry.get(name) is None:
                self.holder.pop(name, None)

    @rule(version=st.sampled_from((0, 1, 2, 2)))
    def the_feature_changes(self, version: int) -> None:
        self.stage.env.version = version

    # --- the log ----------------------------------------------------------------------------------------

    @invariant()
    def the_log_tells_one_story(self) -> None:
        for key, value in self.stage.log[self.seen :] if hasattr(self, "stage") else ():
            record = decode_record(key, value)
            assert record is not None
            name: str = record.key.transactional_id
            if record.value is None:
                before = self.logged.pop(name)
                assert before.state not in (State.ONGOING, State.PREPARE_COMMIT, State.PREPARE_ABORT)
                continue
            after = transaction_of(name, record.value)
            self.check_way(self.logged.get(name), after)
            self.logged[name] = after
            assert self.names.setdefault(after.producer_id, name) == name, "two ids have one producer id"
            assert after.producer_epoch >= self.epochs.get(after.producer_id, 0), "the epoch went back"
            self.epochs[after.producer_id] = after.producer_epoch
        if hasattr(self, "stage"):
            self.seen = len(self.stage.log)

    def check_way(self, before: Transaction | None, after: Transaction) -> None:
        if after.state in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT):
            assert before is not None and before.is_ending
            assert (before.state in COMMITTED) == (after.state in COMMITTED), "the outcome changed"
            marker = (before.transactional_id, before.producer_id, before.producer_epoch)
            assert marker in self.marked, "complete without its markers"
        elif before is not None:
            assert not before.is_ending, "the decision was forgotten"
            if after.is_ending:
                assert after.partitions.keys() == before.partitions.keys()

    # --- rest -------------------------------------------------------------------------------------------

    def teardown(self) -> None:
        if not hasattr(self, "stage"):
            return
        self.stage.clock.ms += 60_001
        while self.stage.abort_timed_out():
            pass
        self.markers_are_written()
        assert self.stage.to_mark == []
        for client in self.clients[: len(IDS)]:
            answer: Any = self.stage.init(client.transactional_id)
            assert answer.error_code == ErrorCode.NONE, "the id did not come to rest"
            producer = (answer.producer_id, answer.producer_epoch)
            self.given(client, producer)
            assert self.stage.add(producer, transactional_id=client.transactional_id, version=0)
        self.the_log_tells_one_story()


TestTransactionMachine = TransactionMachine.TestCase
TestTransactionMachine.settings = settings(max_examples=120, stateful_step_count=50, deadline=None)
