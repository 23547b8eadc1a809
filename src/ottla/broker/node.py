"""The node: everything a broker knows and does, without asyncio.

It stands on the ports (clock, disk, randomness, driver) and nothing else from outside, so that the real
server and the simulator run the same node. Handlers reach everything through it; it holds no logic of its
own that belongs to a part below: logs are `log/`'s, roles are `replication/`'s, decisions are
`metadata/`'s. What it does is apply: when the quorum publishes an image, the node makes its parts match it
(`replicas.py` does so for the partitions).

Order of the start: lock and identify the directories, open the metadata log, follow it up to what the
quorum has committed, load the logs (their configuration is in the metadata), register, lead and follow. Only
then is any client served; the other controllers are answered as soon as the metadata log is open. In a
cluster of one all of that is one call.
"""

from __future__ import annotations

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import Any, Final

from ottla.broker.auto_creation import AutoCreation
from ottla.broker.cleaner import CleaningWorker, LogCleaner
from ottla.broker.controller_host import ASK_TIMEOUT_MS, LANE, ControllerHost
from ottla.broker.fetch_sessions import FetchSessionCache
from ottla.broker.group_coordinator import GroupCoordinator
from ottla.broker.lifecycle import BrokerLifecycle, RegistrationRefused
from ottla.broker.metadata_cache import TopicCache
from ottla.broker.producer_ids import ProducerIds
from ottla.broker.quorum import MetadataQuorum
from ottla.broker.quorum_settings import QuorumSettings
from ottla.broker.replicas import Replicas
from ottla.broker.settings import NodeSettings
from ottla.broker.transaction_coordinator import TransactionCoordinator
from ottla.broker.turnstile import Turnstile
from ottla.log.append import AppendInfo
from ottla.log.append_origin import AppendOrigin
from ottla.log.manager import AllDirsFailed, DuplicateLog, LogManager
from ottla.log.verification import Verification
from ottla.metadata.brokers import raise_leader_epochs, register_broker
from ottla.metadata.config import ConfigView
from ottla.metadata.features import bootstrap_records, supported_features
from ottla.metadata.image import (
    BROKER_RESOURCE,
    EMPTY_IMAGE,
    TOPIC_RESOURCE,
    BrokerImage,
    Endpoint,
    ImageDelta,
    MetadataImage,
)
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.server_config import ServerConfig
from ottla.model.types import TopicPartition
from ottla.ports.clock import Clock
from ottla.ports.disk import Disk
from ottla.ports.driver import Driver
from ottla.ports.effects import DiskJob, Sleep, Steps, Waiter
from ottla.ports.peers import NO_PEERS, Peers
from ottla.replication.partition import Partition
from ottla.wire.messages.allocate_producer_ids import AllocateProducerIdsRequest
from ottla.wire.messages.controller_registration import ControllerRegistrationRequest
from ottla.wire.messages.controller_registration import Feature as ControllerFeature
from ottla.wire.messages.controller_registration import Listener as ControllerListener
from ottla.wire.record_batch import CheckedBatch, CorruptBatch

logger = logging.getLogger(__name__)

QUORUM_NOTICE_MS: Final = 5_000.0
"""How often a start that finds no controllers says so."""
REGISTER_CONTROLLER_RETRY_MS: Final = 1_000.0
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
        peers: Peers = NO_PEERS,
    ) -> None:
        """`cleaning` is whoever compacts logs; without it none is compacted. `peers` reaches other nodes."""
        self.server_config = config
        self.node_id = config.node_id
        self.clock = clock
        self.disk = disk
        self.chance = chance
        self.driver = driver
        self.fatal = fatal
        self.peers = peers
        self.replicas = Replicas(self)
        self.partitions = self.replicas.by_name
        self.partitions_by_id = self.replicas.by_id
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
            on_dir_failed=self.replicas.dir_failed,
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
            settings=QuorumSettings.of(config),
            peers=peers,
            chance=chance,
            cluster_id=lambda: self.cluster_id,
            on_active=lambda: self.controllers.activated(),
            on_inactive=lambda: self.controllers.deactivated(),
            on_leader=lambda: self.controllers.controller_changed(),
        )
        self.fetch_sessions = FetchSessionCache(
            self.settings.fetch_sessions_max, self.settings.fetch_session_eviction_ms, chance
        )
        self.controllers = ControllerHost(self)
        self.lifecycle = BrokerLifecycle(self)
        self.metadata_cache = TopicCache()
        self.auto_creation = AutoCreation(self)
        self.heavy_checks = Turnstile(HEAVY_CHECKS_MAX)
        self.producer_ids = ProducerIds(self._allocate_producer_ids, clock.monotonic_ms)
        self.groups = GroupCoordinator(self)
        self.transactions = TransactionCoordinator(self)
        self.coordinators: dict[str, GroupCoordinator | TransactionCoordinator] = {
            each.topic: each for each in (self.groups, self.transactions)
        }
        self.cleaner: LogCleaner | None = None
        if cleaning is not None:
            self.cleaner = LogCleaner(self.logs, clock, driver, cleaning, lambda: self.settings.cleaner)
        self.broker_epoch = -1
        self.serving = False
        """Whether clients are served."""
        self.controls = False
        """Whether the quorum is open, so that other nodes' controllers are answered."""
        self.follows_image = False
        """Whether the logs are loaded, so that partitions are made to match each new image."""
        self.applied_offset = -1
        """Up to here this node has done what the metadata log says."""
        self.on_serving: Callable[[], None] | None = None
        self._image_waiters: list[Waiter] = []

    # --- start and end ------------------------------------------------------------------------------------

    def start(self, endpoints: Sequence[Endpoint]) -> None:
        """Brings everything up. Raises DataDirInUse, BadMetaProperties, AllDirsFailed, ConfigError or
        OSError.

        A node that is its whole cluster serves when this returns. One of several has to find the others
        first: it comes up step by step, and `on_serving` is called when it does.
        """
        alone = self.server_config.is_alone
        self.logs.open_dirs(formats=alone)
        try:
            self.quorum.open()
            self.controllers.controller.cluster_id = self.cluster_id
            self.controls = True
            if (
                alone
                and self.quorum.is_active
                and not any(each != self.node_id for each in self.quorum.image.brokers)
            ):
                self._start_alone(endpoints)
            else:
                self.quorum.start()
                if self.quorum.is_active:
                    self.controllers.activated()
                self.driver.spawn(self._come_up(endpoints), "start")
        except BaseException:
            self.logs.unlock()
            raise

    def _start_alone(self, endpoints: Sequence[Endpoint]) -> None:
        self._set_image(self.quorum.image)
        self._take_settings()
        if not self.image.features:
            self.quorum.commit_now(bootstrap_records())
        self.logs.load(self.replicas.is_wanted)
        self._register_alone(endpoints)
        self.quorum.start()
        self._take_partitions()
        self.controllers.activated()
        self._serve()

    def _come_up(self, endpoints: Sequence[Endpoint]) -> Steps[None]:
        """What a node of several does between its start and its first answer to a client."""
        lifecycle = self.lifecycle
        if self.server_config.is_controller:
            self.driver.spawn(self._register_controller(), "controller registration")
        if not self.server_config.is_broker:
            self._serve()
            return
        try:
            while not (yield from self.quorum.caught_up(self.clock.monotonic_ms() + QUORUM_NOTICE_MS)):
                if self.quorum.is_of_another_cluster:
                    raise RegistrationRefused(lifecycle.another_cluster())
                logger.info("waiting for the controllers: no leader of the quorum is known yet")
            self._take_settings()
            self.logs.load(self.replicas.is_wanted)
            yield from lifecycle.register(endpoints)
        except (RegistrationRefused, AllDirsFailed, DuplicateLog, OSError) as error:
            self.fatal(error)
            return
        self.broker_epoch = epoch = lifecycle.broker_epoch
        self.driver.spawn(lifecycle.beat(), "heartbeats")
        yield from self.wait_for_image(
            lambda image: (me := image.brokers.get(self.node_id)) is not None and me.epoch >= epoch
        )
        self._take_partitions()
        lifecycle.ready()
        yield from self.wait_for_image(
            lambda image: (me := image.brokers.get(self.node_id)) is not None and not me.fenced
        )
        self._serve()

    def _take_partitions(self) -> None:
        """From here on partitions follow the image as it changes."""
        self._take_settings()
        self.groups.take_first_image(self.image)
        self.replicas.take_all()
        self.follows_image = True
        for index, steps in enumerate(self.logs.background()):
            self.driver.spawn(steps, f"log housekeeping {index}")
        if self.cleaner is not None:
            self.cleaner.start()
        self.replicas.start()
        self.groups.start()
        self.transactions.start()

    def _serve(self) -> None:
        self.serving = True
        if self.on_serving is not None:
            self.on_serving()

    def leave(self) -> Steps[None]:
        """Before a clean stop: what this broker leads is moved to others, if there are any."""
        if self.follows_image and self.lifecycle.is_registered and self.settings.controlled_shutdown:
            yield from self.lifecycle.leave()

    def quiesce(self) -> None:
        """Ends what may wait for long, before the connections are drained and the node is shut down."""
        if self.cleaner is not None:
            self.cleaner.stop()
        self.groups.stop()
        self.transactions.stop()
        self.replicas.stop()

    def shutdown(self) -> None:
        """Everything to disk, so that the next start scans nothing. May be called again."""
        if not self.controls:
            return
        self.quiesce()
        self.serving = self.controls = False
        try:
            self.quorum.close()
        except (OSError, KafkaError) as error:
            # The records' own directories may be well, and then need no recovery.
            logger.error("the metadata log was not closed cleanly: %s", error)
        if self.follows_image:
            self.follows_image = False
            self.logs.shutdown(self.broker_epoch)
        else:
            self.logs.unlock()

    @property
    def cluster_id(self) -> str:
        return self.logs.cluster_id or ""

    def new_uuid(self) -> bytes:
        return self.chance.randbytes(16)

    def _register_alone(self, endpoints: Sequence[Endpoint]) -> None:
        """A broker that is its own controller knows that its earlier life has ended."""
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

    def _register_controller(self) -> Steps[None]:
        """Tells the cluster which features this controller supports: no level is raised above them."""
        config = self.server_config
        request = ControllerRegistrationRequest(
            controller_id=self.node_id,
            incarnation_id=self.lifecycle.incarnation_id,
            zk_migration_ready=False,
            listeners=[
                ControllerListener(
                    name=each.name,
                    host=each.host or "localhost",
                    port=each.port,
                    security_protocol=config.protocols[each.name],
                )
                for each in config.controller_listeners
            ],
            features=[
                ControllerFeature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in sorted(supported_features().items())
            ],
        )
        while self.controls:
            try:
                response = yield from self.ask_controller(request, request.MAX_VERSION)
            except KafkaError:
                continue  # there is no controller yet
            if response.error_code == ErrorCode.NONE:
                return
            yield Sleep(REGISTER_CONTROLLER_RETRY_MS)

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

    def ask_controller(
        self, request: Any, version: int, timeout_ms: float = ASK_TIMEOUT_MS, *, lane: str = LANE
    ) -> Steps[Any]:
        """The active controller's answer, wherever it is (`ControllerHost.ask`)."""
        return self.controllers.ask(request, version, timeout_ms, lane=lane)

    @property
    def knows_a_controller(self) -> bool:
        return self.quorum.is_active or self.quorum.controller_address() is not None

    def wait_for_image(
        self, condition: Callable[[MetadataImage], bool], timeout_ms: float = inf
    ) -> Steps[bool]:
        """Waits until the image, applied here, fulfils the condition; False when it did not in time."""
        deadline_ms = self.clock.monotonic_ms() + timeout_ms
        while not condition(self.image):
            waiter = Waiter(deadline_ms)
            self._image_waiters.append(waiter)
            if not (yield waiter):
                return condition(self.image)
        return True

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
        partition.log_start_moved()

    # --- applying the metadata ----------------------------------------------------------------------------

    def _set_image(self, image: MetadataImage) -> None:
        self.image = image
        self.config = self.config.after(image)

    def _take_settings(self) -> None:
        self.settings = NodeSettings.of(self.config)
        self.logs.settings = self.settings.logs
        self.replicas.take_settings()
        if self.cleaner is not None:
            self.cleaner.settings_changed()
        self.groups.take_settings()
        self.transactions.take_settings()
        if self.on_settings is not None:
            self.on_settings(self.settings)

    def _log_config(self, topic: str) -> LogConfig:
        return self.config.topic_log_config(topic)

    def _apply(self, image: MetadataImage, delta: ImageDelta) -> Steps[None]:
        """Makes this node match the new image, a slice at a time."""
        self._set_image(image)
        if self.follows_image:
            for topic_id in delta.deleted_topics:
                self.metadata_cache.forget(topic_id)
            yield from self.replicas.apply(image, delta)
            self._apply_configs(delta)
            if delta.features_changed:
                self._take_settings()
            yield from self.groups.take_image(image, delta)
        elif not self.server_config.is_broker and (delta.changed_configs or delta.features_changed):
            self._take_settings()
        self.applied_offset = image.last_offset
        self.lifecycle.applied(image, delta.changed_brokers)
        waiters, self._image_waiters = self._image_waiters, []
        for waiter in waiters:
            waiter.fire()

    def _apply_configs(self, delta: ImageDelta) -> None:
        for resource_type, name in sorted(delta.changed_configs):
            if resource_type == TOPIC_RESOURCE:
                self.logs.update_topic_config(name)
            elif resource_type == BROKER_RESOURCE and name in ("", str(self.node_id)):
                self._take_settings()
                self.logs.update_all_configs()

    def _allocate_producer_ids(self) -> Steps[tuple[int, int]]:
        request = AllocateProducerIdsRequest(broker_id=self.node_id, broker_epoch=self.broker_epoch)
        response = yield from self.ask_controller(request, request.MAX_VERSION)
        if response.error_code != ErrorCode.NONE:
            raise KafkaError(ErrorCode(response.error_code))
        return response.producer_id_start, response.producer_id_len
