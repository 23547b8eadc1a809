"""DescribeCluster (key 60): id, controller and brokers. v1 tells brokers from controllers; v2 may show
fenced brokers.
"""

from __future__ import annotations

from typing import Final

from ottla.broker.context import RequestContext
from ottla.broker.handlers.metadata import ALL_CLUSTER_OPERATIONS, NOT_ASKED
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
        controller_id=node.node_id,
        cluster_authorized_operations=(
            ALL_CLUSTER_OPERATIONS if request.include_cluster_authorized_operations else NOT_ASKED
        ),
    )
    for broker in node.image.brokers.values():
        if broker.fenced and not request.include_fenced_brokers:
            continue
        endpoint = node.endpoint_of(broker, ctx.peer.listener_name)
        response.brokers.append(
            DescribeClusterBroker(
                broker_id=broker.node_id,
                host=endpoint.host,
                port=endpoint.port,
                rack=broker.rack,
                is_fenced=broker.fenced,
            )
        )
    return response
