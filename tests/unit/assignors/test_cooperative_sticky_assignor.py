"""The client's `cooperative-sticky` assignor (KIP-429): what moves waits until its owner has revoked it."""

from __future__ import annotations

from assignor_groups import members, partition, result, with_history

from ottla.assignors.cooperative_sticky import assign
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import encode_generation


def test_what_moves_to_a_joining_member_is_left_out_of_the_first_round() -> None:
    """KIP-429: round one revokes, round two assigns; nobody loses what it keeps."""
    before = result(C0="T0P0 T0P1 T0P2", C1="T0P3 T0P4 T0P5")
    group = members(C0="T0", C1="T0", C2="T0")
    first = assign({"T0": 6}, with_history(group, before))
    assert first == result(C0="T0P0 T0P1", C1="T0P3 T0P4", C2="")
    second = assign({"T0": 6}, with_history(group, first, generation=2))
    assert second == result(C0="T0P0 T0P1", C1="T0P3 T0P4", C2="T0P2 T0P5")


def test_partitions_of_a_member_that_left_are_given_out_at_once() -> None:
    group = with_history(members(C0="T0", C1="T0"), result(C0="T0P0", C1="T0P1"))
    assert assign({"T0": 4}, group) == result(C0="T0P0 T0P2", C1="T0P1 T0P3")


def test_with_unequal_subscriptions_too_the_old_owner_goes_first() -> None:
    before = result(C0="T0P0 T1P0 T1P1")
    group = members(C0="T0", C1="T0 T1")
    first = assign({"T0": 1, "T1": 2}, with_history(group, before))
    assert first == result(C0="T0P0", C1="")
    assert assign({"T0": 1, "T1": 2}, with_history(group, first, 2)) == result(C0="T0P0", C1="T1P0 T1P1")


def test_a_partition_that_two_members_claim_in_one_generation_is_left_out() -> None:
    """Both have to let it go before either may have it."""
    group = with_history(members(C0="T0", C1="T0"), result(C0="T0P0 T0P1", C1="T0P1 T0P2"))
    first = assign({"T0": 3}, group)
    assert partition("T0P1") not in first["C0"] + first["C1"]


def test_the_generation_of_an_old_subscription_stands_in_its_user_data() -> None:
    """Subscriptions before version 2 have no generation field."""
    stale = Subscription(("T0",), owned=(partition("T0P0"),), user_data=encode_generation(3))
    newer = Subscription(("T0",), owned=(partition("T0P0"),), user_data=encode_generation(4))
    for group, owner in (({"C0": stale, "C1": newer}, "C1"), ({"C0": newer, "C1": stale}, "C0")):
        assert partition("T0P0") in assign({"T0": 2}, group)[owner]


def test_short_user_data_is_an_unknown_generation() -> None:
    group = {
        "C0": Subscription(("T0",), owned=(partition("T0P0"),), user_data=b"\x00"),
        "C1": Subscription(("T0",), owned=(partition("T0P0"),), generation=0),
    }
    assert partition("T0P0") in assign({"T0": 2}, group)["C1"]
