"""Every version of every advertised API is answered, in that version's own words."""

from __future__ import annotations

from typing import Any

import pytest

from ottla.model.errors import ErrorCode
from ottla.wire.messages.alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from ottla.wire.messages.api_versions import ApiVersionsRequest
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.describe_cluster import DescribeClusterRequest
from ottla.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from ottla.wire.messages.describe_log_dirs import DescribableLogDirTopic, DescribeLogDirsRequest
from ottla.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig as IncrementalConfig,
)
from ottla.wire.messages.incremental_alter_configs import (
    AlterConfigsResource as IncrementalResource,
)
from ottla.wire.messages.incremental_alter_configs import IncrementalAlterConfigsRequest
from ottla.wire.messages.index import APIS, ApiKey
from ottla.wire.messages.init_producer_id import InitProducerIdRequest
from ottla.wire.messages.list_config_resources import ListConfigResourcesRequest
from ottla.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from ottla.wire.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.wire.messages.update_features import UpdateFeaturesRequest
from support.broker_process import BrokerProcess
from support.raw_client import RawClient, batch_of, fetch_request, produce_request, records_of

TOPIC_RESOURCE = 2


def versions(key: ApiKey, *, first: int | None = None) -> list[int]:
    api = APIS[key]
    return list(range(api.min_version if first is None else first, api.max_version + 1))


@pytest.fixture
def topic(raw: RawClient, topic_name: str) -> str:
    raw.create_topic(topic_name, partitions=2)
    assert raw.produce(topic_name, batch_of(b"a", b"b", b"c", timestamp=1_700_000_000_000)).base_offset == 0
    return topic_name


def advertised(raw: RawClient) -> dict[int, range]:
    answer = raw.call(ApiVersionsRequest(), 0)
    return {each.api_key: range(each.min_version, each.max_version + 1) for each in answer.api_keys}


def test_every_client_api_of_this_release_is_advertised_in_all_its_versions(raw: RawClient) -> None:
    """Except where a version belongs to what is not there yet (InitProducerId 6 is two-phase commit)."""
    found = advertised(raw)
    for key in (
        ApiKey.PRODUCE,
        ApiKey.FETCH,
        ApiKey.LIST_OFFSETS,
        ApiKey.METADATA,
        ApiKey.API_VERSIONS,
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.DELETE_RECORDS,
        ApiKey.INIT_PRODUCER_ID,
        ApiKey.OFFSET_FOR_LEADER_EPOCH,
        ApiKey.DESCRIBE_CONFIGS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.DESCRIBE_CLUSTER,
        ApiKey.LIST_CONFIG_RESOURCES,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
    ):
        highest = APIS[key].max_version
        unstable = APIS[key].unstable_version
        assert found[key][-1] >= (highest if unstable is None else unstable - 1), key.name
        assert found[key][0] == (0 if key == ApiKey.PRODUCE else APIS[key].min_version), key.name


def in_range(raw: RawClient, key: ApiKey, version: int) -> bool:
    return version in advertised(raw)[key]


@pytest.mark.parametrize("version", versions(ApiKey.API_VERSIONS))
def test_api_versions(raw: RawClient, version: int) -> None:
    answer = raw.call(ApiVersionsRequest(client_software_name="t", client_software_version="1"), version)
    assert answer.error_code == ErrorCode.NONE and len(answer.api_keys) > 15
    if version >= 3:
        assert {feature.name for feature in answer.finalized_features} >= {"metadata.version"}
        assert answer.finalized_features_epoch >= 0


@pytest.mark.parametrize("version", versions(ApiKey.METADATA))
def test_metadata(raw: RawClient, shared_broker: BrokerProcess, topic: str, version: int) -> None:
    answer = raw.call(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), version)
    assert [(each.node_id, each.port) for each in answer.brokers] == [(1, shared_broker.port)]
    (found,) = answer.topics
    assert (found.error_code, found.name, len(found.partitions)) == (ErrorCode.NONE, topic, 2)
    assert all(each.leader_id == 1 and each.isr_nodes == [1] for each in found.partitions)
    everything = raw.call(MetadataRequest(topics=[] if version == 0 else None), version)
    assert topic in {each.name for each in everything.topics}
    if version >= 12:
        by_id = MetadataRequestTopic(topic_id=raw.topic_id(topic), name=None)
        (found,) = raw.call(MetadataRequest(topics=[by_id]), version).topics
        assert found.name == topic
        unknown = MetadataRequestTopic(topic_id=b"\x01" * 16, name=None)
        (found,) = raw.call(MetadataRequest(topics=[unknown]), version).topics
        assert found.error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("version", versions(ApiKey.PRODUCE, first=3))
@pytest.mark.parametrize("acks", [-1, 1])
def test_produce(raw: RawClient, topic: str, version: int, acks: int) -> None:
    request = produce_request(
        "" if version >= 13 else topic, batch_of(b"x"), acks=acks, topic_id=raw.topic_id(topic)
    )
    (answer,) = raw.call(request, version).responses[0].partition_responses
    assert (answer.error_code, answer.base_offset, answer.log_append_time_ms) == (ErrorCode.NONE, 3, -1)
    missing = produce_request("" if version >= 13 else "nowhere", batch_of(b"x"), topic_id=b"\x01" * 16)
    (answer,) = raw.call(missing, version).responses[0].partition_responses
    expected = ErrorCode.UNKNOWN_TOPIC_ID if version >= 13 else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert answer.error_code == expected


@pytest.mark.parametrize("version", versions(ApiKey.FETCH, first=4))
def test_fetch(raw: RawClient, topic: str, version: int) -> None:
    topic_id = raw.topic_id(topic)
    answer = raw.call(fetch_request("" if version >= 13 else topic, 0, topic_id=topic_id), version)
    (part,) = answer.responses[0].partitions
    assert (part.error_code, part.high_watermark) == (ErrorCode.NONE, 3)
    assert [each.value for each in records_of(part.records)] == [b"a", b"b", b"c"]
    # Errors in every version: an offset out of range, a partition that does not exist, a leader epoch of
    # the future.
    out_of_range = fetch_request("" if version >= 13 else topic, 99, topic_id=topic_id)
    (part,) = raw.call(out_of_range, version).responses[0].partitions
    assert part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    missing = fetch_request("" if version >= 13 else topic, 0, topic_id=topic_id, partition=7)
    (part,) = raw.call(missing, version).responses[0].partitions
    assert part.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if version >= 9:
        early = fetch_request("" if version >= 13 else topic, 0, topic_id=topic_id)
        early.topics[0].partitions[0].current_leader_epoch = 99
        (part,) = raw.call(early, version).responses[0].partitions
        assert part.error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


@pytest.mark.parametrize("version", versions(ApiKey.LIST_OFFSETS))
def test_list_offsets(raw: RawClient, topic: str, version: int) -> None:
    def offset(timestamp: int) -> tuple[int, int]:
        asked = ListOffsetsPartition(partition_index=0, timestamp=timestamp)
        request = ListOffsetsRequest(
            replica_id=-1, topics=[ListOffsetsTopic(name=topic, partitions=[asked])], timeout_ms=1000
        )
        (found,) = raw.call(request, version).topics[0].partitions
        return found.error_code, found.offset

    assert offset(-1) == (ErrorCode.NONE, 3)
    assert offset(-2) == (ErrorCode.NONE, 0)
    assert offset(1_700_000_000_000) == (ErrorCode.NONE, 0)
    assert offset(1_700_000_000_001) == (ErrorCode.NONE, -1)
    by_max = offset(-3)
    assert by_max[0] == (ErrorCode.NONE if version >= 7 else ErrorCode.UNSUPPORTED_VERSION)


@pytest.mark.parametrize("version", versions(ApiKey.CREATE_TOPICS))
def test_create_and_delete_topics(raw: RawClient, topic_name: str, version: int) -> None:
    made = CreatableTopic(name=topic_name, num_partitions=2, replication_factor=1)
    request = CreateTopicsRequest(topics=[made], timeout_ms=5000)
    (answer,) = raw.call(request, version).topics
    assert answer.error_code == ErrorCode.NONE
    (answer,) = raw.call(request, version).topics
    assert answer.error_code == ErrorCode.TOPIC_ALREADY_EXISTS
    if version >= 4:
        defaults = CreatableTopic(name=topic_name + "-d", num_partitions=-1, replication_factor=-1)
        (answer,) = raw.call(CreateTopicsRequest(topics=[defaults], timeout_ms=5000), version).topics
        assert answer.error_code == ErrorCode.NONE


@pytest.mark.parametrize("version", versions(ApiKey.DELETE_TOPICS))
def test_delete_topics(raw: RawClient, topic: str, version: int) -> None:
    if version >= 6:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000)
    else:
        request = DeleteTopicsRequest(topic_names=[topic], timeout_ms=5000)
    (answer,) = raw.call(request, version).responses
    assert (answer.name, answer.error_code) == (topic, ErrorCode.NONE)
    (answer,) = raw.call(request, version).responses
    assert answer.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("version", versions(ApiKey.DELETE_RECORDS))
def test_delete_records(raw: RawClient, topic: str, version: int) -> None:
    asked = DeleteRecordsPartition(partition_index=0, offset=2)
    request = DeleteRecordsRequest(
        topics=[DeleteRecordsTopic(name=topic, partitions=[asked])], timeout_ms=5000
    )
    (answer,) = raw.call(request, version).topics[0].partitions
    assert (answer.error_code, answer.low_watermark) == (ErrorCode.NONE, 2)


@pytest.mark.parametrize("version", versions(ApiKey.CREATE_PARTITIONS))
def test_create_partitions(raw: RawClient, topic: str, version: int) -> None:
    request = CreatePartitionsRequest(
        topics=[CreatePartitionsTopic(name=topic, count=5, assignments=None)], timeout_ms=5000
    )
    (answer,) = raw.call(request, version).results
    assert answer.error_code == ErrorCode.NONE
    (found,) = raw.call(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12).topics
    assert len(found.partitions) == 5


@pytest.mark.parametrize("version", versions(ApiKey.INIT_PRODUCER_ID))
def test_init_producer_id(raw: RawClient, version: int) -> None:
    if not in_range(raw, ApiKey.INIT_PRODUCER_ID, version):
        assert version == APIS[ApiKey.INIT_PRODUCER_ID].max_version  # two-phase commit
        return
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=1000)
    first, second = raw.call(request, version), raw.call(request, version)
    assert first.error_code == second.error_code == ErrorCode.NONE
    assert second.producer_id > first.producer_id >= 0 and first.producer_epoch == 0


@pytest.mark.parametrize("version", versions(ApiKey.OFFSET_FOR_LEADER_EPOCH))
def test_offset_for_leader_epoch(raw: RawClient, topic: str, version: int) -> None:
    asked = OffsetForLeaderPartition(partition=0, leader_epoch=0)
    request = OffsetForLeaderEpochRequest(
        replica_id=-2 if version < 3 else -1, topics=[OffsetForLeaderTopic(topic=topic, partitions=[asked])]
    )
    (answer,) = raw.call(request, version).topics[0].partitions
    assert (answer.error_code, answer.leader_epoch, answer.end_offset) == (ErrorCode.NONE, 0, 3)


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_CONFIGS))
def test_describe_configs(raw: RawClient, topic: str, version: int) -> None:
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=["retention.ms"]
    )
    (answer,) = raw.call(DescribeConfigsRequest(resources=[resource]), version).results
    assert answer.error_code == ErrorCode.NONE
    assert [(each.name, each.value) for each in answer.configs] == [("retention.ms", "604800000")]
    resource.configuration_keys = None
    (answer,) = raw.call(DescribeConfigsRequest(resources=[resource]), version).results
    assert len(answer.configs) > 20


@pytest.mark.parametrize("version", versions(ApiKey.ALTER_CONFIGS))
def test_alter_configs(raw: RawClient, topic: str, version: int) -> None:
    def alter(**configs: str) -> int:
        pairs = [AlterableConfig(name=k.replace("_", "."), value=v) for k, v in configs.items()]
        resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=pairs)
        (answer,) = raw.call(AlterConfigsRequest(resources=[resource]), version).responses
        code: int = answer.error_code
        return code

    assert alter(retention_ms="5", segment_ms="7") == ErrorCode.NONE
    assert alter(retention_ms="6") == ErrorCode.NONE  # what is not named goes back to its default
    assert alter(retention_ms="never") == ErrorCode.INVALID_CONFIG
    assert described(raw, topic, "retention.ms", "segment.ms") == ["6", "604800000"]


@pytest.mark.parametrize("version", versions(ApiKey.INCREMENTAL_ALTER_CONFIGS))
def test_incremental_alter_configs(raw: RawClient, topic: str, version: int) -> None:
    for operation, value, expected in (
        (2, "compact", "delete,compact"),
        (3, "delete", "compact"),
        (1, None, "delete"),
    ):
        config = IncrementalConfig(name="cleanup.policy", config_operation=operation, value=value)
        resource = IncrementalResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=[config])
        (answer,) = raw.call(IncrementalAlterConfigsRequest(resources=[resource]), version).responses
        assert answer.error_code == ErrorCode.NONE
        assert described(raw, topic, "cleanup.policy") == [expected]


def described(raw: RawClient, topic: str, *keys: str) -> list[Any]:
    resource = DescribeConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=list(keys)
    )
    (answer,) = raw.call(DescribeConfigsRequest(resources=[resource]), 4).results
    values = {each.name: each.value for each in answer.configs}
    return [values[key] for key in keys]


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_LOG_DIRS))
def test_describe_log_dirs(raw: RawClient, shared_broker: BrokerProcess, topic: str, version: int) -> None:
    request = DescribeLogDirsRequest(topics=[DescribableLogDirTopic(topic=topic, partitions=[0, 1])])
    (directory,) = raw.call(request, version).results
    assert (directory.error_code, directory.log_dir) == (ErrorCode.NONE, str(shared_broker.data_dir))
    assert {each.partition_index: each.partition_size > 0 for each in directory.topics[0].partitions} == {
        0: True,
        1: False,
    }


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_CLUSTER))
def test_describe_cluster(raw: RawClient, shared_broker: BrokerProcess, version: int) -> None:
    answer = raw.call(DescribeClusterRequest(), version)
    assert answer.error_code == ErrorCode.NONE and answer.controller_id == 1
    assert [(each.broker_id, each.port) for each in answer.brokers] == [(1, shared_broker.port)]


@pytest.mark.parametrize("version", versions(ApiKey.DESCRIBE_TOPIC_PARTITIONS))
def test_describe_topic_partitions(raw: RawClient, topic: str, version: int) -> None:
    request = DescribeTopicPartitionsRequest(topics=[TopicRequest(name=topic)], response_partition_limit=1)
    answer = raw.call(request, version)
    assert [each.partition_index for each in answer.topics[0].partitions] == [0]
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == (topic, 1)


@pytest.mark.parametrize("version", versions(ApiKey.LIST_CONFIG_RESOURCES))
def test_list_config_resources(raw: RawClient, topic: str, version: int) -> None:
    answer = raw.call(ListConfigResourcesRequest(), version)
    assert answer.error_code == ErrorCode.NONE
    names = {each.resource_name for each in answer.config_resources}
    assert (topic in names) == (version >= 1)  # version 0 lists client metrics only


@pytest.mark.parametrize("version", versions(ApiKey.UPDATE_FEATURES))
def test_update_features(raw: RawClient, version: int) -> None:
    answer = raw.call(UpdateFeaturesRequest(timeout_ms=1000), version)
    assert answer.error_code in (ErrorCode.NONE, ErrorCode.INVALID_REQUEST)
