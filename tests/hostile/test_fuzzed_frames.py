"""Frames made by chance, for every API and version: random bodies, and valid requests with a few bytes
changed.

Whatever comes, the broker answers or closes that connection; it does not fail inside, grow, or keep anybody
waiting. Counts are fixed and the seed is printed with every failure, so that it can be had again.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest

from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.index import APIS, request_class
from ottla.wire.primitives import EncodeError
from support.broker_process import BrokerProcess
from support.raw_client import ConnectionEnded, RawClient, batch_of, frame_of
from support.undisturbed import Undisturbed

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "property" / "wire_messages"))
from message_maker import SCHEMA_FILES, make_message

MESSAGES = {
    message.root.class_name: (schema, message) for schema in SCHEMA_FILES for message in schema.messages
}

LAST_WORD = 0x600DBEEF
"""A correlation id that no fuzzed frame has."""


class Fuzzer:
    """Sends frames over connections that it opens again as they are closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._client = RawClient(port)
        self.sent = 0
        self.closed = 0

    def send(self, body: bytes) -> None:
        """One frame, and whatever comes of it: an answer, or the end of the connection.

        A Produce request with acks=0 has no answer, so a question that always has one follows each.
        """
        self.sent += 1
        silent = body[:2] == b"\0\0"
        try:
            self._client.socket.settimeout(10)
            self._client.send_frame(body)
            if silent:
                self._client.send_bytes(frame_of(ApiVersionsRequest(), 0, LAST_WORD))
                if int.from_bytes(self._client.read_frame()[:4], "big") == LAST_WORD:
                    return
            self._client.read_frame()
        except TimeoutError:
            raise AssertionError(f"neither an answer nor an end: {body.hex()}") from None
        except (ConnectionEnded, OSError):
            self.closed += 1
            self._client.close()
            self._client = RawClient(self._port)

    def close(self) -> None:
        self._client.close()


def versions() -> list[tuple[int, int]]:
    known = [
        (api.key, version) for api in APIS.values() for version in range(api.min_version, api.max_version + 1)
    ]
    return known + [(key, 0) for key in (-1, 4, 5, 6, 7, 93, 500, 32767)]


def header(chance: random.Random, key: int, version: int) -> bytes:
    flexible = key in APIS and APIS[key].is_flexible(version)
    head = key.to_bytes(2, "big", signed=True) + version.to_bytes(2, "big", signed=True)
    return head + chance.randbytes(4) + b"\x00\x01f" + (b"\0" if flexible else b"")


@pytest.mark.parametrize("seed", [1, 2])
def test_random_bodies_for_every_api_and_version(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, seed: int
) -> None:
    chance = random.Random(seed)
    fuzzer = Fuzzer(shared_broker.port)
    with undisturbed(lines=None, peak_mb=64):
        for key, version in versions():
            for size in (0, *(chance.randrange(1, 40) for _ in range(3)), chance.randrange(40, 600)):
                body = chance.randbytes(size)
                if chance.random() < 0.5:
                    body = bytes(byte & 0x03 for byte in body)  # small numbers get further than large ones
                fuzzer.send(header(chance, key, version) + body)
    fuzzer.close()
    assert fuzzer.sent > 1_500 and fuzzer.closed > 0


def narrowed(chance: random.Random) -> Any:
    """Values that reach further into the handlers than random ones: names that exist, small numbers, real
    batches.
    """

    def narrow(path: tuple[str, ...], field: Any, _: random.Random) -> Any:
        name = path[-1]
        if name in ("acks", "required_acks"):
            return chance.choice([-1, 0, 1, 5])
        if name in ("max_wait_ms", "timeout_ms", "max_wait_time_ms"):
            return chance.choice([0, 1, -1])
        if name == "records":
            batch = batch_of(b"a", b"b")
            if chance.random() < 0.5:
                batch[chance.randrange(len(batch))] ^= 1 << chance.randrange(8)
            return batch
        if name in ("num_partitions", "count"):
            return chance.choice([-1, 0, 1, 2, 3, 2**31 - 1])
        if name in ("topic", "name", "topic_name", "resource_name") and chance.random() < 0.7:
            return chance.choice(["fuzzed", "fuzzed-2", "", "..", "1"])
        if name in ("partition", "partition_index", "index") and chance.random() < 0.8:
            return chance.choice([0, 1, 2, -1])
        return NotImplemented

    return narrow


@pytest.mark.parametrize("seed", [3, 4])
def test_valid_requests_with_wild_values_and_with_bytes_changed(
    shared_broker: BrokerProcess, undisturbed: Undisturbed, seed: int
) -> None:
    chance = random.Random(seed)
    fuzzer = Fuzzer(shared_broker.port)
    with RawClient(shared_broker.port) as client:
        known = [each.api_key for each in client.call(ApiVersionsRequest(), 0).api_keys]
    with undisturbed(lines=None, peak_mb=96):
        for key in known:
            api = APIS[key]
            schema, message = MESSAGES[request_class(key).__name__]
            for version in range(api.min_version, api.max_version + 1):
                for _ in range(6):
                    try:
                        made = make_message(schema, message, version, chance, narrowed(chance))
                        frame = bytearray(frame_of(made, version)[4:])
                    except EncodeError:
                        continue
                    fuzzer.send(bytes(frame))
                    for _ in range(chance.randrange(1, 4)):
                        frame[chance.randrange(8, len(frame))] = chance.randrange(256)
                    fuzzer.send(bytes(frame))
    fuzzer.close()
    assert fuzzer.sent > 1_000
