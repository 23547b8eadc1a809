"""The metadata log of a quorum of one: grouped syncs, order, failed appends, replay."""

from __future__ import annotations

import json
from typing import Any

import pytest
from broker_bench import Bench

from ottla.broker.quorum import COMMIT_TIMEOUT_MS
from ottla.metadata.image import EMPTY_IMAGE, ImageBuilder
from ottla.model.errors import ErrorCode, KafkaError
from ottla.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from ottla.wire.record_batch import iter_headers


@pytest.fixture
def bench() -> Bench:
    return Bench()


def creation(name: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1)], timeout_ms=1000
    )


def metadata_syncs(bench: Bench) -> list[str]:
    seen: list[str] = []

    def watch(operation: Any, when: str) -> None:
        if operation.kind == "sync" and "__cluster_metadata" in operation.path and when == "after":
            seen.append(operation.path)

    bench.disk.observer = watch
    return seen


def quorum_state(bench: Bench) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(bench.disk.read_file("/data/__cluster_metadata-0/quorum-state"))
    return state


def test_decisions_that_arrive_during_a_sync_share_the_next(bench: Bench) -> None:
    syncs = metadata_syncs(bench)
    peers = [bench.connect() for _ in range(30)]
    for index, peer in enumerate(peers):
        peer.send(creation(f"topic-{index}"))
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=1000)
    assert len(syncs) == 2
    assert len(bench.node.image.topics) == 30


def test_images_are_published_in_order_and_after_their_sync(bench: Bench) -> None:
    published: list[tuple[int, int]] = []
    apply = bench.node.quorum._publish

    def watching(image: Any, delta: Any) -> Any:
        published.append((image.last_offset, bench.node.quorum.log.recovery_point))
        return apply(image, delta)

    bench.node.quorum._publish = watching
    peers = [bench.connect() for _ in range(5)]
    for index, peer in enumerate(peers):
        peer.send(creation(f"topic-{index}"))
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=1000)
    offsets = [offset for offset, _ in published]
    assert len(offsets) == 5 and offsets == sorted(offsets)
    assert all(offset < durable for offset, durable in published)
    assert bench.node.image.last_offset == bench.node.quorum.offset


def test_a_decision_sees_the_one_before_it_that_is_not_yet_published(bench: Bench) -> None:
    other = bench.connect()
    bench.peer.send(creation("a.b"))
    correlation_id = other.send(creation("a_b"))
    bench.scheduler.run_until(lambda: bool(other.replies), within_ms=1000)
    reply = bench.reply(creation("a_b"), correlation_id, peer=other)
    assert reply.topics[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_an_append_that_fails_leaves_the_state_as_it_was(bench: Bench) -> None:
    quorum = bench.node.quorum
    tip, end = quorum.tip, quorum.log.log_end_offset
    bench.disk.capacity_bytes = bench.disk.used_bytes() + 20
    reply = bench.call(creation("events"))
    assert reply.topics[0].error_code == ErrorCode.KAFKA_STORAGE_ERROR
    assert reply.topics[0].error_message
    assert quorum.tip is tip and quorum.log.log_end_offset == end
    bench.disk.capacity_bytes = None
    assert bench.call(creation("events")).topics[0].error_code == 0
    assert not bench.fatal_errors


def test_a_sync_that_fails_is_fatal_and_acknowledges_nothing(bench: Bench) -> None:
    bench.disk.fail("/data/__cluster_metadata-0", "sync")
    bench.peer.send(creation("events"))
    bench.scheduler.run_for(100)
    assert bench.fatal_errors and not bench.peer.replies
    assert "events" not in bench.node.image.topics


def test_a_sync_that_does_not_end_is_a_timeout_and_no_success(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows then whether the records will be there after a crash."""
    monkeypatch.setattr(bench.node.quorum, "_sync_soon", lambda: None)
    began = bench.scheduler.now_ms
    reply = bench.call(creation("events"), within_ms=COMMIT_TIMEOUT_MS + 1)
    assert reply.topics[0].error_code == ErrorCode.REQUEST_TIMED_OUT
    assert bench.scheduler.now_ms - began == pytest.approx(COMMIT_TIMEOUT_MS)


def test_replay_gives_the_image_that_was_published(bench: Bench) -> None:
    for index in range(5):
        bench.create(f"topic-{index}", index + 1, retention_ms=str(index))
    bench.delete("topic-2")
    bench.alter(4, "", log_retention_ms="9")
    before = bench.node.image
    bench.restart()
    after = bench.node.image
    assert after.topics == before.topics
    assert after.configs == before.configs
    assert after.features == before.features
    assert after.next_producer_id == before.next_producer_id
    builder = ImageBuilder(EMPTY_IMAGE)
    builder.replay_all(bench.node.quorum._read_records())
    replayed, _ = builder.build(after.last_offset)
    assert replayed.topics == after.topics and replayed.brokers == after.brokers


def test_epochs_grow_with_every_start_and_are_in_the_log(bench: Bench) -> None:
    epochs = [bench.node.quorum.epoch]
    for clean in (True, False, True):
        bench.restart(clean=clean)
        epochs.append(bench.node.quorum.epoch)
        assert quorum_state(bench)["leaderEpoch"] == epochs[-1]
    assert epochs == [1, 2, 3, 4]
    log = bench.node.quorum.log
    found = log.read(0, 1 << 20, upto_offset=log.log_end_offset)
    assert found.slice is not None
    data = found.slice.read()
    found.slice.release()
    headers = [header for _, header in iter_headers(data, 0, len(data))]
    assert [header.leader_epoch for header in headers] == sorted(header.leader_epoch for header in headers)
    leader_changes = [header.leader_epoch for header in headers if header.is_control]
    assert leader_changes == epochs


def test_an_epoch_is_not_used_twice_when_the_quorum_state_is_lost(bench: Bench) -> None:
    bench.restart()
    bench.node.shutdown()
    bench.disk.write_file_atomic("/data/__cluster_metadata-0/quorum-state", b"{nonsense")
    bench.driver.kill()
    bench.disk = bench.disk.restart(bench.scheduler.random, power_loss=False)
    again = Bench(disk=bench.disk)
    assert again.node.quorum.epoch == 3


@pytest.mark.parametrize("seed", range(12))
def test_what_was_answered_is_there_after_a_loss_of_power(seed: int) -> None:
    bench = Bench(seed=seed)
    answered: set[str] = set()
    for index in range(8):
        bench.create(f"topic-{index}", 2)
        answered.add(f"topic-{index}")
    peers = [bench.connect() for _ in range(4)]
    for index, peer in enumerate(peers):
        peer.send(creation(f"late-{index}"))
    bench.scheduler.run_for(bench.scheduler.random.random() * 10)
    answered |= {f"late-{index}" for index, peer in enumerate(peers) if peer.replies}
    bench.restart(clean=False, power_loss=True)
    assert answered <= set(bench.node.image.topics)
    for name, topic in bench.node.image.topics.items():
        assert len(topic.partitions) == (2 if name.startswith("topic") else 1)
        assert bench.produce(name) == 0


def test_a_metadata_log_that_cannot_be_read_to_its_end_is_refused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the metadata would be served as the whole, and the other topics' data set aside."""
    from ottla.log.read import NOTHING

    log = bench.node.quorum.log
    monkeypatch.setattr(type(log), "read", lambda *args, **options: NOTHING)
    with pytest.raises(OSError, match="cannot be read past offset 0"):
        list(bench.node.quorum._read_records())


def test_a_refusal_reaches_every_part_of_an_answer() -> None:
    from ottla.broker.controller_host import refuse
    from ottla.wire.messages.create_topics import CreatableTopicResult, CreateTopicsResponse
    from ottla.wire.messages.update_features import UpdateFeaturesResponse

    response = CreateTopicsResponse(topics=[CreatableTopicResult(name="a"), CreatableTopicResult(name="b")])
    refuse(response, KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full"))
    assert [each.error_code for each in response.topics] == [ErrorCode.KAFKA_STORAGE_ERROR] * 2
    top = UpdateFeaturesResponse()
    refuse(top, KafkaError(ErrorCode.KAFKA_STORAGE_ERROR, "full"))
    assert (top.error_code, top.error_message) == (ErrorCode.KAFKA_STORAGE_ERROR, "full")


def metadata_segment(bench: Bench) -> Any:
    return bench.disk.open(f"{bench.config.metadata_log_dir}/__cluster_metadata-0/00000000000000000000.log")


@pytest.mark.parametrize("damage", ["flipped in the middle", "cut", "emptied"])
def test_a_metadata_log_damaged_below_its_durable_end_is_refused_and_left_as_it_is(damage: str) -> None:
    """Replaying the rest would forget topics, and their data would be set aside."""
    bench = Bench()
    for number in range(5):
        bench.create(f"topic-{number}")
    bench.node.shutdown()
    file = metadata_segment(bench)
    size = file.size()
    if damage == "flipped in the middle":
        byte = file.pread(1, size // 2)
        file.write_at(bytes([byte[0] ^ 0xFF]), size // 2)
    else:
        file.truncate(size // 2 if damage == "cut" else 0)
    before = file.pread(size, 0)
    with pytest.raises(OSError, match="metadata log is damaged"):
        bench.restart(clean=False)
    assert metadata_segment(bench).pread(size, 0) == before


def test_a_torn_tail_of_the_metadata_log_is_cut_off_as_ever() -> None:
    bench = Bench()
    bench.create("kept")
    bench.node.shutdown()
    metadata_segment(bench).append((b"half a batch",))
    bench.restart(clean=False)
    assert set(bench.node.image.topics) == {"kept"}
