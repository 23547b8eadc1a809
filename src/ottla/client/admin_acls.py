"""Administration of access control lists: describe, create, delete, as operations of the core.

An ACL binds a pattern of resources to an entry: who, from where, may or may not do what. Filters are of the
same shape, with None and ANY for what does not matter; the pattern type MATCH asks for everything that
applies to a name: the literal pattern, the wildcard, and prefixes of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Final, NamedTuple

from ottla.client.admin_part import AdminPart
from ottla.client.admin_results import Results, failure
from ottla.client.coordinator import chunks
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument, OttlaError

WILDCARD: Final = "*"
"""As a resource's name: all of them; as a host: any."""

OPERATIONS_NOT_TOLD: Final = -(2**31)
"""The bits of authorized operations where nobody asked for them."""

ACLS_PER_REQUEST_MAX: Final = 500
"""The controller writes a request as one batch of at most 10,000 records."""


class ResourceType(IntEnum):
    """What an ACL is about."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7

    @classmethod
    def _missing_(cls, value: object) -> ResourceType:
        return cls.UNKNOWN  # a newer broker's


class PatternType(IntEnum):
    """How a resource's name is to be read."""

    UNKNOWN = 0
    ANY = 1
    """In filters: patterns of every type."""
    MATCH = 2
    """In filters: every pattern that applies to the name."""
    LITERAL = 3
    PREFIXED = 4

    @classmethod
    def _missing_(cls, value: object) -> PatternType:
        return cls.UNKNOWN


class AclOperation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15

    @classmethod
    def _missing_(cls, value: object) -> AclOperation:
        return cls.UNKNOWN


class AclPermissionType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3

    @classmethod
    def _missing_(cls, value: object) -> AclPermissionType:
        return cls.UNKNOWN


class ResourcePattern(NamedTuple):
    resource_type: ResourceType
    name: str
    """The cluster's is `kafka-cluster`."""
    pattern_type: PatternType = PatternType.LITERAL


class AccessControlEntry(NamedTuple):
    principal: str
    """`User:alice`; `User:*` is everybody."""
    operation: AclOperation
    permission_type: AclPermissionType = AclPermissionType.ALLOW
    host: str = WILDCARD


class AclBinding(NamedTuple):
    pattern: ResourcePattern
    entry: AccessControlEntry

    def vague_part(self) -> str | None:
        """What of it only a filter can say; None when it can be created."""
        for part in (*self.pattern, *self.entry):
            if isinstance(part, IntEnum) and part.name in ("UNKNOWN", "ANY", "MATCH"):
                return f"{type(part).__name__}.{part.name}"
        return None

    def to_filter(self) -> AclBindingFilter:
        """The filter that this binding alone matches."""
        return AclBindingFilter(
            ResourcePatternFilter(*self.pattern),
            AccessControlEntryFilter(
                self.entry.principal, self.entry.operation, self.entry.permission_type, self.entry.host
            ),
        )


class ResourcePatternFilter(NamedTuple):
    resource_type: ResourceType = ResourceType.ANY
    name: str | None = None
    pattern_type: PatternType = PatternType.ANY

    def matches(self, pattern: ResourcePattern) -> bool:
        """As the broker's authorizer matches."""
        if self.resource_type not in (ResourceType.ANY, pattern.resource_type):
            return False
        if self.pattern_type not in (PatternType.ANY, PatternType.MATCH, pattern.pattern_type):
            return False
        if self.name is None:
            return True
        if self.pattern_type is not PatternType.MATCH:
            return self.name == pattern.name
        if pattern.pattern_type is PatternType.PREFIXED:
            return self.name.startswith(pattern.name)
        return pattern.name in (self.name, WILDCARD)


class AccessControlEntryFilter(NamedTuple):
    principal: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission_type: AclPermissionType = AclPermissionType.ANY
    host: str | None = None

    def matches(self, entry: AccessControlEntry) -> bool:
        return (
            self.principal in (None, entry.principal)
            and self.host in (None, entry.host)
            and self.operation in (AclOperation.ANY, entry.operation)
            and self.permission_type in (AclPermissionType.ANY, entry.permission_type)
        )


class AclBindingFilter(NamedTuple):
    """Matches everything, unless its parts say otherwise."""

    pattern: ResourcePatternFilter = ResourcePatternFilter()
    entry: AccessControlEntryFilter = AccessControlEntryFilter()

    def matches(self, binding: AclBinding) -> bool:
        return self.pattern.matches(binding.pattern) and self.entry.matches(binding.entry)


EVERY_ACL: Final = AclBindingFilter()


def operations_of(bits: int) -> frozenset[AclOperation] | None:
    """What a set of authorized operations contains, which travels as bits; None where it was not told."""
    if bits == OPERATIONS_NOT_TOLD:
        return None
    return frozenset(AclOperation(number) for number in range(2, 31) if bits >> number & 1)


class AclAdmin(AdminPart):
    def describe_acls(self, acl_filter: AclBindingFilter = EVERY_ACL) -> ClientSteps[list[AclBinding]]:
        """The ACLs that a filter matches, sorted."""
        from ottla.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse

        pattern, entry = acl_filter
        request = DescribeAclsRequest(
            resource_type_filter=pattern.resource_type,
            resource_name_filter=pattern.name,
            pattern_type_filter=pattern.pattern_type,
            principal_filter=entry.principal,
            host_filter=entry.host,
            operation=entry.operation,
            permission_type=entry.permission_type,
        )
        response: DescribeAclsResponse = yield from self._ask_checked(request)
        return sorted(
            AclBinding(
                ResourcePattern(
                    ResourceType(resource.resource_type),
                    resource.resource_name,
                    PatternType(resource.pattern_type),
                ),
                AccessControlEntry(
                    acl.principal,
                    AclOperation(acl.operation),
                    AclPermissionType(acl.permission_type),
                    acl.host,
                ),
            )
            for resource in response.resources
            for acl in resource.acls
        )

    def create_acls(self, acls: Iterable[AclBinding]) -> ClientSteps[Results[AclBinding, None]]:
        """Adds ACLs; one that is there already stays as it is."""
        from ottla.wire.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse

        asked: dict[AclBinding, None] = dict.fromkeys(acls)
        # One that says ANY would make the broker refuse the whole request.
        found: dict[AclBinding, OttlaError | None] = {
            acl: InvalidArgument(f"an ACL cannot be for {vague}")
            for acl in asked
            if (vague := acl.vague_part())
        }
        for part in chunks([acl for acl in asked if acl not in found], ACLS_PER_REQUEST_MAX):
            request = CreateAclsRequest(
                creations=[
                    AclCreation(
                        resource_type=acl.pattern.resource_type,
                        resource_name=acl.pattern.name,
                        resource_pattern_type=acl.pattern.pattern_type,
                        principal=acl.entry.principal,
                        host=acl.entry.host,
                        operation=acl.entry.operation,
                        permission_type=acl.entry.permission_type,
                    )
                    for acl in part
                ]
            )
            response: CreateAclsResponse = yield from self._cluster.ask_controller(request)
            # The answers stand in the order of the question and name nothing.
            for acl, r in zip(part, response.results, strict=False):
                found[acl] = failure(r.error_code, r.error_message)
        return Results.of(asked, found)

    def delete_acls(
        self, filters: Iterable[AclBindingFilter]
    ) -> ClientSteps[Results[AclBindingFilter, Results[AclBinding, None]]]:
        """Deletes the ACLs that each filter matches, and says which those were."""
        from ottla.wire.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest, DeleteAclsResponse

        asked: dict[AclBindingFilter, None] = dict.fromkeys(filters)
        found: dict[AclBindingFilter, Results[AclBinding, None] | OttlaError] = {}
        for part in chunks(asked, ACLS_PER_REQUEST_MAX):
            request = DeleteAclsRequest(
                filters=[
                    DeleteAclsFilter(
                        resource_type_filter=f.pattern.resource_type,
                        resource_name_filter=f.pattern.name,
                        pattern_type_filter=f.pattern.pattern_type,
                        principal_filter=f.entry.principal,
                        host_filter=f.entry.host,
                        operation=f.entry.operation,
                        permission_type=f.entry.permission_type,
                    )
                    for f in part
                ]
            )
            response: DeleteAclsResponse = yield from self._cluster.ask_controller(request)
            for acl_filter, r in zip(part, response.filter_results, strict=False):
                error = failure(r.error_code, r.error_message)
                found[acl_filter] = error or Results(
                    (
                        AclBinding(
                            ResourcePattern(
                                ResourceType(m.resource_type), m.resource_name, PatternType(m.pattern_type)
                            ),
                            AccessControlEntry(
                                m.principal,
                                AclOperation(m.operation),
                                AclPermissionType(m.permission_type),
                                m.host,
                            ),
                        ),
                        failure(m.error_code, m.error_message),
                    )
                    for m in r.matching_acls
                )
        return Results.of(asked, found)
