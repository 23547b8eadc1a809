"""What the consumer's tests share: a broker whose groups settle fast, and consumers that are closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from ottla.client.records import ConsumerRecord
from ottla.client.sync.consumer import Consumer
from support.broker_process import BrokerProcess
from support.group_members.fixtures import group_broker, write
from support.raw_client import RawClient

__all__ = ["group_broker", "write"]

MakeConsumer = Callable[..., Consumer]


@pytest.fixture
def consumer_of(group_broker: BrokerProcess, topic_name: str) -> Iterator[MakeConsumer]:
    """Makes consumers of the module's broker: `consumer_of("topic", group_protocol="consumer", ...)`."""
    made: list[Consumer] = []

    def make(*topics: str, **settings: Any) -> Consumer:
        options = {
            "bootstrap_servers": group_broker.bootstrap,
            "group_id": f"group-of-{topic_name}",
            "auto_offset_reset": "earliest",
            "fetch_max_wait_ms": 50,
            "metadata_max_age_ms": 500,
        }
        if settings.get("group_protocol", "classic") == "classic":
            options |= {"heartbeat_interval_ms": 100, "session_timeout_ms": 6000}
        consumer = Consumer(*topics, **{**options, **settings})
        made.append(consumer)
        return consumer

    yield make
    for consumer in made:
        consumer.close(timeout=5)


def create(broker: BrokerProcess, topic: str, partitions: int = 1, **options: Any) -> None:
    with RawClient(broker.port) as client:
        client.create_topic(topic, partitions, **options)


def poll_until(
    consumers: Sequence[Consumer] | Consumer,
    condition: Callable[[], Any],
    what: str,
    *,
    timeout_s: float = 30.0,
    seen: list[ConsumerRecord] | None = None,
) -> Any:
    """Polls everybody in turn until the condition holds; gives its value."""
    everybody = [consumers] if isinstance(consumers, Consumer) else list(consumers)
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        assert time.monotonic() < deadline, f"not within {timeout_s} s: {what}"
        for consumer in everybody:
            records = consumer.poll(timeout=0.03)
            if seen is not None:
                seen += records
    return found


def read(consumer: Consumer, count: int, timeout_s: float = 30.0) -> list[ConsumerRecord]:
    """Exactly so many records, polled."""
    found: list[ConsumerRecord] = []
    poll_until(consumer, lambda: len(found) >= count, f"{count} records", timeout_s=timeout_s, seen=found)
    assert len(found) == count
    return found
