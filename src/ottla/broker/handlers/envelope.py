"""Envelope (key 58, controllers only): a client's request that a broker forwards (KIP-590).

The request inside is decided here, or not at all: an error of the envelope says that this is not the active
controller, and the broker looks for the right one. Its answer comes back as the broker will send it.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps
from ottla.wire.framing import decode_request, decode_request_header, encode_response
from ottla.wire.messages.envelope import EnvelopeRequest, EnvelopeResponse
from ottla.wire.messages.index import APIS
from ottla.wire.primitives import DecodeError


def handle(ctx: RequestContext, request: EnvelopeRequest) -> Steps[EnvelopeResponse]:
    data = request.request_data
    try:
        header, position = decode_request_header(data, 0, len(data))
        api = APIS.get(header.api_key)
        if api is None or not api.min_version <= header.api_version <= api.max_version:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
        inner = decode_request(header, data, position, len(data))
        if not ctx.node.controllers.controller.decides(type(inner)):
            raise KafkaError(ErrorCode.INVALID_REQUEST)
        response = yield from ctx.node.controllers.decide(inner, header.api_version)
    except DecodeError:
        return EnvelopeResponse(response_data=None, error_code=ErrorCode.INVALID_REQUEST)
    except KafkaError as error:
        return EnvelopeResponse(response_data=None, error_code=error.code)
    parts = encode_response(response, header.api_key, header.api_version, header.correlation_id)
    return EnvelopeResponse(response_data=b"".join(bytes(part) for part in parts)[4:])
