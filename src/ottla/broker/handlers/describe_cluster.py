"""DescribeCluster (key 60): id, controller and brokers. v1 tells brokers from controllers; v2 may show
fenced brokers. A broker's listener describes brokers, a controller's the controllers (KIP-919).
"""

from __future__ import annotations

from typing import Final

from ottla.broker.context import RequestContext
from ottla.broker.handlers.metadata import ALL_CLUSTER_OPERATIONS, NOT_ASKED
from ottla.broker.metadata_cache import shown_controller
from ottla.broker.node import Node
from ottla.model.errors import ErrorCode
from ottla.wire.messages.describe_cluster import (
    DescribeClusterBroker,
    DescribeClusterRequest,
    DescribeClusterResponse,
)

BROKERS: Final = 1
CONTROLLERS: Final = 2


def handle(ctx: RequestContext, request: DescribeClusterRequest) -> DescribeClusterResponse:
    node = ctx.node
    at_controller = node.is_controller_listener(ctx.peer.listener_name)
    if request.endpoint_type != (CONTROLLERS if at_controller else BROKERS):
        return DescribeClusterResponse(
            error_code=ErrorCode.MISMATCHED_ENDPOINT_TYPE
            if request.endpoint_type in (BROKERS, CONTROLLERS)
            else ErrorCode.UNSUPPORTED_ENDPOINT_TYPE,
            error_message="a broker's listener describes brokers, a controller's listener controllers",
            cluster_id=node.cluster_id,
        )
    response = DescribeClusterResponse(
        cluster_id=node.cluster_id,
        endpoint_type=request.endpoint_type,
        cluster_authorized_operations=(
            ALL_CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
    if at_controller:
        response.controller_id = node.quorum.leader_id
        response.brokers = _controllers(node, ctx.peer.listener_name)
    else:
        response.controller_id = shown_controller(node)
        response.brokers = _brokers(node, ctx.peer.listener_name, request.include_fenced_brokers)
    return response


def _brokers(node: Node, listener_name: str, with_fenced: bool) -> list[DescribeClusterBroker]:
    return [
        DescribeClusterBroker(
            broker_id=broker.node_id,
            host=endpoint.host,
            port=endpoint.port,
            rack=broker.rack,
            is_fenced=broker.fenced,
        )
        for broker in node.image.brokers.values()
        if (with_fenced or not broker.fenced)
        and (endpoint := broker.listeners.get(listener_name)) is not None
    ]


def _controllers(node: Node, listener_name: str) -> list[DescribeClusterBroker]:
    """Those that have registered, at the listener that was asked; else the voters that this node knows of
    (KIP-919).
    """
    found = {
        voter.node_id: DescribeClusterBroker(broker_id=voter.node_id, host=voter.host, port=voter.port)
        for voter in node.server_config.voters
    }
    for controller_id, record in node.image.controllers.items():
        for endpoint in record.end_points:
            if endpoint.name == listener_name:
                found[controller_id] = DescribeClusterBroker(
                    broker_id=controller_id, host=endpoint.host, port=endpoint.port
                )
    return [found[each] for each in sorted(found)]
