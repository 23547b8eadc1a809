"""Reading: positions, what a response may hold, and what is stepped over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from client_script import Script

from ottla.client.admin import EARLIEST, LATEST, Admin
from ottla.client.errors import BrokerUnavailable, ProtocolError, ServerError
from ottla.client.fetcher import Fetcher, FetcherSettings
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.fetch import (
    AbortedTransaction,
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ottla.wire.record_batch import EndTxnMarker, Record, encode_batch, encode_end_txn_batch

TP = TopicPartition("t", 0)


def batch(base_offset: int, *values: bytes, producer_id: int = -1, transactional: bool = False) -> bytes:
    return bytes(
        encode_batch(
            [Record(0, 1_000 + base_offset + i, b"k", value) for i, value in enumerate(values)],
            base_offset=base_offset,
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=0 if producer_id >= 0 else -1,
            transactional=transactional,
            leader_epoch=5,
        )
    )


def marker(offset: int, producer_id: int, *, committed: bool) -> bytes:
    return bytes(
        encode_end_txn_batch(
            EndTxnMarker(committed, 0),
            producer_id=producer_id,
            producer_epoch=0,
            timestamp=0,
            base_offset=offset,
        )
    )


class FetchingScript(Script):
    """A partition `t-0` whose log is `log`; offsets 0 to `end`."""

    def __init__(self, log: bytes = b"", end: int = 0, **settings: Any) -> None:
        super().__init__()
        self.topics = {"t": [1]}
        self.log = log
        self.end = end
        self.start = 0
        self.code = 0
        self.aborted: Sequence[tuple[int, int]] = ()
        self.handlers["Fetch"] = self._fetch
        self.handlers["ListOffsets"] = self._list_offsets
        self.fetcher = Fetcher(self.cluster, Admin(self.cluster), FetcherSettings(**settings))
        self.run(self.fetcher.partitions("t"))
        self.fetcher.seek(TP, 0)

    def _fetch(self, node_id: int, request: Any) -> FetchResponse:
        topic = request.topics[0]
        data = PartitionData(
            partition_index=0,
            error_code=self.code,
            high_watermark=self.end,
            last_stable_offset=self.end,
            aborted_transactions=[AbortedTransaction(producer_id=p, first_offset=o) for p, o in self.aborted],
            records=memoryview(self.log),
        )
        answer = FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[data])
        return FetchResponse(responses=[answer])

    def _list_offsets(self, node_id: int, request: Any) -> ListOffsetsResponse:
        wanted = request.topics[0].partitions[0].timestamp
        offset = {EARLIEST: self.start, LATEST: self.end}.get(wanted, -1)
        partition = ListOffsetsPartitionResponse(partition_index=0, offset=offset)
        return ListOffsetsResponse(topics=[ListOffsetsTopicResponse(name="t", partitions=[partition])])

    def poll(self) -> list[bytes | None]:
        return [record.value for record in self.run(self.fetcher.poll(10))]


def test_the_position_moves_past_what_was_read() -> None:
    script = FetchingScript(batch(0, b"a", b"b") + batch(2, b"c"), end=3)
    assert not script.fetcher.at_end
    assert script.poll() == [b"a", b"b", b"c"]
    assert script.fetcher.positions[TP] == 3
    assert script.fetcher.at_end


def test_a_record_has_its_offset_timestamp_and_leader_epoch() -> None:
    script = FetchingScript(batch(0, b"a", b"b"), end=2)
    record = script.run(script.fetcher.poll(10))[1]
    assert (record.topic, record.partition, record.offset, record.timestamp_ms) == ("t", 0, 1, 1_001)
    assert (record.key, record.leader_epoch, record.timestamp_type) == (b"k", 5, 0)


def test_a_start_inside_a_batch_leaves_out_the_records_before_it() -> None:
    script = FetchingScript(batch(0, b"a", b"b", b"c"), end=3)
    script.fetcher.seek(TP, 2)
    assert script.poll() == [b"c"]


def test_a_batch_that_the_response_cuts_off_is_read_the_next_time() -> None:
    script = FetchingScript(batch(0, b"a") + batch(1, b"b")[:-3], end=2)
    assert script.poll() == [b"a"]
    assert script.fetcher.positions[TP] == 1
    assert not script.fetcher.at_end


def test_a_response_with_only_a_part_of_a_batch_is_an_error_and_not_an_endless_loop() -> None:
    script = FetchingScript(batch(0, b"a" * 100)[:90], end=1)
    with pytest.raises(ProtocolError, match="only a part of a batch"):
        script.poll()


def test_a_batch_with_a_wrong_crc_is_an_error_that_names_partition_and_offset() -> None:
    damaged = bytearray(batch(0, b"a"))
    damaged[-1] ^= 1
    script = FetchingScript(bytes(damaged), end=1)
    with pytest.raises(ProtocolError, match="t-0 at offset 0: the batch cannot be read: CRC"):
        script.poll()


def test_control_batches_are_stepped_over() -> None:
    script = FetchingScript(marker(0, 9, committed=True) + batch(1, b"a"), end=2)
    assert script.poll() == [b"a"]
    assert script.fetcher.positions[TP] == 2


def test_read_committed_leaves_out_aborted_transactions_up_to_their_marker() -> None:
    log = (
        batch(0, b"aborted", producer_id=7, transactional=True)
        + batch(1, b"plain")
        + batch(2, b"committed", producer_id=8, transactional=True)
        + batch(3, b"aborted too", producer_id=7, transactional=True)
        + marker(4, 7, committed=False)
        + batch(5, b"the next one's", producer_id=7, transactional=True)
    )
    script = FetchingScript(log, end=6, read_committed=True)
    script.aborted = [(7, 0)]
    assert script.poll() == [b"plain", b"committed", b"the next one's"]


def test_an_offset_that_was_deleted_is_an_error_or_a_new_start_as_asked() -> None:
    script = FetchingScript(batch(5, b"f"), end=6)
    script.code = ErrorCode.OFFSET_OUT_OF_RANGE
    with pytest.raises(ServerError, match="offset 0 lies outside the log"):
        script.poll()
    script = FetchingScript(batch(5, b"f"), end=6, reset=EARLIEST)
    script.start = 5
    script.code = ErrorCode.OFFSET_OUT_OF_RANGE
    assert script.poll() == []
    assert script.fetcher.positions[TP] == 5


def test_a_time_after_the_last_record_is_the_end() -> None:
    script = FetchingScript(end=42)
    script.run(script.fetcher.seek_by_time({TP: 1_700_000_000_000}))
    assert script.fetcher.positions[TP] == 42


def test_the_last_n_begin_at_the_log_start_where_there_are_fewer() -> None:
    script = FetchingScript(end=42)
    script.start = 40
    script.run(script.fetcher.seek_before_end([TP], 10))
    assert script.fetcher.positions[TP] == 40
    script.start = 0
    script.run(script.fetcher.seek_before_end([TP], 10))
    assert script.fetcher.positions[TP] == 32


def test_a_lost_broker_is_waited_for_and_then_given_up() -> None:
    script = FetchingScript()

    def gone(node_id: int, request: object) -> object:
        raise BrokerUnavailable("host1:9092")

    script.handlers["Fetch"] = script.handlers["Metadata"] = gone
    with pytest.raises(BrokerUnavailable):
        script.poll()
    assert script.clock.elapsed_ms == 60_000


def test_a_topic_that_is_deleted_while_it_is_read_ends_the_reading() -> None:
    script = FetchingScript()
    script.code = ErrorCode.UNKNOWN_TOPIC_ID
    script.topics.clear()
    with pytest.raises(ServerError, match="topic t: this topic or partition does not exist"):
        script.poll()


def test_topics_are_asked_for_by_id_from_fetch_13_on_and_by_name_before() -> None:
    script = FetchingScript(batch(0, b"a"), end=1)
    script.poll()
    script.versions["Fetch"] = 12
    script.fetcher.seek(TP, 0)
    assert script.poll() == [b"a"]
    new, old = (request.topics[0] for name, _, request in script.calls if name == "Fetch")
    assert (new.topic, new.topic_id) == ("", script.topic_id("t"))
    assert (old.topic, old.topic_id) == ("t", bytes(16))
