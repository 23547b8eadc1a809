"""What can go wrong for somebody who uses a cluster, as exceptions that say whether trying again may help.

`OttlaError` is the root. Below it the three kinds are kept apart: the network (`BrokerUnavailable`,
`RequestTimedOut`), a peer that does not keep to the protocol (`ProtocolError`, `UnsupportedVersion`), and an
answer with one of Kafka's error codes (`ServerError`). Codes that people catch have classes of their own
(`TopicAlreadyExists`): `ServerError(code)` makes one of those. Retry loops look only at `retriable`.
"""

from __future__ import annotations

from typing import Any

from ottla.model.errors import ErrorCode


class OttlaError(Exception):
    """The root of every error that the client raises."""

    retriable: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions are pickled as their class and the arguments of their text, which are not those of our
        # constructors; errors have to travel between processes (workers, Spark) as they are.
        return _revived, (type(self), self.args, self.__dict__)


def _revived(kind: type[OttlaError], args: tuple[Any, ...], state: dict[str, Any]) -> OttlaError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class AtRecord(OttlaError):
    """An error about one place in a log; what is not known of it is empty or -1."""

    def __init__(self, message: str = "", *, topic: str = "", partition: int = -1, offset: int = -1) -> None:
        super().__init__(message)
        self.topic = topic
        self.partition = partition
        self.offset = offset


class BrokerUnavailable(OttlaError):
    """Nobody listens at the address, or the connection broke."""

    retriable = True
    unsent: bool = False
    """Set where the request was never written: trying it again repeats nothing."""

    def __init__(self, address: str, reason: str = "") -> None:
        super().__init__(f"no broker answers at {address}" + (f" ({reason})" if reason else ""))
        self.address = address
        self.reason = reason


class RequestTimedOut(OttlaError):
    """The broker took the request and did not answer in time: it may or may not have been carried out."""

    retriable = True


class ProtocolError(AtRecord):
    """The peer's bytes are not Kafka's protocol."""


class UnsupportedVersion(OttlaError):
    """The broker has no version of an API that we speak."""


class InvalidArgument(OttlaError):
    """The caller asked for something that cannot be sent."""


class InvalidConfig(InvalidArgument):
    """A setting that does not exist, or a value that it cannot have."""


class IllegalState(OttlaError):
    """The call does not fit what was called before (commit without a transaction, poll without topics)."""


class ClientClosed(IllegalState):
    """The client was closed."""


class SerializationFailed(AtRecord):
    """A serializer or deserializer raised; its exception is the cause."""


class RecordTooLarge(InvalidArgument):
    """A single record exceeds `max.request.size` or `buffer.memory`."""


class BufferFull(OttlaError):
    """`buffer.memory` stayed full for `max.block.ms`."""

    retriable = True


class DeliveryTimedOut(OttlaError, TimeoutError):
    """A record was not acknowledged within `delivery.timeout.ms`; it may or may not have been stored."""


class OperationTimedOut(OttlaError, TimeoutError):
    """The operation did not complete in the time it was given (`max.block.ms`, `default.api.timeout.ms`, or
    the argument); the last thing that stood in the way is the cause.
    """

    retriable = True


class ProducerFenced(OttlaError):
    """A newer producer has the transactional id: this one can only be closed."""


class TransactionFailed(OttlaError):
    """The transaction cannot be committed: abort it, and go on with a new one."""


class TransactionAborted(TransactionFailed):
    """The record was not sent, or does not count: its transaction was aborted."""


class ProducerFailed(OttlaError):
    """The producer met an error after which nothing it sends would be safe (the cause): close it."""


class CommitFailed(OttlaError):
    """The group has given the partitions to another member: what was read since the last commit will be
    delivered again.
    """


class MaxPollExceeded(CommitFailed):
    """`poll` came later than `max.poll.interval.ms`; the member has left its group and joins it again."""


class NoOffset(AtRecord):
    """A partition has no position: nothing is committed and `auto.offset.reset` is `none`."""


class PositionLost(AtRecord):
    """The position lies outside the log (deleted, or cut off) and `auto.offset.reset` is `none`."""


class WokenUp(OttlaError):
    """`wakeup()` was called."""


class ServerError(OttlaError):
    """The broker answered with an error code. Made with a code that has a class of its own, it is one of that
    class.
    """

    def __init_subclass__(cls, code: ErrorCode | None = None) -> None:
        if code is not None:
            _BY_CODE[code] = cls
            cls.retriable = code.retriable

    def __new__(cls, code: int, message: str | None = None, *, subject: str = "") -> ServerError:
        return super().__new__(_BY_CODE.get(code, cls) if cls is ServerError else cls)

    def __init__(self, code: int, message: str | None = None, *, subject: str = "") -> None:
        try:
            self.code = ErrorCode(code)
        except ValueError:  # a broker newer than this client
            self.code = ErrorCode.UNKNOWN_SERVER_ERROR
            message = message or f"the broker answered with error code {code}"
        self.retriable = self.code.retriable
        self.message = message or sentence_for(self.code)
        self.subject = subject
        Exception.__init__(self, f"{subject}: {self.message}" if subject else self.message)


_BY_CODE: dict[int, type[ServerError]] = {}


class AuthenticationFailed(ServerError, code=ErrorCode.SASL_AUTHENTICATION_FAILED):
    """The broker does not believe that the client is who it says."""


class AuthorizationFailed(ServerError):
    """The client is known, and not allowed to do this."""


class TopicAuthorizationFailed(AuthorizationFailed, code=ErrorCode.TOPIC_AUTHORIZATION_FAILED):
    """Not allowed on this topic."""


class GroupAuthorizationFailed(AuthorizationFailed, code=ErrorCode.GROUP_AUTHORIZATION_FAILED):
    """Not allowed in this group."""


class ClusterAuthorizationFailed(AuthorizationFailed, code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED):
    """Not allowed on this cluster."""


class TransactionalIdAuthorizationFailed(
    AuthorizationFailed, code=ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
):
    """Not allowed with this transactional id."""


class TopicAlreadyExists(ServerError, code=ErrorCode.TOPIC_ALREADY_EXISTS):
    """A topic with this name is there."""


class UnknownTopicOrPartition(ServerError, code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION):
    """There is no such topic, or it has no such partition."""


class UnknownTopicId(ServerError, code=ErrorCode.UNKNOWN_TOPIC_ID):
    """The topic was deleted, or created anew, since its id was learnt."""


class InvalidTopic(ServerError, code=ErrorCode.INVALID_TOPIC_EXCEPTION):
    """No topic can have this name, or nobody may write to it."""


class InvalidPartitions(ServerError, code=ErrorCode.INVALID_PARTITIONS):
    """A topic cannot have this number of partitions."""


class InvalidReplicationFactor(ServerError, code=ErrorCode.INVALID_REPLICATION_FACTOR):
    """The cluster cannot have that many copies."""


class InvalidReplicaAssignment(ServerError, code=ErrorCode.INVALID_REPLICA_ASSIGNMENT):
    """Replicas cannot be placed like this."""


class ConfigRefused(ServerError, code=ErrorCode.INVALID_CONFIG):
    """The broker does not take this config of a topic, broker or group."""


class PolicyViolation(ServerError, code=ErrorCode.POLICY_VIOLATION):
    """A policy of the cluster forbids it."""


class TopicDeletionDisabled(ServerError, code=ErrorCode.TOPIC_DELETION_DISABLED):
    """Topics cannot be deleted on this cluster."""


class ReassignmentInProgress(ServerError, code=ErrorCode.REASSIGNMENT_IN_PROGRESS):
    """The partition is being moved."""


class NotController(ServerError, code=ErrorCode.NOT_CONTROLLER):
    """The broker asked is not the controller."""


class InvalidRequest(ServerError, code=ErrorCode.INVALID_REQUEST):
    """The request contradicts itself, or the cluster's state."""


class VersionRefused(ServerError, UnsupportedVersion, code=ErrorCode.UNSUPPORTED_VERSION):
    """The broker does not do this, or not in this version."""


class ResourceNotFound(ServerError, code=ErrorCode.RESOURCE_NOT_FOUND):
    """The thing to change or to describe is not there."""


class DuplicateResource(ServerError, code=ErrorCode.DUPLICATE_RESOURCE):
    """The request names a thing twice."""


class FeatureUpdateFailed(ServerError, code=ErrorCode.FEATURE_UPDATE_FAILED):
    """The cluster cannot have this level of a feature."""


class QuotaExceeded(ServerError, code=ErrorCode.THROTTLING_QUOTA_EXCEEDED):
    """A quota is used up for now."""


class BrokerTimedOut(ServerError, code=ErrorCode.REQUEST_TIMED_OUT):
    """The broker gave up waiting (for replicas, for the controller)."""


class BrokerStorageFailed(ServerError, code=ErrorCode.KAFKA_STORAGE_ERROR):
    """The broker's disk failed or is full."""


class LeaderNotAvailable(ServerError, code=ErrorCode.LEADER_NOT_AVAILABLE):
    """The partition has no leader at the moment."""


class NotLeader(ServerError, code=ErrorCode.NOT_LEADER_OR_FOLLOWER):
    """The broker asked does not have the partition, or does not lead it."""


class OffsetOutOfRange(ServerError, code=ErrorCode.OFFSET_OUT_OF_RANGE):
    """The offset lies outside the log."""


class CorruptMessage(ServerError, code=ErrorCode.CORRUPT_MESSAGE):
    """The batch was damaged on its way."""


class MessageTooLarge(ServerError, RecordTooLarge, code=ErrorCode.MESSAGE_TOO_LARGE):
    """The batch is larger than the topic allows (max.message.bytes)."""


class RecordBatchTooLarge(ServerError, code=ErrorCode.RECORD_LIST_TOO_LARGE):
    """The batch is larger than a segment."""


class InvalidRecord(ServerError, code=ErrorCode.INVALID_RECORD):
    """The topic does not take this record (no key, although it is compacted)."""


class InvalidTimestamp(ServerError, code=ErrorCode.INVALID_TIMESTAMP):
    """The record's timestamp is too far from the broker's clock."""


class NotEnoughReplicas(ServerError, code=ErrorCode.NOT_ENOUGH_REPLICAS):
    """Fewer replicas are in sync than min.insync.replicas asks for."""


class NotEnoughReplicasAfterAppend(NotEnoughReplicas, code=ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND):
    """The same, found after the leader had stored the batch."""


class UnsupportedCompression(ServerError, code=ErrorCode.UNSUPPORTED_COMPRESSION_TYPE):
    """The broker does not take this codec."""


class OutOfOrderSequence(ServerError, code=ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER):
    """A batch of the producer's is missing before this one."""


class UnknownProducerId(ServerError, code=ErrorCode.UNKNOWN_PRODUCER_ID):
    """The broker no longer knows this producer."""


class InvalidProducerEpoch(ServerError, code=ErrorCode.INVALID_PRODUCER_EPOCH):
    """The producer has a newer epoch."""


class FencedByNewerProducer(ServerError, ProducerFenced, code=ErrorCode.PRODUCER_FENCED):
    """A newer producer uses the transactional id."""


class InvalidTransactionState(ServerError, code=ErrorCode.INVALID_TXN_STATE):
    """The transaction is not in a state that allows this."""


class InvalidTransactionTimeout(ServerError, code=ErrorCode.INVALID_TRANSACTION_TIMEOUT):
    """The timeout is above what the broker allows (transaction.max.timeout.ms)."""


class ConcurrentTransactions(ServerError, code=ErrorCode.CONCURRENT_TRANSACTIONS):
    """The id's last transaction is still being completed."""


class TransactionalIdNotFound(ServerError, code=ErrorCode.TRANSACTIONAL_ID_NOT_FOUND):
    """The coordinator does not know this transactional id."""


class TransactionAbortable(ServerError, TransactionFailed, code=ErrorCode.TRANSACTION_ABORTABLE):
    """The transaction can only be aborted (KIP-890)."""


class CoordinatorNotAvailable(ServerError, code=ErrorCode.COORDINATOR_NOT_AVAILABLE):
    """There is no coordinator at the moment."""


class CoordinatorLoading(ServerError, code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS):
    """The coordinator is still reading its log."""


class NotCoordinator(ServerError, code=ErrorCode.NOT_COORDINATOR):
    """The broker asked is not the coordinator."""


class InvalidGroupId(ServerError, code=ErrorCode.INVALID_GROUP_ID):
    """No group can have this id."""


class GroupNotFound(ServerError, code=ErrorCode.GROUP_ID_NOT_FOUND):
    """There is no such group."""


class GroupNotEmpty(ServerError, code=ErrorCode.NON_EMPTY_GROUP):
    """The group has members."""


class GroupFull(ServerError, code=ErrorCode.GROUP_MAX_SIZE_REACHED):
    """The group takes no more members."""


class GroupSubscribedToTopic(ServerError, code=ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC):
    """Members of the group read this topic."""


class InconsistentGroupProtocol(ServerError, code=ErrorCode.INCONSISTENT_GROUP_PROTOCOL):
    """The member has no assignor in common with the others, or another protocol."""


class UnsupportedAssignor(ServerError, code=ErrorCode.UNSUPPORTED_ASSIGNOR):
    """The broker does not have this assignor."""


class InvalidSessionTimeout(ServerError, code=ErrorCode.INVALID_SESSION_TIMEOUT):
    """The broker does not allow a session of this length."""


class InvalidRegularExpression(ServerError, code=ErrorCode.INVALID_REGULAR_EXPRESSION):
    """The pattern is not one of RE2's."""


class RebalanceInProgress(ServerError, code=ErrorCode.REBALANCE_IN_PROGRESS):
    """The group is giving out its partitions anew."""


class IllegalGeneration(ServerError, code=ErrorCode.ILLEGAL_GENERATION):
    """The group has gone on without this member."""


class UnknownMemberId(ServerError, code=ErrorCode.UNKNOWN_MEMBER_ID):
    """The group does not have this member (any more)."""


class FencedInstanceId(ServerError, code=ErrorCode.FENCED_INSTANCE_ID):
    """Another member has this group.instance.id now."""


class UnreleasedInstanceId(ServerError, code=ErrorCode.UNRELEASED_INSTANCE_ID):
    """A member with this group.instance.id is still there."""


class FencedMemberEpoch(ServerError, code=ErrorCode.FENCED_MEMBER_EPOCH):
    """The member was fenced and has to join anew."""


class StaleMemberEpoch(ServerError, code=ErrorCode.STALE_MEMBER_EPOCH):
    """The member's epoch is behind the group's."""


class OffsetMetadataTooLarge(ServerError, code=ErrorCode.OFFSET_METADATA_TOO_LARGE):
    """The text beside a committed offset is too long."""


class UnstableOffsetCommit(ServerError, code=ErrorCode.UNSTABLE_OFFSET_COMMIT):
    """A transaction with these offsets has not ended yet."""


_SENTENCES = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "this topic or partition does not exist",
    ErrorCode.UNKNOWN_TOPIC_ID: "this topic was deleted or created anew",
    ErrorCode.TOPIC_ALREADY_EXISTS: "a topic with this name already exists",
    ErrorCode.OFFSET_OUT_OF_RANGE: "the offset lies outside the partition's log",
    ErrorCode.LEADER_NOT_AVAILABLE: "the partition has no leader at the moment",
    ErrorCode.NOT_LEADER_OR_FOLLOWER: "the broker does not lead this partition",
    ErrorCode.MESSAGE_TOO_LARGE: "the record is larger than the topic allows (max.message.bytes)",
    ErrorCode.RECORD_LIST_TOO_LARGE: "the batch is larger than a segment (segment.bytes)",
    ErrorCode.NOT_ENOUGH_REPLICAS: "fewer replicas are in sync than min.insync.replicas asks for",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "the topic name is not legal, or clients may not write to this topic",
    ErrorCode.KAFKA_STORAGE_ERROR: "the broker's disk failed or is full",
    ErrorCode.REQUEST_TIMED_OUT: "the broker gave up waiting for the operation to complete",
    ErrorCode.NOT_CONTROLLER: "the broker is not the controller",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "not allowed on this cluster",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "not allowed on this topic",
    ErrorCode.UNSUPPORTED_VERSION: "the broker does not support this version of the request",
    ErrorCode.GROUP_ID_NOT_FOUND: "the group does not exist",
    ErrorCode.NON_EMPTY_GROUP: "the group has active members: stop its consumers first",
    ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC: "the group's active members subscribe to this topic",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "not allowed in this group",
    ErrorCode.INVALID_GROUP_ID: "the group id is not legal: it must not be empty",
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "there is no coordinator at the moment",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "the coordinator is still loading",
    ErrorCode.NOT_COORDINATOR: "the broker is not the coordinator",
    ErrorCode.UNKNOWN_MEMBER_ID: "the group does not have this member",
    ErrorCode.OFFSET_METADATA_TOO_LARGE: "the commit's metadata is too long (offset.metadata.max.bytes)",
    ErrorCode.TRANSACTIONAL_ID_NOT_FOUND: "the coordinator does not know this transactional id",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "not allowed with this transactional id",
    ErrorCode.INVALID_PRODUCER_EPOCH: "the producer has a newer epoch",
    ErrorCode.PRODUCER_FENCED: "a newer producer uses the transactional id",
    ErrorCode.TRANSACTION_COORDINATOR_FENCED: "the partition has seen a newer coordinator epoch",
    ErrorCode.CONCURRENT_TRANSACTIONS: "the id's last transaction is still being completed",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "the timeout is above what the broker allows "
    "(transaction.max.timeout.ms)",
    ErrorCode.INVALID_REGULAR_EXPRESSION: "the regular expression is not legal (RE2)",
    ErrorCode.TOPIC_DELETION_DISABLED: "topics cannot be deleted on this cluster (delete.topic.enable=false)",
}


def sentence_for(code: ErrorCode) -> str:
    """A sentence for a code that came without a message; its name where there is no better one."""
    return _SENTENCES.get(code, code.name)


def raise_for(code: int, message: str | None = None, *, subject: str = "") -> None:
    """Raises ServerError unless the code is NONE."""
    if code:
        raise ServerError(code, message, subject=subject)
