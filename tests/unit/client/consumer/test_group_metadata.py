"""Who a consumer says it is to a producer's transaction (KIP-447), also after its group has thrown it out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ottla.client.consuming.core import ConsumerCore
from ottla.client.effects import Signal
from ottla.client.membership import Identity
from ottla.testing.client_consumers import consumer_settings
from ottla.testing.client_host import SimSession
from ottla.testing.network import SimNetwork
from ottla.testing.scheduler import Scheduler


def core_of_a_member(member: Any) -> ConsumerCore:
    from collections import Counter

    network = SimNetwork(Scheduler(1))
    settings = consumer_settings(network.scheduler.random, "c", bootstrap_servers="broker:9092", group_id="g")
    core = ConsumerCore(SimSession(network, settings, Counter()), settings)
    assert core.group is not None and isinstance(core.news, Signal)
    core.group.membership = cast(Any, member)
    return core


def test_after_a_loss_it_is_who_it_was_so_that_its_offsets_are_refused() -> None:
    """A TxnOffsetCommit in nobody's name (generation -1) is not checked by the coordinator: records that a
    thrown out member still held would be processed twice."""
    member = SimpleNamespace(identity=Identity("me", 7, None), lost=False)
    core = core_of_a_member(member)
    assert core.group_metadata()[1:3] == (7, "me")
    member.identity, member.lost = Identity("", -1, None), True
    assert core.group_metadata()[1:3] == (7, "me")
    # Once the loss has been told in poll and it has joined again, it is somebody else.
    member.identity, member.lost = Identity("me again", 9, None), False
    assert core.group_metadata()[1:3] == (9, "me again")


def test_who_has_never_joined_is_nobody() -> None:
    core = core_of_a_member(SimpleNamespace(identity=Identity("", -1, None), lost=False))
    assert core.group_metadata()[1:3] == (-1, "")
