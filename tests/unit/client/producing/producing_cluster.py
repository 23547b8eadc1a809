"""A cluster in virtual time for the producer's core: connections that delay, break and lose, partitions that
keep a real log with Kafka's checks of producer epochs and sequences, and a coordinator of transactions.

The core runs on the client's own scheduler; this is its `Caller`. A request travels to its node, is carried
out there in the order of its connection, and the answer travels back. `cluster.fate` decides over each
request as it arrives. A connection that breaks loses the answers to what was carried out, and what was still
on its way either vanishes or (`zombies`) is carried out later nevertheless, as a broker does with what it has
already received.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count
from typing import Any

from producing_log import PartitionLog

from ottla.client.effects import ANY_BROKER, NEWEST, Call, Versioned
from ottla.client.errors import BrokerUnavailable, RequestTimedOut, UnsupportedVersion
from ottla.client.runtime.pending import CallWaiter, PendingCall
from ottla.client.runtime.scheduler import Scheduler
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnResponse
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopicResult,
)
from ottla.wire.messages.api_versions import ApiVersion, ApiVersionsResponse, FinalizedFeatureKey
from ottla.wire.messages.end_txn import EndTxnResponse
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from ottla.wire.messages.index import APIS
from ottla.wire.messages.init_producer_id import InitProducerIdResponse
from ottla.wire.messages.metadata import (
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ottla.wire.primitives import Encoder
from ottla.wire.record_batch import check_crc

EPOCH_MS = 1_700_000_000_000


class VirtualClock:
    def __init__(self) -> None:
        self.elapsed_ms = 0.0

    def now_ms(self) -> int:
        return EPOCH_MS + int(self.elapsed_ms)

    def monotonic_ms(self) -> float:
        return self.elapsed_ms


# --- connections --------------------------------------------------------------------------------------------


class Fate(Enum):
    FINE = auto()
    LOST_BEFORE = auto()
    """The connection breaks before anything was done."""
    LOST_AFTER = auto()
    """It was done, then the connection breaks."""
    STALLED = auto()
    """Done, but the answer never comes."""


@dataclass
class Flight:
    pending: PendingCall
    node: int
    request: Any
    version: int
    api: str
    arrived: bool = False


class Connection:
    def __init__(self) -> None:
        self.flights: list[Flight] = []
        self.broken = False
        self.stalled = False
        """Answers come in the order of the requests: after one that does not come, none does."""
        self.arrives_ms = 0.0
        self.answers_ms = 0.0


@dataclass
class Transaction:
    producer_id: int
    epoch: int
    ongoing: bool = False
    partitions: set[TopicPartition] = field(default_factory=set)
    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    ended: tuple[int, bool] | None = None
    """Epoch and outcome of the last end, for those who did not hear the answer."""


class ScriptedCluster:
    """Implements the scheduler's `Caller`."""

    def __init__(self, clock: VirtualClock, *, seed: int = 0) -> None:
        self.clock = clock
        self.random = random.Random(seed)
        self.scheduler: Scheduler | None = None
        self.request_timeout_ms = 30_000
        self.latency_ms: Callable[[], float] = lambda: 1.0
        self.zombies = False
        self.nodes = {1, 2, 3}
        self.down: set[int] = set()
        self.versions: dict[str, int] = {}
        """By the API's name: the newest version that the brokers have."""
        self.transaction_version = 2
        self.leader_hints = True
        self.topics: dict[str, bytes] = {}
        self.leaders: dict[TopicPartition, tuple[int, int]] = {}
        self.logs: dict[TopicPartition, PartitionLog] = {}
        self.fate: Callable[[Flight], Fate] = lambda flight: Fate.FINE
        self.verdict: Callable[[TopicPartition, Any], int] = lambda tp, data: 0
        """An error code in place of the append of a batch."""
        self.afterthought: Callable[[TopicPartition], int] = lambda tp: 0
        """An error code after the append of a batch (the replicas are too few by now)."""
        self.coordinator_verdict: Callable[[str, Any], int] = lambda api, request: 0
        """An error code in place of carrying out a coordinator's request."""
        self.record_errors: Callable[[TopicPartition], list[BatchIndexAndErrorMessage]] = lambda tp: []
        self.throttle_ms = 0
        self.log_append_ms = -1
        self.coordinator = 2
        self.transactions: dict[str, Transaction] = {}
        self.group_offsets: dict[tuple[str, TopicPartition], int] = {}
        self.requests: list[tuple[str, int, int, Any]] = []
        """API, version, node and request of everything that arrived."""
        self.batches_in_flight_max = 0
        self._ids = count(1000)
        self._topic_numbers = count(1)
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._ordinal = count()
        self._connections: dict[int, Connection] = {}

    # --- setting the scene --------------------------------------------------------------------------------

    def create(self, topic: str, *leaders: int) -> None:
        self.topics[topic] = next(self._topic_numbers).to_bytes(16, "big")
        for index, leader in enumerate(leaders):
            self.leaders[TopicPartition(topic, index)] = (leader, 0)
            self.logs[TopicPartition(topic, index)] = PartitionLog()

    def add_partition(self, topic: str, leader: int) -> None:
        index = sum(tp.topic == topic for tp in self.leaders)
        self.leaders[TopicPartition(topic, index)] = (leader, 0)
        self.logs[TopicPartition(topic, index)] = PartitionLog()

    def delete(self, topic: str) -> None:
        del self.topics[topic]
        for tp in [tp for tp in self.leaders if tp.topic == topic]:
            del self.leaders[tp]
            del self.logs[tp]

    def move(self, tp: TopicPartition, leader: int) -> None:
        """Another leader; -1 for none."""
        self.leaders[tp] = (leader, self.leaders[tp][1] + 1)

    def sent(self, api: str) -> list[Any]:
        return [request for name, _, _, request in self.requests if name == api]

    # --- time ---------------------------------------------------------------------------------------------

    def at(self, time_ms: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (time_ms, next(self._ordinal), action))

    def next_event_ms(self) -> float | None:
        return self._events[0][0] if self._events else None

    def run_due(self) -> None:
        while self._events and self._events[0][0] <= self.clock.elapsed_ms:
            heapq.heappop(self._events)[2]()

    # --- calls --------------------------------------------------------------------------------------------

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        now_ms = self.clock.elapsed_ms
        pending = PendingCall(call, waiter, now_ms, call.timeout_ms or self.request_timeout_ms)
        node = call.node_id
        if node == ANY_BROKER:
            node = self.random.choice(sorted(self.nodes - self.down) or sorted(self.nodes))
        if node in self.down or node not in self.nodes:
            error = BrokerUnavailable(f"host{node}:9092", "refused")
            error.unsent = True
            self.at(now_ms + self.latency_ms(), lambda: pending.failed(error))
            return pending
        api = APIS[call.api_key]
        version = min(api.max_version, call.version_max, self.versions.get(api.name, NEWEST))
        if version < api.min_version:
            gone = UnsupportedVersion(api.name)
            self.at(now_ms, lambda: pending.failed(gone))
            return pending
        request = call.request.build(version) if isinstance(call.request, Versioned) else call.request
        request.encode(Encoder(), version)  # what cannot be encoded fails here, as on a real connection
        connection = self._connections.setdefault(node, Connection())
        flight = Flight(pending, node, request, version, api.name)
        connection.flights.append(flight)
        producing = sum(each.api == "Produce" for each in connection.flights)
        self.batches_in_flight_max = max(self.batches_in_flight_max, producing)
        connection.arrives_ms = max(now_ms + self.latency_ms(), connection.arrives_ms)
        self.at(connection.arrives_ms, lambda: self._arrive(connection, flight))
        self.at(pending.deadline_ms, lambda: self._time_up(connection, flight))
        if not call.answered:
            self.at(now_ms, lambda: pending.answered(None))
        return pending

    def break_connection(self, node: int) -> None:
        connection = self._connections.pop(node, None)
        if connection is not None:
            self._break(connection, None)

    def _break(self, connection: Connection, timed_out: Flight | None) -> None:
        connection.broken = True
        for node, known in list(self._connections.items()):
            if known is connection:
                del self._connections[node]
        flights, connection.flights = connection.flights, []
        for flight in flights:
            if self.zombies and not flight.arrived and self.random.random() < 0.5:
                late_ms = self.clock.elapsed_ms + self.random.uniform(0, 50)
                self.at(late_ms, lambda flight=flight: self._carry_out(flight))  # type: ignore[misc]
            if flight is timed_out:
                flight.pending.failed(RequestTimedOut(f"node {flight.node} did not answer"))
            else:
                flight.pending.failed(BrokerUnavailable(f"host{flight.node}:9092", "the connection broke"))

    def _time_up(self, connection: Connection, flight: Flight) -> None:
        if flight in connection.flights:
            self._break(connection, flight)

    def _arrive(self, connection: Connection, flight: Flight) -> None:
        if connection.broken or flight.node in self.down:
            return
        flight.arrived = True
        self.requests.append((flight.api, flight.version, flight.node, flight.request))
        fate = self.fate(flight)
        if fate is Fate.LOST_BEFORE:
            self._break(connection, None)
            return
        response = self._carry_out(flight)
        if fate is Fate.LOST_AFTER:
            self._break(connection, None)
        elif fate is Fate.STALLED:
            connection.stalled = True
        elif not connection.stalled:
            if not flight.pending.call.answered:
                connection.flights.remove(flight)
                return
            connection.answers_ms = max(self.clock.elapsed_ms + self.latency_ms(), connection.answers_ms)
            self.at(connection.answers_ms, lambda: self._answer(connection, flight, response))

    def _answer(self, connection: Connection, flight: Flight, response: Any) -> None:
        if not connection.broken:
            connection.flights.remove(flight)
            response.encode(Encoder(), flight.version)
            flight.pending.answered(response)

    def _carry_out(self, flight: Flight) -> Any:
        handler: Callable[[Flight], Any] = getattr(self, f"_on_{flight.api}")
        return handler(flight)

    # --- brokers ------------------------------------------------------------------------------------------

    def _on_ApiVersions(self, flight: Flight) -> ApiVersionsResponse:
        return ApiVersionsResponse(
            api_keys=[
                ApiVersion(
                    api_key=key,
                    min_version=api.min_version,
                    max_version=min(api.max_version, self.versions.get(api.name, NEWEST)),
                )
                for key, api in APIS.items()
            ],
            finalized_features_epoch=self.transaction_version,
            finalized_features=[
                FinalizedFeatureKey(
                    name="transaction.version",
                    max_version_level=self.transaction_version,
                    min_version_level=self.transaction_version,
                )
            ],
        )

    def _on_Metadata(self, flight: Flight) -> MetadataResponse:
        wanted = flight.request.topics
        names = list(self.topics) if wanted is None else [topic.name for topic in wanted]
        return MetadataResponse(
            brokers=[
                MetadataResponseBroker(node_id=node, host=f"host{node}", port=9092)
                for node in sorted(self.nodes)
            ],
            cluster_id="scripted",
            controller_id=1,
            topics=[
                MetadataResponseTopic(
                    error_code=0 if name in self.topics else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
                    name=name,
                    topic_id=self.topics.get(name, bytes(16)),
                    partitions=[
                        MetadataResponsePartition(
                            error_code=0 if leader >= 0 else ErrorCode.LEADER_NOT_AVAILABLE,
                            partition_index=tp.partition,
                            leader_id=leader,
                            leader_epoch=epoch,
                            replica_nodes=sorted(self.nodes),
                            isr_nodes=sorted(self.nodes),
                        )
                        for tp, (leader, epoch) in self.leaders.items()
                        if tp.topic == name
                    ],
                )
                for name in names
            ],
        )

    def _on_InitProducerId(self, flight: Flight) -> InitProducerIdResponse:
        request = flight.request
        code = self.coordinator_verdict("InitProducerId", request)
        if code:
            return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
        name = request.transactional_id
        if name is None:
            return InitProducerIdResponse(producer_id=next(self._ids), producer_epoch=0)
        code = self._not_coordinator(flight)
        if code:
            return InitProducerIdResponse(error_code=code, producer_id=-1, producer_epoch=-1)
        known = self.transactions.get(name)
        if known is None:
            known = self.transactions[name] = Transaction(next(self._ids), 0)
        else:
            if request.producer_id >= 0 and (request.producer_id, request.producer_epoch) not in (
                (known.producer_id, known.epoch),
                (known.producer_id, known.epoch - 1),
            ):
                return InitProducerIdResponse(
                    error_code=ErrorCode.PRODUCER_FENCED, producer_id=-1, producer_epoch=-1
                )
            if known.ongoing:
                self._end(known, committed=False)
            if request.producer_epoch != known.epoch - 1 or request.producer_id < 0:
                known.epoch += 1
            known.ended = None
        return InitProducerIdResponse(producer_id=known.producer_id, producer_epoch=known.epoch)

    def _on_Produce(self, flight: Flight) -> ProduceResponse:
        names = {topic_id: name for name, topic_id in self.topics.items()}
        responses = []
        endpoints: dict[int, NodeEndpoint] = {}
        for topic in flight.request.topic_data:
            name = topic.name if flight.version < 13 else names.get(bytes(topic.topic_id), "")
            partitions = []
            for data in topic.partition_data:
                tp = TopicPartition(name, data.index)
                answer = self._produce(flight, tp, data.records)
                if answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER and self.leader_hints:
                    leader, epoch = self.leaders[tp]
                    if leader >= 0:
                        answer.current_leader = LeaderIdAndEpoch(leader_id=leader, leader_epoch=epoch)
                        endpoints[leader] = NodeEndpoint(node_id=leader, host=f"host{leader}", port=9092)
                partitions.append(answer)
            responses.append(
                TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=partitions)
            )
        return ProduceResponse(
            responses=responses,
            throttle_time_ms=self.throttle_ms,
            node_endpoints=list(endpoints.values()) if flight.version >= 10 else [],
        )

    def _produce(self, flight: Flight, tp: TopicPartition, data: Any) -> PartitionProduceResponse:
        offset = -1
        if tp not in self.leaders:
            code: int = (
                ErrorCode.UNKNOWN_TOPIC_ID if flight.version >= 13 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            )
        elif self.leaders[tp][0] != flight.node:
            code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        else:
            code = self.verdict(tp, data)
            if code == ErrorCode.NONE and flight.request.transactional_id is not None:
                code = self._verify(flight, tp, data)
            if code == ErrorCode.NONE:
                code, offset = self.logs[tp].append(data)
                if code == ErrorCode.NONE:
                    code = self.afterthought(tp)
                    offset = -1 if code else offset
        log = self.logs.get(tp)
        return PartitionProduceResponse(
            index=tp.partition,
            error_code=code,
            base_offset=offset,
            log_append_time_ms=self.log_append_ms,
            log_start_offset=-1 if log is None else log.start_offset,
            record_errors=self.record_errors(tp) if code else [],
            current_leader=LeaderIdAndEpoch(leader_id=-1, leader_epoch=-1),
        )

    # --- the coordinator ----------------------------------------------------------------------------------

    def _not_coordinator(self, flight: Flight) -> int:
        return 0 if flight.node == self.coordinator else ErrorCode.NOT_COORDINATOR

    def _on_FindCoordinator(self, flight: Flight) -> FindCoordinatorResponse:
        code = self.coordinator_verdict("FindCoordinator", flight.request)
        node = -1 if code else self.coordinator
        if flight.version < 4:
            return FindCoordinatorResponse(error_code=code, node_id=node, host=f"host{node}", port=9092)
        return FindCoordinatorResponse(
            coordinators=[
                Coordinator(key=key, node_id=node, host=f"host{node}", port=9092, error_code=code)
                for key in flight.request.coordinator_keys
            ]
        )

    def _known(self, flight: Flight, name: str, producer_id: int, epoch: int) -> tuple[Transaction, int]:
        known = self.transactions.get(name)
        if known is None:
            return Transaction(-1, -1), ErrorCode.INVALID_PRODUCER_ID_MAPPING
        code = self._not_coordinator(flight)
        if not code and producer_id != known.producer_id:
            code = ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if not code and epoch != known.epoch:
            code = ErrorCode.PRODUCER_FENCED
        return known, code

    def _verify(self, flight: Flight, tp: TopicPartition, data: Any) -> int:
        header = check_crc(data, 0, len(data))
        known = self.transactions.get(flight.request.transactional_id)
        if known is None or (header.producer_id, header.producer_epoch) != (known.producer_id, known.epoch):
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if flight.version >= 12:
            known.ongoing = True
            known.partitions.add(tp)
        elif not known.ongoing or tp not in known.partitions:
            return ErrorCode.INVALID_TXN_STATE
        return ErrorCode.NONE

    def _on_AddPartitionsToTxn(self, flight: Flight) -> AddPartitionsToTxnResponse:
        request = flight.request
        assert flight.version <= 3, "clients use version 3 at most"
        known, code = self._known(
            flight,
            request.v3_and_below_transactional_id,
            request.v3_and_below_producer_id,
            request.v3_and_below_producer_epoch,
        )
        code = self.coordinator_verdict("AddPartitionsToTxn", request) or code
        results = []
        for topic in request.v3_and_below_topics:
            for index in topic.partitions:
                if not code:
                    known.ongoing = True
                    known.partitions.add(TopicPartition(topic.name, index))
            results.append(
                AddPartitionsToTxnTopicResult(
                    name=topic.name,
                    results_by_partition=[
                        AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=code)
                        for index in topic.partitions
                    ],
                )
            )
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=results)

    def _on_AddOffsetsToTxn(self, flight: Flight) -> AddOffsetsToTxnResponse:
        request = flight.request
        known, code = self._known(
            flight, request.transactional_id, request.producer_id, request.producer_epoch
        )
        code = self.coordinator_verdict("AddOffsetsToTxn", request) or code
        if not code:
            known.ongoing = True
        return AddOffsetsToTxnResponse(error_code=code)

    def _on_TxnOffsetCommit(self, flight: Flight) -> TxnOffsetCommitResponse:
        request = flight.request
        known, code = self._known(
            flight, request.transactional_id, request.producer_id, request.producer_epoch
        )
        code = self.coordinator_verdict("TxnOffsetCommit", request) or code
        if not code and flight.version < 5 and not known.ongoing:
            code = ErrorCode.INVALID_TXN_STATE
        for topic in request.topics:
            for partition in topic.partitions:
                if not code:
                    known.ongoing = True
                    tp = TopicPartition(topic.name, partition.partition_index)
                    known.offsets[tp] = partition.committed_offset
        self._group = request.group_id
        return TxnOffsetCommitResponse(
            topics=[
                TxnOffsetCommitResponseTopic(
                    name=topic.name,
                    partitions=[
                        TxnOffsetCommitResponsePartition(partition_index=p.partition_index, error_code=code)
                        for p in topic.partitions
                    ],
                )
                for topic in request.topics
            ]
        )

    def _on_EndTxn(self, flight: Flight) -> EndTxnResponse:
        request = flight.request
        none = {"producer_id": -1, "producer_epoch": -1}
        code = self.coordinator_verdict("EndTxn", request)
        if code:
            return EndTxnResponse(error_code=code, **none)
        known = self.transactions.get(request.transactional_id)
        if (
            known is not None
            and flight.version >= 5
            and known.ended == (request.producer_epoch, request.committed)
        ):
            return EndTxnResponse(producer_id=known.producer_id, producer_epoch=known.epoch)
        known, code = self._known(
            flight, request.transactional_id, request.producer_id, request.producer_epoch
        )
        if code:
            return EndTxnResponse(error_code=code, **none)
        if not known.ongoing and flight.version < 5:
            done = known.ended == (request.producer_epoch, request.committed)
            return EndTxnResponse(error_code=0 if done else ErrorCode.INVALID_TXN_STATE, **none)
        before = known.epoch
        self._end(known, committed=request.committed, bump=flight.version >= 5)
        known.ended = (before, request.committed)
        if flight.version >= 5:
            return EndTxnResponse(producer_id=known.producer_id, producer_epoch=known.epoch)
        return EndTxnResponse(**none)

    def _end(self, known: Transaction, *, committed: bool, bump: bool = False) -> None:
        before = known.epoch
        if bump:
            known.epoch += 1
        for tp in known.partitions:
            if tp in self.logs:
                self.logs[tp].mark(known.producer_id, before, known.epoch, committed=committed)
        if committed:
            for tp, offset in known.offsets.items():
                self.group_offsets[(self._group, tp)] = offset
        known.ongoing = False
        known.partitions = set()
        known.offsets = {}
