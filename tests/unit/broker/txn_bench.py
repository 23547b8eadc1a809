"""A bench whose broker coordinates transactions, and a producer that says what transactional producers say,
of either generation of the protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from broker_bench import fetch_request
from group_bench import GroupBench, fetch_offsets_request, find_request

from ottla.broker.transaction_host import TransactionHost
from ottla.model.errors import ErrorCode
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest, AddPartitionsToTxnTopic
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.record_batch import Record, decode_batch, encode_batch, iter_headers

TRANSACTION = 1
READ_COMMITTED = 1


class TxnBench(GroupBench):
    """Has a topic `events` of 4 partitions, `__consumer_offsets` and `__transaction_state` of one each."""

    def __init__(
        self, properties: Mapping[str, str] | None = None, *, prepared: bool = True, **options: Any
    ) -> None:
        defaults = {"transaction.state.log.num.partitions": "1", "transaction.state.log.min.isr": "1"}
        super().__init__({**defaults, **(properties or {})}, prepared=prepared, **options)
        if prepared:
            self.call(find_request("t", key_type=TRANSACTION), 4)

    @property
    def txn_host(self) -> TransactionHost:
        return self.node.transactions.hosts[0]

    def txn_loaded(self) -> None:
        """Waits until both coordinators are there."""
        self.loaded()
        self.scheduler.run_until(lambda: not self.txn_host.loading, within_ms=60_000)

    def state(self, transactional_id: str) -> str:
        described = self.describe(transactional_id)
        assert described.error_code == ErrorCode.NONE, described
        state: str = described.transaction_state
        return state

    def describe(self, transactional_id: str) -> Any:
        response = self.call(DescribeTransactionsRequest(transactional_ids=[transactional_id]))
        return response.transaction_states[0]

    def offsets_of(self, group: str) -> dict[tuple[str, int], int]:
        """What is committed for the first partition of `events`."""
        response = self.call(fetch_offsets_request(group, {"events": [0]}), 8)
        return {
            (topic.name, each.partition_index): each.committed_offset
            for topic in response.groups[0].topics
            for each in topic.partitions
        }

    def reaches(self, transactional_id: str, state: str, within_ms: float = 60_000) -> None:
        """Waits until the transaction is in this state."""
        registry = self.txn_host.shard.registry

        def is_there() -> bool:
            found = registry.get(transactional_id)
            return found is not None and found.state.label == state

        self.scheduler.run_until(is_there, within_ms=within_ms)

    def committed(self, partition: int = 0, topic: str = "events") -> list[bytes]:
        """What a consumer with read_committed is given from a partition, filtered as it has to."""
        topic_id = self.node.image.topics[topic].topic_id
        request = fetch_request({(topic_id, partition): 0}, isolation_level=READ_COMMITTED)
        (answer,) = self.call(request, 17).responses[0].partitions
        assert answer.error_code == 0, answer
        data = bytes(answer.records or b"")
        aborted = sorted((each.first_offset, each.producer_id) for each in answer.aborted_transactions or ())
        inside: set[int] = set()
        values: list[bytes] = []
        for position, header in iter_headers(data, 0, len(data)):
            while aborted and aborted[0][0] <= header.last_offset:
                inside.add(aborted.pop(0)[1])
            records = decode_batch(data, position, decompressed_bytes_max=1 << 24)
            if header.is_control:
                if records and records[0].key is not None and records[0].key[3] == 0:
                    inside.discard(header.producer_id)
            elif not (header.is_transactional and header.producer_id in inside):
                values += [record.value or b"" for record in records]
        return values


class TxnProducer:
    """`generation` 1 adds partitions before it writes; 2 (KIP-890) lets Produce add them, and has a new epoch
    after every end.
    """

    def __init__(self, bench: TxnBench, transactional_id: str = "t", generation: int = 2) -> None:
        self.bench = bench
        self.transactional_id = transactional_id
        self.generation = generation
        self.producer_id = -1
        self.epoch = -1
        self.peer = bench.connect()
        self._sequences: dict[tuple[str, int], int] = {}

    def init(self, timeout_ms: int = 60_000, **options: Any) -> ErrorCode:
        """Asks once."""
        answer = self.bench.call(
            InitProducerIdRequest(
                transactional_id=self.transactional_id, transaction_timeout_ms=timeout_ms, **options
            ),
            5 if self.generation == 2 else 4,
            peer=self.peer,
        )
        if answer.error_code == ErrorCode.NONE:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        return ErrorCode(answer.error_code)

    def ready(self, **options: Any) -> TxnProducer:
        """Asks until it is given an epoch, as every client does."""
        self.bench.scheduler.run_until(lambda: self.init(**options) == ErrorCode.NONE, within_ms=60_000)
        return self

    def add(self, partition: int = 0, topic: str = "events") -> ErrorCode:
        answer = self.bench.call(
            AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=self.transactional_id,
                v3_and_below_producer_id=self.producer_id,
                v3_and_below_producer_epoch=self.epoch,
                v3_and_below_topics=[AddPartitionsToTxnTopic(name=topic, partitions=[partition])],
            ),
            3,
            peer=self.peer,
        )
        (result,) = answer.results_by_topic_v3_and_below[0].results_by_partition
        return ErrorCode(result.partition_error_code)

    def write(
        self, value: bytes, partition: int = 0, topic: str = "events", sequence: int | None = None
    ) -> ErrorCode:
        """One record, in a batch of its own."""
        place = (topic, partition)
        first = self._sequences.get(place, 0) if sequence is None else sequence
        records = encode_batch(
            [Record(0, self.bench.clock.now_ms(), b"key", value)],
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            base_sequence=first,
            transactional=True,
        )
        request = ProduceRequest(
            transactional_id=self.transactional_id,
            acks=-1,
            timeout_ms=30_000,
            topic_data=[
                TopicProduceData(
                    name=topic,
                    partition_data=[PartitionProduceData(index=partition, records=memoryview(records))],
                )
            ],
        )
        answer = self.bench.call(request, 12 if self.generation == 2 else 11, peer=self.peer)
        code = ErrorCode(answer.responses[0].partition_responses[0].error_code)
        if code == ErrorCode.NONE:
            self._sequences[place] = first + 1
        return code

    def send(self, value: bytes, partition: int = 0, topic: str = "events") -> None:
        """What a client does for one record, which has to be accepted."""
        if self.generation == 1:
            assert self.add(partition, topic) == ErrorCode.NONE
        assert self.write(value, partition, topic) == ErrorCode.NONE

    def commit_offset(self, group: str, offset: int, partition: int = 0) -> ErrorCode:
        if self.generation == 1:
            added = self.bench.call(
                AddOffsetsToTxnRequest(
                    transactional_id=self.transactional_id,
                    producer_id=self.producer_id,
                    producer_epoch=self.epoch,
                    group_id=group,
                ),
                3,
                peer=self.peer,
            )
            if added.error_code:
                return ErrorCode(added.error_code)
        answer = self.bench.call(
            TxnOffsetCommitRequest(
                transactional_id=self.transactional_id,
                group_id=group,
                producer_id=self.producer_id,
                producer_epoch=self.epoch,
                topics=[
                    TxnOffsetCommitRequestTopic(
                        name="events",
                        partitions=[
                            TxnOffsetCommitRequestPartition(
                                partition_index=partition, committed_offset=offset
                            )
                        ],
                    )
                ],
            ),
            5 if self.generation == 2 else 4,
            peer=self.peer,
        )
        return ErrorCode(answer.topics[0].partitions[0].error_code)

    def end_request(self, *, committed: bool) -> EndTxnRequest:
        return EndTxnRequest(
            transactional_id=self.transactional_id,
            producer_id=self.producer_id,
            producer_epoch=self.epoch,
            committed=committed,
        )

    @property
    def end_version(self) -> int:
        return 5 if self.generation == 2 else 4

    def end(self, *, committed: bool) -> ErrorCode:
        """Asks once."""
        answer = self.bench.call(self.end_request(committed=committed), self.end_version, peer=self.peer)
        if answer.error_code == ErrorCode.NONE and self.generation == 2:
            self.producer_id, self.epoch = answer.producer_id, answer.producer_epoch
            self._sequences.clear()
        return ErrorCode(answer.error_code)

    def commit(self) -> None:
        self._end(committed=True)

    def abort(self) -> None:
        self._end(committed=False)

    def _end(self, *, committed: bool) -> None:
        """Until it is decided and the markers are there."""
        assert self.end(committed=committed) == ErrorCode.NONE
        self.bench.reaches(self.transactional_id, "CompleteCommit" if committed else "CompleteAbort")
