"""Topics by pattern, as Kafka's tools choose them: a regular expression in which commas mean "or"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ottla.cli.kafka.arguments import UsageError
from ottla.model.types import INTERNAL_TOPICS


class TopicFilter:
    def __init__(self, pattern: str, *, exclude_internal: bool = False) -> None:
        text = pattern.strip().replace(",", "|").replace(" ", "").strip("\"'")
        try:
            self._regex = re.compile(text)
        except re.error as error:
            raise UsageError(f"{pattern} is not a valid regular expression: {error}") from None
        self._exclude_internal = exclude_internal

    def matches(self, topic: str) -> bool:
        if self._exclude_internal and topic in INTERNAL_TOPICS:
            return False
        return self._regex.fullmatch(topic) is not None

    def select(self, topics: Iterable[str]) -> list[str]:
        return sorted(topic for topic in topics if self.matches(topic))
