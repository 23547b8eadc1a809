"""One system under comparison: sends steps as raw requests and gives back answers that can be compared.

An answer is plain data without what two systems cannot have in common: timestamps, messages, addresses, ids.
Producer ids become names in the order in which the system gave them out; error codes become words. A
connection that the system closes is an answer, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from interop.differential_transactions.steps import (
    PARTITIONS,
    PLAIN_SLOT,
    SHORT_TIMEOUT_MS,
    SLOTS,
    TIMEOUT_MS,
    Step,
    Where,
)
from ottla.model.errors import ErrorCode
from ottla.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from ottla.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.wire.messages.describe_producers import DescribeProducersRequest, TopicRequest
from ottla.wire.messages.describe_transactions import DescribeTransactionsRequest
from ottla.wire.messages.end_txn import EndTxnRequest
from ottla.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.list_transactions import ListTransactionsRequest
from ottla.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from ottla.wire.record_batch import iter_headers
from support.raw_client import ConnectionEnded, RawClient, batch_of, records_of
from support.waiting import wait_until

UNKNOWN_PRODUCER = 10**15
STARTING = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
    ErrorCode.NOT_COORDINATOR,
}
_DROPPED = {
    *("throttle_time_ms", "error_message", "host", "port", "node_id", "last_timestamp", "timestamp"),
    *("transaction_start_time_ms", "log_append_time_ms", "current_leader", "node_endpoints", "session_id"),
    *("topic_id", "batch_index_error_message", "preferred_read_replica", "diverging_epoch", "snapshot_id"),
    *("record_errors", "log_start_offset", "rack", "ongoing_txn_producer_id", "ongoing_txn_producer_epoch"),
}
_ORDERED_BY = (
    *("name", "topic", "transactional_id", "partition_index", "index", "producer_id", "group_id", "key"),
)
SETTLED_WITHIN_S = 3.0
STUCK = "not settled"
"""The answer to a step that left a transaction decided, and not complete."""

Answer = Any


class Stuck(Exception):
    pass


class System:
    """One system; `begin` makes topics and ids of its own for each sequence."""

    def __init__(self, name: str, port: int) -> None:
        self.name = name
        self._port = port
        self._client = RawClient(port)
        self._prefix = ""
        self._known: list[tuple[int, int]] = []
        self._names: dict[int, str] = {}
        self._next_sequence: dict[tuple[int, Where], int] = {}
        self._topic_ids: dict[str, bytes] = {}
        self._values = 0

    def close(self) -> None:
        self._client.close()

    def warm_up(self) -> None:
        """Until the coordinators' topics are there and loaded."""
        for number in range(30):
            for key_type in (0, 1):
                request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[f"warm-{number}"])
                wait_until(
                    lambda request=request: not self._client.call(request, 5).coordinators[0].error_code,
                    "a coordinator",
                    timeout_s=60,
                )
            init = InitProducerIdRequest(transactional_id=f"warm-{number}", transaction_timeout_ms=1000)
            wait_until(
                lambda init=init: self._client.call(init, 4).error_code not in STARTING,
                "the transaction coordinator",
                timeout_s=60,
            )
            fetch = OffsetFetchRequest(
                groups=[OffsetFetchRequestGroup(group_id=f"warm-{number}", topics=None)]
            )
            wait_until(
                lambda fetch=fetch: self._client.call(fetch, 8).groups[0].error_code not in STARTING,
                "the group coordinator",
                timeout_s=60,
            )

    def begin(self, name: str) -> None:
        self._prefix = f"of-{name}-"
        self._known = [(UNKNOWN_PRODUCER + slot, 0) for slot in range(SLOTS)]
        self._names = {UNKNOWN_PRODUCER + slot: f"invented {slot}" for slot in range(SLOTS + 1)}
        self._next_sequence = {}
        self._values = 0
        self._topic_ids = {
            topic: self._client.create_topic(self._prefix + topic, partitions)
            for topic, partitions in (("a", 2), ("b", 1))
        }
        wait_until(self._has_topics, f"{self.name} to have the topics")

    def _has_topics(self) -> bool:
        """Kafka says that a topic is made before its partitions can be used."""
        answers = self._producers().topics
        return not any(part.error_code for topic in answers for part in topic.partitions)

    # --- steps --------------------------------------------------------------------------------------------

    def run(self, step: Step) -> Answer:
        """The answer to a step, once everything that it set going has come to its end."""
        make: Callable[..., Answer] = getattr(self, f"_{step.kind}")
        try:
            answer = make(**step.args)
        except ConnectionEnded:
            self._client.close()
            self._client = RawClient(self._port)
            answer = "closed"
        except Stuck:
            return STUCK
        try:
            self._settle()
        except Stuck:
            return STUCK
        return answer

    def look(self) -> Answer:
        """What can be seen of all transactions of the sequence."""
        return {
            "transactions": self._plain(self._described()),
            "producers": self._plain(self._producers()),
            "ends": [[self._end_of(where, isolation) for isolation in (0, 1)] for where in PARTITIONS],
        }

    def _producers(self) -> Any:
        topics = [TopicRequest(name=self._topic("a"), partition_indexes=[0, 1])]
        topics.append(TopicRequest(name=self._topic("b"), partition_indexes=[0]))
        return self._client.call(DescribeProducersRequest(topics=topics), 0)

    def _described(self) -> Any:
        ids = [self._transactional_id(0), self._transactional_id(2)]
        return self._client.call(DescribeTransactionsRequest(transactional_ids=ids), 0)

    def _settle(self) -> None:
        deadline = time.monotonic() + SETTLED_WITHIN_S
        while time.monotonic() < deadline:
            states = self._described().transaction_states
            if not any(state.transaction_state.startswith("Prepare") for state in states):
                return
            time.sleep(0.002)
        raise Stuck

    def _end_of(self, where: Where, isolation: int) -> int:
        part = ListOffsetsPartition(partition_index=where[1], current_leader_epoch=-1, timestamp=-1)
        topics = [ListOffsetsTopic(name=self._topic(where[0]), partitions=[part])]
        request = ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics)
        offset: int = self._client.call(request, 6).topics[0].partitions[0].offset
        return offset

    # --- who, where ---------------------------------------------------------------------------------------

    def _topic(self, name: str) -> str:
        return self._prefix + name

    def _transactional_id(self, slot: int, which: str = "own") -> str | None:
        if which == "null":
            return None
        if which == "empty":
            return ""
        if which == "unknown":
            return self._prefix + "nobody"
        if which == "other":
            slot = 2 if slot < 2 else 0
        return self._prefix + ("x", "x", "y", "plain")[slot]

    def _producer(self, slot: int, epoch: int, whose: str) -> tuple[int, int]:
        producer_id, known = self._known[slot]
        if whose == "other":
            producer_id = self._known[(slot + 2) % SLOTS][0]
        elif whose == "unknown":
            producer_id = UNKNOWN_PRODUCER + SLOTS
        elif whose == "none":
            producer_id = -1
        return producer_id, max(known + epoch, -1)

    def _by_topic(self, partitions: list[Where]) -> dict[str, list[int]]:
        topics: dict[str, list[int]] = {}
        for topic, index in partitions:
            topics.setdefault(self._topic(topic), []).append(index)
        return topics

    def _told(self, slot: int, producer_id: int, epoch: int) -> None:
        """The producer goes on with these; a new epoch begins its sequences anew."""
        if (producer_id, epoch) != self._known[slot]:
            self._known[slot] = producer_id, epoch
            for key in [key for key in self._next_sequence if key[0] == slot]:
                del self._next_sequence[key]

    # --- requests -----------------------------------------------------------------------------------------

    def _call(self, request: Any, version: int) -> tuple[Any, Answer]:
        response = self._client.call(request, version)
        return response, self._plain(response)

    def _init(
        self, slot: int, version: int, had: str, timeout_ms: int, transactional_id: str = "own"
    ) -> Answer:
        producer_id, epoch = self._known[slot]
        other_id = self._known[(slot + 2) % SLOTS][0]
        pair = {
            "none": (-1, -1),
            "own": (producer_id, epoch),
            "older": (producer_id, max(epoch - 1, 0)),
            "newer": (producer_id, epoch + 1),
            "other": (other_id, epoch),
            "unknown": (UNKNOWN_PRODUCER + SLOTS, epoch),
            "id only": (producer_id, -1),
            "epoch only": (-1, epoch),
        }[had]
        if version < 3:
            pair = (-1, -1)
        own_id = None if slot == PLAIN_SLOT else self._transactional_id(slot)
        request = InitProducerIdRequest(
            transactional_id="" if transactional_id == "empty" else own_id,
            transaction_timeout_ms=timeout_ms,
            producer_id=pair[0],
            producer_epoch=pair[1],
        )
        response, answer = self._call(request, version)
        if response.error_code == ErrorCode.NONE:
            self._told(slot, response.producer_id, response.producer_epoch)
        return answer

    def _add(
        self,
        slot: int,
        epoch: int,
        whose: str,
        version: int,
        partitions: list[Where],
        transactional_id: str,
        verify_only: bool = False,
        beside: int | None = None,
    ) -> Answer:
        topics = [
            AddPartitionsToTxnTopic(name=name, partitions=indexes)
            for name, indexes in self._by_topic(partitions).items()
        ]
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        named = self._transactional_id(slot, transactional_id) or ""
        if version < 4:
            request = AddPartitionsToTxnRequest(
                v3_and_below_transactional_id=named,
                v3_and_below_producer_id=producer_id,
                v3_and_below_producer_epoch=producer_epoch,
                v3_and_below_topics=topics,
            )
        else:
            request = AddPartitionsToTxnRequest(
                transactions=[
                    AddPartitionsToTxnTransaction(
                        transactional_id=named,
                        producer_id=producer_id,
                        producer_epoch=producer_epoch,
                        verify_only=verify_only,
                        topics=topics,
                    )
                ]
            )
            if beside is not None and self._transactional_id(beside) != named:
                producer_id, producer_epoch = self._known[beside]
                request.transactions.append(
                    AddPartitionsToTxnTransaction(
                        transactional_id=self._transactional_id(beside) or "",
                        producer_id=producer_id,
                        producer_epoch=producer_epoch,
                        verify_only=not verify_only,
                        topics=topics[:1],
                    )
                )
        return self._call(request, version)[1]

    def _add_offsets(
        self, slot: int, epoch: int, whose: str, version: int, group: int, transactional_id: str
    ) -> Answer:
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        request = AddOffsetsToTxnRequest(
            transactional_id=self._transactional_id(slot, transactional_id) or "",
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            group_id=self._group(group),
        )
        return self._call(request, version)[1]

    def _group(self, number: int) -> str:
        return "" if number < 0 else f"{self._prefix}group-{number}"

    def _commit_offsets(
        self,
        slot: int,
        epoch: int,
        whose: str,
        version: int,
        group: int,
        partitions: list[Where],
        offset: int,
        generation: int,
        member: str,
        metadata_chars: int,
        transactional_id: str,
    ) -> Answer:
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        request = TxnOffsetCommitRequest(
            transactional_id=self._transactional_id(slot, transactional_id) or "",
            group_id=self._group(group),
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            generation_id=generation if version >= 3 else -1,
            member_id=member if version >= 3 else "",
            topics=[
                TxnOffsetCommitRequestTopic(
                    name=name,
                    partitions=[
                        TxnOffsetCommitRequestPartition(
                            partition_index=index,
                            committed_offset=offset,
                            committed_metadata="m" * metadata_chars,
                        )
                        for index in indexes
                    ],
                )
                for name, indexes in self._by_topic(partitions).items()
            ],
        )
        return self._call(request, version)[1]

    def _produce(
        self,
        slot: int,
        epoch: int,
        whose: str,
        version: int,
        partitions: list[Where],
        transactional: bool,
        sequence: str,
        records: int,
        acks: int,
        transactional_id: str,
        mixed: bool,
    ) -> Answer:
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        topics: dict[str, TopicProduceData] = {}
        sequences: dict[Where, int] = {}
        for number, where in enumerate(partitions):
            name = where[0]
            following = self._next_sequence.get((slot, where), 0)
            first = {
                "next": following,
                "again": max(following - records, 0),
                "gap": following + 3,
                "zero": 0,
                "negative": -1,
            }[sequence]
            sequences[where] = first + records
            values = [b"%d" % (self._values + each) for each in range(records)]
            self._values += records
            batch = batch_of(
                *values,
                timestamp=int(time.time() * 1000),
                producer_id=producer_id,
                producer_epoch=producer_epoch,
                base_sequence=first,
                transactional=transactional if not (mixed and number) else not transactional,
            )
            topic = topics.setdefault(
                name, TopicProduceData(name=self._topic(name), topic_id=self._topic_ids.get(name, b"\1" * 16))
            )
            topic.partition_data.append(PartitionProduceData(index=where[1], records=batch))
        named = None if slot == PLAIN_SLOT else self._transactional_id(slot, transactional_id)
        request = ProduceRequest(
            transactional_id=named, acks=acks, timeout_ms=10_000, topic_data=list(topics.values())
        )
        if acks == 0:
            return self._produce_silently(request, version, slot, sequences)
        response = self._client.call(request, version)
        is_own = (producer_id, producer_epoch) == self._known[slot]
        names = {self._topic_ids[topic]: topic for topic in self._topic_ids}
        for topic_answer in response.responses:
            if version >= 13:
                topic_answer.name = names.get(topic_answer.topic_id, "missing")
            topic_name = topic_answer.name.removeprefix(self._prefix)
            for part in topic_answer.partition_responses:
                if part.error_code == ErrorCode.NONE and is_own and sequence != "again":
                    self._next_sequence[slot, (topic_name, part.index)] = sequences[topic_name, part.index]
        return self._plain(response)

    def _produce_silently(
        self, request: ProduceRequest, version: int, slot: int, sequences: dict[Where, int]
    ) -> Answer:
        """The next request on the connection is answered, unless the system closes it."""
        before = {where: self._end_of(where, 0) for where in PARTITIONS}
        self._client.send(request, version)
        after = {where: self._end_of(where, 0) for where in PARTITIONS}
        for where, offset in after.items():
            if offset != before[where] and where in sequences:
                self._next_sequence[slot, where] = sequences[where]
        return "silence"

    def _end(
        self, slot: int, epoch: int, whose: str, version: int, committed: bool, transactional_id: str = "own"
    ) -> Answer:
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        request = EndTxnRequest(
            transactional_id=self._transactional_id(slot, transactional_id) or "",
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            committed=committed,
        )
        response, answer = self._call(request, version)
        if response.error_code == ErrorCode.NONE and version >= 5:
            self._told(slot, response.producer_id, response.producer_epoch)
        return answer

    def _markers(
        self,
        slot: int,
        epoch: int,
        whose: str,
        version: int,
        transaction_version: int,
        coordinator_epoch: int,
        committed: bool,
        partitions: list[Where],
    ) -> Answer:
        producer_id, producer_epoch = self._producer(slot, epoch, whose)
        marker = WritableTxnMarker(
            producer_id=producer_id,
            producer_epoch=max(producer_epoch, 0),
            transaction_result=committed,
            coordinator_epoch=coordinator_epoch,
            transaction_version=transaction_version,
            topics=[
                WritableTxnMarkerTopic(name=name, partition_indexes=indexes)
                for name, indexes in self._by_topic(partitions).items()
            ],
        )
        return self._call(WriteTxnMarkersRequest(markers=[marker]), version)[1]

    def _time_out(
        self,
        slot: int,
        partitions: list[Where],
        end_version: int,
        end_committed: bool,
        produce_version: int,
        init_version: int,
        had: str,
    ) -> Answer:
        """A producer begins, says nothing for too long, and then wants to go on in several ways."""
        answers = []
        for _ in range(2):  # the first may abort what was open
            answers.append(self._init(slot, 5, "none", SHORT_TIMEOUT_MS))
            self._settle()
        answers.append(self._add(slot, 0, "own", 3, partitions, "own"))
        wait_until(
            lambda: all(
                state.transaction_state not in ("Ongoing", "PrepareAbort", "PrepareEpochFence")
                for state in self._described().transaction_states
                if state.transactional_id == self._transactional_id(slot)
            ),
            f"{self.name} to abort what took too long",
        )
        zombie = self._known[slot]
        answers.append(self._add(slot, 0, "own", 3, partitions, "own"))
        answers.append(
            self._produce(
                *(slot, 0, "own", produce_version, partitions, True, "next", 1, -1, "own", False),
            )
        )
        answers.append(self._end(slot, 0, "own", end_version, end_committed))
        self._settle()
        self._known[slot] = zombie
        answers.append(self._init(slot, init_version, had, TIMEOUT_MS))
        self._settle()
        answers.append(self._init(slot, 5, "none", TIMEOUT_MS))
        return answers

    def _fetch(self, version: int, partition: Where, isolation: int, offset: int) -> Answer:
        part = FetchPartition(partition=partition[1], fetch_offset=offset, partition_max_bytes=1 << 20)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            isolation_level=isolation,
            session_epoch=-1,
            topics=[FetchTopic(topic=self._topic(partition[0]), partitions=[part])],
        )
        response = self._client.call(request, version)
        (found,) = response.responses[0].partitions
        answer = self._plain(found)
        aborted = found.aborted_transactions
        answer["aborted_transactions"] = aborted and self._plain(
            sorted(aborted, key=lambda each: (each.first_offset, each.producer_id))
        )
        answer["records"] = self._batches(found.records)
        return answer

    def _batches(self, data: Any) -> Answer:
        view = bytes(data or b"")
        batches = [
            {
                "offset": header.base_offset,
                "producer": self._name(header.producer_id),
                "epoch": header.producer_epoch,
                "sequence": header.base_sequence,
                "flags": header.attributes & 0x30,
                "count": header.record_count,
            }
            for _, header in iter_headers(view, 0, len(view))
        ]
        values = [(record.value or b"").decode("latin-1") for record in records_of(view)]
        return [batches, values]

    def _list_offsets(self, version: int, partition: Where, isolation: int, timestamp: int) -> Answer:
        part = ListOffsetsPartition(
            partition_index=partition[1], current_leader_epoch=-1, timestamp=timestamp
        )
        topics = [ListOffsetsTopic(name=self._topic(partition[0]), partitions=[part])]
        request = ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=topics)
        return self._call(request, version)[1]

    def _offset_fetch(self, version: int, group: int, stable: bool, all: bool) -> Answer:
        names = None if all else self._by_topic(list(PARTITIONS))
        if version < 8:
            request = OffsetFetchRequest(
                group_id=self._group(group),
                topics=names
                and [OffsetFetchRequestTopic(name=name, partition_indexes=i) for name, i in names.items()],
                require_stable=stable,
            )
        else:
            asked = OffsetFetchRequestGroup(
                group_id=self._group(group),
                topics=names
                and [OffsetFetchRequestTopics(name=name, partition_indexes=i) for name, i in names.items()],
            )
            request = OffsetFetchRequest(groups=[asked], require_stable=stable)
        return self._call(request, version)[1]

    def _list_transactions(
        self, version: int, states: list[str], of_slots: list[int] | None, pattern: str
    ) -> Answer:
        request = ListTransactionsRequest(
            state_filters=states,
            producer_id_filters=[self._known[slot][0] for slot in of_slots or ()],
            transactional_id_pattern=pattern or None if version >= 2 else None,
        )
        response = self._client.call(request, version)
        response.transaction_states = [
            state for state in response.transaction_states if state.transactional_id.startswith(self._prefix)
        ]
        return self._plain(response)

    def _find_coordinator(self, version: int, key_type: int) -> Answer:
        key = self._transactional_id(0) or ""
        if version < 4:
            request = FindCoordinatorRequest(key=key, key_type=key_type)
        else:
            request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=[key])
        return self._call(request, version)[1]

    # --- answers ------------------------------------------------------------------------------------------

    def _name(self, producer_id: int) -> str | int:
        if producer_id < 0:
            return producer_id
        return self._names.setdefault(producer_id, f"producer {len(self._names) - SLOTS}")

    def _plain(self, value: Any) -> Answer:
        if isinstance(value, (list, tuple)):
            plain = [self._plain(each) for each in value]
            return sorted(plain, key=_order if plain and isinstance(plain[0], dict) else None)
        if not hasattr(value, "__slots__"):
            return value.removeprefix(self._prefix) if isinstance(value, str) else value
        answer: dict[str, Answer] = {}
        for name in value.__slots__:
            if name in _DROPPED:
                continue
            field = getattr(value, name)
            if name == "producer_id":
                answer[name] = self._name(field)
            elif name.endswith("error_code"):
                answer[name] = ErrorCode(field).name
            else:
                answer[name] = self._plain(field)
        return answer


def _order(answer: dict[str, Answer]) -> tuple[str, ...]:
    return tuple(f"{answer[name]!s:>20}" for name in _ORDERED_BY if name in answer)
