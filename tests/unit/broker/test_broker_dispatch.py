"""From a frame to a handler and back: what closes a connection and what gets an answer, as Kafka's
SocketServer and KafkaApis have it.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from broker_bench import Bench, versions_of

from ottla.broker import dispatch
from ottla.broker.dispatch import CONTROLLER_TABLE, TABLE, Api
from ottla.model.errors import ErrorCode
from ottla.wire.framing import decode_response, encode_request
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.index import ApiKey, request_class
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest
from ottla.wire.messages.metadata import MetadataRequest

SOFTWARE = {"client_software_name": "bench", "client_software_version": "1.0"}


@pytest.fixture
def bench() -> Bench:
    return Bench()


def header(api_key: int, version: int, correlation_id: int = 7) -> bytes:
    return (
        api_key.to_bytes(2, "big")
        + version.to_bytes(2, "big")
        + correlation_id.to_bytes(4, "big")
        + b"\x00\x01c"
    )


def replace_handler(monkeypatch: pytest.MonkeyPatch, key: ApiKey, handle: Any) -> None:
    monkeypatch.setitem(TABLE, key, TABLE[key]._replace(handle=handle))


@pytest.mark.parametrize("key", [-1, 4, 999, 32_767])
def test_an_unknown_api_key_closes_the_connection(bench: Bench, key: int) -> None:
    bench.peer.send_frame(header(key & 0xFFFF, 0))
    assert bench.peer.close_reason is not None and str(key) in bench.peer.close_reason
    assert not bench.peer.replies


@pytest.mark.parametrize("key", [key for key in TABLE if key != ApiKey.API_VERSIONS])
def test_a_version_outside_the_table_closes_the_connection(bench: Bench, key: int) -> None:
    for version in (TABLE[key].version_min - 1, TABLE[key].version_max + 1):
        peer = bench.connect()
        peer.send_frame(header(key, version & 0xFFFF) + bytes(64))
        assert peer.close_reason is not None
        assert not peer.replies


def test_produce_0_to_2_are_advertised_and_refused(bench: Bench) -> None:
    """KAFKA-18659: librdkafka does not compress unless Produce begins at 0."""
    reply = bench.call(ApiVersionsRequest(**SOFTWARE))
    produce = next(each for each in reply.api_keys if each.api_key == ApiKey.PRODUCE)
    assert (produce.min_version, produce.max_version) == (0, 13)
    bench.peer.send_frame(header(ApiKey.PRODUCE, 2) + bytes(32))
    assert bench.peer.close_reason is not None


@pytest.mark.parametrize("version", [5, 100, 32_767])
def test_an_unknown_version_of_api_versions_gets_error_35_in_a_version_0_body(
    bench: Bench, version: int
) -> None:
    """KIP-511: the client reads the versions from it, and asks again."""
    bench.peer.send_frame(header(ApiKey.API_VERSIONS, version) + b"\x00whatever")
    (frame,) = bench.peer.replies
    correlation_id, reply = decode_response(ApiKey.API_VERSIONS, 0, frame)
    assert correlation_id == 7
    assert reply.error_code == ErrorCode.UNSUPPORTED_VERSION
    assert {each.api_key: each.max_version for each in reply.api_keys}[ApiKey.API_VERSIONS] == 4
    assert bench.peer.close_reason is None


def test_the_controllers_listener_refuses_with_its_own_table(bench: Bench) -> None:
    peer = bench.connect("CONTROLLER")
    peer.send_frame(header(ApiKey.API_VERSIONS, 100) + b"\x00")
    _, reply = decode_response(ApiKey.API_VERSIONS, 0, peer.replies[0])
    assert {each.api_key for each in reply.api_keys} == set(CONTROLLER_TABLE)


@pytest.mark.parametrize("version", versions_of(ApiVersionsRequest))
def test_api_versions_is_the_table(bench: Bench, version: int) -> None:
    reply = bench.call(ApiVersionsRequest(**(SOFTWARE if version >= 3 else {})), version)
    assert reply.error_code == ErrorCode.NONE
    assert {each.api_key: (each.min_version, each.max_version) for each in reply.api_keys} == {
        key: (api.advertised_min, api.version_max) for key, api in TABLE.items()
    }
    if version >= 3:
        finalized = {each.name: each.max_version_level for each in reply.finalized_features}
        assert finalized == dict(bench.node.image.features)
        assert reply.finalized_features_epoch >= 0
        assert all(each.min_version > 0 for each in reply.supported_features) or version >= 4


def test_a_controllers_listener_offers_only_what_controllers_answer(bench: Bench) -> None:
    peer = bench.connect("CONTROLLER")
    reply = bench.call(ApiVersionsRequest(**SOFTWARE), peer=peer)
    assert {each.api_key for each in reply.api_keys} == set(CONTROLLER_TABLE)
    peer.send(MetadataRequest(topics=None))
    assert peer.close_reason is not None


@pytest.mark.parametrize("key", sorted(ApiKey(key) for key in CONTROLLER_TABLE.keys() - TABLE.keys()))
def test_what_nodes_ask_each_other_is_not_asked_on_a_clients_listener(bench: Bench, key: ApiKey) -> None:
    """Whoever is not a node of the cluster cannot vote, register, or change an in-sync set."""
    end_offset = bench.node.quorum.log.log_end_offset
    for version in range(CONTROLLER_TABLE[key].version_min, CONTROLLER_TABLE[key].version_max + 1):
        peer = bench.connect()
        peer.send(request_class(key)(), version)
        assert peer.close_reason is not None and str(int(key)) in peer.close_reason
        assert not peer.replies
    bench.settle()
    assert bench.node.quorum.log.log_end_offset == end_offset
    assert bench.call(ApiVersionsRequest(**SOFTWARE)).error_code == ErrorCode.NONE


@pytest.mark.parametrize("name", ["", "-x", "a b", "x-", "librdkafka\n"])
def test_a_client_that_cannot_name_itself_is_an_invalid_request(bench: Bench, name: str) -> None:
    """KIP-511's rule for the software's name and version."""
    request = ApiVersionsRequest(client_software_name=name, client_software_version="1")
    assert bench.call(request, 3).error_code == ErrorCode.INVALID_REQUEST
    request = ApiVersionsRequest(client_software_name="x", client_software_version=name)
    assert bench.call(request, 4).error_code == ErrorCode.INVALID_REQUEST


def test_bytes_behind_a_request_are_ignored(bench: Bench) -> None:
    frame = b"".join(encode_request(MetadataRequest(topics=[]), 12, 3, "c"))[4:] + b"\x01\x02\x03"
    bench.peer.send_frame(frame)
    assert bench.peer.answered == [3]


def test_a_request_that_cannot_be_decoded_costs_its_connection_and_no_other(bench: Bench) -> None:
    other = bench.connect()
    whole = b"".join(encode_request(MetadataRequest(topics=[]), 12, 3, "client"))[4:]
    for length in range(len(whole)):
        peer = bench.connect()
        peer.send_frame(whole[:length])
        assert peer.close_reason is not None, f"{length} of {len(whole)} bytes were taken for a request"
        assert not peer.replies
    assert bench.call(MetadataRequest(topics=[]), peer=other).cluster_id


def test_every_api_survives_nonsense_in_its_body(bench: Bench) -> None:
    rng = bench.scheduler.random
    bench.create("events")
    for key, api in TABLE.items():
        for version in range(api.version_min, api.version_max + 1):
            for _ in range(3):
                peer = bench.connect()
                peer.send_frame(header(key, version) + b"\x00" + rng.randbytes(rng.randrange(60)))
                bench.settle()
                assert peer.close_reason is None or "internal error" not in peer.close_reason, (
                    ApiKey(key).name,
                    version,
                )
    assert not bench.fatal_errors


def test_a_handler_that_fails_costs_one_connection(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(ctx: object, request: object) -> object:
        raise ValueError("a bug")

    replace_handler(monkeypatch, ApiKey.LIST_CONFIG_RESOURCES, broken)
    bench.peer.send(ListConfigResourcesRequest())
    assert bench.peer.close_reason == "an internal error, logged above"
    assert "LIST_CONFIG_RESOURCES v1" in caplog.text and "a bug" in caplog.text
    assert bench.call(MetadataRequest(topics=[]), peer=bench.connect()).cluster_id


def test_a_handler_that_fails_after_a_wait_costs_one_connection_and_is_resumed(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ottla.ports.effects import Sleep, Steps

    def broken(ctx: object, request: object) -> Steps[object]:
        yield Sleep(5)
        raise ValueError("a bug")

    monkeypatch.setitem(
        TABLE,
        ApiKey.LIST_CONFIG_RESOURCES,
        Api(broken, 0, 1, 0, True, False),
    )
    peer = bench.connect()
    peer.send(ListConfigResourcesRequest())
    reasons = [peer.close_reason]
    bench.settle()
    reasons.append(peer.close_reason)
    assert reasons == [None, "an internal error, logged above"]
    assert bench.call(MetadataRequest(topics=[]), peer=bench.connect()).cluster_id


def test_an_answer_that_cannot_be_encoded_costs_one_connection(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_handler(monkeypatch, ApiKey.LIST_CONFIG_RESOURCES, lambda ctx, request: object())
    bench.peer.send(ListConfigResourcesRequest())
    assert bench.peer.close_reason is not None and not bench.peer.replies


def test_a_pausing_request_holds_back_the_next_one_of_its_connection_only(bench: Bench) -> None:
    """The effect of CreateTopics comes after a wait: what a client sends behind it must see the topic."""
    from broker_bench import produce_request

    from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest

    create = CreateTopicsRequest(
        topics=[CreatableTopic(name="late", num_partitions=1, replication_factor=1)], timeout_ms=1000
    )
    first = bench.peer.send(create)
    second = bench.peer.send(produce_request("late"), 12)
    other = bench.connect()
    bench.call(MetadataRequest(topics=[]), peer=other)
    bench.scheduler.run_until(lambda: len(bench.peer.replies) == 2, within_ms=1000)
    assert bench.peer.answered == [first, second]
    reply = bench.reply(produce_request("late"), second, 12)
    assert reply.responses[0].partition_responses[0].error_code == ErrorCode.NONE


def test_nobody_is_served_before_the_start_and_after_the_shutdown() -> None:
    bench = Bench(start=False)
    bench.peer.send(MetadataRequest(topics=[]))
    assert bench.peer.close_reason is not None
    bench = Bench()
    bench.node.shutdown()
    bench.node.shutdown()
    bench.peer.send(MetadataRequest(topics=[]))
    assert bench.peer.close_reason is not None


def test_every_handler_of_the_table_is_advertised_and_nothing_else() -> None:
    assert set(dispatch.SUPPORTED) == set(TABLE)
    for key, api in TABLE.items():
        assert 0 <= api.advertised_min <= api.version_min <= api.version_max, ApiKey(key).name


def test_every_api_of_the_tables_has_a_handler_in_the_file_of_its_name() -> None:
    for api in (*TABLE.values(), *CONTROLLER_TABLE.values()):
        handle = api.handle.load() if isinstance(api.handle, dispatch._Later) else api.handle
        assert callable(handle)
    assert list(dispatch.load_the_rest()) == []


def test_a_start_loads_the_handlers_that_every_client_asks_and_no_others() -> None:
    code = (
        "import sys, ottla.broker.server\n"
        "from ottla.broker.dispatch import load_the_rest\n"
        "print(*(name for name in sys.modules if name.startswith('ottla.broker.handlers.')))\n"
        "list(load_the_rest())\n"
        "assert 'ottla.broker.handlers.vote' in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.rsplit(".", 1)[1] for name in found.stdout.split()}
    assert {"api_versions", "fetch", "metadata", "produce"} <= loaded
    assert not {"create_topics", "join_group", "end_txn", "vote"} & loaded
