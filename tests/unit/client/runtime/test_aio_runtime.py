"""The shell for asyncio, on asyncio's own loop and on uvloop: a real broker, and peers that misbehave."""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Any

import hostile_peers
import pytest
from hostile_peers import peer

from ottla.aio.session import AioSession
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Invoke, Pause, Signal, Wait
from ottla.client.errors import (
    BrokerUnavailable,
    ClientClosed,
    OperationTimedOut,
    OttlaError,
    ProtocolError,
    RequestTimedOut,
)
from ottla.client.settings import ClientSettings
from ottla.wire.framing import encode_response
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from support.broker_process import BrokerFactory, BrokerProcess

LOOPS = ["asyncio", *(["uvloop"] if find_spec("uvloop") else [])]

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture(params=LOOPS)
def run(request: pytest.FixtureRequest) -> Run:
    """Runs a coroutine on a new loop, in at most 20 s."""

    def go(main: Coroutine[Any, Any, Any]) -> Any:
        factory = None
        if request.param == "uvloop":
            import uvloop

            factory = uvloop.new_event_loop
        with asyncio.Runner(loop_factory=factory) as runner:
            return runner.run(asyncio.wait_for(main, 20))

    return go


@asynccontextmanager
async def session_at(address: str, **settings: Any) -> AsyncIterator[AioSession]:
    session = AioSession.on_loop(ClientSettings(bootstrap_servers=address, **settings))
    try:
        yield session
    finally:
        await asyncio.wait_for(session.close(), 5)


def ask() -> ClientSteps[Any]:
    return (yield Call(ANY_BROKER, MetadataRequest(topics=[])))


def test_operations_are_awaited_many_at_once(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            answers = await asyncio.gather(*(session.runtime.run(ask()) for _ in range(200)))
            assert [len(answer.brokers) for answer in answers] == [1] * 200

    run(main())


def test_tasks_and_timers_go_on_by_themselves(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            done = asyncio.Event()

            def steps() -> ClientSteps[int]:
                count = 0
                for _ in range(5):
                    yield Pause(2)
                    count += len((yield Call(ANY_BROKER, MetadataRequest(topics=[]))).brokers)
                done.set()
                return count

            task = session.runtime.spawn(steps(), "t")
            await done.wait()
            await asyncio.sleep(0)
            assert task.result() == 5

    run(main())


def test_what_gets_no_answer_is_done_when_the_peer_has_taken_it(run: Run) -> None:
    read = threading.Event()

    def slow(connection: socket.socket) -> None:
        hostile_peers.greet(connection)
        read.wait(20)
        hostile_peers.read_request(connection)

    def unanswered() -> ClientSteps[Any]:
        request = hostile_peers.large_request(8 << 20)
        return (yield Call(ANY_BROKER, request, answered=False, version_max=9))

    async def main(address: str) -> None:
        async with session_at(address) as session:
            sent = asyncio.create_task(session.runtime.run(unanswered()))
            await asyncio.wait([sent], timeout=0.1)
            assert not sent.done()
            read.set()
            assert await asyncio.wait_for(sent, 10) is None

    with peer(slow, receive_buffer_bytes=4096) as address:
        run(main(address))


def test_a_shorter_timer_is_not_held_up_by_a_longer_one(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:

            def steps(duration_ms: float) -> ClientSteps[float]:
                yield Pause(duration_ms)
                return duration_ms

            session.runtime.spawn(steps(60_000), "long")
            await asyncio.sleep(0)
            assert await session.runtime.run(steps(5)) == 5

    run(main())


def test_a_function_of_the_users_is_called_and_a_coroutine_function_awaited(
    run: Run, shared_broker: BrokerProcess
) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:

            async def listener(word: str) -> str:
                brokers = (await session.runtime.run(ask())).brokers
                return f"{word} {len(brokers)}"

            def plain(word: str) -> str:
                return word

            def failing() -> None:
                raise ZeroDivisionError

            def steps() -> ClientSteps[list[Any]]:
                found = [(yield Invoke(listener, ("a",))), (yield Invoke(plain, ("b",)))]
                try:
                    yield Invoke(failing)
                except ZeroDivisionError:
                    found.append("raised")
                return found

            assert await session.runtime.run(steps()) == ["a 1", "b", "raised"]

    run(main())


def test_cancelling_the_awaiting_task_cancels_the_operation(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            trace: list[str] = []

            def steps() -> ClientSteps[None]:
                try:
                    yield Wait(Signal())
                finally:
                    trace.append("cleaned up")

            async def listener() -> None:
                await asyncio.sleep(60)

            def inviting() -> ClientSteps[None]:
                try:
                    yield Invoke(listener)
                finally:
                    trace.append("cleaned up too")

            for operation in (steps(), inviting()):
                task = asyncio.ensure_future(session.runtime.run(operation))
                await asyncio.sleep(0.01)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert trace == ["cleaned up", "cleaned up too"]
            assert (await session.runtime.run(ask())).brokers

    run(main())


def test_an_operation_that_takes_too_long_is_cancelled(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:

            def steps() -> ClientSteps[None]:
                yield Pause(60_000)

            with pytest.raises(OperationTimedOut):
                await session.runtime.run(steps(), timeout_ms=20)

    run(main())


def test_operations_that_need_not_wait_let_other_tasks_run(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            ticks = 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            def steps() -> ClientSteps[int]:
                return 1
                yield

            ticking = asyncio.ensure_future(tick())
            for _ in range(10):
                assert await session.runtime.run(steps()) == 1
            ticking.cancel()
            assert ticks >= 5

    run(main())


def test_callbacks_come_in_order_and_one_that_raises_is_logged(
    run: Run, shared_broker: BrokerProcess, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            seen: list[int] = []
            last = asyncio.Event()
            for number in range(5):
                session.runtime.later(lambda number=number: seen.append(number))  # type: ignore[misc]
            session.runtime.later(lambda: 1 / 0)  # type: ignore[arg-type, return-value]
            session.runtime.later(last.set)
            assert not seen
            await last.wait()
            assert seen == [0, 1, 2, 3, 4]

    run(main())
    assert "a callback failed" in caplog.text


def test_closing_ends_what_is_awaited_with_client_closed(run: Run, shared_broker: BrokerProcess) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:

            def steps() -> ClientSteps[None]:
                yield Wait(Signal())

            waiting = [asyncio.ensure_future(session.runtime.run(steps())) for _ in range(3)]
            await asyncio.sleep(0)
            await session.close()
            await session.close()
            for task in waiting:
                with pytest.raises(ClientClosed):
                    await task
            with pytest.raises(ClientClosed):
                await session.runtime.run(ask())

    run(main())


def test_closing_leaves_no_descriptor_open_and_nothing_to_warn_of(
    run: Run, shared_broker: BrokerProcess
) -> None:
    async def main() -> None:
        async with session_at(shared_broker.bootstrap) as session:
            await session.runtime.run(ask())

    run(main())  # what a loop opens once
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        run(main())
        gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_nobody_listens(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"

    async def main() -> None:
        async with session_at(address) as session:
            with pytest.raises(BrokerUnavailable, match="Connection refused") as caught:
                await session.runtime.run(ask())
            assert caught.value.address == address and caught.value.unsent

    run(main())


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
        (hostile_peers.talk_http, ProtocolError, "web server"),
        (hostile_peers.announce_a_huge_frame, ProtocolError, "does not speak"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_peer_that_misbehaves_is_an_error_that_names_it(
    run: Run, behave: hostile_peers.Behaviour, error: type[OttlaError], says: str
) -> None:
    async def main(address: str) -> None:
        async with session_at(address, **patience(error)) as session:
            with pytest.raises(error, match=says) as caught:
                await session.runtime.run(ask())
            assert address in str(caught.value)

    with peer(behave) as address:
        run(main(address))


def test_a_large_request_to_a_slow_reader_arrives_whole(run: Run) -> None:
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

    async def main(address: str) -> None:
        async with session_at(address) as session:
            assert (await session.runtime.run(steps())).cluster_id == "x" * 100

    with peer(behave, receive_buffer_bytes=8192) as address:
        run(main(address))
    assert arrived[0] > 20_000 * 200


def test_a_broker_that_restarts_is_found_again(run: Run, start_broker: BrokerFactory) -> None:
    broker = start_broker()

    async def main() -> None:
        async with session_at(f"localhost:{broker.port}") as session:
            await session.runtime.run(session.cluster.refresh(()))
            broker.kill()
            asked = asyncio.ensure_future(
                session.runtime.run(session.cluster.ask_anyone(MetadataRequest(topics=[])))
            )
            await asyncio.to_thread(broker.start)
            assert (await asked).brokers[0].port == broker.port

    run(main())
