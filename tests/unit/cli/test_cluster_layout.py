"""What `ottla start --brokers` would run, before anything runs."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from ottla.cli.cluster_layout import (
    BadLayout,
    Earlier,
    Ports,
    count_controllers,
    earlier_layout,
    plan_nodes,
    refuse_own_keys,
    replication_defaults,
    row_of_ports,
)
from ottla.cli.cluster_start import LOCK_FILE, format_nodes, free_ports, known_brokers, locked, planned
from ottla.cli.main import cli, run
from ottla.log.meta_properties import read_meta_properties
from ottla.model.server_config import ServerConfig
from ottla.net.disk import OsDisk


def test_ports_come_in_a_row_and_the_controllers_after_the_clients() -> None:
    assert row_of_ports(9092, 4, 3) == Ports((9092, 9093, 9094, 9095), (9096, 9097, 9098))
    with pytest.raises(BadLayout, match="65535 is the last"):
        row_of_ports(65_530, 4, 3)


@pytest.mark.parametrize(("brokers", "controllers"), [(1, 1), (2, 1), (3, 3), (4, 3), (7, 3)])
def test_an_odd_number_of_the_first_nodes_votes(brokers: int, controllers: int) -> None:
    assert count_controllers(brokers, None, Earlier()) == controllers


def test_the_number_of_voters_is_odd_and_stays() -> None:
    assert count_controllers(5, 5, Earlier()) == 5
    with pytest.raises(BadLayout, match="survives no more than 3"):
        count_controllers(5, 4, Earlier())
    with pytest.raises(BadLayout, match="more than the --brokers 3"):
        count_controllers(3, 5, Earlier())
    # A cluster that began with one voter goes on with one: two empty logs could outvote it.
    assert count_controllers(3, None, Earlier(brokers=2, voters=1)) == 1
    with pytest.raises(BadLayout, match="could lose its metadata"):
        count_controllers(3, 3, Earlier(brokers=2, voters=1))
    with pytest.raises(BadLayout, match="--brokers 3 or more"):
        count_controllers(2, None, Earlier(brokers=3, voters=3))


@pytest.mark.parametrize(("brokers", "factor", "min_isr"), [(1, "1", "1"), (2, "2", "1"), (5, "3", "2")])
def test_one_broker_may_fail_where_there_are_three(brokers: int, factor: str, min_isr: str) -> None:
    defaults = replication_defaults(brokers)
    assert defaults["default.replication.factor"] == defaults["offsets.topic.replication.factor"] == factor
    assert defaults["min.insync.replicas"] == defaults["transaction.state.log.min.isr"] == min_isr


def test_every_nodes_properties_are_those_of_a_node_of_one_cluster() -> None:
    settings = {"num.partitions": "7", "min.insync.replicas": "3", "node.id": "99"}
    nodes = plan_nodes("/data", "127.0.0.1", row_of_ports(9092, 4, 3), settings)
    configs = [ServerConfig(node.properties) for node in nodes]
    assert [config.node_id for config in configs] == [1, 2, 3, 4]
    assert [config.is_controller for config in configs] == [True, True, True, False]
    assert {tuple(voter.port for voter in config.voters) for config in configs} == {(9096, 9097, 9098)}
    assert [config.log_dirs for config in configs][3] == ("/data/broker-4",)
    assert {config.get_int("min.insync.replicas") for config in configs} == {3}
    assert {config.get_int("num.partitions") for config in configs} == {7}
    assert [node.address for node in nodes][:2] == ["127.0.0.1:9092", "127.0.0.1:9093"]


def test_controllers_have_an_address_where_brokers_listen_on_every_interface() -> None:
    (node,) = plan_nodes("/data", "0.0.0.0", row_of_ports(9092, 1, 1), {})
    assert node.properties["listeners"] == "PLAINTEXT://0.0.0.0:9092,CONTROLLER://127.0.0.1:9093"
    assert node.properties["controller.quorum.voters"] == "1@127.0.0.1:9093"
    assert node.address == "127.0.0.1:9092"


def test_what_differs_between_nodes_cannot_be_set_for_all() -> None:
    refuse_own_keys(["num.partitions"])
    with pytest.raises(BadLayout, match=r"--set log\.dirs would be the same"):
        refuse_own_keys(["log.dirs"])


def test_a_second_start_finds_its_ports_voters_and_cluster_again(tmp_path: Path) -> None:
    root = str(tmp_path / "cluster")
    nodes = planned(root, 3, "127.0.0.1", 19_000, None, {})
    cluster_id = format_nodes(root, nodes)
    assert planned(root, 3, "127.0.0.1", None, None, {}) == nodes
    assert format_nodes(root, nodes) == cluster_id
    for node in nodes:
        meta = read_meta_properties(OsDisk(), node.properties["log.dirs"])
        assert meta is not None and (meta.node_id, meta.cluster_id) == (node.node_id, cluster_id)
    more = planned(root, 4, "127.0.0.1", None, None, {})
    assert [node.port for node in more] == [9092, 9093, 9094, 9095]
    assert format_nodes(root, more) == cluster_id
    found = {node.node_id: node.properties for node in nodes}
    assert earlier_layout(found) == Earlier(3, 3, Ports((19_000, 19_001, 19_002), (19_003, 19_004, 19_005)))


def test_a_second_start_on_the_same_data_is_refused_before_it_writes_anything(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Else it would take the first one's brokers for its own, and write other properties over theirs."""
    lock = locked(str(tmp_path))
    assert run(cli, ["start", "--brokers", "3", "--port", "0", "--data", str(tmp_path)], "ottla") == 1
    assert "is in use by another ottla start --brokers" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [LOCK_FILE]
    lock.release()
    locked(str(tmp_path)).release()


def test_another_clusters_broker_on_a_wanted_port_is_not_taken_for_ones_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brokers = [SimpleNamespace(node_id=number) for number in (1, 2, 3)]

    class Answering:
        admin = SimpleNamespace(
            describe_cluster=lambda: SimpleNamespace(cluster_id="theirs", brokers=brokers)
        )

        def __init__(self, *args: object, **settings: object) -> None: ...

        def __enter__(self) -> Answering:
            return self

        def __exit__(self, *exc: object) -> None: ...

        def run(self, described: object) -> object:
            return described

    monkeypatch.setattr("ottla.client.blocking.Client", Answering)
    assert known_brokers("127.0.0.1:9092", "theirs") == {1, 2, 3}
    assert known_brokers("127.0.0.1:9092", "ours") == set()


def test_free_ports_are_all_different_and_not_among_those_of_outgoing_connections() -> None:
    """One of those could have the port before the broker does."""
    ports = free_ports("127.0.0.1", 3, 3)
    found = {*ports.clients, *ports.controllers}
    outgoing = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()
    assert len(found) == 6
    assert max(found) < int(outgoing[0])


def test_a_host_that_is_not_here_has_no_free_ports() -> None:
    with pytest.raises(BadLayout, match="cannot listen on"):
        free_ports("192.0.2.1", 1, 1)


@pytest.mark.parametrize(
    ("args", "problem", "code"),
    [
        (["--controllers", "3"], "--controllers goes with --brokers", 2),
        (["--no-restart"], "--no-restart goes with --brokers", 2),
        (["--brokers", "2", "--data", "a", "--data", "b"], "give one --data", 2),
        (["--brokers", "3", "--set", "node.id=7"], "would be the same for every broker", 1),
        (["--brokers", "3", "--port", "65534"], "65535 is the last", 1),
    ],
)
def test_a_wrong_command_line_is_explained(
    args: list[str], problem: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = [] if "--data" in args else ["--data", str(tmp_path)]
    assert run(cli, ["start", *args, *data], "ottla") == code
    error = capsys.readouterr().err
    assert problem in error and error.count("\n") == 1
