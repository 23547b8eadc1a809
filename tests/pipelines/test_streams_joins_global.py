"""The table behind a GlobalKTable: read once, then only what is new; a broker, no Spark."""

from __future__ import annotations

import pickle

import pytest

import ottla
from ottla.streams import SerdeError
from ottla.streams.lowering.global_snapshot import GlobalSnapshot
from ottla.streams.lowering.global_tables import Look
from ottla.streams.serdes import json, serde_of
from support.broker_process import BrokerProcess


def _join(key: object, left: object, right: object) -> object:
    return key, left, right


def test_a_global_table_reads_what_is_new_and_begins_anew_with_a_new_topic(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    settings = {"bootstrap.servers": shared_broker.bootstrap}
    table = GlobalSnapshot(settings, topic_name, serde_of("string"), json())
    with ottla.Admin(shared_broker.bootstrap) as admin, ottla.Producer(shared_broker.bootstrap) as producer:
        admin.create_topics([ottla.NewTopic(topic_name, partitions=3)]).all()

        def put(*pairs: tuple[bytes | None, bytes | None]) -> None:
            for key, value in pairs:
                producer.send(topic_name, key=key, value=value)
            producer.flush()

        assert table.refresh() == 0
        put((b"a", b'{"n": 1}'), (b"b", b'"text"'), (b"a", b'{"n": 2}'), (None, b"7"), (b"c", b"3"))
        assert table.get("a") is None
        assert table.refresh() == 5
        assert table.refresh() == 0
        found = table.get("a")
        assert found == {"n": 2}
        found["n"] = 3  # a joiner may do what it likes with what it was given
        assert [table.get(key) for key in ("a", "b", "c", "d")] == [{"n": 2}, "text", 3, None]
        put((b"b", None), (b"c", b"null"), (b"d", b"true"))
        assert table.refresh() == 3
        assert [table.get(key) for key in ("b", "c", "d")] == [None, None, True]
        assert len(table) == 2

        string = serde_of("string")
        look = Look("app/table", "one", settings, topic_name, string, json(), left=False, join=_join)
        sent = pickle.loads(pickle.dumps(look))  # as each task gets it
        assert sent("k", "v", "d") == [("k", "v", True)]
        assert sent("k", "v", "x") == sent("k", "v", None) == []
        assert shared_broker.bootstrap not in repr(look)
        # The program is changed and started again, and Spark's worker is the same process.
        changed = Look("app/table", "two", settings, topic_name, string, string, left=False, join=_join)
        assert changed("k", "v", "d") == [("k", "v", "true")]

        put((b"bad", b"{"))
        with pytest.raises(SerdeError, match=rf"{topic_name}, partition \d, offset \d"):
            table.refresh()

        admin.delete_topics([topic_name]).all()
        admin.create_topics([ottla.NewTopic(topic_name, partitions=1)]).all()
        with ottla.Producer(shared_broker.bootstrap) as another:
            another.send(topic_name, key=b"e", value=b"5")
        assert table.refresh() == 1
        assert [table.get(key) for key in ("a", "e")] == [None, 5]


def test_a_global_table_takes_keys_that_python_cannot_hash(
    shared_broker: BrokerProcess, topic_name: str
) -> None:
    table = GlobalSnapshot(
        {"bootstrap.servers": shared_broker.bootstrap}, topic_name, json(), serde_of("long")
    )
    with ottla.Admin(shared_broker.bootstrap) as admin, ottla.Producer(shared_broker.bootstrap) as producer:
        admin.create_topics([ottla.NewTopic(topic_name, partitions=1)]).all()
        producer.send(topic_name, key=b'{"b": [1], "a": 2}', value=(9).to_bytes(8, "big"))
    table.refresh()
    assert table.get({"a": 2, "b": [1]}) == 9
    assert table.get({"a": 2}) is None
