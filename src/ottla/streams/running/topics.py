"""Topics of an application: those that it reads and writes have to be there, those between its stages are
made.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ottla.client.errors import OttlaError, TopicAlreadyExists, UnknownTopicOrPartition
from ottla.streams import plan
from ottla.streams.running.failures import MissingTopic

if TYPE_CHECKING:
    from ottla.client.sync.admin import Admin

_CONFIGS: Final[dict[bool, dict[str, str | None]]] = {
    # A table's newest values stay; records on their way from stage to stage must not expire before they are
    # read.
    True: {"cleanup.policy": "compact"},
    False: {"cleanup.policy": "delete", "retention.ms": "-1"},
}


def prepare_topics(stages: Sequence[plan.Stage], settings: Mapping[str, Any]) -> None:
    """Checks what is read and written, makes what is between the stages. Settings are those of the admin
    client. What a function names as its topic is known only when a record comes.
    """
    from ottla.pipelines import connections

    admin = connections.admin(settings)
    made = {topic.name: topic for stage in stages for topic in stage.internal_topics}
    read: list[str] = []
    written: list[str] = []
    patterns: list[str] = []
    for stage in stages:
        for node in plan.Topology(ends=stage.ends).nodes():
            if isinstance(node, plan.GlobalSource):
                read.append(node.topic)
            elif isinstance(node, plan.Source) and node.pattern is not None:
                patterns.append(node.pattern)
            elif isinstance(node, plan.Source):
                read += [topic for topic in node.topics if topic not in made]
            elif isinstance(node, plan.Sink) and isinstance(node.topic, str) and node.topic not in made:
                written.append(node.topic)
    counts = _partition_counts(admin, sorted({*read, *written}), patterns)
    missing = sorted({*read, *written} - set(counts))
    if missing:
        raise MissingTopic(_how_to_make(missing))
    inputs = [count for topic, count in counts.items() if topic in read or topic not in written]
    _make(admin, list(made.values()), max(inputs, default=1))


def _partition_counts(admin: Admin, topics: list[str], patterns: list[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    if patterns:
        every = admin.describe_topics().succeeded
        counts = {
            name: len(described.partitions)
            for name, described in every.items()
            if any(re.fullmatch(pattern, name) for pattern in patterns)
        }
    if topics:
        for topic, outcome in admin.describe_topics(topics).items():
            if isinstance(outcome, UnknownTopicOrPartition):
                continue
            if isinstance(outcome, OttlaError):
                raise outcome
            counts[topic] = len(outcome.partitions)
    return counts


def _how_to_make(missing: list[str]) -> str:
    commands = "; ".join(f"ottla topic create {topic} --partitions 3" for topic in missing)
    what = f"the topic {missing[0]!r} does" if len(missing) == 1 else f"the topics {', '.join(missing)} do"
    return f"{what} not exist. What a program reads and writes is made before it starts: {commands}"


def _make(admin: Admin, topics: list[plan.InternalTopic], partitions: int) -> None:
    from ottla.client.admin_topics import NewTopic

    if not topics:
        return
    known = admin.describe_topics([topic.name for topic in topics]).succeeded
    new = [
        NewTopic(topic.name, topic.partitions or partitions, configs=_CONFIGS[topic.compacted])
        for topic in topics
        if topic.name not in known
    ]
    for outcome in admin.create_topics(new).values() if new else ():
        if isinstance(outcome, OttlaError) and not isinstance(outcome, TopicAlreadyExists):
            raise outcome  # it exists: another start was faster
