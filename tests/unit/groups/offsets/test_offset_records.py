"""The records of offsets: Kafka's bytes, and replay of everything that any version may have written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from offsets_world import BEGIN_MS, World, commit_by_id, commit_of, topic_id_of

from ottla.coordination.record import CoordinatorRecord
from ottla.groups.offsets.record import OffsetRecord, offset_record, offset_tombstone
from ottla.groups.offsets.store import OffsetStore
from ottla.groups.record import decode_record
from ottla.wire.framing import encode_coordinator_key, encode_coordinator_value
from ottla.wire.messages.consumer_offsets import (
    LegacyOffsetCommitKey,
    LegacyOffsetCommitValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from ottla.wire.primitives import ZERO_UUID

int64 = st.integers(-(2**63), 2**63 - 1)
int32 = st.integers(-(2**31), 2**31 - 1)
names = st.text(st.characters(codec="utf-8"), max_size=40)


@given(
    names, names, int32, int64, int32, st.one_of(names, st.just("x" * 127), st.just("é" * 64)), int64, int64
)
@pytest.mark.parametrize("topic_id", [ZERO_UUID, bytes(range(16))])
def test_the_fast_encoding_gives_the_bytes_of_the_generated_one(
    topic_id: bytes,
    group_id: str,
    topic: str,
    partition: int,
    offset: int,
    leader_epoch: int,
    metadata: str,
    commit_ms: int,
    expire_ms: int,
) -> None:
    record = offset_record(
        group_id, topic, partition, offset, leader_epoch, metadata, commit_ms, expire_ms, topic_id
    )
    assert record.key_bytes() == encode_coordinator_key(record.key)
    assert record.value_bytes() == encode_coordinator_value(record.value, record.version)
    value = record.value_bytes()
    assert value is not None
    assert decode_record(record.key_bytes(), value) == record


def test_the_bytes_are_those_of_kafka() -> None:
    """Written out by hand from OffsetCommitKey.json and OffsetCommitValue.json."""
    record = offset_record("g", "t", 3, 258, 5, "m", 1, -1, ZERO_UUID)
    assert record.key_bytes() == bytes.fromhex("0001 0001 67 0001 74 00000003")
    assert record.value_bytes() == bytes.fromhex("0004 0000000000000102 00000005 02 6d 0000000000000001 00")
    with_id = offset_record("g", "t", 3, 258, 5, "", 1, -1, bytes(range(16)))
    assert with_id.value_bytes() == bytes.fromhex(
        "0004 0000000000000102 00000005 01 0000000000000001 01 00 10 000102030405060708090a0b0c0d0e0f"
    )


def test_an_offset_with_a_retention_of_its_own_is_written_as_version_1() -> None:
    """Only version 1 can carry the time; it has neither leader epoch nor topic id."""
    record = offset_record("g", "t", 3, 258, 5, "m", 1, 9, bytes(range(16)))
    assert record.version == 1
    assert (record.value.leader_epoch, record.value.topic_id) == (-1, ZERO_UUID)
    assert record.value_bytes() == bytes.fromhex(
        "0001 0000000000000102 0001 6d 0000000000000001 0000000000000009"
    )


def test_a_tombstone_has_a_key_and_no_value() -> None:
    record = offset_tombstone("g", "t", 3)
    assert record.value_bytes() is None
    assert record.key_bytes() == encode_coordinator_key(OffsetCommitKey(group="g", topic="t", partition=3))
    assert decode_record(record.key_bytes(), None) == record


def test_a_fast_record_equals_the_plain_one() -> None:
    key, value = OffsetCommitKey(group="g", topic="t"), OffsetCommitValue(offset=1)
    assert OffsetRecord(key, value, 4) == CoordinatorRecord(key, value, 4)


# --- replay -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", range(5))
def test_every_version_of_the_value_is_replayed(version: int) -> None:
    world = World()
    value = OffsetCommitValue(
        offset=7,
        leader_epoch=3,
        metadata="m",
        commit_timestamp=BEGIN_MS,
        expire_timestamp=BEGIN_MS + 5,
        topic_id=topic_id_of(1),
    )
    key = OffsetCommitKey(group="g", topic="orders", partition=1)
    record = decode_record(encode_coordinator_key(key), encode_coordinator_value(value, version))
    assert record is not None and record.version == version
    world.replay(record)
    assert world.offsets.store.get("g", "orders", 1) == (
        7,
        3 if version >= 3 else -1,
        "m",
        BEGIN_MS,
        BEGIN_MS + 5 if version == 1 else -1,
        topic_id_of(1) if version == 4 else ZERO_UUID,
    )
    assert "g" in world.state.groups


def test_the_oldest_key_is_replayed_and_is_the_same_offset() -> None:
    world = World()
    key = LegacyOffsetCommitKey(group="g", topic="orders", partition=1)
    value = LegacyOffsetCommitValue(offset=7, metadata="m", commit_timestamp=BEGIN_MS)
    record = decode_record(encode_coordinator_key(key), encode_coordinator_value(value, 0))
    assert record is not None
    world.replay(record)
    assert world.offsets.store.get("g", "orders", 1) == (7, -1, "m", BEGIN_MS, -1, ZERO_UUID)
    world.replay(CoordinatorRecord(key, None))
    assert world.offset("g", "orders", 1) is None


def test_an_offset_does_not_replace_a_group_that_is_there() -> None:
    world = World()
    group = world.new_group("g")
    world.put("g", "orders", 0, 1)
    assert world.state.groups["g"] is group


def test_a_tombstone_without_an_offset_is_nothing_and_makes_no_group() -> None:
    world = World()
    world.replay(offset_tombstone("g", "orders", 0))
    world.put("h", "orders", 0, 1)
    world.replay(offset_tombstone("h", "clicks", 0))
    world.replay(offset_tombstone("h", "orders", 1))
    assert "g" not in world.state.groups and len(world.offsets.store) == 1


def test_the_last_tombstone_of_a_group_leaves_the_group() -> None:
    """Kafka keeps the empty group until the next round of expiry."""
    world = World()
    world.put("g", "orders", 0, 1)
    world.replay(offset_tombstone("g", "orders", 0))
    assert "g" in world.state.groups and "g" not in world.offsets.store


def test_replaying_the_log_gives_what_was_lived_through() -> None:
    world = World()
    world.commit(commit_of("g", ("orders", 0, 1), ("clicks", 1, 2), metadata="m", leader_epoch=4))
    world.commit(commit_of("g", ("orders", 0, 3), retention_time_ms=50, leader_epoch=4), version=4)
    world.commit(commit_by_id("h", topic_id_of(2), 0, 6), version=10)
    assert world.reloaded().offsets.store == world.offsets.store


# --- the store --------------------------------------------------------------------------------------------


def test_equal_topic_ids_are_one_object_in_the_store() -> None:
    store = OffsetStore()
    for partition in range(2):
        store.put("g", "orders", partition, (1, -1, "", 0, -1, bytes(bytearray(topic_id_of(1)))))
    first, second = store.get("g", "orders", 0), store.get("g", "orders", 1)
    assert first is not None and second is not None and first[5] is second[5]
    store.forget_topic_id(topic_id_of(1))
    store.put("g", "orders", 2, (1, -1, "", 0, -1, topic_id_of(1)))
    third = store.get("g", "orders", 2)
    assert third is not None and third[5] == first[5]


def test_an_offset_in_the_store_is_of_no_concern_to_the_garbage_collector() -> None:
    import gc

    world = World()
    world.put("g", "orders", 0, 1)
    gc.collect()
    assert not gc.is_tracked(world.offsets.store.get("g", "orders", 0))


def test_the_store_counts_by_group_and_in_all() -> None:
    world = World()
    world.commit(commit_of("g", ("orders", 0, 1), ("orders", 1, 1), ("clicks", 0, 1)))
    world.put("h", "orders", 0, 1)
    assert (world.offsets.store.count("g"), world.offsets.store.count("nobody")) == (3, 0)
    assert len(world.offsets.store) == 4
