"""Offsets by time: ListOffsets at the partitions' leaders, for resets and for whoever asks.

`ask` is one request to one broker; it sorts the answer into what was found and what may be tried again, as
Kafka's consumer does. `offsets` and its siblings are whole operations: they find the leaders, ask all of them
at once, follow those that moved, and end with a result for every partition or an exception. With
read_committed the end of a partition is its last stable offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from ottla.client.backoff import Backoff
from ottla.client.consuming.reset_policy import EARLIEST, LATEST, MAX_TIMESTAMP
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Pause, Versioned
from ottla.client.errors import (
    InvalidArgument,
    OperationTimedOut,
    OttlaError,
    ServerError,
    UnsupportedVersion,
)
from ottla.client.records import OffsetAndTimestamp
from ottla.client.view import NO_LEADER
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

if TYPE_CHECKING:
    from ottla.client.session import Session

NO_OFFSET: Final = -1

_VERSION_OF: Final = {MAX_TIMESTAMP: 7, -4: 8, -5: 9, -6: 11}
"""The first version that knows a timestamp with a meaning of its own (KIPs 734, 405, 1005, 1023)."""


class LookedUp(NamedTuple):
    offset: int
    """NO_OFFSET: no record is that young."""
    timestamp: int
    leader_epoch: int


class Looking(NamedTuple):
    """What is asked about one partition."""

    timestamp: int
    leader_epoch: int


class LookupAnswer(NamedTuple):
    found: dict[TopicPartition, LookedUp]
    retry: dict[TopicPartition, ServerError]


def lookup_call(
    node_id: int,
    wanted: Mapping[TopicPartition, Looking],
    *,
    read_committed: bool,
    timeout_ms: int,
    lane: int = 0,
) -> Call:
    topics: dict[str, list[ListOffsetsPartition]] = {}
    for tp, looking in wanted.items():
        topics.setdefault(tp.topic, []).append(
            ListOffsetsPartition(
                partition_index=tp.partition,
                current_leader_epoch=looking.leader_epoch,
                timestamp=looking.timestamp,
            )
        )
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=1 if read_committed else 0,
        topics=[ListOffsetsTopic(name=name, partitions=partitions) for name, partitions in topics.items()],
        timeout_ms=timeout_ms,
    )
    version_min = max((_VERSION_OF.get(looking.timestamp, 1) for looking in wanted.values()), default=1)

    def build(version: int) -> ListOffsetsRequest:
        if version < version_min:
            raise UnsupportedVersion(f"the broker is too old for this lookup: ListOffsets {version}")
        return request

    return Call(node_id, Versioned(ListOffsetsRequest.API_KEY, build), lane=lane)


def sort_answer(wanted: Mapping[TopicPartition, Looking], response: ListOffsetsResponse) -> LookupAnswer:
    """Raises for a topic that we may not read; everything else that failed may be tried again."""
    found: dict[TopicPartition, LookedUp] = {}
    retry: dict[TopicPartition, ServerError] = {
        tp: ServerError(ErrorCode.UNKNOWN_SERVER_ERROR, "the broker's answer leaves it out", subject=str(tp))
        for tp in wanted
    }
    for topic in response.topics:
        for data in topic.partitions:
            tp = TopicPartition(topic.name, data.partition_index)
            if tp not in wanted:
                continue
            if not data.error_code:
                found[tp] = LookedUp(data.offset, data.timestamp, data.leader_epoch)
                retry.pop(tp, None)
            elif data.error_code == ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT:  # as if there were no record
                found[tp] = LookedUp(NO_OFFSET, -1, -1)
                retry.pop(tp, None)
            else:
                error = ServerError(data.error_code, subject=str(tp))
                if data.error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                    raise error
                retry[tp] = error
    return LookupAnswer(found, retry)


class OffsetLookup:
    def __init__(
        self,
        session: Session,
        *,
        read_committed: bool = False,
        lane: Callable[[int], int] = lambda node_id: 0,
    ) -> None:
        self._session = session
        self.read_committed = read_committed
        self.lane = lane

    def ask(self, node_id: int, wanted: Mapping[TopicPartition, Looking]) -> ClientSteps[LookupAnswer]:
        """One request to one broker."""
        response: ListOffsetsResponse = yield self.call(node_id, wanted)
        return sort_answer(wanted, response)

    def call(self, node_id: int, wanted: Mapping[TopicPartition, Looking]) -> Call:
        return lookup_call(
            node_id,
            wanted,
            read_committed=self.read_committed,
            timeout_ms=self._session.settings.request_timeout_ms,
            lane=self.lane(node_id),
        )

    def offsets_for_times(
        self, when: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, OffsetAndTimestamp | None]]:
        """The first record at or after a time, for each partition; None where no record is that young."""
        for tp, time_ms in when.items():
            if time_ms < 0:
                raise InvalidArgument(f"{tp}: {time_ms} is not a time, which are milliseconds since 1970")
        found = yield from self.offsets(when, timeout_ms)
        return {
            tp: None
            if looked.offset == NO_OFFSET
            else OffsetAndTimestamp(looked.offset, looked.timestamp, looked.leader_epoch)
            for tp, looked in found.items()
        }

    def beginning_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, int]]:
        found = yield from self.offsets(dict.fromkeys(partitions, EARLIEST), timeout_ms)
        return {tp: looked.offset for tp, looked in found.items()}

    def end_offsets(
        self, partitions: Iterable[TopicPartition], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, int]]:
        """The offsets that the next records will get; with read_committed, the last stable offsets."""
        found = yield from self.offsets(dict.fromkeys(partitions, LATEST), timeout_ms)
        return {tp: looked.offset for tp, looked in found.items()}

    def offsets(
        self, when: Mapping[TopicPartition, int], timeout_ms: float | None = None
    ) -> ClientSteps[dict[TopicPartition, LookedUp]]:
        """By time, EARLIEST, LATEST or MAX_TIMESTAMP, in the order of the question. Tries again over moved
        leaders and lost connections until the time is up: OperationTimedOut, with the last obstacle as its
        cause. A topic or partition that does not exist raises at once.
        """
        session = self._session
        settings, clock = session.settings, session.host.clock
        limit_ms = settings.default_api_timeout_ms if timeout_ms is None else timeout_ms
        backoff = Backoff(
            clock.monotonic_ms() + limit_ms,
            session.host.chance,
            first_ms=settings.retry_backoff_ms,
            max_ms=settings.retry_backoff_max_ms,
        )
        found: dict[TopicPartition, LookedUp] = {}
        pending = dict(when)
        refresh = any(not session.cluster.view.knows(*tp) for tp in pending)
        while pending:
            failure: OttlaError | None = None
            try:
                if refresh:
                    yield from session.cluster.refresh(sorted({tp.topic for tp in pending}))
                failure = yield from self._attempt(pending, found)
            except OttlaError as error:
                if not error.retriable or _missing(error):
                    raise
                failure = error
            if not pending:
                break
            wait_ms = backoff.next_wait_ms(clock.monotonic_ms())
            if wait_ms is None:
                names = ", ".join(str(tp) for tp in sorted(pending)[:3])
                raise OperationTimedOut(
                    f"offsets of {names} were not found within {limit_ms / 1000:g} s"
                ) from failure
            yield Pause(wait_ms)
            refresh = True
        return {tp: found[tp] for tp in when}

    def _attempt(
        self, pending: dict[TopicPartition, int], found: dict[TopicPartition, LookedUp]
    ) -> ClientSteps[OttlaError | None]:
        """Asks every leader once; moves what was found over, gives the last passing failure."""
        view = self._session.cluster.view
        by_leader: dict[int, dict[TopicPartition, Looking]] = {}
        failure: OttlaError | None = None
        for tp, timestamp in pending.items():
            partition = view.partition(tp.topic, tp.partition)
            if partition.leader == NO_LEADER or partition.leader not in view.brokers:
                failure = ServerError(ErrorCode.LEADER_NOT_AVAILABLE, subject=str(tp))
                continue
            asked = by_leader.setdefault(partition.leader, {})
            asked[tp] = Looking(timestamp, partition.leader_epoch)
        answers: list[Answer] = yield CallMany(
            [self.call(leader, asked) for leader, asked in by_leader.items()]
        )
        for answer, asked in zip(answers, by_leader.values(), strict=True):
            try:
                sorted_out = sort_answer(asked, answer.get())
            except OttlaError as error:
                if not error.retriable:
                    raise
                failure = error
                continue
            for tp, looked in sorted_out.found.items():
                found[tp] = looked
                del pending[tp]
            failure = next(reversed(sorted_out.retry.values()), failure)
        return failure


def _missing(error: OttlaError) -> bool:
    return isinstance(error, ServerError) and error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
