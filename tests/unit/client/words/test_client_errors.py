"""The errors of the clients: classes for codes, what they say, and that they travel between processes."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

import ottla
from ottla.client import errors
from ottla.client.errors import OttlaError, ServerError
from ottla.model.errors import ErrorCode


def all_errors() -> list[type[OttlaError]]:
    return [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, OttlaError) and value.__module__ == errors.__name__
    ]


def test_a_code_makes_an_error_of_its_own_class() -> None:
    error = ServerError(ErrorCode.TOPIC_ALREADY_EXISTS, subject="topic clicks")
    assert type(error) is errors.TopicAlreadyExists
    assert str(error) == "topic clicks: a topic with this name already exists"
    with pytest.raises(errors.NotLeader):
        errors.raise_for(6)


def test_a_code_without_a_class_and_one_of_a_newer_broker_stay_server_errors() -> None:
    assert type(ServerError(ErrorCode.STALE_BROKER_EPOCH)) is ServerError
    newer = ServerError(12_345)
    assert type(newer) is ServerError and "12345" in str(newer)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_every_code_keeps_its_retriable_flag_and_survives_pickling(code: ErrorCode) -> None:
    error = ServerError(code, "so it is", subject="s")
    assert error.retriable == code.retriable
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(again) is type(error)
        assert (again.code, again.message, again.subject, str(again)) == (
            code,
            "so it is",
            "s",
            "s: so it is",
        )
        assert again.retriable == code.retriable


def test_errors_with_other_arguments_survive_pickling_too() -> None:
    gone = pickle.loads(pickle.dumps(errors.BrokerUnavailable("a:1", "refused")))
    assert (str(gone), gone.address, gone.reason) == ("no broker answers at a:1 (refused)", "a:1", "refused")
    failed = errors.SerializationFailed("not JSON", topic="t", partition=3, offset=7)
    again = pickle.loads(pickle.dumps(failed))
    assert (str(again), again.topic, again.partition, again.offset) == ("not JSON", "t", 3, 7)
    late = pickle.loads(pickle.dumps(errors.OperationTimedOut("late")))
    assert str(late) == "late" and late.retriable


def test_what_the_client_and_the_broker_both_refuse_is_caught_by_one_class() -> None:
    assert isinstance(ServerError(ErrorCode.MESSAGE_TOO_LARGE), errors.RecordTooLarge)
    assert isinstance(ServerError(ErrorCode.PRODUCER_FENCED), errors.ProducerFenced)
    assert isinstance(ServerError(ErrorCode.UNSUPPORTED_VERSION), errors.UnsupportedVersion)
    assert isinstance(ServerError(ErrorCode.TRANSACTION_ABORTABLE), errors.TransactionFailed)
    assert isinstance(ServerError(ErrorCode.GROUP_AUTHORIZATION_FAILED), errors.AuthorizationFailed)
    assert issubclass(errors.OperationTimedOut, TimeoutError)
    assert issubclass(errors.DeliveryTimedOut, TimeoutError)


def test_every_error_is_public_and_says_what_it_means() -> None:
    assert {each.__name__ for each in all_errors()} == set(ottla.errors.__all__) - {"ErrorCode"}
    for each in all_errors():
        assert inspect.getdoc(each), each
        assert getattr(ottla.errors, each.__name__) is each
