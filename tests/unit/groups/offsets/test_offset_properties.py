"""Random commits, deletions and expiries against a model that is nothing but a dict.

After every step the live store, the store of a shard that replays the log, and the model agree. Slices of
expiry are made tiny, so that rounds take several, with other events in between.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from offsets_world import RETENTION_MS, Ward, World, commit_by_id, commit_of, delete_of, topic_id_of

from ottla.groups.offsets import expiry
from ottla.model.errors import ErrorCode
from ottla.wire.messages.consumer_offsets import OffsetCommitKey
from ottla.wire.primitives import ZERO_UUID

GROUPS = st.sampled_from(["g", "h", "i"])
PARTITIONS = st.integers(0, 3)
TOPICS = st.sampled_from(["orders", "clicks"])
PARTITION_COUNT = 4

Place = tuple[str, str, int]


class OffsetsMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(expiry, "SLICE_VISITS_MAX", 4)
        self.patch.setattr(expiry, "SLICE_TOMBSTONES_MAX", 2)
        self.world = World()
        self.ids = {"orders": topic_id_of(1), "clicks": topic_id_of(2)}
        self.next_id = 3
        self.model: dict[Place, tuple[int, int, int, bytes]] = {}
        """Offset, time of the commit, time of expiry, topic id."""
        self.groups: set[str] = set()

    def teardown(self) -> None:
        self.patch.undo()

    @initialize()
    def begin(self) -> None:
        self._publish_topics()

    def _publish_topics(self) -> None:
        self.world.set_topics(*((name, each, PARTITION_COUNT) for name, each in self.ids.items()))

    def ward(self, group_id: str) -> Ward | None:
        group = self.world.state.groups.get(group_id)
        assert group is None or isinstance(group, Ward)
        return group

    # --- events -------------------------------------------------------------------------------------------

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, offset=st.integers(-5, 1_000))
    def commit_by_name(self, group: str, topic: str, partition: int, offset: int) -> None:
        self.world.put(group, topic, partition, offset)
        now_ms = self.world.clock.now_ms()
        self.model[group, topic, partition] = (offset, now_ms, -1, ZERO_UUID)
        self.groups.add(group)

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, offset=st.integers(0, 1_000))
    def commit_by_topic_id(self, group: str, topic: str, partition: int, offset: int) -> None:
        request = commit_by_id(group, self.ids[topic], partition, offset)
        assert self.world.commit(request, version=10) == [("", partition, 0)]
        now_ms = self.world.clock.now_ms()
        self.model[group, topic, partition] = (offset, now_ms, -1, self.ids[topic])
        self.groups.add(group)

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, retention_ms=st.integers(0, 3 * RETENTION_MS))
    def commit_with_retention(self, group: str, topic: str, partition: int, retention_ms: int) -> None:
        request = commit_of(group, (topic, partition, 1), retention_time_ms=retention_ms)
        assert self.world.commit(request, version=3) == [(topic, partition, 0)]
        now_ms = self.world.clock.now_ms()
        self.model[group, topic, partition] = (1, now_ms, now_ms + retention_ms, ZERO_UUID)
        self.groups.add(group)

    @rule(group=GROUPS, topic=TOPICS, partition=st.integers(-1, 5))
    def a_refused_commit_changes_nothing(self, group: str, topic: str, partition: int) -> None:
        ward = self.ward(group)
        if ward is not None:
            ward.commit_error = ErrorCode.ILLEGAL_GENERATION
        before = len(self.world.log)
        request = commit_of(group, (topic, partition, 9), generation=1)
        ((_, _, code),) = self.world.commit(request)
        assert code != 0 and len(self.world.log) == before
        if ward is not None:
            ward.commit_error = None

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS)
    def delete_offset(self, group: str, topic: str, partition: int) -> None:
        response = self.world.delete(delete_of(group, (topic, partition)))
        ward = self.ward(group)
        if ward is None:
            assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
        elif topic in ward.subscribed:
            assert response.topics[0].partitions[0].error_code == ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        else:
            assert response.topics[0].partitions[0].error_code == 0
            self.model.pop((group, topic, partition), None)

    @rule(group=GROUPS, subscribed=st.sets(TOPICS), may_expire=st.booleans(), is_empty=st.booleans())
    def the_group_changes(self, group: str, subscribed: set[str], may_expire: bool, is_empty: bool) -> None:
        ward = self.ward(group)
        if ward is not None:
            ward.subscribed, ward.may_expire, ward.is_empty = subscribed, may_expire, is_empty
            ward.empty_since_ms = self.world.clock.now_ms() if is_empty else None

    @rule(by_ms=st.integers(0, 2 * RETENTION_MS))
    def time_passes(self, by_ms: int) -> None:
        self.world.clock.advance(by_ms)

    @rule(topic=TOPICS)
    def a_topic_is_deleted_and_made_anew(self, topic: str) -> None:
        gone_id = self.ids[topic]
        self.ids[topic] = topic_id_of(self.next_id)
        self.next_id += 1
        self._publish_topics()
        self.world.run(self.world.offsets.topics_deleted([(topic, gone_id)]))
        for place, (_, _, _, topic_id) in list(self.model.items()):
            if place[1] == topic and topic_id in (gone_id, ZERO_UUID):
                del self.model[place]

    def is_due(self, place: Place) -> bool:
        ward = self.ward(place[0])
        assert ward is not None
        _, commit_ms, expire_ms, _ = self.model[place]
        if place[1] in ward.subscribed or not ward.may_expire:
            return False
        if expire_ms != -1:
            return self.world.clock.now_ms() >= expire_ms
        from_ms = max(commit_ms, ward.empty_since_ms or 0)
        return self.world.clock.now_ms() - from_ms >= RETENTION_MS

    @rule()
    def one_slice_of_expiry_removes_only_what_is_due(self) -> None:
        outcome, _ = self.world.offsets.expire()
        for record in outcome.records:
            key = record.key
            assert record.value is None
            if isinstance(key, OffsetCommitKey):
                place = (key.group, key.topic, key.partition)
                assert self.is_due(place)
                del self.model[place]
            else:
                ward = self.ward(key.group)
                assert ward is not None and ward.is_empty
                assert not any(place[0] == key.group for place in self.model)
                self.groups.discard(key.group)
        self.world.run(outcome)

    @rule()
    def two_rounds_of_expiry_remove_exactly_what_is_due(self) -> None:
        self.model = {place: value for place, value in self.model.items() if not self.is_due(place)}
        in_use = {place[0] for place in self.model}
        for group in self.groups - in_use:
            ward = self.ward(group)
            assert ward is not None
            if ward.is_empty:
                self.groups.discard(group)
        self.world.expire()  # the round that may be under way
        self.world.expire()

    # --- what always holds --------------------------------------------------------------------------------

    @invariant()
    def the_store_is_the_model(self) -> None:
        store = self.world.offsets.store
        assert len(store) == len(self.model)
        for place, (offset, commit_ms, expire_ms, topic_id) in self.model.items():
            assert store.get(*place) == (offset, -1, "", commit_ms, expire_ms, topic_id)

    @invariant()
    def the_groups_are_the_models(self) -> None:
        assert set(self.world.state.groups) == self.groups

    @invariant()
    def replaying_the_log_gives_the_same(self) -> None:
        fresh = self.world.reloaded()
        assert fresh.offsets.store == self.world.offsets.store
        assert set(fresh.state.groups) == self.groups


OffsetsMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestOffsets = OffsetsMachine.TestCase
