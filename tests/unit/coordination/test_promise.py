"""A promise is completed once, by whoever comes first."""

from __future__ import annotations

from ottla.coordination.promise import Promise
from ottla.model.errors import ErrorCode, KafkaError


def promise() -> Promise[str]:
    return Promise(lambda error: f"refused: {error.code.name}")


def test_the_first_answer_counts() -> None:
    waiting = promise()
    assert (waiting.done, waiting.response) == (False, None)
    waiting.complete("first")
    waiting.complete("second")
    waiting.refuse(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert (waiting.done, waiting.response) == (True, "first")


def test_a_refusal_is_a_response_that_carries_the_error() -> None:
    waiting = promise()
    waiting.refuse(KafkaError(ErrorCode.NOT_COORDINATOR))
    assert waiting.done and waiting.response == "refused: NOT_COORDINATOR"


def test_who_waits_is_told_once() -> None:
    waiting = promise()
    told: list[str | None] = []
    waiting.on_done = lambda: told.append(waiting.response)
    waiting.complete("yes")
    waiting.complete("no")
    assert told == ["yes"]


def test_making_a_refusal_does_not_complete_the_promise() -> None:
    waiting = promise()
    assert waiting.refusal(KafkaError(ErrorCode.UNKNOWN_MEMBER_ID)) == "refused: UNKNOWN_MEMBER_ID"
    assert not waiting.done
