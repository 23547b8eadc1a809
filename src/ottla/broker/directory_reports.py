"""Tells the controller in which directory each replica of this node is, where the metadata say otherwise.

The controller assigns a replica to a directory when it can know it (the broker has one only), and elects no
leader whose directory is not among those that its broker announced. So a replica that is somewhere else, on a
new disk after the old one was lost, or in one of several directories, could never lead; and nobody would know
whom the failure of a directory concerns. Replicas whose directory differs are gathered as they get their
roles, and told in batches, until the metadata say the same.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ottla.metadata.electorate import directory_of
from ottla.metadata.image import PartitionState
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.replication.partition import Partition
from ottla.wire.messages.assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsRequestDirectoryData,
    AssignReplicasToDirsRequestPartitionData,
    AssignReplicasToDirsRequestTopicData,
)

if TYPE_CHECKING:
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

LANE = "directories"
TIMEOUT_MS = 10_000.0
PAUSE_MS = 500.0
"""Before what could not be told is told again; replicas that differ meanwhile go with it."""
REPLICAS_MAX = 2_000
"""In one request."""

Place = tuple[bytes, int]


class DirectoryReports:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._differing: dict[Place, bytes] = {}
        self._is_telling = False
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True

    def look(self, partition: Partition, state: PartitionState) -> None:
        """A replica has its role; where it is, is told when the metadata do not know."""
        node = self._node
        place = (partition.topic_id, partition.tp.partition)
        log_dir = node.logs.dir_of(partition.log)
        actual = None if log_dir is None else log_dir.directory_id
        if actual is None or directory_of(state, node.node_id) == actual:
            self._differing.pop(place, None)
            return
        self._differing[place] = actual
        if not self._is_telling:
            self._is_telling = True
            node.driver.spawn(self._tell(), "reports of directories")

    def forget(self, partition: Partition) -> None:
        self._differing.pop((partition.topic_id, partition.tp.partition), None)

    def _tell(self) -> Steps[None]:
        node = self._node
        while not self._stopped:
            # A broker that is not registered yet has nobody to tell.
            yield Sleep(PAUSE_MS)
            if not self._differing:
                break
            if node.broker_epoch < 0:
                continue
            try:
                response = yield from node.ask_controller(
                    self._request(), AssignReplicasToDirsRequest.MAX_VERSION, TIMEOUT_MS, lane=LANE
                )
                code = response.error_code
            except KafkaError as error:
                code = error.code
            if code != ErrorCode.NONE:
                logger.info("the directories of replicas could not be told: %s", ErrorCode(code).name)
        self._is_telling = False

    def _request(self) -> AssignReplicasToDirsRequest:
        by_directory: dict[bytes, dict[bytes, list[int]]] = {}
        for (topic_id, index), directory in list(self._differing.items())[:REPLICAS_MAX]:
            by_directory.setdefault(directory, {}).setdefault(topic_id, []).append(index)
        return AssignReplicasToDirsRequest(
            broker_id=self._node.node_id,
            broker_epoch=self._node.broker_epoch,
            directories=[
                AssignReplicasToDirsRequestDirectoryData(
                    id=directory,
                    topics=[
                        AssignReplicasToDirsRequestTopicData(
                            topic_id=topic_id,
                            partitions=[
                                AssignReplicasToDirsRequestPartitionData(partition_index=each)
                                for each in indexes
                            ],
                        )
                        for topic_id, indexes in topics.items()
                    ],
                )
                for directory, topics in by_directory.items()
            ],
        )
