"""Which broker coordinates a group, or a transactional id: asked for, remembered, and asked for anew when it
has moved.

FindCoordinator is sent in its batched form (version 4, KIP-699) where the broker has it, else once per group.
`ask` carries one request to a group's coordinator and tries again over everything that passes: a coordinator
that is loading, has moved, or is not there yet (the first lookup creates `__consumer_offsets`, or
`__transaction_state`). `ask_each` does so for many groups, several in one request where they share it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from ottla.client.cluster import Cluster
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Versioned
from ottla.client.errors import OttlaError, ServerError, UnsupportedVersion
from ottla.model.errors import ErrorCode

R = TypeVar("R")

GROUP_KEY_TYPE: Final = 0
TRANSACTION_KEY_TYPE: Final = 1
NOUNS: Final = {GROUP_KEY_TYPE: "group", TRANSACTION_KEY_TYPE: "transactional id"}
"""What is coordinated, by FindCoordinator's number for it."""

GROUPS_PER_REQUEST_MAX: Final = 200
"""So that no answer about many groups grows without bound."""

MOVED: Final = frozenset({ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE})
"""Errors that say: somebody else coordinates this group now."""


def is_moved(error: OttlaError) -> bool:
    """Whether the coordinator has to be looked up again before the next attempt."""
    return error.code in MOVED if isinstance(error, ServerError) else error.retriable


def chunks(items: Iterable[Any], size: int) -> list[list[Any]]:
    everything = list(items)
    return [everything[at : at + size] for at in range(0, len(everything), size)]


class Coordinators:
    """The coordinators of groups, by group id (or of transactional ids, by `key_type`). An entry stays until
    a request to it fails.
    """

    def __init__(self, cluster: Cluster, key_type: int = GROUP_KEY_TYPE) -> None:
        self._cluster = cluster
        self._key_type = key_type
        self._noun = NOUNS[key_type]
        self._nodes: dict[str, int] = {}

    def forget(self, group: str) -> None:
        self._nodes.pop(group, None)

    def known(self, group: str) -> int | None:
        return self._nodes.get(group)

    def locate(
        self, groups: Sequence[str], *, timeout_ms: float | None = None
    ) -> ClientSteps[dict[str, int | ServerError]]:
        """The node of each group's coordinator, or why there is none; retries until the time is up."""
        refused: dict[str, int | ServerError] = {}

        def attempt() -> ClientSteps[None]:
            missing = [group for group in groups if group not in self._nodes and group not in refused]
            for part in chunks(missing, GROUPS_PER_REQUEST_MAX):
                refused.update((yield from self._look_up(part)))

        yield from self._cluster.retrying(attempt, timeout_ms=timeout_ms)
        return {group: refused.get(group, self._nodes.get(group, -1)) for group in groups}

    def locate_once(self, group: str) -> ClientSteps[int]:
        """One group's coordinator, with a single attempt."""
        if group not in self._nodes:
            refused = yield from self._look_up([group])
            if group in refused:
                raise refused[group]
        return self._nodes[group]

    def _look_up(self, groups: list[str]) -> ClientSteps[dict[str, ServerError]]:
        """Asks once. Raises what may pass; gives what will not (a group id that is not legal)."""
        from ottla.wire.messages.find_coordinator import Coordinator, FindCoordinatorRequest

        versions: list[int] = []

        def build(version: int) -> FindCoordinatorRequest:
            versions.append(version)
            if version >= 4:
                return FindCoordinatorRequest(key_type=self._key_type, coordinator_keys=groups)
            return FindCoordinatorRequest(key=groups[0], key_type=self._key_type)

        response = yield Call(ANY_BROKER, Versioned(FindCoordinatorRequest.API_KEY, build))
        self._cluster.contacted = True
        found: list[Coordinator] = list(response.coordinators)
        if versions[-1] < 4:  # an old broker answers for one group at a time
            found = [_alone(groups[0], response)]
            for group in groups[1:]:
                request = FindCoordinatorRequest(key=group, key_type=self._key_type)
                found.append(_alone(group, (yield Call(ANY_BROKER, request, version_max=3))))
        refused = {
            group: ServerError(
                ErrorCode.UNKNOWN_SERVER_ERROR,
                "the broker's answer leaves it out",
                subject=f"{self._noun} {group}",
            )
            for group in sorted(set(groups).difference(entry.key for entry in found))
        }
        passing: ServerError | None = None
        for entry in found:
            if entry.error_code:
                error = ServerError(
                    entry.error_code, entry.error_message, subject=f"{self._noun} {entry.key}"
                )
                if error.retriable:
                    passing = error
                else:
                    refused[entry.key] = error
                continue
            if entry.node_id not in self._cluster.view.brokers:
                yield from self._cluster.refresh(())
            if entry.node_id not in self._cluster.view.brokers:
                passing = ServerError(
                    ErrorCode.COORDINATOR_NOT_AVAILABLE, subject=f"{self._noun} {entry.key}"
                )
                continue
            self._nodes[entry.key] = entry.node_id
        if passing is not None:
            raise passing
        return refused

    def ask(
        self,
        group: str,
        request: Any,
        *,
        check: Callable[[Any], None] = lambda response: None,
        timeout_ms: float | None = None,
        **call: Any,
    ) -> ClientSteps[Any]:
        """One request to the group's coordinator. `check` raises the ServerError that a response carries as a
        whole; those that may pass are retried, the others are the caller's.
        """

        def attempt() -> ClientSteps[Any]:
            response = yield from self.ask_once(group, request, **call)
            check(response)
            return response

        def guarded() -> ClientSteps[Any]:
            try:
                return (yield from attempt())
            except OttlaError as error:
                if is_moved(error):
                    self.forget(group)
                raise

        return (yield from self._cluster.retrying(guarded, timeout_ms=timeout_ms))

    def ask_each(
        self,
        groups: Sequence[str],
        ask: Callable[[int, list[str]], ClientSteps[dict[str, R | OttlaError]]],
    ) -> ClientSteps[dict[str, R | OttlaError]]:
        """Runs `ask(node id, groups)` for the groups of each coordinator; groups whose coordinator has moved
        meanwhile are looked up and asked about again.
        """
        results: dict[str, R | OttlaError] = {}

        def attempt() -> ClientSteps[None]:
            open_groups = [group for group in groups if group not in results]
            by_node: dict[int, list[str]] = {}
            for group, node in (yield from self.locate(open_groups)).items():
                if isinstance(node, ServerError):
                    results[group] = node
                else:
                    by_node.setdefault(node, []).append(group)
            moved: OttlaError | None = None
            for node_id, owned in by_node.items():
                for part in chunks(owned, GROUPS_PER_REQUEST_MAX):
                    try:
                        answers = yield from ask(node_id, part)
                    except UnsupportedVersion:
                        raise
                    except OttlaError as error:
                        if not error.retriable:
                            raise
                        answers = dict.fromkeys(part, error)
                    for group, answer in answers.items():
                        if isinstance(answer, OttlaError) and answer.retriable:
                            if not isinstance(answer, ServerError) or answer.code in MOVED:
                                self.forget(group)
                            moved = answer
                        else:
                            results[group] = answer
            if moved is not None:
                raise moved

        yield from self._cluster.retrying(attempt)
        return results

    def ask_once(self, group: str, request: Any, **call: Any) -> ClientSteps[Any]:
        """One request to the group's coordinator with a single attempt; forgets one that cannot be
        reached."""
        node_id = yield from self.locate_once(group)
        try:
            return (yield Call(node_id, request, **call))
        except OttlaError as error:
            if error.retriable:
                self.forget(group)
            raise


def _alone(group: str, response: Any) -> Any:
    """The answer about one group in the form that batches have."""
    from ottla.wire.messages.find_coordinator import Coordinator

    return Coordinator(
        key=group,
        node_id=response.node_id,
        host=response.host,
        port=response.port,
        error_code=response.error_code,
        error_message=response.error_message,
    )
