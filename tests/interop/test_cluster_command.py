"""`ottla start --brokers` and the commands that look at a cluster, on real processes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cluster_command import ClusterCommand
from support.waiting import wait_until

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]


def test_a_cluster_of_one_starts_answers_and_stops_with_one_signal(tmp_path: Path) -> None:
    cluster = ClusterCommand(tmp_path, 1, "--set", "num.partitions=2")
    try:
        cluster.ottla("topic", "create", "clicks")
        document = json.loads(cluster.ottla("cluster", "--json"))
        assert (document["status"], document["partitions"]) == ("well", 2)
    finally:
        code = cluster.stop()
    assert code == 0, cluster.log()
    assert "broker-1 | " in cluster.log()


def test_no_broker_outlives_a_supervisor_that_was_killed(tmp_path: Path) -> None:
    cluster = ClusterCommand(tmp_path, 1)
    pid = cluster.broker_pid(1)
    assert pid is not None
    cluster.kill()
    stat = Path(f"/proc/{pid}/stat")
    wait_until(
        lambda: not stat.exists() or stat.read_text().rpartition(") ")[2][0] == "Z",
        "the broker's end",
        timeout_s=60,
    )


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClusterCommand]:
    cluster = ClusterCommand(tmp_path_factory.mktemp("three"), 3, "--set", "broker.session.timeout.ms=6000")
    yield cluster
    code = cluster.stop()
    assert code == 0, cluster.log()[-4000:]


def test_three_brokers_are_one_cluster(three: ClusterCommand) -> None:
    three.ottla("topic", "create", "spread", "-p", "3")
    wait_until(
        lambda: three.ottla("cluster", "--quiet", code=None).startswith("well"),
        "a well cluster",
        timeout_s=60,
    )
    brokers = json.loads(three.ottla("cluster", "brokers", "--json"))
    assert [(b["id"], b["state"], b["replicas"] >= 3) for b in brokers] == [
        (n, "active", True) for n in (1, 2, 3)
    ]
    quorum = json.loads(three.ottla("cluster", "quorum", "--json"))
    assert sorted(node["role"] for node in quorum["nodes"]) == ["leader", "voter", "voter"]


def test_a_broker_that_is_killed_is_missed_and_comes_back(three: ClusterCommand) -> None:
    three.ottla("topic", "create", "survives", "-p", "3")
    pid = three.broker_pid(2)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: three.broker_pid(2) not in (None, pid), "broker 2 again", timeout_s=60)
    assert "broker-2 ended by SIGKILL" in three.log()
    # Until its session has run out, the dead one counts as there.
    wait_until(lambda: three.log().count("broker-2 | Ottla") == 2, "broker 2 ready again", timeout_s=120)
    wait_until(
        lambda: three.ottla("cluster", "--quiet", code=None).startswith("well"),
        "a well cluster",
        timeout_s=120,
    )
    three.ottla("leader", "elect", "--all")


def test_replicas_move_by_plan(three: ClusterCommand, tmp_path: Path) -> None:
    three.ottla("topic", "create", "moved", "--assignment", "1:2,2:1")
    plan = tmp_path / "plan.json"
    args = ("--topics", "moved", "--brokers", "2,3", "-o", str(plan))
    three.ottla("reassign", "plan", *args)
    assert three.ottla("reassign", "start", str(plan)).endswith("done\n")
    (described,) = json.loads(three.ottla("topic", "describe", "moved", "--json"))
    assert {node for p in described["partitions"] for node in p["replicas"]} == {2, 3}
    assert three.ottla("reassign", "status") == "nothing is being moved\n"
