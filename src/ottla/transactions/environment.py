"""What the transactions of a shard know of the world outside: time, settings, new producer ids.

The coordinator's shell owns one and replaces `settings` and `version` when the metadata changes.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.clock import Clock
from ottla.transactions.settings import TransactionSettings


class NoProducerId(KafkaError):
    """The block of producer ids is used up. The shell gets the next one and lets the shard decide again; a
    client that is told all the same gets the code that Kafka has for it, and comes back.
    """

    def __init__(self) -> None:
        super().__init__(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "No producer id is at hand; try again.")


class Environment:
    __slots__ = ("clock", "settings", "version", "_take_producer_id")

    def __init__(
        self,
        clock: Clock,
        settings: TransactionSettings,
        take_producer_id: Callable[[], int | None],
        version: int,
    ) -> None:
        self.clock = clock
        self.settings = settings
        self.version = version
        """The finalized feature `transaction.version`, 0 to 2."""
        self._take_producer_id = take_producer_id

    def take_producer_id(self) -> int:
        """An id that nobody ever had; one that is taken for a decision that fails is lost. Raises
        NoProducerId.
        """
        producer_id = self._take_producer_id()
        if producer_id is None:
            raise NoProducerId
        return producer_id
