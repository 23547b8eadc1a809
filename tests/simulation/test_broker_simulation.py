"""The whole broker, its clients and a bad network: what was acknowledged is there, once, in order.

Promise 2 of the design, and KIP-98 for idempotence: through lost requests, lost replies, kill -9, power
losses (with `flush.messages=1`) and crashes at disk operations, no acknowledged record is lost, none is there
twice, each producer's order holds, offsets are dense, the high watermark never goes back.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

from ottla.log.producer_state import ProducerState
from ottla.model.types import TopicPartition
from ottla.ports.effects import Steps
from ottla.replication.partition import Partition
from ottla.testing.broker_run import BrokerRun
from ottla.testing.client import SimProducer, TopicCreator
from ottla.testing.clock import VirtualClock
from ottla.testing.cluster import HOST, SimBroker
from ottla.testing.disk import VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.ledger import Ledger
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler

SEEDS = range(1, 46)
FRESH_SEED = random.SystemRandom().getrandbits(32)


def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice() -> None:
    total: Counter[str] = Counter()
    for seed in (*SEEDS, FRESH_SEED):
        total += BrokerRun(seed).run()
    for what in (
        "crashes",
        "crashes_at_start",
        "kills",
        "power_losses",
        "clean_shutdowns",
        "bytes_lost",
        "requests_lost",
        "replies_lost",
        "batches_retried",
        "records_acked",
        "records_consumed",
        "partitions_checked",
    ):
        assert total[what] > 0, f"no run had any {what}: {dict(total)}"


def test_one_seed_is_one_run() -> None:
    first, second = BrokerRun(5).run(), BrokerRun(5).run()
    assert first == second


def test_a_second_broker_on_the_same_disk_is_refused_until_the_first_is_gone() -> None:
    scheduler = Scheduler(1)
    network = SimNetwork(scheduler)
    first = SimBroker(scheduler, network)
    assert first.start()
    second = SimBroker(scheduler, network, address="another", disk=first.disk)
    with pytest.raises(Exception, match="in use"):
        second.start()
    first.crash()
    first.next_disk(power_loss=False)
    third = SimBroker(scheduler, network, disk=first.disk)
    assert third.start()
    third.crash()


def test_a_directory_that_fails_takes_only_its_own_partitions_with_it() -> None:
    """Several `log.dirs`: a directory fails alone."""
    scheduler = Scheduler(3)
    network = SimNetwork(scheduler)
    broker = SimBroker(scheduler, network)
    broker.start()
    clock = VirtualClock(scheduler)
    clients = SimDriver(scheduler, clock)
    report: Counter[str] = Counter()
    ledger = Ledger()
    errors: list[BaseException | None] = []
    ended: list[object] = []

    def run(steps: Steps[Any]) -> None:
        def done(result: object, error: BaseException | None) -> None:
            ended.append(result)
            errors.append(error)

        clients.run(steps, done)

    creator = TopicCreator(network, clock, HOST, "creator", ledger, report)
    run(creator.run("orders", 4, {}))
    scheduler.run_until(lambda: bool(ended))
    assert broker.node is not None
    home = {tp.partition: log.dir_path for tp, log in broker.node.logs.logs.items() if tp.topic == "orders"}
    healthy = [index for index, path in home.items() if path.startswith("/first/")]
    assert 0 < len(healthy) < 4
    broker.disk.fail("/second")
    producers = {}
    for index in range(4):
        producers[index] = SimProducer(network, clock, HOST, f"p{index}", ledger, report)
        run(producers[index].run(TopicPartition("orders", index), 20))
    scheduler.run_until(lambda: all(producers[index].done for index in healthy))
    scheduler.run_for(2_000.0)
    assert [index for index in range(4) if producers[index].done] == healthy
    assert report["produce_kafka_storage_error"] > 0
    assert broker.up and not broker.fatal_errors and errors == [None] * len(errors)
    clients.kill()
    broker.crash()


# --- the checker can fail


def finds_a_bug() -> str:
    for seed in range(1, 60):
        found = failure_of(BrokerRun(seed))
        if found is not None:
            assert f"--seed {seed}" in found, "a failure has to say how to repeat it"
            return found
    pytest.fail("no seed found the planted bug")


def failure_of(run: BrokerRun) -> str | None:
    try:
        run.run()
    except AssertionError as error:
        return str(error)
    return None


def test_an_acknowledgement_before_the_flush_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """With flush.messages=1 the acknowledgement waits for the disk; one that does not is a lie."""
    monkeypatch.setattr(Partition, "must_wait", lambda self, info, acks: False)
    found = finds_a_bug()
    assert "acknowledged" in found or "OUT_OF_ORDER" in found, found


def test_a_disk_whose_fsync_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """No broker can keep its promise on such a disk; that the checker says so shows that it looks."""
    monkeypatch.setattr(VirtualDisk, "_lies", lambda self: True)
    finds_a_bug()


def test_a_broker_that_does_not_recognise_duplicates_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProducerState, "check", lambda self, header, origin, verification: None)
    found = finds_a_bug()
    assert "twice" in found or "acknowledged" in found or "comes after" in found, found


def test_records_shown_to_consumers_before_they_are_durable_are_found_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a consumer has read may not vanish, so the high watermark waits for the flush as well."""
    monkeypatch.setattr(Partition, "readable_end", lambda self, isolation_level: self.log.log_end_offset)
    found = finds_a_bug()
    assert "was read" in found or "is gone" in found or "shown above" in found or "went back" in found, found
