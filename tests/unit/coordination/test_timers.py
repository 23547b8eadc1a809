"""Timers: one heap with lazy deletion, in time that the test passes in."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from ottla.coordination.outcome import Outcome
from ottla.coordination.timers import Timers


class Bell:
    """Notes which timers were called."""

    def __init__(self) -> None:
        self.rung: list[str] = []

    def of(self, name: str) -> Action:
        return Action(self, name)


class Action:
    def __init__(self, bell: Bell, name: str) -> None:
        self.bell = bell
        self.name = name

    def __call__(self) -> Outcome:
        self.bell.rung.append(self.name)
        return Outcome()


def run(timers: Timers, now_ms: float) -> None:
    while (action := timers.pop_due(now_ms)) is not None:
        action()


def test_timers_come_due_in_the_order_of_their_deadlines() -> None:
    timers, bell = Timers(), Bell()
    for name, deadline_ms in (("c", 30), ("a", 10), ("b", 20)):
        timers.set(name, deadline_ms, bell.of(name))
    assert timers.next_deadline_ms() == 10
    run(timers, 20)
    assert bell.rung == ["a", "b"]
    assert timers.next_deadline_ms() == 30 and len(timers) == 1


def test_a_timer_is_due_at_its_deadline_and_not_before() -> None:
    timers, bell = Timers(), Bell()
    timers.set("a", 10, bell.of("a"))
    assert timers.pop_due(9.999) is None
    run(timers, 10)
    assert bell.rung == ["a"]


def test_equal_deadlines_come_due_in_the_order_in_which_they_were_set() -> None:
    timers, bell = Timers(), Bell()
    for name in ("z", "y", "x"):
        timers.set(name, 10, bell.of(name))
    run(timers, 10)
    assert bell.rung == ["z", "y", "x"]


def test_keys_of_any_kind_may_have_equal_deadlines() -> None:
    """The heap must not come to compare keys."""
    timers, bell = Timers(), Bell()
    timers.set(("session", "g", "m"), 10, bell.of("m"))
    timers.set(("join", "g"), 10, bell.of("j"))
    timers.set(7, 10, bell.of("7"))
    run(timers, 10)
    assert bell.rung == ["m", "j", "7"]


def test_setting_a_timer_again_replaces_deadline_and_action() -> None:
    timers, bell = Timers(), Bell()
    timers.set("a", 10, bell.of("old"))
    timers.set("a", 20, bell.of("later"))
    run(timers, 15)
    assert bell.rung == [] and timers.deadline_of("a") == 20
    timers.set("a", 5, bell.of("earlier"))
    run(timers, 50)
    assert bell.rung == ["earlier"] and len(timers) == 0


def test_moving_keeps_the_action() -> None:
    timers, bell = Timers(), Bell()
    timers.set("a", 10, bell.of("a"))
    assert timers.move("a", 20)
    run(timers, 19)
    assert bell.rung == []
    assert timers.move("a", 12)
    run(timers, 12)
    assert bell.rung == ["a"]


def test_moving_a_timer_that_is_not_there_does_nothing() -> None:
    timers = Timers()
    assert not timers.move("a", 10)
    assert "a" not in timers and timers.deadline_of("a") is None


def test_a_cancelled_timer_never_comes_due() -> None:
    timers, bell = Timers(), Bell()
    timers.set("a", 10, bell.of("a"))
    timers.set("b", 20, bell.of("b"))
    timers.cancel("a")
    timers.cancel("never set")
    assert "a" not in timers and timers.next_deadline_ms() == 20
    run(timers, 30)
    assert bell.rung == ["b"]


def test_what_a_cancelled_timer_left_behind_does_not_ring_its_successor() -> None:
    timers, bell = Timers(), Bell()
    timers.set("a", 10, bell.of("old"))
    timers.cancel("a")
    timers.set("a", 20, bell.of("new"))
    run(timers, 15)
    assert bell.rung == [] and timers.next_deadline_ms() == 20
    run(timers, 20)
    assert bell.rung == ["new"]


def test_a_timer_that_came_due_is_gone_and_may_be_set_again_by_its_action() -> None:
    timers, bell = Timers(), Bell()

    def again() -> Outcome:
        timers.set("a", 20, bell.of("second"))
        return bell.of("first")()

    timers.set("a", 10, again)
    run(timers, 10)
    assert bell.rung == ["first"] and timers.deadline_of("a") == 20
    run(timers, 20)
    assert bell.rung == ["first", "second"]


def test_without_timers_the_next_deadline_is_never() -> None:
    timers, bell = Timers(), Bell()
    assert timers.next_deadline_ms() == inf
    timers.set("a", 10, bell.of("a"))
    timers.clear()
    assert timers.next_deadline_ms() == inf and len(timers) == 0


def test_a_deadline_before_all_others_is_told() -> None:
    timers, bell = Timers(), Bell()
    told: list[float] = []
    timers.on_earlier = told.append
    timers.set("a", 20, bell.of("a"))
    timers.set("b", 30, bell.of("b"))
    timers.set("c", 10, bell.of("c"))
    timers.move("b", 5)
    assert told == [20, 10, 5]


def test_heartbeats_do_not_grow_the_heap() -> None:
    timers, bell = Timers(), Bell()
    for beat in range(1_000):
        for member in range(10):
            timers.set(member, beat + 100, bell.of("x")) if beat == 0 else timers.move(member, beat + 100)
    assert len(timers._heap) == 10


def test_cancelled_timers_do_not_pile_up() -> None:
    timers, bell = Timers(), Bell()
    for number in range(10_000):
        timers.set(number, 1_000_000 + number, bell.of("x"))
        timers.cancel(number)
    assert len(timers._heap) < 100


KEYS = st.integers(0, 4)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), KEYS, st.integers(0, 50)),
        st.tuples(st.just("move"), KEYS, st.integers(0, 50)),
        st.tuples(st.just("cancel"), KEYS, st.just(0)),
        st.tuples(st.just("run"), st.just(0), st.integers(0, 60)),
        st.tuples(st.just("look"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@given(STEPS)
def test_timers_behave_like_a_table_of_deadlines(steps: list[tuple[str, int, int]]) -> None:
    timers, bell = Timers(), Bell()
    table: dict[int, int] = {}
    for step, key, at_ms in steps:
        if step == "set":
            timers.set(key, at_ms, bell.of(str(key)))
            table[key] = at_ms
        elif step == "move":
            assert timers.move(key, at_ms) is (key in table)
            if key in table:
                table[key] = at_ms
        elif step == "cancel":
            timers.cancel(key)
            table.pop(key, None)
        elif step == "look":  # not after every step: looking clears what cancelled timers left behind
            assert timers.next_deadline_ms() == min(table.values(), default=inf)
        else:
            bell.rung.clear()
            run(timers, at_ms)
            due = [each for each, deadline_ms in table.items() if deadline_ms <= at_ms]
            assert sorted(bell.rung) == sorted(map(str, due))
            assert [table[int(name)] for name in bell.rung] == sorted(table[each] for each in due)
            for each in due:
                del table[each]
        assert len(timers) == len(table)
        assert all(timers.deadline_of(each) == table[each] for each in table)
