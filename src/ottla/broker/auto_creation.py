"""Creates topics that somebody asked for and that are not there: a client's, or a coordinator's own.

The controller decides, wherever it is; the topic then has to come into this node's image before anybody can
be told where it is. A topic that is being created for one request is waited for by the others: hundreds of
clients may ask for the same coordinator at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.metadata.image import MetadataImage
from ottla.metadata.topics import automatic_topics
from ottla.model.errors import ErrorCode, KafkaError
from ottla.ports.effects import Steps, Waiter
from ottla.wire.messages.create_topics import CreateTopicsRequest, CreateTopicsResponse

if TYPE_CHECKING:
    from ottla.broker.node import Node

TIMEOUT_MS: Final = 5_000
"""Well below the time for which clients wait: they ask again after the refusal."""

Refusals = dict[str, KafkaError]
"""By topic, why it is not there."""


class _Creation:
    __slots__ = ("refusals", "waiters")

    def __init__(self) -> None:
        self.refusals: Mapping[str, KafkaError] | None = None
        self.waiters: list[Waiter] = []


class AutoCreation:
    def __init__(self, node: Node) -> None:
        self._node = node
        self._under_way: dict[str, _Creation] = {}

    def create(self, names: Sequence[str]) -> Steps[Refusals]:
        """Those that are not refused are in the image afterwards."""
        mine = [name for name in dict.fromkeys(names) if name not in self._under_way]
        others = {name: self._under_way[name] for name in names if name in self._under_way}
        refusals: Refusals = {}
        if mine:
            creation = _Creation()
            self._under_way.update(dict.fromkeys(mine, creation))
            try:
                refusals = yield from self._create(mine)
            finally:
                for name in mine:
                    del self._under_way[name]
                creation.refusals = dict(refusals)
                for waiter in creation.waiters:
                    waiter.fire()
        for name, creation in others.items():
            if creation.refusals is None:
                waiter = Waiter(self._node.clock.monotonic_ms() + 2 * TIMEOUT_MS)
                creation.waiters.append(waiter)
                yield waiter
            found = creation.refusals or {}
            if name in found:
                refusals[name] = found[name]
            elif name not in self._node.image.topics:
                refusals[name] = KafkaError(ErrorCode.REQUEST_TIMED_OUT)
        return refusals

    def _create(self, names: list[str]) -> Steps[Refusals]:
        node = self._node
        deadline_ms = node.clock.monotonic_ms() + TIMEOUT_MS
        request = CreateTopicsRequest(
            topics=automatic_topics(node.config, names), timeout_ms=TIMEOUT_MS, validate_only=False
        )
        try:
            response: CreateTopicsResponse = yield from node.ask_controller(
                request, request.MAX_VERSION, TIMEOUT_MS
            )
        except KafkaError as error:
            return dict.fromkeys(names, error)
        refusals = {
            each.name: KafkaError(ErrorCode(each.error_code), each.error_message or "")
            for each in response.topics
            if each.error_code not in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
        }
        awaited = [name for name in names if name not in refusals]
        left_ms = deadline_ms - node.clock.monotonic_ms()
        if not (yield from node.wait_for_image(lambda image: _has_all(image, awaited), max(left_ms, 0.0))):
            late = KafkaError(ErrorCode.REQUEST_TIMED_OUT, "created, but not yet known here")
            refusals.update({name: late for name in awaited if name not in node.image.topics})
        return refusals


def _has_all(image: MetadataImage, names: Sequence[str]) -> bool:
    return all(name in image.topics for name in names)
