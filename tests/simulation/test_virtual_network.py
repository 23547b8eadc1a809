"""Simulated connections: order within one, none between several, losses that a client cannot tell apart."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ottla.broker.peer import Peer
from ottla.ports.disk import FileSlice
from ottla.ports.effects import Waiter
from ottla.testing.disk import VirtualDisk
from ottla.testing.network import (
    USED_FRAME,
    ClientEnd,
    ConnectionLost,
    NetworkFaults,
    ServerEnd,
    SimNetwork,
    Unreachable,
)
from ottla.testing.scheduler import Gate, Scheduler


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


class Echo:
    """Answers every frame with itself; `hold` keeps the answer back until it is called."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.views: list[memoryview] = []
        self.ends: list[ServerEnd] = []
        self.closed = 0
        self.held: list[Callable[[], None]] = []
        self.hold_first = False
        self.pause = False

    def accept(self, connection: ServerEnd) -> None:
        self.ends.append(connection)

    def on_frame(self, connection: ServerEnd, frame: memoryview) -> None:
        body = bytes(frame)
        self.received.append(body)
        self.views.append(frame)
        slot = connection.open_slot()
        if self.pause:
            connection.pause_reading(slot)
        if self.hold_first and len(self.received) == 1:
            self.held.append(lambda: slot.complete([framed(body)]))
        else:
            slot.complete([framed(body)])

    def on_closed(self, connection: ServerEnd) -> None:
        self.closed += 1


def world(seed: int = 1, faults: NetworkFaults | None = None) -> tuple[Scheduler, SimNetwork, Echo]:
    scheduler = Scheduler(seed)
    network = SimNetwork(scheduler, faults)
    echo = Echo()
    network.listen("broker", echo)
    return scheduler, network, echo


def collecting(client: ClientEnd) -> tuple[list[bytes], list[bool]]:
    replies: list[bytes] = []
    closed: list[bool] = []
    client.on_reply = replies.append
    client.on_closed = lambda: closed.append(True)
    return replies, closed


def test_the_brokers_end_is_a_peer() -> None:
    _, network, echo = world()
    network.connect("broker")
    peer: Peer = echo.ends[0]
    assert peer.listener_name == "PLAINTEXT"


def test_requests_and_replies_of_one_connection_keep_their_order_and_those_of_several_do_not() -> None:
    scheduler, network, echo = world()
    clients = [network.connect("broker") for _ in range(3)]
    replies = [collecting(client)[0] for client in clients]
    for number in range(10):
        for index, client in enumerate(clients):
            client.send(framed(b"%d-%d" % (index, number)))
    scheduler.run_for(1000.0)
    for index in range(3):
        assert replies[index] == [b"%d-%d" % (index, number) for number in range(10)]
    assert echo.received != sorted(echo.received, key=lambda body: body[2:])


def test_a_reply_that_waits_holds_back_the_replies_behind_it_not_the_requests() -> None:
    scheduler, network, echo = world()
    echo.hold_first = True
    client = network.connect("broker")
    replies, _ = collecting(client)
    for body in (b"first", b"second"):
        client.send(framed(body))
    scheduler.run_for(100.0)
    assert echo.received == [b"first", b"second"] and replies == []
    echo.held[0]()
    scheduler.run_for(100.0)
    assert replies == [b"first", b"second"]


def test_a_paused_connection_delivers_nothing_until_the_same_token_resumes_it() -> None:
    scheduler, network, echo = world()
    client = network.connect("broker")
    token = object()
    echo.ends[0].pause_reading(token)
    client.send(framed(b"later"))
    scheduler.run_for(100.0)
    assert echo.received == []
    echo.ends[0].resume_reading(token)
    scheduler.run_for(100.0)
    assert echo.received == [b"later"]


def test_a_frame_is_overwritten_after_its_handler_returned() -> None:
    scheduler, network, echo = world()
    network.connect("broker").send(framed(b"kept"))
    scheduler.run_for(100.0)
    assert bytes(echo.views[0]) == bytes([USED_FRAME]) * 4


@pytest.mark.parametrize(
    ("faults", "carried_out"),
    [
        (NetworkFaults(break_before_request=1.0), False),
        (NetworkFaults(break_before_reply=1.0), True),
    ],
)
def test_a_lost_request_and_a_lost_reply_look_the_same_to_the_client(
    faults: NetworkFaults, carried_out: bool
) -> None:
    scheduler, network, echo = world(faults=faults)
    client = network.connect("broker")
    replies, closed = collecting(client)
    client.send(framed(b"pay"))
    scheduler.run_for(1000.0)
    assert (replies, closed) == ([], [True])
    assert bool(echo.received) is carried_out
    assert echo.closed == 1
    with pytest.raises(ConnectionLost):
        client.send(framed(b"again"))


def test_waiters_of_a_connection_expire_when_it_is_gone() -> None:
    scheduler, network, echo = world()
    client = network.connect("broker")
    waiter = Waiter(1e9)
    echo.ends[0].add_waiter(waiter)
    client.close()
    scheduler.run_for(100.0)
    assert waiter.done and not waiter.fired


def test_file_slices_are_read_when_they_are_sent_and_released_once() -> None:
    scheduler, network, echo = world()
    disk = VirtualDisk()
    file = disk.open("/segment", create=True)
    file.append([b"0123456789"])
    client = network.connect("broker")
    replies, _ = collecting(client)
    sliced = FileSlice(file, 2, 4)
    echo.ends[0].open_slot().complete([(4).to_bytes(4, "big"), sliced])
    assert file.pins == 1
    scheduler.run_for(100.0)
    assert replies == [b"2345"] and file.pins == 0
    gone = FileSlice(file, 0, 1)
    echo.ends[0].break_connection()
    echo.ends[0].open_slot().complete([(1).to_bytes(4, "big"), gone])
    assert file.pins == 0


def test_nobody_answers_where_nobody_listens() -> None:
    _, network, _ = world()
    network.stop_listening("broker")
    with pytest.raises(ConnectionLost):
        network.connect("broker")


# --- places


def test_a_cut_delivers_nothing_and_tells_nobody_and_what_waited_arrives_when_it_heals() -> None:
    scheduler, network, echo = world()
    client = network.connect("broker", "n1")
    replies, closed = collecting(client)
    client.send(framed(b"before"))
    scheduler.run_for(100.0)
    network.cut(["n1"], ["broker"])
    client.send(framed(b"held"))
    scheduler.run_for(500.0)
    assert (echo.received, replies, closed) == ([b"before"], [b"before"], [])
    network.heal()
    scheduler.run_for(2_000.0)
    assert replies == [b"before", b"held"]


def test_a_cut_in_one_direction_lets_the_other_through() -> None:
    scheduler, network, echo = world()
    client = network.connect("broker", "n1")
    replies, _ = collecting(client)
    network.cut(["broker"], ["n1"], both_ways=False)
    client.send(framed(b"there"))
    scheduler.run_for(500.0)
    assert (echo.received, replies) == ([b"there"], [])
    network.connect("broker", "n2")  # the others are not concerned


def test_whoever_connects_into_a_cut_is_neither_let_in_nor_refused() -> None:
    _, network, _ = world()
    network.cut(["n1"], ["broker"])
    with pytest.raises(Unreachable):
        network.connect("broker", "n1")


def test_a_slow_link_slows_its_two_ends_only() -> None:
    scheduler, network, _ = world()
    network.slow("n1", "broker", 10_000.0)
    slow, quick = network.connect("broker", "n1"), network.connect("broker", "n2")
    slow_replies, _ = collecting(slow)
    quick_replies, _ = collecting(quick)
    for client in (slow, quick):
        client.send(framed(b"hello"))
    scheduler.run_for(100.0)
    assert (slow_replies, quick_replies) == ([], [b"hello"])
    scheduler.run_for(25_000.0)
    assert slow_replies == [b"hello"]


def test_connections_between_two_places_can_be_broken() -> None:
    scheduler, network, echo = world()
    one, other = network.connect("broker", "n1"), network.connect("broker", "n2")
    _, closed = collecting(one)
    _, left_alone = collecting(other)
    network.break_between("broker", "n1")
    scheduler.run_for(100.0)
    assert (closed, left_alone, echo.closed) == ([True], [], 1)


def test_the_clients_of_a_machine_without_power_hear_nothing_until_it_is_back() -> None:
    scheduler, network, echo = world()
    client = network.connect("broker", "n1")
    _, closed = collecting(client)
    network.stop_listening("broker")
    echo.ends[0].crashed(unseen=True)
    client.send(framed(b"into the dark"))
    scheduler.run_for(60_000.0)
    assert closed == []
    network.listen("broker", echo)
    client.send(framed(b"who is there?"))
    scheduler.run_for(100.0)
    assert closed == [True]


def test_what_arrives_at_a_stopped_process_waits_and_comes_in_order() -> None:
    scheduler, network, echo = world()
    gate = Gate(scheduler)
    network.gate("broker", gate)
    client = network.connect("broker", "n1")
    gate.shut()
    for body in (b"first", b"second"):
        client.send(framed(body))
    scheduler.run_for(5_000.0)
    assert echo.received == []
    gate.open()
    assert echo.received == [b"first", b"second"]


def test_timers_of_a_stopped_process_fall_due_when_it_goes_on_unless_they_were_cancelled() -> None:
    scheduler = Scheduler(1)
    gate = Gate(scheduler)
    happened: list[str] = []
    gate.call_after(10.0, lambda: happened.append("early"))
    gate.shut()
    late = gate.call_after(20.0, lambda: happened.append("late"))
    cancelled = gate.call_after(30.0, lambda: happened.append("never"))
    scheduler.run_for(100.0)
    assert happened == [] and late.pending
    cancelled.cancel()
    gate.open()
    assert happened == ["early", "late"] and not late.pending
