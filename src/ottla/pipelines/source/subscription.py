"""What a source reads: topics by name, topics by a pattern, or single partitions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ottla.model.types import TopicPartition
from ottla.pipelines.source.offsets import parse_assignment


@dataclass(frozen=True, slots=True)
class Subscription:
    """Exactly one of the three is set."""

    topics: tuple[str, ...] = ()
    pattern: str | None = None
    assigned: tuple[TopicPartition, ...] = ()

    @classmethod
    def parse(cls, option: str, text: str) -> Subscription:
        """ValueError says what is wrong with the text."""
        if option == "assign":
            return cls(assigned=parse_assignment(text))
        if option == "subscribePattern":
            pattern = text.strip()
            if not pattern:
                raise ValueError("the pattern is empty")
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
            return cls(pattern=pattern)
        topics = tuple(sorted({name.strip() for name in text.split(",")} - {""}))
        if not topics:
            raise ValueError(f"{text!r} names no topic")
        return cls(topics=topics)

    @property
    def names(self) -> tuple[str, ...]:
        """The topics that are named; none with a pattern."""
        return self.topics or tuple(sorted({tp.topic for tp in self.assigned}))

    def matching(self, topics: Iterable[str]) -> list[str]:
        """Those of all topics that a pattern, which has to fit the whole name, means."""
        assert self.pattern is not None
        whole = re.compile(self.pattern)
        return sorted(topic for topic in topics if whole.fullmatch(topic))

    def covers(self, topic: str) -> bool:
        """Whether records of a topic with this name may be read."""
        if self.pattern is not None:
            return re.fullmatch(self.pattern, topic) is not None
        return topic in self.names

    def __str__(self) -> str:
        if self.pattern is not None:
            return f"pattern {self.pattern}"
        return ", ".join(self.topics or map(str, self.assigned))
