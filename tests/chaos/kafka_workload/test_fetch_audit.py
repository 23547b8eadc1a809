"""The audit of fetches over frames made by hand: holes in answers, jumps of clients, sessions, topic ids."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from chaos.kafka_workload.fetch_audit import FetchAudit, Gap, Jump, Refusal, WireFacts
from chaos.kafka_workload.shared import KEY_OF, TOPICS
from ottla.model.errors import ErrorCode
from ottla.wire.framing import encode_response
from ottla.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    ForgottenTopic,
    PartitionData,
)
from ottla.wire.messages.index import ApiKey
from ottla.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from support.raw_client import batch_of, frame_of

TOPIC = TOPICS[0]
TOPIC_ID = bytes(range(16))
KEY = KEY_OF[TOPIC, 1]
OTHER_KEY = KEY_OF[TOPIC, 2]


def batch(base_offset: int, count: int = 1) -> bytes:
    return bytes(batch_of(*[b"value"] * count, base_offset=base_offset))


class Wire:
    """One client and the broker's answers to it."""

    def __init__(self, version: int = 16) -> None:
        numbers = itertools.count(1)
        self.audit = FetchAudit(lambda: next(numbers))
        self.version = version
        topic = MetadataResponseTopic(error_code=0, name=TOPIC, topic_id=TOPIC_ID)
        self.audit.on_metadata(13, self._frame(MetadataResponse(topics=[topic]), ApiKey.METADATA, 13))

    @property
    def facts(self) -> WireFacts:
        assert not self.audit.unreadable
        return self.audit.facts

    def fetch(
        self,
        asked: dict[int, int],
        given: dict[int, bytes],
        *,
        error: ErrorCode = ErrorCode.NONE,
        session: tuple[int, int] = (0, -1),
        forgotten: tuple[int, ...] = (),
    ) -> None:
        """Partition -> offset, partition -> bytes."""
        named: dict[str, Any] = {"topic": TOPIC} if self.version < 13 else {"topic_id": TOPIC_ID}
        partitions = [FetchPartition(partition=each, fetch_offset=offset) for each, offset in asked.items()]
        request = FetchRequest(
            session_id=session[0],
            session_epoch=session[1],
            topics=[FetchTopic(partitions=partitions, **named)] if asked else [],
            forgotten_topics_data=[ForgottenTopic(partitions=[*forgotten], **named)] if forgotten else [],
        )
        frame = frame_of(request, self.version, client_id="reader")[4:]
        places = self.audit.on_request("reader", frame)
        answers = [
            PartitionData(partition_index=each, error_code=error, high_watermark=99, records=records)
            for each, records in given.items()
        ]
        response = FetchResponse(
            session_id=session[0] or (7 if session[1] == 0 else 0),
            responses=[FetchableTopicResponse(partitions=answers, **named)] if answers else [],
        )
        self.audit.on_reply("reader", self.version, places, self._frame(response, ApiKey.FETCH, self.version))

    def _frame(self, message: Any, api_key: ApiKey, version: int) -> bytes:
        return b"".join(bytes(part) for part in encode_response(message, api_key, version, 1))[4:]


@pytest.mark.parametrize("version", [4, 11, 12, 13, 16])
def test_answers_without_holes_leave_nothing_to_tell(version: int) -> None:
    """The first batch may begin before the offset asked for, and the last may be cut off."""
    wire = Wire(version)
    wire.fetch({1: 3}, {1: batch(0, 5) + batch(5) + batch(6, 3) + batch(9)[:-1]})
    wire.fetch({1: 9}, {1: b""})
    wire.fetch({1: 9}, {1: batch(9)})
    assert wire.facts == WireFacts(answers=wire.facts.answers)
    assert wire.facts.answers == {("reader", KEY): 2}


@pytest.mark.parametrize("version", [4, 12, 16])
def test_a_first_batch_beyond_the_offset_asked_for_is_a_gap(version: int) -> None:
    wire = Wire(version)
    wire.fetch({1: 3}, {1: batch(5, 2)})
    assert wire.facts.gaps == [Gap("reader", KEY, 3, 3, 5, version, 1)]


def test_a_batch_missing_in_the_middle_of_an_answer_is_a_gap() -> None:
    wire = Wire()
    wire.fetch({1: 0}, {1: batch(0, 2) + batch(4)})
    assert wire.facts.gaps == [Gap("reader", KEY, 0, 2, 4, 16, 1)]
    assert not wire.facts.jumps


def test_a_client_that_asks_beyond_what_it_was_given_jumps_and_one_that_asks_again_does_not() -> None:
    wire = Wire()
    wire.fetch({1: 0}, {1: batch(0, 4)})
    wire.fetch({1: 2}, {1: batch(0, 4)})
    wire.fetch({1: 4}, {})
    wire.fetch({1: 9}, {1: batch(9)})
    wire.fetch({1: 10}, {})
    assert wire.facts.jumps == [Jump("reader", KEY, 4, 9, 1)]


def test_errors_are_kept_with_their_code() -> None:
    wire = Wire()
    wire.fetch({1: 50}, {1: b""}, error=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert wire.facts.refusals == [Refusal("reader", KEY, ErrorCode.OFFSET_OUT_OF_RANGE, 1)]


def test_a_partition_that_a_session_does_not_list_again_stands_where_it_stood() -> None:
    """KIP-227: an incremental fetch names only what has changed."""
    wire = Wire(12)
    wire.fetch({1: 0, 2: 5}, {1: batch(0, 3)}, session=(0, 0))
    wire.fetch({1: 3}, {2: batch(5)}, session=(7, 1))
    assert not wire.facts.gaps
    wire.fetch({2: 6}, {1: batch(4), 2: batch(6)}, session=(7, 2))
    assert wire.facts.gaps == [Gap("reader", KEY, 3, 3, 4, 12, 1)]
    wire.fetch({}, {2: batch(9)}, session=(7, 3), forgotten=(2,))
    assert len(wire.facts.gaps) == 1


def test_frames_that_cannot_be_read_are_told() -> None:
    audit = FetchAudit(lambda: 1)
    assert audit.on_request("reader", frame_of(FetchRequest(), 16)[4:-3]) == {}
    audit.on_reply("reader", 16, {}, b"\0\0\0\1\0")
    assert len(audit.unreadable) == 2


def test_facts_survive_the_file() -> None:
    wire = Wire()
    wire.fetch({1: 3}, {1: batch(5, 2)})
    wire.fetch({1: 9}, {1: b""}, error=ErrorCode.OFFSET_OUT_OF_RANGE)
    assert wire.facts.gaps and wire.facts.jumps and wire.facts.refusals
    assert WireFacts.from_json(wire.facts.to_json()) == wire.facts
