"""From a frame to its handler and back: the one visible table of what this broker supports.

ApiVersions is built from `TABLE`, so nothing is advertised that has no handler, and nothing has a handler
that is not advertised. A frame that cannot be understood closes its connection with one log line, as Kafka
does; the exception is ApiVersions, which answers every version, since clients find out with it what they
may say.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from types import GeneratorType
from typing import Any, NamedTuple

from ottla.broker.context import RequestContext
from ottla.broker.handlers import (
    alter_configs,
    api_versions,
    consumer_group_describe,
    consumer_group_heartbeat,
    create_partitions,
    create_topics,
    delete_groups,
    delete_records,
    delete_topics,
    describe_cluster,
    describe_configs,
    describe_groups,
    describe_log_dirs,
    describe_topic_partitions,
    fetch,
    find_coordinator,
    heartbeat,
    incremental_alter_configs,
    init_producer_id,
    join_group,
    leave_group,
    list_config_resources,
    list_groups,
    list_offsets,
    metadata,
    offset_commit,
    offset_delete,
    offset_fetch,
    offset_for_leader_epoch,
    produce,
    sync_group,
    update_features,
)
from ottla.broker.node import Node
from ottla.broker.peer import Peer, ReplySlot
from ottla.broker.replies import NO_REPLY, Close, Encoded
from ottla.model.errors import ErrorCode
from ottla.model.limits import OTHER_REQUEST_BYTES_MAX
from ottla.wire.framing import RequestHeader, decode_request_header, encode_response
from ottla.wire.messages.api_versions import ApiVersionsResponse
from ottla.wire.messages.fetch import FetchResponse
from ottla.wire.messages.index import APIS, ApiKey, request_class
from ottla.wire.primitives import DecodeError

logger = logging.getLogger(__name__)


class Api(NamedTuple):
    handle: Callable[[RequestContext, Any], Any]
    version_min: int
    version_max: int
    advertised_min: int
    pauses: bool
    """The connection's next request waits for this one: its effect comes after a wait."""


def _api(
    key: ApiKey,
    handle: Callable[[RequestContext, Any], Any],
    *,
    version_max: int | None = None,
    advertised_min: int | None = None,
    pauses: bool = False,
) -> tuple[ApiKey, Api]:
    facts = APIS[key]
    low = facts.min_version
    high = facts.max_version if version_max is None else version_max
    return key, Api(handle, low, high, low if advertised_min is None else advertised_min, pauses)


TABLE: dict[int, Api] = dict(
    (
        _api(ApiKey.PRODUCE, produce.handle, advertised_min=0),
        _api(ApiKey.FETCH, fetch.handle),
        _api(ApiKey.LIST_OFFSETS, list_offsets.handle),
        _api(ApiKey.METADATA, metadata.handle, pauses=True),
        _api(ApiKey.OFFSET_COMMIT, offset_commit.handle),
        _api(ApiKey.OFFSET_FETCH, offset_fetch.handle),
        _api(ApiKey.FIND_COORDINATOR, find_coordinator.handle, pauses=True),
        _api(ApiKey.JOIN_GROUP, join_group.handle),
        _api(ApiKey.HEARTBEAT, heartbeat.handle),
        _api(ApiKey.LEAVE_GROUP, leave_group.handle),
        _api(ApiKey.SYNC_GROUP, sync_group.handle),
        _api(ApiKey.DESCRIBE_GROUPS, describe_groups.handle),
        _api(ApiKey.LIST_GROUPS, list_groups.handle),
        _api(ApiKey.API_VERSIONS, api_versions.handle),
        _api(ApiKey.CREATE_TOPICS, create_topics.handle, pauses=True),
        _api(ApiKey.DELETE_TOPICS, delete_topics.handle, pauses=True),
        _api(ApiKey.DELETE_RECORDS, delete_records.handle),
        _api(ApiKey.INIT_PRODUCER_ID, init_producer_id.handle, version_max=5),
        _api(ApiKey.OFFSET_FOR_LEADER_EPOCH, offset_for_leader_epoch.handle),
        _api(ApiKey.DESCRIBE_CONFIGS, describe_configs.handle),
        _api(ApiKey.ALTER_CONFIGS, alter_configs.handle, pauses=True),
        _api(ApiKey.DESCRIBE_LOG_DIRS, describe_log_dirs.handle),
        _api(ApiKey.CREATE_PARTITIONS, create_partitions.handle, pauses=True),
        _api(ApiKey.DELETE_GROUPS, delete_groups.handle),
        _api(ApiKey.INCREMENTAL_ALTER_CONFIGS, incremental_alter_configs.handle, pauses=True),
        _api(ApiKey.OFFSET_DELETE, offset_delete.handle),
        _api(ApiKey.UPDATE_FEATURES, update_features.handle, pauses=True),
        _api(ApiKey.DESCRIBE_CLUSTER, describe_cluster.handle),
        _api(ApiKey.CONSUMER_GROUP_HEARTBEAT, consumer_group_heartbeat.handle),
        _api(ApiKey.CONSUMER_GROUP_DESCRIBE, consumer_group_describe.handle),
        _api(ApiKey.LIST_CONFIG_RESOURCES, list_config_resources.handle),
        _api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, describe_topic_partitions.handle),
    )
)

CONTROLLER_TABLE: dict[int, Api] = {
    key: api for key, api in TABLE.items() if "controller" in APIS[key].listeners and key != ApiKey.FETCH
}

SUPPORTED = {key: (api.advertised_min, api.version_max) for key, api in TABLE.items()}
CONTROLLER_SUPPORTED = {key: SUPPORTED[key] for key in CONTROLLER_TABLE}

_DECODE = {int(key): request_class(key).decode for key in TABLE}


class Dispatcher:
    """Called by every connection, real or simulated, with each frame that arrives."""

    __slots__ = ("_node", "_run", "_table")

    def __init__(self, node: Node, *, of_controller: bool = False) -> None:
        """A controller's listener offers the administrator's APIs only."""
        self._node = node
        self._run = node.driver.run
        self._table = CONTROLLER_TABLE if of_controller else TABLE
        node.supported_apis = SUPPORTED
        node.supported_controller_apis = CONTROLLER_SUPPORTED

    def on_frame(self, peer: Peer, frame: memoryview) -> None:
        """`frame` is only valid during this call, and writable: batches are patched where they lie."""
        if not self._node.serving:
            peer.close("the broker is not ready yet, or stopping")
            return
        end = len(frame)
        try:
            header, pos = decode_request_header(frame, 0, end)
            api = self._table.get(header.api_key)
            version = header.api_version
            if api is None:
                peer.close(f"unknown API key {header.api_key}, version {version}")
                return
            if not api.version_min <= version <= api.version_max:
                self._refuse_version(peer, header)
                return
            if end > OTHER_REQUEST_BYTES_MAX and header.api_key != ApiKey.PRODUCE:
                peer.close(f"a request of {end} bytes without records; {OTHER_REQUEST_BYTES_MAX} are allowed")
                return
            # Bytes that follow the body are ignored, as Kafka does: librdkafka sends some after Metadata v13.
            request, _ = _DECODE[header.api_key](frame, pos, end, version)
        except DecodeError as error:
            peer.close(f"a request that cannot be decoded: {error}")
            return
        ctx = RequestContext(
            self._node, peer, header.api_key, version, header.correlation_id, header.client_id
        )
        slot = peer.open_slot()
        try:
            result = api.handle(ctx, request)
        except Exception as error:
            self._fail(ctx, slot, error)
            return
        if type(result) is GeneratorType:
            if api.pauses:
                peer.pause_reading(slot)

            def done(response: Any, error: BaseException | None) -> None:
                if error is not None:
                    self._fail(ctx, slot, error)
                else:
                    self._reply(ctx, slot, response)
                if api.pauses:
                    peer.resume_reading(slot)

            self._run(result, done)
        else:
            self._reply(ctx, slot, result)

    def _reply(self, ctx: RequestContext, slot: ReplySlot, response: Any) -> None:
        if type(response) is bytearray:
            slot.complete([response])  # a whole frame, put together by its handler
        elif response is NO_REPLY:
            slot.complete_empty()
        elif isinstance(response, Close):
            slot.complete_empty()
            ctx.peer.close(response.reason)
        else:
            try:
                parts = (
                    response.frame(ctx.correlation_id)
                    if isinstance(response, Encoded)
                    else encode_response(response, ctx.api_key, ctx.version, ctx.correlation_id)
                )
            except Exception as error:
                if isinstance(response, FetchResponse):
                    fetch.release(response)
                self._fail(ctx, slot, error)
                return
            slot.complete(parts)

    def _fail(self, ctx: RequestContext, slot: ReplySlot, error: BaseException) -> None:
        """A bug of ours must cost one connection, not the broker: the client reconnects and tries again."""
        logger.error(
            "%s v%d from %s failed", ApiKey(ctx.api_key).name, ctx.version, ctx.peer.peer_host, exc_info=error
        )
        slot.complete_empty()
        ctx.peer.close("an internal error, logged above")

    def _refuse_version(self, peer: Peer, header: RequestHeader) -> None:
        if header.api_key == ApiKey.API_VERSIONS:
            # An exact version 0 body, which every client can read: it then asks again with a version we have.
            answer = ApiVersionsResponse(
                error_code=ErrorCode.UNSUPPORTED_VERSION,
                api_keys=api_versions.api_keys(
                    CONTROLLER_SUPPORTED if self._table is CONTROLLER_TABLE else SUPPORTED
                ),
            )
            peer.open_slot().complete(encode_response(answer, header.api_key, 0, header.correlation_id))
            return
        name = ApiKey(header.api_key).name
        peer.close(f"{name} version {header.api_version} is not supported")
