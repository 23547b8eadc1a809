"""Consumer groups on the command line against a real broker: what is printed is committed, and the figures
are those that confluent-kafka's admin sees.
"""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer
from confluent_kafka import TopicPartition as ConfluentPartition
from confluent_kafka.admin import AdminClient

from support.broker_process import BrokerFactory, BrokerProcess
from support.tools import REPOSITORY
from support.waiting import wait_until

TIMEOUT_S = 60
PROTOCOLS = ["classic", "consumer"]
QUICK = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "500",
}

Ottla = Callable[..., "subprocess.CompletedProcess[bytes]"]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrokerProcess]:
    """A broker whose groups do not wait for more members, and whose members ask often."""
    process = BrokerProcess(tmp_path_factory.mktemp("broker") / "data", settings=QUICK).start()
    yield process
    code = process.stop()
    log = process.log_since(0)
    assert code == 0 and "Traceback" not in log, log[-4000:]


def environment(broker: BrokerProcess) -> dict[str, str]:
    return {**os.environ, "OTTLA_BOOTSTRAP_SERVERS": broker.bootstrap}


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "ottla.cli.main", *args]


@pytest.fixture
def ottla(broker: BrokerProcess) -> Ottla:
    """Runs a command and expects it to end well, or with `code`."""

    def run(*args: str, stdin: bytes = b"", code: int = 0) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(
            command(*args), input=stdin, capture_output=True, env=environment(broker), timeout=TIMEOUT_S
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        assert b"Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def kafka_tool(broker: BrokerProcess) -> Callable[..., tuple[str, str]]:
    """Runs one of the scripts in bin/; gives what it printed on stdout and stderr."""

    def run(tool: str, *args: str, code: int = 0) -> tuple[str, str]:
        done = subprocess.run(
            [str(REPOSITORY / "bin" / f"kafka-{tool}.sh"), "--bootstrap-server", broker.bootstrap, *args],
            capture_output=True,
            text=True,
            env={**os.environ, "OTTLA_PYTHON": sys.executable},
            timeout=TIMEOUT_S,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        return done.stdout, done.stderr

    return run


@pytest.fixture
def clicks(ottla: Ottla, topic_name: str, broker: BrokerProcess) -> str:
    """A topic of three partitions with ten records in each."""
    ottla("topic", "create", topic_name, "-p", "3")
    publish(broker, topic_name, range(10))
    return topic_name


def publish(broker: BrokerProcess, topic: str, numbers: range, partitions: int = 3) -> None:
    producer = Producer({"bootstrap.servers": broker.bootstrap})
    for number in numbers:
        for partition in range(partitions):
            producer.produce(topic, f"{partition}:{number}", partition=partition)
    assert producer.flush(TIMEOUT_S) == 0


class Running:
    """`ottla consume` in a process of its own, whose output goes to a file."""

    def __init__(self, broker: BrokerProcess, path: Path, topic: str, *args: str) -> None:
        self.path = path
        options = ["-f", "%v\\n", "--from-beginning", *args]
        with path.open("wb") as out:
            self.process = subprocess.Popen(
                command("consume", topic, *options), stdout=out, stderr=out, env=environment(broker)
            )

    def lines(self) -> list[str]:
        text = self.path.read_text()
        assert "Traceback" not in text, text
        return text.split()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(TIMEOUT_S)


@pytest.fixture
def consume(broker: BrokerProcess, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(topic: str, *args: str) -> Running:
        running = Running(broker, tmp_path / f"out-{len(started)}", topic, *args)
        started.append(running)
        return running

    yield start
    for running in started:
        if running.process.poll() is None:
            running.process.kill()
            running.process.wait(TIMEOUT_S)


def committed_by_confluent(broker: BrokerProcess, group: str) -> dict[tuple[str, int], int]:
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    (future,) = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)]).values()
    return {(tp.topic, tp.partition): tp.offset for tp in future.result(TIMEOUT_S).topic_partitions or []}


def document(done: subprocess.CompletedProcess[bytes]) -> Any:
    return json.loads(done.stdout)


def described(ottla: Ottla, group: str) -> Any:
    (found,) = document(ottla("group", "describe", group, "--json"))
    return found


def state_of(ottla: Ottla, group: str) -> str | None:
    listed = {item["group"]: item["state"] for item in document(ottla("group", "list", "--json"))}
    return listed.get(group)


# -- ottla consume --group


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_goes_on_where_it_stopped_and_what_was_printed_is_committed(
    ottla: Ottla, clicks: str, broker: BrokerProcess, protocol: str
) -> None:
    group = f"g-{clicks}"
    options = ["--group", group, "--protocol", protocol, "--from-beginning", "-f", "%p %o\\n"]
    first = ottla("consume", clicks, *options, "-n", "17").stdout.decode().splitlines()
    assert len(first) == 17
    ends: Counter[int] = Counter()
    for line in first:
        partition, offset = map(int, line.split())
        ends[partition] = max(ends[partition], offset + 1)
    committed = committed_by_confluent(broker, group)
    assert {tp: offset for tp, offset in committed.items() if offset > 0} == {
        (clicks, partition): end for partition, end in ends.items()
    }
    rest = ottla("consume", clicks, *options, "-e").stdout.decode().splitlines()
    assert sorted(first + rest) == sorted(f"{p} {o}" for p in range(3) for o in range(10))
    assert ottla("consume", clicks, *options, "-e").stdout == b""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_ctrl_c_commits_what_was_printed_and_leaves_at_once(
    ottla: Ottla, consume: Callable[..., Running], clicks: str, broker: BrokerProcess, protocol: str
) -> None:
    group = f"g-{clicks}"
    running = consume(clicks, "--group", group, "--protocol", protocol)
    wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
    assert running.stop() == 130
    assert set(committed_by_confluent(broker, group).values()) == {10}
    assert state_of(ottla, group) == "Empty"
    publish(broker, clicks, range(10, 12))
    rest = ottla("consume", clicks, "--group", group, "--protocol", protocol, "-e").stdout.split()
    assert sorted(rest) == sorted(f"{p}:{n}".encode() for p in range(3) for n in (10, 11))


def test_a_new_group_begins_with_new_records_and_does_not_skip_those_that_come_while_it_is_away(
    ottla: Ottla, clicks: str, broker: BrokerProcess
) -> None:
    group = f"g-{clicks}"
    assert ottla("consume", clicks, "--group", group, "-e").stdout == b""
    publish(broker, clicks, range(10, 11))
    assert len(ottla("consume", clicks, "--group", group, "-e").stdout.split()) == 3


@pytest.mark.parametrize(
    "options",
    [
        ["--assignor", "range"],
        ["--assignor", "roundrobin"],
        ["--assignor", "sticky"],
        ["--assignor", "cooperative-sticky"],
        ["--protocol", "consumer"],
    ],
    ids=lambda options: options[-1],
)
def test_members_that_come_and_go_print_every_record_exactly_once(
    consume: Callable[..., Running], ottla: Ottla, clicks: str, broker: BrokerProcess, options: list[str]
) -> None:
    """Clean leaves only: every partition is handed on with a commit."""
    group = f"g-{clicks}"
    one = consume(clicks, "--group", group, *options)
    wait_until(lambda: len(one.lines()) == 30, "the first member has read everything", timeout_s=30)
    two = consume(clicks, "--group", group, *options)

    def members() -> bool:
        found = document(ottla("group", "members", group, "--json"))[0]
        return found["state"] == "Stable" and sorted(len(m["assignment"]) for m in found["members"]) == [1, 2]

    wait_until(members, "both members have their part", timeout_s=30)
    publish(broker, clicks, range(10, 20))
    wait_until(lambda: len(one.lines()) + len(two.lines()) == 60, "both have read", timeout_s=30)
    assert one.lines()[30:] and two.lines()
    assert one.stop() == 130
    publish(broker, clicks, range(20, 30))
    wait_until(
        lambda: len(one.lines()) + len(two.lines()) == 90, "the one that is left has read", timeout_s=30
    )
    assert two.stop() == 130
    counts = Counter(one.lines() + two.lines())
    assert counts == Counter(f"{p}:{n}" for p in range(3) for n in range(30))


def test_a_group_is_shared_with_another_client(
    consume: Callable[..., Running], ottla: Ottla, clicks: str, broker: BrokerProcess
) -> None:
    group = f"g-{clicks}"
    ours = consume(clicks, "--group", group, "--assignor", "range")
    wait_until(lambda: len(ours.lines()) == 30, "our member has read everything", timeout_s=30)
    theirs = Consumer(
        {
            "bootstrap.servers": broker.bootstrap,
            "group.id": group,
            "partition.assignment.strategy": "range",
            "auto.offset.reset": "earliest",
        }
    )
    theirs.subscribe([clicks])
    seen: list[str] = []

    def polled() -> bool:
        message = theirs.poll(0.1)
        if message is not None and message.error() is None:
            seen.append((message.value() or b"").decode())
        return bool(theirs.assignment())

    try:
        wait_until(polled, "the other client has partitions", timeout_s=30)
        publish(broker, clicks, range(10, 20))

        def everything() -> bool:
            polled()
            return len(ours.lines()) + len(seen) >= 60

        wait_until(everything, "both have read", timeout_s=30)
    finally:
        theirs.close()
    assert ours.stop() == 130
    assert Counter(ours.lines() + seen) == Counter(f"{p}:{n}" for p in range(3) for n in range(20))
    assert seen and len(ours.lines()) > 30


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_static_member_keeps_its_place_over_a_restart_and_a_duplicate_is_refused(
    consume: Callable[..., Running], ottla: Ottla, clicks: str, broker: BrokerProcess, protocol: str
) -> None:
    """KIP-345."""
    group = f"g-{clicks}"
    options = ["--group", group, "--protocol", protocol, "--group-instance-id", "one"]
    running = consume(clicks, *options)
    wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
    before = document(ottla("group", "members", group, "--json"))[0]["epoch"]
    rebalances = broker.log_since(0).count(f"group '{group}': rebalance")
    assert running.stop() == 130
    (kept,) = document(ottla("group", "members", group, "--json"))[0]["members"]
    assert kept["instance"] == "one"
    again = consume(clicks, *options)

    def back() -> bool:
        (member,) = document(ottla("group", "members", group, "--json"))[0]["members"]
        return member["member"] != kept["member"] and len(member["assignment"]) == 3

    wait_until(back, "the member is back under a new id", timeout_s=30)
    assert document(ottla("group", "members", group, "--json"))[0]["epoch"] == before
    if protocol == "classic":
        assert broker.log_since(0).count(f"group '{group}': rebalance") == rebalances == 1
    if protocol == "consumer":
        refused = ottla("consume", clicks, *options, code=1).stderr.decode()
        assert "group.instance.id" in refused and refused.count("\n") == 1
    else:
        usurper = consume(clicks, *options)
        assert again.process.wait(TIMEOUT_S) == 1
        assert "group.instance.id" in again.path.read_text()
        assert usurper.process.poll() is None


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_member_survives_a_restart_of_the_broker(
    start_broker: BrokerFactory, tmp_path: Path, protocol: str
) -> None:
    broker = start_broker(settings=QUICK)
    made = subprocess.run(
        command("topic", "create", "t", "-p", "3"), env=environment(broker), capture_output=True, timeout=60
    )
    assert made.returncode == 0, made.stderr
    publish(broker, "t", range(10))
    running = Running(broker, tmp_path / "out", "t", "--group", "g", "--protocol", protocol)
    try:
        wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
        broker.kill()
        broker.start()
        publish(broker, "t", range(10, 20))
        expected = {f"{p}:{n}" for p in range(3) for n in range(20)}
        wait_until(lambda: set(running.lines()) == expected, "the rest is printed", timeout_s=60)
        assert running.stop() == 130
    finally:
        running.process.kill()
        running.process.wait(TIMEOUT_S)
    assert set(committed_by_confluent(broker, "g").values()) == {20}


def test_what_could_not_be_printed_is_not_committed(ottla: Ottla, clicks: str, broker: BrokerProcess) -> None:
    """As when the reader of a pipe has gone."""
    group = f"g-{clicks}"
    process = subprocess.Popen(
        command("consume", clicks, "--group", group, "--from-beginning"),
        stdout=subprocess.PIPE,
        env=environment(broker),
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(TIMEOUT_S) == 141
    assert state_of(ottla, group) == "Empty"
    assert not any(committed_by_confluent(broker, group).values())
    assert len(ottla("consume", clicks, "--group", group, "--from-beginning", "-e").stdout.split()) == 30


# -- ottla group


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_lag_is_the_figure_that_the_other_admin_sees(
    ottla: Ottla, consume: Callable[..., Running], clicks: str, broker: BrokerProcess, protocol: str
) -> None:
    group = f"g-{clicks}"
    options = ["--group", group, "--protocol", protocol]
    ottla("consume", clicks, *options, "--from-beginning", "-n", "13")
    found = described(ottla, group)
    committed = committed_by_confluent(broker, group)
    probe = Consumer({"bootstrap.servers": broker.bootstrap, "group.id": group})
    for row in found["partitions"]:
        place = ConfluentPartition(row["topic"], row["partition"])
        _, end = probe.get_watermark_offsets(place)
        assert (row["committed"], row["end"]) == (committed[row["topic"], row["partition"]], end)
        assert row["lag"] == end - row["committed"] and row["member"] is None
    probe.close()
    assert (found["lag"], found["state"], found["type"], found["members"]) == (17, "Empty", protocol, 0)
    text = ottla("group", "describe", group).stdout.decode().splitlines()
    assert text[-1].split() == ["total", "3", "17"]

    running = consume(clicks, *options)
    wait_until(lambda: len(running.lines()) == 17, "the rest is read", timeout_s=30)
    (members,) = document(ottla("group", "members", group, "--json"))
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    (future,) = admin.describe_consumer_groups([group]).values()
    theirs = future.result(TIMEOUT_S)
    assert members["state"].lower() == theirs.state.name.lower()
    assert [(m["member"], m["client"], m["host"]) for m in members["members"]] == [
        (m.member_id, m.client_id, m.host) for m in theirs.members
    ]
    assert [(p["topic"], p["partition"]) for p in members["members"][0]["assignment"]] == sorted(
        (tp.topic, tp.partition) for tp in theirs.members[0].assignment.topic_partitions
    )
    assert members["members"][0]["member"] in ottla("group", "describe", group).stdout.decode()
    assert running.stop() == 130


def test_groups_are_listed_by_state_and_type(ottla: Ottla, clicks: str, broker: BrokerProcess) -> None:
    names = {protocol: f"{protocol}-{clicks}" for protocol in PROTOCOLS}
    for protocol, name in names.items():
        ottla("consume", clicks, "--group", name, "--protocol", protocol, "-e")
    for protocol, name in names.items():
        listed = document(ottla("group", "list", "--type", protocol, "--state", "empty", "--json"))
        assert {"group": name, "type": protocol, "state": "Empty", "protocol_type": "consumer"} in listed
        assert not {item["group"] for item in listed} & (set(names.values()) - {name})
    assert names["classic"] in ottla("group", "list").stdout.decode()
    assert names["classic"] not in ottla("group", "list", "--state", "Stable").stdout.decode()
    admin = AdminClient({"bootstrap.servers": broker.bootstrap})
    theirs = {g.group_id for g in admin.list_consumer_groups().result(TIMEOUT_S).valid}
    assert {item["group"] for item in document(ottla("group", "list", "--json"))} == theirs


def test_offsets_are_reset_only_with_execute_and_only_without_members(
    ottla: Ottla, consume: Callable[..., Running], clicks: str, broker: BrokerProcess, tmp_path: Path
) -> None:
    group = f"g-{clicks}"
    running = consume(clicks, "--group", group)
    wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
    reset = ["group", "reset-offsets", group]
    refused = ottla(*reset, "--all-topics", "--to-earliest", "--execute", code=1).stderr.decode()
    assert "stop its consumers" in refused and refused.count("\n") == 1
    assert running.stop() == 130

    dry = ottla(*reset, "--all-topics", "--to-earliest").stdout.decode()
    assert "dry run, nothing was changed" in dry
    assert set(committed_by_confluent(broker, group).values()) == {10}
    done = document(ottla(*reset, "--topic", f"{clicks}:0,1", "--to-offset", "4", "--execute", "--json"))
    assert done["executed"] and [(o["current"], o["new"]) for o in done["offsets"]] == [(10, 4), (10, 4)]
    assert committed_by_confluent(broker, group) == {(clicks, 0): 4, (clicks, 1): 4, (clicks, 2): 10}
    ottla(*reset, "--all-topics", "--shift-by", "-2", "--execute")
    assert committed_by_confluent(broker, group) == {(clicks, 0): 2, (clicks, 1): 2, (clicks, 2): 8}

    plan = tmp_path / "plan.csv"
    plan.write_bytes(ottla(*reset, "--all-topics", "--to-current", "--export").stdout)
    ottla(*reset, "--all-topics", "--to-latest", "--execute")
    assert set(committed_by_confluent(broker, group).values()) == {10}
    ottla(*reset, "--from-file", str(plan), "--execute")
    assert committed_by_confluent(broker, group) == {(clicks, 0): 2, (clicks, 1): 2, (clicks, 2): 8}
    ottla(*reset, "--all-topics", "--by-duration", "PT1H", "--execute")
    assert set(committed_by_confluent(broker, group).values()) == {0}
    ottla(*reset, "--topic", clicks, "--to-datetime", "2100-01-01T00:00:00", "--execute")
    assert set(committed_by_confluent(broker, group).values()) == {10}
    beyond = ottla(*reset, "--topic", f"{clicks}:0", "--to-offset", "99").stdout.decode()
    assert "higher than the latest offset" in beyond
    assert "no partition 7" in ottla(*reset, "--topic", f"{clicks}:7", "--to-latest", code=1).stderr.decode()


def test_a_group_that_does_not_exist_yet_can_be_given_offsets(
    ottla: Ottla, clicks: str, broker: BrokerProcess
) -> None:
    group = f"g-{clicks}"
    ottla("group", "reset-offsets", group, "--topic", clicks, "--to-offset", "7", "--execute")
    assert set(committed_by_confluent(broker, group).values()) == {7}
    assert len(ottla("consume", clicks, "--group", group, "-e").stdout.split()) == 9


def test_groups_and_offsets_are_deleted_unless_they_are_in_use(
    ottla: Ottla, consume: Callable[..., Running], clicks: str, broker: BrokerProcess
) -> None:
    group = f"g-{clicks}"
    running = consume(clicks, "--group", group)
    wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
    assert "stop its consumers" in ottla("group", "delete", group, code=1).stderr.decode()
    in_use = ottla("group", "delete-offsets", group, "--topic", clicks, code=1).stderr.decode()
    assert "stop its consumers" in in_use or "committed nothing" in in_use
    assert running.stop() == 130
    deleted = ottla("group", "delete-offsets", group, "--topic", f"{clicks}:1").stdout.decode()
    assert deleted == f"deleted the offset of {clicks}-1\n"
    assert set(committed_by_confluent(broker, group)) == {(clicks, 0), (clicks, 2)}
    assert ottla("group", "delete", group).stdout.decode() == f"deleted group {group}\n"
    assert state_of(ottla, group) is None
    assert "does not exist" in ottla("group", "delete", group, code=1).stderr.decode()
    ottla("group", "delete", group, "--if-exists")
    missing = ottla("group", "describe", group, code=1).stderr.decode()
    assert missing == f"ottla: group {group} does not exist: see those that do with: ottla group list\n"


def test_the_lag_of_a_deleted_topic_is_unknown(ottla: Ottla, clicks: str, broker: BrokerProcess) -> None:
    group = f"g-{clicks}"
    other = f"{clicks}-other"
    ottla("topic", "create", other, "-p", "1")
    ottla("group", "reset-offsets", group, "--topic", clicks, "--topic", other, "--to-earliest", "--execute")
    ottla("topic", "delete", other)
    rows = {(r["topic"], r["partition"]): r for r in described(ottla, group)["partitions"]}
    assert rows[clicks, 0]["lag"] == 10
    if (other, 0) in rows:  # the broker may have dropped the offsets with the topic, as Kafka does
        assert (rows[other, 0]["end"], rows[other, 0]["lag"]) == (None, None)


def test_the_live_view_repeats_its_table_and_ends_well_on_ctrl_c(
    ottla: Ottla, clicks: str, broker: BrokerProcess, tmp_path: Path
) -> None:
    group = f"g-{clicks}"
    ottla("group", "reset-offsets", group, "--topic", clicks, "--to-earliest", "--execute")
    out = tmp_path / "watched"
    with out.open("wb") as file:
        watching = subprocess.Popen(
            command("group", "describe", group, "--watch", "0.2"),
            stdout=file,
            stderr=subprocess.STDOUT,
            env=environment(broker),
        )
    try:
        wait_until(lambda: out.read_text().count("total") >= 2, "the table comes again", timeout_s=30)
        publish(broker, clicks, range(10, 11))
        lag = re.compile(r"total +3 +33\n")
        wait_until(lambda: lag.search(out.read_text()), "the lag grows", timeout_s=30)
    finally:
        watching.send_signal(signal.SIGINT)
    assert watching.wait(TIMEOUT_S) == 0
    assert "\x1b" not in out.read_text() and "Traceback" not in out.read_text()


def test_the_live_view_redraws_in_place_on_a_terminal(
    ottla: Ottla, clicks: str, broker: BrokerProcess
) -> None:
    group = f"g-{clicks}"
    ottla("group", "reset-offsets", group, "--topic", clicks, "--to-earliest", "--execute")
    master, slave = pty.openpty()
    watching = subprocess.Popen(
        command("group", "describe", group, "-w", "0.2"),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env=environment(broker),
    )
    os.close(slave)
    seen = bytearray()
    os.set_blocking(master, False)

    def drawn(count: int) -> bool:
        with contextlib.suppress(OSError):  # nothing there yet, or the other end has gone
            seen.extend(os.read(master, 65536))
        return seen.count(b"\x1b[H") >= count

    try:
        wait_until(lambda: drawn(3), "three pictures", timeout_s=30)
    finally:
        watching.send_signal(signal.SIGINT)
    assert watching.wait(TIMEOUT_S) == 0
    wait_until(lambda: drawn(0) and seen.endswith(b"\x1b[?25h"), "the cursor comes back", timeout_s=5)
    assert seen.count(b"\x1b[2J") == 1
    os.close(master)


# -- Kafka's tools


def test_kafkas_tool_lists_describes_resets_and_deletes(
    kafka_tool: Callable[..., tuple[str, str]],
    ottla: Ottla,
    consume: Callable[..., Running],
    clicks: str,
    broker: BrokerProcess,
) -> None:
    group = f"g-{clicks}"
    running = consume(clicks, "--group", group, "--protocol", "consumer")
    wait_until(lambda: len(running.lines()) == 30, "all records are printed", timeout_s=30)
    assert group in kafka_tool("consumer-groups", "--list")[0].splitlines()
    listed = kafka_tool("consumer-groups", "--list", "--state", "--type")[0]
    assert re.search(rf"^{group} +Consumer +Stable +$", listed, re.MULTILINE)
    members = kafka_tool("consumer-groups", "--describe", "--group", group, "--members", "--verbose")[0]
    assert f"{clicks}:0,1,2" in members
    active, _ = kafka_tool(
        "consumer-groups", "--reset-offsets", "--group", group, "--all-topics", "--to-earliest", "--execute"
    )
    assert f"Error: Assignments can only be reset if the group '{group}' is inactive" in active
    undeletable, _ = kafka_tool("consumer-groups", "--delete", "--group", group)
    assert f"* Group '{group}' could not be deleted due to: org.apache.kafka" in undeletable
    assert running.stop() == 130

    text, stderr = kafka_tool("consumer-groups", "--describe", "--group", group)
    assert stderr == f"\nConsumer group '{group}' has no active members.\n"
    assert [line.split()[1:6] for line in text.splitlines()[2:]] == [
        [clicks, str(n), "10", "10", "0"] for n in range(3)
    ]
    state = kafka_tool("consumer-groups", "--describe", "--group", group, "--state")[0]
    assert re.search(rf"{group} +127.0.0.1:{broker.port}  \(1\) +\S+ +Empty +0", state)
    scope = ["--reset-offsets", "--group", group, "--topic", f"{clicks}:0"]
    planned, warning = kafka_tool("consumer-groups", *scope, "--to-offset", "0")
    assert planned.splitlines()[2].split() == [group, clicks, "0", "0"] and "--execute" in warning
    exported, _ = kafka_tool("consumer-groups", *scope, "--to-offset", "3", "--execute", "--export")
    assert exported == f"{clicks},0,3\n\n"
    assert committed_by_confluent(broker, group)[clicks, 0] == 3
    removed, _ = kafka_tool("consumer-groups", "--delete-offsets", "--group", group, "--topic", f"{clicks}:0")
    assert removed.startswith(f"Request succeeded for deleting offsets from group {group}.\n")
    deleted, _ = kafka_tool("consumer-groups", "--delete", "--group", group)
    assert deleted == f"Deletion of requested consumer groups ('{group}') was successful.\n"
    missing, _ = kafka_tool("consumer-groups", "--describe", "--group", group)
    assert "GroupIdNotFoundException" in missing


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_kafkas_console_consumer_reads_in_a_group(
    kafka_tool: Callable[..., tuple[str, str]], clicks: str, broker: BrokerProcess, protocol: str
) -> None:
    group = f"g-{clicks}"
    options = ["--group", group, "--from-beginning", "--consumer-property", f"group.protocol={protocol}"]
    first, stderr = kafka_tool("console-consumer", "--topic", clicks, *options, "--max-messages", "12")
    assert len(first.split()) == 12 and stderr == "Processed a total of 12 messages\n"
    include = f"{clicks}(x.*)?"
    rest, _ = kafka_tool("console-consumer", "--include", include, *options, "--timeout-ms", "3000")
    assert sorted(first.split() + rest.split()) == sorted(f"{p}:{n}" for p in range(3) for n in range(10))
    assert set(committed_by_confluent(broker, group).values()) == {10}
