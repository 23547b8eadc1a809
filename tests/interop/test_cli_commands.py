"""The `ottla` commands against a real broker, each as its own process, as a user runs them."""

from __future__ import annotations

import array
import fcntl
import json
import os
import signal
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from support.broker_process import BrokerProcess
from support.waiting import wait_until

TIMEOUT_S = 60

Ottla = Callable[..., "subprocess.CompletedProcess[bytes]"]


def environment(broker: BrokerProcess) -> dict[str, str]:
    return {**os.environ, "OTTLA_BOOTSTRAP_SERVERS": broker.bootstrap}


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "ottla.cli.main", *args]


@pytest.fixture
def ottla(shared_broker: BrokerProcess) -> Ottla:
    """Runs a command and expects it to end well, or with `code`."""

    def run(*args: str, stdin: bytes = b"", code: int = 0) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            command(*args),
            input=stdin,
            capture_output=True,
            env=environment(shared_broker),
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        assert b"Traceback" not in done.stderr
        return done

    return run


def as_json(done: subprocess.CompletedProcess[bytes]) -> Any:
    return json.loads(done.stdout)


def records_of(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_topics_life_from_create_to_delete(ottla: Ottla, topic_name: str) -> None:
    created = ottla("topic", "create", topic_name, "-p", "2", "-c", "retention.ms=5000")
    assert created.stdout.decode() == f"created topic {topic_name} (2 partitions, replication factor 1)\n"
    assert topic_name in ottla("topic", "list").stdout.decode().splitlines()
    assert topic_name in as_json(ottla("topic", "list", "--json"))

    again = ottla("topic", "create", topic_name, code=1)
    assert again.stderr.decode() == f"ottla: Topic '{topic_name}' already exists.\n"
    ottla("topic", "create", topic_name, "--if-not-exists")

    (described,) = as_json(ottla("topic", "describe", topic_name, "--json"))
    assert described["configs"] == {"retention.ms": "5000"}
    assert [p["partition"] for p in described["partitions"]] == [0, 1]
    text = ottla("topic", "describe", topic_name).stdout.decode()
    assert f"topic {topic_name}  id {described['topic_id']}  partitions 2  replication factor 1" in text

    ottla("topic", "alter", topic_name, "-p", "5", "--delete-config", "retention.ms")
    (described,) = as_json(ottla("topic", "describe", topic_name, "--json"))
    assert (len(described["partitions"]), described["configs"]) == (5, {})
    assert b"ottla: " in ottla("topic", "alter", topic_name, "-p", "3", code=1).stderr

    assert ottla("topic", "delete", topic_name).stdout.decode() == f"deleted topic {topic_name}\n"
    assert topic_name not in ottla("topic", "list").stdout.decode().splitlines()
    ottla("topic", "delete", topic_name, code=1)
    ottla("topic", "delete", topic_name, "--if-exists")


def test_a_topic_that_is_only_validated_is_not_there_afterwards(ottla: Ottla, topic_name: str) -> None:
    assert ottla("topic", "create", topic_name, "--validate-only").stdout.startswith(b"could create topic")
    assert topic_name not in ottla("topic", "list").stdout.decode().splitlines()
    refused = ottla("topic", "create", "no/slashes", code=1).stderr.decode()
    assert refused.startswith("ottla: ") and refused.count("\n") == 1


def test_lines_with_keys_and_headers_come_back_as_they_went_in(ottla: Ottla, topic_name: str) -> None:
    ottla("topic", "create", topic_name, "-p", "1")
    lines = b"a:1,b:2\tuser1=clicked \xff\n\tuser2=\n\tNULL=NULL\n"
    options = ["--headers", "-K", "=", "--null-marker", "NULL", "-H", "app=shop", "-z", "zstd"]
    done = ottla("produce", topic_name, *options, stdin=lines)
    assert done.stderr.decode() == f"published 3 records to {topic_name}\n"
    shown = ottla("consume", topic_name, "--from-beginning", "-e", "-f", r"%o|%k|%v|%h\n", "--null", "~")
    assert shown.stdout == (b"0|user1|clicked \xff|app=shop,a=1,b=2\n1|user2||app=shop\n2|~|~|app=shop\n")


def test_json_from_consume_goes_back_into_produce(ottla: Ottla, topic_name: str) -> None:
    copy = f"{topic_name}-copy"
    ottla("topic", "create", topic_name, copy, "-p", "3")
    ottla("produce", topic_name, "-K", ":", stdin=b"".join(b"k%d:v%d\xff\n" % (n % 7, n) for n in range(50)))
    taken = ottla("consume", topic_name, "--from-beginning", "-e", "--json")
    ottla("produce", copy, "--json", "--keep-partitions", stdin=taken.stdout)
    copied = records_of(ottla("consume", copy, "--from-beginning", "-e", "--json"))

    def essence(records: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        rows = [(r["partition"], r["offset"], r["timestamp"], r["key"], str(r["value"])) for r in records]
        return sorted(rows)

    assert len(copied) == 50
    assert essence(copied) == essence(records_of(taken))


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
def test_librdkafka_reads_what_produce_writes_and_agrees_on_the_partition(
    ottla: Ottla, shared_broker: BrokerProcess, topic_name: str, codec: str
) -> None:
    topic = f"{topic_name}-{codec}"
    ottla("topic", "create", topic, "-p", "4")
    ottla(
        "produce", topic, "-K", ":", "-z", codec, stdin=b"".join(b"key-%d:%d\n" % (n, n) for n in range(200))
    )
    settings: dict[str, Any] = {"bootstrap.servers": shared_broker.bootstrap}
    theirs = Producer({**settings, "partitioner": "murmur2_random"})
    placed: dict[bytes, int] = {}

    def on_delivery(error: object, message: Any) -> None:
        assert error is None
        placed[message.key()] = message.partition()

    for n in range(200):
        theirs.produce(topic, key=b"key-%d" % n, value=b"theirs", on_delivery=on_delivery)
    assert theirs.flush(30) == 0
    consumer = Consumer({**settings, "group.id": "unused", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, p, 0) for p in range(4)])
    ours: dict[bytes, tuple[int, bytes]] = {}
    seen = 0
    while seen < 400:
        batch = consumer.consume(400, timeout=10)
        assert batch, f"only {seen} of 400 records came"
        for message in batch:
            assert message.error() is None
            seen += 1
            if message.value() != b"theirs":
                ours[message.key()] = (message.partition(), message.value())
    consumer.close()
    assert ours == {b"key-%d" % n: (placed[b"key-%d" % n], b"%d" % n) for n in range(200)}


def test_reading_starts_where_it_is_told(ottla: Ottla, topic_name: str) -> None:
    # Records of 2023: without this the broker deletes them when it next looks at what is too old.
    ottla("topic", "create", topic_name, "-p", "1", "-c", "retention.ms=-1")
    lines = b"".join(b'{"value":"v%d","timestamp":%d}\n' % (n, 1_700_000_000_000 + n) for n in range(10))
    ottla("produce", topic_name, "--json", stdin=lines)

    def values(*options: str) -> list[str]:
        return ottla("consume", topic_name, "-e", *options).stdout.decode().split()

    everything = [f"v{n}" for n in range(10)]
    assert values("--from-beginning") == everything
    assert values("--offset", "beginning") == everything
    assert values("--offset", "7") == everything[7:]
    assert values("--offset", "-3") == everything[7:]
    assert values("--offset", "-30") == everything
    assert values("--offset", "end") == []
    assert values() == []
    assert values("--timestamp", "1700000000004") == everything[4:]
    assert values("--timestamp", "2023-11-14T22:13:20.008Z") == everything[8:]
    assert values("--timestamp", "1800000000000") == []
    assert values("--from-beginning", "--max-messages", "4") == everything[:4]
    missing = ottla("consume", topic_name, "-p", "3", code=1).stderr.decode()
    assert missing == f"ottla: topic {topic_name}: there is no partition 3, the topic has 1\n"


def test_a_missing_topic_is_an_error_for_consume_and_says_how_to_create_it(ottla: Ottla) -> None:
    error = ottla("consume", "nowhere", code=1).stderr.decode()
    assert error == "ottla: topic nowhere does not exist: create it with: ottla topic create nowhere\n"


def test_consume_waits_for_records_and_ends_with_130_on_ctrl_c(
    ottla: Ottla, shared_broker: BrokerProcess, topic_name: str
) -> None:
    ottla("topic", "create", topic_name)
    consumer = subprocess.Popen(
        command("consume", topic_name, "--from-beginning"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(shared_broker),
    )
    try:
        assert consumer.stdout is not None
        for line in (b"one\n", b"two\n"):
            ottla("produce", topic_name, stdin=line)
            assert consumer.stdout.readline() == line
        consumer.send_signal(signal.SIGINT)
        out, error = consumer.communicate(timeout=TIMEOUT_S)
        assert (out, error, consumer.returncode) == (b"", b"", 130)
    finally:
        consumer.kill()
        consumer.wait()


def test_produce_flushes_what_was_entered_when_ctrl_c_comes(
    ottla: Ottla, shared_broker: BrokerProcess, topic_name: str
) -> None:
    ottla("topic", "create", topic_name)
    producer = subprocess.Popen(
        # A linger that nobody would wait for: only the flush at the end can send the lines.
        command("produce", topic_name, "-X", "linger.ms=600000"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(shared_broker),
    )
    try:
        assert producer.stdin is not None
        producer.stdin.write(b"one\ntwo\n")
        producer.stdin.flush()
        wait_until(lambda: _pipe_is_empty(producer.stdin.fileno()), "the lines to be read", timeout_s=30)
        producer.send_signal(signal.SIGINT)
        _, error = producer.communicate(timeout=TIMEOUT_S)
        assert producer.returncode == 130
        assert error.decode() == f"published 2 records to {topic_name}\n"
    finally:
        producer.kill()
        producer.wait()
    assert ottla("consume", topic_name, "--from-beginning", "-e").stdout == b"one\ntwo\n"


def _pipe_is_empty(write_end: int) -> bool:
    """Whether a pipe's reader has taken everything (Linux answers FIONREAD on either end)."""
    waiting = array.array("i", [0])
    fcntl.ioctl(write_end, termios.FIONREAD, waiting)
    return waiting[0] == 0


def test_a_bad_line_is_named_after_everything_before_it_was_published(ottla: Ottla, topic_name: str) -> None:
    done = ottla("produce", topic_name, "-K", ":", stdin=b"a:1\nb:2\noops\nc:3\n", code=1)
    assert done.stderr.decode() == (
        "ottla: line 3 has no ':' between key and value (2 records were published)\n"
    )
    assert ottla("consume", topic_name, "--from-beginning", "-e").stdout == b"1\n2\n"


def test_a_record_that_the_topic_refuses_is_one_line_and_exit_code_1(ottla: Ottla, topic_name: str) -> None:
    ottla("topic", "create", topic_name, "-c", "max.message.bytes=1000")
    done = ottla("produce", topic_name, stdin=b"x" * 5_000 + b"\n", code=1)
    assert done.stderr.count(b"\n") == 1 and b"0 records were published" in done.stderr
    # Many small records in one batch that is too large are split instead.
    ottla("produce", topic_name, stdin=b"".join(b"%060d\n" % n for n in range(100)))
    values = ottla("consume", topic_name, "--from-beginning", "-e").stdout.split()
    assert [int(value) for value in values] == list(range(100))


def test_what_a_compacted_topic_refuses_says_what_to_do(ottla: Ottla, topic_name: str) -> None:
    """Keyless records (INVALID_RECORD), and the deletion of records (POLICY_VIOLATION), as in Kafka."""
    ottla("topic", "create", topic_name, "-p", "1", "-c", "cleanup.policy=compact")
    error = ottla("produce", topic_name, stdin=b"no key\n", code=1).stderr.decode()
    assert "no key" in error
    assert error.endswith(": give keys by --key or --key-separator (0 records were published)\n")
    error = ottla("produce", topic_name, "-K", ":", stdin=b"a:1\nno key\n", code=1).stderr.decode()
    assert error.endswith("(1 record was published)\n")
    error = ottla("records", "delete", topic_name, "--all", code=1).stderr.decode()
    assert error == (
        f"ottla: {topic_name}-0: the topic is compacted: records are deleted only with cleanup.policy=delete "
        "or compact,delete\n"
    )


def test_a_file_of_100000_lines_goes_in_and_comes_out_in_order(
    ottla: Ottla, tmp_path: Path, topic_name: str
) -> None:
    ottla("topic", "create", topic_name, "-p", "1")
    data = b"".join(b"event number %d\n" % n for n in range(100_000))
    path = tmp_path / "events.txt"
    path.write_bytes(data)
    done = ottla("produce", topic_name, "--file", str(path), "-z", "lz4")
    assert done.stderr.decode() == f"published 100,000 records to {topic_name}\n"
    assert ottla("consume", topic_name, "--from-beginning", "-e").stdout == data


def test_configurations_change_while_running(ottla: Ottla, topic_name: str) -> None:
    ottla("topic", "create", topic_name)

    def own() -> dict[str, str]:
        described = as_json(ottla("config", "describe", "--topic", topic_name, "--json"))
        return {entry["name"]: entry["value"] for entry in described}

    assert own() == {}
    ottla(
        "config",
        "alter",
        "--topic",
        topic_name,
        "--add",
        "segment.ms=7777",
        "--append",
        "cleanup.policy=compact",
    )
    assert own() == {"segment.ms": "7777", "cleanup.policy": "delete,compact"}
    ottla(
        "config",
        "alter",
        "--topic",
        topic_name,
        "--delete",
        "segment.ms",
        "--subtract",
        "cleanup.policy=delete",
    )
    assert own() == {"cleanup.policy": "compact"}
    refused = ottla(
        "config", "alter", "--topic", topic_name, "--add", "segment.ms=soon", code=1
    ).stderr.decode()
    assert "segment.ms" in refused and refused.count("\n") == 1
    everything = ottla("config", "describe", "--topic", topic_name, "--all").stdout.decode()
    assert "retention.ms=604800000  (default config)" in everything


def test_a_brokers_configuration_is_described_and_its_default_changed(ottla: Ottla) -> None:
    described = as_json(ottla("config", "describe", "--broker", "1", "--json"))
    assert "log.dirs" in {entry["name"] for entry in described if entry["source"] == "STATIC_BROKER_CONFIG"}
    ottla("config", "alter", "--broker-defaults", "--add", "log.retention.ms=123456789")
    text = ottla("config", "describe", "--broker-defaults").stdout.decode()
    assert "log.retention.ms=123456789  (dynamic default broker config)" in text
    ottla("config", "alter", "--broker-defaults", "--delete", "log.retention.ms")
    assert b"there is no broker 99" in ottla("config", "describe", "--broker", "99", code=1).stderr


def test_a_groups_configuration_changes_before_the_group_exists(ottla: Ottla, topic_name: str) -> None:
    of_group = ("--group", topic_name)
    done = ottla("config", "alter", *of_group, "--add", "consumer.session.timeout.ms=50000")
    assert done.stdout.decode() == f"altered the configuration of group {topic_name}\n"
    text = ottla("config", "describe", *of_group).stdout.decode()
    assert text == "consumer.session.timeout.ms=50000  (dynamic group config)\n"
    refused = ottla(
        "config", "alter", *of_group, "--add", "consumer.session.timeout.ms=5", code=1
    ).stderr.decode()
    assert "consumer.session.timeout.ms" in refused and refused.count("\n") == 1
    ottla("config", "alter", *of_group, "--delete", "consumer.session.timeout.ms")
    assert as_json(ottla("config", "describe", *of_group, "--json")) == []


def test_the_cluster_is_described(ottla: Ottla, shared_broker: BrokerProcess) -> None:
    described = as_json(ottla("cluster", "--json"))
    (broker,) = described["brokers"]
    assert (broker["id"], broker["port"]) == (1, shared_broker.port)
    assert [item["path"] for item in broker["log_dirs"]] == [str(shared_broker.data_dir)]
    assert "metadata.version" in {feature["name"] for feature in described["features"]}
    text = ottla("cluster").stdout.decode()
    assert described["cluster_id"] in text and str(shared_broker.data_dir) in text


def test_records_are_deleted_from_the_beginning(ottla: Ottla, topic_name: str) -> None:
    ottla("topic", "create", topic_name, "-p", "1")
    ottla("produce", topic_name, stdin=b"".join(b"%d\n" % n for n in range(10)))
    done = ottla("records", "delete", topic_name, "--before", "0:4")
    assert done.stdout.decode() == f"{topic_name}-0 now begins at offset 4\n"
    assert ottla("consume", topic_name, "--from-beginning", "-e").stdout.split() == [
        b"%d" % n for n in range(4, 10)
    ]
    assert ottla("records", "delete", topic_name, "--before", "0:99", code=1).stderr.startswith(b"ottla: ")
    ottla("records", "delete", topic_name, "--all")
    assert ottla("consume", topic_name, "--from-beginning", "-e").stdout == b""


def test_a_segment_written_by_the_broker_can_be_dumped(
    ottla: Ottla, shared_broker: BrokerProcess, topic_name: str
) -> None:
    ottla("topic", "create", topic_name, "-p", "1")
    ottla("produce", topic_name, "-k", "key", stdin=b"value\n")
    segment = shared_broker.data_dir / f"{topic_name}-0" / "00000000000000000000.log"
    items = records_of(ottla("storage", "dump", str(segment), "--records", "--json"))
    assert [item["count"] for item in items if "count" in item] == [1]
    assert [(item["key"], item["value"]) for item in items if "key" in item] == [("key", "value")]


def test_a_broker_that_restarts_is_waited_for(start_broker: Callable[..., BrokerProcess]) -> None:
    broker = start_broker()
    consumer = subprocess.Popen(
        command("produce", "t", "-X", "linger.ms=0"),
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(broker),
    )
    try:
        assert consumer.stdin is not None
        consumer.stdin.write(b"before\n")
        consumer.stdin.flush()

        def stored() -> bytes:
            done = subprocess.run(
                command("consume", "t", "--from-beginning", "-e"),
                capture_output=True,
                env=environment(broker),
                timeout=TIMEOUT_S,
            )
            return done.stdout

        wait_until(lambda: stored() == b"before\n", "the first line", timeout_s=30)
        broker.kill()
        consumer.stdin.write(b"during\n")
        consumer.stdin.flush()
        broker.start()
        consumer.stdin.write(b"after\n")
        _, error = consumer.communicate(timeout=TIMEOUT_S)
        assert (consumer.returncode, error) == (0, b"published 3 records to t\n")
        assert stored() == b"before\nduring\nafter\n"
    finally:
        consumer.kill()
        consumer.wait()


def test_start_refuses_a_configuration_that_cannot_work_in_one_line(tmp_path: Path) -> None:
    for settings, problem in (
        (["num.partitions=none"], "num.partitions"),
        (["listeners=nonsense"], "listeners"),
    ):
        args = [arg for setting in settings for arg in ("--set", setting)]
        done = subprocess.run(
            command("start", "--data", str(tmp_path / "data"), "--port", "0", *args),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        assert done.returncode == 1
        assert done.stderr.startswith("ottla: ") and problem in done.stderr and done.stderr.count("\n") == 1
