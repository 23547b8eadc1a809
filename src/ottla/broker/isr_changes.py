"""Tells the controller which in-sync sets the leaders of this node would have (AlterPartition).

Proposals gather while a request is under way, and the next request carries all of them: a broker whose peer
died has thousands at once. The controller's answer is per partition: accepted; refused for good, and the
committed set holds; overtaken, and an image that says more is on its way; or to be tried again.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Sleep, Steps
from ottla.replication.isr import RECOVERED, IsrProposal
from ottla.replication.partition import Partition
from ottla.wire.messages.alter_partition import (
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    AlterPartitionResponsePartitionData,
    BrokerState,
)

if TYPE_CHECKING:
    from ottla.broker.node import Node

logger = logging.getLogger(__name__)

ALTER_PARTITION_VERSION: Final = 3
REQUEST_TIMEOUT_MS: Final = 30_000
RETRY_MS: Final = 50.0

_REFUSED: Final = frozenset((ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED))
"""The controller has the same state as the leader, and did not apply it."""
_OVERTAKEN: Final = frozenset(
    (
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.NEW_LEADER_ELECTED,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
    )
)
"""Whether it was applied is not known: the proposal stays as it is until an image tells what holds."""

_Key = tuple[bytes, int]


class IsrChanges:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._wished: dict[Partition, IsrProposal] = {}
        self._is_running = False
        self._stopped = False

    def propose(self, partition: Partition, proposal: IsrProposal) -> None:
        """Its answer comes back to the partition."""
        self._wished[partition] = proposal
        if not self._is_running and not self._stopped:
            self._is_running = True
            self._node.driver.spawn(self._run(), "changes of in-sync sets")

    def stop(self) -> None:
        self._stopped = True
        self._wished.clear()

    def _run(self) -> Steps[None]:
        try:
            # A turn later, so that what one event caused goes out together.
            yield Sleep(0)
            while self._wished and not self._stopped:
                sent = {
                    partition: proposal
                    for partition, proposal in self._wished.items()
                    if partition.proposal is proposal and not partition.deleted
                }
                self._wished = {}
                if not sent:
                    continue
                try:
                    response = yield from self._node.ask_controller(
                        self._request(sent), ALTER_PARTITION_VERSION, REQUEST_TIMEOUT_MS
                    )
                except KafkaError as error:
                    logger.info("the controller was not told of %d in-sync sets: %s", len(sent), error)
                    self._again(sent)
                    yield Sleep(RETRY_MS)
                    continue
                if not self._take(response, sent):
                    yield Sleep(RETRY_MS)
        finally:
            self._is_running = False

    def _request(self, sent: dict[Partition, IsrProposal]) -> AlterPartitionRequest:
        node = self._node
        topics: dict[bytes, AlterPartitionRequestTopicData] = {}
        for partition, proposal in sent.items():
            topic = topics.get(partition.topic_id)
            if topic is None:
                topic = topics[partition.topic_id] = AlterPartitionRequestTopicData(
                    topic_id=partition.topic_id
                )
            topic.partitions.append(
                AlterPartitionRequestPartitionData(
                    partition_index=partition.tp.partition,
                    leader_epoch=proposal.leader_epoch,
                    new_isr_with_epochs=[
                        BrokerState(broker_id=each, broker_epoch=self._epoch_of(partition, each))
                        for each in proposal.isr
                    ],
                    leader_recovery_state=RECOVERED,
                    partition_epoch=proposal.partition_epoch,
                )
            )
        return AlterPartitionRequest(
            broker_id=node.node_id, broker_epoch=node.broker_epoch, topics=list(topics.values())
        )

    def _epoch_of(self, partition: Partition, node_id: int) -> int:
        """The epoch with which a member fetches: the controller refuses one that has died since."""
        if node_id == self._node.node_id:
            return self._node.broker_epoch
        leading = partition.leading
        follower = None if leading is None else leading.followers.get(node_id)
        if follower is not None and follower.broker_epoch >= 0:
            return follower.broker_epoch
        broker = self._node.image.brokers.get(node_id)
        return -1 if broker is None else broker.epoch

    def _take(self, response: AlterPartitionResponse, sent: dict[Partition, IsrProposal]) -> bool:
        """False when something has to be tried again."""
        if response.error_code != ErrorCode.NONE:
            logger.info("the controller refuses in-sync sets: %s", ErrorCode(response.error_code).name)
            self._again(sent)
            return False
        answers: dict[_Key, AlterPartitionResponsePartitionData] = {
            (topic.topic_id, answer.partition_index): answer
            for topic in response.topics
            for answer in topic.partitions
        }
        unanswered: dict[Partition, IsrProposal] = {}
        for partition, proposal in sent.items():
            answer = answers.get((partition.topic_id, partition.tp.partition))
            code = ErrorCode.UNKNOWN_SERVER_ERROR if answer is None else ErrorCode(answer.error_code)
            if answer is not None and code == ErrorCode.NONE:
                self._accepted(partition, proposal, answer)
            elif code in _REFUSED:
                partition.isr_rejected(proposal)
            elif code not in _OVERTAKEN:
                unanswered[partition] = proposal
        self._again(unanswered)
        return not unanswered

    def _accepted(
        self, partition: Partition, proposal: IsrProposal, answer: AlterPartitionResponsePartitionData
    ) -> None:
        if answer.leader_epoch != proposal.leader_epoch or answer.leader_id != self._node.node_id:
            return  # another leader: the image says so soon
        partition.isr_accepted(
            proposal, tuple(answer.isr), answer.partition_epoch, answer.leader_recovery_state
        )

    def _again(self, proposals: dict[Partition, IsrProposal]) -> None:
        for partition, proposal in proposals.items():
            if partition.proposal is proposal:
                self._wished.setdefault(partition, proposal)
