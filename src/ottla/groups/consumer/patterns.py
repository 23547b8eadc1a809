"""The regular expressions of a group: when they are matched against the topics, and what comes of it.

Matching runs as a job: when a member brings a new expression, when topics were created, and now and then
(authorisations may have changed). Its result is one record per expression; when other topics come out, the
group gets a new epoch.
"""

from __future__ import annotations

from enum import Enum

from ottla.coordination.outcome import Job, Outcome
from ottla.coordination.regex import compile_regex
from ottla.groups.consumer.context import Context, Underway
from ottla.groups.consumer.group import ConsumerGroup
from ottla.groups.consumer.member import ConsumerMember
from ottla.groups.consumer.records import epoch_record, regex_record, regex_tombstone
from ottla.groups.consumer.regex import NAME, REFRESH_INTERVAL_MIN_MS, resolve_steps
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_RECORD_BYTES_MAX, GROUP_REGEXES_MAX


class PatternChange(Enum):
    NONE = 0
    UPDATED = 1
    """What the new expression matches is not known yet."""
    RESOLVED = 2
    """It is known: the change counts at once."""


def pattern_change(
    group: ConsumerGroup, old: ConsumerMember, new: ConsumerMember, outcome: Outcome
) -> PatternChange:
    """What a member's change means for the group's expressions. Raises INVALID_REGULAR_EXPRESSION."""
    if (old.regex or "") == (new.regex or ""):
        return PatternChange.NONE
    if old.pattern is not None and group.patterns.get(old.pattern) == 1:
        outcome.records.append(regex_tombstone(group.group_id, old.pattern))
    if new.pattern is None:
        return PatternChange.RESOLVED
    if new.pattern not in group.patterns:
        if len(group.patterns) >= GROUP_REGEXES_MAX:
            raise KafkaError(
                ErrorCode.INVALID_REGULAR_EXPRESSION,
                f"The group has {GROUP_REGEXES_MAX} different regular expressions already.",
            )
        compile_regex(new.pattern, NAME)
        return PatternChange.UPDATED
    return PatternChange.RESOLVED if new.pattern in group.resolutions else PatternChange.UPDATED


def refresh_patterns(
    context: Context, group: ConsumerGroup, old: ConsumerMember, new: ConsumerMember, outcome: Outcome
) -> None:
    """Starts the matching where it is due, for the expressions as they will be with `new` in the place of
    `old`.
    """
    if new.pattern is None and not group.patterns:
        return
    underway = context.underway(group.group_id)
    if underway.resolving is not None:
        return
    now_ms = context.env.clock.now_ms()
    last = next(iter(group.resolutions.values()), None)
    if last is not None and last.timestamp_ms <= now_ms <= last.timestamp_ms + REFRESH_INTERVAL_MIN_MS:
        return
    patterns = dict.fromkeys(group.patterns)
    if old.pattern is not None and old.pattern != new.pattern and group.patterns.get(old.pattern) == 1:
        del patterns[old.pattern]
    if new.pattern is not None:
        patterns[new.pattern] = None
    if not patterns:
        return
    topics = context.env.topics
    interval_ms = context.env.settings.consumer_regex_refresh_interval_ms
    if (
        last is None
        or patterns.keys() != group.resolutions.keys()
        or last.version < context.new_names_version()
        or last.version > topics.version  # of another life of the cluster's metadata
        or not last.timestamp_ms <= now_ms <= last.timestamp_ms + interval_ms
    ):
        known = [pattern for pattern in group.resolutions if pattern in patterns]  # the oldest first
        oldest_first = [pattern for pattern in patterns if pattern not in group.resolutions] + known
        outcome.jobs.append(_job(context, group.group_id, underway, oldest_first, now_ms))


def _job(context: Context, group_id: str, underway: Underway, patterns: list[str], now_ms: int) -> Job:
    """Claims the group when it begins, see `target.py`. Expressions that no longer fit into one batch of
    records are left for the next time, when they come first.
    """
    if underway.resolving is not None or not context.is_current(group_id, underway):
        return Outcome()
    token = underway.resolving = object()
    topics = context.env.topics
    names = list(topics.names())
    found: dict[str, frozenset[str]] = {}
    size = 0
    for pattern in patterns:
        (matched,) = (yield from resolve_steps((pattern,), names)).values()
        size += len(pattern) + sum(map(len, matched)) + 4 * len(matched)
        if found and size > GROUP_RECORD_BYTES_MAX // 2:
            break
        found[pattern] = matched
    if underway.resolving is token:
        underway.resolving = None
    if not context.is_current(group_id, underway):
        return Outcome()  # the group was deleted, or became a classic one
    return _resolved(context, group_id, found, topics.version, now_ms)


def _resolved(
    context: Context, group_id: str, found: dict[str, frozenset[str]], version: int, timestamp_ms: int
) -> Outcome:
    outcome = Outcome()
    group = context.find(group_id)
    if group is None:
        return outcome
    must_bump = False
    names = set(group.named_topics())
    for pattern in group.patterns.keys() | group.resolutions.keys():
        old = group.resolutions.get(pattern)
        topics = found.get(pattern) if pattern in group.patterns else None
        if topics is not None:
            outcome.records.append(regex_record(group_id, pattern, topics, version, timestamp_ms))
            must_bump = must_bump or topics != (frozenset() if old is None else old.topics)
            names |= topics
        elif old is not None:
            names |= old.topics
    metadata_hash = context.hashes.of_group(names, context.env.topics)
    if must_bump or metadata_hash != group.metadata_hash:
        epoch = group.epoch + 1
        outcome.records.append(epoch_record(group_id, epoch, metadata_hash))
        underway = context.underway(group_id)
        underway.checked_version = context.env.topics.version
        underway.checked_epoch = epoch
    return outcome
