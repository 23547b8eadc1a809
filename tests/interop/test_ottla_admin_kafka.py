"""The admin client against Apache Kafka itself: what a broker of ours does not have yet, and what both have.

One node, broker and controller, with an authorizer, two log directories and a listener that wants SCRAM: so
that passwords and ACLs are not only stored but seen to work, by librdkafka.
"""

from __future__ import annotations

import ast
import asyncio
import itertools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

import ottla
import ottla.aio
from ottla.admin import (
    DEFAULT,
    EARLIEST,
    LATEST,
    AccessControlEntry,
    AccessControlEntryFilter,
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ClientQuotaEntity,
    ClientQuotaFilter,
    ClientQuotaFilterComponent,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ElectionType,
    EndpointType,
    FeatureUpgradeType,
    NewTopic,
    OffsetAndMetadata,
    PatternType,
    RaftEndpoint,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    TopicCursor,
    TopicPartition,
    TopicPartitionReplica,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)
from ottla.cli.unused_ports import unused_ports
from ottla.errors import InvalidArgument, OttlaError, ServerError
from ottla.model.errors import ErrorCode
from support.java_client import JVM_OPTIONS, class_path
from support.tools import REPOSITORY, tool
from support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

START_S = 90.0
CLUSTER_ID = "b3R0bGEtYWRtaW4tdGVzdA"
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT",
    "inter.broker.listener.name": "PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
    "allow.everyone.if.no.acl.found": "true",
    "group.initial.rebalance.delay.ms": "0",
    **{
        f"{log}.{key}": "1"
        for log in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic")
        for key in ("replication.factor", "num.partitions")
    },
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
}
SCRAM_LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required;"

_numbers = itertools.count()


class KafkaNode:
    def __init__(self, folder: Path) -> None:
        self.port, self.controller_port, self.sasl_port = unused_ports("127.0.0.1", 3)
        self.log_dirs = [str(folder / "one"), str(folder / "two")]
        self._output = folder / "output"
        self._properties = folder / "server.properties"
        own = {
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},SASL://127.0.0.1:{self.sasl_port},"
            f"CONTROLLER://127.0.0.1:{self.controller_port}",
            "controller.quorum.voters": f"1@127.0.0.1:{self.controller_port}",
            "log.dirs": ",".join(self.log_dirs),
            "listener.name.sasl.scram-sha-256.sasl.jaas.config": SCRAM_LOGIN,
            "listener.name.sasl.scram-sha-512.sasl.jaas.config": SCRAM_LOGIN,
        }
        lines = (f"{key}={value}\n" for key, value in (SETTINGS | own).items())
        self._properties.write_text("".join(lines))
        formatting = self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c")
        assert formatting.wait() == 0, self._output.read_text()[-2000:]
        self._process = self._java("kafka.Kafka")
        self.bootstrap = f"127.0.0.1:{self.port}"

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        with self._output.open("ab") as output:
            return subprocess.Popen(
                [tool("java"), *JVM_OPTIONS, "-cp", class_path(), *command, str(self._properties)],
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def ready(self) -> bool:
        assert self._process.poll() is None, self._output.read_text()[-4000:]
        try:
            with ottla.Admin(self.bootstrap) as admin:
                return bool(admin.describe_cluster(timeout=5).brokers)
        except OttlaError:
            return False

    def as_user(self, name: str, password: str, mechanism: str) -> AdminClient:
        return AdminClient(
            {
                "bootstrap.servers": f"127.0.0.1:{self.sasl_port}",
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": mechanism,
                "sasl.username": name,
                "sasl.password": password,
                "log_level": 0,
            }
        )

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture(scope="module")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaNode]:
    node = KafkaNode(tmp_path_factory.mktemp("kafka"))
    try:
        wait_until(node.ready, "Kafka answers", timeout_s=START_S, pause_s=0.1)
        yield node
    finally:
        node.stop()


@pytest.fixture
def admin(kafka: KafkaNode) -> Iterator[ottla.Admin]:
    with ottla.Admin(kafka.bootstrap) as client:
        yield client


@pytest.fixture
def topic(admin: ottla.Admin) -> str:
    """A topic of two partitions that no other test uses."""
    name = f"admin-{next(_numbers)}"
    admin.create_topics([NewTopic(name, 2, 1)]).all()
    wait_until(lambda: name in admin.list_topics(), "the topic is known")
    return name


def code_of(outcome: object) -> str:
    assert isinstance(outcome, ServerError), outcome
    return outcome.code.name


# -- access


def acl(
    name: str,
    user: str,
    operation: AclOperation,
    kind: PatternType,
    permission: AclPermissionType = AclPermissionType.ALLOW,
) -> AclBinding:
    return AclBinding(
        ResourcePattern(ResourceType.TOPIC, name, kind),
        AccessControlEntry(f"User:{user}", operation, permission),
    )


def test_acls_are_found_by_every_filter_as_the_authorizer_finds_them(admin: ottla.Admin) -> None:
    """Our `matches` is Kafka's: each filter, sent, finds what it finds among all bindings here."""
    literal, prefixed = PatternType.LITERAL, PatternType.PREFIXED
    bindings = [
        acl("acl-logs", "ann", AclOperation.READ, literal),
        acl("acl-logs", "ann", AclOperation.WRITE, literal, AclPermissionType.DENY),
        acl("acl-", "ann", AclOperation.DESCRIBE, prefixed),
        acl("acl-logs-eu", "ben", AclOperation.ALL, literal),
        AclBinding(
            ResourcePattern(ResourceType.GROUP, "acl-logs"),
            AccessControlEntry("User:ann", AclOperation.READ, host="10.0.0.1"),
        ),
        AclBinding(
            ResourcePattern(ResourceType.CLUSTER, "kafka-cluster"),
            AccessControlEntry("User:ben", AclOperation.ALTER),
        ),
    ]
    vague = acl("acl-x", "ann", AclOperation.READ, PatternType.MATCH)
    results = admin.create_acls([*bindings, vague])
    assert isinstance(results[vague], InvalidArgument)
    assert results.succeeded == dict.fromkeys(bindings)
    admin.create_acls([bindings[0]]).all()  # there already: no error
    everyone = AclBindingFilter()
    wait_until(lambda: set(bindings) <= set(admin.describe_acls(everyone)), "the ACLs are known")
    there = admin.describe_acls(everyone)
    filters = [
        AclBindingFilter(ResourcePatternFilter(kind, name, pattern), AccessControlEntryFilter(principal))
        for kind in (ResourceType.ANY, ResourceType.TOPIC)
        for name in (None, "acl-logs", "acl-logs-eu-1")
        for pattern in (PatternType.ANY, PatternType.MATCH, literal, prefixed)
        for principal in (None, "User:ann")
    ]
    filters += [
        AclBindingFilter(entry=AccessControlEntryFilter(operation=AclOperation.READ)),
        AclBindingFilter(entry=AccessControlEntryFilter(host="10.0.0.1")),
        AclBindingFilter(entry=AccessControlEntryFilter(permission_type=AclPermissionType.DENY)),
    ]
    for wanted in filters:
        assert admin.describe_acls(wanted) == [b for b in there if wanted.matches(b)], wanted
    mine = [binding.to_filter() for binding in bindings]
    nobody = AclBindingFilter(entry=AccessControlEntryFilter("User:nobody"))
    deleted = admin.delete_acls([*mine, nobody]).all()
    assert [list(deleted[f]) for f in mine] == [[b] for b in bindings]
    assert deleted[nobody] == {}
    wait_until(lambda: not set(bindings) & set(admin.describe_acls()), "the ACLs are gone")


def test_a_password_lets_its_user_in_and_an_acl_keeps_the_user_out(
    admin: ottla.Admin, kafka: KafkaNode, topic: str
) -> None:
    """The salted password that was computed here is the one that Kafka's SCRAM server checks against."""
    credentials = [
        UserScramCredentialUpsertion("zoe", "pass wörd", ScramMechanism.SCRAM_SHA_256),
        UserScramCredentialUpsertion("zoe", "another", ScramMechanism.SCRAM_SHA_512, 8192),
    ]
    # Kafka takes one change of a user in a request.
    assert code_of(admin.alter_user_scram_credentials(credentials)["zoe"]) == "DUPLICATE_RESOURCE"
    for credential in credentials:
        admin.alter_user_scram_credentials([credential]).all()
    infos = (
        ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096),
        ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 8192),
    )
    wait_until(
        lambda: admin.describe_user_scram_credentials(["zoe"]).succeeded.get("zoe") == infos,
        "the user is known",
    )
    for password, mechanism in (("pass wörd", "SCRAM-SHA-256"), ("another", "SCRAM-SHA-512")):
        assert topic in kafka.as_user("zoe", password, mechanism).list_topics(timeout=20).topics
    with pytest.raises(KafkaException):
        kafka.as_user("zoe", "wrong", "SCRAM-SHA-256").list_topics(timeout=2)

    denied = acl(topic, "zoe", AclOperation.DESCRIBE, PatternType.LITERAL, AclPermissionType.DENY)
    admin.create_acls([denied]).all()
    zoe = kafka.as_user("zoe", "another", "SCRAM-SHA-512")

    def refused() -> bool:
        error = zoe.list_topics(topic, timeout=20).topics[topic].error
        return error is not None and error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED

    wait_until(refused, "the ACL is in force")
    admin.delete_acls([denied.to_filter()]).all()
    wait_until(lambda: denied not in admin.describe_acls(), "the ACL is gone")


def test_credentials_that_kafka_refuses_are_told_user_by_user(admin: ottla.Admin) -> None:
    results = admin.alter_user_scram_credentials(
        [
            UserScramCredentialUpsertion("few", "x", iterations=10),
            UserScramCredentialDeletion("nobody"),
            UserScramCredentialUpsertion("", "x"),
            UserScramCredentialUpsertion("fine", "x"),
        ]
    )
    assert {user: code_of(error) for user, error in results.failed.items()} == {
        "few": "UNACCEPTABLE_CREDENTIAL",
        "nobody": "RESOURCE_NOT_FOUND",
        "": "UNACCEPTABLE_CREDENTIAL",
    }
    wait_until(lambda: "fine" in admin.describe_user_scram_credentials(), "the user is known")
    admin.alter_user_scram_credentials([UserScramCredentialDeletion("fine")]).all()
    wait_until(lambda: "fine" not in admin.describe_user_scram_credentials(), "the user is gone")
    assert code_of(admin.describe_user_scram_credentials(["fine"])["fine"]) == "RESOURCE_NOT_FOUND"


def test_quotas_are_set_read_by_every_kind_of_filter_and_removed(admin: ottla.Admin) -> None:
    user, both = ClientQuotaEntity.of(user="quinn"), ClientQuotaEntity.of(user="quinn", client_id=DEFAULT)
    everybody, address = ClientQuotaEntity.of(user=DEFAULT), ClientQuotaEntity.of(ip="10.1.2.3")
    wanted = {
        user: {"producer_byte_rate": 1000.0, "request_percentage": 12.5},
        both: {"consumer_byte_rate": 2000.0},
        everybody: {"producer_byte_rate": 3000.0},
        address: {"connection_creation_rate": 7.0},
    }
    wrong = ClientQuotaEntity.of(user="wrong")
    results = admin.alter_client_quotas({**wanted, wrong: {"nonsense": 1}})
    assert [code_of(error) for error in results.failed.values()] == ["INVALID_REQUEST"]
    wait_until(lambda: admin.describe_client_quotas() == wanted, "the quotas are known")
    of = ClientQuotaFilterComponent
    quinn = of.of_entity("user", "quinn")
    for components, strict, expected in (
        ([quinn], False, {user, both}),
        ([quinn], True, {user}),
        ([quinn, of.of_default_entity("client-id")], True, {both}),
        ([of.of_default_entity("user")], True, {everybody}),
        ([of.of_entity_type("user")], False, {user, both, everybody}),
        ([of.of_entity_type("ip")], False, {address}),
    ):
        found = admin.describe_client_quotas(ClientQuotaFilter(tuple(components), strict))
        assert found == {entity: wanted[entity] for entity in expected}
    admin.alter_client_quotas({user: {"producer_byte_rate": 5.0}}, validate_only=True).all()
    gone: dict[ClientQuotaEntity, dict[str, float | None]] = {
        entity: dict.fromkeys(values) for entity, values in wanted.items()
    }
    admin.alter_client_quotas(gone).all()
    wait_until(lambda: admin.describe_client_quotas() == {}, "the quotas are gone")


def test_tokens_are_not_given_over_a_connection_without_authentication(admin: ottla.Admin) -> None:
    """KIP-48."""
    for asking in (
        admin.create_delegation_token,
        admin.describe_delegation_tokens,
        lambda: admin.renew_delegation_token(b"x"),
        lambda: admin.expire_delegation_token(b"x"),
    ):
        with pytest.raises(ServerError) as caught:
            asking()
        assert code_of(caught.value) == "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED"


# -- topics, partitions, configurations


def test_topics_are_made_described_grown_and_deleted_by_name_and_id(admin: ottla.Admin) -> None:
    name, fixed = f"admin-{next(_numbers)}", f"admin-{next(_numbers)}"
    results = admin.create_topics(
        [
            NewTopic(name, 3, 1, configs={"retention.ms": "1000"}),
            NewTopic(fixed, assignments={0: [1], 1: [1]}),
            NewTopic("not legal"),
            NewTopic("too-many", 1, 5),
        ]
    )
    assert (results.succeeded[name].partitions, results.succeeded[fixed].partitions) == (3, 2)
    assert [code_of(e) for e in results.failed.values()] == [
        "INVALID_TOPIC_EXCEPTION",
        "INVALID_REPLICATION_FACTOR",
    ]
    wait_until(lambda: {name, fixed} <= set(admin.list_topics()), "the topics are known")
    described = admin.describe_topics([name, "nowhere"], include_authorized_operations=True)
    topic = described.succeeded[name]
    assert topic.topic_id == results.succeeded[name].topic_id
    assert [p.leader for p in topic.partitions] == [1, 1, 1]
    assert topic.authorized_operations is not None and AclOperation.ALTER in topic.authorized_operations
    assert code_of(described["nowhere"]) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert admin.describe_topics_by_id([topic.topic_id]).all()[topic.topic_id].name == name

    grown = admin.create_partitions({name: 4, fixed: 1}, {name: [[1]]})
    assert grown[name] is None and code_of(grown[fixed]) == "INVALID_PARTITIONS"
    wait_until(lambda: len(admin.describe_topics([name]).all()[name].partitions) == 4, "the topic has grown")

    seen: list[tuple[str, int]] = []
    cursor: TopicCursor | None = None
    while True:
        page = admin.describe_topic_partitions([name, fixed], limit=2, cursor=cursor)
        seen += [(t.name, p.partition) for t in page.topics.all().values() for p in t.partitions]
        if page.next is None:
            break
        cursor = page.next
    assert seen == sorted([(name, n) for n in range(4)] + [(fixed, n) for n in range(2)])

    by_id = admin.delete_topics_by_id([topic.topic_id, b"0123456789abcdef"])
    assert by_id[topic.topic_id] is None
    assert code_of(by_id[b"0123456789abcdef"]) == "UNKNOWN_TOPIC_ID"
    by_name = admin.delete_topics([fixed, "nowhere"])
    assert by_name[fixed] is None and code_of(by_name["nowhere"]) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_configurations_of_every_kind_of_resource_change(admin: ottla.Admin, topic: str) -> None:
    kinds = ConfigResourceType
    setting = {
        ConfigResource(kinds.TOPIC, topic): ("retention.ms", "12345"),
        ConfigResource(kinds.GROUP, f"g-{topic}"): ("consumer.session.timeout.ms", "50000"),
        ConfigResource(kinds.CLIENT_METRICS, f"m-{topic}"): ("interval.ms", "5000"),
        ConfigResource(kinds.BROKER, "1"): ("log.cleaner.backoff.ms", "14000"),
        ConfigResource(kinds.BROKER, ""): ("message.max.bytes", "1048000"),
    }
    changes = {r: [ConfigChange(key, ConfigOperation.SET, value)] for r, (key, value) in setting.items()}
    wrong = ConfigResource(kinds.TOPIC, "nowhere")
    results = admin.incremental_alter_configs(
        {**changes, wrong: [ConfigChange("retention.ms", ConfigOperation.SET, "1")]}
    )
    assert {r: code_of(e) for r, e in results.failed.items()} == {wrong: "UNKNOWN_TOPIC_OR_PARTITION"}

    def value(resource: ConfigResource, key: str) -> str | None:
        entries = admin.describe_configs(resource.type, [resource.name], keys=[key]).all()[resource.name]
        return next((entry.value for entry in entries if entry.name == key), None)

    for resource, (key, expected) in setting.items():
        wait_until(lambda r=resource, k=key, e=expected: value(r, k) == e, f"{resource} is {expected}")
    unchanged = [ConfigChange("retention.ms", ConfigOperation.SET, "nonsense")]
    with pytest.raises(ServerError) as caught:
        admin.alter_configs(kinds.TOPIC, topic, unchanged, validate_only=True)
    assert code_of(caught.value) == "INVALID_CONFIG"
    listed = admin.list_config_resources([kinds.GROUP, kinds.CLIENT_METRICS])
    assert {r for r in setting if r.type in (kinds.GROUP, kinds.CLIENT_METRICS)} <= set(listed)
    assert f"m-{topic}" in admin.list_client_metrics_resources()
    assert ConfigResource(kinds.BROKER_LOGGER, "1") in admin.list_config_resources()
    for resource, (key, _) in setting.items():
        admin.alter_configs(resource.type, resource.name, [ConfigChange(key, ConfigOperation.DELETE)])


def test_replicas_are_reassigned_elected_and_moved_between_directories(
    admin: ottla.Admin, kafka: KafkaNode, topic: str
) -> None:
    zero, one, beyond = (TopicPartition(topic, n) for n in (0, 1, 9))
    results = admin.alter_partition_reassignments({zero: [1], one: [99], beyond: [1]})
    assert results[zero] is None
    assert {tp: code_of(e) for tp, e in results.failed.items()} == {
        one: "INVALID_REPLICA_ASSIGNMENT",
        beyond: "UNKNOWN_TOPIC_OR_PARTITION",
    }
    cancelled = admin.alter_partition_reassignments({one: None})
    assert code_of(cancelled[one]) == "NO_REASSIGNMENT_IN_PROGRESS"
    assert admin.list_partition_reassignments() == {}
    assert admin.list_partition_reassignments([zero]) == {}
    elected = admin.elect_leaders(ElectionType.PREFERRED, [zero, beyond])
    assert code_of(elected[zero]) == "ELECTION_NOT_NEEDED"
    assert code_of(elected[beyond]) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert code_of(admin.elect_leaders(ElectionType.UNCLEAN, [zero])[zero]) == "ELECTION_NOT_NEEDED"
    assert admin.elect_leaders(ElectionType.PREFERRED).failed == {}

    replica, nowhere = TopicPartitionReplica(topic, 0, 1), TopicPartitionReplica(topic, 0, 5)
    places = admin.describe_replica_log_dirs([replica, nowhere])
    before = places.succeeded[replica].current_path
    assert before in kafka.log_dirs and code_of(places[nowhere]) == "INVALID_REQUEST"
    (other,) = set(kafka.log_dirs) - {before}
    moves = admin.alter_replica_log_dirs({replica: other, TopicPartitionReplica(topic, 1, 1): "/nowhere"})
    assert moves[replica] is None
    assert [code_of(e) for e in moves.failed.values()] == ["LOG_DIR_NOT_FOUND"]
    wait_until(
        lambda: admin.describe_replica_log_dirs([replica]).all()[replica].current_path == other,
        "the replica has moved",
        timeout_s=30,
    )
    (directories,) = admin.describe_log_dirs().all().values()
    assert sorted(d.path for d in directories) == sorted(kafka.log_dirs)
    (only,) = admin.describe_log_dirs([1], {topic: [1]}).all().values()
    assert [p.topic_partition for d in only for p in d.partitions] == [one]


# -- the cluster


def test_the_cluster_describes_itself_its_features_and_its_quorum(
    admin: ottla.Admin, kafka: KafkaNode
) -> None:
    cluster = admin.describe_cluster(include_authorized_operations=True, include_fenced_brokers=True)
    assert (cluster.cluster_id, cluster.controller_id) == (CLUSTER_ID, 1)
    assert [(b.node_id, b.fenced, b.address.port) for b in cluster.brokers] == [(1, False, kafka.port)]
    assert cluster.authorized_operations is not None and AclOperation.CREATE in cluster.authorized_operations
    with pytest.raises(ServerError) as caught:
        admin.describe_cluster(endpoint_type=EndpointType.CONTROLLER)
    assert code_of(caught.value) == "MISMATCHED_ENDPOINT_TYPE"

    features, epoch = admin.describe_features()
    levels = {feature.name: feature.finalized for feature in features}
    assert levels["metadata.version"] > 0 and epoch >= 0
    down = {"share.version": 0}
    admin.update_features(down, upgrade_type=FeatureUpgradeType.SAFE_DOWNGRADE, validate_only=True)
    with pytest.raises(ServerError):
        admin.update_features({"share.version": 99})

    quorum = admin.describe_metadata_quorum()
    assert (quorum.leader_id, [v.replica_id for v in quorum.voters]) == (1, [1])
    assert quorum.high_watermark > 0
    assert quorum.nodes[1][0].port == kafka.controller_port
    # A static quorum (kraft.version 0) has fixed voters (KIP-853).
    endpoint = RaftEndpoint("CONTROLLER", "127.0.0.1", 1)
    for change in (
        lambda: admin.add_raft_voter(5, b"d" * 16, [endpoint], cluster_id=CLUSTER_ID),
        lambda: admin.remove_raft_voter(5, b"d" * 16),
    ):
        with pytest.raises(ServerError) as caught:
            change()
        assert code_of(caught.value) == "UNSUPPORTED_VERSION"
    with pytest.raises(ServerError) as caught:
        admin.unregister_broker(77)
    assert code_of(caught.value) == "BROKER_ID_NOT_REGISTERED"


# -- groups, offsets, transactions


def test_offsets_of_groups_are_set_read_together_and_forgotten(admin: ottla.Admin, topic: str) -> None:
    first, second = f"g1-{topic}", f"g2-{topic}"
    zero, one = TopicPartition(topic, 0), TopicPartition(topic, 1)
    admin.alter_consumer_group_offsets(first, {zero: 0, one: OffsetAndMetadata(0, "here", 0)}).all()
    refused = admin.alter_consumer_group_offsets(second, {one: 0, TopicPartition("nowhere", 0): 1})
    assert [code_of(e) for e in refused.failed.values()] == ["UNKNOWN_TOPIC_OR_PARTITION"]
    both = admin.list_consumer_group_offsets([first, second]).all()
    assert both == {
        first: {zero: OffsetAndMetadata(0), one: OffsetAndMetadata(0, "here", 0)},
        second: {one: OffsetAndMetadata(0)},
    }
    assert admin.list_consumer_group_offsets({first: [one]}).all()[first] == {one: both[first][one]}
    described = admin.describe_groups([first, "nobody"], include_authorized_operations=True)
    assert described.succeeded[first].state == "Empty"
    assert AclOperation.READ in (described.succeeded[first].authorized_operations or ())
    assert code_of(described["nobody"]) == "GROUP_ID_NOT_FOUND"
    assert code_of(admin.describe_consumer_groups([first])[first]) == "GROUP_ID_NOT_FOUND"
    lags = admin.describe_group_lags([first]).all()[first]
    assert [row.lag for row in lags.partitions] == [0, 0]
    assert first in [g.group_id for g in admin.list_groups(states=["Empty"], types=["classic"])]
    assert first not in [g.group_id for g in admin.list_groups(types=["share"])]
    assert admin.delete_consumer_group_offsets(first, [zero]).all() == {zero: None}
    assert list(admin.list_consumer_group_offsets([first]).all()[first]) == [one]
    deleted = admin.delete_groups([first, second, "nobody"])
    assert {group: code_of(e) for group, e in deleted.failed.items()} == {"nobody": "GROUP_ID_NOT_FOUND"}


def test_share_and_streams_groups_are_administered(admin: ottla.Admin, topic: str) -> None:
    """KIP-932, KIP-1071. A share group exists as soon as its offsets are set."""
    group, zero = f"share-{topic}", TopicPartition(topic, 0)
    assert code_of(admin.describe_share_groups([group])[group]) == "GROUP_ID_NOT_FOUND"
    # The coordinator may hear of a new topic later than the broker's metadata does.
    wait_until(lambda: not admin.alter_share_group_offsets(group, {zero: 0}).failed, "the topic is known")
    described = admin.describe_share_groups([group]).all()[group]
    assert (described.type, described.state, described.members) == ("share", "Empty", ())

    def known() -> bool:
        return zero in admin.list_share_group_offsets([group]).all()[group].succeeded

    wait_until(known, "the start offset is known")
    offsets = admin.list_share_group_offsets({group: [zero]}).all()[group]
    assert offsets.all()[zero].start_offset == 0
    deleted = admin.delete_share_group_offsets(group, [topic, "nowhere"])
    assert deleted[topic] is None and code_of(deleted["nowhere"]) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert [g.group_id for g in admin.list_groups(types=["share"])] == [group]
    admin.delete_groups([group]).all()
    assert code_of(admin.describe_streams_groups(["nobody"])["nobody"]) == "GROUP_ID_NOT_FOUND"


def test_transactions_are_listed_described_and_fenced(admin: ottla.Admin, topic: str) -> None:
    name = f"tx-{topic}"
    first = admin.fence_producers([name]).all()[name]
    second = admin.fence_producer(name)
    assert (second.producer_id, second.producer_epoch) == (first.producer_id, first.producer_epoch + 1)
    assert name in [t.transactional_id for t in admin.list_transactions(["Empty"])]
    described = admin.describe_transactions([name, "nobody"])
    assert described.succeeded[name].state == "Empty"
    assert code_of(described["nobody"]) == "TRANSACTIONAL_ID_NOT_FOUND"
    zero = TopicPartition(topic, 0)
    assert admin.describe_producers([zero]).all() == {zero: ()}
    assert admin.find_hanging_transactions([zero], older_than_ms=0) == []


def test_records_are_found_by_time_and_deleted(admin: ottla.Admin, topic: str) -> None:
    zero, beyond = TopicPartition(topic, 0), TopicPartition(topic, 9)
    found = admin.list_offsets({zero: LATEST, beyond: EARLIEST})
    assert found.succeeded[zero].offset == 0
    assert code_of(found[beyond]) == "UNKNOWN_TOPIC_OR_PARTITION"
    deleted = admin.delete_records({zero: -1, TopicPartition(topic, 1): 50})
    assert deleted[zero] == 0
    assert [e.code for e in deleted.failed.values() if isinstance(e, ServerError)] == [
        ErrorCode.OFFSET_OUT_OF_RANGE
    ]


def test_the_examples_of_the_documentation_run(kafka: KafkaNode, admin: ottla.Admin) -> None:
    text = (REPOSITORY / "docs" / "client-admin.md").read_text(encoding="utf-8")
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 4

    async def run(code: CodeType, names: dict[str, Any]) -> None:
        pending = eval(code, names)
        if pending is not None:
            await pending

    for example in examples:
        here = example.replace("localhost:9092", kafka.bootstrap)
        code = compile(here, "client-admin.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        asyncio.run(run(code, {"admin": admin, "ottla": ottla}))
    assert len(admin.describe_topics(["clicks"]).all()["clicks"].partitions) == 6
    assert len(admin.list_consumer_group_offsets(["billing"]).all()["billing"]) == 6
    alice = ClientQuotaEntity.of(user="alice")
    wait_until(lambda: alice in admin.describe_client_quotas(), "the quota of the example is known")
    admin.alter_client_quotas({alice: {"producer_byte_rate": None}}).all()
    wait_until(lambda: alice not in admin.describe_client_quotas(), "the quota of the example is gone")


def test_under_asyncio_operations_run_beside_each_other(kafka: KafkaNode, topic: str) -> None:
    async def scenario() -> None:
        async with ottla.aio.Admin(kafka.bootstrap) as admin:
            described, quorum, acls, names = await asyncio.gather(
                admin.describe_topics([topic]),
                admin.describe_metadata_quorum(timeout=30),
                admin.describe_acls(),
                admin.list_topics(),
            )
            assert len(described.all()[topic].partitions) == 2
            assert quorum.leader_id == 1
            assert isinstance(acls, list)
            assert topic in names

    asyncio.run(scenario())
