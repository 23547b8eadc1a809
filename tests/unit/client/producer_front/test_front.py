"""What `send` makes of its arguments, and when it has to wait."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from scripted_core import NOW_MS, ScriptedCore, carry_out, topic_view

from ottla.client.errors import (
    BufferFull,
    ClientClosed,
    InvalidArgument,
    InvalidConfig,
    OttlaError,
    SerializationFailed,
)
from ottla.client.producing.batch import Delivery
from ottla.client.producing.front import Front
from ottla.client.producing.interceptors import ProducerRecord
from ottla.client.producing.partitioners import Partitions
from ottla.client.records import RecordMetadata
from ottla.client.settings import ProducerSettings
from ottla.wire.record_writer import partition_of_key


def front(core: ScriptedCore, **settings: Any) -> Front:
    return Front(core, ProducerSettings(bootstrap_servers="x:1", **settings), nullcontext())  # type: ignore[arg-type]


def send(front: Front, topic: Any, value: Any = None, key: Any = None, **more: Any) -> Delivery:
    given = SimpleNamespace(headers=None, partition=None, timestamp=None, on_delivery=None)
    given.__dict__.update(more)
    sent = front.send(topic, value, key, given.headers, given.partition, given.timestamp, given.on_delivery)
    return sent if isinstance(sent, Delivery) else carry_out(sent)


# --- arguments ------------------------------------------------------------------------------------------


def test_bytes_go_into_the_batch_as_they_are_with_the_time_of_now() -> None:
    core = ScriptedCore(t=1)
    send(front(core), "t", b"value")
    assert core.appended == [("t", 0, None, b"value", (), NOW_MS, None)]
    assert core.waited == []


def test_everything_that_was_given_arrives() -> None:
    core = ScriptedCore(t=9)
    heard = print
    send(
        *(front(core), "t", "value", "key"),
        headers={"h": "č"},
        partition=3,
        timestamp=5,
        on_delivery=heard,
    )
    assert core.appended == [("t", 3, b"key", b"value", (("h", "č".encode()),), 5, heard)]


def test_the_partition_of_a_key_is_that_of_its_bytes() -> None:
    core = ScriptedCore(t=100)
    send(front(core, key_serializer="long"), "t", b"v", 77)
    assert core.appended[0][1] == partition_of_key((77).to_bytes(8, "big"), 100)


def test_none_is_a_tombstone_whatever_the_serializer() -> None:
    core = ScriptedCore(t=1)
    send(front(core, value_serializer="json", key_serializer="string"), "t", None, "k")
    assert core.appended[0][2:4] == (b"k", None)


@pytest.mark.parametrize(
    ("headers", "pairs"),
    [
        ({"a": b"1", "b": None}, (("a", b"1"), ("b", None))),
        ([("a", "1"), ("a", bytearray(b"2"))], (("a", b"1"), ("a", b"2"))),
        ((("a", memoryview(b"1")),), (("a", b"1"),)),
        ([["a", b""]], (("a", b""),)),
        ([], ()),
        ({}, ()),
        (iter([("a", b"1")]), (("a", b"1"),)),
    ],
)
def test_headers_are_a_mapping_or_pairs_and_may_repeat(headers: Any, pairs: Any) -> None:
    core = ScriptedCore(t=1)
    send(front(core), "t", b"", headers=headers)
    assert core.appended[0][4] == pairs


@pytest.mark.parametrize(
    "headers", [5, [5], [("a",)], [("a", 1)], [(b"a", b"1")], {"a": {}}, [("a", b"", 1)]]
)
def test_headers_of_another_kind_are_refused(headers: Any) -> None:
    core = ScriptedCore(t=1)
    with pytest.raises(InvalidArgument, match="header"):
        send(front(core), "t", b"", headers=headers)
    assert core.appended == []


@pytest.mark.parametrize(
    ("timestamp", "expected"),
    [(0, 0), (1_234, 1_234), (datetime(2024, 1, 2, 3, 4, 5, 678_000, UTC), 1_704_164_645_678)],
)
def test_a_timestamp_is_milliseconds_or_a_datetime(timestamp: Any, expected: int) -> None:
    core = ScriptedCore(t=1)
    send(front(core), "t", b"", timestamp=timestamp)
    assert core.appended[0][5] == expected


@pytest.mark.parametrize("timestamp", [-1, 1.5, "now", True, 2**63, datetime(1969, 1, 1, tzinfo=UTC)])
def test_another_timestamp_is_refused(timestamp: Any) -> None:
    # Java: IllegalArgumentException for a negative one. Floats are refused since they are probably seconds.
    with pytest.raises(InvalidArgument, match="timestamp"):
        send(front(ScriptedCore(t=1)), "t", b"", timestamp=timestamp)


@pytest.mark.parametrize("topic", [None, 5, b"bytes", ["list"], "", ".", "..", "a b", "č", "x" * 250])
def test_an_illegal_topic_is_refused_before_anybody_is_asked(topic: Any) -> None:
    core = ScriptedCore()
    with pytest.raises(InvalidArgument, match="topic"):
        send(front(core), topic, b"")
    assert core.waited == []


@pytest.mark.parametrize("partition", [-1, "0", 1.0, True])
def test_what_is_no_partition_is_refused_at_once(partition: Any) -> None:
    core = ScriptedCore(t=4)
    with pytest.raises(InvalidArgument, match="partition"):
        send(front(core), "t", b"", partition=partition)
    assert core.appended == []


def test_a_serializer_that_fails_leaves_nothing_behind() -> None:
    core = ScriptedCore(t=1)

    def bad(value: Any) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(SerializationFailed, match="value_serializer"):
        send(front(core, value_serializer=bad), "t", 5)
    with pytest.raises(SerializationFailed, match="key_serializer returned list and not bytes"):
        send(front(core, key_serializer=lambda key: [key]), "t", b"", 5)
    with pytest.raises(SerializationFailed, match=r"int.*set value_serializer"):
        send(front(core), "t", 5)
    assert core.appended == []


def test_a_serializer_may_add_headers() -> None:
    core = ScriptedCore(t=1)

    def with_schema(topic: str, headers: list[Any], value: Any) -> str:
        headers.append(("schema", "7"))
        return f"{topic}:{value}"

    send(front(core, value_serializer=with_schema), "t", 5, headers={"a": b"1"})
    assert core.appended[0][3:5] == (b"t:5", (("a", b"1"), ("schema", b"7")))


# --- waiting --------------------------------------------------------------------------------------------


def test_a_topic_that_is_not_known_is_waited_for() -> None:
    core = ScriptedCore()
    core.later_topics["t"] = topic_view("t", 4)
    send(front(core), "t", b"v", "k")
    assert core.waited == ["topic", "memory"]
    assert core.appended[0][:4] == ("t", partition_of_key(b"k", 4), b"k", b"v")


def test_a_full_buffer_is_waited_for_and_the_serializers_run_once() -> None:
    core = ScriptedCore(t=4)
    core.room = 0
    made: list[Any] = []

    def once(value: Any) -> bytes:
        made.append(value)
        return b"made"

    send(front(core, value_serializer=once), "t", 5)
    assert made == [5]
    assert core.waited == ["memory"]
    assert core.appended[0][3] == b"made"


def test_a_buffer_that_stays_full_is_an_error() -> None:
    core = ScriptedCore(t=4)
    core.room, core.room_comes = 0, False
    with pytest.raises(BufferFull):
        send(front(core), "t", b"v")


def test_a_partition_that_does_not_exist_yet_is_looked_for_once() -> None:
    # Partitions may have been added since the metadata came.
    core = ScriptedCore(t=4)
    with pytest.raises(InvalidArgument, match="4 is no partition of topic t, which has 4"):
        send(front(core), "t", b"", partition=4)
    assert core.session.metadata.requests == 1
    core.topics["t"] = topic_view("t", 4)
    core.session.metadata.request = lambda: core.topics.update(t=topic_view("t", 5))  # type: ignore[method-assign]
    send(front(core), "t", b"", partition=4)
    assert core.appended[0][1] == 4


# --- a user's partitioner -------------------------------------------------------------------------------


@pytest.mark.parametrize("known", [True, False])
def test_a_users_partitioner_decides_with_the_objects_that_were_given(known: bool) -> None:
    core = ScriptedCore(**({"t": 3} if known else {}))
    core.later_topics["t"] = topic_view("t", 3)
    seen: list[Any] = []

    def own(topic: str, key: Any, value: Any, partitions: Partitions) -> int:
        seen.append((topic, key, value, partitions))
        return 2

    send(front(core, partitioner=own, value_serializer="json"), "t", {"a": 1}, "k")
    assert core.appended[0][1] == 2
    assert seen == [("t", "k", {"a": 1}, Partitions(3, [0, 1, 2]))]


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("answer", [3, -1, None, "x"])
def test_a_users_partitioner_that_returns_nonsense_is_an_error_of_this_record(
    known: bool, answer: Any
) -> None:
    core = ScriptedCore(**({"t": 3} if known else {}))
    core.later_topics["t"] = topic_view("t", 3)
    own = front(core, partitioner=lambda *given: answer)
    with pytest.raises(InvalidArgument, match="no partition of topic t"):
        send(own, "t", b"")
    send(own, "t", b"", partition=1)
    assert [record[1] for record in core.appended] == [1]


def test_a_partitioner_that_is_neither_a_name_nor_a_function_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="partitioner"):
        front(ScriptedCore(), partitioner=7)


# --- interceptors ---------------------------------------------------------------------------------------


class Watcher:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_enqueue(self, record: ProducerRecord) -> ProducerRecord:
        return record._replace(topic="other", value=record.value.upper(), headers={"seen": "1"})

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        self.heard.append((metadata, error))


def test_an_interceptor_may_change_everything_before_it_is_serialized() -> None:
    core = ScriptedCore(other=1)
    send(front(core, interceptors=[Watcher()]), "t", "text")
    assert core.appended[0][0] == "other"
    assert core.appended[0][3:5] == (b"TEXT", (("seen", b"1"),))


def test_acknowledgements_reach_interceptor_and_callback() -> None:
    core = ScriptedCore(other=1)
    watcher = Watcher()
    heard: list[Any] = []
    send(front(core, interceptors=[watcher]), "t", "text", on_delivery=lambda *outcome: heard.append(outcome))
    callback = core.appended[0][6]
    stored = RecordMetadata("other", 0, 5, NOW_MS)
    error = OttlaError("lost")
    callback(stored, None)
    callback(None, error)
    assert watcher.heard == [(stored, None), (RecordMetadata("other", -1, -1, -1), error)]
    assert heard == [(stored, None), (None, error)]


@pytest.mark.parametrize("known", [True, False])
def test_a_record_that_send_refuses_is_acknowledged_with_its_error(known: bool) -> None:
    # Java's onSendError.
    core = ScriptedCore(**({"other": 1} if known else {}))
    core.later_topics["other"] = topic_view("other", 1)
    core.room, core.room_comes = 0, False
    watcher = Watcher()
    with pytest.raises(BufferFull) as caught:
        send(front(core, interceptors=[watcher]), "t", "text")
    assert watcher.heard == [(RecordMetadata("other", -1, -1, -1), caught.value)]


def test_the_sender_is_given_the_hook_only_where_somebody_listens() -> None:
    class Listens:
        def on_send(self, batch: Any) -> None: ...

    core = ScriptedCore()
    front(core)
    assert core.before_send is None
    front(core, interceptors=[Listens()])
    assert core.before_send is not None


# --- the end --------------------------------------------------------------------------------------------


def test_after_close_send_says_that_the_producer_is_closed() -> None:
    core = ScriptedCore(t=1)
    closing = front(core, interceptors=[Watcher()])
    closing.close()
    with pytest.raises(ClientClosed):
        send(closing, "t", "text")
    assert core.appended == []
