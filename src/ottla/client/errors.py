"""What can go wrong for somebody who uses a cluster, as exceptions that say whether trying again may help.

`OttlaError` is the root. Below it the three kinds are kept apart: the network (`BrokerUnavailable`,
`RequestTimedOut`), a peer that does not keep to the protocol (`ProtocolError`, `UnsupportedVersion`), and an
answer with one of Kafka's error codes (`ServerError`). Retry loops look only at `retriable`.
"""

from __future__ import annotations

from ottla.model.errors import ErrorCode


class OttlaError(Exception):
    """The root of every error that the client raises."""

    retriable: bool = False


class BrokerUnavailable(OttlaError):
    """Nobody listens at the address, or the connection broke."""

    retriable = True

    def __init__(self, address: str, reason: str = "") -> None:
        super().__init__(f"no broker answers at {address}" + (f" ({reason})" if reason else ""))
        self.address = address
        self.reason = reason


class RequestTimedOut(OttlaError):
    """The broker took the request and did not answer in time: it may or may not have been carried out."""

    retriable = True


class ProtocolError(OttlaError):
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


class SerializationFailed(OttlaError):
    """A serializer or deserializer raised; its exception is the cause."""


class RecordTooLarge(InvalidArgument):
    """A single record exceeds `max.request.size` or `buffer.memory`."""


class BufferFull(OttlaError):
    """`buffer.memory` stayed full for `max.block.ms`."""

    retriable = True


class DeliveryTimedOut(OttlaError):
    """A record was not acknowledged within `delivery.timeout.ms`; it may or may not have been stored."""


class OperationTimedOut(OttlaError):
    """The operation did not complete in the time it was given (`max.block.ms`, `default.api.timeout.ms`, or
    the argument); the last thing that stood in the way is the cause.
    """

    retriable = True


class ProducerFenced(OttlaError):
    """A newer producer has the transactional id: this one can only be closed."""


class TransactionFailed(OttlaError):
    """The transaction cannot be committed: abort it, and go on with a new one."""


class CommitFailed(OttlaError):
    """The group has given the partitions to another member: what was read since the last commit will be
    delivered again.
    """


class MaxPollExceeded(CommitFailed):
    """`poll` came later than `max.poll.interval.ms`; the member has left its group and joins it again."""


class NoOffset(OttlaError):
    """A partition has no position: nothing is committed and `auto.offset.reset` is `none`."""


class PositionLost(OttlaError):
    """The position lies outside the log (deleted, or cut off) and `auto.offset.reset` is `none`."""


class WokenUp(OttlaError):
    """`wakeup()` was called."""


class ServerError(OttlaError):
    """The broker answered with an error code."""

    def __init__(self, code: int, message: str | None = None, *, subject: str = "") -> None:
        try:
            self.code = ErrorCode(code)
        except ValueError:  # a broker newer than this client
            self.code = ErrorCode.UNKNOWN_SERVER_ERROR
            message = message or f"the broker answered with error code {code}"
        self.retriable = self.code.retriable
        self.message = message or sentence_for(self.code)
        self.subject = subject
        super().__init__(f"{subject}: {self.message}" if subject else self.message)


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
