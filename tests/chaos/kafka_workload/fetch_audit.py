"""What readers asked for and were given on the wire: the proxy shows every Fetch to this audit.

Nothing is ever deleted from the topics of the workload, so what a broker answers to a fetch at offset X is a
row without holes: the first batch holds X, and each next one begins where the one before ended, markers and
aborted batches included. The audit reads the heads of the batches only, and keeps what is out of the
ordinary:

* a `Gap`: an answer that leaves offsets out. Whether there was anything to leave out, the checker knows.
* a `Jump`: a client that asks for an offset beyond the end of what it was given before. An assignment or a
  seek does that, which the history tells as a reset; a client may also do it on its own.
* a `Refusal`: an answer with an error, after which a client may have to look for another offset.

Positions are those of a client and a key, not of a connection, since connections are cut all the time. An
answer that gets lost is asked for again, which is a step back, and no jump. Fetch sessions (KIP-227) are
followed: a partition that is not listed stands where it stood.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from chaos.kafka_workload.shared import KEY_OF, TOPICS
from ottla.wire.framing import decode_request, decode_request_header, decode_response
from ottla.wire.messages.index import ApiKey
from ottla.wire.primitives import DecodeError

# Of a batch's head: base offset and length; after it the last offset's delta.
_BASE = struct.Struct(">qi")
_LAST_DELTA = struct.Struct(">i")
_LENGTH_END = 12
_LAST_DELTA_AT = 23
_HEAD_BYTES = 61

# Metadata tells the ids of topics from this version on, and Fetch uses them from that one on.
_METADATA_WITH_IDS = 10
_FETCH_WITH_IDS = 13

_NO_SESSION = -1
_NEW_SESSION = 0


class Gap(NamedTuple):
    """Asked for `asked`, a client was given no batch with the offsets from `start` to before `end`."""

    client: str
    key: int
    asked: int
    start: int
    end: int
    version: int
    at: int

    def __str__(self) -> str:
        return (
            f"{self.client} key {self.key}: Fetch v{self.version} at offset {self.asked} was answered without"
            f" {self.start} to {self.end - 1} (at {self.at})"
        )


class Jump(NamedTuple):
    """A client that had been given all before `start` asked for `end`, which is more."""

    client: str
    key: int
    start: int
    end: int
    at: int


class Refusal(NamedTuple):
    client: str
    key: int
    error_code: int
    at: int


@dataclass
class WireFacts:
    """What the checker has to know of the wire; `at` are numbers of the history."""

    gaps: list[Gap] = field(default_factory=list)
    jumps: list[Jump] = field(default_factory=list)
    refusals: list[Refusal] = field(default_factory=list)
    # How many answers with records each client had in each key.
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)

    def to_json(self) -> dict[str, Any]:
        return {
            "gaps": self.gaps,
            "jumps": self.jumps,
            "refusals": self.refusals,
            "answers": [[*place, count] for place, count in self.answers.items()],
        }

    @classmethod
    def from_json(cls, event: dict[str, Any]) -> WireFacts:
        return cls(
            [Gap(*each) for each in event["gaps"]],
            [Jump(*each) for each in event["jumps"]],
            [Refusal(*each) for each in event["refusals"]],
            Counter({(client, key): count for client, key, count in event["answers"]}),
        )


class FetchAudit:
    """Runs on the proxy's loop."""

    def __init__(self, stamp: Callable[[], int]) -> None:
        self.facts = WireFacts()
        # Frames of Fetch that nobody could read, which is a failure of its own.
        self.unreadable: list[str] = []
        self._stamp = stamp
        self._topics: dict[bytes, str] = {}
        # Broker and its fetch session -> key -> offset
        self._sessions: dict[tuple[int, int], dict[int, int]] = {}
        # Client and key -> the end of what it asked for and was given.
        self._places: dict[tuple[str, int], int] = {}

    def on_metadata(self, version: int, frame: bytes) -> None:
        """Topics have ids, and each client learns them before it fetches by them."""
        if version < _METADATA_WITH_IDS or len(self._topics) == len(TOPICS):
            return
        try:
            _, reply = decode_response(ApiKey.METADATA, version, frame)
        except DecodeError as error:
            self.unreadable.append(f"Metadata v{version}: {error}")
            return
        for topic in reply.topics:
            if topic.name in TOPICS and topic.error_code == 0:
                self._topics[topic.topic_id] = topic.name

    def on_request(self, client: str, frame: bytes, broker: int = 0) -> dict[int, int]:
        """What a Fetch asks for: key -> offset."""
        try:
            header, at = decode_request_header(frame, 0, len(frame))
            request = decode_request(header, frame, at, len(frame))
        except DecodeError as error:
            self.unreadable.append(f"a Fetch of {client}: {error}")
            return {}
        listed = self._listed(request, header.api_version)
        if request.session_epoch in (_NO_SESSION, _NEW_SESSION):
            asked = listed
        else:
            asked = self._sessions.get((broker, request.session_id), {})
            for topic in request.forgotten_topics_data:
                name = self._name(topic, header.api_version)
                for partition in topic.partitions:
                    asked.pop(KEY_OF.get((name, partition), -1), None)
            asked.update(listed)
            # An answer to the request before may still be read, with what that one asked for.
            asked = self._sessions[broker, request.session_id] = dict(asked)
        for key, offset in listed.items():
            place = self._places.get((client, key))
            if place is not None and offset > place:
                self.facts.jumps.append(Jump(client, key, place, offset, self._stamp()))
            self._places[client, key] = offset
        return asked

    def on_reply(
        self, client: str, version: int, asked: dict[int, int], frame: bytes, broker: int = 0
    ) -> None:
        try:
            _, reply = decode_response(ApiKey.FETCH, version, frame)
        except DecodeError as error:
            self.unreadable.append(f"an answer to {client}'s Fetch v{version}: {error}")
            return
        if reply.session_id:
            self._sessions[broker, reply.session_id] = asked
        for topic in reply.responses:
            name = self._name(topic, version)
            for partition in topic.partitions:
                key = KEY_OF.get((name, partition.partition_index), -1)
                if partition.error_code:
                    self.facts.refusals.append(Refusal(client, key, partition.error_code, self._stamp()))
                elif partition.records is not None and len(partition.records) and key in asked:
                    self._follow(client, key, version, asked[key], partition.records)

    def _follow(self, client: str, key: int, version: int, asked: int, records: memoryview) -> None:
        self.facts.answers[client, key] += 1
        expected = asked
        for base, last in batches_of(records):
            if base > expected:
                self.facts.gaps.append(Gap(client, key, asked, expected, base, version, self._stamp()))
            expected = max(expected, last + 1)
        self._places[client, key] = expected

    def _listed(self, request: Any, version: int) -> dict[int, int]:
        return {
            KEY_OF[name, partition.partition]: partition.fetch_offset
            for topic in request.topics
            if (name := self._name(topic, version)) in TOPICS
            for partition in topic.partitions
        }

    def _name(self, topic: Any, version: int) -> str:
        name: str = self._topics.get(topic.topic_id, "") if version >= _FETCH_WITH_IDS else topic.topic
        return name


def batches_of(records: memoryview) -> Iterable[tuple[int, int]]:
    """First and last offset of each whole batch; clients drop one that is cut off at the end."""
    at, end = 0, len(records)
    while at + _HEAD_BYTES <= end:
        base, length = _BASE.unpack_from(records, at)
        after = at + _LENGTH_END + length
        if after > end or length <= 0:
            return
        yield base, base + _LAST_DELTA.unpack_from(records, at + _LAST_DELTA_AT)[0]
        at = after
