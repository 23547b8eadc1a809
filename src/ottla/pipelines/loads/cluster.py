"""What a load asks the cluster: which partitions, where they begin and end, which offset a time is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ottla.client.errors import OttlaError, UnknownTopicOrPartition
from ottla.client.records import OffsetAndMetadata
from ottla.model.types import TopicPartition
from ottla.pipelines import connections
from ottla.pipelines.loads.data_file import fingerprint, position_mark
from ottla.pipelines.loads.errors import LoadRefused
from ottla.pipelines.loads.offset_texts import EARLIEST, LATEST
from ottla.pipelines.loads.plan import LogRange
from ottla.pipelines.loads.tables import Table
from ottla.pipelines.options import client_settings


@dataclass(frozen=True, slots=True)
class LoadTopic:
    fingerprint: int
    partitions: tuple[int, ...]


class LoadCluster:
    def __init__(self, settings: Mapping[str, str]) -> None:
        """settings: of the client, with Kafka's names; records of open and aborted transactions are left out
        unless `isolation.level` says otherwise."""
        wanted = {
            "isolation.level": "read_committed",
            **{name: str(value) for name, value in settings.items()},
        }
        self.settings = client_settings({f"kafka.{name}": value for name, value in wanted.items()})
        self._seen: dict[TopicPartition, LogRange] = {}

    @property
    def _read_committed(self) -> bool:
        return self.settings["isolation.level"] == "read_committed"

    def topics(self, names: Sequence[str]) -> dict[str, LoadTopic]:
        found: dict[str, LoadTopic] = {}
        for name, topic in connections.admin(self.settings).describe_topics(names).items():
            if isinstance(topic, UnknownTopicOrPartition):
                raise LoadRefused(f"topic {name} does not exist at {self.settings['bootstrap.servers']}")
            if isinstance(topic, OttlaError):
                raise topic
            indexes = tuple(sorted(each.partition for each in topic.partitions))
            found[name] = LoadTopic(fingerprint(bytes(topic.topic_id)), indexes)
        return found

    def logs(self, topics: Mapping[str, LoadTopic]) -> dict[TopicPartition, LogRange]:
        partitions = [
            TopicPartition(name, index) for name, each in topics.items() for index in each.partitions
        ]
        earliest = self._offsets(dict.fromkeys(partitions, EARLIEST))
        latest = self._offsets(dict.fromkeys(partitions, LATEST))
        self._seen = {tp: LogRange(earliest[tp], max(earliest[tp], latest[tp])) for tp in partitions}
        return self._seen

    def resolve(
        self,
        logs: Mapping[TopicPartition, LogRange],
        time_ms: int | None,
        offsets: Mapping[TopicPartition, int] | None,
    ) -> dict[TopicPartition, int] | None:
        """Offsets of a time, or those that were said, with -2 and -1 replaced; None if nothing was said."""
        if time_ms is not None:
            found = self._offsets(dict.fromkeys(logs, time_ms))
            # No record is that young: the end. One past the last stable offset is not there for us yet.
            return {
                tp: logs[tp].latest if offset < 0 else min(offset, logs[tp].latest)
                for tp, offset in found.items()
            }
        if offsets is None:
            return None
        return {
            tp: offset
            if offset >= 0 or tp not in logs
            else (logs[tp].earliest if offset == EARLIEST else logs[tp].latest)
            for tp, offset in offsets.items()
        }

    def _offsets(self, when: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        if not when:
            return {}
        admin = connections.admin(self.settings)
        found = admin.list_offsets(when, read_committed=self._read_committed)
        return {tp: result.offset for tp, result in found.all().items()}

    def positions(self, table: Table) -> dict[TopicPartition, int]:
        """The table's positions in the partitions that were looked at last."""
        found = {}
        for tp in self._seen:
            position = table.mark(position_mark(*tp))
            if position is not None:
                found[tp] = position
        return found

    def commit_group(self, group: str, positions: Mapping[TopicPartition, int]) -> str:
        """Empty, or why it could not be done."""
        if not positions:
            return ""
        offsets = {tp: OffsetAndMetadata(offset) for tp, offset in positions.items()}
        try:
            connections.admin(self.settings).alter_consumer_group_offsets(group, offsets).all()
        except OttlaError as error:
            return str(error)
        return ""
