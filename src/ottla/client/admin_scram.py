"""Administration of SCRAM credentials (KIP-554): which users there are, their passwords set or taken away.

A password never leaves this process: what is sent is a salt and the salted password (RFC 5802's `Hi`, that is
PBKDF2). Neither is ever shown: not in a `repr`, not in a log, not in an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple, TypeAlias

from ottla.client.admin_part import AdminPart
from ottla.client.admin_results import Results, failure
from ottla.client.effects import ClientSteps
from ottla.client.errors import InvalidArgument, OttlaError

SALT_BYTES: Final = 24
ITERATIONS_MIN: Final = 4_096
"""What Kafka takes at the least, and what its tools use when nobody says otherwise."""


class ScramMechanism(IntEnum):
    UNKNOWN = 0
    SCRAM_SHA_256 = 1
    SCRAM_SHA_512 = 2

    @classmethod
    def _missing_(cls, value: object) -> ScramMechanism:
        return cls.UNKNOWN  # a newer broker's

    @property
    def mechanism_name(self) -> str:
        """As SASL spells it: `SCRAM-SHA-256`."""
        return self.name.replace("_", "-")


HASHES: Final = {ScramMechanism.SCRAM_SHA_256: "sha256", ScramMechanism.SCRAM_SHA_512: "sha512"}


class ScramCredentialInfo(NamedTuple):
    """What a broker tells of a credential."""

    mechanism: ScramMechanism
    iterations: int


@dataclass(frozen=True, slots=True)
class UserScramCredentialUpsertion:
    """Sets a user's password for one mechanism."""

    user: str
    password: str | bytes = field(repr=False)
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512
    iterations: int = ITERATIONS_MIN
    salt: bytes = field(default_factory=lambda: os.urandom(SALT_BYTES), repr=False)

    def salted_password(self) -> bytes:
        """PBKDF2 of the password's UTF-8 bytes, as Kafka's tools make it (no further normalisation)."""
        import hashlib  # only here is it needed, and it takes a while to load

        name = HASHES.get(self.mechanism)
        if name is None:
            raise InvalidArgument(f"user {self.user}: this is not a mechanism of SCRAM")
        if self.iterations < 1 or not self.salt:
            raise InvalidArgument(f"user {self.user}: there have to be iterations and a salt")
        password = self.password.encode() if isinstance(self.password, str) else self.password
        if not password:
            raise InvalidArgument(f"user {self.user}: the password is empty")
        return hashlib.pbkdf2_hmac(name, password, self.salt, self.iterations)


class UserScramCredentialDeletion(NamedTuple):
    """Takes a user's password for one mechanism away."""

    user: str
    mechanism: ScramMechanism = ScramMechanism.SCRAM_SHA_512


UserScramCredentialAlteration: TypeAlias = UserScramCredentialUpsertion | UserScramCredentialDeletion


class ScramAdmin(AdminPart):
    def describe_user_scram_credentials(
        self, users: Iterable[str] | None = None
    ) -> ClientSteps[Results[str, tuple[ScramCredentialInfo, ...]]]:
        """The mechanisms and iterations of users (None: of all who have a credential), never the secrets."""
        from ottla.wire.messages.describe_user_scram_credentials import (
            DescribeUserScramCredentialsRequest,
            DescribeUserScramCredentialsResponse,
            UserName,
        )

        asked = None if users is None else list(dict.fromkeys(users))
        if asked == []:
            return Results()  # to the broker an empty list means everybody
        request = DescribeUserScramCredentialsRequest(
            users=None if asked is None else [UserName(name=user) for user in asked]
        )
        response: DescribeUserScramCredentialsResponse = yield from self._ask_checked(request)
        found: dict[str, tuple[ScramCredentialInfo, ...] | OttlaError] = {}
        for r in response.results:
            error = failure(r.error_code, r.error_message, subject=f"user {r.user}")
            found[r.user] = error or tuple(
                sorted(
                    ScramCredentialInfo(ScramMechanism(info.mechanism), info.iterations)
                    for info in r.credential_infos
                )
            )
        return Results.of(sorted(found) if asked is None else asked, found)

    def alter_user_scram_credentials(
        self, alterations: Iterable[UserScramCredentialAlteration]
    ) -> ClientSteps[Results[str, None]]:
        """Sets and takes away passwords: of each user one at a time, or it is DUPLICATE_RESOURCE."""
        from ottla.wire.messages.alter_user_scram_credentials import (
            AlterUserScramCredentialsRequest,
            AlterUserScramCredentialsResponse,
            ScramCredentialDeletion,
            ScramCredentialUpsertion,
        )

        wanted = list(alterations)
        found: dict[str, OttlaError | None] = {}
        salted: list[tuple[UserScramCredentialUpsertion, bytes]] = []
        for alteration in wanted:
            if isinstance(alteration, UserScramCredentialUpsertion):
                try:
                    salted.append((alteration, alteration.salted_password()))
                except InvalidArgument as error:
                    found[alteration.user] = error
        request = AlterUserScramCredentialsRequest(
            deletions=[
                ScramCredentialDeletion(name=a.user, mechanism=a.mechanism)
                for a in wanted
                if isinstance(a, UserScramCredentialDeletion) and a.user not in found
            ],
            upsertions=[
                ScramCredentialUpsertion(
                    name=a.user,
                    mechanism=a.mechanism,
                    iterations=a.iterations,
                    salt=a.salt,
                    salted_password=password,
                )
                for a, password in salted
                if a.user not in found
            ],
        )
        if request.deletions or request.upsertions:
            response: AlterUserScramCredentialsResponse = yield from self._cluster.ask_controller(request)
            for r in response.results:
                found[r.user] = failure(r.error_code, r.error_message, subject=f"user {r.user}")
        return Results.of(dict.fromkeys(a.user for a in wanted), found)
