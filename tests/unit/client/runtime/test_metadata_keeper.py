"""The keeper of metadata: what it asks for, and when. Scripted brokers, a clock set by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from scripted_shell import Shell, Wire

from ottla.client.errors import BrokerUnavailable, InvalidArgument, OperationTimedOut, ServerError
from ottla.client.metadata import Metadata
from ottla.client.settings import ConsumerSettings, ProducerSettings
from ottla.model.errors import ErrorCode
from ottla.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponseBroker,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from ottla.wire.messages.produce import NodeEndpoint


class Keeper:
    def __init__(self, kind: Any = ProducerSettings, **settings: Any) -> None:
        self.shell = Shell("host1:9092", **settings)
        self.settings = kind(bootstrap_servers="host1:9092", **settings)
        self.metadata = Metadata(self.shell.cluster, self.shell, self.settings)
        self.updates = 0

    @property
    def view(self) -> Any:
        return self.shell.cluster.view

    @property
    def wire(self) -> Wire:
        return self.shell.wire

    def connect(self) -> None:
        self.shell.settle()
        self.wire.accept()

    def asked(self) -> list[str] | None:
        """The topics of the one request that is open."""
        self.shell.settle()
        (request,) = [message for message, _, _ in self.wire.sent]
        assert isinstance(request, MetadataRequest)
        return None if request.topics is None else [topic.name or "" for topic in request.topics]

    @property
    def idle(self) -> bool:
        self.shell.settle()
        return not self.wire.sent

    def answer(
        self,
        topics: dict[str, list[int]],
        *,
        epoch: int = 1,
        errors: dict[str, int] | None = None,
        ids: dict[str, bytes] | None = None,
        brokers: Iterable[int] = (1, 2),
    ) -> None:
        """Each topic with the leaders of its partitions."""
        self.wire.answer(
            MetadataResponse(
                brokers=[MetadataResponseBroker(node_id=n, host=f"host{n}", port=9092) for n in brokers],
                controller_id=1,
                topics=[
                    MetadataResponseTopic(
                        name=name,
                        topic_id=(ids or {}).get(name, b"i" * 16),
                        error_code=(errors or {}).get(name, 0),
                        partitions=[
                            MetadataResponsePartition(
                                partition_index=index,
                                leader_id=leader,
                                leader_epoch=epoch,
                                replica_nodes=[1],
                                isr_nodes=[1],
                            )
                            for index, leader in enumerate(leaders)
                        ],
                    )
                    for name, leaders in topics.items()
                ],
            )
        )
        self.shell.settle()


def test_a_topic_that_is_wanted_and_not_known_is_asked_for_at_once() -> None:
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    assert keeper.asked() == ["a"]
    keeper.answer({"a": [1]})
    assert keeper.view.leader("a", 0) == 1
    keeper.metadata.want(["a"])
    assert keeper.idle
    keeper.metadata.want(["b"])
    keeper.shell.pass_time(100)
    assert keeper.asked() == ["a", "b"]


def test_producers_have_missing_topics_created_and_consumers_where_they_may() -> None:
    for kind, settings, create in (
        (ProducerSettings, {}, True),
        (ConsumerSettings, {}, True),
        (ConsumerSettings, {"allow_auto_create_topics": False}, False),
    ):
        shell = Shell("host1:9092")
        metadata = Metadata(shell.cluster, shell, kind(bootstrap_servers="host1:9092", **settings))
        metadata.want(["a"])
        shell.settle()
        shell.wire.accept()
        shell.settle()
        assert shell.wire.sent[0][0].allow_auto_topic_creation is create


def test_requests_for_a_refresh_are_joined_and_wait_for_the_back_off() -> None:
    """retry.backoff.ms: a leader that moves makes many find out at once."""
    keeper = Keeper(retry_backoff_ms=100)
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [1]})
    for _ in range(5):
        keeper.metadata.request()
    keeper.shell.pass_time(99)
    assert keeper.idle
    keeper.shell.pass_time(1)
    assert keeper.asked() == ["a"]
    keeper.answer({"a": [2]}, epoch=2)
    keeper.shell.pass_time(1000)
    assert keeper.idle


def test_a_request_that_comes_while_one_is_under_way_is_not_forgotten() -> None:
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.asked()
    keeper.metadata.request()  # what the broker is about to answer may be older than this
    keeper.answer({"a": [1]})
    keeper.shell.pass_time(100)
    assert keeper.asked() == ["a"]


def test_everything_is_asked_for_again_when_it_is_old() -> None:
    """metadata.max.age.ms."""
    keeper = Keeper(metadata_max_age_ms=60_000)
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [1]})
    keeper.shell.pass_time(59_999)
    assert keeper.idle
    keeper.shell.pass_time(1)
    assert keeper.asked() == ["a"]


@pytest.mark.parametrize(
    ("topics", "errors"),
    [({"a": []}, {"a": int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)}), ({"a": [1, -1]}, {})],
    ids=["it does not exist", "a partition has no leader"],
)
def test_what_is_missing_is_asked_for_again_with_growing_waits(
    topics: dict[str, list[int]], errors: dict[str, int]
) -> None:
    keeper = Keeper(retry_backoff_ms=100, retry_backoff_max_ms=400)
    keeper.metadata.want(["a"])
    keeper.connect()
    for wait_ms in (200, 400, 400):
        keeper.answer(topics, errors=errors)
        keeper.shell.pass_time(wait_ms - 1)
        assert keeper.idle
        keeper.shell.pass_time(1)
        assert keeper.asked() == ["a"]
    keeper.answer({"a": [1, 2]})
    keeper.shell.pass_time(10_000)
    assert keeper.idle


def test_a_topic_with_a_final_error_is_not_asked_for_again_and_again() -> None:
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": []}, errors={"a": int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)})
    keeper.shell.pass_time(10_000)
    assert keeper.idle


def test_a_topic_that_nobody_used_for_long_is_dropped() -> None:
    """metadata.max.idle.ms."""
    keeper = Keeper(metadata_max_age_ms=100_000, metadata_max_idle_ms=150_000)
    keeper.metadata.want(["a", "b"])
    keeper.connect()
    keeper.answer({"a": [1], "b": [1]})
    keeper.shell.pass_time(100_000)
    assert keeper.asked() == ["a", "b"]
    keeper.answer({"a": [1], "b": [1]})
    keeper.metadata.want(["b"])
    keeper.shell.pass_time(100_000)
    assert keeper.asked() == ["b"]


def test_a_consumers_topics_are_exactly_those_it_named_last() -> None:
    keeper = Keeper(ConsumerSettings)
    keeper.metadata.want_only(["a", "b"])
    keeper.connect()
    keeper.answer({"a": [1], "b": [1]})
    keeper.metadata.want_only(["b", "c"], create_missing=False)
    keeper.shell.pass_time(100)
    assert sorted(keeper.asked() or ()) == ["b", "c"]
    assert keeper.wire.sent[0][0].allow_auto_topic_creation is False
    keeper.answer({"b": [1], "c": [1]})
    keeper.metadata.want_only(None)
    keeper.shell.pass_time(100)
    assert keeper.asked() is None
    keeper.answer({"x": [1]})
    assert list(keeper.view.topics) == ["x"]


def test_waiting_for_a_topic_gives_it_once_it_is_there() -> None:
    keeper = Keeper()
    waiting = keeper.shell.start(keeper.metadata.await_topic("a", 60_000))
    keeper.connect()
    keeper.answer({"a": []}, errors={"a": int(ErrorCode.LEADER_NOT_AVAILABLE)})
    assert not waiting.done
    keeper.shell.pass_time(200)
    keeper.answer({"a": [1, 1]})
    assert len(waiting.result().partitions) == 2
    known = keeper.shell.start(keeper.metadata.await_topic("a", 0))
    assert known.done and keeper.idle


def test_waiting_for_a_topic_ends_with_the_deadline_and_the_reason() -> None:
    keeper = Keeper()
    waiting = keeper.shell.start(keeper.metadata.await_topic("a", 1000))
    keeper.connect()
    keeper.answer({"a": []}, errors={"a": int(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)})
    keeper.shell.pass_time(1000)
    with pytest.raises(OperationTimedOut, match="topic a") as caught:
        waiting.result()
    assert isinstance(caught.value.__cause__, ServerError)


def test_waiting_for_a_topic_of_a_cluster_that_is_away_ends_with_the_deadline_too() -> None:
    keeper = Keeper()
    keeper.shell.dialer.refused["host1:9092"] = ConnectionRefusedError(111, "Connection refused")
    waiting = keeper.shell.start(keeper.metadata.await_topic("a", 5000))
    keeper.shell.pass_time(4999)
    assert not waiting.done
    keeper.shell.pass_time(1)
    with pytest.raises(OperationTimedOut) as caught:
        waiting.result()
    assert isinstance(caught.value.__cause__, BrokerUnavailable)


def test_waiting_for_a_topic_that_is_forbidden_ends_at_once() -> None:
    keeper = Keeper()
    waiting = keeper.shell.start(keeper.metadata.await_topic("a", 60_000))
    keeper.connect()
    keeper.answer({"a": []}, errors={"a": int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)})
    with pytest.raises(ServerError) as caught:
        waiting.result()
    assert caught.value.code is ErrorCode.TOPIC_AUTHORIZATION_FAILED


def test_a_topic_that_was_forbidden_before_is_asked_for_anew() -> None:
    """Somebody may have been given the right meanwhile: as Java, every attempt looks."""
    keeper = Keeper()
    first = keeper.shell.start(keeper.metadata.await_topic("a", 60_000))
    keeper.connect()
    keeper.answer({"a": []}, errors={"a": int(ErrorCode.TOPIC_AUTHORIZATION_FAILED)})
    assert first.done
    second = keeper.shell.start(keeper.metadata.await_topic("a", 60_000))
    keeper.shell.pass_time(200)
    assert keeper.asked() == ["a"]
    keeper.answer({"a": [1]})
    assert second.result().name == "a"


def test_a_topic_without_partitions_is_not_there_yet() -> None:
    """No partitioner can choose among none."""
    keeper = Keeper()
    waiting = keeper.shell.start(keeper.metadata.await_topic("a", 60_000))
    keeper.connect()
    keeper.answer({"a": []})
    assert not waiting.done
    keeper.shell.pass_time(200)
    keeper.answer({"a": [1]})
    assert waiting.result().name == "a"


def test_a_topic_without_a_name_is_an_error_of_the_caller() -> None:
    keeper = Keeper()
    waiting = keeper.shell.start(keeper.metadata.await_topic("", 60_000))
    with pytest.raises(InvalidArgument):
        waiting.result()


def test_a_broker_that_is_behind_does_not_bring_back_an_old_leader() -> None:
    """Kafka's clients keep the newest leader epoch they have seen."""
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [2, 2]}, epoch=5)
    keeper.metadata.request()
    keeper.shell.pass_time(100)
    keeper.answer({"a": [1, 1]}, epoch=4)
    assert keeper.view.leader("a", 0) == 2
    keeper.metadata.request()
    keeper.shell.pass_time(100)
    keeper.answer({"a": [1, 1]}, epoch=6)
    assert keeper.view.leader("a", 0) == 1


def test_a_topic_that_was_created_anew_begins_with_new_epochs() -> None:
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [2]}, epoch=5)
    keeper.metadata.request()
    keeper.shell.pass_time(100)
    keeper.answer({"a": [1]}, epoch=0, ids={"a": b"j" * 16})
    assert keeper.view.partition("a", 0).leader_epoch == 0


def test_a_new_leader_in_a_response_is_taken_over_at_once() -> None:
    """KIP-951."""
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [1]}, epoch=5)
    endpoint = NodeEndpoint(node_id=9, host="host9", port=9092)
    assert not keeper.metadata.leader_moved("a", 0, 9, 5, [endpoint])
    assert not keeper.metadata.leader_moved("a", 0, 9, 6, [])  # who is that?
    assert not keeper.metadata.leader_moved("b", 0, 9, 6, [endpoint])
    woken = keeper.shell.start(_wait(keeper.metadata))
    assert keeper.metadata.leader_moved("a", 0, 9, 6, [endpoint])
    keeper.shell.settle()
    assert woken.done
    assert keeper.view.leader("a", 0) == 9
    assert [str(a) for a in keeper.shell.directory.candidates(9)] == ["host9:9092"]
    assert not keeper.metadata.leader_moved("a", 0, 9, 6, [endpoint])


def _wait(metadata: Metadata) -> Any:
    from ottla.client.effects import Wait

    return (yield Wait(metadata.updated))


def test_after_the_end_nothing_is_asked_any_more() -> None:
    keeper = Keeper()
    keeper.metadata.want(["a"])
    keeper.connect()
    keeper.answer({"a": [1]})
    keeper.metadata.close()
    keeper.metadata.want(["b"])
    keeper.shell.pass_time(1e7)
    assert keeper.idle and keeper.shell.scheduler.task_count == 0
