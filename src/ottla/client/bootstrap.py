"""Where to find a cluster: the bootstrap list, and later the addresses that its brokers announce."""

from __future__ import annotations

from ottla.client.effects import ANY_BROKER
from ottla.client.errors import InvalidArgument
from ottla.client.view import Address, ClusterView

DEFAULT_PORT = 9092


def parse_bootstrap(text: str) -> list[Address]:
    """`host:port,host:port`; IPv6 addresses in brackets; a listener name before `://` is allowed."""
    found: list[Address] = []
    for item in text.split(","):
        item = item.strip()
        if not item:
            continue
        address = item.rpartition("://")[2]
        if address.startswith("["):
            host, bracket, rest = address[1:].partition("]")
            port_text = rest.removeprefix(":") if bracket else ""
            well_formed = bool(bracket) and (rest == "" or rest.startswith(":"))
        else:
            host, _, port_text = address.partition(":")
            well_formed = ":" not in port_text
        if port_text == "" and well_formed and not address.endswith(":"):
            port_text = str(DEFAULT_PORT)
        port = int(port_text) if port_text.isascii() and port_text.isdigit() else -1
        if not well_formed or not host or not 0 < port < 65536:
            raise InvalidArgument(f"{item!r} is not a broker's address: write host:port")
        found.append(Address(host, port))
    if not found:
        raise InvalidArgument("the list of bootstrap servers is empty: write host:port[,host:port ...]")
    return found


class Directory:
    """Addresses by node id. The core writes it, the shell reads it."""

    def __init__(self, bootstrap: list[Address]) -> None:
        self.bootstrap = bootstrap
        self._by_node: dict[int, Address] = {}
        self._starting_over = False

    def update(self, view: ClusterView) -> None:
        self._by_node = {node_id: broker.address for node_id, broker in view.brokers.items()}
        self._starting_over = False

    def start_over(self) -> None:
        """Forgets all brokers: until there is an update, only the bootstrap list is asked (KIP-1102)."""
        self._by_node = {}
        self._starting_over = True

    def usable(self, address: Address) -> bool:
        """Whether a connection that is there may be asked as any broker."""
        return not self._starting_over or address in self.bootstrap

    def node_at(self, address: Address) -> int | None:
        """Which node announced this address."""
        for node_id, known in self._by_node.items():
            if known == address:
                return node_id
        return None

    def candidates(self, node_id: int) -> list[Address]:
        """The addresses to try for a node, in order; for ANY_BROKER the known brokers, then the bootstrap
        list (brokers may all have moved since).
        """
        if node_id != ANY_BROKER:
            address = self._by_node.get(node_id)
            return [] if address is None else [address]
        return list(dict.fromkeys([*self._by_node.values(), *self.bootstrap]))

    def __str__(self) -> str:
        return ",".join(str(address) for address in self.bootstrap)
