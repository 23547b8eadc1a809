"""What the parts of administration share: how a request reaches one broker, every leader, or the controller
in pieces.

Administration is split by noun (`admin_topics.py`, `admin_acls.py`, ...), each a class of operations over
effects; `admin.py` puts them together. This is their common base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeVar

from ottla.client.admin_results import Results
from ottla.client.cluster import MISSING_TOPIC, Cluster
from ottla.client.coordinator import Coordinators, chunks
from ottla.client.effects import Answer, Call, CallMany, ClientSteps, Pause, Request, Versioned
from ottla.client.errors import OttlaError, ProtocolError, ServerError, UnsupportedVersion, raise_for
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

K = TypeVar("K")
V = TypeVar("V")

ADMIN_TIMEOUT_MS: Final = 30_000
"""How long the controller may take over a request, when the caller says nothing else."""

ITEMS_PER_REQUEST_MAX: Final = 500
"""Topics, resources, ACLs or entities that one request changes: the controller writes each request as one
batch of at most 10,000 records."""

PARTITIONS_PER_REQUEST_MAX: Final = 2_000
"""Partitions that one request speaks of: well below what any broker takes in one."""

AGAIN_AFTER_MS: Final = 100
"""How soon a change that met no controller is sent again; Kafka's `retry.backoff.ms`."""

LED_ELSEWHERE: Final = frozenset(
    {
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.BROKER_NOT_AVAILABLE,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
    }
)
"""Errors that say: somebody else leads this partition now, or the leader is not ready yet."""


def broker_timeout_ms(timeout: float | None) -> int:
    """A caller's timeout in seconds as what the broker is told."""
    return ADMIN_TIMEOUT_MS if timeout is None else max(0, min(int(timeout * 1_000), 2**31 - 1))


def by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for tp in partitions:
        found.setdefault(tp.topic, []).append(tp.partition)
    return found


def of_the_broker(error: Exception | None) -> OttlaError | None:
    """What went wrong with one broker of several; raises what concerns the whole operation: a bug, or an API
    that the brokers do not have.
    """
    if error is None:
        return None
    if not isinstance(error, OttlaError) or isinstance(error, UnsupportedVersion):
        raise error
    return error


class AdminPart:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def _change_each(
        self,
        items: Mapping[K, V],
        build: Callable[[list[tuple[K, V]]], Request | Versioned],
        read: Callable[[Any], Mapping[K, Any]],
        *,
        size_max: int = ITEMS_PER_REQUEST_MAX,
    ) -> ClientSteps[dict[K, Any]]:
        """Changes many things through the controller, some at a time. Those that a quota held back
        (KIP-599) are sent again after the time that the broker names, and those that met no controller.
        """
        found: dict[K, Any] = {}
        deadline_ms = self._cluster.clock.monotonic_ms() + self._cluster.operation_timeout_ms
        for part in chunks(items.items(), size_max):
            left = part
            while left:
                response = yield from self._cluster.ask_controller(build(left))
                outcomes = read(response)
                found.update(outcomes)
                left = [item for item in left if _was_not_tried(outcomes.get(item[0]))]
                if left:
                    wait_ms = max(response.throttle_time_ms, AGAIN_AFTER_MS)
                    if self._cluster.clock.monotonic_ms() + wait_ms > deadline_ms:
                        break
                    yield Pause(wait_ms)
                    yield from self._cluster.discover(())  # the controller may be another one by now
        return found

    def _ask_checked(
        self,
        request: Request | Versioned,
        *,
        controller: bool = False,
        subject: str = "",
        check: Callable[[Any], None] | None = None,
    ) -> ClientSteps[Any]:
        """One request to any broker, or to the controller. Raises the error that the response has as a whole
        (as `check` does); where it says that another node has to be asked, that is done.
        """

        def raise_error(response: Any) -> None:
            raise_for(response.error_code, getattr(response, "error_message", None), subject=subject)

        def attempt() -> ClientSteps[Any]:
            if controller:
                response = yield from self._cluster.ask_controller(request)
            else:
                response = yield from self._cluster.ask_anyone(request)
            try:
                (check or raise_error)(response)
            except ServerError as error:
                if _is_for_another(error):
                    yield from self._cluster.refresh(())
                raise
            return response

        return (yield from self._cluster.retrying(attempt, worth=_is_for_another))

    def _ask_leaders(
        self,
        partitions: Iterable[TopicPartition],
        build: Callable[[Sequence[TopicPartition]], Request | Versioned],
        read: Callable[[Any], Mapping[TopicPartition, V | OttlaError]],
        *,
        once: bool = False,
    ) -> ClientSteps[Results[TopicPartition, V]]:
        """Asks each partition's leader, many partitions in one request. Partitions whose leader has moved or
        cannot be reached are asked about again until the time is up (`once`: are not); then they have the
        last error.
        """
        asked = list(dict.fromkeys(partitions))
        found: dict[TopicPartition, V | OttlaError] = {}
        passing: dict[TopicPartition, OttlaError] = {}

        def attempt() -> ClientSteps[None]:
            left = [tp for tp in asked if tp not in found]
            passing.clear()
            try:
                view = yield from self._cluster.refresh(sorted({tp.topic for tp in left}))
            except OttlaError as error:
                passing.update(dict.fromkeys(left, error))
                raise
            by_leader: dict[int, list[TopicPartition]] = {}
            for tp in left:
                try:
                    by_leader.setdefault(view.leader(tp.topic, tp.partition), []).append(tp)
                except ServerError as error:
                    (passing if _passes(error) else found)[tp] = error
            pieces = [
                (leader, part)
                for leader, owned in by_leader.items()
                for part in chunks(owned, PARTITIONS_PER_REQUEST_MAX)
            ]
            if pieces:
                calls = [Call(leader, build(part)) for leader, part in pieces]
                answers: list[Answer] = yield CallMany(calls)
                for (leader, part), answer in zip(pieces, answers, strict=True):
                    failed = of_the_broker(answer.error)
                    outcomes = {} if failed else read(answer.response)
                    for tp in part:
                        outcome = failed or outcomes.get(tp)
                        if outcome is None:
                            found[tp] = ProtocolError(f"broker {leader} did not answer about {tp}")
                        elif isinstance(outcome, OttlaError) and _passes(outcome):
                            passing[tp] = outcome
                        else:
                            found[tp] = outcome
            if passing and not once:
                raise next(iter(passing.values()))

        if asked:
            try:
                yield from self._cluster.retrying(attempt)
            except OttlaError as error:
                # What is left when the time is up stays with the partitions it concerns; nothing answered at
                # all, or an API that is missing, concerns everything.
                if error not in passing.values() or not self._cluster.contacted:
                    raise
        return Results.of(asked, {**passing, **found})

    def _ask_brokers(
        self, node_ids: Iterable[int], build: Callable[[int], Request | Versioned]
    ) -> ClientSteps[dict[int, Any | OttlaError]]:
        """One request to each broker, all at once: its response, or why there is none."""
        asked = list(dict.fromkeys(node_ids))
        if not self._cluster.view.brokers or any(node not in self._cluster.view.brokers for node in asked):
            yield from self._cluster.discover(())
        known = self._cluster.view.brokers
        there = [node for node in asked if node in known]
        answers: list[Answer] = []
        if there:
            answers = yield CallMany([Call(node, build(node)) for node in there])
        found: dict[int, Any | OttlaError] = {node: no_broker(node, known) for node in asked}
        for node, answer in zip(there, answers, strict=True):
            found[node] = of_the_broker(answer.error) or answer.response
        return found


class CoordinatedPart(AdminPart):
    """A part whose requests go to the coordinators of groups, or of transactional ids."""

    def __init__(self, cluster: Cluster, coordinators: Coordinators) -> None:
        super().__init__(cluster)
        self._coordinators = coordinators

    def _ask_each(
        self,
        names: Iterable[str],
        ask: Callable[[int, list[str]], ClientSteps[dict[str, V | OttlaError]]],
    ) -> ClientSteps[Results[str, V]]:
        """Runs `ask(node id, names)` with each coordinator. What has not passed when the time is up stays
        with the names it concerns.
        """
        asked = list(dict.fromkeys(names))
        last: dict[str, V | OttlaError] = {}

        def remembering(node_id: int, part: list[str]) -> ClientSteps[dict[str, V | OttlaError]]:
            answers = yield from ask(node_id, part)
            last.update(answers)
            return answers

        try:
            last.update((yield from self._coordinators.ask_each(asked, remembering)))
        except OttlaError as error:
            if not error.retriable or not self._cluster.contacted:
                raise
            last.update((name, error) for name in asked if name not in last)
        return Results.of(asked, last)

    def _address(self, node_id: int) -> Address | None:
        broker = self._cluster.view.brokers.get(node_id)
        return broker.address if broker else None


def no_broker(name: int | str, known: Iterable[int]) -> ServerError:
    listed = ", ".join(str(node_id) for node_id in sorted(known)) or "none"
    return ServerError(ErrorCode.INVALID_REQUEST, f"there is no broker {name} (brokers: {listed})")


def _passes(error: OttlaError) -> bool:
    """Whether another attempt may help with a partition."""
    if isinstance(error, ServerError):
        return error.code in LED_ELSEWHERE or (error.retriable and error.code not in MISSING_TOPIC)
    return error.retriable


def _was_not_tried(outcome: object) -> bool:
    return isinstance(outcome, ServerError) and outcome.code in (
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.NOT_CONTROLLER,
    )


def _is_for_another(error: OttlaError) -> bool:
    """Whether an answer says that nothing was done here, because somebody else has to do it."""
    return isinstance(error, ServerError) and error.code in (
        ErrorCode.NOT_CONTROLLER,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    )
