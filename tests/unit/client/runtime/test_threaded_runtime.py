"""The shell for threads, on real sockets: against a real broker, and against peers that misbehave."""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import hostile_peers
import pytest
from hostile_peers import peer

from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Invoke, Pause, Signal, Wait
from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    IllegalState,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
    RequestTimedOut,
)
from ottla.client.runtime import sockets
from ottla.client.session import Session, ThreadedSession
from ottla.client.settings import ClientSettings
from ottla.wire.framing import encode_response
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from support.broker_process import BrokerFactory, BrokerProcess
from support.waiting import wait_until


@contextmanager
def session_at(address: str, **settings: Any) -> Iterator[ThreadedSession]:
    session = Session.threaded(ClientSettings(bootstrap_servers=address, **settings))
    try:
        yield session
    finally:
        began = time.monotonic()
        session.close()
        assert time.monotonic() - began < 5, "close() has to return"


@pytest.fixture
def session(shared_broker: BrokerProcess) -> Iterator[ThreadedSession]:
    with session_at(shared_broker.bootstrap) as made:
        yield made


def unanswered(size_bytes: int) -> ClientSteps[Any]:
    return (yield Call(ANY_BROKER, hostile_peers.large_request(size_bytes), answered=False, version_max=9))


def ask(**options: Any) -> ClientSteps[Any]:
    return (yield Call(ANY_BROKER, MetadataRequest(topics=[]), **options))


def pause(duration_ms: float) -> ClientSteps[str]:
    yield Pause(duration_ms)
    return "rested"


def threads_of_clients() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "ottla-client"]


def in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    """Runs it in a thread; the list gets its result, or its exception."""
    outcome: list[Any] = []

    def work() -> None:
        try:
            outcome.append(function())
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    return thread, outcome


# -- operations --


def test_an_operation_runs_in_the_thread_that_asks_and_starts_no_other(session: ThreadedSession) -> None:
    before = threading.active_count()
    assert len(session.runtime.run(ask()).brokers) == 1
    assert threading.active_count() == before


def test_many_threads_run_operations_at_once(session: ThreadedSession) -> None:
    """One of them drives, the others are told; whoever leaves hands over."""

    def work() -> int:
        return sum(len(session.runtime.run(ask()).brokers) for _ in range(100))

    threads = [in_thread(work) for _ in range(8)]
    for thread, _ in threads:
        thread.join(30)
    assert [outcome for _, outcome in threads] == [[100]] * 8


def test_a_thread_that_waits_takes_over_when_the_one_that_drives_leaves(session: ThreadedSession) -> None:
    go_on = threading.Event()
    started = Signal()

    def first() -> ClientSteps[None]:
        yield Wait(started)

    def second() -> ClientSteps[Any]:
        yield Pause(1)
        started.notify()  # ends the operation of the thread that drives
        yield Pause(50)
        return (yield Call(ANY_BROKER, MetadataRequest(topics=[])))

    one, _ = in_thread(lambda: session.runtime.run(first()))
    wait_until(lambda: session.runtime._driver > 0, "somebody drives")
    two, outcome = in_thread(lambda: session.runtime.run(second()))
    one.join(10)
    two.join(10)
    go_on.set()
    assert len(outcome[0].brokers) == 1


def test_a_spawned_task_goes_on_without_any_thread_of_the_users(session: ThreadedSession) -> None:
    def steps() -> ClientSteps[int]:
        count = 0
        for _ in range(5):
            count += len((yield Call(ANY_BROKER, MetadataRequest(topics=[]))).brokers)
            yield Pause(2)
        return count

    task = session.runtime.spawn(steps(), "t")
    wait_until(lambda: task.done, "the task ends")
    assert task.result() == 5
    assert len(threads_of_clients()) == 1


def test_a_task_that_is_woken_from_outside_goes_on_at_once(session: ThreadedSession) -> None:
    signal_ = Signal()
    seen = threading.Event()

    def steps() -> ClientSteps[None]:
        yield Wait(signal_)
        seen.set()

    session.runtime.spawn(steps(), "t")
    wait_until(lambda: signal_.waiters, "the task waits")
    with session.runtime.lock:
        signal_.notify()
    assert seen.wait(5)


def test_operations_and_tasks_share_the_time(session: ThreadedSession) -> None:
    count = 0

    def steps() -> ClientSteps[None]:
        nonlocal count
        while True:
            yield Call(ANY_BROKER, MetadataRequest(topics=[]))
            count += 1

    session.runtime.spawn(steps(), "t")
    for _ in range(50):
        session.runtime.run(ask())
    assert count >= 20


def test_a_turn_lets_ready_tasks_send_without_waiting(session: ThreadedSession) -> None:
    session.runtime.run(ask())
    reached: list[str] = []

    def inner() -> ClientSteps[None]:
        reached.append("inner")
        yield Pause(1e9)

    def steps() -> ClientSteps[None]:
        session.runtime.spawn(inner(), "inner")
        reached.append("outer")
        yield Pause(1e9)

    with session.runtime.lock:  # the background cannot do it
        session.runtime.spawn(steps(), "outer")
        session.runtime.turn()
        assert reached == ["outer", "inner"]


def test_a_turn_costs_little_when_there_is_nothing_to_do(session: ThreadedSession) -> None:
    session.runtime.run(ask())
    calls = 0
    wait = session.runtime._sockets.wait

    def counted(timeout_s: float) -> Any:
        nonlocal calls
        calls += 1
        return wait(timeout_s)

    session.runtime._sockets.wait = counted  # type: ignore[method-assign]
    began = time.monotonic()
    for _ in range(2000):
        session.runtime.turn()
    elapsed_ms = (time.monotonic() - began) * 1000
    assert calls <= elapsed_ms / 0.5 + 2


def test_an_operation_that_takes_too_long_is_cancelled(session: ThreadedSession) -> None:
    cleaned: list[str] = []

    def steps() -> ClientSteps[None]:
        try:
            yield Pause(60_000)
        finally:
            cleaned.append("up")

    with pytest.raises(OperationTimedOut):
        session.runtime.run(steps(), timeout_ms=30)
    assert cleaned == ["up"]
    assert session.runtime.run(ask()).brokers


def test_an_exception_of_the_operation_is_raised_where_it_was_run(session: ThreadedSession) -> None:
    def steps() -> ClientSteps[None]:
        yield Pause(1)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        session.runtime.run(steps())


def test_an_operation_within_a_tasks_step_is_refused(session: ThreadedSession) -> None:
    def steps() -> ClientSteps[None]:
        session.runtime.run(ask())
        yield Pause(0)

    with pytest.raises(IllegalState, match="within a step"):
        session.runtime.run(steps())


@pytest.mark.parametrize("tasks", [False, True], ids=["alone", "beside tasks"])
def test_threads_that_do_everything_at_once_get_through_and_closing_ends_them(
    shared_broker: BrokerProcess, tasks: bool
) -> None:
    """Roles change hands all the time here: a wake-up that gets lost would hang somebody."""
    for seed in range(4):
        with session_at(shared_broker.bootstrap) as session:
            runtime = session.runtime
            counts = [0] * 4

            def ticker(runtime: Any = runtime) -> ClientSteps[None]:
                while True:
                    yield Pause(1)
                    runtime.later(lambda: None)

            def work(index: int, seed: int = seed, runtime: Any = runtime, counts: Any = counts) -> None:
                random = Random(seed * 100 + index)

                def rest_and_ask() -> ClientSteps[Any]:
                    yield Pause(random.random() * 3)
                    return (yield Invoke(lambda: runtime.run(ask())))

                actions: list[Callable[[], Any]] = [
                    lambda: runtime.run(ask()),
                    lambda: runtime.run(ask()),
                    lambda: runtime.run(rest_and_ask()),
                    lambda: runtime.run(pause(100), timeout_ms=random.random() * 3),
                    runtime.turn,
                    lambda: runtime.run(pause(random.random())),
                    runtime.disconnect if random.random() < 0.3 else runtime.turn,
                ]
                while True:
                    with suppress(OperationTimedOut, BrokerUnavailable):
                        random.choice(actions)()
                    counts[index] += 1

            if tasks:
                runtime.spawn(ticker(), "t")
            threads = [in_thread(lambda index=index: work(index)) for index in range(4)]  # type: ignore[misc]
            wait_until(lambda counts=counts: min(counts) > 20, "everybody gets through")  # type: ignore[misc]
            session.close()
            for thread, outcome in threads:
                thread.join(10)
                assert outcome and isinstance(outcome[0], ClientClosed), outcome


def test_a_thread_that_is_called_hears_it_even_if_another_takes_a_turn_at_once(
    session: ThreadedSession,
) -> None:
    """Who only looks in must not take the call from the one it was meant for."""
    signal_ = Signal()

    def steps() -> ClientSteps[None]:
        yield Wait(signal_)

    for _ in range(50):
        thread, outcome = in_thread(lambda: session.runtime.run(steps()))
        wait_until(lambda: session.runtime._blocked and signal_.waiters, "it waits", pause_s=0.001)
        with session.runtime.lock:
            signal_.notify()
            session.runtime.turn()
        thread.join(5)
        assert outcome == [None]


# -- the user's functions --


def test_a_function_of_the_users_is_called_in_their_thread_and_without_the_lock(
    session: ThreadedSession,
) -> None:
    def can_lock() -> bool:
        if not session.runtime.lock.acquire(timeout=5):
            return False
        session.runtime.lock.release()
        return True

    def listener(word: str) -> tuple[str, int, bool]:
        other, free = in_thread(can_lock)
        other.join(10)
        return word, threading.get_ident(), free[0]

    def steps() -> ClientSteps[Any]:
        return (yield Invoke(listener, ("hello",)))

    assert session.runtime.run(steps()) == ("hello", threading.get_ident(), True)


def test_what_a_function_of_the_users_raises_is_raised_at_the_yield(session: ThreadedSession) -> None:
    def steps() -> ClientSteps[str]:
        try:
            yield Invoke(lambda: 1 / 0)
        except ZeroDivisionError:
            return "caught"
        return "missed"

    assert session.runtime.run(steps()) == "caught"


def test_a_function_of_the_users_may_run_operations(session: ThreadedSession) -> None:
    def steps() -> ClientSteps[Any]:
        return (yield Invoke(lambda: len(session.runtime.run(ask()).brokers)))

    assert session.runtime.run(steps()) == 1


def test_a_function_of_the_users_is_called_in_the_right_thread_while_another_one_drives(
    session: ThreadedSession,
) -> None:
    stop = Signal()

    def long() -> ClientSteps[None]:
        yield Wait(stop)

    def steps() -> ClientSteps[Any]:
        yield Pause(1)
        return (yield Invoke(threading.get_ident))

    driver, _ = in_thread(lambda: session.runtime.run(long()))
    wait_until(lambda: session.runtime._driver > 0, "somebody drives")
    assert session.runtime.run(steps()) == threading.get_ident()
    with session.runtime.lock:
        stop.notify()
    driver.join(10)
    assert not driver.is_alive()


def test_callbacks_come_in_order_one_at_a_time_and_without_the_lock(session: ThreadedSession) -> None:
    order: list[int] = []
    at_once = 0
    running = threading.Lock()

    def callback(number: int) -> None:
        nonlocal at_once
        if not running.acquire(blocking=False):
            at_once += 1
            return
        assert not session.runtime.lock._is_owned()  # type: ignore[attr-defined]
        order.append(number)
        running.release()

    def steps(first: int) -> ClientSteps[None]:
        for number in range(first, first + 50):
            session.runtime.later(lambda number=number: callback(number))  # type: ignore[misc]
            yield Pause(0)

    session.runtime.spawn(steps(0), "t")
    session.runtime.run(steps(1000))
    session.runtime.run(pause(1))
    wait_until(lambda: len(order) == 100, "all callbacks")
    assert at_once == 0
    assert sorted(order[:]) == [*range(50), *range(1000, 1050)]
    assert [n for n in order if n < 1000] == list(range(50))
    assert [n for n in order if n >= 1000] == list(range(1000, 1050))


def test_a_callback_that_raises_is_logged_and_the_next_one_comes(
    session: ThreadedSession, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []
    session.runtime.later(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
    session.runtime.later(lambda: seen.append("next"))
    session.runtime.run(pause(1))
    assert seen == ["next"] and "a callback failed" in caplog.text


def test_a_callback_that_calls_exit_does_not_end_the_background(
    session: ThreadedSession, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[str] = []

    def steps() -> ClientSteps[None]:
        session.runtime.later(sys.exit)
        yield Pause(20)
        session.runtime.later(lambda: seen.append(threading.current_thread().name))

    session.runtime.spawn(steps(), "t")
    wait_until(lambda: bool(seen), "the next callback")
    assert seen == ["ottla-client"] and "to end the client's own thread" in caplog.text


def test_what_gets_no_answer_is_done_when_the_peer_has_taken_it() -> None:
    read = threading.Event()

    def slow(connection: socket.socket) -> None:
        hostile_peers.greet(connection)
        read.wait(20)
        hostile_peers.read_request(connection)

    with peer(slow, receive_buffer_bytes=4096) as address, session_at(address) as session:
        task = session.runtime.spawn(unanswered(8 << 20), "t")
        session.runtime.run(pause(100))
        assert not task.done
        read.set()
        wait_until(lambda: task.done, "the bytes to leave")
        assert task.result() is None


def test_a_callback_may_run_operations_and_close_the_client(shared_broker: BrokerProcess) -> None:
    for where in ("the background", "the user's thread"):
        with session_at(shared_broker.bootstrap) as session:
            seen: list[int] = []

            def callback(session: ThreadedSession = session, seen: list[int] = seen) -> None:
                seen.append(len(session.runtime.run(ask()).brokers))
                session.close()

            def steps(
                session: ThreadedSession = session, callback: Callable[[], None] = callback
            ) -> ClientSteps[None]:
                session.runtime.later(callback)
                yield Pause(0)

            if where == "the background":
                session.runtime.spawn(steps(), "t")
            else:
                session.runtime.run(steps())
            wait_until(lambda seen=seen: seen == [1], "the callback")  # type: ignore[misc]


# -- interruptions --


def interrupt_soon(condition: Callable[[], Any]) -> threading.Thread:
    def work() -> None:
        wait_until(condition, "the operation waits")
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_ctrl_c_cancels_the_operation_and_leaves_the_client_usable(session: ThreadedSession) -> None:
    cleaned: list[str] = []

    def steps() -> ClientSteps[None]:
        try:
            yield Pause(60_000)
        finally:
            cleaned.append("up")

    thread = interrupt_soon(lambda: session.runtime._blocked)
    with pytest.raises(KeyboardInterrupt):
        session.runtime.run(steps())
    thread.join(10)
    assert cleaned == ["up"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert session.runtime.run(ask()).brokers


def test_ctrl_c_in_the_middle_of_a_tasks_step_does_not_end_that_task(session: ThreadedSession) -> None:
    """The main thread drives everybody's tasks: the exception belongs to its operation, not to them."""

    def steps() -> ClientSteps[str]:
        yield Pause(1)
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass  # the signal is noticed here
        yield Pause(1)
        return "survived"

    task = session.runtime.spawn(steps(), "t")
    with pytest.raises(KeyboardInterrupt):
        session.runtime.run(pause(60_000))
    wait_until(lambda: task.done, "the task ends")
    assert task.result() == "survived"


def test_ctrl_c_reaches_a_thread_that_waits_for_another_to_drive(session: ThreadedSession) -> None:
    stop = Signal()

    def long() -> ClientSteps[None]:
        yield Wait(stop)

    driver, _ = in_thread(lambda: session.runtime.run(long()))
    wait_until(lambda: session.runtime._driver > 0, "somebody drives")
    thread = interrupt_soon(lambda: session.runtime._followers)
    with pytest.raises(KeyboardInterrupt):
        session.runtime.run(pause(60_000))
    thread.join(10)
    assert driver.is_alive()
    with session.runtime.lock:
        stop.notify()
    driver.join(10)


def test_a_programs_own_handler_is_left_alone(session: ThreadedSession) -> None:
    class Stop(Exception):
        pass

    def handler(number: int, frame: Any) -> None:
        raise Stop

    before = signal.signal(signal.SIGINT, handler)
    try:
        thread = interrupt_soon(lambda: session.runtime._blocked)
        with pytest.raises(Stop):
            session.runtime.run(pause(60_000))
        thread.join(10)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert session.runtime.run(ask()).brokers


def test_whoever_is_entered_around_waits_can_end_them(session: ThreadedSession) -> None:
    class Stop(Exception):
        pass

    @contextmanager
    def waiting() -> Iterator[None]:
        raise Stop
        yield

    session.runtime.run(ask())
    session.runtime.waiting = waiting
    with pytest.raises(Stop):
        session.runtime.run(ask())
    session.runtime.waiting = None
    assert session.runtime.run(ask()).brokers


# -- the end --


def test_closing_wakes_everybody_who_waits(shared_broker: BrokerProcess) -> None:
    with session_at(shared_broker.bootstrap) as session:
        session.runtime.spawn(pause(60_000), "t")
        waiting = [in_thread(lambda: session.runtime.run(pause(60_000))) for _ in range(3)]
        wait_until(lambda: session.runtime._scheduler.task_count == 4, "all wait")
        session.close()
        for thread, outcome in waiting:
            thread.join(10)
            assert isinstance(outcome[0], ClientClosed)
        wait_until(lambda: not threads_of_clients(), "the background ends")


def test_a_closed_client_says_so(shared_broker: BrokerProcess) -> None:
    with session_at(shared_broker.bootstrap) as session:
        session.runtime.run(ask())
        session.close()
        session.close()
        for use in (
            lambda: session.runtime.run(ask()),
            lambda: session.runtime.spawn(ask(), "t"),
            session.runtime.turn,
        ):
            with pytest.raises(ClientClosed):
                use()


def test_closing_leaves_no_descriptor_open(shared_broker: BrokerProcess) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    gc.collect()
    before = descriptors()
    for task in (False, True):
        with session_at(shared_broker.bootstrap) as session:
            if task:
                session.runtime.spawn(pause(1e9), "t")
            session.runtime.run(ask())
            assert descriptors() > before
        wait_until(lambda: descriptors() == before, "all descriptors closed")


def test_a_client_that_nobody_holds_any_more_is_collected_with_its_thread(
    shared_broker: BrokerProcess,
) -> None:
    session: ThreadedSession | None = Session.threaded(
        ClientSettings(bootstrap_servers=shared_broker.bootstrap)
    )
    assert session is not None
    session.runtime.spawn(pause(1e9), "t")
    session.runtime.run(ask())
    gone = weakref.ref(session.runtime)
    session = None

    def collected() -> bool:
        gc.collect()
        return gone() is None and not threads_of_clients()

    wait_until(collected, "the client is collected")


def test_a_program_that_leaves_its_client_open_ends(shared_broker: BrokerProcess) -> None:
    program = f"""
from ottla.client.effects import Pause
from ottla.client.session import Session
from ottla.client.settings import ClientSettings
session = Session.threaded(ClientSettings(bootstrap_servers="{shared_broker.bootstrap}"))
def steps():
    while True:
        yield Pause(1)
session.runtime.spawn(steps(), "t")
session.runtime.run(session.cluster.refresh(()))
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_a_forked_child_is_told_to_make_its_own_client(session: ThreadedSession) -> None:
    session.runtime.spawn(pause(1e9), "t")
    session.runtime.run(ask())
    child = os.fork()
    if child == 0:
        code = 1
        try:
            with session.runtime.lock:
                session.runtime.run(ask())
        except IllegalState as error:
            code = 0 if "before a fork" in str(error) else 2
            session.runtime.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert session.runtime.run(ask()).brokers  # the parent's connections were left alone


# -- peers --


def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with (
        session_at(address) as session,
        pytest.raises(BrokerUnavailable, match="Connection refused") as caught,
    ):
        session.runtime.run(session.cluster.ask_anyone(MetadataRequest(topics=[])))
    assert caught.value.address == address and caught.value.unsent


def patience(error: type[OttlaError]) -> dict[str, Any]:
    """Only who says nothing is given up soon: an answer of the others may come late on a busy machine."""
    return {"request_timeout_ms": 300} if error is RequestTimedOut else {}


@pytest.mark.parametrize(
    ("behave", "error", "says"),
    [
        (hostile_peers.close_at_once, BrokerUnavailable, "closed the connection|reset"),
        (hostile_peers.close_in_mid_frame, BrokerUnavailable, "closed the connection|reset"),
        (hostile_peers.say_nothing, RequestTimedOut, "did not answer"),
        (hostile_peers.greet_and_say_nothing, RequestTimedOut, "did not answer"),
        (hostile_peers.talk_garbage, ProtocolError, "cannot be read"),
        (hostile_peers.answer_another_request, ProtocolError, "999999|cannot be read"),
        (hostile_peers.talk_http, ProtocolError, "web server"),
        (hostile_peers.talk_tls, ProtocolError, "TLS"),
        (hostile_peers.announce_a_huge_frame, ProtocolError, "does not speak"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_peer_that_misbehaves_is_an_error_that_names_it(
    behave: hostile_peers.Behaviour, error: type[OttlaError], says: str
) -> None:
    with peer(behave) as address, session_at(address, **patience(error)) as session:
        with pytest.raises(error, match=says) as caught:
            session.runtime.run(ask())
        assert address in str(caught.value)


def test_a_large_request_to_a_slow_reader_arrives_whole() -> None:
    arrived: list[int] = []

    def behave(connection: socket.socket) -> None:
        hostile_peers.greet(connection)
        api_key, version, correlation_id, frame = hostile_peers.read_request(connection)
        arrived.append(len(frame))
        answer = MetadataResponse(cluster_id="x" * 100)
        connection.sendall(b"".join(encode_response(answer, api_key, version, correlation_id)))
        hostile_peers.until_gone(connection)

    names = [MetadataRequestTopic(name=f"{number:0200d}") for number in range(20_000)]

    def steps() -> ClientSteps[Any]:
        return (yield Call(ANY_BROKER, MetadataRequest(topics=names)))

    with peer(behave, receive_buffer_bytes=8192) as address, session_at(address) as session:
        assert session.runtime.run(steps()).cluster_id == "x" * 100
    assert arrived[0] > 20_000 * 200


def test_a_name_is_looked_up_beside_the_loop(
    shared_broker: BrokerProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[tuple[str, str]] = []
    real = sockets.look_up

    def look_up(address: Any) -> Any:
        looked_up.append((address.host, threading.current_thread().name))
        return real(address._replace(host="localhost"))

    monkeypatch.setattr(sockets, "look_up", look_up)
    with session_at(f"broker.test:{shared_broker.port}") as session:
        assert session.runtime.run(ask()).brokers
    assert looked_up == [("broker.test", "ottla-resolve-broker.test")]


def test_localhost_reaches_a_broker_that_listens_on_one_of_its_addresses(
    shared_broker: BrokerProcess,
) -> None:
    with session_at(f"localhost:{shared_broker.port}") as session:
        assert session.runtime.run(ask()).brokers


def test_a_broker_that_restarts_is_found_again(start_broker: BrokerFactory) -> None:
    broker = start_broker()
    with session_at(broker.bootstrap) as session:
        session.runtime.run(session.cluster.refresh(()))
        broker.kill()
        thread, outcome = in_thread(
            lambda: session.runtime.run(session.cluster.ask_anyone(MetadataRequest(topics=[])))
        )
        broker.start()
        thread.join(30)
        assert outcome[0].brokers[0].port == broker.port
