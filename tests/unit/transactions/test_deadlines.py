"""The heap with lazy deletion, against a plain dict."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ottla.transactions.deadlines import Deadlines

ids = st.sampled_from([f"id-{number}" for number in range(6)])
steps = st.one_of(
    st.tuples(st.just("set"), ids, st.integers(0, 20)),
    st.tuples(st.just("discard"), ids, st.just(0)),
    st.tuples(st.just("due"), st.just(""), st.integers(0, 25)),
)


@given(st.lists(steps, max_size=60), st.integers(1, 7))
def test_due_finds_the_earliest_and_knows_whether_there_are_more(
    events: list[tuple[str, str, int]], limit: int
) -> None:
    deadlines = Deadlines()
    model: dict[str, int] = {}
    for what, name, number in events:
        if what == "set":
            deadlines.set(name, number)
            model[name] = number
        elif what == "discard":
            deadlines.discard(name)
            model.pop(name, None)
        else:
            wanted = sorted((time, name) for name, time in model.items() if time < number)
            for _ in range(2):  # looking changes nothing
                found, more = deadlines.due(number, limit)
                assert [model[name] for name in found] == [time for time, _ in wanted[:limit]]
                assert len(set(found)) == len(found)
                assert more == (len(wanted) > limit)
        assert len(deadlines) == len(model)


def test_times_that_come_and_go_do_not_pile_up() -> None:
    deadlines = Deadlines()
    for number in range(10_000):
        deadlines.set("busy", 20_000 - number)
        deadlines.set(f"id-{number}", number)
        deadlines.discard(f"id-{number}")
    assert len(deadlines._heap) < 200
    assert deadlines.due(10**9, 10) == (["busy"], False)
