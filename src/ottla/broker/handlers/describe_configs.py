"""DescribeConfigs (key 32): the configuration of topics and brokers, with where each value comes from.

v1 synonyms and sources; v3 types and documentation; v4 flexible. Sensitive values are never sent.
"""

from __future__ import annotations

from ottla.broker.context import RequestContext
from ottla.metadata.config import ConfigEntry
from ottla.metadata.image import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.topics import topic_name_problem
from ottla.ports.effects import Sleep, Steps
from ottla.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    DescribeConfigsSynonym,
)

RESOURCES_PER_TURN = 2
"""A resource has some hundred entries with their synonyms and texts: about a millisecond."""


def handle(
    ctx: RequestContext, request: DescribeConfigsRequest
) -> DescribeConfigsResponse | Steps[DescribeConfigsResponse]:
    # Each once: the answer is a thousand times the question, which may name a resource as often as it likes.
    resources = list({(each.resource_type, each.resource_name): each for each in request.resources}.values())
    if len(resources) > RESOURCES_PER_TURN:
        return _describe_many(ctx, request, resources)
    return DescribeConfigsResponse(results=[_describe(ctx, request, resource) for resource in resources])


def _describe_many(
    ctx: RequestContext, request: DescribeConfigsRequest, resources: list[DescribeConfigsResource]
) -> Steps[DescribeConfigsResponse]:
    response = DescribeConfigsResponse()
    for done, resource in enumerate(resources):
        if done and done % RESOURCES_PER_TURN == 0:
            yield Sleep(0)
        response.results.append(_describe(ctx, request, resource))
    return response


def _describe(
    ctx: RequestContext, request: DescribeConfigsRequest, resource: DescribeConfigsResource
) -> DescribeConfigsResult:
    result = DescribeConfigsResult(
        resource_type=resource.resource_type, resource_name=resource.resource_name, error_message=None
    )
    try:
        entries = _entries(ctx, resource, request.include_synonyms, request.include_documentation)
        result.configs = [_result(entry) for entry in entries]
    except KafkaError as error:
        result.error_code = error.code
        result.error_message = error.message
    return result


def _entries(
    ctx: RequestContext, resource: DescribeConfigsResource, synonyms: bool, docs: bool
) -> list[ConfigEntry]:
    node = ctx.node
    name = resource.resource_name
    keys = resource.configuration_keys
    wanted = set(keys) if keys is not None else None
    if resource.resource_type == TOPIC_RESOURCE:
        problem = topic_name_problem(name)
        if problem is not None:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, problem)
        if name not in node.image.topics:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {name}")
        return node.config.describe_topic(name, wanted, synonyms=synonyms, docs=docs)
    if resource.resource_type == BROKER_RESOURCE:
        return node.config.describe_broker(name, wanted, synonyms=synonyms, docs=docs)
    if resource.resource_type == GROUP_RESOURCE:
        if not name:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "a group's configuration needs the group's name")
        return node.config.describe_group(name, wanted, synonyms=synonyms, docs=docs)
    raise KafkaError(
        ErrorCode.INVALID_REQUEST, f"resource type {resource.resource_type} has no configuration here"
    )


def _result(entry: ConfigEntry) -> DescribeConfigsResourceResult:
    return DescribeConfigsResourceResult(
        name=entry.name,
        value=entry.value,
        read_only=entry.read_only,
        config_source=entry.source,
        is_sensitive=entry.sensitive,
        synonyms=[
            DescribeConfigsSynonym(name=each.name, value=each.value, source=each.source)
            for each in entry.synonyms
        ],
        config_type=entry.type,
        documentation=entry.doc,
    )
