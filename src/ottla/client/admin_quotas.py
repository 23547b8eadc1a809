"""Administration of client quotas (KIP-546): how much users, client ids and addresses may use.

A quota belongs to an entity: a user, a client id, both together, or an IP address; a name that is None stands
for all that have no quota of their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.client.admin_part import ITEMS_PER_REQUEST_MAX, AdminPart
from ottla.client.admin_results import Results, failure
from ottla.client.coordinator import chunks
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument, OttlaError

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"
DEFAULT: Final = None
"""As an entity's name: everybody of the kind who has no quota of their own."""


class ClientQuotaEntity(NamedTuple):
    """Whose quota it is. Write `ClientQuotaEntity.of(user="alice", client_id=DEFAULT)`."""

    names: tuple[tuple[str, str | None], ...]
    """Kind (`user`, `client-id`, `ip`) and name, sorted by kind; the name None is the default entity."""

    @classmethod
    def of(cls, names: Mapping[str, str | None] | None = None, /, **more: str | None) -> ClientQuotaEntity:
        """By kind: `user=`, `client_id=`, `ip=`, or a mapping with Kafka's words for the kinds."""
        found = {**(names or {}), **{kind.replace("_", "-"): name for kind, name in more.items()}}
        if not found:
            raise InvalidArgument("a quota's entity needs a user, a client id or an ip")
        return cls(tuple(sorted(found.items(), key=lambda item: item[0])))

    def __str__(self) -> str:
        shown = (f"{kind} {'<default>' if name is None else name}" for kind, name in self.names)
        return ", ".join(shown)


class QuotaMatch(IntEnum):
    EXACT = 0
    DEFAULT = 1
    ANY = 2


class ClientQuotaFilterComponent(NamedTuple):
    kind: str
    match_type: QuotaMatch = QuotaMatch.ANY
    name: str | None = None

    @classmethod
    def of_entity(cls, kind: str, name: str) -> ClientQuotaFilterComponent:
        """The entity of this kind with this name."""
        return cls(kind, QuotaMatch.EXACT, name)

    @classmethod
    def of_default_entity(cls, kind: str) -> ClientQuotaFilterComponent:
        """The default entity of this kind."""
        return cls(kind, QuotaMatch.DEFAULT)

    @classmethod
    def of_entity_type(cls, kind: str) -> ClientQuotaFilterComponent:
        """Every entity of this kind, the default one too."""
        return cls(kind, QuotaMatch.ANY)


class ClientQuotaFilter(NamedTuple):
    """Matches everything, unless components say otherwise."""

    components: tuple[ClientQuotaFilterComponent, ...] = ()
    strict: bool = False
    """Only entities of exactly the kinds that the components name."""

    @classmethod
    def contains(cls, *components: ClientQuotaFilterComponent) -> ClientQuotaFilter:
        """Entities that match all of these, whatever else they have."""
        return cls(components)

    @classmethod
    def contains_only(cls, *components: ClientQuotaFilterComponent) -> ClientQuotaFilter:
        """Entities that match all of these and have nothing else."""
        return cls(components, strict=True)


EVERY_QUOTA: Final = ClientQuotaFilter()


class QuotaAdmin(AdminPart):
    def describe_client_quotas(
        self, quota_filter: ClientQuotaFilter = EVERY_QUOTA
    ) -> ClientSteps[dict[ClientQuotaEntity, dict[str, float]]]:
        """The quotas of the entities that a filter matches."""
        from ottla.wire.messages.describe_client_quotas import (
            ComponentData,
            DescribeClientQuotasRequest,
            DescribeClientQuotasResponse,
        )

        request = DescribeClientQuotasRequest(
            components=[
                ComponentData(entity_type=c.kind, match_type=c.match_type, match=c.name)
                for c in quota_filter.components
            ],
            strict=quota_filter.strict,
        )
        response: DescribeClientQuotasResponse = yield from self._ask_checked(request)
        return {
            ClientQuotaEntity.of({part.entity_type: part.entity_name for part in e.entity}): {
                value.key: value.value for value in e.values
            }
            for e in response.entries or ()
        }

    def alter_client_quotas(
        self,
        quotas: Mapping[ClientQuotaEntity, Mapping[str, float | None]],
        *,
        validate_only: bool = False,
    ) -> ClientSteps[Results[ClientQuotaEntity, None]]:
        """Sets quotas by Kafka's keys (`producer_byte_rate`, ...); None removes one. Others stay."""
        from ottla.wire.messages.alter_client_quotas import (
            AlterClientQuotasRequest,
            AlterClientQuotasRequestEntityData,
            AlterClientQuotasRequestEntryData,
            AlterClientQuotasResponse,
            OpData,
        )

        found: dict[ClientQuotaEntity, OttlaError | None] = {}
        for part in chunks(quotas.items(), ITEMS_PER_REQUEST_MAX):
            request = AlterClientQuotasRequest(
                entries=[
                    AlterClientQuotasRequestEntryData(
                        entity=[
                            AlterClientQuotasRequestEntityData(entity_type=kind, entity_name=name)
                            for kind, name in entity.names
                        ],
                        ops=[
                            OpData(
                                key=key, value=0.0 if value is None else float(value), remove=value is None
                            )
                            for key, value in values.items()
                        ],
                    )
                    for entity, values in part
                ],
                validate_only=validate_only,
            )
            response: AlterClientQuotasResponse = yield from self._cluster.ask_controller(request)
            for e in response.entries:
                entity = ClientQuotaEntity.of({part.entity_type: part.entity_name for part in e.entity})
                found[entity] = failure(e.error_code, e.error_message, subject=str(entity))
        return Results.of(quotas, found)
