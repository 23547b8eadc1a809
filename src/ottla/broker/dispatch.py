"""From a frame to its handler and back: the one visible table of what this broker supports.

ApiVersions is built from `TABLE`, so nothing is advertised that has no handler, and nothing has a handler
that is not advertised. A frame that cannot be understood closes its connection with one log line, as Kafka
does; the exception is ApiVersions, which answers every version, since clients find out with it what they
may say.

Each API has a file in `handlers/` under its own name. Those that every client meets at once are loaded with
this module, the others in the seconds after a start (`load_the_rest`) or when they are asked for: a start
does not wait for fifty files of which it needs four, and what is on disk may be replaced while a broker runs.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from importlib import import_module
from types import GeneratorType
from typing import Any, NamedTuple, cast

from ottla.broker.context import RequestContext
from ottla.broker.handlers import api_versions, fetch, metadata, produce
from ottla.broker.node import Node
from ottla.broker.peer import Peer, ReplySlot
from ottla.broker.replies import NO_REPLY, Close, Encoded
from ottla.broker.side_lane import SideLane
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
    in_line: bool
    """It may wait a turn, so that data goes first (`side_lane.py`)."""
    of_image: bool = False
    """It tells how the cluster stands, and is made anew when replies before it were not sent in time."""


class _InLine(NamedTuple):
    """A request that waits for its turn."""

    peer: Peer
    slot: ReplySlot
    frame: bytearray
    is_holding: bool
    """Nothing is read from its connection before it is served."""


_Handle = Callable[[RequestContext, Any], Any]


class _Later:
    """A handler that is loaded by its first request."""

    __slots__ = ("name", "_handle")

    def __init__(self, name: str) -> None:
        self.name = name
        self._handle: _Handle | None = None

    @property
    def is_loaded(self) -> bool:
        return self._handle is not None

    def load(self) -> _Handle:
        if self._handle is None:
            self._handle = import_module(f"ottla.broker.handlers.{self.name}").handle
        return self._handle

    def __call__(self, ctx: RequestContext, request: Any) -> Any:
        return (self._handle or self.load())(ctx, request)


_Decode = Callable[[memoryview, int, int, int], tuple[Any, int]]


class _Decoders(dict[int, _Decode]):
    """How the request of each API is decoded, loaded likewise."""

    def __missing__(self, key: int) -> _Decode:
        self[key] = found = cast(_Decode, request_class(key).decode)
        return found


def _api(
    key: ApiKey,
    handle: _Handle | None = None,
    *,
    version_max: int | None = None,
    advertised_min: int | None = None,
    pauses: bool = False,
    in_line: bool = False,
    of_image: bool = False,
) -> tuple[ApiKey, Api]:
    facts = APIS[key]
    low = facts.min_version
    high = facts.max_version if version_max is None else version_max
    advertised = low if advertised_min is None else advertised_min
    return key, Api(handle or _Later(key.name.lower()), low, high, advertised, pauses, in_line, of_image)


TABLE: dict[int, Api] = dict(
    (
        _api(ApiKey.PRODUCE, produce.handle, advertised_min=0),
        _api(ApiKey.FETCH, fetch.handle),
        _api(ApiKey.LIST_OFFSETS),
        _api(ApiKey.METADATA, metadata.handle, pauses=True, of_image=True),
        _api(ApiKey.OFFSET_COMMIT, in_line=True),
        _api(ApiKey.OFFSET_FETCH, in_line=True),
        _api(ApiKey.FIND_COORDINATOR, pauses=True, of_image=True),
        _api(ApiKey.JOIN_GROUP, in_line=True),
        _api(ApiKey.HEARTBEAT, in_line=True),
        _api(ApiKey.LEAVE_GROUP, in_line=True),
        _api(ApiKey.SYNC_GROUP, in_line=True),
        _api(ApiKey.DESCRIBE_GROUPS, in_line=True),
        _api(ApiKey.LIST_GROUPS, in_line=True),
        _api(ApiKey.API_VERSIONS, api_versions.handle),
        _api(ApiKey.CREATE_TOPICS, pauses=True),
        _api(ApiKey.DELETE_TOPICS, pauses=True),
        _api(ApiKey.DELETE_RECORDS),
        _api(ApiKey.INIT_PRODUCER_ID, version_max=5, in_line=True),
        _api(ApiKey.ADD_PARTITIONS_TO_TXN, in_line=True),
        _api(ApiKey.ADD_OFFSETS_TO_TXN, in_line=True),
        _api(ApiKey.END_TXN, in_line=True),
        _api(ApiKey.WRITE_TXN_MARKERS, in_line=True),
        _api(ApiKey.TXN_OFFSET_COMMIT, in_line=True),
        _api(ApiKey.OFFSET_FOR_LEADER_EPOCH),
        _api(ApiKey.DESCRIBE_CONFIGS),
        _api(ApiKey.ALTER_CONFIGS, pauses=True),
        _api(ApiKey.DESCRIBE_LOG_DIRS),
        _api(ApiKey.CREATE_PARTITIONS, pauses=True),
        _api(ApiKey.DELETE_GROUPS, in_line=True),
        _api(ApiKey.INCREMENTAL_ALTER_CONFIGS, pauses=True),
        _api(ApiKey.OFFSET_DELETE, in_line=True),
        _api(ApiKey.UPDATE_FEATURES, pauses=True),
        _api(ApiKey.DESCRIBE_CLUSTER, of_image=True),
        _api(ApiKey.DESCRIBE_QUORUM),
        _api(ApiKey.ADD_RAFT_VOTER),
        _api(ApiKey.REMOVE_RAFT_VOTER),
        _api(ApiKey.DESCRIBE_PRODUCERS),
        _api(ApiKey.DESCRIBE_TRANSACTIONS, in_line=True),
        _api(ApiKey.LIST_TRANSACTIONS, in_line=True),
        _api(ApiKey.CONSUMER_GROUP_HEARTBEAT, in_line=True),
        _api(ApiKey.CONSUMER_GROUP_DESCRIBE, in_line=True),
        _api(ApiKey.LIST_CONFIG_RESOURCES),
        _api(ApiKey.DESCRIBE_TOPIC_PARTITIONS, of_image=True),
        _api(ApiKey.ELECT_LEADERS, pauses=True),
        _api(ApiKey.ALTER_PARTITION_REASSIGNMENTS, pauses=True),
        _api(ApiKey.LIST_PARTITION_REASSIGNMENTS, pauses=True),
        _api(ApiKey.UNREGISTER_BROKER, pauses=True),
    )
)

CONTROLLER_TABLE: dict[int, Api] = {
    key: api for key, api in TABLE.items() if "controller" in APIS[key].listeners and key != ApiKey.FETCH
} | dict(
    (
        _api(ApiKey.ALTER_PARTITION),
        _api(ApiKey.ENVELOPE),
        _api(ApiKey.FETCH, _Later("fetch_quorum")),
        _api(ApiKey.FETCH_SNAPSHOT),
        _api(ApiKey.VOTE),
        _api(ApiKey.BEGIN_QUORUM_EPOCH),
        _api(ApiKey.END_QUORUM_EPOCH),
        _api(ApiKey.UPDATE_RAFT_VOTER),
        _api(ApiKey.BROKER_REGISTRATION),
        _api(ApiKey.BROKER_HEARTBEAT),
        _api(ApiKey.ALLOCATE_PRODUCER_IDS),
        _api(ApiKey.CONTROLLER_REGISTRATION),
        _api(ApiKey.ASSIGN_REPLICAS_TO_DIRS),
    )
)
"""What a controller's listener offers: the administrator's APIs, and what nodes ask each other. No client's
listener has the latter.
"""

SUPPORTED = {key: (api.advertised_min, api.version_max) for key, api in TABLE.items()}
CONTROLLER_SUPPORTED = {key: (api.advertised_min, api.version_max) for key, api in CONTROLLER_TABLE.items()}

_IN_LINE = frozenset(int(key) for key, api in TABLE.items() if api.in_line)
_LINE_FRAME_BYTES_MAX = 16 * 1024
"""Larger frames wait one at a time: reading from their connection pauses meanwhile."""
_RENEWED_FRAME_BYTES_MAX = 16 * 1024
"""The request has to be kept until its reply is sent, and there may be many of them."""
_IN_ORDER = frozenset(
    (
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.ADD_PARTITIONS_TO_TXN,
        ApiKey.ADD_OFFSETS_TO_TXN,
        ApiKey.TXN_OFFSET_COMMIT,
        ApiKey.END_TXN,
    )
)
"""Requests that a batch of the same connection may rest on: it does not overtake them while they wait."""
_Renewal = Callable[[], list[Any] | None]
_DECODE = _Decoders()


def load_the_rest() -> Iterator[None]:
    """Loads the handlers that are not loaded yet, one at every step."""
    for key, api in (*TABLE.items(), *CONTROLLER_TABLE.items()):
        if isinstance(api.handle, _Later) and not api.handle.is_loaded:
            api.handle.load()
            _DECODE[key]
            yield


class Dispatcher:
    """Called by every connection, real or simulated, with each frame that arrives."""

    __slots__ = ("_node", "_run", "_table", "_lane")

    def __init__(self, node: Node, *, of_controller: bool = False) -> None:
        """A controller's listener offers the administrator's APIs only."""
        self._node = node
        self._run = node.driver.run
        self._table = CONTROLLER_TABLE if of_controller else TABLE
        self._lane: SideLane[_InLine] = SideLane(node.driver, node.clock, self._serve_next)
        node.supported_apis = SUPPORTED
        node.supported_controller_apis = CONTROLLER_SUPPORTED

    def on_frame(self, peer: Peer, frame: memoryview) -> None:
        """`frame` is only valid during this call, and writable: batches are patched where they lie."""
        if not self._is_ready():
            peer.close_quietly("the broker is not ready yet, or stopping")
            return
        if len(frame) > 1 and frame[0] == 0 and frame[1] in _IN_LINE and not self._lane.may_pass():
            self._stand_in_line(peer, frame)
            return
        self._serve(peer, frame, None)

    def _is_ready(self) -> bool:
        """Other controllers are answered before the broker serves: they decide whether it will."""
        return self._node.controls if self._table is CONTROLLER_TABLE else self._node.serving

    def _stand_in_line(self, peer: Peer, frame: memoryview) -> None:
        slot = peer.open_slot()
        is_holding = len(frame) > _LINE_FRAME_BYTES_MAX or frame[1] in _IN_ORDER
        if is_holding:
            peer.pause_reading(slot)
        # The frame's memory is used again for the next one.
        self._lane.put(_InLine(peer, slot, bytearray(frame), is_holding))

    def _serve_next(self, waiting: _InLine) -> None:
        peer, slot, frame, is_holding = waiting
        if self._is_ready():
            self._serve(peer, memoryview(frame), slot)
        else:
            slot.complete_empty()
            peer.close("the broker is stopping")
        if is_holding:
            peer.resume_reading(slot)

    def _serve(self, peer: Peer, frame: memoryview, slot: ReplySlot | None) -> None:
        """`slot` is the place of a request that stood in line; any other gets its place here."""
        understood = self._understand(peer, frame)
        if understood is None:
            if slot is not None:
                slot.complete_empty()
            return
        header, api, request = understood
        ctx = RequestContext(
            self._node, peer, header.api_key, header.api_version, header.correlation_id, header.client_id
        )
        place = peer.open_slot() if slot is None else slot
        renewal = None
        if api.of_image and len(frame) <= _RENEWED_FRAME_BYTES_MAX:
            renewal = self._renewal(ctx, api, request)
        try:
            result = api.handle(ctx, request)
        except Exception as error:
            self._fail(ctx, place, error)
            return
        if type(result) is GeneratorType:
            if api.pauses:
                peer.pause_reading(place)

            def done(response: Any, error: BaseException | None) -> None:
                if error is not None:
                    self._fail(ctx, place, error)
                else:
                    self._reply(ctx, place, response, renewal)
                if api.pauses:
                    peer.resume_reading(place)

            self._run(result, done)
        else:
            self._reply(ctx, place, result, renewal)

    def _understand(self, peer: Peer, frame: memoryview) -> tuple[RequestHeader, Api, Any] | None:
        """The request in a frame; None when the connection was closed, or answered, instead."""
        end = len(frame)
        try:
            header, pos = decode_request_header(frame, 0, end)
            api = self._table.get(header.api_key)
            version = header.api_version
            if api is None:
                peer.close(f"unknown API key {header.api_key}, version {version}")
                return None
            if not api.version_min <= version <= api.version_max:
                self._refuse_version(peer, header)
                return None
            if end > OTHER_REQUEST_BYTES_MAX and header.api_key != ApiKey.PRODUCE:
                peer.close(f"a request of {end} bytes without records; {OTHER_REQUEST_BYTES_MAX} are allowed")
                return None
            # Bytes that follow the body are ignored, as Kafka does: librdkafka sends some after Metadata v13.
            request, _ = _DECODE[header.api_key](frame, pos, end, version)
        except DecodeError as error:
            peer.close(f"a request that cannot be decoded: {error}")
            return None
        return header, api, request

    def _reply(
        self, ctx: RequestContext, slot: ReplySlot, response: Any, renewal: _Renewal | None = None
    ) -> None:
        if type(response) is bytearray:
            slot.complete([response])  # a whole frame, put together by its handler
        elif type(response) is list:
            slot.complete(response)  # the same in parts, with slices
        elif response is NO_REPLY:
            slot.complete_empty()
        elif isinstance(response, Close):
            slot.complete_empty()
            ctx.peer.close(response.reason)
        else:
            try:
                parts = _frame(ctx, response)
            except Exception as error:
                if isinstance(response, FetchResponse):
                    fetch.release(response)
                self._fail(ctx, slot, error)
                return
            if renewal is not None:
                slot.complete_for_now(parts, renewal)
            else:
                slot.complete(parts)

    def _renewal(self, ctx: RequestContext, api: Api, request: Any) -> _Renewal:
        """A client that looks for new leaders asks on the connection where its batches wait for the old ones
        to be given up. Whatever the image was when it asked, it wants to know what it is when it is told: in
        Kafka a request is handled when those before it are answered.
        """
        node = self._node
        image = node.image

        def renewed() -> list[Any] | None:
            if node.image is image:
                return None
            try:
                result = api.handle(ctx, request)
                if type(result) is GeneratorType:
                    result.close()  # it would take its time; what was true when it was asked will do
                    return None
                return _frame(ctx, result)
            except Exception:
                logger.exception("%s v%d could not be answered anew", ApiKey(ctx.api_key).name, ctx.version)
                return None

        return renewed

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


def _frame(ctx: RequestContext, response: Any) -> list[Any]:
    if isinstance(response, Encoded):
        return response.frame(ctx.correlation_id)
    return encode_response(response, ctx.api_key, ctx.version, ctx.correlation_id)
