"""What a follower does with its leader's answer.

`decide` looks at one partition's part of a Fetch response and says what to do with the log; it does nothing
itself. A follower asks for what follows its log's end and names the epoch of its last record. If the leader's
log has another history there, the answer says where that epoch ended in it (KIP-595), and the follower cuts
its own back to the last epoch both know, as often as it takes (KIP-279). That is the only reason to cut
records off: a high watermark is what *was known* to be committed, and cutting there loses what was committed
since (KIP-101).

An offset outside the leader's log says that the leader has deleted what would come next, or that it was
elected without what this log has: `decide_by_range` is asked again with the leader's start and end.
"""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from ottla.log.log import Log
from ottla.model.errors import ErrorCode
from ottla.wire.messages.fetch import PartitionData

_LEADER_UNSETTLED: Final = frozenset(
    (
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.INCONSISTENT_TOPIC_ID,
        ErrorCode.LEADER_NOT_AVAILABLE,
    )
)
"""One of the two has not yet heard what the other knows; it will not take long."""


class Copy(NamedTuple):
    """Append the records (perhaps none), then follow the leader's high watermark and log start."""

    records: memoryview
    high_watermark: int
    log_start_offset: int


class Restart(NamedTuple):
    """Empty the log, which then begins at `offset`."""

    offset: int


class Cut(NamedTuple):
    """Remove everything from `offset` on."""

    offset: int


class AskRange:
    """Ask the leader where its log begins and ends."""


class Retry(NamedTuple):
    """Ask again a little later."""

    code: ErrorCode


class AwaitMetadata:
    """The leader is newer than what is known here: only the metadata can help."""


class Ignore:
    """The answer is to a question from before: ask again."""


Action: TypeAlias = Copy | Restart | Cut | AskRange | Retry | AwaitMetadata | Ignore

ASK_RANGE: Final = AskRange()
AWAIT_METADATA: Final = AwaitMetadata()
IGNORE: Final = Ignore()

_NO_RECORDS: Final = memoryview(b"")


def decide(log: Log, asked_offset: int, data: PartitionData) -> Action:
    """What an answer to a fetch from `asked_offset` asks for."""
    if data.error_code != ErrorCode.NONE:
        return _decide_on_error(ErrorCode(data.error_code))
    end_offset = log.log_end_offset
    if asked_offset != end_offset:
        return IGNORE
    diverging = data.diverging_epoch
    if diverging.epoch >= 0 or diverging.end_offset >= 0:
        return Cut(_common_end_offset(log, diverging.epoch, diverging.end_offset))
    records = data.records
    view = memoryview(records) if records else _NO_RECORDS
    if len(view) >= 8:
        base_offset = int.from_bytes(view[:8], "big", signed=True)
        if 0 <= base_offset < end_offset:
            if log.log_start_offset == end_offset:
                # The leader's log starts inside this batch, which comes whole.
                return Restart(base_offset)
            return Retry(ErrorCode.NONE)  # what came with another answer already
    return Copy(view, data.high_watermark, data.log_start_offset)


def decide_by_range(log: Log, leader_start_offset: int, leader_end_offset: int) -> Action:
    """After OFFSET_OUT_OF_RANGE."""
    end_offset = log.log_end_offset
    if leader_end_offset < end_offset:
        return Cut(leader_end_offset)
    if leader_start_offset > end_offset:
        return Restart(leader_start_offset)
    return IGNORE  # meanwhile it is within


def _decide_on_error(code: ErrorCode) -> Action:
    if code == ErrorCode.OFFSET_OUT_OF_RANGE:
        return ASK_RANGE
    if code == ErrorCode.FENCED_LEADER_EPOCH:
        return AWAIT_METADATA
    return Retry(code)


def is_leader_unsettled(code: ErrorCode) -> bool:
    return code in _LEADER_UNSETTLED


def _common_end_offset(log: Log, epoch: int, end_offset: int) -> int:
    """Up to where the logs may be the same, when the leader says that the largest of its epochs that is not
    above this log's last one is `epoch`, and ends at `end_offset`.
    """
    own_end_offset = log.log_end_offset
    own_epoch, own_epoch_end_offset = log.end_offset_for_epoch(epoch)
    if own_epoch < 0:
        # Nothing is known here of epochs that old: the leader's word has to do.
        return min(end_offset, own_end_offset)
    if own_epoch != epoch:
        # This log has nothing of that epoch: back to the end of the one before it, and ask about that.
        return min(own_epoch_end_offset, own_end_offset)
    return min(own_epoch_end_offset, end_offset, own_end_offset)
