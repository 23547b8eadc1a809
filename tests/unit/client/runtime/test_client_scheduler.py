"""The scheduler: turns at yields, timers, signals, cancelling. The clock is set by hand, nothing waits."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_shell import ManualClock

from ottla.client.effects import (
    ANY_BROKER,
    Call,
    CallMany,
    ClientSteps,
    Invoke,
    Pause,
    Signal,
    Wait,
)
from ottla.client.errors import BrokerUnavailable, ClientClosed, IllegalState
from ottla.client.runtime.pending import CallWaiter, PendingCall
from ottla.client.runtime.scheduler import CANCELLED_TIMERS_MAX, Scheduler
from ottla.client.runtime.task import TaskCancelled
from ottla.wire.messages.metadata import MetadataRequest

CALL = Call(ANY_BROKER, MetadataRequest(topics=[]))


class Calls:
    """Keeps the calls for the test to answer."""

    def __init__(self) -> None:
        self.open: list[PendingCall] = []

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        pending = PendingCall(call, waiter, 0, 0)
        self.open.append(pending)
        return pending


class Rig:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.scheduler = Scheduler(self.clock)
        self.calls = Calls()
        self.scheduler.caller = self.calls

    def go(self, until_ms: float | None = None) -> None:
        if until_ms is not None:
            self.clock.elapsed_ms = until_ms
        self.scheduler.run_timers()
        while self.scheduler.ready:
            self.scheduler.run_ready()
            self.scheduler.run_timers()


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_task_takes_its_first_step_later_and_ends_with_its_result(rig: Rig) -> None:
    taken: list[str] = []

    def steps() -> ClientSteps[int]:
        taken.append("first")
        yield Pause(0)
        return 7

    task = rig.scheduler.spawn(steps(), "t")
    assert not taken
    rig.go()
    assert taken == ["first"] and task.done and task.result() == 7
    assert rig.scheduler.task_count == 0


def test_first_steps_are_taken_in_the_order_of_spawning(rig: Rig) -> None:
    order: list[int] = []

    def steps(number: int) -> ClientSteps[None]:
        order.append(number)
        yield Pause(0)
        order.append(number + 10)

    for number in range(3):
        rig.scheduler.spawn(steps(number), "t")
    rig.go()
    assert order == [0, 1, 2, 10, 11, 12]


def test_a_call_gives_the_response_or_raises_the_error(rig: Rig) -> None:
    def steps() -> ClientSteps[list[Any]]:
        first = yield CALL
        try:
            yield CALL
        except BrokerUnavailable as error:
            return [first, error.address]
        raise AssertionError

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    rig.calls.open[0].answered("response")
    rig.go()
    rig.calls.open[1].failed(BrokerUnavailable("a:1"))
    rig.go()
    assert task.result() == ["response", "a:1"]


def test_many_calls_are_answered_together_each_in_its_place(rig: Rig) -> None:
    def steps() -> ClientSteps[Any]:
        return (yield CallMany([CALL, CALL, CALL]))

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    rig.calls.open[2].answered("c")
    rig.calls.open[0].failed(BrokerUnavailable("a:1"))
    rig.go()
    assert not task.done
    rig.calls.open[1].answered("b")
    rig.go()
    a, b, c = task.result()
    assert isinstance(a.error, BrokerUnavailable) and (b.get(), c.get()) == ("b", "c")


def test_no_calls_at_all_are_answered_at_once(rig: Rig) -> None:
    def steps() -> ClientSteps[Any]:
        return (yield CallMany([]))

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    assert task.result() == []


def test_a_pause_lasts_as_long_as_it_says(rig: Rig) -> None:
    def steps() -> ClientSteps[None]:
        yield Pause(100)

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    assert rig.scheduler.next_timer_ms() == 100
    rig.go(99.9)
    assert not task.done
    rig.go(100)
    assert task.done


def test_a_signal_wakes_everybody_who_waits_now_and_nobody_later(rig: Rig) -> None:
    signal = Signal()

    def steps() -> ClientSteps[bool]:
        return bool((yield Wait(signal, 50)))

    early = [rig.scheduler.start(steps(), "t") for _ in range(2)]
    rig.go()
    signal.notify()
    late = rig.scheduler.start(steps(), "t")
    rig.go()
    assert [task.result() for task in early] == [True, True]
    assert not late.done
    rig.go(50)
    assert late.result() is False
    assert not signal.waiters


def test_a_timer_that_lost_against_its_signal_does_not_wake_the_next_wait(rig: Rig) -> None:
    signal = Signal()

    def steps() -> ClientSteps[list[Any]]:
        return [(yield Wait(signal, 10)), (yield Wait(signal, 100))]

    task = rig.scheduler.start(steps(), "t")
    rig.go(5)
    signal.notify()
    rig.go(5)
    rig.go(50)
    assert not task.done
    rig.go(105)
    assert task.result() == [True, False]


def test_a_wait_without_time_only_lets_the_others_go_first(rig: Rig) -> None:
    def steps() -> ClientSteps[Any]:
        return (yield Wait(Signal(), 0))

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    assert task.result() is False


@pytest.mark.parametrize(
    "effect",
    [CALL, CallMany([CALL, CALL]), Pause(50), Wait(Signal()), Wait(Signal(), 50)],
    ids=["call", "calls", "pause", "wait", "wait with a timeout"],
)
def test_cancelling_ends_a_task_where_it_waits_and_nothing_wakes_it_any_more(rig: Rig, effect: Any) -> None:
    ended: list[str] = []

    def steps() -> ClientSteps[None]:
        try:
            yield effect
            ended.append("went on")
        finally:
            ended.append("cleaned up")

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    task.cancel()
    assert ended == ["cleaned up"] and task.done
    with pytest.raises(TaskCancelled):
        task.result()
    for pending in rig.calls.open:
        pending.answered("late")
    if isinstance(effect, Wait):
        effect.signal.notify()
    rig.go(1000)
    assert ended == ["cleaned up"]
    assert rig.scheduler.task_count == 0


def test_a_task_that_is_ready_can_still_be_cancelled(rig: Rig) -> None:
    taken: list[str] = []

    def steps() -> ClientSteps[None]:
        taken.append("step")
        yield Pause(0)

    task = rig.scheduler.start(steps(), "t")
    task.cancel()
    rig.go()
    assert not taken and task.done


def test_a_task_that_cancels_itself_ends_at_its_next_yield(rig: Rig) -> None:
    trace: list[str] = []

    def steps() -> ClientSteps[None]:
        task.cancel()
        trace.append("goes on to the yield")
        try:
            yield Pause(0)
            trace.append("never")
        finally:
            trace.append("cleaned up")

    task = rig.scheduler.spawn(steps(), "t")
    rig.go()
    assert trace == ["goes on to the yield", "cleaned up"] and task.done


def test_others_are_told_when_a_task_ends(rig: Rig) -> None:
    def short() -> ClientSteps[str]:
        yield Pause(10)
        return "done"

    def waiter() -> ClientSteps[str]:
        while not task.done:
            yield Wait(task.finished)
        return str(task.result())

    task = rig.scheduler.spawn(short(), "t")
    other = rig.scheduler.start(waiter(), "w")
    rig.go()
    rig.go(10)
    assert other.result() == "done"


def test_an_exception_out_of_a_task_is_logged_with_its_name(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def steps() -> ClientSteps[None]:
        yield Pause(0)
        raise ZeroDivisionError

    task = rig.scheduler.spawn(steps(), "the sender")
    with caplog.at_level(logging.ERROR, "ottla.client"):
        rig.go()
    assert "the sender failed" in caplog.text and "ZeroDivisionError" in caplog.text
    with pytest.raises(ZeroDivisionError):
        task.result()


def test_an_exception_out_of_an_operation_is_its_result_and_not_logged(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def steps() -> ClientSteps[None]:
        yield Pause(0)
        raise ZeroDivisionError

    operation = rig.scheduler.start(steps(), "operation")
    rig.go()
    assert isinstance(operation.error, ZeroDivisionError) and not caplog.text


def test_a_task_cannot_call_the_users_functions(rig: Rig) -> None:
    def steps() -> ClientSteps[None]:
        yield Invoke(print)

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    with pytest.raises(IllegalState):
        task.result()


def test_what_is_no_effect_is_thrown_back_at_the_task(rig: Rig) -> None:
    def steps() -> ClientSteps[None]:
        yield "nonsense"  # type: ignore[misc]

    task = rig.scheduler.start(steps(), "t")
    rig.go()
    with pytest.raises(TypeError, match="no effect"):
        task.result()


def test_closing_ends_everybody_with_client_closed(rig: Rig) -> None:
    cleaned: list[int] = []

    def steps(number: int) -> ClientSteps[None]:
        try:
            yield Pause(1e9)
        finally:
            cleaned.append(number)

    tasks = [rig.scheduler.start(steps(number), "t") for number in range(3)]
    rig.go()
    rig.scheduler.close()
    assert cleaned == [0, 1, 2]
    for task in tasks:
        with pytest.raises(ClientClosed):
            task.result()
    with pytest.raises(ClientClosed):
        rig.scheduler.start(steps(9), "t")


def test_a_task_that_fails_while_it_is_cancelled_does_not_keep_the_others_from_it(
    rig: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    def bad() -> ClientSteps[None]:
        try:
            yield Pause(1e9)
        finally:
            raise ZeroDivisionError

    def good() -> ClientSteps[None]:
        yield Pause(1e9)

    tasks = [rig.scheduler.spawn(bad(), "bad"), rig.scheduler.spawn(good(), "good")]
    rig.go()
    rig.scheduler.close()
    assert all(task.done for task in tasks)
    assert "bad failed while it was cancelled" in caplog.text


def test_two_tasks_that_keep_waking_each_other_do_not_keep_the_shell_from_its_sockets(rig: Rig) -> None:
    ping, pong = Signal(), Signal()
    count = 0

    def steps(mine: Signal, other: Signal) -> ClientSteps[None]:
        nonlocal count
        while True:
            count += 1
            other.notify()
            yield Wait(mine)

    rig.scheduler.spawn(steps(ping, pong), "a")
    rig.scheduler.spawn(steps(pong, ping), "b")
    rig.scheduler.run_ready()
    assert 0 < count < 100


def test_cancelled_timers_do_not_pile_up(rig: Rig) -> None:
    signal = Signal()
    woken = 0

    def steps() -> ClientSteps[None]:
        nonlocal woken
        while True:
            yield Wait(signal, 1e9)
            woken += 1

    rig.scheduler.spawn(steps(), "t")
    rounds = 5 * CANCELLED_TIMERS_MAX
    for _ in range(rounds):
        rig.go()
        signal.notify()
    rig.go()
    assert woken == rounds
    assert len(rig.scheduler._timers) <= 2 * CANCELLED_TIMERS_MAX


def test_the_shell_is_told_of_work_and_of_a_timer_before_the_others() -> None:
    ready: list[str] = []
    timers: list[float] = []
    scheduler = Scheduler(ManualClock(), on_ready=lambda: ready.append("ready"), on_timer=timers.append)

    def steps() -> ClientSteps[None]:
        yield Pause(1)

    scheduler.start(steps(), "a")
    scheduler.start(steps(), "b")
    assert ready == ["ready"]  # there was work already when the second came
    for at_ms in (50.0, 80.0, 20.0):
        scheduler.timer(at_ms, lambda: None)
    assert timers == [50.0, 20.0]


@given(st.lists(st.tuples(st.floats(0, 1000), st.booleans()), max_size=60), st.floats(0, 1000))
def test_timers_fire_in_their_order_and_those_that_were_cancelled_never(
    plan: list[tuple[float, bool]], until_ms: float
) -> None:
    clock = ManualClock()
    scheduler = Scheduler(clock)
    fired: list[float] = []
    timers = [scheduler.timer(at_ms, lambda at_ms=at_ms: fired.append(at_ms)) for at_ms, _ in plan]
    for timer, (_, cancelled) in zip(timers, plan, strict=True):
        if cancelled:
            timer.cancel()
    live = sorted(at_ms for at_ms, cancelled in plan if not cancelled)
    clock.elapsed_ms = until_ms
    scheduler.run_timers()
    assert fired == [at_ms for at_ms in live if at_ms <= until_ms]
    left = [at_ms for at_ms in live if at_ms > until_ms]
    assert scheduler.next_timer_ms() == (left[0] if left else None)
