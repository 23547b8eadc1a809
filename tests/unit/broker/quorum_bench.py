"""Several metadata quorums on virtual time, joined by peers that carry real requests to real handlers.

Each node has its disk, its clock and its driver; a request is encoded and decoded as on the wire, and served
by the handler of the controllers' listener. `cut` keeps a node from everybody, `stop` is a kill -9, `start`
goes on with its disk.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ottla.broker.context import RequestContext
from ottla.broker.dispatch import CONTROLLER_TABLE
from ottla.broker.quorum import MetadataQuorum
from ottla.broker.quorum_format import write_first_voters
from ottla.broker.quorum_settings import QuorumSettings
from ottla.broker.settings import NodeSettings
from ottla.log.meta_properties import MetaProperties, write_meta_properties
from ottla.metadata.config import ConfigView
from ottla.metadata.image import EMPTY_IMAGE, ImageDelta, MetadataImage
from ottla.model.server_config import ServerConfig
from ottla.ports.effects import Sleep, Steps, Waiter
from ottla.ports.peers import Address, PeerUnavailable
from ottla.raft.voters import Endpoint, ReplicaKey, VoterNode, VoterSet
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.scheduler import Scheduler
from ottla.wire.framing import decode_request_header, decode_response, encode_request, encode_response
from ottla.wire.messages.index import request_class

CLUSTER_ID = "kVJ8QyD9RDG7Ug8WcqFb7A"


class QuorumNode:
    def __init__(self, bench: QuorumBench, node_id: int, properties: dict[str, str]) -> None:
        self.bench = bench
        self.node_id = node_id
        self.properties = properties
        self.cluster_id = CLUSTER_ID
        self.disk = VirtualDisk()
        self.disk.make_dirs("/data")
        self.format()
        self.clock = VirtualClock(bench.scheduler, boot_ms=1e6 * node_id)
        self.fatal_errors: list[BaseException] = []
        self.published: list[int] = []
        self.events: list[str] = []
        self.address = Address(f"n{node_id}", 9093)
        self.driver: SimDriver | None = None
        self.quorum: MetadataQuorum

    def format(self) -> None:
        self.directory_id = b"\x01" + self.bench.new_number().to_bytes(15, "big")
        write_meta_properties(
            self.disk, "/data", MetaProperties(self.node_id, self.cluster_id, self.directory_id)
        )
        self.disk.sync_dir("/")

    @property
    def voter(self) -> VoterNode:
        endpoint = Endpoint("CONTROLLER", self.address.host, self.address.port)
        return VoterNode(ReplicaKey(self.node_id, self.directory_id), (endpoint,))

    def wipe(self) -> None:
        """Another disk in the place of the old one."""
        self.disk = VirtualDisk()
        self.disk.make_dirs("/data")
        self.format()

    @property
    def up(self) -> bool:
        return self.driver is not None and not self.driver.dead

    def start(self) -> None:
        bench = self.bench
        config = ServerConfig(self.properties)
        self.driver = driver = SimDriver(bench.scheduler, self.clock, on_fatal=self._task_failed)
        self.quorum = MetadataQuorum(
            self.disk,
            self.clock,
            driver,
            "/data",
            self.node_id,
            config=NodeSettings.of(ConfigView(config, EMPTY_IMAGE)).metadata_log,
            publish=self._published,
            fatal=self.fatal_errors.append,
            settings=QuorumSettings.of(config),
            peers=self,
            chance=random.Random(bench.scheduler.random.getrandbits(32)),
            cluster_id=lambda: self.cluster_id,
            on_active=lambda: self.events.append("active"),
            on_inactive=lambda: self.events.append("inactive"),
        )
        self.quorum.open()
        self.quorum.start()

    def _published(self, image: MetadataImage, delta: ImageDelta) -> Steps[None]:
        self.published.append(image.last_offset)
        yield from ()

    def _task_failed(self, name: str, error: BaseException) -> None:
        raise AssertionError(f"task {name} failed") from error

    def stop(self, *, power_loss: bool = True) -> None:
        """A crash."""
        assert self.driver is not None
        self.disk.crash()
        self.driver.kill()
        self.disk = self.disk.restart(self.bench.scheduler.random, power_loss=power_loss)

    # --- the port `Peers`

    def call(
        self, address: Address, request: Any, version: int, *, lane: str, timeout_ms: float
    ) -> Steps[Any]:
        bench = self.bench
        yield Sleep(bench.scheduler.random.random() * 4)
        target = bench.by_address(address)
        if target is None or not target.up or not bench.joined(self, target):
            raise PeerUnavailable(f"{address} is not there")
        # As on the wire: nothing is shared between two nodes.
        frame = b"".join(bytes(part) for part in encode_request(request, version, 1, "peer"))
        decoded, _ = request_class(request.API_KEY).decode(
            memoryview(frame), _body_at(frame), len(frame), version
        )
        waiter = Waiter(self.clock.monotonic_ms() + timeout_ms)
        box: list[Any] = []

        def done(response: Any, error: BaseException | None) -> None:
            if error is None:
                parts = encode_response(response, request.API_KEY, version, 1)
                data = b"".join(bytes(part) for part in parts)
                box.append(decode_response(request.API_KEY, version, data[4:])[1])
            waiter.fire()

        target.serve(decoded, version, done)
        if not (yield waiter) or not box or not bench.joined(self, target):
            raise PeerUnavailable(f"{address} did not answer")
        yield Sleep(bench.scheduler.random.random() * 4)
        return box[0]

    def serve(self, request: Any, version: int, done: Callable[[Any, BaseException | None], None]) -> None:
        driver = self.driver
        assert driver is not None
        node = SimpleNamespace(
            quorum=self.quorum,
            cluster_id=self.cluster_id,
            node_id=self.node_id,
            clock=self.clock,
            peers=self,
            is_controller_listener=lambda name: name == "CONTROLLER",
        )
        peer: Any = SimpleNamespace(listener_name="CONTROLLER", peer_host="peer")
        ctx = RequestContext(node, peer, request.API_KEY, version, 1, "peer")  # type: ignore[arg-type]

        def steps() -> Steps[Any]:
            result = CONTROLLER_TABLE[request.API_KEY].handle(ctx, request)
            if hasattr(result, "send"):
                result = yield from result
            return result

        driver.run(steps(), done)


def _body_at(frame: bytes) -> int:
    _, position = decode_request_header(memoryview(frame)[4:], 0, len(frame) - 4)
    return position + 4


class QuorumBench:
    def __init__(
        self,
        voters: int = 3,
        *,
        observers: int = 0,
        seed: int = 0,
        more: dict[str, str] | None = None,
        joiners: int | None = None,
    ) -> None:
        """With `joiners` the voters are in the log: `voters` to begin with, and so many that may join."""
        self.scheduler = Scheduler(seed)
        self.cut_off: set[int] = set()
        self._number = seed * 1000
        voter_text = ",".join(f"{each}@n{each}:9093" for each in range(1, voters + 1))
        self.nodes: dict[int, QuorumNode] = {}
        servers = ",".join(f"n{each}:9093" for each in range(1, voters + (joiners or 0) + 1))
        for node_id in range(1, voters + observers + (joiners or 0) + 1):
            is_voter = node_id <= voters + (joiners or 0)
            properties = {
                "node.id": str(node_id),
                "process.roles": "controller" if is_voter else "broker",
                "listeners": f"CONTROLLER://n{node_id}:9093" if is_voter else f"PLAINTEXT://n{node_id}:9092",
                "controller.listener.names": "CONTROLLER",
                "controller.quorum.voters": voter_text,
                "log.dirs": "/data",
                **(more or {}),
            }
            if is_voter:
                properties["inter.broker.listener.name"] = "PLAINTEXT"
            if joiners is not None:
                del properties["controller.quorum.voters"]
                properties["controller.quorum.bootstrap.servers"] = servers
            self.nodes[node_id] = QuorumNode(self, node_id, properties)
        if joiners is not None:
            self._write_first_voters(voters)

    def _write_first_voters(self, count: int) -> None:
        first = VoterSet(self.nodes[each].voter for each in range(1, count + 1))
        for node_id in range(1, count + 1):
            write_first_voters(self.nodes[node_id].disk, "/data", first, 0)

    def new_number(self) -> int:
        self._number += 1
        return self._number

    def by_address(self, address: Address) -> QuorumNode | None:
        return next((each for each in self.nodes.values() if each.address == address), None)

    def joined(self, one: QuorumNode, other: QuorumNode) -> bool:
        return one.node_id not in self.cut_off and other.node_id not in self.cut_off

    def start(self) -> None:
        for node in self.nodes.values():
            node.start()

    @property
    def active(self) -> QuorumNode | None:
        found = [
            each
            for each in self.nodes.values()
            if each.up and each.node_id not in self.cut_off and each.quorum.is_active
        ]
        return max(found, key=lambda each: each.quorum.epoch) if found else None

    def until_active(self, *, other_than: int = 0) -> QuorumNode:
        def found() -> bool:
            active = self.active
            return active is not None and active.node_id != other_than

        self.scheduler.run_until(found, within_ms=30_000)
        active = self.active
        assert active is not None
        return active

    def commit(self, node: QuorumNode, records: list[Any]) -> list[BaseException | None]:
        """Begins a commit; the list gets its outcome."""
        outcome: list[BaseException | None] = []
        assert node.driver is not None
        node.driver.run(node.quorum.commit(records), lambda _, error: outcome.append(error))
        return outcome

    def commit_and_wait(self, node: QuorumNode, records: list[Any]) -> BaseException | None:
        outcome = self.commit(node, records)
        self.scheduler.run_until(lambda: bool(outcome), within_ms=30_000)
        return outcome[0]

    def until_all_have(self, offset: int, *, within_ms: float = 30_000) -> None:
        self.scheduler.run_until(
            lambda: all(
                each.quorum.offset >= offset
                for each in self.nodes.values()
                if each.up and each.node_id not in self.cut_off
            ),
            within_ms=within_ms,
        )
