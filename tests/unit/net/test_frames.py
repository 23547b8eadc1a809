"""Frame assembly: DESIGN.md, Memory (shared scratch, whole size reserved) and the bad prefixes."""

from __future__ import annotations

import random
import struct

import pytest

from ottla.net.frames import FrameError, FrameReader
from ottla.net.memory import FrameMemory, size_class


def frame(payload: bytes) -> bytes:
    return struct.pack(">i", len(payload)) + payload


def feed(reader: FrameReader, data: bytes) -> list[bytes]:
    """Receives the bytes as a transport would, in as many reads as it takes."""
    frames = []
    while data:
        buffer = reader.buffer()
        part = data[: len(buffer)]
        buffer[: len(part)] = part
        data = data[len(part) :]
        reader.received(len(part))
        while (payload := reader.next_frame()) is not None:
            frames.append(bytes(payload))
        reader.settle()
        reader._scratch[:] = b"\xee" * len(reader._scratch)  # another connection uses it now
    return frames


def small_memory(**kwargs: int) -> FrameMemory:
    return FrameMemory(small_frame_bytes_max=64, **kwargs)


def test_frames_are_the_same_wherever_the_stream_is_cut_in_two() -> None:
    payloads = [bytes([65 + i]) * (8 + 5 * i) for i in range(6)]
    stream = b"".join(map(frame, payloads))
    for cut in range(len(stream) + 1):
        reader = FrameReader(FrameMemory())
        assert feed(reader, stream[:cut]) + feed(reader, stream[cut:]) == payloads
        assert not reader.mid_frame


def test_frames_are_the_same_when_the_stream_comes_byte_by_byte() -> None:
    payloads = [b"x" * 8, b"y" * 500, b"z" * 64, b"w" * 65]
    memory = small_memory()
    reader = FrameReader(memory)
    got = [f for byte in b"".join(map(frame, payloads)) for f in feed(reader, bytes([byte]))]
    assert got == payloads
    assert memory.reserved_bytes == memory.partial_bytes == 0


@pytest.mark.parametrize("seed", range(20))
def test_frames_of_all_sizes_survive_random_cuts(seed: int) -> None:
    rng = random.Random(seed)
    memory = small_memory()
    reader = FrameReader(memory)
    scratch = len(memory.scratch)
    sizes = [8, 63, 64, 65, 200, scratch - 5, scratch - 4, scratch - 3, scratch, 2 * scratch + 1]
    payloads = [rng.randbytes(rng.choice(sizes)) for _ in range(12)]
    stream = b"".join(map(frame, payloads))
    got = []
    while stream:
        cut = rng.choice([1, 3, 4, 5, 100, scratch, 3 * scratch])
        got += feed(reader, stream[:cut])
        stream = stream[cut:]
    assert got == payloads
    assert memory.reserved_bytes == memory.partial_bytes == 0


def test_an_idle_connection_owns_no_memory_and_whole_frames_are_not_copied() -> None:
    memory = FrameMemory()
    reader = FrameReader(memory)
    data = frame(b"abcdefgh") * 2
    reader.buffer()[: len(data)] = data
    reader.received(len(data))
    first = reader.next_frame()
    assert first is not None and not first.readonly
    first[0:1] = b"A"
    assert bytes(memory.scratch[4:12]) == b"Abcdefgh"
    assert reader.next_frame() is not None and reader.next_frame() is None
    reader.settle()
    assert memory.partial_bytes == 0 and reader._saved is None


def test_a_large_frame_reserves_its_whole_size_and_is_received_in_place() -> None:
    memory = small_memory()
    reader = FrameReader(memory)
    size = 10 * len(memory.scratch)
    assert feed(reader, struct.pack(">i", size) + b"a" * 100) == []
    assert memory.reserved_bytes == size
    assert len(reader.buffer()) == size - 100
    assert feed(reader, b"b" * (size - 100)) == [b"a" * 100 + b"b" * (size - 100)]
    assert memory.reserved_bytes == 0


def test_the_rest_of_a_large_frame_is_asked_for_once_when_it_was_begun() -> None:
    memory = small_memory()
    reader = FrameReader(memory)
    size = 10 * len(memory.scratch)
    assert reader.rest_of_begun() is None
    assert feed(reader, frame(b"a" * size)[:100]) == []
    rest = reader.rest_of_begun()
    assert rest is not None and len(rest) == size - 96
    rest[:50] = b"a" * 50
    reader.received(50)
    assert reader.next_frame() is None and reader.rest_of_begun() is None
    assert feed(reader, b"a" * (size - 146)) == [b"a" * size]
    assert feed(reader, frame(b"a" * size)[:100]) == []
    reader.close()
    assert reader.rest_of_begun() is None and memory.reserved_bytes == 0


def test_buffers_of_large_frames_are_used_again() -> None:
    memory = small_memory()
    size = 10 * len(memory.scratch)
    first = memory.reserve(size)
    assert first is not None
    mapped = first.map
    first.release()
    first.release()  # once is what counts
    assert memory.reserved_bytes == 0 and memory.pooled_bytes == size_class(size)
    second = memory.reserve(size - 1)
    assert second is not None and second.map is mapped
    second.release()
    assert memory.pooled_bytes == size_class(size)


def test_buffers_are_given_back_when_nobody_used_them_between_two_trims() -> None:
    memory = small_memory()
    size = 10 * len(memory.scratch)
    burst = [memory.reserve(size) for _ in range(4)]
    for buffer in burst:
        assert buffer is not None
        buffer.release()
    memory.trim()
    pooled = []
    for _ in range(4):
        busy = memory.reserve(size)  # one frame at a time goes on: its buffer is never given back
        assert busy is not None
        busy.release()
        memory.trim()
        pooled.append(memory.pooled_bytes // size_class(size))
    assert pooled == [2, 1, 1, 1]
    memory.trim()
    assert memory.pooled_bytes == 0


def test_the_pool_is_bounded() -> None:
    memory = small_memory(pooled_bytes_max=1_000_000)
    buffers = [memory.reserve(300_000) for _ in range(8)]
    for buffer in buffers:
        assert buffer is not None
        buffer.release()
    assert 0 < memory.pooled_bytes <= 1_000_000


@pytest.mark.parametrize("size", [16_384, 131_073, 2**20, 2**20 + 200, 10**8])
def test_a_size_class_wastes_at_most_a_quarter_of_large_frames(size: int) -> None:
    rounded = size_class(size)
    assert rounded >= size
    assert rounded <= size * 1.25


def test_large_frames_wait_in_line_for_the_budget() -> None:
    memory = small_memory(bytes_max=1_000_000)
    reader = FrameReader(memory)
    other = memory.reserve(900_000)
    assert other is not None
    size = 500_000
    assert feed(reader, struct.pack(">i", size) + b"a" * 20) == []
    assert reader.wanted_bytes == size
    order: list[str] = []
    memory.reserve_later(size, lambda buffer: (order.append("first"), reader.grant(buffer))[0])
    memory.reserve_later(10, lambda buffer: (order.append("second"), buffer.release())[0])
    assert order == [] and memory.reserve(10) is None, "nobody overtakes"
    other.release()
    assert order == ["first", "second"]
    assert feed(reader, b"b" * (size - 20)) == [b"a" * 20 + b"b" * (size - 20)]


def test_a_frame_larger_than_the_budget_goes_alone() -> None:
    memory = small_memory(bytes_max=1000)
    buffer = memory.reserve(5000)
    assert buffer is not None
    assert memory.reserve(1) is None
    buffer.release()
    again = memory.reserve(1)
    assert again is not None


def test_leaving_the_line_lets_the_next_one_in() -> None:
    memory = small_memory(bytes_max=1000)
    held = memory.reserve(500)
    assert held is not None
    got: list[int] = []

    def too_large(buffer: object) -> None:
        got.append(-1)

    memory.reserve_later(600, too_large)
    memory.reserve_later(400, lambda buffer: got.append(buffer.size))
    assert got == []
    memory.leave_line(too_large)
    assert got == [400]


def test_a_kept_small_frame_is_a_copy_and_a_kept_large_one_is_not() -> None:
    memory = small_memory()
    reader = FrameReader(memory)
    data = frame(b"smallest")
    reader.buffer()[: len(data)] = data
    reader.received(len(data))
    assert reader.next_frame() is not None
    kept = reader.keep_frame()
    reader.settle()
    memory.scratch[:] = bytes(len(memory.scratch))
    assert bytes(kept.view) == b"smallest" and memory.held_bytes == 8
    kept.release()
    kept.release()
    assert memory.held_bytes == 0

    size = 3 * len(memory.scratch)
    assert feed(reader, struct.pack(">i", size) + bytes(100)) == []
    reader.buffer()[:] = b"L" * (size - 100)
    reader.received(size - 100)
    large = reader.next_frame()
    assert large is not None
    kept = reader.keep_frame()
    reader.settle()
    assert memory.reserved_bytes == size, "the buffer is the holder's"
    assert kept.view is large
    kept.release()
    assert memory.reserved_bytes == 0


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        (b"\xff\xff\xff\xff", "negative length -1"),
        (b"\x80\x00\x00\x00", "negative length"),
        (b"\x7f\xff\xff\xff", "socket.request.max.bytes"),
        (b"\x00\x00\x00\x00", "too short"),
        (b"\x00\x00\x00\x07", "too short"),
        (b"\x16\x03\x01\x02", "TLS handshake"),
        (b"GET ", "HTTP request"),
        (b"POST", "HTTP request"),
    ],
)
def test_a_bad_prefix_is_refused_before_memory_is_taken(prefix: bytes, words: str) -> None:
    memory = FrameMemory()
    reader = FrameReader(memory)
    with pytest.raises(FrameError, match=words):
        feed(reader, prefix)
    reader.close()
    assert memory.reserved_bytes == memory.partial_bytes == 0


def test_a_tls_hello_is_named_as_such_only_at_the_beginning() -> None:
    reader = FrameReader(FrameMemory())
    assert feed(reader, frame(b"12345678")) == [b"12345678"]
    with pytest.raises(FrameError, match=r"socket\.request\.max\.bytes"):
        feed(reader, b"\x16\x03\x01\x02")


def test_the_limit_is_exact() -> None:
    reader = FrameReader(FrameMemory(), request_bytes_max=100)
    assert feed(reader, frame(b"x" * 100)) == [b"x" * 100]
    with pytest.raises(FrameError, match="101 bytes"):
        feed(reader, frame(b"x" * 101))


def test_unfinished_small_frames_of_all_connections_together_are_bounded() -> None:
    memory = FrameMemory(partial_bytes_max=1000)
    readers = [FrameReader(memory) for _ in range(4)]
    for reader in readers[:3]:
        feed(reader, frame(b"x" * 400)[:300])
    with pytest.raises(FrameError, match="unfinished"):
        feed(readers[3], frame(b"x" * 400)[:300])
    for reader in readers:
        reader.close()
    assert memory.partial_bytes == 0


def test_frames_held_back_by_a_pause_are_replayed_in_order() -> None:
    memory = FrameMemory()
    reader = FrameReader(memory)
    data = b"".join(frame(bytes([i]) * 10) for i in range(5)) + b"\x00\x00"
    reader.buffer()[: len(data)] = data
    reader.received(len(data))
    first = reader.next_frame()
    assert first is not None and first[0] == 0
    reader.settle()  # paused here
    memory.scratch[:] = bytes(len(memory.scratch))
    reader.replay()
    got = []
    while (payload := reader.next_frame()) is not None:
        got.append(payload[0])
    reader.settle()
    assert got == [1, 2, 3, 4]
    assert reader.mid_frame
    assert feed(reader, b"\x00\x08" + b"87654321") == [b"87654321"]
