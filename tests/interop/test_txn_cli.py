"""Transactions on the command line against a real broker: `ottla txn` with confluent-kafka's producers, and
`kafka-transactions.sh`, `kafka-dump-log.sh` and `kafka-delete-records.sh` word for word with Kafka's own.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from confluent_kafka import TopicPartition as ConfluentPartition

from ottla.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ottla.wire.record_batch import Record, encode_batch
from support.broker_process import BrokerProcess
from support.kafka_tools import Ran, kafkas
from support.raw_client import RawClient
from support.tools import REPOSITORY
from support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

TIMEOUT_S = 60
HOUR_MS = 3_600_000
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
DUMP_LOG = "kafka.tools.DumpLogSegments"

Ottla = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker that does not verify transactional writes, so that a transaction can be made to hang."""
    settings = {"transaction.partition.verification.enable": "false"}
    process = BrokerProcess(tmp_path_factory.mktemp("broker") / "data", settings=settings).start()
    yield process
    code = process.stop()
    log = process.log_since(0)
    assert code == 0 and "Traceback" not in log, log[-4000:]


@pytest.fixture
def ottla(broker: BrokerProcess) -> Ottla:
    """Runs a command and expects it to end well, or with `code`."""

    def run(*args: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "ottla.cli.main", *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env={**os.environ, "OTTLA_BOOTSTRAP_SERVERS": broker.bootstrap},
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done

    return run


def ours(tool: str, *args: str) -> Ran:
    done = subprocess.run(
        [str(REPOSITORY / "bin" / f"kafka-{tool}.sh"), *args],
        capture_output=True,
        text=True,
        env={**os.environ, "OTTLA_PYTHON": sys.executable},
        timeout=TIMEOUT_S,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Ran(done.returncode, done.stdout, done.stderr)


def producer(broker: BrokerProcess, name: str, **settings: Any) -> Producer:
    made = Producer(
        {"bootstrap.servers": broker.bootstrap, "transactional.id": name, "linger.ms": 0, **settings}
    )
    made.init_transactions(TIMEOUT_S)
    return made


class World(NamedTuple):
    """A topic of three partitions, and ids named after it in every state that lasts."""

    topic: str
    going: Producer

    def id(self, what: str) -> str:
        return f"{self.topic}-{what}"


@pytest.fixture
def world(broker: BrokerProcess, ottla: Ottla, topic_name: str) -> World:
    ottla("topic", "create", topic_name, "-p", "3")
    for end in ("committed", "aborted"):
        writer = producer(broker, f"{topic_name}-{end}")
        writer.begin_transaction()
        writer.produce(topic_name, end, "key", partition=0, headers=[("h", b"1")])
        writer.flush(TIMEOUT_S)
        (writer.commit_transaction if end == "committed" else writer.abort_transaction)(TIMEOUT_S)
    producer(broker, f"{topic_name}-empty")
    going = producer(broker, f"{topic_name}-open")
    going.begin_transaction()
    for partition in (0, 2):
        going.produce(topic_name, "open", partition=partition)
    going.flush(TIMEOUT_S)
    return World(topic_name, going)


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def hang(broker: BrokerProcess, topic: str, partition: int, producer_id: int) -> int:
    """A transactional batch of a producer that no coordinator knows, written an hour ago; its offset."""
    batch = encode_batch(
        [Record(0, int(time.time() * 1000) - HOUR_MS, None, b"hangs")],
        producer_id=producer_id,
        producer_epoch=3,
        base_sequence=0,
        transactional=True,
    )
    request = ProduceRequest(
        transactional_id="nobody",
        acks=-1,
        timeout_ms=10_000,
        topic_data=[
            TopicProduceData(
                name=topic, partition_data=[PartitionProduceData(index=partition, records=bytes(batch))]
            )
        ],
    )
    with RawClient(broker.port) as client:
        (answer,) = client.call(request, 9).responses[0].partition_responses
    assert answer.error_code == 0
    offset: int = answer.base_offset
    return offset


def read_committed(broker: BrokerProcess, topic: str, partition: int, end: int) -> list[bytes | None]:
    """What a read_committed consumer gets before it has passed `end`."""
    settings = {
        "bootstrap.servers": broker.bootstrap,
        "group.id": f"reader-{topic}",
        "isolation.level": "read_committed",
        "enable.auto.commit": False,
    }
    consumer = Consumer(settings)
    consumer.assign([ConfluentPartition(topic, partition, 0)])
    values: list[bytes | None] = []

    def passed() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append(message.value())
        (place,) = consumer.position([ConfluentPartition(topic, partition)])
        return place.offset >= end

    wait_until(passed, f"the reader passes offset {end}", timeout_s=TIMEOUT_S)
    consumer.close()
    return values


# -- ottla txn


def test_transactions_are_listed_and_filtered(ottla: Ottla, world: World) -> None:
    def listed(*args: str) -> dict[str, str]:
        found = document(ottla("txn", "list", "--json", "--id-pattern", f"{world.topic}-.*", *args))
        return {item["transactional_id"].rpartition("-")[2]: item["state"] for item in found}

    everything = {
        "committed": "CompleteCommit",
        "aborted": "CompleteAbort",
        "empty": "Empty",
        "open": "Ongoing",
    }
    assert listed() == everything
    assert listed("--state", "ongoing,empty") == {"empty": "Empty", "open": "Ongoing"}
    wait_until(lambda: listed("--duration", "1ms") == {"open": "Ongoing"}, "it is open for a millisecond")
    assert listed("--duration", "1h") == {}
    (item,) = document(ottla("txn", "list", "--json", "--id-pattern", world.id("open")))
    only = document(ottla("txn", "list", "--json", "--producer-id", str(item["producer_id"])))
    assert [entry["transactional_id"] for entry in only] == [item["transactional_id"]]
    assert 0 <= item["duration_ms"] <= only[0]["duration_ms"]
    text = ottla("txn", "list", "--state", "Ongoing").stdout
    assert re.search(rf"^{world.id('open')} +Ongoing +{item['producer_id']} +1 +[0-9ms ]+$", text, re.M)
    assert "not legal" in ottla("txn", "list", "--id-pattern", "(", code=1).stderr


def test_a_transaction_is_described_until_it_has_ended(ottla: Ottla, world: World) -> None:
    (found,) = document(ottla("txn", "describe", world.id("open"), "--json"))
    assert (found["state"], found["producer_epoch"], found["timeout_ms"]) == ("Ongoing", 0, 60_000)
    assert found["partitions"] == [{"topic": world.topic, "partition": n} for n in (0, 2)]
    assert 0 <= found["duration_ms"] < 60_000
    world.going.commit_transaction(TIMEOUT_S)
    (found,) = document(ottla("txn", "describe", world.id("open"), "--json"))
    assert (found["state"], found["partitions"], found["duration_ms"]) == ("CompleteCommit", [], None)
    error = ottla("txn", "describe", "nobody", code=1).stderr
    assert error == "ottla: transactional id nobody does not exist: see those that do with: ottla txn list\n"


def test_the_producers_of_a_topic_are_shown(ottla: Ottla, world: World) -> None:
    partitions = document(ottla("txn", "producers", world.topic, "--json"))
    assert [len(p["producers"]) for p in partitions] == [3, 0, 1]
    begins = [p["txn_start_offset"] for p in partitions[0]["producers"]]
    assert begins == [None, None, 4]
    (only,) = document(ottla("txn", "producers", world.topic, "-p", "2", "--json"))
    assert only["producers"][0]["txn_start_offset"] == 0
    assert "there is no partition 9" in ottla("txn", "producers", world.topic, "-p", "9", code=1).stderr


def test_an_open_transaction_is_aborted_by_its_id_and_its_producer_is_fenced(
    ottla: Ottla, broker: BrokerProcess, world: World
) -> None:
    refused = ottla("txn", "abort", world.id("open"), code=1).stderr
    assert refused.startswith(f"ottla: this would abort the transaction of {world.id('open')}")
    assert "add --yes" in refused
    assert "aborted the transaction" in ottla("txn", "abort", world.id("open"), "--yes").stdout
    with pytest.raises(KafkaException):
        world.going.commit_transaction(TIMEOUT_S)
    assert read_committed(broker, world.topic, 0, 6) == [b"committed"]
    again = ottla("txn", "abort", world.id("open"), "--yes", code=1).stderr
    assert "has no open transaction to abort" in again
    assert "does not exist" in ottla("txn", "abort", "nobody", "--yes", code=1).stderr


def test_a_person_is_asked_before_a_transaction_is_aborted(broker: BrokerProcess, world: World) -> None:
    for answer, code in ((b"n\n", 1), (b"y\n", 0)):
        ours_end, theirs = pty.openpty()
        running = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "ottla.cli.main",
                "txn",
                "abort",
                world.id("open"),
                "-b",
                broker.bootstrap,
            ],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        os.close(theirs)
        os.write(ours_end, answer)
        out, err = running.communicate(timeout=TIMEOUT_S)
        os.close(ours_end)
        assert running.returncode == code, (out, err)
        assert b"and fence its producer? [y/N]" in err


def test_a_hanging_transaction_is_found_and_aborted_by_its_start(
    ottla: Ottla, broker: BrokerProcess, world: World
) -> None:
    """KIP-664: it holds back read_committed readers until a marker is written by hand."""
    offset = hang(broker, world.topic, 1, 700_001)
    for scope in (["--topic", world.topic], ["--topic", world.topic, "-p", "1"], ["--broker-id", "1"], []):
        found = document(ottla("txn", "find-hanging", "--older-than", "30m", "--json", *scope))
        (item,) = [t for t in found if t["topic"] == world.topic]
        assert (item["partition"], item["producer_id"], item["start_offset"]) == (1, 700_001, offset)
        assert item["idle_ms"] >= HOUR_MS
    longer = ottla("txn", "find-hanging", "--topic", world.topic, "--older-than", "2h")
    assert longer.stdout == "no hanging transactions\n"
    where = ["--topic", world.topic, "--partition", "1"]
    error = ottla("txn", "abort", *where, "--start-offset", "99", "--yes", code=1).stderr
    assert f"those that are begin at {offset}" in error
    assert "add --yes" in ottla("txn", "abort", *where, "--start-offset", str(offset), code=1).stderr
    ottla("txn", "abort", *where, "--start-offset", str(offset), "--yes")
    assert read_committed(broker, world.topic, 1, offset + 2) == []
    found = document(ottla("txn", "find-hanging", "--topic", world.topic, "--json"))
    assert found == []


def test_a_hanging_transaction_is_aborted_by_its_producer(
    ottla: Ottla, broker: BrokerProcess, world: World
) -> None:
    offset = hang(broker, world.topic, 1, 700_002)
    where = ["--topic", world.topic, "-p", "1", "--producer-id", "700002", "--yes"]
    stale = ottla("txn", "abort", *where, "--producer-epoch", "2", "--coordinator-epoch", "0", code=1)
    assert "newer epoch" in stale.stderr
    ottla("txn", "abort", *where, "--producer-epoch", "3", "--coordinator-epoch", "-1")
    assert read_committed(broker, world.topic, 1, offset + 2) == []


# -- the same words as Kafka's tools


def same(broker: BrokerProcess, *args: str) -> Ran:
    """Runs both tools; they agree but for how long a transaction is open by now, and for the order of its
    partitions, which Kafka's takes from a hash table.
    """
    server = ("--bootstrap-server", broker.bootstrap)
    expected, found = kafkas(TRANSACTIONS, *server, *args), ours("transactions", *server, *args)

    def steady(text: str) -> str:
        text = re.sub(r"(\t\d{13} *\t)\d+ *\t", r"\1elapsed\t", text)
        return re.sub(r"\t[^\t]+,[^\t]+\t$", lambda cell: ",".join(sorted(cell[0].strip().split(","))), text)

    assert (found.code, steady(found.out), found.err) == (expected.code, steady(expected.out), expected.err)
    return found


def test_transactions_are_described_in_kafkas_words(broker: BrokerProcess, world: World) -> None:
    listed = same(broker, "list", "--transactional-id-pattern", f"{world.topic}-.*")
    assert listed.code == 0 and listed.out.count("\n") == 5
    same(broker, "list", "--duration-filter", "0", "--transactional-id-pattern", f"{world.topic}-o.*")
    for what in ("committed", "empty", "open"):
        assert same(broker, "describe", "--transactional-id", world.id(what)).code == 0
    missing = same(broker, "describe", "--transactional-id", "nobody")
    assert missing.code == 1 and "could not be found" in missing.err
    partition = ("--topic", world.topic, "--partition", "0")
    assert same(broker, "describe-producers", *partition).out.count("\n") == 4
    same(broker, "describe-producers", *partition, "--broker-id", "1")


def test_hanging_transactions_are_found_and_aborted_in_kafkas_words(
    broker: BrokerProcess, world: World
) -> None:
    offset = hang(broker, world.topic, 1, 700_003)
    where = ("--topic", world.topic, "--partition", "1")
    assert "700003" in same(broker, "find-hanging", "--topic", world.topic).out
    assert same(broker, "abort", *where, "--start-offset", "99").code == 1
    stale = ("--producer-id", "700003", "--producer-epoch", "2", "--coordinator-epoch", "0")
    assert same(broker, "abort", *where, *stale).code == 1
    server = ("--bootstrap-server", broker.bootstrap)
    done = ours("transactions", *server, "abort", *where, "--start-offset", str(offset))
    assert done == Ran(0, "", "")
    assert same(broker, "find-hanging", "--topic", world.topic).out.count("\n") == 1


def test_kafkas_tool_terminates_what_ours_does(broker: BrokerProcess, ottla: Ottla, world: World) -> None:
    server = ("--bootstrap-server", broker.bootstrap)
    for number, run in enumerate((kafkas, ours)):
        name = world.id(f"force-{number}")
        writer = producer(broker, name)
        writer.begin_transaction()
        writer.produce(world.topic, "x", partition=1)
        writer.flush(TIMEOUT_S)
        tool = TRANSACTIONS if run is kafkas else "transactions"
        assert run(tool, *server, "forceTerminateTransaction", "--transactionalId", name) == Ran(0, "", "")
        (found,) = document(ottla("txn", "describe", name, "--json"))
        assert (found["state"], found["producer_epoch"]) == ("Empty", 2)


def test_files_of_transactions_are_dumped_in_kafkas_words(
    broker: BrokerProcess, world: World, ottla: Ottla
) -> None:
    world.going.abort_transaction(TIMEOUT_S)
    assert broker.stop() == 0
    directory = broker.data_dir / f"{world.topic}-0"
    try:
        logs = sorted(broker.data_dir.glob("__transaction_state-*/*.log"))
        states = ",".join(str(path) for path in logs if path.stat().st_size)
        offsets = sorted(broker.data_dir.glob("__consumer_offsets-*/*.log"))
        segment = str(directory / "00000000000000000000")
        (snapshot,) = directory.glob("*.snapshot")
        for args in (
            ["--files", f"{segment}.log,{segment}.txnindex,{segment}.index,{segment}.timeindex,{snapshot}"],
            ["--print-data-log", "--files", f"{segment}.log"],
            ["--print-data-log", "--skip-record-metadata", "--files", f"{segment}.log"],
            ["--transaction-log-decoder", "--files", states],
            ["--offsets-decoder", "--files", ",".join(map(str, offsets)) or f"{segment}.txnindex"],
            [
                "--cluster-metadata-decoder",
                "--files",
                str(broker.data_dir / "__cluster_metadata-0" / "00000000000000000000.log"),
            ],
        ):
            expected = kafkas(DUMP_LOG, *args)
            assert expected.code == 0
            assert ours("dump-log", *args) == expected
        text = ottla("storage", "dump", f"{segment}.log", f"{segment}.txnindex", str(snapshot)).stdout
        assert "control  commit by coordinator epoch 0" in text
        assert text.count("control  abort by coordinator epoch 0") == 2
        assert text.count("  last stable offset ") == 2
        assert text.count("  coordinator epoch 0") == 3
    finally:
        broker.start()


def test_records_are_deleted_in_kafkas_words(broker: BrokerProcess, world: World, tmp_path: Path) -> None:
    path = tmp_path / "offsets.json"
    before = [(0, 2), (1, 99)]
    items = [{"topic": world.topic, "partition": n, "offset": offset} for n, offset in before]
    path.write_text(json.dumps({"partitions": items, "version": 1}))
    args = ("--bootstrap-server", broker.bootstrap, "--offset-json-file", str(path))
    expected, found = kafkas(DELETE_RECORDS, *args), ours("delete-records", *args)
    assert found.code == expected.code == 0
    assert sorted(found.out.splitlines()) == sorted(expected.out.splitlines())
    assert f"partition: {world.topic}-0\tlow_watermark: 2\n" in found.out
    for wrong in ("{", '{"version": 2}', '{"version": 1}', json.dumps({"partitions": [items[0], items[0]]})):
        path.write_text(wrong)
        refused, explained = kafkas(DELETE_RECORDS, *args), ours("delete-records", *args)
        assert refused.code == explained.code == 1
        reason = explained.err.removeprefix("kafka-delete-records: ").strip()
        assert reason == refused.err.splitlines()[0]
