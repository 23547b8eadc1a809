"""Who administers a simulated cluster while it falls apart: topics come and go, grow, move, are configured.

Everything may be refused, lost, or done although the answer was lost; the operator tries a few times and goes
on. What it must not do is disturb the others: topics that clients use are moved and configured, not deleted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from ottla.client.admin_configs import ConfigChange, ConfigOperation, ConfigResource, ConfigResourceType
from ottla.client.admin_partitions import ElectionType
from ottla.client.admin_topics import NewTopic
from ottla.client.errors import OttlaError
from ottla.model.types import TopicPartition
from ottla.ports.effects import Sleep, Steps
from ottla.testing.client_host import SimSession

ATTEMPTS: Final = 3
RETRY_MS: Final = 150.0


class ClusterOperator:
    def __init__(
        self,
        session: SimSession,
        report: Counter[str],
        random: Random,
        brokers: list[int],
        topics: dict[str, int],
        factors: dict[str, int],
    ) -> None:
        """`topics`: the clients' topics and their partitions; `factors`: how many replicas each has."""
        self._session = session
        self._admin = session.admin
        self._report = report
        self._random = random
        self._brokers = brokers
        self._topics = topics
        self._factors = factors
        self._extra: dict[str, int] = {}
        self._made = 0

    def do_something(self) -> Steps[None]:
        actions: list[Callable[[], Steps[None]]] = [
            *(self._create, self._create, self._delete, self._grow, self._configure),
            *(self._reassign, self._reassign, self._cancel, self._elect, self._elect, self._describe),
        ]
        yield from self._random.choice(actions)()

    def _try(self, name: str, steps_of: Callable[[], Any]) -> Steps[bool]:
        for _ in range(ATTEMPTS):
            try:
                results = yield from self._session.runtime.run(steps_of(), name)
                if hasattr(results, "all"):
                    results.all()
            except OttlaError as error:
                self._report[f"operator_refused_{type(error).__name__}"] += 1
                if not error.retriable:
                    return False
                yield Sleep(RETRY_MS)
            else:
                self._report[f"operator_{name}"] += 1
                return True
        return False

    def _create(self) -> Steps[None]:
        self._made += 1
        name = f"extra-{self._made}"
        factor = self._random.randint(1, min(3, len(self._brokers)))
        configs = {"min.insync.replicas": "1"}
        topic = NewTopic(name, self._random.randint(1, 3), factor, configs=configs)
        if (yield from self._try("create", lambda: self._admin.create_topics([topic]))):
            self._extra[name] = topic.partitions

    def _delete(self) -> Steps[None]:
        if self._extra:
            name = self._random.choice(list(self._extra))
            if (yield from self._try("delete", lambda: self._admin.delete_topics([name]))):
                self._extra.pop(name, None)

    def _grow(self) -> Steps[None]:
        if self._extra:
            name = self._random.choice(list(self._extra))
            count = self._extra[name] + 1
            grown = yield from self._try("grow", lambda: self._admin.create_partitions({name: count}))
            if grown and name in self._extra:
                self._extra[name] = count

    def _configure(self) -> Steps[None]:
        topic = self._random.choice([*self._topics, *self._extra])
        change = ConfigChange(
            "segment.ms", ConfigOperation.SET, str(self._random.choice((900, 5_000, 86_400_000)))
        )
        resource = ConfigResource(ConfigResourceType.TOPIC, topic)
        yield from self._try("configure", lambda: self._admin.incremental_alter_configs({resource: [change]}))

    def _some_partition(self) -> TopicPartition:
        counts = {**self._topics, **self._extra}
        topic = self._random.choice(list(counts))
        return TopicPartition(topic, self._random.randrange(counts[topic]))

    def _reassign(self) -> Steps[None]:
        tp = self._some_partition()
        factor = self._factors.get(tp.topic) or self._random.randint(1, min(3, len(self._brokers)))
        replicas = self._random.sample(self._brokers, min(factor, len(self._brokers)))
        yield from self._try("reassign", partial(self._admin.alter_partition_reassignments, {tp: replicas}))

    def _cancel(self) -> Steps[None]:
        tp = self._some_partition()
        yield from self._try("cancel", partial(self._admin.alter_partition_reassignments, {tp: None}))

    def _elect(self) -> Steps[None]:
        partitions = None if self._random.random() < 0.5 else [self._some_partition()]
        yield from self._try("elect", lambda: self._admin.elect_leaders(ElectionType.PREFERRED, partitions))

    def _describe(self) -> Steps[None]:
        yield from self._try("describe_quorum", self._admin.describe_metadata_quorum)
        yield from self._try("list_reassignments", self._admin.list_partition_reassignments)
