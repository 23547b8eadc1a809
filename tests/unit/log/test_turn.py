"""How long work in slices may hold the loop."""

from __future__ import annotations

from ottla.log.turn import FAIR_TURN_MS_MAX, TURN_MS_MAX, Turn


class Clock:
    def __init__(self) -> None:
        self.at_ms = 1_000.0

    def monotonic_ms(self) -> float:
        return self.at_ms

    def now_ms(self) -> int:
        return int(self.at_ms)


def lasts_ms(turn: Turn, clock: Clock) -> float:
    assert not turn.over()
    began_ms = clock.at_ms
    while not turn.over():
        clock.at_ms += 0.5
    return clock.at_ms - began_ms


def after_a_rest_of(turn: Turn, clock: Clock, rest_ms: float) -> float:
    turn.rest()
    clock.at_ms += rest_ms
    return lasts_ms(turn, clock)


def test_a_turn_lasts_a_millisecond_however_long_the_others_took() -> None:
    clock = Clock()
    turn = Turn(clock)
    assert lasts_ms(turn, clock) == TURN_MS_MAX
    assert after_a_rest_of(turn, clock, 100.0) == TURN_MS_MAX


def test_a_fair_turn_lasts_as_long_as_the_rest_before_it_within_bounds() -> None:
    clock = Clock()
    turn = Turn(clock, fair=True)
    assert lasts_ms(turn, clock) == TURN_MS_MAX
    assert after_a_rest_of(turn, clock, 0.1) == TURN_MS_MAX
    assert after_a_rest_of(turn, clock, 6.0) == 6.0
    assert after_a_rest_of(turn, clock, 500.0) == FAIR_TURN_MS_MAX


def test_a_wait_that_is_no_rest_makes_no_turn_longer() -> None:
    clock = Clock()
    turn = Turn(clock, fair=True)
    lasts_ms(turn, clock)
    turn.begin()
    clock.at_ms += 50.0
    assert lasts_ms(turn, clock) == TURN_MS_MAX
