"""Administration of records by their offsets: where a log begins and ends, what was when, and deleting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from ottla.client.admin_part import ADMIN_TIMEOUT_MS, AdminPart, by_topic
from ottla.client.admin_results import Results, failure
from ottla.client.effects import ClientSteps, Request
from ottla.client.errors import OttlaError
from ottla.model.types import TopicPartition

EARLIEST: Final = -2
LATEST: Final = -1
MAX_TIMESTAMP: Final = -3
EARLIEST_LOCAL: Final = -4
LATEST_TIERED: Final = -5
EARLIEST_PENDING_UPLOAD: Final = -6


class OffsetResult(NamedTuple):
    offset: int
    """-1 when no record is that young."""
    timestamp_ms: int
    leader_epoch: int


class OffsetAdmin(AdminPart):
    def list_offsets(
        self, when: Mapping[TopicPartition, int], *, read_committed: bool = False
    ) -> ClientSteps[Results[TopicPartition, OffsetResult]]:
        """Offsets by time: a timestamp in milliseconds, or EARLIEST, LATEST, MAX_TIMESTAMP, EARLIEST_LOCAL,
        LATEST_TIERED.
        """
        return (yield from self._list_offsets(when, read_committed, once=False))

    def list_offsets_once(
        self, when: Mapping[TopicPartition, int], *, read_committed: bool = False
    ) -> ClientSteps[Results[TopicPartition, OffsetResult]]:
        """As `list_offsets`, without waiting for partitions that have no leader at the moment."""
        return (yield from self._list_offsets(when, read_committed, once=True))

    def _list_offsets(
        self, when: Mapping[TopicPartition, int], read_committed: bool, *, once: bool
    ) -> ClientSteps[Results[TopicPartition, OffsetResult]]:
        from ottla.wire.messages.list_offsets import (
            ListOffsetsPartition,
            ListOffsetsRequest,
            ListOffsetsTopic,
        )

        def build(partitions: Sequence[TopicPartition]) -> Request:
            return ListOffsetsRequest(
                replica_id=-1,
                isolation_level=1 if read_committed else 0,
                topics=[
                    ListOffsetsTopic(
                        name=topic,
                        partitions=[
                            ListOffsetsPartition(
                                partition_index=index, timestamp=when[TopicPartition(topic, index)]
                            )
                            for index in indexes
                        ],
                    )
                    for topic, indexes in by_topic(partitions).items()
                ],
                timeout_ms=ADMIN_TIMEOUT_MS,
            )

        def read(response: Any) -> dict[TopicPartition, OffsetResult | OttlaError]:
            return {
                tp: failure(p.error_code, subject=str(tp))
                or OffsetResult(p.offset, p.timestamp, p.leader_epoch)
                for t in response.topics
                for p in t.partitions
                for tp in [TopicPartition(t.name, p.partition_index)]
            }

        return (yield from self._ask_leaders(when, build, read, once=once))

    def delete_records(
        self, before: Mapping[TopicPartition, int], *, timeout_ms: int = ADMIN_TIMEOUT_MS
    ) -> ClientSteps[Results[TopicPartition, int]]:
        """Deletes the records before each offset (-1: all there are); gives each partition's new first
        offset.
        """
        from ottla.wire.messages.delete_records import (
            DeleteRecordsPartition,
            DeleteRecordsRequest,
            DeleteRecordsTopic,
        )

        def build(partitions: Sequence[TopicPartition]) -> Request:
            return DeleteRecordsRequest(
                topics=[
                    DeleteRecordsTopic(
                        name=topic,
                        partitions=[
                            DeleteRecordsPartition(
                                partition_index=index, offset=before[TopicPartition(topic, index)]
                            )
                            for index in indexes
                        ],
                    )
                    for topic, indexes in by_topic(partitions).items()
                ],
                timeout_ms=timeout_ms,
            )

        def read(response: Any) -> dict[TopicPartition, int | OttlaError]:
            return {
                tp: failure(p.error_code, subject=str(tp)) or int(p.low_watermark)
                for t in response.topics
                for p in t.partitions
                for tp in [TopicPartition(t.name, p.partition_index)]
            }

        return (yield from self._ask_leaders(before, build, read))
