"""The admin client against a broker of ours, from threads and under asyncio; what it lacks is named."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

import ottla
import ottla.aio
from ottla.admin import (
    EARLIEST,
    LATEST,
    MAX_TIMESTAMP,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    ClientQuotaEntity,
    ConfigChange,
    ConfigOperation,
    ConfigResource,
    ConfigResourceType,
    ElectionType,
    NewTopic,
    OffsetAndMetadata,
    RaftEndpoint,
    ResetTarget,
    ResetTo,
    ResourcePattern,
    ResourceType,
    TopicPartition,
    TopicPartitionReplica,
    UserScramCredentialUpsertion,
)
from ottla.broker.dispatch import TABLE
from ottla.errors import OperationTimedOut, ServerError, UnsupportedVersion
from ottla.wire.messages.index import APIS
from support.broker_process import BrokerFactory, BrokerProcess
from support.waiting import wait_until

pytestmark = pytest.mark.interop


@pytest.fixture
def admin(shared_broker: BrokerProcess) -> Iterator[ottla.Admin]:
    with ottla.Admin(shared_broker.bootstrap) as client:
        yield client


@pytest.fixture
def topic(admin: ottla.Admin, topic_name: str) -> str:
    name = f"{topic_name}-admin"
    admin.create_topics([NewTopic(name, 2)]).all()
    return name


def produced(broker: BrokerProcess, topic: str, count: int, timestamp_ms: int = 1_000) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for n in range(count):
        producer.produce(topic, str(n), partition=0, timestamp=timestamp_ms + n)
    assert producer.flush(20) == 0


def code_of(outcome: object) -> str:
    assert isinstance(outcome, ServerError), outcome
    return outcome.code.name


def test_topics_live_their_lives(admin: ottla.Admin, topic_name: str) -> None:
    one, two = f"{topic_name}-one", f"{topic_name}-two"
    results = admin.create_topics([NewTopic(one, 3, configs={"retention.ms": "5000"}), NewTopic("bad name")])
    assert results.succeeded[one].partitions == 3
    assert code_of(results["bad name"]) == "INVALID_TOPIC_EXCEPTION"
    assert code_of(admin.create_topics([NewTopic(one)])[one]) == "TOPIC_ALREADY_EXISTS"
    admin.create_topics([NewTopic(two, 1)], validate_only=True).all()
    assert one in admin.list_topics() and two not in admin.list_topics()
    described = admin.describe_topics([one, two])
    topic = described.succeeded[one]
    assert [p.partition for p in topic.partitions] == [0, 1, 2]
    assert code_of(described[two]) == "UNKNOWN_TOPIC_OR_PARTITION"
    assert admin.describe_topics_by_id([topic.topic_id]).all()[topic.topic_id].name == one
    page = admin.describe_topic_partitions([one], limit=2)
    assert page.next == (one, 2)
    rest = admin.describe_topic_partitions([one], limit=2, cursor=page.next)
    assert [p.partition for p in rest.topics.all()[one].partitions] == [2]
    admin.create_partitions({one: 4}).all()
    assert len(admin.describe_topics().all()[one].partitions) == 4
    assert admin.delete_topics_by_id([topic.topic_id]).all() == {topic.topic_id: None}
    assert code_of(admin.delete_topics([one])[one]) == "UNKNOWN_TOPIC_OR_PARTITION"


def test_configurations_are_changed_and_described(admin: ottla.Admin, topic: str) -> None:
    of_topic, of_group = (
        ConfigResource(ConfigResourceType.TOPIC, topic),
        ConfigResource(ConfigResourceType.GROUP, topic),
    )
    done = admin.incremental_alter_configs(
        {
            of_topic: [ConfigChange("retention.ms", ConfigOperation.SET, "7")],
            of_group: [ConfigChange("consumer.session.timeout.ms", ConfigOperation.SET, "50000")],
            ConfigResource(ConfigResourceType.TOPIC, "nowhere"): [
                ConfigChange("retention.ms", ConfigOperation.SET, "7")
            ],
        }
    )
    assert [code_of(e) for e in done.failed.values()] == ["UNKNOWN_TOPIC_OR_PARTITION"]
    (entry,) = admin.describe_configs(ConfigResourceType.TOPIC, [topic], keys=["retention.ms"]).all()[topic]
    assert (entry.value, entry.source.name) == ("7", "DYNAMIC_TOPIC_CONFIG")
    assert of_group in admin.list_config_resources([ConfigResourceType.GROUP])
    with pytest.raises(ServerError) as caught:
        admin.alter_configs(
            ConfigResourceType.TOPIC, topic, [ConfigChange("nonsense", ConfigOperation.SET, "1")]
        )
    assert code_of(caught.value) == "INVALID_CONFIG"
    brokers = admin.describe_configs(ConfigResourceType.BROKER, ["1", "9"])
    assert brokers.succeeded["1"] and code_of(brokers["9"]) == "INVALID_REQUEST"


def test_records_are_found_and_deleted(admin: ottla.Admin, shared_broker: BrokerProcess, topic: str) -> None:
    produced(shared_broker, topic, 5)
    tp, beyond = TopicPartition(topic, 0), TopicPartition(topic, 9)
    for when, expected in ((EARLIEST, 0), (LATEST, 5), (MAX_TIMESTAMP, 4), (1_002, 2), (9_999, -1)):
        assert admin.list_offsets({tp: when}).all()[tp].offset == expected
    assert code_of(admin.list_offsets({beyond: LATEST})[beyond]) == "UNKNOWN_TOPIC_OR_PARTITION"
    results = admin.delete_records({tp: 3, beyond: 1})
    assert results[tp] == 3
    assert code_of(results[beyond]) == "UNKNOWN_TOPIC_OR_PARTITION"
    (directories,) = admin.describe_log_dirs(topics={topic: [0]}).all().values()
    assert [p.topic_partition for d in directories for p in d.partitions] == [tp]
    replica = TopicPartitionReplica(topic, 0, 1)
    assert admin.describe_replica_log_dirs([replica]).all()[replica].current_path == directories[0].path


def test_groups_their_offsets_and_their_lag(
    admin: ottla.Admin, shared_broker: BrokerProcess, topic: str
) -> None:
    produced(shared_broker, topic, 5)
    group, other = f"g-{topic}", f"h-{topic}"
    consumer = Consumer(
        {
            "bootstrap.servers": shared_broker.bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    message = wait_until(lambda: consumer.poll(0.1), "a record is read", timeout_s=30)
    consumer.commit(message, asynchronous=False)
    tp = TopicPartition(topic, 0)
    described = admin.describe_groups([group, other])
    assert described.succeeded[group].members[0].subscribed_topics == (topic,)
    assert code_of(described[other]) == "GROUP_ID_NOT_FOUND"
    assert [row.lag for row in admin.describe_group_lags([group]).all()[group].partitions] == [4, None]
    assert code_of(admin.delete_groups([group])[group]) == "NON_EMPTY_GROUP"
    with pytest.raises(ServerError) as caught:
        admin.alter_consumer_group_offsets(group, {tp: 0})
    assert code_of(caught.value) == "UNKNOWN_MEMBER_ID"
    removed = admin.remove_members_from_consumer_group(group, reason="the test is done with them")
    assert len(removed.all()) == 1
    consumer.close()

    admin.alter_consumer_group_offsets(group, {tp: OffsetAndMetadata(2, "two")}).all()
    admin.alter_consumer_group_offsets(other, {tp: 3}).all()
    assert admin.list_consumer_group_offsets([group, other]).all() == {
        group: {tp: OffsetAndMetadata(2, "two")},
        other: {tp: OffsetAndMetadata(3)},
    }
    (planned,) = admin.reset_consumer_group_offsets(group, ResetTarget(ResetTo.LATEST), {topic: [0]})
    assert (planned.current, planned.new) == (2, 5)
    assert admin.list_consumer_group_offsets([group]).all()[group][tp].offset == 5
    admin.reset_consumer_group_offsets(group, ResetTarget(ResetTo.EARLIEST), {topic: [0]}, dry_run=True)
    assert admin.list_consumer_group_offsets([group]).all()[group][tp].offset == 5
    admin.delete_consumer_group_offsets(other, [tp]).all()
    assert group in [listing.group_id for listing in admin.list_groups(states=["Empty"])]
    admin.delete_groups([group]).all()


def test_transactions_are_seen_and_fenced(
    admin: ottla.Admin, shared_broker: BrokerProcess, topic: str
) -> None:
    name, tp = f"tx-{topic}", TopicPartition(topic, 0)
    producer = Producer({"bootstrap.servers": shared_broker.bootstrap, "transactional.id": name})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, "x", partition=0)
    assert producer.flush(20) == 0
    assert admin.describe_transaction(name).partitions == (tp,)
    (state,) = admin.describe_producers([tp]).all()[tp]
    assert state.txn_start_offset == 0
    assert admin.find_hanging_transactions([tp], older_than_ms=0) == []
    fenced = admin.fence_producers([name]).all()[name]
    assert fenced.producer_epoch > state.producer_epoch
    listed = {t.transactional_id: t.state for t in admin.list_transactions()}
    assert listed[name] in ("CompleteAbort", "Empty")


def test_the_cluster_describes_itself(admin: ottla.Admin, shared_broker: BrokerProcess) -> None:
    cluster = admin.describe_cluster()
    assert [broker.address.port for broker in cluster.brokers] == [shared_broker.port]
    features, _ = admin.describe_features()
    assert {"metadata.version", "transaction.version"} <= {feature.name for feature in features}
    with pytest.raises(ServerError):
        admin.update_features({"metadata.version": 999})
    assert admin.metrics()


ACL = AclBinding(ResourcePattern(ResourceType.TOPIC, "x"), AccessControlEntry("User:x", AclOperation.READ))
NOT_EVERYWHERE: dict[str, Callable[[ottla.Admin], Any]] = {
    "DescribeAcls": lambda admin: admin.describe_acls(),
    "CreateAcls": lambda admin: admin.create_acls([ACL]),
    "DeleteAcls": lambda admin: admin.delete_acls([ACL.to_filter()]),
    "DescribeClientQuotas": lambda admin: admin.describe_client_quotas(),
    "AlterClientQuotas": lambda admin: admin.alter_client_quotas({ClientQuotaEntity.of(user="x"): {}}),
    "DescribeUserScramCredentials": lambda admin: admin.describe_user_scram_credentials(),
    "AlterUserScramCredentials": lambda admin: admin.alter_user_scram_credentials(
        [UserScramCredentialUpsertion("x", "y")]
    ),
    "CreateDelegationToken": lambda admin: admin.create_delegation_token(),
    "AlterPartitionReassignments": lambda admin: admin.alter_partition_reassignments(
        {TopicPartition("x", 0): [1]}
    ),
    "ListPartitionReassignments": lambda admin: admin.list_partition_reassignments(),
    "ElectLeaders": lambda admin: admin.elect_leaders(ElectionType.PREFERRED),
    "AlterReplicaLogDirs": lambda admin: admin.alter_replica_log_dirs(
        {TopicPartitionReplica("x", 0, 1): "/x"}
    ),
    "DescribeQuorum": lambda admin: admin.describe_metadata_quorum(),
    "AddRaftVoter": lambda admin: admin.add_raft_voter(2, b"d" * 16, [RaftEndpoint("C", "h", 1)]),
    "UnregisterBroker": lambda admin: admin.unregister_broker(2),
    "ShareGroupDescribe": lambda admin: admin.describe_share_groups(["x"]),
    "StreamsGroupDescribe": lambda admin: admin.describe_streams_groups(["x"]),
}


@pytest.mark.parametrize("api", NOT_EVERYWHERE)
def test_what_the_broker_does_not_offer_is_named(admin: ottla.Admin, api: str) -> None:
    offered = {APIS[key].name for key in TABLE}
    if api in offered:
        with contextlib.suppress(ServerError):  # carried out, or refused for what was asked
            NOT_EVERYWHERE[api](admin)
    else:
        with pytest.raises(UnsupportedVersion, match=f"^the broker does not offer {api}$"):
            NOT_EVERYWHERE[api](admin)


def test_many_threads_share_one_admin(admin: ottla.Admin, topic: str) -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                assert len(admin.describe_topics([topic]).all()[topic].partitions) == 2
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures


def test_a_timeout_of_the_call_ends_it_while_the_broker_is_stopped(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with ottla.Admin(broker.bootstrap) as admin:
        assert admin.list_topics() is not None
        broker.kill()
        with pytest.raises(OperationTimedOut):
            admin.create_topics([NewTopic("late", 1)], timeout=0.5)


def test_under_asyncio_it_is_the_same(shared_broker: BrokerProcess, topic_name: str) -> None:
    async def scenario() -> None:
        async with ottla.aio.Admin(shared_broker.bootstrap) as admin:
            names = [f"{topic_name}-aio-{n}" for n in range(3)]
            made = await asyncio.gather(*(admin.create_topics([NewTopic(name, 1)]) for name in names))
            assert [list(results.all()) for results in made] == [[name] for name in names]
            described = await admin.describe_topics(names, timeout=30)
            assert list(described.all()) == names
            offsets = await admin.list_offsets({TopicPartition(name, 0): LATEST for name in names})
            assert {result.offset for result in offsets.all().values()} == {0}
            with pytest.raises(UnsupportedVersion, match="DescribeAcls"):
                await admin.describe_acls()
            await admin.delete_topics(names)

    asyncio.run(scenario())
