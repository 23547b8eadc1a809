"""The blocking consumer of a group: `GroupConsumer` with its membership, on a blocking client.

    consumer = BlockingGroupConsumer(client, GroupSettings("g"), topics=["clicks"])
    while ...:
        records = consumer.poll(500)
        ...
        consumer.mark(records)
    consumer.close()

Heartbeats are sent from `poll`, so whoever does not call it for the session timeout loses the membership.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from ottla.client.blocking import Client, chance
from ottla.client.errors import InvalidArgument, OttlaError
from ottla.client.fetcher import FetcherSettings
from ottla.client.group_consumer import GroupConsumer, GroupConsumerSettings
from ottla.client.membership import GroupSettings, Membership
from ottla.client.records import ConsumedRecord
from ottla.model.uuids import is_reserved, uuid_to_text

CLASSIC: Final = "classic"
CONSUMER: Final = "consumer"
PROTOCOLS: Final = (CLASSIC, CONSUMER)
"""`group.protocol`: the first is the default, as in Kafka's clients."""


def new_member_id() -> str:
    """A random UUID in Kafka's text form."""
    while True:
        raw = os.urandom(16)
        if not is_reserved(raw):
            return uuid_to_text(raw)


class BlockingGroupConsumer:
    def __init__(
        self,
        client: Client,
        group: GroupSettings,
        *,
        protocol: str = CLASSIC,
        topics: Iterable[str] = (),
        regex: str | None = None,
        fetching: FetcherSettings | None = None,
        consuming: GroupConsumerSettings | None = None,
    ) -> None:
        self._client = client
        membership: Membership
        if protocol == CONSUMER:
            from ottla.client.membership_consumer import ConsumerMembership

            membership = ConsumerMembership(group, new_member_id(), chance, topics=topics, regex=regex)
        elif protocol == CLASSIC:
            from ottla.client.membership_classic import ClassicMembership

            if regex is not None:
                raise InvalidArgument("the classic protocol has no regular expressions: use a topic filter")
            membership = ClassicMembership(group, topics, chance)
        else:
            raise InvalidArgument(f"there is no protocol {protocol!r} (protocols: {', '.join(PROTOCOLS)})")
        self.core = GroupConsumer(
            client.cluster,
            client.admin,
            client.groups,
            client.coordinators,
            membership,
            fetching or FetcherSettings(),
            consuming or GroupConsumerSettings(),
        )

    @property
    def joined(self) -> bool:
        return self.core.membership.joined

    @property
    def at_end(self) -> bool:
        return self.core.at_end

    def poll(self, max_wait_ms: int) -> list[ConsumedRecord]:
        return self._client.run(self.core.poll(max_wait_ms))

    def mark(self, records: Iterable[ConsumedRecord]) -> None:
        self.core.mark(records)

    def commit(self) -> None:
        self._client.run(self.core.commit())

    def interrupted(self) -> None:
        """After an exception that came out of a wait: answers may still be on their way, so that nothing more
        can be asked over these connections. `close` opens new ones.
        """
        self._client.network.close()

    def close(self) -> OttlaError | None:
        """Commits what is marked and leaves; gives the reason when the commit failed."""
        self._client.run(self.core.close())
        return self.core.commit_failure
