"""Interceptors see records on their way, may change them, and can break nothing."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ottla.client.errors import InvalidConfig
from ottla.client.producing.interceptors import BatchInfo, Interceptors, ProducerRecord
from ottla.client.records import RecordMetadata


class Adds:
    def __init__(self, text: str) -> None:
        self.text = text

    def on_enqueue(self, record: ProducerRecord) -> ProducerRecord:
        return record._replace(value=record.value + self.text)


class Fails:
    def on_enqueue(self, record: ProducerRecord) -> ProducerRecord:
        raise RuntimeError("enqueue")

    def on_send(self, batch: BatchInfo) -> None:
        raise RuntimeError("send")

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        raise RuntimeError("acknowledgement")

    def close(self) -> None:
        raise RuntimeError("close")


class Listens:
    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_send(self, batch: BatchInfo) -> None:
        self.heard.append(batch)

    def on_acknowledgement(self, metadata: RecordMetadata, error: Exception | None) -> None:
        self.heard.append((metadata, error))

    def close(self) -> None:
        self.heard.append("closed")


def test_each_gets_what_the_one_before_it_returned() -> None:
    chain = Interceptors([Adds("1"), Adds("2")])
    assert chain.enqueue(ProducerRecord("t", "v")).value == "v12"


def test_one_that_raises_is_passed_over_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    # As Java's ProducerInterceptors: the next one gets what the last successful one returned.
    listener = Listens()
    chain = Interceptors([Adds("1"), Fails(), Adds("2"), listener])
    with caplog.at_level(logging.ERROR, "ottla.client"):
        assert chain.enqueue(ProducerRecord("t", "v")).value == "v12"
        chain.before_send("t", 0, 3, 100)
        chain.acknowledged(RecordMetadata("t", 0, 5, 1), None)
        chain.close()
    assert listener.heard == [BatchInfo("t", 0, 3, 100), (RecordMetadata("t", 0, 5, 1), None), "closed"]
    said = [str(record.exc_info[1]) for record in caplog.records if record.exc_info]
    assert said == ["enqueue", "send", "acknowledgement", "close"]


@pytest.mark.parametrize("nonsense", [None, 5, ("t", "v")])
def test_one_that_returns_no_record_changes_nothing(nonsense: Any, caplog: pytest.LogCaptureFixture) -> None:
    class Wrong:
        def on_enqueue(self, record: ProducerRecord) -> Any:
            return nonsense

    assert Interceptors([Wrong()]).enqueue(ProducerRecord("t", "v")) == ProducerRecord("t", "v")
    assert "on_enqueue" in caplog.text


def test_a_class_is_made_an_object_and_an_object_without_methods_is_refused() -> None:
    assert Interceptors([Listens]).acknowledges
    with pytest.raises(InvalidConfig, match="on_enqueue, on_send, on_acknowledgement"):
        Interceptors([object()])


def test_a_refused_record_is_acknowledged_with_its_error_and_no_offset() -> None:
    listener = Listens()
    error = ValueError("no")
    Interceptors([listener]).refused("t", None, error)
    assert listener.heard == [(RecordMetadata("t", -1, -1, -1), error)]


def test_closing_twice_tells_nobody_twice() -> None:
    listener = Listens()
    chain = Interceptors([listener])
    chain.close()
    chain.close()
    assert listener.heard == ["closed"]
