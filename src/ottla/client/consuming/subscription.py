"""What a consumer reads: topics by name, by pattern, or partitions that it was told.

Patterns are regular expressions that have to match a topic's whole name, as in Java. With the classic
protocol they are applied here to all topics of the cluster, again after every metadata refresh. With KIP-848
the coordinator applies them (RE2), unless topics are excluded too, which RE2 cannot say: then they are
applied here as well and the coordinator gets names.

`Whitelist` and `Blacklist` are the topic filters of the high-level consumer: commas mean "or", and a black
list means everything else.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from ottla.client.errors import InvalidArgument
from ottla.client.view import ClusterView
from ottla.model.types import INTERNAL_TOPICS, TopicPartition

PatternLike: TypeAlias = "str | re.Pattern[str]"


class TopicFilter(ABC):
    """Chooses topics by name; `Whitelist` or `Blacklist`."""

    def __init__(self, pattern: PatternLike) -> None:
        text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
        if not isinstance(text, str):
            raise InvalidArgument(f"a topic pattern is a text, not {type(text).__name__}")
        if not isinstance(pattern, re.Pattern):
            text = text.strip().replace(",", "|").replace(" ", "").strip("\"'")
        self.text = text
        self._regex = compiled(pattern if isinstance(pattern, re.Pattern) else text)

    @abstractmethod
    def allows(self, topic: str) -> bool:
        """Whether a topic of this name is chosen."""

    def _matches(self, topic: str) -> bool:
        return self._regex.fullmatch(topic) is not None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.text!r})"


class Whitelist(TopicFilter):
    """The topics whose whole name matches: `Whitelist("clicks,views")`, `Whitelist("web\\..*")`."""

    def allows(self, topic: str) -> bool:
        return self._matches(topic)


class Blacklist(TopicFilter):
    """The topics whose whole name does not match."""

    def allows(self, topic: str) -> bool:
        return not self._matches(topic)


@dataclass(frozen=True, slots=True)
class Interest:
    """A subscription. Exactly one of `topics`, `filter` and `regex` says which topics, or `partitions`
    were assigned by hand.
    """

    topics: frozenset[str] = frozenset()
    filter: TopicFilter | None = None
    regex: str | None = None
    """For the coordinator to apply (KIP-848)."""
    excluded: re.Pattern[str] | None = None
    partitions: frozenset[TopicPartition] | None = None

    @property
    def by_group(self) -> bool:
        """Whether the group says which partitions are read."""
        return self.partitions is None

    @property
    def by_filter(self) -> bool:
        return self.filter is not None

    def chosen(self, view: ClusterView, *, exclude_internal: bool) -> frozenset[str]:
        """The topics of a filter that the cluster has now."""
        assert self.filter is not None
        return frozenset(
            name
            for name, topic in view.topics.items()
            if not topic.error
            and not (exclude_internal and (topic.internal or name in INTERNAL_TOPICS))
            and self.filter.allows(name)
            and (self.excluded is None or self.excluded.fullmatch(name) is None)
        )


def interest(
    topics: Iterable[str] | str | TopicFilter | None,
    pattern: PatternLike | TopicFilter | None,
    exclude: PatternLike | Iterable[str] | None,
    *,
    broker_matches: bool,
) -> Interest:
    """What `subscribe` was given; `broker_matches` where the protocol is KIP-848."""
    if isinstance(topics, TopicFilter):
        topics, pattern = None, topics
    if (topics is None) == (pattern is None):
        raise InvalidArgument("subscribe to topics or to a pattern")
    excluded = _exclusion(exclude)
    if topics is not None:
        names = frozenset([topics] if isinstance(topics, str) else topics)
        for name in names:
            if not isinstance(name, str) or not name:
                raise InvalidArgument(f"{name!r} is not a topic's name")
        if excluded is not None:
            names = frozenset(name for name in names if excluded.fullmatch(name) is None)
        if not names:
            raise InvalidArgument("subscribe to at least one topic, or call unsubscribe")
        return Interest(topics=names)
    assert pattern is not None
    chooses = pattern if isinstance(pattern, TopicFilter) else _Matching(pattern)
    if broker_matches and excluded is None and not isinstance(chooses, Blacklist):
        return Interest(regex=chooses.text)
    return Interest(filter=chooses, excluded=excluded)


class _Matching(Whitelist):
    """A pattern as it stands: commas are not special."""

    def __init__(self, pattern: PatternLike) -> None:
        self.text = pattern.pattern if isinstance(pattern, re.Pattern) else pattern
        self._regex = compiled(pattern)


def compiled(pattern: PatternLike) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, TypeError) as error:
        raise InvalidArgument(f"{pattern!r} is not a regular expression: {error}") from None


def _exclusion(exclude: PatternLike | Iterable[str] | None) -> re.Pattern[str] | None:
    if exclude is None:
        return None
    if isinstance(exclude, (str, re.Pattern)):
        return compiled(exclude)
    names: list[Any] = list(exclude)
    return compiled("|".join(f"(?:{compiled(name).pattern})" for name in names)) if names else None


def checked(tp: Any) -> TopicPartition:
    """A partition that somebody named; also a plain pair."""
    try:
        topic, partition = tp
    except (TypeError, ValueError):
        raise InvalidArgument(f"{tp!r} is not a TopicPartition") from None
    if not isinstance(topic, str) or not topic or not isinstance(partition, int) or partition < 0:
        raise InvalidArgument(f"{tp!r} is not a TopicPartition")
    return TopicPartition(topic, partition)
