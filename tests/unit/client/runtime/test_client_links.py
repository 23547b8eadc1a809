"""Links to brokers, with connections that the test opens, answers and breaks, and a clock set by hand."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from scripted_shell import Shell

from ottla.client.effects import ANY_BROKER, Call, CallMany, ClientSteps
from ottla.client.errors import (
    BrokerUnavailable,
    InvalidConfig,
    ProtocolError,
    RequestTimedOut,
    UnsupportedVersion,
)
from ottla.client.runtime.link import LinkState
from ottla.client.settings import SecuritySettings
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from ottla.wire.messages.metadata import MetadataRequest, MetadataResponse
from ottla.wire.messages.produce import ProduceRequest


def ask(node_id: int = ANY_BROKER, **options: Any) -> ClientSteps[Any]:
    return (yield Call(node_id, MetadataRequest(topics=[]), **options))


def refused() -> OSError:
    return ConnectionRefusedError(111, "Connection refused")


def test_a_connection_begins_with_api_versions_and_then_sends_what_waited() -> None:
    shell = Shell()
    first, second = shell.start(ask()), shell.start(ask())
    wire = shell.wire
    assert wire.count == 0  # not connected yet
    wire.link.opened()
    assert [type(message) for message, _, _ in wire.sent] == [ApiVersionsRequest]
    wire.say_hello()
    assert [type(message) for message, _, _ in wire.sent] == [MetadataRequest, MetadataRequest]
    wire.brokers(1)
    wire.brokers(2)
    shell.settle()
    assert [b.node_id for b in first.result().brokers] == [1]
    assert [b.node_id for b in second.result().brokers] == [2]
    assert len(shell.dialer.wires) == 1


def test_an_old_broker_is_asked_again_in_version_zero() -> None:
    """KIP-511: an unknown version of ApiVersions is answered with error 35 in version 0."""
    shell = Shell()
    asked = shell.start(ask())
    wire = shell.wire
    wire.link.opened()
    _, _, correlation_id = wire.sent.pop(0)
    wire.link.received(bytearray(correlation_id.to_bytes(4, "big") + b"\x00\x23" + bytes(4)))
    assert [version for _, version, _ in wire.sent] == [0]
    wire.say_hello()
    wire.brokers(1)
    shell.settle()
    assert asked.result().brokers[0].node_id == 1


def test_the_newest_version_that_both_sides_speak_is_used() -> None:
    shell = Shell()
    shell.start(ask())
    shell.start(ask(version_max=5))
    shell.wire.link.opened()
    shell.wire.say_hello({"Metadata": (0, 7)})
    assert [version for _, version, _ in shell.wire.sent] == [7, 5]


def test_an_api_that_the_broker_lacks_fails_that_call_only() -> None:
    shell = Shell()

    def many() -> ClientSteps[Any]:
        return (yield CallMany([Call(ANY_BROKER, MetadataRequest(topics=[]), version_max=0) for _ in "ab"]))

    bad = shell.start(ask(version_max=0))
    good = shell.start(ask())
    shell.wire.link.opened()
    shell.wire.say_hello({"Metadata": (4, 12)})
    shell.wire.brokers(1)
    shell.settle()
    with pytest.raises(UnsupportedVersion):
        bad.result()
    assert good.done and good.error is None
    both = shell.start(many())
    assert all(isinstance(answer.error, UnsupportedVersion) for answer in both.result())
    assert not shell.wire.closed


def test_acks_0_is_done_when_it_is_written() -> None:
    shell = Shell()

    def produce() -> ClientSteps[Any]:
        request = ProduceRequest(acks=0, timeout_ms=1)
        return (yield Call(ANY_BROKER, request, answered=False, version_max=9))

    sent = shell.start(produce())
    asked = shell.start(ask())
    assert not sent.done
    shell.wire.accept()
    shell.settle()
    assert sent.done and sent.result() is None
    del shell.wire.sent[0]  # nothing comes back for it
    shell.wire.brokers(1)
    shell.settle()
    assert asked.done


def test_acks_0_is_not_done_before_its_bytes_have_left() -> None:
    """Otherwise a broker that reads slowly has the client keep without bound what buffer.memory no longer
    counts.
    """
    shell = Shell(request_timeout_ms=1_000)
    shell.ready_node(1)
    shell.wire.backed_up = True

    def produce() -> ClientSteps[Any]:
        request = ProduceRequest(acks=0, timeout_ms=1)
        return (yield Call(ANY_BROKER, request, answered=False, version_max=9))

    sent = shell.start(produce())
    shell.pass_time(500)
    assert not sent.done
    shell.wire.backed_up = False
    shell.wire.link.drained()
    shell.settle()
    assert sent.done and sent.result() is None
    shell.wire.backed_up = True
    stuck = shell.start(produce())
    shell.pass_time(1_001)
    assert isinstance(stuck.error, RequestTimedOut) and shell.wire.closed


def test_rates_are_right_when_nothing_has_happened_since() -> None:
    shell = Shell()
    shell.ready_node(1)
    for _ in range(9):
        shell.start(ask())
    shell.pass_time(1_000)
    shown = shell.metrics.snapshot()["admin-client-metrics"]
    assert shown["request-total"] == 10 and shown["request-rate"] == 10


# -- which link --


def test_a_broker_may_send_the_client_back_to_the_bootstrap_servers() -> None:
    """KIP-1102: REBOOTSTRAP_REQUIRED; the connection to that broker is not asked again."""
    shell = Shell("seed:9092")
    shell.ready_node(1)
    shell.start(ask(1))
    shell.wire.accept()
    shell.wire.brokers(1)
    shell.settle()
    seed, one = shell.dialer.wires
    seed.link.close("it was idle")
    asked = shell.start(shell.cluster.refresh(()))
    one.answer(MetadataResponse(error_code=ErrorCode.REBOOTSTRAP_REQUIRED))
    shell.settle()
    assert shell.wire.endpoint == "seed:9092" and not one.sent
    shell.wire.accept()
    shell.wire.brokers(7)
    shell.settle()
    assert list(asked.result().brokers) == [7]
    shell.start(ask())
    assert len(one.sent) + len(shell.wire.sent) == 1  # from here on any of them will do


def test_a_node_is_reached_at_the_address_that_it_announced() -> None:
    shell = Shell()
    shell.ready_node(1, 2)
    shell.start(ask(2))
    assert shell.wire.endpoint == "host2:9092"


def test_a_node_at_the_bootstrap_address_shares_its_connection() -> None:
    shell = Shell("host1:9092")
    shell.ready_node(1)
    shell.start(ask(1))
    assert len(shell.dialer.wires) == 1


def test_each_lane_is_a_connection_of_its_own() -> None:
    """A broker answers one connection in order, and may hold a join or a fetch for long."""
    shell = Shell("host1:9092")
    shell.ready_node(1)
    for lane in (0, 1, 2, 1):
        shell.start(ask(1, lane=lane))
    assert [wire.link.lane for wire in shell.dialer.wires] == [0, 1, 2]


def test_an_unknown_node_is_unavailable_and_nothing_was_sent() -> None:
    shell = Shell()
    asked = shell.start(ask(7))
    with pytest.raises(BrokerUnavailable, match="node 7") as caught:
        asked.result()
    assert caught.value.unsent


def test_any_broker_is_the_least_loaded_that_is_connected() -> None:
    shell = Shell()
    seed = shell.ready_node(1, 2)
    shell.start(ask(2))
    shell.wire.accept()
    two = shell.wire
    shell.start(ask())  # to the seed: the other one has a request under way
    assert (len(seed.sent), len(two.sent)) == (1, 1)
    shell.start(ask(2))
    shell.start(ask())
    assert (len(seed.sent), len(two.sent)) == (2, 2)


def test_a_connection_for_long_polls_is_not_any_broker() -> None:
    shell = Shell("host1:9092")
    shell.start(ask())
    shell.wire.accept()
    shell.wire.brokers(1)
    shell.settle()
    shell.wire.link.close("test")
    shell.directory.update(shell.cluster.view)
    shell.start(shell.cluster.refresh(()))
    shell.wire.accept()
    shell.wire.brokers(1)
    shell.settle()
    general = shell.wire
    shell.start(ask(1, lane=3))
    shell.wire.accept()
    shell.start(ask())
    assert len(general.sent) == 1


def test_bootstrap_servers_are_tried_in_turn_until_one_answers() -> None:
    shell = Shell("a:1,b:2,c:3")
    shell.dialer.refused["a:1"] = refused()
    asked = shell.start(ask())
    assert [wire.endpoint for wire in shell.dialer.wires] == ["b:2"]
    shell.wire.link.lost("it closed the connection")
    assert [wire.endpoint for wire in shell.dialer.wires] == ["b:2", "c:3"]
    shell.wire.accept()
    shell.wire.brokers(1)
    shell.settle()
    assert asked.done and asked.error is None


def test_when_nobody_answers_all_addresses_are_named() -> None:
    shell = Shell("a:1,b:2")
    shell.dialer.refused.update({"a:1": refused(), "b:2": refused()})
    asked = shell.start(ask())
    with pytest.raises(BrokerUnavailable, match="Connection refused") as caught:
        asked.result()
    assert caught.value.address == "a:1,b:2"
    assert caught.value.unsent


def test_a_peer_of_another_protocol_among_dead_ones_is_what_is_reported() -> None:
    shell = Shell("a:1,b:2")
    shell.dialer.refused["a:1"] = refused()
    asked = shell.start(ask())
    shell.wire.link.opened()
    shell.wire.link.broke(ProtocolError("it is a web server"))
    shell.settle()
    with pytest.raises(ProtocolError, match="b:2: it is a web server"):
        asked.result()


def test_the_brokers_that_are_known_are_tried_before_the_bootstrap_servers() -> None:
    shell = Shell("seed:1")
    wire = shell.ready_node(1, 2)
    wire.link.lost("it closed the connection")
    shell.start(ask())
    assert shell.wire.endpoint == "host1:9092"
    shell.wire.link.lost("gone")
    assert shell.wire.endpoint == "host2:9092"
    shell.wire.link.lost("gone")
    shell.pass_time(100)  # the seed's back-off
    assert shell.wire.endpoint == "seed:1"


# -- names and addresses --


def test_every_address_of_a_name_is_tried() -> None:
    """client.dns.lookup=use_all_dns_ips."""
    shell = Shell("seed:9092")
    shell.dialer.names["seed"] = ["::1", "127.0.0.1", "127.0.0.2"]
    shell.dialer.refused["::1"] = refused()
    asked = shell.start(ask())
    shell.wire.link.lost("Connection refused")
    assert [wire.endpoint for wire in shell.dialer.wires] == ["127.0.0.1", "127.0.0.2"]
    assert shell.dialer.wires[0].closed
    shell.wire.accept()
    shell.wire.brokers(1)
    shell.settle()
    assert asked.done and asked.error is None


def test_a_name_that_does_not_exist_says_so() -> None:
    shell = Shell("nowhere:9092")
    shell.dialer.names["nowhere"] = OSError(-2, "Name or service not known")
    asked = shell.start(ask())
    with pytest.raises(BrokerUnavailable, match="Name or service not known"):
        asked.result()


def test_an_answer_of_the_resolver_that_comes_after_the_end_is_ignored() -> None:
    shell = Shell()
    shell.dialer.delayed = []
    asked = shell.start(ask(timeout_ms=100))
    shell.pass_time(100)
    assert isinstance(asked.error, RequestTimedOut)
    shell.links.close()
    shell.dialer.delayed[0]()
    assert not shell.dialer.wires


# -- time --


def test_a_connection_that_is_not_made_in_time_is_given_up() -> None:
    """socket.connection.setup.timeout.ms, which doubles with every failure up to its maximum."""
    shell = Shell(socket_connection_setup_timeout_ms=1000, socket_connection_setup_timeout_max_ms=3000)
    for timeout_ms in (1000, 2000, 3000, 3000):
        shell.pass_time(2000)  # the back-off after the attempt before
        asked = shell.start(ask())
        shell.pass_time(timeout_ms - 1)
        assert not asked.done
        shell.pass_time(1)
        with pytest.raises(BrokerUnavailable, match="the connection timed out"):
            asked.result()
        assert shell.wire.closed


def test_a_request_that_is_not_answered_in_time_costs_the_connection() -> None:
    """What follows on it would be the late answer; the others on it learn that it broke."""
    shell = Shell(request_timeout_ms=1000)
    wire = shell.ready_node(1)
    slow = shell.start(ask())
    shell.pass_time(500)
    other = shell.start(ask())
    shell.pass_time(499)
    assert not slow.done
    shell.pass_time(1)
    assert wire.closed
    with pytest.raises(RequestTimedOut, match="seed:9092"):
        slow.result()
    with pytest.raises(BrokerUnavailable) as caught:
        other.result()
    assert not caught.value.unsent


def test_a_call_may_have_its_own_time() -> None:
    shell = Shell(request_timeout_ms=1000)
    shell.ready_node(1)
    long, short = shell.start(ask(timeout_ms=5000)), shell.start(ask(timeout_ms=100))
    shell.pass_time(100)
    assert isinstance(short.error, RequestTimedOut)
    assert isinstance(long.error, BrokerUnavailable)


def test_a_silent_peer_is_timed_out_before_anything_is_agreed() -> None:
    shell = Shell(request_timeout_ms=1000)
    asked = shell.start(ask())
    shell.wire.link.opened()
    shell.pass_time(1000)
    with pytest.raises(RequestTimedOut, match="seed:9092 did not answer in time"):
        asked.result()
    shell.pass_time(1)
    assert shell.wire.closed


def test_answers_in_time_leave_no_timers_behind() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    before = len(shell.scheduler._timers)
    for _ in range(100):
        shell.start(ask())
        wire.brokers(1)
        shell.settle()
    assert len(shell.scheduler._timers) <= before + 1


def test_reconnecting_backs_off_longer_each_time_up_to_the_maximum() -> None:
    """reconnect.backoff.ms, doubled per failure up to reconnect.backoff.max.ms."""
    shell = Shell(reconnect_backoff_ms=50, reconnect_backoff_max_ms=1000)
    shell.dialer.refused["seed:9092"] = refused()
    assert shell.start(ask()).done  # the first attempt is made at once
    for wait_ms in (50, 100, 200, 400, 800, 1000, 1000):
        asked = shell.start(ask())
        shell.pass_time(wait_ms - 1)
        assert not asked.done
        shell.pass_time(1)
        assert asked.done


def test_a_connection_that_worked_begins_its_back_off_anew() -> None:
    shell = Shell(reconnect_backoff_ms=50, reconnect_backoff_max_ms=1000)
    shell.dialer.refused["seed:9092"] = refused()
    for _ in range(5):
        shell.start(ask())
        shell.pass_time(2000)
    shell.dialer.refused.clear()
    shell.ready_node(1).link.lost("gone")
    count = len(shell.dialer.wires)
    shell.cluster.view = shell.cluster.view.__class__()
    shell.directory.update(shell.cluster.view)
    shell.start(ask())
    shell.pass_time(50)
    assert len(shell.dialer.wires) == count + 1


def test_an_idle_connection_is_closed_and_opened_again_when_it_is_needed() -> None:
    """connections.max.idle.ms."""
    shell = Shell("host1:9092", connections_max_idle_ms=10_000)
    wire = shell.ready_node(1)
    shell.pass_time(6000)
    shell.start(ask(1))
    wire.brokers(1)
    shell.settle()
    shell.pass_time(6000)
    assert not wire.closed
    shell.pass_time(4000)
    assert wire.closed
    shell.start(ask(1))
    assert len(shell.dialer.wires) == 2  # without any back-off: nothing was wrong


def test_a_connection_with_a_request_under_way_is_not_idle() -> None:
    shell = Shell(connections_max_idle_ms=1000, request_timeout_ms=60_000)
    wire = shell.ready_node(1)
    asked = shell.start(ask())
    shell.pass_time(30_000)
    assert not wire.closed
    wire.brokers(1)
    shell.settle()
    assert asked.done


def test_a_negative_idle_time_keeps_connections_for_ever() -> None:
    shell = Shell(connections_max_idle_ms=-1)
    wire = shell.ready_node(1)
    shell.pass_time(1e9)
    assert not wire.closed


# -- the end of a connection --


def test_a_connection_that_breaks_fails_everybody_on_it_and_says_why(
    caplog: pytest.LogCaptureFixture,
) -> None:
    shell = Shell("host1:9092")
    wire = shell.ready_node(1)
    asked = [shell.start(ask()) for _ in range(3)]
    with caplog.at_level(logging.INFO, "ottla.client"):
        wire.link.lost("Connection reset by peer")
    shell.settle()
    for each in asked:
        with pytest.raises(BrokerUnavailable, match=r"host1:9092 \(Connection reset by peer\)"):
            each.result()
    assert "host1:9092 (node 1)" in caplog.text and "Connection reset by peer" in caplog.text


def test_an_outage_is_logged_once_and_not_with_every_attempt(caplog: pytest.LogCaptureFixture) -> None:
    shell = Shell()
    shell.dialer.refused["seed:9092"] = refused()
    with caplog.at_level(logging.INFO, "ottla.client"):
        for _ in range(5):
            shell.start(ask())
            shell.pass_time(2000)
    assert caplog.text.count("could not connect") == 1
    assert "seed:9092" in caplog.text and "Connection refused" in caplog.text


def test_a_request_that_waited_for_a_connection_in_vain_was_not_sent() -> None:
    shell = Shell()
    shell.ready_node(1)
    asked = shell.start(ask(1))
    shell.wire.link.lost("gone")
    shell.settle()
    assert isinstance(asked.error, BrokerUnavailable) and asked.error.unsent


def test_an_answer_that_cannot_be_read_ends_the_connection() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    first, second = shell.start(ask()), shell.start(ask())
    wire.link.received(bytearray(wire.sent[0][2].to_bytes(4, "big") + b"\x00\xff\xff\xff"))
    shell.settle()
    with pytest.raises(ProtocolError, match="seed:9092"):
        first.result()
    assert isinstance(second.error, BrokerUnavailable) and wire.closed


def test_an_answer_to_another_request_ends_the_connection() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    asked = shell.start(ask())
    message, version, correlation_id = wire.sent[0]
    wire.sent[0] = (message, version, correlation_id + 1)
    wire.brokers(1)
    shell.settle()
    assert isinstance(asked.error, ProtocolError) and wire.closed


def test_an_answer_to_nothing_ends_the_connection() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    wire.link.received(bytearray(10))
    assert wire.closed


def test_the_answer_to_a_call_that_was_given_up_is_dropped_and_the_next_one_served() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    given_up, next_one = shell.start(ask()), shell.start(ask())
    given_up.cancel()
    wire.brokers(7)
    wire.brokers(8)
    shell.settle()
    assert [b.node_id for b in next_one.result().brokers] == [8]


def test_a_call_that_was_given_up_before_the_connection_stood_is_not_sent() -> None:
    shell = Shell()
    given_up, kept = shell.start(ask()), shell.start(ask())
    given_up.cancel()
    shell.wire.accept()
    assert len(shell.wire.sent) == 1
    shell.wire.brokers(1)
    shell.settle()
    assert kept.done


def test_disconnecting_fails_what_is_under_way_and_the_next_call_connects_at_once() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    asked = shell.start(ask())
    shell.links.close_connections("asked for")
    shell.settle()
    assert wire.closed and isinstance(asked.error, BrokerUnavailable)
    shell.start(shell.cluster.refresh(()))
    shell.wire.accept()
    shell.wire.brokers(1)
    assert not shell.wire.closed


# -- security, metrics --


def test_security_that_is_not_there_yet_is_refused_at_once() -> None:
    with pytest.raises(InvalidConfig, match="SASL_SSL"):
        Shell(security=SecuritySettings(protocol="SASL_SSL"))


def test_handshakes_are_carried_out_before_anything_else() -> None:
    """The seam for SASL: each step sends frames and gets the answers' frames."""
    shell = Shell()
    heard: list[tuple[str, bytes]] = []

    def step(conversation: Any, address: Address) -> Any:
        request = FindCoordinatorRequest(key="who are you")
        frame = yield conversation._encode(request, request.API_KEY, 3, answered=True)
        heard.append((str(address), bytes(conversation.answer(frame).host.encode())))

    shell.links.handshakes.append(step)
    asked = shell.start(ask())
    wire = shell.wire
    wire.link.opened()
    assert [type(message) for message, _, _ in wire.sent] == [FindCoordinatorRequest]
    wire.answer(FindCoordinatorResponse(host="a friend"))
    wire.say_hello()
    wire.brokers(1)
    shell.settle()
    assert heard == [("seed:9092", b"a friend")] and asked.done


def test_traffic_is_counted_under_kafkas_names() -> None:
    shell = Shell()
    wire = shell.ready_node(1)
    shell.start(ask())
    shell.clock.elapsed_ms += 5
    wire.brokers(1)
    shell.settle()
    shown = shell.metrics.snapshot()["admin-client-metrics"]
    assert shown["connection-count"] == 1 and shown["connection-creation-total"] == 1
    assert shown["request-total"] == 2 and shown["response-total"] == 2
    assert shown["outgoing-byte-total"] > 0 and shown["incoming-byte-total"] > 0
    assert shown["request-latency-max"] == 5
    wire.link.lost("gone")
    shown = shell.metrics.snapshot()["admin-client-metrics"]
    assert shown["connection-count"] == 0 and shown["connection-close-total"] == 1


def test_a_link_shows_its_state() -> None:
    shell = Shell()
    shell.start(ask())
    assert shell.wire.link.state is LinkState.CONNECTING
    shell.wire.accept()
    assert shell.wire.link.state is LinkState.READY
