"""`--data`, `--port` and `--set` over a properties file."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from ottla.cli.server_properties import server_properties, set_port


def test_overrides_win_over_options_and_options_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "server.properties"
    path.write_text("log.dir=/old\nnum.partitions=1\nnode.id=4\n")
    pairs = server_properties(str(path), ["/a", "/b"], 19092, {"num.partitions": "3"})
    assert pairs == {
        "log.dirs": "/a,/b",
        "num.partitions": "3",
        "node.id": "4",
        "listeners": "PLAINTEXT://:19092",
    }


def test_a_port_moves_the_clients_listener_and_leaves_the_controllers() -> None:
    pairs = {
        "listeners": "CONTROLLER://:9093, INSIDE://10.0.0.1:9092",
        "controller.listener.names": "controller",
        "advertised.listeners": "INSIDE://name:9092,OTHER://x:1",
    }
    set_port(pairs, 0)
    assert pairs["listeners"] == "CONTROLLER://:9093,INSIDE://10.0.0.1:0"
    assert pairs["advertised.listeners"] == "INSIDE://name:0,OTHER://x:1"


def test_a_port_keeps_an_ipv6_host() -> None:
    pairs = {"listeners": "PLAINTEXT://[::1]:9092"}
    set_port(pairs, 5)
    assert pairs == {"listeners": "PLAINTEXT://[::1]:5"}


def test_a_node_with_only_a_controller_gets_a_listener_for_clients() -> None:
    pairs = {"listeners": "CONTROLLER://:9093", "controller.listener.names": "CONTROLLER"}
    set_port(pairs, 7)
    assert pairs["listeners"] == "PLAINTEXT://:7,CONTROLLER://:9093"


def test_a_file_that_cannot_be_read_is_one_line_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(click.ClickException, match=r"missing\.properties: No such file"):
        server_properties(str(tmp_path / "missing.properties"), [], None, {})
    bad = tmp_path / "bad.properties"
    bad.write_text("a=\\uZZZZ\n")
    with pytest.raises(click.ClickException, match=r"bad\.properties: line 1"):
        server_properties(str(bad), [], None, {})
