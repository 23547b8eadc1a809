"""What a handler knows of the request besides its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ottla.broker.node import Node
    from ottla.broker.peer import Peer


class RequestContext:
    """One request: the node that serves it, the peer that sent it, and its header's fields."""

    __slots__ = ("node", "peer", "api_key", "version", "correlation_id", "client_id")

    def __init__(
        self, node: Node, peer: Peer, api_key: int, version: int, correlation_id: int, client_id: str | None
    ) -> None:
        self.node = node
        self.peer = peer
        self.api_key = api_key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
