"""Administration of who may do what: ACLs, quotas, SCRAM credentials, delegation tokens."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
from typing import Any

import pytest
from admin_script import AdminScript
from hypothesis import given
from hypothesis import strategies as st

from ottla.client.admin_acls import (
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    operations_of,
)
from ottla.client.admin_quotas import (
    CLIENT_ID,
    DEFAULT,
    USER,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    QuotaMatch,
)
from ottla.client.admin_scram import (
    ITERATIONS_MIN,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.client.admin_tokens import DelegationToken, KafkaPrincipal
from ottla.client.errors import InvalidArgument, ProtocolError, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode
from ottla.wire.messages import alter_client_quotas, describe_client_quotas
from ottla.wire.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from ottla.wire.messages.create_acls import AclCreationResult, CreateAclsResponse
from ottla.wire.messages.create_delegation_token import CreateDelegationTokenResponse
from ottla.wire.messages.delete_acls import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from ottla.wire.messages.describe_acls import AclDescription, DescribeAclsResource, DescribeAclsResponse
from ottla.wire.messages.describe_delegation_token import (
    DescribedDelegationToken,
    DescribedDelegationTokenRenewer,
    DescribeDelegationTokenResponse,
)
from ottla.wire.messages.describe_user_scram_credentials import (
    CredentialInfo,
    DescribeUserScramCredentialsResponse,
    DescribeUserScramCredentialsResult,
)

TOPIC = ResourcePattern(ResourceType.TOPIC, "logs", PatternType.LITERAL)
READER = AclBinding(TOPIC, AccessControlEntry("User:alice", AclOperation.READ))

patterns = st.builds(
    ResourcePattern,
    st.sampled_from([ResourceType.TOPIC, ResourceType.GROUP, ResourceType.USER]),
    st.sampled_from(["*", "l", "lo", "logs", "logs-eu", "other"]),
    st.sampled_from([PatternType.LITERAL, PatternType.PREFIXED]),
)
entries = st.builds(
    AccessControlEntry,
    st.sampled_from(["User:alice", "User:*"]),
    st.sampled_from([AclOperation.READ, AclOperation.ALL]),
    st.sampled_from([AclPermissionType.ALLOW, AclPermissionType.DENY]),
    st.sampled_from(["*", "10.0.0.1"]),
)
bindings = st.builds(AclBinding, patterns, entries)


@pytest.fixture
def script() -> AdminScript:
    return AdminScript()


# -- ACLs


@given(bindings, bindings)
def test_a_bindings_own_filter_matches_it_and_nothing_else(one: AclBinding, other: AclBinding) -> None:
    assert one.to_filter().matches(one)
    assert one.to_filter().matches(other) is (one == other)
    assert AclBindingFilter().matches(one)


@given(patterns, st.sampled_from(["l", "logs", "logs-eu-1", "*"]))
def test_match_finds_what_applies_to_a_name(pattern: ResourcePattern, name: str) -> None:
    """Kafka's PatternType.MATCH: the literal, the wildcard, and every prefix of the name."""
    found = ResourcePatternFilter(pattern.resource_type, name, PatternType.MATCH).matches(pattern)
    applies = (
        name.startswith(pattern.name)
        if pattern.pattern_type is PatternType.PREFIXED
        else pattern.name in ("*", name)
    )
    assert found is applies
    assert not ResourcePatternFilter(ResourceType.CLUSTER, name, PatternType.MATCH).matches(pattern)


@given(st.sets(st.sampled_from([op for op in AclOperation if op >= 2])))
def test_authorized_operations_travel_as_bits(operations: set[AclOperation]) -> None:
    assert operations_of(sum(1 << op for op in operations)) == operations
    assert operations_of(-(2**31)) is None


def test_a_filter_is_sent_with_null_for_what_does_not_matter(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> DescribeAclsResponse:
        acls = [
            AclDescription(principal="User:z", host="*", operation=3, permission_type=3),
            AclDescription(principal="User:a", host="10.0.0.1", operation=99, permission_type=2),
        ]
        resource = DescribeAclsResource(resource_type=2, resource_name="logs", pattern_type=4, acls=acls)
        return DescribeAclsResponse(resources=[resource])

    script.handlers["DescribeAcls"] = answer
    wanted = AclBindingFilter(
        ResourcePatternFilter(ResourceType.TOPIC, "logs", PatternType.MATCH),
        AccessControlEntryFilter(operation=AclOperation.READ),
    )
    found = script.run(script.access.describe_acls(wanted))
    prefix = ResourcePattern(ResourceType.TOPIC, "logs", PatternType.PREFIXED)
    assert found == [
        AclBinding(
            prefix,
            AccessControlEntry("User:a", AclOperation.UNKNOWN, AclPermissionType.DENY, "10.0.0.1"),
        ),
        AclBinding(prefix, AccessControlEntry("User:z", AclOperation.READ)),
    ]
    ((_, request),) = script.asked("DescribeAcls")
    assert (request.resource_type_filter, request.resource_name_filter, request.pattern_type_filter) == (
        2,
        "logs",
        2,
    )
    assert (request.principal_filter, request.host_filter) == (None, None)
    assert (request.operation, request.permission_type) == (3, 1)


def test_a_cluster_without_authorizer_says_so(script: AdminScript) -> None:
    script.answer(
        "DescribeAcls", DescribeAclsResponse(error_code=54, error_message="No Authorizer is configured.")
    )
    with pytest.raises(ServerError, match="No Authorizer is configured") as caught:
        script.run(script.access.describe_acls())
    assert caught.value.code is ErrorCode.SECURITY_DISABLED


def test_created_acls_have_the_outcome_at_their_place(script: AdminScript) -> None:
    """CreateAcls answers in the order of the question and names nothing."""
    other = AclBinding(TOPIC, AccessControlEntry("User:bob", AclOperation.WRITE))
    script.answer(
        "CreateAcls",
        CreateAclsResponse(results=[AclCreationResult(), AclCreationResult(error_code=42)]),
    )
    results = script.run(script.access.create_acls([READER, other, READER]))
    assert results[READER] is None
    assert results[other].code is ErrorCode.INVALID_REQUEST
    ((node, request),) = script.asked("CreateAcls")
    assert node == 1
    assert [(c.principal, c.operation, c.permission_type, c.host) for c in request.creations] == [
        ("User:alice", 3, 3, "*"),
        ("User:bob", 4, 3, "*"),
    ]


def test_an_answer_that_is_too_short_leaves_no_acl_without_outcome(script: AdminScript) -> None:
    script.answer("CreateAcls", CreateAclsResponse(results=[]))
    assert isinstance(script.run(script.access.create_acls([READER]))[READER], ProtocolError)


def test_an_acl_that_only_a_filter_can_say_is_not_sent(script: AdminScript) -> None:
    """Kafka refuses a whole CreateAcls for it, so as in Java it is refused before."""
    vague = [
        READER._replace(pattern=TOPIC._replace(pattern_type=PatternType.MATCH)),
        READER._replace(pattern=TOPIC._replace(resource_type=ResourceType.ANY)),
        READER._replace(entry=READER.entry._replace(operation=AclOperation.UNKNOWN)),
    ]
    script.answer("CreateAcls", CreateAclsResponse(results=[AclCreationResult()]))
    results = script.run(script.access.create_acls([*vague, READER]))
    assert all(isinstance(results[acl], InvalidArgument) for acl in vague)
    assert results[READER] is None
    assert len(script.asked("CreateAcls")[0][1].creations) == 1


def test_deleted_acls_are_told_by_filter_each_with_its_outcome(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> DeleteAclsResponse:
        assert request.filters[0].principal_filter is None
        return DeleteAclsResponse(
            filter_results=[
                DeleteAclsFilterResult(
                    matching_acls=[
                        DeleteAclsMatchingAcl(
                            resource_type=2,
                            resource_name="logs",
                            pattern_type=3,
                            principal=principal,
                            host="*",
                            operation=3,
                            permission_type=3,
                            error_code=code,
                        )
                        for principal, code in (("User:alice", 0), ("User:bob", -1))
                    ]
                ),
                DeleteAclsFilterResult(error_code=42, error_message="no good"),
            ]
        )

    script.handlers["DeleteAcls"] = answer
    everything, mine = AclBindingFilter(), READER.to_filter()
    results = script.run(script.access.delete_acls([everything, mine]))
    deleted = results[everything]
    assert deleted[READER] is None
    assert [str(error) for error in deleted.failed.values()] == ["UNKNOWN_SERVER_ERROR"]
    assert str(results[mine]) == "no good"


# -- quotas


def test_quotas_of_an_entity_are_read_back_under_the_same_entity(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> describe_client_quotas.DescribeClientQuotasResponse:
        entity = [
            describe_client_quotas.EntityData(entity_type="user", entity_name="alice"),
            describe_client_quotas.EntityData(entity_type="client-id", entity_name=None),
        ]
        values = [describe_client_quotas.ValueData(key="request_percentage", value=12.5)]
        return describe_client_quotas.DescribeClientQuotasResponse(
            entries=[describe_client_quotas.EntryData(entity=entity, values=values)]
        )

    script.handlers["DescribeClientQuotas"] = answer
    wanted = ClientQuotaFilter.contains_only(
        ClientQuotaFilterComponent.of_entity(USER, "alice"),
        ClientQuotaFilterComponent.of_default_entity(CLIENT_ID),
    )
    found = script.run(script.access.describe_client_quotas(wanted))
    entity = ClientQuotaEntity.of(client_id=DEFAULT, user="alice")
    assert found == {entity: {"request_percentage": 12.5}}
    assert str(entity) == "client-id <default>, user alice"
    request = script.asked("DescribeClientQuotas")[0][1]
    assert request.strict
    assert [(c.entity_type, c.match_type, c.match) for c in request.components] == [
        ("user", QuotaMatch.EXACT, "alice"),
        ("client-id", QuotaMatch.DEFAULT, None),
    ]
    script.answer("DescribeClientQuotas", describe_client_quotas.DescribeClientQuotasResponse(entries=None))
    anybody = ClientQuotaFilter.contains(ClientQuotaFilterComponent.of_entity_type("ip"))
    assert script.run(script.access.describe_client_quotas(anybody)) == {}
    request = script.asked("DescribeClientQuotas")[1][1]
    assert (request.strict, request.components[0].match_type) == (False, QuotaMatch.ANY)


def test_a_quota_of_none_is_removed_and_each_entity_has_its_outcome(script: AdminScript) -> None:
    def answer(node: int, request: Any) -> alter_client_quotas.AlterClientQuotasResponse:
        return alter_client_quotas.AlterClientQuotasResponse(
            entries=[
                alter_client_quotas.AlterClientQuotasResponseEntryData(
                    error_code=0 if n else 42,
                    entity=[
                        alter_client_quotas.AlterClientQuotasResponseEntityData(
                            entity_type=part.entity_type, entity_name=part.entity_name
                        )
                        for part in reversed(e.entity)
                    ],
                )
                for n, e in enumerate(request.entries)
            ]
        )

    script.handlers["AlterClientQuotas"] = answer
    both, everybody = ClientQuotaEntity.of(user="alice", client_id="c"), ClientQuotaEntity.of(ip=DEFAULT)
    changes = {both: {"producer_byte_rate": 5, "consumer_byte_rate": None}, everybody: {}}
    results = script.run(script.access.alter_client_quotas(changes, validate_only=True))
    assert results[everybody] is None
    assert results[both].code is ErrorCode.INVALID_REQUEST
    request = script.asked("AlterClientQuotas")[0][1]
    assert request.validate_only
    assert [(op.key, op.value, op.remove) for op in request.entries[0].ops] == [
        ("producer_byte_rate", 5.0, False),
        ("consumer_byte_rate", 0.0, True),
    ]


def test_an_entity_without_any_name_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="user, a client id or an ip"):
        ClientQuotaEntity.of()


# -- SCRAM


def test_the_salted_password_is_the_one_of_rfc_7677() -> None:
    """The example of RFC 7677, section 3: the server's signature over it proves the salted password."""
    salt = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
    made = UserScramCredentialUpsertion("user", "pencil", ScramMechanism.SCRAM_SHA_256, 4096, salt)
    server_key = hmac.digest(made.salted_password(), b"Server Key", "sha256")
    messages = (
        "n=user,r=rOprNGfwEbeRWgbNEkqO,"
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    )
    signature = base64.b64encode(hmac.digest(server_key, messages.encode(), "sha256"))
    assert signature == b"6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


@given(st.text(min_size=1), st.sampled_from(["sha256", "sha512"]))
def test_a_password_is_salted_as_its_utf8_bytes(password: str, name: str) -> None:
    try:
        raw = password.encode()
    except UnicodeEncodeError:  # lone surrogates are no text
        return
    mechanism = ScramMechanism.SCRAM_SHA_256 if name == "sha256" else ScramMechanism.SCRAM_SHA_512
    made = UserScramCredentialUpsertion("u", password, mechanism, 1, b"salt")
    assert made.salted_password() == hashlib.pbkdf2_hmac(name, raw, b"salt", 1)
    assert UserScramCredentialUpsertion("u", raw, mechanism, 1, b"salt").salted_password() == (
        made.salted_password()
    )


def test_no_secret_is_shown_or_logged(script: AdminScript, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    script.answer(
        "AlterUserScramCredentials",
        AlterUserScramCredentialsResponse(results=[AlterUserScramCredentialsResult(user="alice")]),
    )
    made = UserScramCredentialUpsertion("alice", "open sesame", salt=b"a grain of salt")
    script.run(script.access.alter_user_scram_credentials([made])).all()
    sent = script.asked("AlterUserScramCredentials")[0][1]
    assert sent.upsertions[0].salted_password == made.salted_password()
    shown = repr(made) + repr(sent) + caplog.text
    token = DelegationToken("id", b"the hmac", KafkaPrincipal("alice"), KafkaPrincipal("alice"), (), 0, 0, 0)
    shown += repr(token)
    for secret in ("open sesame", "a grain of salt", repr(made.salted_password()), "the hmac"):
        assert secret not in shown
    assert "alice" in shown


def test_every_credential_has_a_salt_of_its_own() -> None:
    one, two = UserScramCredentialUpsertion("u", "p"), UserScramCredentialUpsertion("u", "p")
    assert one.salt != two.salt and len(one.salt) >= 16
    assert one.iterations == ITERATIONS_MIN == 4096


def test_alterations_that_cannot_be_made_fail_alone(script: AdminScript) -> None:
    script.answer(
        "AlterUserScramCredentials",
        AlterUserScramCredentialsResponse(
            results=[
                AlterUserScramCredentialsResult(user="carl", error_code=91, error_message="not there"),
                AlterUserScramCredentialsResult(user="bob"),
            ]
        ),
    )
    results = script.run(
        script.access.alter_user_scram_credentials(
            [
                UserScramCredentialUpsertion("alice", ""),
                UserScramCredentialDeletion("alice"),
                UserScramCredentialUpsertion("dora", "x", ScramMechanism.UNKNOWN),
                UserScramCredentialUpsertion("emil", "x", iterations=0),
                UserScramCredentialUpsertion("bob", "x"),
                UserScramCredentialDeletion("carl", ScramMechanism.SCRAM_SHA_256),
            ]
        )
    )
    assert list(results) == ["alice", "dora", "emil", "bob", "carl"]
    assert [type(results[user]) for user in ("alice", "dora", "emil")] == [InvalidArgument] * 3
    assert results["bob"] is None
    assert results["carl"].code is ErrorCode.RESOURCE_NOT_FOUND
    request = script.asked("AlterUserScramCredentials")[0][1]
    assert [u.name for u in request.upsertions] == ["bob"]
    assert [(d.name, d.mechanism) for d in request.deletions] == [("carl", 1)]


def test_users_are_described_without_their_secrets(script: AdminScript) -> None:
    script.answer(
        "DescribeUserScramCredentials",
        DescribeUserScramCredentialsResponse(
            results=[
                DescribeUserScramCredentialsResult(
                    user="bob", credential_infos=[CredentialInfo(mechanism=9, iterations=1)]
                ),
                DescribeUserScramCredentialsResult(
                    user="alice",
                    credential_infos=[
                        CredentialInfo(mechanism=2, iterations=8192),
                        CredentialInfo(mechanism=1, iterations=4096),
                    ],
                ),
            ]
        ),
    )
    results = script.run(script.access.describe_user_scram_credentials()).all()
    assert list(results) == ["alice", "bob"]
    assert results["alice"] == (
        ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096),
        ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192),
    )
    assert results["bob"][0].mechanism is ScramMechanism.UNKNOWN
    assert script.asked("DescribeUserScramCredentials")[0][1].users is None
    assert ScramMechanism.SCRAM_SHA_512.mechanism_name == "SCRAM-SHA-512"


# -- delegation tokens


@pytest.mark.parametrize("version", [2, 3])
def test_a_token_is_for_the_caller_unless_another_owner_is_named(script: AdminScript, version: int) -> None:
    script.versions["CreateDelegationToken"] = version
    script.answer(
        "CreateDelegationToken",
        CreateDelegationTokenResponse(
            principal_type="User",
            principal_name="alice",
            token_requester_principal_name="bob" if version >= 3 else "",
            token_requester_principal_type="User",
            token_id="t1",
            hmac=b"secret",
            issue_timestamp_ms=1,
            expiry_timestamp_ms=2,
            max_timestamp_ms=3,
        ),
    )
    renewer = KafkaPrincipal("carl")
    token = script.run(script.access.create_delegation_token(renewers=[renewer], max_lifetime_ms=9))
    assert (token.token_id, token.hmac, str(token.owner)) == ("t1", b"secret", "User:alice")
    assert token.requester == KafkaPrincipal("bob" if version >= 3 else "alice")
    assert (token.renewers, token.issue_ms, token.expiry_ms, token.max_ms) == ((renewer,), 1, 2, 3)
    request = script.asked("CreateDelegationToken")[0][1]
    assert request.owner_principal_name == (None if version >= 3 else "")
    asking = script.access.create_delegation_token(owner=KafkaPrincipal("dora"))
    if version < 3:
        with pytest.raises(UnsupportedVersion, match="another owner"):
            script.run(asking)
    else:
        script.run(asking)
        assert script.asked("CreateDelegationToken")[1][1].owner_principal_name == "dora"


def test_tokens_are_described_with_owner_and_renewers(script: AdminScript) -> None:
    script.answer(
        "DescribeDelegationToken",
        DescribeDelegationTokenResponse(
            tokens=[
                DescribedDelegationToken(
                    principal_type="User",
                    principal_name="alice",
                    token_id=name,
                    hmac=b"h",
                    renewers=[DescribedDelegationTokenRenewer(principal_type="User", principal_name="bob")],
                )
                for name in ("z", "a")
            ]
        ),
    )
    found = script.run(script.access.describe_delegation_tokens([KafkaPrincipal("alice")]))
    assert [token.token_id for token in found] == ["a", "z"]
    assert found[0].renewers == (KafkaPrincipal("bob"),)
    assert script.asked("DescribeDelegationToken")[0][1].owners[0].principal_name == "alice"
    script.answer("DescribeDelegationToken", DescribeDelegationTokenResponse(error_code=61))
    with pytest.raises(ServerError) as caught:
        script.run(script.access.describe_delegation_tokens())
    assert caught.value.code is ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED
