"""Random sequences of decisions, replayed: the image keeps its promises, and its records give it back.

The rules: names and ids are unique and agree in both maps; partitions are dense from 0; a leader is in sync,
and what is in sync is a replica; epochs never go back; a batch changes only what its delta names.
"""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ottla.metadata.brokers import register_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.controller import Controller
from ottla.metadata.features import bootstrap_records, supported_features
from ottla.metadata.image import BROKER_RESOURCE, EMPTY_IMAGE, TOPIC_RESOURCE, Endpoint, ImageBuilder
from ottla.metadata.records import MetadataRecord, decode_record, encode_record
from ottla.model.errors import ErrorCode
from ottla.model.server_config import ServerConfig
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    BrokerState,
)
from ottla.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.wire.messages.broker_heartbeat import BrokerHeartbeatRequest
from ottla.wire.messages.broker_registration import BrokerRegistrationRequest, Feature, Listener
from ottla.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from ottla.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from ottla.wire.messages.elect_leaders import ElectLeadersRequest
from ottla.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)

NAMES = st.sampled_from(["a", "b", "c.d", "c_d", "..", "e-1"])
NODES = st.integers(1, 4)
CONFIGS = st.sampled_from(
    [
        ("retention.ms", "5"),
        ("retention.ms", "x"),
        ("cleanup.policy", "compact"),
        ("flush.ms", "1"),
        ("zz", "1"),
    ]
)


class Decisions(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.offset = 0
        self.now_ms = 0
        self.image = EMPTY_IMAGE
        self.before = EMPTY_IMAGE
        self.controller = Controller(ConfigView(ServerConfig({}), EMPTY_IMAGE), Random(1))
        self.replay(bootstrap_records())
        self.incarnations = 0
        for node in (1, 2, 3):
            self.register(node)
            self.unfence(node)
        # Something to begin with: a run that starts from nothing spends its steps on refusals.
        self.create(["a", "c.d"], 2, 2, [("retention.ms", "7")], False)
        self.another_controller()

    def ask(self, request: Any, version: int) -> Any:
        decision = self.controller.decide(request, version, self.now_ms)
        self.replay(decision.records)
        return decision.response

    def replay(self, records: list[MetadataRecord]) -> None:
        builder = ImageBuilder(self.image)
        for record in records:
            builder.replay(decode_record(encode_record(record, 29)))
        self.offset += len(records)
        self.before = self.image
        self.image, delta = builder.build(self.offset - 1)
        self.controller.view = self.controller.view.after(self.image)
        self.controller.next_offset = self.offset
        touched = delta.created_topics | delta.changed_topics
        for topic_id, topic in self.image.topics_by_id.items():
            if topic_id not in touched:
                assert topic is self.before.topics_by_id[topic_id]
        for topic_id in self.before.topics_by_id.keys() - self.image.topics_by_id.keys():
            assert topic_id in delta.deleted_topics
        if not delta.changed_configs:
            assert self.image.configs is self.before.configs

    @rule(node=NODES)
    def register(self, node: int) -> None:
        known = self.image.brokers.get(node)
        if known is not None and not known.fenced:
            return
        self.incarnations += 1
        self.replay(
            register_broker(
                self.image,
                node_id=node,
                broker_epoch=self.offset,
                incarnation_id=self.incarnations.to_bytes(16, "big"),
                endpoints=[Endpoint("PLAINTEXT", f"h{node % 2}", 9092, 0)],
                features=supported_features(),
                rack=None if node % 2 else "r",
                log_dirs=[bytes([node] * 16)],
            )
        )

    @rule(node=NODES)
    def unfence(self, node: int) -> None:
        if node in self.image.brokers:
            self.replay(self.controller.unfence_broker(node))

    @rule(node=NODES)
    def fence(self, node: int) -> None:
        if node not in self.image.brokers:
            return
        self.replay(self.controller.fence_broker(node))
        for topic in self.image.topics.values():
            for state in topic.partitions.values():
                assert state.leader != node
                assert node not in state.isr

    @rule(node=NODES)
    def raise_epochs(self, node: int) -> None:
        self.replay(self.controller.raise_leader_epochs(node))

    @rule(
        names=st.lists(NAMES, min_size=1, max_size=4),
        partitions=st.sampled_from([1, 2, 3, -1, 0]),
        factor=st.sampled_from([1, 2, 3, -1, 0, 4]),
        configs=st.lists(CONFIGS, max_size=1),
        validate_only=st.sampled_from([False, False, False, True]),
    )
    def create(
        self,
        names: list[str],
        partitions: int,
        factor: int,
        configs: list[tuple[str, str]],
        validate_only: bool,
    ) -> None:
        topics = [
            CreatableTopic(
                name=name,
                num_partitions=partitions,
                replication_factor=factor,
                configs=[CreatableTopicConfig(name=key, value=value) for key, value in configs],
            )
            for name in names
        ]
        decision = self.controller.create_topics(
            CreateTopicsRequest(topics=topics, validate_only=validate_only)
        )
        self.replay(decision.records)
        for result in decision.response.topics:
            if result.error_code == 0 and not validate_only:
                assert self.image.topics[result.name].topic_id == result.topic_id
                assert len(self.image.topics[result.name].partitions) == result.num_partitions

    @rule(name=NAMES, assignment=st.lists(st.lists(NODES, max_size=3), min_size=1, max_size=3))
    def create_by_hand(self, name: str, assignment: list[list[int]]) -> None:
        topic = CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[
                CreatableReplicaAssignment(partition_index=index, broker_ids=brokers)
                for index, brokers in enumerate(assignment)
            ],
        )
        self.replay(self.controller.create_topics(CreateTopicsRequest(topics=[topic])).records)

    @rule(name=NAMES, count=st.integers(-1, 8))
    def add_partitions(self, name: str, count: int) -> None:
        request = CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=name, count=count, assignments=None)]
        )
        self.replay(self.controller.create_partitions(request).records)

    @rule(name=NAMES, by_id=st.booleans())
    def delete(self, name: str, by_id: bool) -> None:
        topic = self.image.topics.get(name)
        state = DeleteTopicState(name=name)
        if by_id and topic is not None:
            state = DeleteTopicState(name=None, topic_id=topic.topic_id)
        self.replay(self.controller.delete_topics(DeleteTopicsRequest(topics=[state]), 6).records)
        assert name not in self.image.topics

    @rule(name=NAMES, config=CONFIGS, operation=st.integers(0, 3), broker=st.booleans())
    def configure(self, name: str, config: tuple[str, str], operation: int, broker: bool) -> None:
        resource = AlterConfigsResource(
            resource_type=BROKER_RESOURCE if broker else TOPIC_RESOURCE,
            resource_name="" if broker else name,
            configs=[
                AlterableConfig(
                    name="log.retention.ms" if broker else config[0],
                    config_operation=operation,
                    value=None if operation == 1 else config[1],
                )
            ],
        )
        decision = self.controller.incremental_alter_configs(
            IncrementalAlterConfigsRequest(resources=[resource])
        )
        self.replay(decision.records)
        if decision.response.responses[0].error_code == 0 and operation == 0 and not broker:
            assert self.image.config(TOPIC_RESOURCE, name)[config[0]] == config[1]

    @rule(node=NODES, clean=st.booleans())
    def restart(self, node: int, clean: bool) -> None:
        """In another life, after the session of the last one has run out."""
        self.time_passes(0)  # the controller looks for silent brokers, and hears of new ones
        known = self.image.brokers.get(node)
        self.incarnations += 1
        request = BrokerRegistrationRequest(
            broker_id=node,
            incarnation_id=self.incarnations.to_bytes(16, "big"),
            listeners=[Listener(name="PLAINTEXT", host=f"h{node % 2}", port=9092, security_protocol=0)],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in supported_features().items()
            ],
            log_dirs=[bytes([node] * 16)],
            previous_broker_epoch=known.epoch if known is not None and clean else -1,
        )
        self.now_ms += 10_000
        response = self.ask(request, 4)
        assert (response.error_code, response.broker_epoch) == (0, self.image.brokers[node].epoch)

    @rule(node=NODES, stop=st.booleans())
    def heartbeat(self, node: int, stop: bool) -> None:
        known = self.image.brokers.get(node)
        if known is None:
            return
        response = self.ask(
            BrokerHeartbeatRequest(
                broker_id=node,
                broker_epoch=known.epoch,
                current_metadata_offset=self.offset,
                want_shut_down=stop,
            ),
            1,
        )
        assert response.error_code == 0
        assert response.is_fenced == self.image.brokers[node].fenced
        if response.should_shut_down:
            assert self.image.brokers[node].fenced

    @rule(silence_ms=st.sampled_from([0, 4000, 10_000, 400_000]))
    def time_passes(self, silence_ms: int) -> None:
        self.now_ms += silence_ms
        for _ in range(10):
            if self.controller.next_deadline_ms() > self.now_ms:
                break
            self.replay(self.controller.periodic(self.now_ms))
        assert self.controller.next_deadline_ms() > self.now_ms

    @rule()
    def another_controller(self) -> None:
        self.controller.activate(self.controller.view, self.now_ms)

    @rule(name=NAMES, wanted=st.none() | st.lists(NODES, max_size=3))
    def reassign(self, name: str, wanted: list[int] | None) -> None:
        partition = ReassignablePartition(partition_index=0, replicas=wanted)
        request = AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name=name, partitions=[partition])]
        )
        self.ask(request, 1)

    @rule(name=NAMES, left_out=st.none() | NODES, stale=st.sampled_from([0, 0, 0, -1, 1]))
    def leader_reports(self, name: str, left_out: int | None, stale: int) -> None:
        """All active replicas but one are in sync."""
        topic = self.image.topics.get(name)
        if topic is None or topic.partitions[0].leader == -1:
            return
        state = topic.partitions[0]
        isr = [
            BrokerState(broker_id=each, broker_epoch=self.image.brokers[each].epoch)
            for each in state.replicas
            if each == state.leader or (self.image.brokers[each].active and each != left_out)
        ]
        request = AlterPartitionRequest(
            broker_id=state.leader,
            broker_epoch=self.image.brokers[state.leader].epoch,
            topics=[
                AlterPartitionRequestTopicData(
                    topic_id=topic.topic_id,
                    partitions=[
                        AlterPartitionRequestPartitionData(
                            partition_index=0,
                            leader_epoch=state.leader_epoch,
                            partition_epoch=state.partition_epoch + stale,
                            new_isr_with_epochs=isr,
                        )
                    ],
                )
            ],
        )
        answer = self.ask(request, 3).topics[0].partitions[0]
        now = self.image.topics[name].partitions[0]
        if stale:
            assert answer.error_code != 0 and now == state
        elif answer.error_code == 0:
            assert tuple(answer.isr) == now.isr
            assert (answer.leader_epoch, answer.partition_epoch) == (now.leader_epoch, now.partition_epoch)
        else:
            assert answer.error_code == ErrorCode.NEW_LEADER_ELECTED and now.leader != state.leader

    @rule(kind=st.integers(0, 1))
    def elect(self, kind: int) -> None:
        self.ask(ElectLeadersRequest(election_type=kind, topic_partitions=None), 2)

    @rule()
    def allocate_producer_ids(self) -> None:
        first = self.image.next_producer_id
        decision = self.controller.allocate_producer_ids(1, self.image.brokers[1].epoch)
        assert decision.response.first_id == first
        self.replay(decision.records)
        assert self.image.next_producer_id == first + 1000

    @invariant()
    def topics_agree_in_both_maps_and_partitions_are_dense(self) -> None:
        assert len(self.image.topics) == len(self.image.topics_by_id)
        for name, topic in self.image.topics.items():
            assert topic.name == name
            assert self.image.topics_by_id[topic.topic_id] is topic
            assert sorted(topic.partitions) == list(range(len(topic.partitions)))
            assert topic.partitions
        folded = [name.replace(".", "_") for name in self.image.topics]
        assert len(set(folded)) == len(folded)
        for kind, name in self.image.configs:
            assert kind != TOPIC_RESOURCE or name in self.image.topics

    @invariant()
    def a_leader_is_in_sync_and_what_is_in_sync_is_a_replica(self) -> None:
        for topic in self.image.topics.values():
            for state in topic.partitions.values():
                assert state.isr or state.eligible_leader_replicas or state.last_known_elr
                assert set(state.isr) <= set(state.replicas)
                assert len(set(state.replicas)) == len(state.replicas) == len(state.directories)
                assert state.leader == -1 or state.leader in state.isr
                assert state.leader == -1 or self.image.brokers[state.leader].active

    @invariant()
    def epochs_never_go_back(self) -> None:
        for topic_id, topic in self.image.topics_by_id.items():
            earlier = self.before.topics_by_id.get(topic_id)
            if earlier is None:
                continue
            for partition_id, state in earlier.partitions.items():
                now = topic.partitions[partition_id]
                assert now.leader_epoch >= state.leader_epoch
                assert now.partition_epoch >= state.partition_epoch
                if now != state:
                    assert now.partition_epoch > state.partition_epoch
                if now.leader != state.leader:
                    assert now.leader_epoch > state.leader_epoch

    @invariant()
    def the_image_comes_back_from_its_own_records(self) -> None:
        version = self.image.metadata_version
        records = [decode_record(encode_record(record, version)) for record in self.image.to_records()]
        replayed, _ = ImageBuilder(EMPTY_IMAGE).replay_all(records).build()
        assert replayed == self.image

    @invariant()
    def every_topic_has_a_log_config(self) -> None:
        for name in self.image.topics:
            assert self.controller.view.topic_log_config(name).segment_bytes > 0


TestDecisions = Decisions.TestCase
TestDecisions.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
