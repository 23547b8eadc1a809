"""ListConfigResources (key 74): which resources have a configuration. v0 lists client metrics only; v1 by
types.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.metadata.image import (
    BROKER_LOGGER_RESOURCE,
    BROKER_RESOURCE,
    CLIENT_METRICS_RESOURCE,
    GROUP_RESOURCE,
    TOPIC_RESOURCE,
)
from ottla.model.errors import ErrorCode
from ottla.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

_LISTABLE = (TOPIC_RESOURCE, BROKER_RESOURCE, BROKER_LOGGER_RESOURCE, CLIENT_METRICS_RESOURCE, GROUP_RESOURCE)


def handle(ctx: RequestContext, request: ListConfigResourcesRequest) -> ListConfigResourcesResponse:
    if ctx.version == 0:
        types: tuple[int, ...] = (CLIENT_METRICS_RESOURCE,)
    else:
        types = tuple(dict.fromkeys(request.resource_types)) or _LISTABLE
    if any(each not in _LISTABLE for each in types):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    image = ctx.node.image
    response = ListConfigResourcesResponse()
    for kind in types:
        if kind == TOPIC_RESOURCE:
            names = sorted(image.topics)
        elif kind in (BROKER_RESOURCE, BROKER_LOGGER_RESOURCE):
            names = sorted(str(node_id) for node_id in image.brokers)
        else:
            names = sorted(name for of_kind, name in image.configs if of_kind == kind)
        response.config_resources += [
            ConfigResource(resource_name=name, resource_type=kind) for name in names
        ]
    return response
