"""Administration of delegation tokens (KIP-48): create, renew, expire, describe.

A broker gives tokens only over an authenticated connection (SASL or mutual TLS), and only when it has a
`delegation.token.secret.key`; else it says DELEGATION_TOKEN_REQUEST_NOT_ALLOWED or
DELEGATION_TOKEN_AUTH_DISABLED. A token's HMAC is its password: it is never shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.client.admin_part import AdminPart
from ottla.client.effects import ClientSteps, Versioned
from ottla.client.errors import UnsupportedVersion


class KafkaPrincipal(NamedTuple):
    name: str
    type: str = "User"

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"


@dataclass(frozen=True, slots=True)
class DelegationToken:
    token_id: str
    hmac: bytes = field(repr=False)
    """The secret: with it whoever has it logs in as the owner."""
    owner: KafkaPrincipal
    requester: KafkaPrincipal
    """Who asked for it; the owner, where the broker is too old to tell."""
    renewers: tuple[KafkaPrincipal, ...]
    issue_ms: int
    expiry_ms: int
    max_ms: int
    """Until when it can be renewed at the most."""


class TokenAdmin(AdminPart):
    def create_delegation_token(
        self,
        *,
        owner: KafkaPrincipal | None = None,
        renewers: Iterable[KafkaPrincipal] = (),
        max_lifetime_ms: int = -1,
    ) -> ClientSteps[DelegationToken]:
        """A new token for the caller, or for another owner (KIP-373); -1: as long as the broker allows."""
        from ottla.wire.messages.create_delegation_token import (
            CreatableRenewers,
            CreateDelegationTokenRequest,
            CreateDelegationTokenResponse,
        )

        named = tuple(renewers)

        def build(version: int) -> CreateDelegationTokenRequest:
            if version < 3 and owner is not None:
                raise UnsupportedVersion("the broker is too old to give a token to another owner")
            return CreateDelegationTokenRequest(
                # To the broker null is the caller itself; below version 3 there is no such field.
                owner_principal_type=owner.type if owner else (None if version >= 3 else ""),
                owner_principal_name=owner.name if owner else (None if version >= 3 else ""),
                renewers=[CreatableRenewers(principal_type=r.type, principal_name=r.name) for r in named],
                max_lifetime_ms=max_lifetime_ms,
            )

        request = Versioned(CreateDelegationTokenRequest.API_KEY, build)
        r: CreateDelegationTokenResponse = yield from self._ask_checked(request, controller=True)
        token_owner = KafkaPrincipal(r.principal_name, r.principal_type)
        asked_by = KafkaPrincipal(r.token_requester_principal_name, r.token_requester_principal_type)
        return DelegationToken(
            r.token_id,
            bytes(r.hmac),
            token_owner,
            asked_by if asked_by.name else token_owner,
            named,
            r.issue_timestamp_ms,
            r.expiry_timestamp_ms,
            r.max_timestamp_ms,
        )

    def renew_delegation_token(self, hmac: bytes, *, renew_period_ms: int = -1) -> ClientSteps[int]:
        """Lets a token live longer; gives the time (ms) at which it will expire."""
        from ottla.wire.messages.renew_delegation_token import (
            RenewDelegationTokenRequest,
            RenewDelegationTokenResponse,
        )

        request = RenewDelegationTokenRequest(hmac=hmac, renew_period_ms=renew_period_ms)
        response: RenewDelegationTokenResponse = yield from self._ask_checked(request, controller=True)
        return response.expiry_timestamp_ms

    def expire_delegation_token(self, hmac: bytes, *, expiry_period_ms: int = -1) -> ClientSteps[int]:
        """Lets a token end: at once (-1), or after a time; gives the time (ms) at which it will."""
        from ottla.wire.messages.expire_delegation_token import (
            ExpireDelegationTokenRequest,
            ExpireDelegationTokenResponse,
        )

        request = ExpireDelegationTokenRequest(hmac=hmac, expiry_time_period_ms=expiry_period_ms)
        response: ExpireDelegationTokenResponse = yield from self._ask_checked(request, controller=True)
        return response.expiry_timestamp_ms

    def describe_delegation_tokens(
        self, owners: Iterable[KafkaPrincipal] | None = None
    ) -> ClientSteps[list[DelegationToken]]:
        """The tokens that the caller may see (of these owners; None: of all)."""
        from ottla.wire.messages.describe_delegation_token import (
            DescribeDelegationTokenOwner,
            DescribeDelegationTokenRequest,
            DescribeDelegationTokenResponse,
        )

        request = DescribeDelegationTokenRequest(
            owners=None
            if owners is None
            else [DescribeDelegationTokenOwner(principal_type=o.type, principal_name=o.name) for o in owners]
        )
        response: DescribeDelegationTokenResponse = yield from self._ask_checked(request)
        found = []
        for t in response.tokens:
            owner = KafkaPrincipal(t.principal_name, t.principal_type)
            asked_by = KafkaPrincipal(t.token_requester_principal_name, t.token_requester_principal_type)
            found.append(
                DelegationToken(
                    t.token_id,
                    bytes(t.hmac),
                    owner,
                    asked_by if asked_by.name else owner,
                    tuple(KafkaPrincipal(r.principal_name, r.principal_type) for r in t.renewers),
                    t.issue_timestamp,
                    t.expiry_timestamp,
                    t.max_timestamp,
                )
            )
        return sorted(found, key=lambda token: token.token_id)
