"""A cluster as operations see it: its view, kept fresh, and the loop that tries again.

Part of the core: generators over effects, with clock and chance from outside. A call that finds nobody at
all is raised at once as long as nobody has ever answered (the address is probably wrong); once a broker has
answered, lost connections are retried until the deadline (it is probably restarting).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ottla.client import log
from ottla.client.backoff import RETRY_BACKOFF_MS, RETRY_BACKOFF_MS_MAX, Backoff
from ottla.client.bootstrap import Directory
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Pause
from ottla.client.errors import BrokerUnavailable, OttlaError, ServerError
from ottla.client.view import Address, BrokerView, ClusterView
from ottla.model.errors import ErrorCode
from ottla.ports.clock import Clock
from ottla.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse

R = TypeVar("R")

OPERATION_TIMEOUT_MS = 30_000

MISSING_TOPIC = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID})
"""Retriable by Kafka's table, since metadata spreads with a delay; a person who mistyped a name does not
want to wait for that."""


def worth_retrying(error: OttlaError) -> bool:
    """The default rule: what Kafka calls retriable, except for topics that do not exist."""
    return error.retriable and not (isinstance(error, ServerError) and error.code in MISSING_TOPIC)


class Cluster:
    def __init__(self, directory: Directory, clock: Clock, chance: Callable[[], float]) -> None:
        self.directory = directory
        self.clock = clock
        self.chance = chance
        self.view = ClusterView()
        self.contacted = False
        self.operation_timeout_ms: float = OPERATION_TIMEOUT_MS
        """`default.api.timeout.ms`: how long an operation tries that does not say it itself."""
        self.of_controllers = False
        """Whether the addresses are controllers' (`bootstrap.controllers`): then the view has those, and no
        topics, since controllers do not answer Metadata."""
        self.retry_backoff_ms: float = RETRY_BACKOFF_MS
        self.retry_backoff_max_ms: float = RETRY_BACKOFF_MS_MAX

    def retrying(
        self,
        attempt: Callable[[], ClientSteps[R]],
        *,
        timeout_ms: float | None = None,
        worth: Callable[[OttlaError], bool] = worth_retrying,
    ) -> ClientSteps[R]:
        """Runs `attempt()` until it succeeds, fails for good, or the time is up (then the last error)."""
        limit_ms = self.operation_timeout_ms if timeout_ms is None else timeout_ms
        backoff = Backoff(
            self.clock.monotonic_ms() + limit_ms,
            self.chance,
            first_ms=self.retry_backoff_ms,
            max_ms=self.retry_backoff_max_ms,
        )
        while True:
            try:
                return (yield from attempt())
            except OttlaError as error:
                if not worth(error) or (isinstance(error, BrokerUnavailable) and not self.contacted):
                    raise
                wait_ms = backoff.next_wait_ms(self.clock.monotonic_ms())
                if wait_ms is None:
                    raise
            yield Pause(wait_ms)

    def ask_anyone(self, request: Any, *, timeout_ms: float | None = None) -> ClientSteps[Any]:
        """One request to any broker, with retries of lost connections."""

        def attempt() -> ClientSteps[Any]:
            response = yield Call(ANY_BROKER, request)
            self.contacted = True
            return response

        return (yield from self.retrying(attempt, timeout_ms=timeout_ms))

    def refresh(
        self, topics: Sequence[str] | None = None, *, create_missing: bool = False
    ) -> ClientSteps[ClusterView]:
        """Asks once for the brokers and the named topics (None: all of them) and updates the view.

        Errors of single topics stay in the view, where `view.topic(name)` raises them.
        """
        if self.of_controllers:
            return (yield from self._refresh_controllers())
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=create_missing)
        response: MetadataResponse = yield Call(ANY_BROKER, request)
        self.contacted = True
        if response.error_code == ErrorCode.REBOOTSTRAP_REQUIRED:
            log.info("the broker asks to start over from the bootstrap servers")
            self.view = ClusterView(topics=self.view.topics)
            self.directory.start_over()
            response = yield Call(ANY_BROKER, request)
        if response.error_code:
            raise ServerError(response.error_code)
        newer = ClusterView.from_response(response)
        self.view = newer.after(self.view) if topics is None else self.view.merged(newer)
        self.directory.update(self.view)
        return self.view

    def _refresh_controllers(self) -> ClientSteps[ClusterView]:
        from ottla.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

        response: DescribeClusterResponse = yield Call(ANY_BROKER, DescribeClusterRequest(endpoint_type=2))
        self.contacted = True
        if response.error_code:
            raise ServerError(response.error_code, response.error_message)
        nodes = {b.broker_id: BrokerView(b.broker_id, Address(b.host, b.port)) for b in response.brokers}
        self.view = ClusterView(response.cluster_id, response.controller_id, nodes)
        self.directory.update(self.view)
        return self.view

    def discover(
        self,
        topics: Sequence[str] | None,
        *,
        create_missing: bool = False,
        timeout_ms: float | None = None,
        worth: Callable[[OttlaError], bool] = worth_retrying,
    ) -> ClientSteps[ClusterView]:
        """Refreshes until every named topic can be used, or one cannot for good."""

        def attempt() -> ClientSteps[ClusterView]:
            view = yield from self.refresh(topics, create_missing=create_missing)
            for name in topics or ():
                view.topic(name)
            return view

        return (yield from self.retrying(attempt, timeout_ms=timeout_ms, worth=worth))

    def ask_controller(self, request: Any, *, timeout_ms: float | None = None) -> ClientSteps[Any]:
        """One request to the controller, or to the broker that stands for it and forwards."""

        def attempt() -> ClientSteps[Any]:
            if not self.view.brokers:
                yield from self.refresh(())
            known = self.view.controller_id in self.view.brokers
            try:
                response = yield Call(self.view.controller_id if known else ANY_BROKER, request)
            except OttlaError:
                self.view = ClusterView(topics=self.view.topics)  # ask anew who it is before the next attempt
                raise
            return response

        return (yield from self.retrying(attempt, timeout_ms=timeout_ms))
