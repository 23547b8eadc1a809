"""Frames out of a stream, however it is cut."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.client.conversation import RESPONSE_BYTES_MAX
from ottla.client.errors import ProtocolError
from ottla.client.runtime.receiver import GROWTH_BYTES_MIN, Receiver


def feed(receiver: Receiver, data: bytes, cuts: list[int]) -> list[bytes]:
    """Receives the data as a socket would: never more at once than there is room for, or the cut says."""
    frames: list[bytes] = []
    at = turn = 0
    while at < len(data):
        buffer = receiver.buffer()
        assert len(buffer) > 0
        count = min(len(buffer), len(data) - at, cuts[turn % len(cuts)])
        buffer[:count] = data[at : at + count]
        at += count
        turn += 1
        frames += [bytes(frame) for frame in receiver.received(count)]
    return frames


def framed(bodies: list[bytes]) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


@given(
    st.lists(st.binary(min_size=4, max_size=300), max_size=12),
    st.lists(st.integers(1, 400), min_size=1, max_size=8),
    st.integers(5, 200),
)
def test_frames_come_out_whole_and_in_order_however_the_stream_is_cut(
    bodies: list[bytes], cuts: list[int], scratch_bytes: int
) -> None:
    receiver = Receiver(memoryview(bytearray(scratch_bytes)))
    assert feed(receiver, framed(bodies), cuts) == bodies


def test_receivers_that_share_a_scratch_buffer_do_not_mix_their_streams() -> None:
    scratch = memoryview(bytearray(64))
    one, two = Receiver(scratch), Receiver(scratch)
    a, b = framed([b"a" * 50, b"A" * 100]), framed([b"b" * 30, b"B" * 80])
    got: dict[int, list[bytes]] = {1: [], 2: []}
    for at in range(0, 200, 7):
        for key, receiver, data in ((1, one, a), (2, two, b)):
            if data[at : at + 7]:
                got[key] += feed(receiver, data[at : at + 7], [7])
    assert got == {1: [b"a" * 50, b"A" * 100], 2: [b"b" * 30, b"B" * 80]}


def test_a_frame_larger_than_the_scratch_buffer_is_received_in_place() -> None:
    receiver = Receiver(memoryview(bytearray(1024)))
    body = bytes(range(256)) * 20_000
    assert feed(receiver, framed([body, b"next"]), [1 << 20]) == [body, b"next"]


def test_a_frame_can_be_changed_and_grown_by_who_gets_it() -> None:
    receiver = Receiver(memoryview(bytearray(1024)))
    data = framed([bytes(5000)])
    frames: list[bytearray] = []
    at = 0
    while at < len(data):
        buffer = receiver.buffer()
        count = min(len(buffer), len(data) - at)
        buffer[:count] = data[at : at + count]
        frames += receiver.received(count)
        at += count
    frames[0].append(1)  # BufferError if a view of it were left


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "web server"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "TLS"),
        (b"\xff\xff\xff\xff....", "does not speak"),
        (b"\x00\x00\x00\x03abc", "does not speak"),
        ((RESPONSE_BYTES_MAX + 1).to_bytes(4, "big"), "does not speak"),
    ],
)
def test_what_cannot_be_a_frame_is_refused_with_a_hint(data: bytes, says: str) -> None:
    for cut in (1, 100):
        with pytest.raises(ProtocolError, match=says):
            feed(Receiver(memoryview(bytearray(64))), data, [cut])


def test_a_peer_that_announces_much_and_sends_little_costs_little() -> None:
    tracemalloc.start()
    try:
        receiver = Receiver(memoryview(bytearray(1024)))
        assert feed(receiver, RESPONSE_BYTES_MAX.to_bytes(4, "big") + bytes(1000), [1004]) == []
        receiver.buffer()
        assert tracemalloc.get_traced_memory()[1] < 3 * GROWTH_BYTES_MIN
    finally:
        tracemalloc.stop()
