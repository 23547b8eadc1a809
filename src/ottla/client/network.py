"""The blocking shell: runs the core's generators on sockets, one connection per broker.

It knows nothing of topics or retries. It carries out effects: a call goes to its broker's connection, which
is opened when first needed; many calls are all sent before the first answer is awaited; a pause sleeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeVar

from ottla.client.bootstrap import Directory
from ottla.client.connection import Connection
from ottla.client.conversation import Conversation
from ottla.client.effects import ANY_BROKER, Answer, Call, CallMany, ClientSteps, Pause
from ottla.client.errors import BrokerUnavailable, OttlaError
from ottla.client.view import Address

R = TypeVar("R")


class Network:
    def __init__(
        self,
        directory: Directory,
        *,
        client_id: str,
        software_version: str,
        connect_timeout_ms: int = 10_000,
        request_timeout_ms: int = 30_000,
    ) -> None:
        self._directory = directory
        self._client_id = client_id
        self._software_version = software_version
        self._connect_timeout_ms = connect_timeout_ms
        self._request_timeout_ms = request_timeout_ms
        self._connections: dict[Address, Connection] = {}
        self.waiting: Callable[[], AbstractContextManager[None]] = nullcontext
        """Entered around every wait. Whoever wants to be interrupted raises out of it: then the operation is
        given up where it stood, between two of its steps, and the connections have to be closed, since
        answers may still be on their way.
        """

    def run(self, steps: ClientSteps[R]) -> R:
        """Carries out an operation of the core to its end."""
        result: Any = None
        error: OttlaError | None = None
        while True:
            try:
                effect = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as stop:
                value: R = stop.value
                return value
            result, error = None, None
            try:
                with self.waiting():
                    if isinstance(effect, Call):
                        result = self._call(effect)
                    elif isinstance(effect, CallMany):
                        result = self._call_many(effect)
                    else:
                        assert isinstance(effect, Pause)
                        time.sleep(effect.duration_ms / 1000)
            except OttlaError as failure:
                error = failure

    def connection(self, node_id: int) -> Connection:
        """An open connection to the node, for those who want to see what it agreed on."""
        failures: list[BrokerUnavailable] = []
        candidates = self._directory.candidates(node_id)
        if node_id == ANY_BROKER:  # one that is open serves as well as another
            candidates.sort(key=lambda address: address not in self._connections)
        for address in candidates:
            known = self._connections.get(address)
            if known is not None and not known.closed:
                return known
            try:
                opened = Connection.open(
                    address,
                    Conversation(self._client_id, self._software_version),
                    connect_timeout_ms=self._connect_timeout_ms,
                    request_timeout_ms=self._request_timeout_ms,
                )
            except BrokerUnavailable as failure:
                failures.append(failure)
                continue
            self._connections[address] = opened
            return opened
        if len(failures) == 1:
            raise failures[0]
        if failures:
            raise BrokerUnavailable(",".join(f.address for f in failures), failures[0].reason)
        raise BrokerUnavailable(f"node {node_id}", "its address is not known")

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _call(self, call: Call) -> Any:
        timeout_ms = call.timeout_ms or self._request_timeout_ms
        connection = self.connection(call.node_id)
        connection.send(call, timeout_ms)
        return connection.receive(timeout_ms) if call.answered else None

    def _call_many(self, many: CallMany) -> list[Answer]:
        answers: list[Answer] = []
        waiting: list[tuple[Answer, Connection, int]] = []
        for call in many.calls:
            answer = Answer()
            answers.append(answer)
            timeout_ms = call.timeout_ms or self._request_timeout_ms
            try:
                connection = self.connection(call.node_id)
                connection.send(call, timeout_ms)
            except OttlaError as failure:
                answer.error = failure
                continue
            if call.answered:
                waiting.append((answer, connection, timeout_ms))
        for answer, connection, timeout_ms in waiting:
            try:
                if connection.closed:
                    raise BrokerUnavailable(str(connection.address), "the connection broke")
                answer.response = connection.receive(timeout_ms)
            except OttlaError as failure:
                answer.error = failure
        return answers
