"""Names, classes and rebalance protocols of the client's assignors."""

from __future__ import annotations

import pytest
from assignor_groups import partitions

from ottla.assignors.protocol import (
    CLIENT_ASSIGNORS,
    COOPERATIVE_STICKY,
    RANGE,
    ROUND_ROBIN,
    STICKY,
    RebalanceProtocol,
    client_assignor,
    common_protocol,
)
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import PreviousAssignment, decode_generation, decode_previous_assignment


def test_the_names_are_those_that_members_of_other_languages_offer() -> None:
    assert list(CLIENT_ASSIGNORS) == ["range", "roundrobin", "sticky", "cooperative-sticky"]


def test_an_assignor_is_found_by_its_name_and_by_java_s_class() -> None:
    """`partition.assignment.strategy` of a configuration made for Java holds class names."""
    assert client_assignor("cooperative-sticky") is COOPERATIVE_STICKY
    assert client_assignor("org.apache.kafka.clients.consumer.RoundRobinAssignor") is ROUND_ROBIN
    assert client_assignor("org.apache.kafka.clients.consumer.Unheard") is None


def test_a_consumer_is_cooperative_only_if_all_its_assignors_are() -> None:
    """KIP-429: `[range, cooperative-sticky]`, the default, stays eager; that is the way to upgrade."""
    assert common_protocol([COOPERATIVE_STICKY]) is RebalanceProtocol.COOPERATIVE
    assert common_protocol([RANGE, COOPERATIVE_STICKY]) is RebalanceProtocol.EAGER
    assert common_protocol([STICKY]) is RebalanceProtocol.EAGER


def test_only_the_sticky_assignors_send_user_data() -> None:
    had = partitions("T0P1 T0P2")
    assert RANGE.user_data is None and ROUND_ROBIN.user_data is None
    assert STICKY.user_data is not None and COOPERATIVE_STICKY.user_data is not None
    assert decode_previous_assignment(STICKY.user_data(had, 4)) == PreviousAssignment(tuple(had), 4)
    assert decode_generation(COOPERATIVE_STICKY.user_data(had, 4)) == 4


@pytest.mark.parametrize("name", sorted(CLIENT_ASSIGNORS))
def test_every_assignor_of_the_table_assigns(name: str) -> None:
    assert CLIENT_ASSIGNORS[name].assign({"T0": 2}, {"C0": Subscription(("T0",))}, None) == {
        "C0": partitions("T0P0 T0P1")
    }
