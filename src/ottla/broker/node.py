"""The node: everything a broker knows and does, without asyncio.

It stands on the ports (clock, disk, randomness, driver) and nothing else from outside, so that the real
server and the simulator run the same node. Handlers reach everything through it; it holds no logic of its
own that belongs to a part below: logs are `log/`'s, roles are `replication/`'s, decisions are
`metadata/`'s. What it does is apply: when the quorum publishes an image, the node makes partitions match
it.

Order of the start: lock and identify the directories, replay the metadata log, load the logs (their
configuration is in the metadata), register, lead. Only then is anybody served.
"""

from __future__ import annotations

import logging
import os.path
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ottla.broker.cleaner import CleaningWorker, LogCleaner
from ottla.broker.fetch_sessions import FetchSessionCache
from ottla.broker.group_coordinator import GroupCoordinator
from ottla.broker.metadata_cache import TopicCache
from ottla.broker.producer_ids import ProducerIds
from ottla.broker.quorum import MetadataQuorum
from ottla.broker.settings import NodeSettings
from ottla.broker.transaction_coordinator import TransactionCoordinator
from ottla.broker.turnstile import Turnstile
from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.log_dir import LogDir
from ottla.log.manager import LogManager
from ottla.log.turn import Turn
from ottla.log.verification import Verification
from ottla.metadata.brokers import raise_leader_epochs, register_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.controller import Controller
from ottla.metadata.decision import Decision
from ottla.metadata.features import bootstrap_records, supported_features
from ottla.metadata.image import (
    BROKER_RESOURCE,
    EMPTY_IMAGE,
    TOPIC_RESOURCE,
    BrokerImage,
    Endpoint,
    ImageDelta,
    MetadataImage,
    PartitionState,
    TopicImage,
)
from ottla.metadata.producer_ids import allocate_block
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.server_config import ServerConfig
from ottla.model.types import TopicPartition
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk
from ottla.ports.driver import Driver
from ottla.ports.effects import DiskJob, Steps, run_now
from ottla.replication.partition import Partition
from ottla.wire.record_batch import CheckedBatch, CorruptBatch

logger = logging.getLogger(__name__)

R = TypeVar("R")

HEAVY_CHECKS_MAX = 2
"""Batches that threads expand at once: each may take DECOMPRESSED_BATCH_BYTES_MAX of memory."""


class Node:
    def __init__(
        self,
        config: ServerConfig,
        *,
        clock: Clock,
        disk: Disk,
        chance: random.Random,
        driver: Driver,
        fatal: Callable[[BaseException], None],
        cleaning: CleaningWorker | None = None,
    ) -> None:
        """`cleaning` is whoever compacts logs; without it none is compacted."""
        self.server_config = config
        self.node_id = config.node_id
        self.clock = clock
        self.disk = disk
        self.chance = chance
        self.driver = driver
        self.fatal = fatal
        self.partitions: dict[tuple[str, int], Partition] = {}
        self.partitions_by_id: dict[tuple[bytes, int], Partition] = {}
        self.image: MetadataImage = EMPTY_IMAGE
        self.config = ConfigView(config, EMPTY_IMAGE)
        self.settings = NodeSettings.of(self.config)
        self.supported_apis: Mapping[int, tuple[int, int]] = {}
        self.supported_controller_apis: Mapping[int, tuple[int, int]] = {}
        self.on_settings: Callable[[NodeSettings], None] | None = None
        self.logs = LogManager(
            disk,
            clock,
            config.log_dirs,
            node_id=self.node_id,
            settings=self.settings.logs,
            config_for=self._log_config,
            new_uuid=self.new_uuid,
            on_dir_failed=self._dir_failed,
        )
        self.quorum = MetadataQuorum(
            disk,
            clock,
            driver,
            config.metadata_log_dir,
            self.node_id,
            config=self.settings.metadata_log,
            publish=self._apply,
            fatal=fatal,
        )
        self.fetch_sessions = FetchSessionCache(
            self.settings.fetch_sessions_max, self.settings.fetch_session_eviction_ms, chance
        )
        self.controller = Controller(self.config, chance)
        self.metadata_cache = TopicCache()
        self.heavy_checks = Turnstile(HEAVY_CHECKS_MAX)
        self.producer_ids = ProducerIds(self._allocate_producer_ids, clock.monotonic_ms)
        self.groups = GroupCoordinator(self)
        self.transactions = TransactionCoordinator(self)
        self._coordinators: dict[str, GroupCoordinator | TransactionCoordinator] = {
            each.topic: each for each in (self.groups, self.transactions)
        }
        self.cleaner: LogCleaner | None = None
        if cleaning is not None:
            self.cleaner = LogCleaner(self.logs, clock, driver, cleaning, lambda: self.settings.cleaner)
        self.broker_epoch = -1
        self.serving = False

    # --- start and end ------------------------------------------------------------------------------------

    def start(self, endpoints: Sequence[Endpoint]) -> None:
        """Brings everything up. Raises DataDirInUse, BadMetaProperties, AllDirsFailed, ConfigError or
        OSError.
        """
        self.logs.open_dirs()
        try:
            self.quorum.open()
            self._set_image(self.quorum.image)
            self._take_settings()
            if not self.image.features:
                self.quorum.commit_now(bootstrap_records())
            self.logs.load(self._is_wanted)
            self._register(endpoints)
            self.groups.take_first_image(self.image)
            self._lead_all()
        except BaseException:
            self.logs.unlock()
            raise
        for index, steps in enumerate(self.logs.background()):
            self.driver.spawn(steps, f"log housekeeping {index}")
        if self.cleaner is not None:
            self.cleaner.start()
        self.groups.start()
        self.transactions.start()
        self.serving = True

    def quiesce(self) -> None:
        """Ends what may wait for long, before the connections are drained and the node is shut down."""
        if self.cleaner is not None:
            self.cleaner.stop()
        self.groups.stop()
        self.transactions.stop()

    def shutdown(self) -> None:
        """Everything to disk, so that the next start scans nothing. May be called again."""
        if self.serving:
            self.quiesce()
            self.serving = False
            try:
                self.quorum.close()
            except (OSError, KafkaError) as error:
                # The records' own directories may be well, and then need no recovery.
                logger.error("the metadata log was not closed cleanly: %s", error)
            self.logs.shutdown(self.broker_epoch)

    @property
    def cluster_id(self) -> str:
        return self.logs.cluster_id or ""

    def new_uuid(self) -> bytes:
        return self.chance.randbytes(16)

    def _register(self, endpoints: Sequence[Endpoint]) -> None:
        known = self.image.brokers.get(self.node_id)
        clean = known is not None and known.epoch == self.logs.previous_broker_epoch
        records = register_broker(
            self.image,
            node_id=self.node_id,
            broker_epoch=self.quorum.log.log_end_offset,
            incarnation_id=self.new_uuid(),
            endpoints=endpoints,
            features=supported_features(),
            rack=self.settings.rack,
            fenced=False,
            log_dirs=sorted(self.logs.directory_ids.values()),
        )
        self.broker_epoch = self.quorum.log.log_end_offset
        if not clean:
            # Unsynced records may be gone: a new leader epoch lets readers and producers notice (KIP-320).
            records += raise_leader_epochs(self.image, self.node_id)
        self.quorum.commit_now(records)

    def _lead_all(self) -> None:
        """Every partition of the image that is this node's gets its log and its role; other logs are set
        aside.
        """
        self.logs.set_aside_strays(self._is_wanted)
        for topic in self.image.topics_by_id.values():
            for index, state in topic.partitions.items():
                self._make(topic, index, state, is_new=False)
                self._give_role(topic, index, state)
        run_now(self.logs.sync_names_steps())

    def _is_wanted(self, tp: TopicPartition, topic_id: bytes | None) -> bool:
        """Whether a log that was found belongs to a topic that is there."""
        image = self.image
        topic = image.topics.get(tp.topic) if topic_id is None else image.topics_by_id.get(topic_id)
        return topic is not None and topic.name == tp.topic and tp.partition in topic.partitions

    # --- what handlers ask --------------------------------------------------------------------------------

    def topic_name(self, topic_id: bytes) -> str | None:
        topic = self.image.topics_by_id.get(topic_id)
        return None if topic is None else topic.name

    def absence(self, topic: str, index: int, topic_id: bytes | None = None) -> ErrorCode:
        """Why a partition is not served here; `topic_id` when the request named the topic by its id."""
        if topic_id is not None:
            known = self.image.topics_by_id.get(topic_id)
            if known is None:
                return ErrorCode.UNKNOWN_TOPIC_ID
        else:
            known = self.image.topics.get(topic)
        if known is None or index not in known.partitions:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if (known.name, index) not in self.partitions and self.node_id in known.partitions[index].replicas:
            # What lies in a directory that was offline from the start on is in no list.
            tp = TopicPartition(known.name, index)
            if tp in self.logs.offline or any(not each.online for each in self.logs.dirs):
                return ErrorCode.KAFKA_STORAGE_ERROR
        return ErrorCode.NOT_LEADER_OR_FOLLOWER

    def leader_of(self, topic: str, index: int) -> Partition:
        """The partition, if it is led here; raises the KafkaError to answer with."""
        partition = self.partitions.get((topic, index))
        if partition is None:
            raise KafkaError(self.absence(topic, index))
        if not partition.is_leader:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return partition

    def endpoint_of(self, broker: BrokerImage, listener_name: str | None = None) -> Endpoint:
        """Where clients of a listener reach a broker."""
        name = listener_name or self.server_config.inter_broker_listener_name
        return broker.listeners.get(name) or next(iter(broker.listeners.values()))

    def is_controller_listener(self, listener_name: str) -> bool:
        return listener_name in self.server_config.controller_listener_names

    # --- deciding -----------------------------------------------------------------------------------------

    def decide(self, decision_of: Callable[[Controller], Decision[R]]) -> Steps[R]:
        """Lets the controller decide on the newest state, and returns its answer once it is true everywhere
        here.

        When the records cannot be written, nothing has changed, and every part of the answer says so.
        """
        controller = self.controller
        controller.view = controller.view.after(self.quorum.tip)
        decision = decision_of(controller)
        try:
            yield from self.quorum.commit(decision.records)
        except KafkaError as error:
            refuse(decision.response, error)
        return decision.response

    # --- writing ------------------------------------------------------------------------------------------

    def append(
        self,
        partition: Partition,
        records: bytearray | memoryview,
        now_ms: int,
        acks: int,
        prepared: CheckedBatch | None = None,
        origin: AppendOrigin = AppendOrigin.CLIENT,
        verification: Verification | None = None,
        transaction_version: int = 0,
    ) -> AppendInfo:
        """Appends as the leader; a broken disk takes its directory offline, a full one only refuses."""
        try:
            info = partition.append(
                records,
                now_ms,
                acks=acks,
                origin=origin,
                prepared=prepared,
                verification=verification,
                transaction_version=transaction_version,
            )
        except KafkaError as error:
            if error.code == ErrorCode.KAFKA_STORAGE_ERROR:
                self.logs.storage_failed(partition.log, error)
            raise
        if partition.flush_wanted and not partition.flush_running:
            self.driver.spawn(self._flush(partition), f"flush of {partition.tp}")
        return info

    def _flush(self, partition: Partition) -> Steps[None]:
        """The flush policy asked for it: what arrives while one flush runs shares the next."""
        partition.flush_running = True
        log = partition.log
        try:
            while partition.flush_wanted and not partition.deleted:
                partition.flush_wanted = False
                upto = log.log_end_offset
                ticket = log.begin_flush()
                if ticket is not None:
                    try:
                        yield DiskJob(ticket.run)
                    finally:
                        log.end_flush(ticket, self.clock.now_ms())
                if log.unflushed_messages < log.config.flush_messages:
                    # What arrived meanwhile is too little for another flush, and waits for none.
                    partition.flush_wanted = False
                    upto = log.log_end_offset
                partition.flushed(upto)
        except (OSError, KafkaError) as error:
            self.logs.storage_failed(log, error)
        finally:
            partition.flush_running = False

    def read_failed(self, partition: Partition, error: OSError | CorruptBatch | KafkaError) -> KafkaError:
        """What to answer when a log could not be read; a broken disk takes its directory offline."""
        self.logs.storage_failed(partition.log, error)
        if isinstance(error, KafkaError):
            return error
        return KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, f"reading {partition.tp} failed: {error}")

    def advance_log_start(self, partition: Partition, offset: int) -> None:
        try:
            partition.log.advance_log_start(offset)
        except KafkaError as error:
            self.logs.storage_failed(partition.log, error)
            raise
        partition.wake()

    # --- applying the metadata ----------------------------------------------------------------------------

    def _set_image(self, image: MetadataImage) -> None:
        self.image = image
        self.config = self.config.after(image)

    def _take_settings(self) -> None:
        self.settings = NodeSettings.of(self.config)
        self.logs.settings = self.settings.logs
        if self.cleaner is not None:
            self.cleaner.settings_changed()
        self.groups.take_settings()
        self.transactions.take_settings()
        if self.on_settings is not None:
            self.on_settings(self.settings)

    def _log_config(self, topic: str) -> LogConfig:
        return self.config.topic_log_config(topic)

    def _apply(self, image: MetadataImage, delta: ImageDelta) -> Steps[None]:
        """Makes this node's partitions match the new image, a slice at a time."""
        self._set_image(image)
        turn = Turn(self.clock)
        for topic_id, name in delta.deleted_topics.items():
            self.metadata_cache.forget(topic_id)
            for index in delta.before.topics_by_id[topic_id].partitions:
                if turn.over():
                    yield turn.rest()
                self._remove(topic_id, name, index)
        if delta.deleted_topics:
            yield from self.logs.sync_names_steps()
            turn.begin()
        # In an order that does not change from run to run: a seed of the simulator has to tell one story.
        ids = (*sorted(delta.created_topics), *sorted(delta.changed_topics))
        touched = [image.topics_by_id[each] for each in ids]
        for topic in touched:
            before = delta.before.topics_by_id.get(topic.topic_id)
            for index, state in topic.partitions.items():
                if turn.over():
                    yield turn.rest()
                # One that was there before and has no log here is in a directory that failed: an empty log
                # in its place would be served as the truth.
                is_new = before is None or index not in before.partitions
                self._make(topic, index, state, is_new=is_new)
        # Nobody may write before the names are durable: a flush vouches for a log's bytes, not for the name
        # under which the next start finds them.
        yield from self.logs.sync_names_steps()
        turn.begin()
        for topic in touched:
            for index, state in topic.partitions.items():
                if turn.over():
                    yield turn.rest()
                self._give_role(topic, index, state)
        self._apply_configs(delta)
        if delta.features_changed:
            self._take_settings()
        yield from self.groups.take_image(image, delta)

    def _apply_configs(self, delta: ImageDelta) -> None:
        for resource_type, name in sorted(delta.changed_configs):
            if resource_type == TOPIC_RESOURCE:
                self.logs.update_topic_config(name)
            elif resource_type == BROKER_RESOURCE and name in ("", str(self.node_id)):
                self._take_settings()
                self.logs.update_all_configs()

    def _make(self, topic: TopicImage, index: int, state: PartitionState, *, is_new: bool) -> None:
        """Gives a partition its log, unless it has one; the caller makes new names durable."""
        if self.node_id not in state.replicas or (topic.topic_id, index) in self.partitions_by_id:
            return
        tp = TopicPartition(topic.name, index)
        try:
            log = self.logs.get_or_create(tp, topic.topic_id, is_new=is_new, sync_names=False)
            if log.flush_due(now_ms := self.clock.now_ms()):
                # Records that a killed process left in the page cache: their flush policy wants them on disk
                # before anybody sees them or is told, on a retry, that they are there.
                log.flush(now_ms)
        except (OSError, KafkaError) as error:
            logger.error("%s is offline: %s", tp, error)
            return
        self.partitions[tp] = self.partitions_by_id[(topic.topic_id, index)] = Partition(
            tp, topic.topic_id, log
        )

    def _give_role(self, topic: TopicImage, index: int, state: PartitionState) -> None:
        partition = self.partitions_by_id.get((topic.topic_id, index))
        if partition is None:
            return
        if state.leader == self.node_id:
            partition.become_leader(
                self.node_id, state.leader_epoch, state.partition_epoch, state.replicas, state.isr
            )
            if topic.name in self._coordinators:
                self._coordinators[topic.name].leads(partition)
        else:
            if topic.name in self._coordinators:
                self._coordinators[topic.name].leads_no_more(index)
            partition.resign(state.leader, state.leader_epoch, state.partition_epoch, state.replicas)

    def _remove(self, topic_id: bytes, name: str, index: int) -> None:
        partition = self.partitions_by_id.pop((topic_id, index), None)
        if partition is None:
            self.logs.offline.pop(TopicPartition(name, index), None)
            return
        if self.partitions.get((name, index)) is partition:
            del self.partitions[(name, index)]
        self._retire(partition)
        self.logs.delete(partition.tp)

    def _retire(self, partition: Partition) -> None:
        partition.deleted = True
        partition.is_leader = False
        if partition.tp.topic in self._coordinators:
            self._coordinators[partition.tp.topic].leads_no_more(partition.tp.partition)
        partition.wake()

    def _dir_failed(self, log_dir: LogDir, lost: list[TopicPartition]) -> None:
        """The other directories serve on; what was in this one answers KAFKA_STORAGE_ERROR."""
        for tp in lost:
            partition = self.partitions.pop(tp, None)
            if partition is not None:
                self.partitions_by_id.pop((partition.topic_id, tp.partition), None)
                self._retire(partition)
        metadata_dir = os.path.normpath(self.server_config.metadata_log_dir)
        if log_dir.path == metadata_dir or not self.logs.online_dirs:
            self.fatal(log_dir.error or OSError(f"{log_dir.path} failed"))

    def _allocate_producer_ids(self) -> Steps[tuple[int, int]]:
        decision = allocate_block(self.quorum.tip, self.node_id, self.broker_epoch)
        yield from self.quorum.commit(decision.records)
        block = decision.response
        return block.first_id, block.size


def refuse(response: Any, error: KafkaError) -> None:
    """Puts the error where this response has room for one: at the top, or at each of its parts."""
    parts: list[Any] = next(
        (getattr(response, name) for name in ("topics", "responses", "results") if hasattr(response, name)),
        [],
    )
    for part in (response, *parts):
        if hasattr(part, "error_code"):
            part.error_code = error.code
        if hasattr(part, "error_message"):
            part.error_message = error.message
