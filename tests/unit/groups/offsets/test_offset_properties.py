"""Random commits, deletions and expiries, in transactions and outside, against a model that is nothing but
dicts.

After every step the live store, the store of a shard that replays the log, and the model agree; so does the
store of a shard that replays what compaction leaves of the log. Slices of expiry are made tiny, so that
rounds take several, with other events in between.
"""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from offsets_world import (
    MARKER,
    RETENTION_MS,
    Entry,
    Ward,
    World,
    commit_by_id,
    commit_of,
    delete_of,
    topic_id_of,
)

from ottla.groups.offsets import expiry
from ottla.model.errors import ErrorCode
from ottla.wire.messages.consumer_offsets import OffsetCommitKey
from ottla.wire.primitives import ZERO_UUID

GROUPS = st.sampled_from(["g", "h", "i"])
PARTITIONS = st.integers(0, 3)
TOPICS = st.sampled_from(["orders", "clicks"])
PRODUCERS = st.sampled_from([7, 8, 9])
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
        self.written_at: dict[Place, int] = {}
        """Where in the log the record is that the model has."""
        self.pending: dict[tuple[int, Place], tuple[int, int, int]] = {}
        """By producer and place: place in the log, offset, time of the commit."""
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

    def committed(self, place: Place, offset: int, expire_ms: int, topic_id: bytes) -> None:
        self.model[place] = (offset, self.world.clock.now_ms(), expire_ms, topic_id)
        self.written_at[place] = len(self.world.log) - 1
        self.groups.add(place[0])

    def forget(self, place: Place) -> None:
        self.model.pop(place, None)
        self.pending = {key: value for key, value in self.pending.items() if key[1] != place}

    def is_pending(self, place: Place) -> bool:
        return any(each == place for _, each in self.pending)

    # --- events -------------------------------------------------------------------------------------------

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, offset=st.integers(-5, 1_000))
    def commit_by_name(self, group: str, topic: str, partition: int, offset: int) -> None:
        self.world.put(group, topic, partition, offset)
        self.committed((group, topic, partition), offset, -1, ZERO_UUID)

    @rule(producer=PRODUCERS, group=GROUPS, topic=TOPICS, partition=PARTITIONS, offset=st.integers(0, 1_000))
    def commit_in_a_transaction(
        self, producer: int, group: str, topic: str, partition: int, offset: int
    ) -> None:
        self.world.txn_put(producer, group, topic, partition, offset)
        at = len(self.world.log) - 1
        self.pending[producer, (group, topic, partition)] = (at, offset, self.world.clock.now_ms())
        self.groups.add(group)

    @precondition(lambda self: self.model or self.pending)
    @rule(producer=PRODUCERS, offset=st.integers(0, 1_000), data=st.data())
    def commit_in_a_transaction_where_there_is_an_offset(
        self, producer: int, offset: int, data: st.DataObject
    ) -> None:
        places = sorted({*self.model, *(place for _, place in self.pending)})
        self.commit_in_a_transaction(producer, *data.draw(st.sampled_from(places)), offset)

    @precondition(lambda self: self.pending)
    @rule(offset=st.integers(0, 1_000), data=st.data())
    def commit_where_something_is_pending(self, offset: int, data: st.DataObject) -> None:
        places = sorted({place for _, place in self.pending})
        self.commit_by_name(*data.draw(st.sampled_from(places)), offset)

    @rule(producer=PRODUCERS, committed=st.booleans())
    def a_transaction_ends(self, producer: int, committed: bool) -> None:
        self.world.end(producer, committed=committed)
        for key, (at, offset, commit_ms) in list(self.pending.items()):
            if key[0] == producer:
                del self.pending[key]
                place = key[1]
                if committed and (place not in self.model or at > self.written_at[place]):
                    self.model[place] = (offset, commit_ms, -1, ZERO_UUID)
                    self.written_at[place] = at

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, offset=st.integers(0, 1_000))
    def commit_by_topic_id(self, group: str, topic: str, partition: int, offset: int) -> None:
        request = commit_by_id(group, self.ids[topic], partition, offset)
        assert self.world.commit(request, version=10) == [("", partition, 0)]
        self.committed((group, topic, partition), offset, -1, self.ids[topic])

    @rule(group=GROUPS, topic=TOPICS, partition=PARTITIONS, retention_ms=st.integers(0, 3 * RETENTION_MS))
    def commit_with_retention(self, group: str, topic: str, partition: int, retention_ms: int) -> None:
        request = commit_of(group, (topic, partition, 1), retention_time_ms=retention_ms)
        assert self.world.commit(request, version=3) == [(topic, partition, 0)]
        expire_ms = self.world.clock.now_ms() + retention_ms
        self.committed((group, topic, partition), 1, expire_ms, ZERO_UUID)

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
            self.forget((group, topic, partition))

    @rule(group=GROUPS, subscribed=st.sets(TOPICS), may_expire=st.booleans(), is_empty=st.booleans())
    def the_group_changes(self, group: str, subscribed: set[str], may_expire: bool, is_empty: bool) -> None:
        ward = self.ward(group)
        if ward is not None:
            ward.subscribed, ward.may_expire, ward.is_empty = subscribed, may_expire, is_empty
            ward.empty_since_ms = self.world.clock.now_ms() if is_empty else None

    @rule(by_ms=st.sampled_from([0, 1, RETENTION_MS - 1, RETENTION_MS, 2 * RETENTION_MS]))
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
                self.forget(place)
        for _, place in list(self.pending):
            if place[1] == topic:
                self.forget(place)

    def is_due(self, place: Place) -> bool:
        ward = self.ward(place[0])
        assert ward is not None
        _, commit_ms, expire_ms, _ = self.model[place]
        if place[1] in ward.subscribed or not ward.may_expire or self.is_pending(place):
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
                assert not any(place[0] == key.group for _, place in self.pending)
                self.groups.discard(key.group)
        self.world.run(outcome)

    @rule()
    def two_rounds_of_expiry_remove_exactly_what_is_due(self) -> None:
        self.model = {place: value for place, value in self.model.items() if not self.is_due(place)}
        in_use = {place[0] for place in self.model} | {place[0] for _, place in self.pending}
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
    def what_is_pending_is_the_models(self) -> None:
        expected = {}
        for (producer, place), (at, offset, commit_ms) in self.pending.items():
            in_time = place not in self.model or at > self.written_at[place]
            value = (at, (offset, -1, "", commit_ms, -1, ZERO_UUID))
            expected[producer, *place] = value if in_time else None
        assert self.world.offsets.pending.to_dict() == expected
        assert len(self.world.offsets.pending) == len(expected)
        assert bool(self.world.offsets.pending) == bool(expected)

    @invariant()
    def the_groups_are_the_models(self) -> None:
        assert set(self.world.state.groups) == self.groups

    @invariant()
    def replaying_the_log_gives_the_same(self) -> None:
        fresh = self.world.reloaded()
        assert fresh.offsets.store == self.world.offsets.store
        assert fresh.offsets.pending.to_dict() == self.world.offsets.pending.to_dict()
        assert set(fresh.state.groups) == self.groups

    @rule(tombstones_too=st.booleans())
    def replaying_a_compacted_log_gives_the_same_offsets(self, tombstones_too: bool) -> None:
        fresh = self.world.reloaded(without=compacted_away(self.world.log, tombstones_too))
        assert fresh.offsets.store == self.world.offsets.store
        assert fresh.offsets.pending.to_dict() == self.world.offsets.pending.to_dict()


def compacted_away(log: list[Entry], tombstones_too: bool) -> set[int]:
    """What a cleaner removes of a log: below the first open transaction, what was aborted, whatever has a
    newer record with its key, and markers of transactions of which nothing is left; tombstones, when they are
    old.
    """
    end_of: dict[int, int] = {}  # transactional record -> its marker
    open_records: dict[int, list[int]] = {}
    for at, (key, _, producer_id) in enumerate(log):
        if key == MARKER:
            end_of.update(dict.fromkeys(open_records.pop(producer_id, ()), at))
        elif producer_id >= 0:
            open_records.setdefault(producer_id, []).append(at)
    upto = min((records[0] for records in open_records.values()), default=len(log))
    newest: dict[bytes, int] = {}
    gone: set[int] = set()
    for at, (key, _, _) in enumerate(log[:upto]):
        if key == MARKER:
            continue
        if at in end_of and log[end_of[at]][1] == b"abort":
            gone.add(at)
        else:
            if key in newest:
                gone.add(newest[key])
            newest[key] = at
    if tombstones_too:
        gone |= {at for at in newest.values() if log[at][1] is None}
    needed = {end for at, end in end_of.items() if at not in gone}
    return gone | {at for at, entry in enumerate(log[:upto]) if entry[0] == MARKER and at not in needed}


OffsetsMachine.TestCase.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
TestOffsets = OffsetsMachine.TestCase
