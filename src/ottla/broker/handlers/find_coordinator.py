"""FindCoordinator (key 10): which broker coordinates a group, or a transactional id.

v1 key types and messages; v4 many keys at once (KIP-699). The coordinator is the leader of the partition of
`__consumer_offsets`, or of `__transaction_state`, that the key belongs to; the first question creates that
topic, and its answer waits until the topic is there. This broker has no coordinator for share groups.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.broker.node import Node
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TRANSACTION_STATE_TOPIC
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest, FindCoordinatorResponse

GROUP = 0
TRANSACTION = 1

TOPICS = {GROUP: CONSUMER_OFFSETS_TOPIC, TRANSACTION: TRANSACTION_STATE_TOPIC}

KEYS_PER_TURN = 100
"""A request may name a million; the other connections are served in between."""


def handle(
    ctx: RequestContext, request: FindCoordinatorRequest
) -> FindCoordinatorResponse | Steps[FindCoordinatorResponse]:
    topic = TOPICS.get(request.key_type)
    if topic is not None and topic not in ctx.node.image.topics:
        return _create_and_respond(ctx, request, topic)
    if len(request.coordinator_keys) > KEYS_PER_TURN:
        return _respond_in_turns(ctx, request, None)
    return _respond(ctx, request, None)


def _create_and_respond(
    ctx: RequestContext, request: FindCoordinatorRequest, topic: str
) -> Steps[FindCoordinatorResponse]:
    """Kafka answers COORDINATOR_NOT_AVAILABLE and creates meanwhile; here the first answer is final."""
    refusals = yield from ctx.node.auto_creation.create([topic])
    refused = None
    if topic in refusals:
        error = refusals[topic]
        refused = KafkaError(
            ErrorCode.COORDINATOR_NOT_AVAILABLE,
            f"{topic} could not be created: {error.message or error.code.name}",
        )
    return (yield from _respond_in_turns(ctx, request, refused))


def _respond_in_turns(
    ctx: RequestContext, request: FindCoordinatorRequest, refused: KafkaError | None
) -> Steps[FindCoordinatorResponse]:
    if ctx.version < 4:
        return _respond(ctx, request, refused)
    response = FindCoordinatorResponse()
    for done, key in enumerate(request.coordinator_keys, 1):
        response.coordinators.append(_find(ctx, request.key_type, key, refused))
        if done % KEYS_PER_TURN == 0:
            yield Sleep(0)
    return response


def _respond(
    ctx: RequestContext, request: FindCoordinatorRequest, refused: KafkaError | None
) -> FindCoordinatorResponse:
    keys = request.coordinator_keys if ctx.version >= 4 else [request.key]
    found = [_find(ctx, request.key_type, key, refused) for key in keys]
    if ctx.version >= 4:
        return FindCoordinatorResponse(coordinators=found)
    only = found[0]
    return FindCoordinatorResponse(
        error_code=only.error_code,
        error_message=only.error_message,
        node_id=only.node_id,
        host=only.host,
        port=only.port,
    )


def _find(ctx: RequestContext, key_type: int, key: str, refused: KafkaError | None) -> Coordinator:
    try:
        if refused is not None:
            raise refused
        node_id = _coordinator_of(ctx.node, key_type, key)
        broker = ctx.node.image.brokers.get(node_id)
        endpoint = None if broker is None else broker.listeners.get(ctx.peer.listener_name)
        if endpoint is None:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    except KafkaError as error:
        return Coordinator(key=key, node_id=-1, port=-1, error_code=error.code, error_message=error.message)
    return Coordinator(key=key, node_id=node_id, host=endpoint.host, port=endpoint.port)


def _coordinator_of(node: Node, key_type: int, key: str) -> int:
    name = TOPICS.get(key_type)
    if name is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"there are no coordinators of type {key_type}")
    topic = node.image.topics.get(name)
    if topic is None:
        raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    coordinator = node.groups if key_type == GROUP else node.transactions
    return topic.partitions[coordinator.partition_of(key)].leader
