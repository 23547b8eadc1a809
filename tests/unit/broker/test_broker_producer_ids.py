"""InitProducerId (key 22): an id is never given twice, whatever happens."""

from __future__ import annotations

from typing import Any

import pytest
from broker_bench import Bench, versions_of

from ottla.metadata.producer_ids import BLOCK_IDS
from ottla.model.errors import ErrorCode
from ottla.wire.messages.init_producer_id import InitProducerIdRequest


@pytest.fixture
def bench() -> Bench:
    return Bench()


def asking(**fields: Any) -> InitProducerIdRequest:
    return InitProducerIdRequest(**{"transactional_id": None, "transaction_timeout_ms": 60_000, **fields})


@pytest.mark.parametrize("version", versions_of(InitProducerIdRequest))
def test_every_version_gives_a_fresh_id_with_epoch_0(bench: Bench, version: int) -> None:
    replies = [bench.call(asking(), version) for _ in range(3)]
    assert [each.error_code for each in replies] == [0, 0, 0]
    assert [each.producer_epoch for each in replies] == [0, 0, 0]
    assert len({each.producer_id for each in replies}) == 3
    assert all(each.producer_id >= 0 for each in replies)


def test_version_6_is_not_offered_while_there_are_no_two_phase_commits(bench: Bench) -> None:
    assert versions_of(InitProducerIdRequest)[-1] == 5


def test_an_idempotent_producer_that_asks_again_gets_another_id(bench: Bench) -> None:
    """KIP-360: without a transactional id nobody can bump its epoch, so it starts anew."""
    first = bench.call(asking())
    again = bench.call(asking(producer_id=first.producer_id, producer_epoch=0))
    assert again.error_code == 0 and again.producer_id != first.producer_id


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"producer_id": 5, "producer_epoch": -1}, ErrorCode.INVALID_REQUEST),
        ({"producer_id": -1, "producer_epoch": 3}, ErrorCode.INVALID_REQUEST),
        ({"transactional_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"transactional_id": "t"}, ErrorCode.COORDINATOR_NOT_AVAILABLE),
    ],
)
def test_what_cannot_be_given_is_refused(bench: Bench, fields: dict[str, Any], code: ErrorCode) -> None:
    reply = bench.call(asking(**fields))
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (code, -1, -1)


def test_one_block_costs_one_record_and_many_waiters_share_it(bench: Bench) -> None:
    before = bench.node.quorum.log.log_end_offset
    peers = [bench.connect() for _ in range(50)]
    ids = [peer.send(asking()) for peer in peers]
    assert not any(peer.replies for peer in peers)
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=1000)
    given = {
        bench.reply(asking(), correlation_id, peer=peer).producer_id
        for correlation_id, peer in zip(ids, peers, strict=True)
    }
    assert len(given) == 50
    assert bench.node.quorum.log.log_end_offset == before + 1


def test_more_waiters_than_a_block_has_ids_take_the_next_block(bench: Bench) -> None:
    peers = [bench.connect() for _ in range(BLOCK_IDS + 20)]
    ids = [peer.send(asking()) for peer in peers]
    bench.scheduler.run_until(lambda: all(peer.replies for peer in peers), within_ms=1000)
    given = {
        bench.reply(asking(), correlation_id, peer=peer).producer_id
        for correlation_id, peer in zip(ids, peers, strict=True)
    }
    assert given == set(range(BLOCK_IDS + 20))


def test_the_id_is_given_only_when_its_block_is_durable(bench: Bench) -> None:
    correlation_id = bench.peer.send(asking())
    log = bench.node.quorum.log
    path = log.active_segment.file.path
    assert bench.disk.unsynced_bytes(path) > 0 and not bench.peer.replies
    bench.scheduler.run_until(lambda: correlation_id in bench.peer.answered, within_ms=1000)
    assert bench.disk.unsynced_bytes(path) == 0


@pytest.mark.parametrize("seed", range(8))
def test_no_restart_gives_an_id_again(seed: int) -> None:
    bench = Bench(seed=seed)
    given: list[int] = []
    for clean, power_loss in ((True, False), (False, False), (False, True), (False, True), (True, True)):
        given += [bench.call(asking()).producer_id for _ in range(3)]
        bench.connect().send(asking())
        bench.restart(clean=clean, power_loss=power_loss)
    given += [bench.call(asking()).producer_id for _ in range(3)]
    assert len(set(given)) == len(given)
    assert given == sorted(given)


def test_a_block_that_cannot_be_written_is_tried_again_later(bench: Bench) -> None:
    """COORDINATOR_LOAD_IN_PROGRESS is what every producer retries."""
    bench.disk.capacity_bytes = bench.disk.used_bytes()
    peers = [bench.connect() for _ in range(3)]
    for peer in peers:
        reply = bench.call(asking(), peer=peer)
        assert reply.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    bench.disk.capacity_bytes = None
    assert bench.call(asking()).error_code == 0
