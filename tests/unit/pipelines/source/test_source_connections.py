"""Clients are made once for a process, and not shared with a child."""

from __future__ import annotations

import os

import pytest

from ottla.pipelines import connections

SETTINGS = {"bootstrap.servers": "127.0.0.1:1", "linger.ms": "5", "isolation.level": "read_committed"}


def test_the_same_settings_give_the_same_client_and_each_kind_takes_what_it_knows() -> None:
    consumer = connections.simple_consumer(SETTINGS)
    assert connections.simple_consumer(dict(SETTINGS)) is consumer
    assert connections.simple_consumer({**SETTINGS, "linger.ms": "7"}) is consumer
    assert connections.simple_consumer({**SETTINGS, "client.id": "other"}) is not consumer
    assert connections.admin(SETTINGS) is connections.admin(SETTINGS)
    first = connections.producer(SETTINGS)
    assert connections.producer(SETTINGS) is first
    connections.forget("producer", SETTINGS)
    assert connections.producer(SETTINGS) is not first
    connections.forget("producer", SETTINGS)
    connections.forget("producer", SETTINGS)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_does_not_use_its_parents_connections() -> None:
    parents = connections.admin(SETTINGS)
    child = os.fork()
    if child == 0:
        os._exit(0 if connections.admin(SETTINGS) is not parents else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert connections.admin(SETTINGS) is parents
