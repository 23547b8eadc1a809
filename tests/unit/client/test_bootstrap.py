"""The list of brokers to begin with."""

from __future__ import annotations

import pytest

from ottla.client.bootstrap import Directory, parse_bootstrap
from ottla.client.effects import ANY_BROKER
from ottla.client.errors import InvalidArgument
from ottla.client.view import Address, BrokerView, ClusterView


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("localhost:9092", [Address("localhost", 9092)]),
        ("a:1, b:2,", [Address("a", 1), Address("b", 2)]),
        ("a", [Address("a", 9092)]),
        ("[::1]:19092", [Address("::1", 19092)]),
        ("[::1]", [Address("::1", 9092)]),
        ("PLAINTEXT://a:5", [Address("a", 5)]),
    ],
)
def test_addresses_are_read_as_kafka_writes_them(text: str, expected: list[Address]) -> None:
    assert parse_bootstrap(text) == expected


@pytest.mark.parametrize(
    "text", ["", ",", "a:", "a:b", "a:0", "a:65536", ":9092", "::1:9092", "[::1", "[::1]9092"]
)
def test_what_is_not_an_address_is_refused_with_what_to_write(text: str) -> None:
    with pytest.raises(InvalidArgument, match="host:port"):
        parse_bootstrap(text)


def test_any_broker_means_the_known_ones_before_the_bootstrap_list() -> None:
    directory = Directory([Address("seed", 1)])
    assert directory.candidates(ANY_BROKER) == [Address("seed", 1)]
    directory.update(ClusterView(brokers={5: BrokerView(5, Address("five", 2))}))
    assert directory.candidates(ANY_BROKER) == [Address("five", 2), Address("seed", 1)]
    assert directory.candidates(5) == [Address("five", 2)]
    assert directory.candidates(6) == []
