"""What a transaction says of the micro-batch that it holds, and what is to be done with a batch in its light.

Every transaction commits, for a group named after the application, the source's offsets and beside each of
them a marker: the number of the batch and the id of the checkpoint that counts them. So the batch and the
knowledge that it was written become visible at once. One more marker lies at partition 0 of a target topic
under the offset -1, which tools that show lag leave out: it is there when the source is not a topic, and
nobody who commits offsets of the source for the same group can overwrite it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum, auto
from typing import NamedTuple

from ottla.client.group_views import NO_OFFSET
from ottla.client.records import OffsetAndMetadata
from ottla.model.types import TopicPartition
from ottla.pipelines.sink.errors import ForeignCheckpoint

FORMAT = 1


class BatchMarker(NamedTuple):
    checkpoint_id: str
    batch_id: int

    def text(self) -> str:
        return json.dumps(
            {"ottla": FORMAT, "batch": self.batch_id, "checkpoint": self.checkpoint_id}, separators=(",", ":")
        )

    @classmethod
    def read(cls, metadata: str) -> BatchMarker | None:
        """None for what is not a marker: anybody may commit for the group."""
        try:
            found = json.loads(metadata)
        except ValueError:
            return None
        if not isinstance(found, dict) or found.get("ottla") != FORMAT:
            return None
        batch_id, checkpoint_id = found.get("batch"), found.get("checkpoint")
        if not isinstance(batch_id, int) or not isinstance(checkpoint_id, str):
            return None
        return cls(checkpoint_id, batch_id)


def offsets_with(
    marker: BatchMarker, source: Mapping[TopicPartition, int], topic: str | None
) -> dict[TopicPartition, OffsetAndMetadata]:
    """What is committed with a batch. `topic` is a target, where there is one."""
    text = marker.text()
    found = {tp: OffsetAndMetadata(offset, text) for tp, offset in source.items()}
    if topic is not None:
        found.setdefault(TopicPartition(topic, 0), OffsetAndMetadata(NO_OFFSET, text))
    return found


class Verdict(Enum):
    WRITE = auto()
    SKIP = auto()
    """The batch is in the topic already."""


class Progress(NamedTuple):
    """How far an application is, by what its group has committed."""

    application_id: str
    entries: tuple[tuple[TopicPartition, int, BatchMarker], ...]
    """Partition, offset and marker of all that was committed with one."""

    @classmethod
    def read(cls, application_id: str, committed: Mapping[TopicPartition, OffsetAndMetadata]) -> Progress:
        return cls(
            application_id,
            tuple(
                (tp, each.offset, marker)
                for tp, each in committed.items()
                if (marker := BatchMarker.read(each.metadata)) is not None
            ),
        )

    def last_batch(self, checkpoint_id: str) -> int | None:
        """The last batch of this checkpoint that was written; None when there was none."""
        self.check(checkpoint_id)
        return max((marker.batch_id for _, _, marker in self.entries), default=None)

    def check(self, checkpoint_id: str) -> None:
        """Refuses a checkpoint that is not the one which the application's batches were counted in."""
        foreign = [marker for _, _, marker in self.entries if marker.checkpoint_id != checkpoint_id]
        if foreign:
            last = max(foreign, key=lambda marker: marker.batch_id)
            raise ForeignCheckpoint(
                f"application {self.application_id} has written batches up to {last.batch_id} with another "
                f"checkpoint (its id is {last.checkpoint_id}, this one's {checkpoint_id}): with this one, "
                "records would be written again or left out. Go on with the checkpoint that it had; or, if "
                "it was deleted and the application is to start over, choose another application_id, or "
                f"forget the old one's progress with `ottla group delete {self.application_id}`"
            )

    def verdict(self, checkpoint_id: str, batch_id: int, source: Mapping[TopicPartition, int]) -> Verdict:
        """What is to be done with a batch that reads up to these offsets."""
        last = self.last_batch(checkpoint_id)
        if last is None or last < batch_id:
            return Verdict.WRITE
        if last == batch_id:
            different = next((tp for tp, at in self._written(last) if source.get(tp, at) != at), None)
            if different is None:
                return Verdict.SKIP
            raise self.too_old(f"another batch {batch_id}, of which {different} read up to another offset")
        raise self.too_old(f"batch {last}, and its checkpoint asks for batch {batch_id}")

    def _written(self, batch_id: int) -> list[tuple[TopicPartition, int]]:
        """Up to where a batch has read."""
        return [
            (tp, offset)
            for tp, offset, marker in self.entries
            if marker.batch_id == batch_id and offset != NO_OFFSET
        ]

    def too_old(self, written: str) -> ForeignCheckpoint:
        return ForeignCheckpoint(
            f"application {self.application_id} has written {written}: the checkpoint is an older copy of "
            "what it was. Go on with the newest one, or start over with another application_id"
        )
