"""The image: replay, copy-on-write, deltas, and the way back to records."""

from __future__ import annotations

import pytest
from metadata_cluster import Cluster, directory_id

from ottla.metadata.image import (
    EMPTY_IMAGE,
    TOPIC_RESOURCE,
    ImageBuilder,
    ReplayError,
)
from ottla.metadata.records import decode_record, encode_record, record_version
from ottla.wire.messages.cluster_metadata import (
    AccessControlEntryRecord,
    BrokerRegistrationChangeRecord,
    ClearElrRecord,
    ClientQuotaRecord,
    ConfigRecord,
    DelegationTokenRecord,
    EntityData,
    FeatureLevelRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
)
from ottla.wire.primitives import DecodeError


def test_the_base_image_is_untouched_by_what_is_built_on_it() -> None:
    cluster = Cluster()
    cluster.create("a", configs={"retention.ms": "5"})
    before = cluster.image
    frozen = list(before.to_records())
    topic_id = before.topics["a"].topic_id
    cluster.replay(
        [
            PartitionRecord(
                topic_id=topic_id,
                partition_id=1,
                replicas=[1],
                isr=[1],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            ),
            ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="a", name="retention.ms", value="6"),
        ]
    )
    assert list(before.to_records()) == frozen
    assert len(cluster.image.topics["a"].partitions) == 2
    assert cluster.image.config(TOPIC_RESOURCE, "a") == {"retention.ms": "6"}


def test_a_change_of_one_topic_shares_all_the_others() -> None:
    cluster = Cluster()
    for name in ("a", "b", "c"):
        cluster.create(name)
    before = cluster.image
    changed_id = before.topics["b"].topic_id
    delta = cluster.replay([PartitionChangeRecord(topic_id=changed_id, partition_id=0, leader=1)])
    assert cluster.image.topics["a"] is before.topics["a"]
    assert cluster.image.topics["c"] is before.topics["c"]
    assert cluster.image.topics["b"] is not before.topics["b"]
    assert cluster.image.brokers is before.brokers
    assert cluster.image.configs is before.configs
    assert delta.changed_topics == {changed_id}
    assert not delta.created_topics and not delta.deleted_topics


def test_the_delta_names_what_was_created_and_deleted() -> None:
    cluster = Cluster()
    old_id = cluster.create("a", configs={"retention.ms": "5"})
    new_id = b"n" * 16
    gone_id = b"g" * 16
    delta = cluster.replay(
        [
            RemoveTopicRecord(topic_id=old_id),
            TopicRecord(name="a", topic_id=new_id),
            TopicRecord(name="b", topic_id=gone_id),
            RemoveTopicRecord(topic_id=gone_id),
        ]
    )
    assert delta.created_topics == {new_id}
    assert delta.deleted_topics == {old_id: "a"}
    assert delta.changed_topics == set()
    assert delta.changed_configs == {(TOPIC_RESOURCE, "a")}
    assert delta.before.topics["a"].topic_id == old_id
    assert delta.after is cluster.image
    assert cluster.image.config(TOPIC_RESOURCE, "a") == {}
    assert not delta.empty
    assert cluster.replay([NoOpRecord()]).empty


def test_naming_a_leader_raises_its_epoch_even_when_it_stays_and_every_change_raises_the_partitions() -> None:
    cluster = Cluster(brokers=2)
    topic_id = cluster.create("a", factor=2)
    first = cluster.image.partition("a", 0)
    assert first is not None and (first.leader_epoch, first.partition_epoch) == (0, 0)
    cluster.replay([PartitionChangeRecord(topic_id=topic_id, partition_id=0, leader=first.leader)])
    second = cluster.image.partition("a", 0)
    assert second is not None and (second.leader_epoch, second.partition_epoch) == (1, 1)
    cluster.replay([PartitionChangeRecord(topic_id=topic_id, partition_id=0, isr=[first.leader])])
    third = cluster.image.partition("a", 0)
    assert third is not None and (third.leader_epoch, third.partition_epoch) == (1, 2)
    assert third.isr == (first.leader,) and third.replicas == first.replicas


@pytest.mark.parametrize(
    "record",
    [
        TopicRecord(name="a", topic_id=b"x" * 16),
        RemoveTopicRecord(topic_id=b"x" * 16),
        PartitionRecord(topic_id=b"x" * 16, partition_id=0),
        PartitionChangeRecord(topic_id=b"x" * 16, partition_id=0),
        UnregisterBrokerRecord(broker_id=9, broker_epoch=1),
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=999, fenced=1),
        ClearElrRecord(topic_name="nothing"),
        object(),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_that_contradicts_the_image_is_refused(record: object) -> None:
    cluster = Cluster()
    cluster.create("a")
    with pytest.raises(ReplayError):
        ImageBuilder(cluster.image).replay(record)


def test_an_image_of_everything_replays_from_its_own_records() -> None:
    cluster = Cluster(brokers=3, racks=["r1", None, "r3"])
    cluster.create("a", 3, 2, {"retention.ms": "5"})
    cluster.create("b.c")
    topic_id = cluster.image.topics["a"].topic_id
    cluster.replay(
        [
            PartitionChangeRecord(
                topic_id=topic_id,
                partition_id=0,
                eligible_leader_replicas=[2],
                last_known_elr=[3],
                removing_replicas=[1],
                adding_replicas=[3],
                leader_recovery_state=1,
                directories=[directory_id(1), directory_id(2)],
            ),
            ClientQuotaRecord(
                entity=[EntityData(entity_type="user", entity_name=None)], key="producer_byte_rate", value=5.0
            ),
            UserScramCredentialRecord(
                name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
            ),
            AccessControlEntryRecord(id=b"a" * 16, resource_type=2, resource_name="a", principal="User:u"),
            DelegationTokenRecord(owner="User:u", token_id="t"),
            RegisterControllerRecord(controller_id=1, incarnation_id=b"i" * 16),
            ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value="7"),
        ]
    )
    cluster.apply(cluster.controller.allocate_producer_ids(1, 101))  # type: ignore[arg-type]
    replayed, _ = ImageBuilder(EMPTY_IMAGE).replay_all(cluster.image.to_records()).build()
    assert replayed == cluster.image
    assert replayed != EMPTY_IMAGE
    state = replayed.partition("a", 0)
    assert state is not None and state.eligible_leader_replicas == (2,)
    assert next(iter(cluster.image.to_records())) == FeatureLevelRecord(
        name="metadata.version", feature_level=29
    )
    cluster.replay(
        [
            ClearElrRecord(topic_name=""),
            ClientQuotaRecord(
                entity=[EntityData(entity_type="user", entity_name=None)],
                key="producer_byte_rate",
                remove=True,
            ),
            RemoveUserScramCredentialRecord(name="u", mechanism=1),
            RemoveAccessControlEntryRecord(id=b"a" * 16),
            RemoveDelegationTokenRecord(token_id="t"),
            ConfigRecord(resource_type=4, resource_name="", name="log.retention.ms", value=None),
        ]
    )
    image = cluster.image
    assert not image.client_quotas and not image.scram_credentials and not image.acls
    assert not image.delegation_tokens and (4, "") not in image.configs
    state = image.partition("a", 0)
    assert state is not None and state.eligible_leader_replicas == () and state.last_known_elr == ()


def test_a_batch_that_fails_half_way_publishes_nothing() -> None:
    cluster = Cluster()
    before = cluster.image
    builder = ImageBuilder(before)
    builder.replay(TopicRecord(name="a", topic_id=b"a" * 16))
    with pytest.raises(ReplayError):
        builder.replay(TopicRecord(name="a", topic_id=b"b" * 16))
    assert "a" not in before.topics


@pytest.mark.parametrize(("metadata_version", "version"), [(7, 1), (8, 2), (16, 2), (17, 3), (29, 3)])
def test_a_registration_is_written_in_the_version_that_the_cluster_agreed_on(
    metadata_version: int, version: int
) -> None:
    assert record_version(RegisterBrokerRecord(), metadata_version) == version


def test_bytes_that_are_no_record_are_refused() -> None:
    value = encode_record(TopicRecord(name="a", topic_id=b"a" * 16), 29)
    for end in range(len(value)):
        with pytest.raises(DecodeError):
            decode_record(value[:end])


def test_an_image_of_ten_thousand_topics_changes_without_copying_them() -> None:
    """Two levels are copied: the map of topics, and the changed topic. Not the ten thousand."""
    records: list[object] = []
    for number in range(10_000):
        topic_id = number.to_bytes(16, "big")
        records += [
            TopicRecord(name=f"t{number}", topic_id=topic_id),
            PartitionRecord(
                topic_id=topic_id,
                partition_id=0,
                replicas=[1],
                isr=[1],
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            ),
        ]
    big, _ = ImageBuilder(EMPTY_IMAGE).replay_all(records).build()
    builder = ImageBuilder(big)
    builder.replay(PartitionChangeRecord(topic_id=(77).to_bytes(16, "big"), partition_id=0, leader=1))
    after, delta = builder.build()
    shared = sum(after.topics[name] is topic for name, topic in big.topics.items())
    assert shared == 9_999
    assert delta.changed_topics == {(77).to_bytes(16, "big")}
