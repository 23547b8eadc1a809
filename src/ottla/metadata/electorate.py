"""Who may lead, and what that means for many partitions at once.

An `Electorate` is made for one decision on one view: which brokers are active in it, or will be when the
decision holds, and what topics allow. `change(...)` gives the PartitionChange of a partition with all that
filled in; `updates(...)` goes through the partitions that a broker's coming or going touches.

All partitions are looked at each time: a look costs a tenth of a microsecond, an index would cost more on
every replay.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from ottla.metadata.config import ConfigView
from ottla.metadata.features import ELIGIBLE_LEADER_REPLICAS
from ottla.metadata.image import (
    BROKER_RESOURCE,
    NO_LEADER,
    UNASSIGNED_DIRECTORY,
    ImageBuilder,
    MetadataImage,
    PartitionState,
    TopicImage,
)
from ottla.metadata.partition_change import Election, PartitionChange
from ottla.metadata.records import MetadataRecord
from ottla.wire.messages.cluster_metadata import ConfigRecord, FeatureLevelRecord

MIN_ISR_KEY: Final = "min.insync.replicas"
NOT_MOVED: Final[Mapping[int, bytes]] = {}


class _TopicRules(NamedTuple):
    min_insync_replicas: int
    election: Election


class Electorate:
    """Under `view`, but with the brokers `without` gone and the broker `joining` active."""

    __slots__ = ("view", "image", "elr_enabled", "_active", "_rules", "_topic")

    def __init__(
        self, view: ConfigView, *, without: Collection[int] = (), joining: Collection[int] = ()
    ) -> None:
        self.view = view
        self.image = view.image
        self.elr_enabled = view.image.features.get(ELIGIBLE_LEADER_REPLICAS, 0) > 0
        self._active = {each.node_id for each in view.image.brokers.values() if each.active}
        self._active |= set(joining)
        self._active -= set(without)
        self._topic: TopicImage | None = None
        self._rules = _TopicRules(1, Election.ONLINE)

    def may_lead(self, state: PartitionState, node_id: int, moved: Mapping[int, bytes] = NOT_MOVED) -> bool:
        """`moved`: the directories in which brokers have their replica now, against what the state says."""
        if node_id not in self._active:
            return False
        directory = moved[node_id] if node_id in moved else directory_of(state, node_id)
        return directory == UNASSIGNED_DIRECTORY or self.image.brokers[node_id].has_online(directory)

    def change(
        self,
        topic: TopicImage,
        partition_id: int,
        state: PartitionState,
        election: Election | None = None,
        moved: Mapping[int, bytes] = NOT_MOVED,
    ) -> PartitionChange:
        """Without `election`: an unclean one where the topic allows it. `moved`: see `may_lead`."""
        if self._topic is not topic:
            # Partitions come topic by topic.
            config = self.view.topic_log_config(topic.name)
            unclean = config.unclean_leader_election_enable
            self._rules = _TopicRules(
                config.min_insync_replicas, Election.UNCLEAN if unclean else Election.ONLINE
            )
            self._topic = topic
        change = PartitionChange(
            topic.topic_id,
            partition_id,
            state,
            may_lead=lambda node_id: self.may_lead(state, node_id, moved),
            min_insync_replicas=self._rules.min_insync_replicas,
            elr_enabled=self.elr_enabled,
            election=self._rules.election if election is None else election,
            new_directory=lambda node_id: new_directory(self.image, node_id),
        )
        change.directories = moved
        return change

    def updates(
        self,
        concerns: Callable[[PartitionState], bool],
        *,
        without: Collection[int] = (),
        unclean_shutdown: Collection[int] = (),
    ) -> list[MetadataRecord]:
        """For the partitions that it concerns: the brokers `without` leave the in-sync set, and where the
        leader may not lead any more, or there is none, another is elected.
        """
        records: list[MetadataRecord] = []
        for topic in self.image.topics.values():
            for partition_id, state in topic.partitions.items():
                if not concerns(state):
                    continue
                change = self.change(topic, partition_id, state)
                if without:
                    change.isr = tuple(each for each in state.isr if each not in without)
                    change.unclean_shutdown = unclean_shutdown
                record = change.build()
                if record is not None:
                    records.append(record)
        return records

    def settle(self) -> list[MetadataRecord]:
        """Whatever should have followed from the brokers that are there, and did not: after a batch that was
        cut, and for a new controller, since the one before may have cut one.
        """
        gone = {each.node_id for each in self.image.brokers.values() if each.node_id not in self._active}
        return self.updates(
            lambda state: state.leader == NO_LEADER or not gone.isdisjoint(state.isr), without=gone
        )


def eligible_after_configs(view: ConfigView, configs: Sequence[MetadataRecord]) -> list[MetadataRecord]:
    """Who is eligible under the configs that these records set: where the in-sync set has become large enough
    for writes, whoever is outside will miss some of them.

    A partition without a leader keeps its eligible replicas: nothing is written to it.
    """
    image, _ = ImageBuilder(view.image).replay_all(configs).build()
    return Electorate(view.after(image)).updates(lambda state: bool(state.eligible_leader_replicas))


def min_isr_records(view: ConfigView, features: Sequence[MetadataRecord]) -> list[MetadataRecord]:
    """What has to go with the features that these records set. Who is eligible is right only if controllers
    and brokers agree on `min.insync.replicas`: one value for the whole cluster, and none of a broker's own.
    """
    if not any(
        isinstance(record, FeatureLevelRecord)
        and record.name == ELIGIBLE_LEADER_REPLICAS
        and record.feature_level > 0
        for record in features
    ):
        return []
    records: list[MetadataRecord] = [
        ConfigRecord(resource_type=kind, resource_name=name, name=MIN_ISR_KEY, value=None)
        for (kind, name), values in view.image.configs.items()
        if kind == BROKER_RESOURCE and name and MIN_ISR_KEY in values
    ]
    if MIN_ISR_KEY not in view.image.config(BROKER_RESOURCE, ""):
        value = str(view.server.get_int(MIN_ISR_KEY))
        records.append(
            ConfigRecord(resource_type=BROKER_RESOURCE, resource_name="", name=MIN_ISR_KEY, value=value)
        )
    return records


def directory_of(state: PartitionState, node_id: int) -> bytes:
    """Where a broker keeps its replica."""
    for replica, directory in zip(state.replicas, state.directories, strict=False):
        if replica == node_id:
            return directory
    return UNASSIGNED_DIRECTORY


def new_directory(image: MetadataImage, node_id: int) -> bytes:
    """A broker with one directory puts everything there; one with several says later which it chose."""
    broker = image.brokers.get(node_id)
    log_dirs = () if broker is None else broker.log_dirs
    return log_dirs[0] if len(log_dirs) == 1 else UNASSIGNED_DIRECTORY
