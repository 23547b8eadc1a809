"""Administration of configurations: of topics, brokers, their loggers, groups and client metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from ottla.client.admin_part import ITEMS_PER_REQUEST_MAX, AdminPart, no_broker, of_the_broker
from ottla.client.admin_results import Results, failure
from ottla.client.coordinator import chunks
from ottla.client.effects import Call, CallMany, ClientSteps, Versioned
from ottla.client.errors import OttlaError, UnsupportedVersion


class ConfigResourceType(IntEnum):
    """What a configuration belongs to."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32

    @classmethod
    def _missing_(cls, value: object) -> ConfigResourceType:
        return cls.UNKNOWN  # a newer broker's


class ConfigResource(NamedTuple):
    type: ConfigResourceType
    name: str
    """A broker's is its id; the defaults of all brokers are BROKER with the empty name."""


class ConfigSource(IntEnum):
    """Where a configuration's value comes from."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    DYNAMIC_GROUP_CONFIG = 8

    @classmethod
    def _missing_(cls, value: object) -> ConfigSource:
        return cls.UNKNOWN


class ConfigOperation(IntEnum):
    SET = 0
    DELETE = 1
    """Back to the default."""
    APPEND = 2
    """Adds to a list."""
    SUBTRACT = 3


class ConfigSynonym(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource
    read_only: bool
    sensitive: bool
    synonyms: tuple[ConfigSynonym, ...] = ()
    documentation: str | None = None

    @property
    def is_default(self) -> bool:
        return self.source == ConfigSource.DEFAULT_CONFIG


class ConfigChange(NamedTuple):
    name: str
    operation: ConfigOperation
    value: str | None = None


OF_ONE_BROKER = (ConfigResourceType.BROKER, ConfigResourceType.BROKER_LOGGER)
"""Only the broker itself knows its own."""


class ConfigAdmin(AdminPart):
    def describe_configs(
        self,
        resource_type: ConfigResourceType,
        names: Sequence[str],
        *,
        keys: Sequence[str] | None = None,
        synonyms: bool = True,
        documentation: bool = False,
    ) -> ClientSteps[Results[str, list[ConfigEntry]]]:
        """The configuration entries of resources of one type, sorted by name (`keys`: only these)."""
        from ottla.wire.messages.describe_configs import (
            DescribeConfigsRequest,
            DescribeConfigsResource,
            DescribeConfigsResponse,
        )

        found: dict[str, list[ConfigEntry] | OttlaError] = {}
        for node_id, part in (yield from self._pieces(resource_type, names, found)):
            request = DescribeConfigsRequest(
                resources=[
                    DescribeConfigsResource(
                        resource_type=resource_type,
                        resource_name=name,
                        configuration_keys=None if keys is None else list(keys),
                    )
                    for name in part
                ],
                include_synonyms=synonyms,
                include_documentation=documentation,
            )
            response: DescribeConfigsResponse
            if node_id is None:
                response = yield from self._cluster.ask_anyone(request)
            else:
                (answer,) = yield CallMany([Call(node_id, request)])
                error = of_the_broker(answer.error)
                if error is not None:
                    found.update(dict.fromkeys(part, error))
                    continue
                response = answer.response
            for r in response.results:
                subject = f"{resource_type.name.lower()} {r.resource_name}"
                found[r.resource_name] = failure(r.error_code, r.error_message, subject=subject) or sorted(
                    (_entry(c) for c in r.configs), key=lambda entry: entry.name
                )
        return Results.of(names, found)

    def alter_configs(
        self,
        resource_type: ConfigResourceType,
        name: str,
        changes: Sequence[ConfigChange],
        *,
        validate_only: bool = False,
    ) -> ClientSteps[None]:
        """Changes the configuration of one resource; only what the changes name is touched. Raises."""
        resource = ConfigResource(resource_type, name)
        done = yield from self.incremental_alter_configs({resource: changes}, validate_only=validate_only)
        done.all()

    def incremental_alter_configs(
        self,
        changes: Mapping[ConfigResource, Sequence[ConfigChange]],
        *,
        validate_only: bool = False,
    ) -> ClientSteps[Results[ConfigResource, None]]:
        """Changes the configurations of many resources; only what the changes name is touched."""
        from ottla.wire.messages.incremental_alter_configs import (
            AlterableConfig,
            AlterConfigsResource,
            IncrementalAlterConfigsRequest,
            IncrementalAlterConfigsResponse,
        )

        found: dict[ConfigResource, OttlaError | None] = {}
        by_type: dict[ConfigResourceType, list[str]] = {}
        for resource in changes:
            by_type.setdefault(resource.type, []).append(resource.name)
        for resource_type, names in by_type.items():
            refused: dict[str, Any] = {}
            pieces = yield from self._pieces(resource_type, names, refused)
            found.update((ConfigResource(resource_type, name), error) for name, error in refused.items())
            for node_id, part in pieces:
                request = IncrementalAlterConfigsRequest(
                    resources=[
                        AlterConfigsResource(
                            resource_type=resource_type,
                            resource_name=name,
                            configs=[
                                AlterableConfig(name=c.name, config_operation=c.operation, value=c.value)
                                for c in changes[ConfigResource(resource_type, name)]
                            ],
                        )
                        for name in part
                    ],
                    validate_only=validate_only,
                )
                response: IncrementalAlterConfigsResponse
                if node_id is None:
                    response = yield from self._cluster.ask_controller(request)
                else:
                    (answer,) = yield CallMany([Call(node_id, request)])
                    error = of_the_broker(answer.error)
                    if error is not None:
                        found.update((ConfigResource(resource_type, name), error) for name in part)
                        continue
                    response = answer.response
                found.update(
                    (
                        ConfigResource(resource_type, r.resource_name),
                        failure(r.error_code, r.error_message),
                    )
                    for r in response.responses
                )
        return Results.of(changes, found)

    def list_config_resources(
        self, types: Iterable[ConfigResourceType] = ()
    ) -> ClientSteps[list[ConfigResource]]:
        """The resources that have a configuration, sorted (`types`: only these; none named: every type)."""
        from ottla.wire.messages.list_config_resources import (
            ListConfigResourcesRequest,
            ListConfigResourcesResponse,
        )

        wanted = sorted(set(types))

        def build(version: int) -> ListConfigResourcesRequest:
            if version < 1:
                if wanted != [ConfigResourceType.CLIENT_METRICS]:
                    raise UnsupportedVersion("the broker can list resources of client metrics only")
                return ListConfigResourcesRequest()
            return ListConfigResourcesRequest(resource_types=[int(kind) for kind in wanted])

        request = Versioned(ListConfigResourcesRequest.API_KEY, build)
        response: ListConfigResourcesResponse = yield from self._ask_checked(request)
        return sorted(
            ConfigResource(ConfigResourceType(r.resource_type), r.resource_name)
            for r in response.config_resources
        )

    def list_client_metrics_resources(self) -> ClientSteps[list[str]]:
        """The names of the subscriptions to clients' metrics (KIP-714)."""
        found = yield from self.list_config_resources([ConfigResourceType.CLIENT_METRICS])
        return [resource.name for resource in found]

    def _pieces(
        self, resource_type: ConfigResourceType, names: Sequence[str], refused: dict[str, Any]
    ) -> ClientSteps[list[tuple[int | None, list[str]]]]:
        """Which broker has to be asked about which resources; None for those that any broker knows. Names
        that no broker has go into `refused`.
        """
        owners: dict[int | None, list[str]] = {}
        if resource_type not in OF_ONE_BROKER:
            owners[None] = list(dict.fromkeys(names))
        else:
            view = yield from self._cluster.discover(())
            for name in dict.fromkeys(names):
                if name == "":
                    owners.setdefault(None, []).append(name)
                    continue
                node_id = int(name) if name.isascii() and name.isdigit() else -1
                if node_id in view.brokers:
                    owners.setdefault(node_id, []).append(name)
                else:
                    refused[name] = no_broker(name, view.brokers)
        return [
            (node_id, part)
            for node_id, owned in owners.items()
            for part in chunks(owned, ITEMS_PER_REQUEST_MAX)
        ]


def _entry(c: Any) -> ConfigEntry:
    return ConfigEntry(
        c.name,
        c.value,
        ConfigSource(c.config_source),
        c.read_only,
        c.is_sensitive,
        tuple(ConfigSynonym(s.name, s.value, ConfigSource(s.source)) for s in c.synonyms),
        c.documentation,
    )
