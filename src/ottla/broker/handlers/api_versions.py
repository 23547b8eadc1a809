"""ApiVersions (key 18): what this broker speaks, and the features that the cluster has agreed on.

v3 flexible, with features; v4 may carry features whose lowest level is 0, which older clients take for an
error. The response header is version 0 in every version (see `wire/framing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from ottla.broker.context import RequestContext
from ottla.metadata.features import supported_features
from ottla.model.errors import ErrorCode
from ottla.wire.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?\Z")
"""KIP-511's rule for the client's name and version."""


def handle(ctx: RequestContext, request: ApiVersionsRequest) -> ApiVersionsResponse:
    node = ctx.node
    if ctx.version >= 3 and not (
        _SOFTWARE.match(request.client_software_name) and _SOFTWARE.match(request.client_software_version)
    ):
        return ApiVersionsResponse(error_code=ErrorCode.INVALID_REQUEST)
    features = supported_features()
    finalized = node.image.features
    return ApiVersionsResponse(
        api_keys=api_keys(
            node.supported_controller_apis
            if node.is_controller_listener(ctx.peer.listener_name)
            else node.supported_apis
        ),
        supported_features=[
            SupportedFeatureKey(name=name, min_version=low, max_version=high)
            for name, (low, high) in features.items()
            if low > 0 or ctx.version >= 4
        ],
        finalized_features_epoch=max(node.image.last_offset, 0),
        finalized_features=[
            FinalizedFeatureKey(name=name, min_version_level=level, max_version_level=level)
            for name, level in finalized.items()
        ],
    )


def api_keys(supported: Mapping[int, tuple[int, int]]) -> list[ApiVersion]:
    return [
        ApiVersion(api_key=key, min_version=low, max_version=high)
        for key, (low, high) in sorted(supported.items())
    ]
