"""Six clients write with every codec, ours in two ways; each, and our own wire code, reads all of it back.

One topic per writer, codec and timestamp type; consumption is by explicit assignment. What our own raw
client reads is compared with what the writer sent and was told; then every other reader has to agree with
it on every byte, offset and timestamp.
"""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import pytest

from ottla.wire.compression import Codec
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.index import ApiKey
from ottla.wire.record_batch import read_header
from support.broker_process import BrokerProcess
from support.java_client import JavaClient
from support.peers.aio import Aiokafka
from support.peers.confluent import Confluent
from support.peers.event import CODECS, Ack, Event, Peer, Seen
from support.peers.java import Java
from support.peers.kafka_python import KafkaPython
from support.peers.kcat import Kcat
from support.peers.ottla import OttlaColumns, OttlaRecords
from support.raw_client import RawClient, records_of, whole_batches

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

READERS = ("confluent-kafka", "aiokafka", "kafka-python", "kcat", "java", "ottla", "ottla-columns")
TIMESTAMP_TYPES = {"CreateTime": 0, "LogAppendTime": 1}

_chance = random.Random(2)
_now_ms = int(time.time() * 1000)
BIG = _chance.randbytes(300 * 1024) + b"ottla " * (100 * 1024)
assert len(BIG) == 900 * 1024

EVENTS = [
    Event(
        b"with headers",
        bytes(range(256)),
        (("twice", b"1"), ("twice", b"2"), ("empty", b""), ("null", None), ("Grün", "größer".encode())),
        _now_ms,
    ),
    Event(None, b"x", (), _now_ms + 5),
    Event(b"tombstone", None, (), _now_ms - 60_000),
    Event(b"", b"", (), _now_ms + 1),
    Event(b"big", BIG, (("size", b"900 KB"),), _now_ms + 2),
    *(Event(b"key %d" % (i % 7), b"compressible " * 40, (), _now_ms + i) for i in range(20)),
]
# A process per event, keys and headers as text, no timestamps of its own.
KCAT_EVENTS = [
    Event(b"with headers", b"compressible " * 40, (("twice", b"1"), ("twice", b"2"), ("empty", b""))),
    Event(None, b"x"),
    Event(b"tombstone", None),
    Event(b"big", BIG, (("size", b"900 KB"),)),
]

# kafka-python refuses to write a null header value; it has to read those of others.
KAFKA_PYTHON_EVENTS = [
    event._replace(headers=tuple(pair for pair in event.headers if pair[1] is not None)) for event in EVENTS
]


def events_of(writer: str) -> list[Event]:
    return {"kcat": KCAT_EVENTS, "kafka-python": KAFKA_PYTHON_EVENTS}.get(writer, EVENTS)


class Written(NamedTuple):
    writer: str
    codec: str
    timestamp_type: int
    events: list[Event]
    acks: list[Ack]
    stored: list[Seen]
    """As our own wire code reads it."""


class Corpus(NamedTuple):
    broker: BrokerProcess
    peers: dict[str, Peer]
    topics: dict[str, Written]


def stored_records(client: RawClient, topic: str, expected: Codec) -> list[Seen]:
    """Reads a topic whole, and checks that its batches are really compressed and really idempotent."""
    seen: list[Seen] = []
    codecs = set()
    while True:
        part = client.fetch(topic, len(seen))
        assert part.error_code == 0
        data = bytes(part.records or b"")
        for position in whole_batches(data):
            header = read_header(data, position)
            codecs.add(header.codec)
            assert header.producer_id >= 0 and header.base_sequence >= 0
            seen += [
                Seen(
                    each.offset,
                    each.timestamp,
                    header.timestamp_type,
                    each.key,
                    each.value,
                    tuple(each.headers),
                )
                for each in records_of(data[position : position + header.size_bytes])
            ]
        if len(seen) >= part.high_watermark:
            break
    # Clients leave a batch uncompressed that would not shrink.
    assert expected in codecs <= {expected, Codec.NONE}, (topic, codecs)
    return seen


def codec_on_the_wire(writer: str, codec: str, advertised: set[int]) -> Codec:
    """librdkafka takes a broker without FindCoordinator for one of 0.8.1, which had no lz4, and then sends
    plain batches.
    """
    if writer in ("confluent-kafka", "kcat") and codec == "lz4" and ApiKey.FIND_COORDINATOR not in advertised:
        return Codec.NONE
    return Codec[codec.upper()]


@pytest.fixture(scope="module")
def corpus(shared_broker: BrokerProcess, java: JavaClient) -> Corpus:
    made: list[Peer] = [
        *(Confluent(), Aiokafka(), KafkaPython(), Kcat(), Java(java)),
        *(OttlaRecords(), OttlaColumns()),
    ]
    peers = {peer.name: peer for peer in made}
    bootstrap = shared_broker.bootstrap
    names = {
        f"{name}.{codec}.{kind}": (name, codec, kind)
        for name in peers
        for codec in CODECS
        for kind in TIMESTAMP_TYPES
    }
    with RawClient(shared_broker.port) as client:
        for topic, (_, _, kind) in names.items():
            client.create_topic(topic, message_timestamp_type=kind)

        def write(item: tuple[str, tuple[str, str, str]]) -> list[Ack]:
            topic, (name, codec, _) = item
            return peers[name].write(bootstrap, topic, events_of(name), codec)

        # The Java process takes one command at a time; everybody else waits for the network most of the
        # time.
        with ThreadPoolExecutor(4) as pool:
            others = [item for item in names.items() if item[1][0] != "java"]
            running = pool.map(write, others)
            acks = {item[0]: write(item) for item in names.items() if item[1][0] == "java"}
            acks.update(zip((item[0] for item in others), running, strict=True))

        advertised = {each.api_key for each in client.call(ApiVersionsRequest(), 0).api_keys}
        topics = {}
        for topic, (name, codec, kind) in names.items():
            topics[topic] = Written(
                name,
                codec,
                TIMESTAMP_TYPES[kind],
                events_of(name),
                acks[topic],
                stored_records(client, topic, codec_on_the_wire(name, codec, advertised)),
            )
    return Corpus(shared_broker, peers, topics)


@pytest.mark.parametrize("writer", READERS)
def test_what_a_client_wrote_is_stored_byte_for_byte(corpus: Corpus, writer: str) -> None:
    for topic, written in corpus.topics.items():
        if written.writer != writer:
            continue
        assert [each.offset for each in written.stored] == list(range(len(written.events))), topic
        for event, ack, seen in zip(written.events, written.acks, written.stored, strict=True):
            assert (seen.key, seen.value, seen.headers) == (event.key, event.value, event.headers), topic
            assert seen.timestamp_type == written.timestamp_type, topic
            assert ack.offset in (None, seen.offset), topic
            assert ack.timestamp in (None, seen.timestamp), topic
            if written.timestamp_type == 0 and event.timestamp is not None:
                assert seen.timestamp == event.timestamp, topic
            else:
                assert abs(seen.timestamp - time.time() * 1000) < 600_000, topic


@pytest.mark.parametrize("reader", READERS)
def test_a_client_reads_what_every_client_wrote(corpus: Corpus, reader: str) -> None:
    counts = {topic: len(written.stored) for topic, written in corpus.topics.items()}
    read = corpus.peers[reader].read(corpus.broker.bootstrap, counts)
    for topic, written in corpus.topics.items():
        expected = written.stored
        if reader == "kcat":
            expected = [as_kcat_prints(seen) for seen in expected]
        assert read[topic] == expected, f"{reader} does not agree about {topic}"


def as_kcat_prints(seen: Seen) -> Seen:
    """kcat prints no timestamp type, and a null header value as a word."""
    headers = tuple((name, b"NULL" if value is None else value) for name, value in seen.headers)
    return seen._replace(timestamp_type=-1, headers=headers)


@pytest.fixture(scope="module")
def recompressed(corpus: Corpus) -> dict[str, list[Seen]]:
    """Topics whose `compression.type` is not the producer's: the broker writes the batches anew."""
    stored: dict[str, list[Seen]] = {}
    bootstrap = corpus.broker.bootstrap
    with RawClient(corpus.broker.port) as client:
        for codec in ("uncompressed", "gzip", "snappy", "lz4", "zstd"):
            topic = f"broker.{codec}"
            client.create_topic(topic, compression_type=codec)
            corpus.peers["java"].write(bootstrap, topic, EVENTS, "zstd" if codec != "zstd" else "gzip")
            corpus.peers["confluent-kafka"].write(bootstrap, topic, EVENTS, "none")
            expected = Codec.NONE if codec == "uncompressed" else Codec[codec.upper()]
            stored[topic] = stored_records(client, topic, expected)
    return stored


@pytest.mark.parametrize("reader", READERS)
def test_a_client_reads_what_the_broker_compressed(
    corpus: Corpus, recompressed: dict[str, list[Seen]], reader: str
) -> None:
    read = corpus.peers[reader].read(
        corpus.broker.bootstrap, {topic: len(stored) for topic, stored in recompressed.items()}
    )
    sent = [(event.key, event.value, event.headers, event.timestamp) for event in EVENTS * 2]
    for topic, stored in recompressed.items():
        assert [(each.key, each.value, each.headers, each.timestamp) for each in stored] == sent, topic
        expected = [as_kcat_prints(seen) for seen in stored] if reader == "kcat" else stored
        assert read[topic] == expected, f"{reader} does not agree about {topic}"
