"""Calls to other nodes over real sockets: order, lanes, overdue answers, large ones."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ottla.broker.driver import AsyncioDriver
from ottla.net.clock import SystemClock
from ottla.net.dialing import SocketDialer
from ottla.net.peers import PeerLinks
from ottla.ports.peers import Address, PeerUnavailable
from ottla.wire.framing import decode_request, decode_request_header, encode_response
from ottla.wire.messages.fetch import FetchableTopicResponse, FetchRequest, FetchResponse, PartitionData
from ottla.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse


class Other:
    """The other end: answers each request with what `answer` gives; None answers nothing."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        self.answer = answer
        self.connections = 0
        self.address = Address("", 0)
        self._writers: list[asyncio.StreamWriter] = []

    async def __aenter__(self) -> Other:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = Address(*self._server.sockets[0].getsockname()[:2])
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.append(writer)
        try:
            while True:
                frame = await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
                header, position = decode_request_header(frame, 0, len(frame))
                request = decode_request(header, frame, position, len(frame))
                response = self.answer(request)
                if response == "close":
                    writer.close()
                    return
                if response is not None:
                    for part in encode_response(
                        response, header.api_key, header.api_version, header.correlation_id
                    ):
                        writer.write(bytes(part))
        except asyncio.IncompleteReadError:
            writer.close()


class Caller:
    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        clock = SystemClock()
        self.driver = AsyncioDriver(loop, clock)
        self.peers = PeerLinks(SocketDialer(loop, self.driver.turn), clock, "node-1")

    async def call(self, address: Address, request: Any, version: int, **how: Any) -> Any:
        answered: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def done(result: Any, error: BaseException | None) -> None:
            if error is not None:
                answered.set_exception(error)
            else:
                answered.set_result(result)

        options = {"lane": "a", "timeout_ms": 10_000.0, **how}
        self.driver.run(self.peers.call(address, request, version, **options), done)
        return await asyncio.wait_for(answered, 20)


def heartbeat(generation: int) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", generation_id=generation, member_id="m")


def test_calls_of_one_lane_share_a_connection_and_get_their_own_answers() -> None:
    async def story() -> None:
        async with Other(lambda request: HeartbeatResponse(error_code=request.generation_id)) as other:
            caller = Caller()
            answers = await asyncio.gather(
                *(caller.call(other.address, heartbeat(number), 4) for number in range(50))
            )
            assert [answer.error_code for answer in answers] == list(range(50))
            assert other.connections == 1
            await caller.call(other.address, heartbeat(1), 4, lane="b")
            assert other.connections == 2
            caller.peers.close()

    asyncio.run(story())


def test_nobody_there_is_said_at_once() -> None:
    async def story() -> None:
        async with Other(lambda request: None) as other:
            address = other.address
        caller = Caller()
        with pytest.raises(PeerUnavailable, match="cannot connect"):
            await caller.call(address, heartbeat(1), 4)

    asyncio.run(story())


def test_an_overdue_answer_ends_the_connection_and_the_next_call_makes_a_new_one() -> None:
    async def story() -> None:
        silent = True
        async with Other(lambda request: None if silent else HeartbeatResponse()) as other:
            caller = Caller()
            with pytest.raises(PeerUnavailable, match="no answer in 50 ms"):
                await caller.call(other.address, heartbeat(1), 4, timeout_ms=50.0)
            silent = False
            await caller.call(other.address, heartbeat(1), 4)
            assert other.connections == 2
            caller.peers.close()

    asyncio.run(story())


def test_a_lost_connection_fails_everything_that_waited_for_it() -> None:
    async def story() -> None:
        async with Other(lambda request: "close" if request.generation_id == 2 else None) as other:
            caller = Caller()
            calls = [caller.call(other.address, heartbeat(number), 4) for number in range(3)]
            results = await asyncio.gather(*calls, return_exceptions=True)
            assert all(isinstance(result, PeerUnavailable) for result in results)

    asyncio.run(story())


def test_a_large_answer_keeps_its_bytes_while_somebody_holds_them() -> None:
    """The buffer is used again only when no view of it is left."""

    def answer(request: FetchRequest) -> FetchResponse:
        filling = bytes([request.max_wait_ms]) * 300_000
        return FetchResponse(
            responses=[
                FetchableTopicResponse(topic_id=bytes(16), partitions=[PartitionData(records=filling)])
            ]
        )

    async def story() -> None:
        async with Other(answer) as other:
            caller = Caller()
            held = []
            for number in range(1, 6):
                response = await caller.call(other.address, FetchRequest(max_wait_ms=number), 17)
                held.append(response.responses[0].partitions[0].records)
                if number > 2:
                    held.pop()
            assert [bytes(each[:3]) for each in held] == [b"\x01\x01\x01", b"\x02\x02\x02"]
            assert [len(each) for each in held] == [300_000, 300_000]
            caller.peers.close()

    asyncio.run(story())
