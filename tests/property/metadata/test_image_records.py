"""`to_records` of any image rebuilds it, through the bytes of every metadata version that can be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.metadata.features import METADATA_VERSION_HIGH, METADATA_VERSION_LOW
from ottla.metadata.image import EMPTY_IMAGE, ImageBuilder
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.wire.messages.cluster_metadata import (
    AccessControlEntryRecord,
    BrokerEndpoint,
    BrokerFeature,
    ClientQuotaRecord,
    ConfigRecord,
    ControllerEndpoint,
    ControllerFeature,
    DelegationTokenRecord,
    EntityData,
    FeatureLevelRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    TopicRecord,
    UserScramCredentialRecord,
)

TEXT = st.text(max_size=6)
NAMES = st.sampled_from(["a", "b.c", "d_e", "f-1"])
UUIDS = st.binary(min_size=16, max_size=16)
INTS = st.integers(0, 2**31 - 1)
LONGS = st.integers(-1, 2**63 - 1)
SECRETS = st.binary(max_size=8)
NODES = st.lists(st.integers(0, 9), max_size=4, unique=True)
RANGES = {"min_supported_version": st.integers(0, 9), "max_supported_version": st.integers(0, 99)}
ENDPOINT = {"host": TEXT, "port": st.integers(0, 65535), "security_protocol": st.integers(0, 3)}


@st.composite
def topics(draw: st.DrawFn) -> list[MetadataRecord]:
    records: list[MetadataRecord] = []
    names = draw(st.lists(NAMES, unique=True))
    ids = draw(st.lists(UUIDS, min_size=len(names), max_size=len(names), unique=True))
    for name, topic_id in zip(names, ids, strict=True):
        records.append(TopicRecord(name=name, topic_id=topic_id))
        for partition_id in range(draw(st.integers(1, 3))):
            replicas = draw(NODES)
            records.append(
                PartitionRecord(
                    partition_id=partition_id,
                    topic_id=topic_id,
                    replicas=replicas,
                    isr=draw(NODES),
                    removing_replicas=draw(NODES),
                    adding_replicas=draw(NODES),
                    leader=draw(st.integers(-1, 9)),
                    leader_recovery_state=draw(st.integers(0, 1)),
                    leader_epoch=draw(INTS),
                    partition_epoch=draw(INTS),
                    directories=[draw(UUIDS) for _ in replicas],
                    eligible_leader_replicas=draw(st.none() | NODES),
                    last_known_elr=draw(st.none() | NODES),
                )
            )
    return records


def named(names: list[str], kind: Any, fields: Mapping[str, Any]) -> st.SearchStrategy[list[Any]]:
    return st.tuples(*(st.builds(kind, name=st.just(name), **fields) for name in names)).map(list)


OTHERS = st.one_of(
    st.builds(
        RegisterBrokerRecord,
        broker_id=st.integers(0, 9),
        incarnation_id=UUIDS,
        broker_epoch=LONGS,
        end_points=named(["A", "B"], BrokerEndpoint, ENDPOINT),
        features=named(["x", "y"], BrokerFeature, RANGES),
        rack=st.none() | TEXT,
        fenced=st.booleans(),
        in_controlled_shutdown=st.booleans(),
        log_dirs=st.lists(UUIDS, max_size=3),
    ),
    st.builds(
        RegisterControllerRecord,
        controller_id=st.integers(0, 9),
        incarnation_id=UUIDS,
        zk_migration_ready=st.booleans(),
        end_points=named(["C"], ControllerEndpoint, ENDPOINT),
        features=named(["x"], ControllerFeature, RANGES),
    ),
    st.builds(
        ConfigRecord,
        resource_type=st.sampled_from([2, 4, 16, 32]),
        resource_name=TEXT,
        name=TEXT,
        value=st.none() | TEXT,
    ),
    st.builds(ProducerIdsRecord, broker_id=INTS, broker_epoch=LONGS, next_producer_id=LONGS),
    st.builds(
        ClientQuotaRecord,
        entity=st.lists(
            st.builds(
                EntityData, entity_type=st.sampled_from(["user", "ip"]), entity_name=st.just("n") | st.none()
            ),
            min_size=1,
            max_size=2,
            unique_by=lambda each: each.entity_type,
        ),
        key=TEXT,
        value=st.floats(allow_nan=False),
        remove=st.booleans(),
    ),
    st.builds(
        UserScramCredentialRecord,
        name=TEXT,
        mechanism=st.integers(1, 2),
        salt=SECRETS,
        stored_key=SECRETS,
        server_key=SECRETS,
        iterations=INTS,
    ),
    st.builds(
        AccessControlEntryRecord,
        id=UUIDS,
        resource_type=st.integers(1, 6),
        resource_name=TEXT,
        pattern_type=st.integers(1, 4),
        principal=TEXT,
        host=TEXT,
        operation=st.integers(1, 12),
        permission_type=st.integers(1, 3),
    ),
    st.builds(
        DelegationTokenRecord,
        owner=TEXT,
        requester=TEXT,
        renewers=st.lists(TEXT, max_size=2),
        issue_timestamp=LONGS,
        max_timestamp=LONGS,
        expiration_timestamp=LONGS,
        token_id=TEXT,
    ),
    st.builds(FeatureLevelRecord, name=st.sampled_from(["x", "y"]), feature_level=st.integers(0, 3)),
)


@settings(max_examples=300, deadline=None)
@given(st.integers(METADATA_VERSION_LOW, METADATA_VERSION_HIGH), topics(), st.lists(OTHERS, max_size=12))
def test_the_records_of_any_image_rebuild_it(
    version: int, made: list[MetadataRecord], others: list[MetadataRecord]
) -> None:
    first = FeatureLevelRecord(name="metadata.version", feature_level=version)
    image, _ = ImageBuilder(EMPTY_IMAGE).replay_all([first, *made, *others]).build()
    records = list(image.to_records())
    assert records[0] == first, "what decides how the rest is written comes first"
    read = [decode_record(encode_record(record, version)) for record in records]
    again, _ = ImageBuilder(EMPTY_IMAGE).replay_all(read).build()
    assert again == image
    assert list(again.to_records()) == records
