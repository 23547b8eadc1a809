"""The topics of the cluster, as a coordinator needs to know them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


class TopicFacts(NamedTuple):
    name: str
    topic_id: bytes
    partition_count: int


class TopicView(Protocol):
    """One state of the cluster's topics. A change of any of them comes as another view with another
    `version`; a view itself never changes.
    """

    @property
    def version(self) -> int: ...

    def topic(self, name: str) -> TopicFacts | None: ...

    def topic_by_id(self, topic_id: bytes) -> TopicFacts | None: ...

    def names(self) -> Iterable[str]:
        """All topics, the internal ones too."""
        ...

    def racks(self, name: str) -> tuple[frozenset[str], ...]:
        """By partition, the racks that hold a copy; empty sets where no broker names its rack."""
        ...
