"""Any change of any partition keeps the rules: who leads, who is in sync, what is never lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from ottla.metadata.image import NO_LEADER, PartitionState, changed_partition
from ottla.metadata.partition_change import Election, PartitionChange
from ottla.metadata.records import decode_record, encode_record

NODES = st.integers(1, 6)
DIRECTORY = bytes(15)


@st.composite
def states(draw: st.DrawFn) -> PartitionState:
    """A state that earlier changes could have left."""
    replicas = tuple(draw(st.lists(NODES, min_size=1, max_size=5, unique=True)))
    isr = tuple(draw(st.lists(st.sampled_from(replicas), unique=True)))
    rest = [each for each in replicas if each not in isr]
    eligible = tuple(draw(st.lists(st.sampled_from(rest), unique=True))) if rest else ()
    leader = draw(st.sampled_from((*isr, NO_LEADER)))
    adding = removing = ()
    if draw(st.booleans()) and len(replicas) > 1:
        removing = tuple(draw(st.lists(st.sampled_from(replicas[1:]), unique=True)))
        staying = [each for each in replicas if each not in removing]
        adding = tuple(draw(st.lists(st.sampled_from(staying), unique=True, max_size=len(staying) - 1)))
    last_known = () if leader != NO_LEADER else draw(st.sampled_from([(), replicas[:1]]))
    return PartitionState(
        replicas=replicas,
        isr=isr,
        leader=leader,
        leader_epoch=3,
        partition_epoch=9,
        directories=tuple(DIRECTORY + bytes([each]) for each in replicas),
        removing_replicas=removing,
        adding_replicas=adding,
        eligible_leader_replicas=eligible,
        last_known_elr=last_known,
    )


@st.composite
def changes(draw: st.DrawFn) -> PartitionChange:
    state = draw(states())
    active = draw(st.sets(NODES))
    change = PartitionChange(
        b"t" * 16,
        0,
        state,
        may_lead=active.__contains__,
        min_insync_replicas=draw(st.integers(1, 4)),
        elr_enabled=draw(st.booleans()),
        election=draw(st.sampled_from(Election)),
        new_directory=lambda node_id: DIRECTORY + bytes([node_id]),
    )
    what = draw(st.sampled_from(["nothing", "broker leaves", "leader reports", "reassign", "unclean stop"]))
    if what == "broker leaves" or what == "unclean stop":
        gone = draw(NODES)
        change.isr = tuple(each for each in state.isr if each != gone)
        active.discard(gone)
        if what == "unclean stop":
            change.unclean_shutdown = {gone}
    elif what == "leader reports" and state.leader != NO_LEADER:
        others = [each for each in state.replicas if each != state.leader and each in active]
        joined = draw(st.lists(st.sampled_from(others), unique=True)) if others else []
        change.isr = (state.leader, *joined)
    elif what == "reassign":
        target = tuple(draw(st.lists(NODES, min_size=1, max_size=4, unique=True)))
        change.removing_replicas = tuple(each for each in state.replicas if each not in target)
        change.adding_replicas = tuple(each for each in target if each not in state.replicas)
        change.replicas = target + change.removing_replicas
    return change


@settings(max_examples=1500, deadline=None)
@given(changes())
def test_every_change_keeps_the_rules(change: PartitionChange) -> None:
    before = change.state
    unclean_stop = set(change.unclean_shutdown)
    record = change.build()
    if record is None:
        return
    read = decode_record(encode_record(record, 29))
    assert read == record
    after = changed_partition(before, read)
    assert after != before._replace(partition_epoch=after.partition_epoch), "a record that changes nothing"

    assert len(set(after.replicas)) == len(after.replicas) == len(after.directories)
    assert after.directories == tuple(DIRECTORY + bytes([each]) for each in after.replicas)
    assert after.replicas
    for some in (after.isr, after.eligible_leader_replicas, after.adding_replicas, after.removing_replicas):
        assert set(some) <= set(after.replicas) and len(set(some)) == len(some)
    assert set(after.isr).isdisjoint(after.eligible_leader_replicas)

    assert after.leader == NO_LEADER or (after.leader in after.isr and change.may_lead(after.leader))
    clean = {*before.isr, *before.eligible_leader_replicas, *change.isr} - unclean_stop
    if after.leader not in (before.leader, NO_LEADER) and after.leader_recovery_state == 0:
        assert after.leader in clean
    if after.leader_recovery_state == 1:
        assert after.isr == (after.leader,)
    elif clean & set(after.replicas):
        assert {*after.isr, *after.eligible_leader_replicas}, "the last clean replica is lost"
    if not change.elr_enabled:
        assert after.isr and not after.eligible_leader_replicas and not after.last_known_elr
    if after.leader != NO_LEADER:
        assert not after.last_known_elr

    assert after.partition_epoch == before.partition_epoch + 1
    assert after.leader_epoch in (before.leader_epoch, before.leader_epoch + 1)
    replicas_left = not set(before.replicas) <= set(after.replicas)
    if after.leader != before.leader or replicas_left or after.leader_recovery_state:
        assert after.leader_epoch > before.leader_epoch
    else:
        assert after.leader_epoch == before.leader_epoch


@settings(max_examples=500, deadline=None)
@given(changes())
def test_a_change_that_was_made_needs_no_second_one(change: PartitionChange) -> None:
    record = change.build()
    after = change.state if record is None else changed_partition(change.state, record)
    if after.leader == NO_LEADER or after.adding_replicas or after.removing_replicas:
        return  # an election that resets the in-sync set may have made a reassignment ready
    again = PartitionChange(
        change.topic_id,
        change.partition_id,
        after,
        may_lead=change.may_lead,
        min_insync_replicas=change.min_insync_replicas,
        elr_enabled=change.elr_enabled,
        election=Election.ONLINE,
        new_directory=change.new_directory,
    )
    assert again.build() is None


@settings(max_examples=500, deadline=None)
@given(changes(), st.booleans())
def test_a_completed_reassignment_has_exactly_the_replicas_that_were_to_stay(
    change: PartitionChange, ready: bool
) -> None:
    wanted = tuple(each for each in change.replicas if each not in change.removing_replicas)
    under_way = bool(change.removing_replicas or change.adding_replicas)
    if ready:
        change.isr = change.replicas
    complete = under_way and bool(wanted) and set(wanted) <= set(change.isr)
    record = change.build()
    after = change.state if record is None else changed_partition(change.state, record)
    if complete:
        assert after.replicas == wanted
        assert not after.adding_replicas and not after.removing_replicas
    elif under_way:
        assert set(after.replicas) >= set(wanted)
        assert after.removing_replicas == change.removing_replicas
