"""A whole broker in the simulator: the same node, dispatch table and handlers as in production.

`SimBroker` stands where the asyncio server stands: it gives the node its clock, disk, driver and randomness,
and hands it the frames that arrive. It can be started, stopped cleanly, killed (`kill -9`: the page cache
survives) and lose its power (unsynced data is lost), as often as one likes; the disk goes from one life to
the next. A crash planned at a disk operation ends the node in the middle of whatever it was doing.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Final

from ottla.broker.dispatch import Dispatcher
from ottla.broker.node import Node
from ottla.log.meta_properties import BadMetaProperties
from ottla.metadata.image import Endpoint
from ottla.model.listeners import SecurityProtocol
from ottla.model.server_config import ServerConfig
from ottla.testing.cleaning import CleaningInPlace
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import WORST, SimulatedCrash, Survival, VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.network import ServerEnd, SimNetwork
from ottla.testing.scheduler import Scheduler

HOST: Final = "broker"
PORT: Final = 9092

PROPERTIES: Final = {
    "node.id": "1",
    "process.roles": "broker,controller",
    "listeners": f"PLAINTEXT://{HOST}:{PORT},CONTROLLER://{HOST}:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": f"1@{HOST}:9093",
    "log.dirs": "/first,/second",
    "auto.create.topics.enable": "false",
}


class SimBroker:
    """`on_down` in a simulation's hands: `up` tells whether it serves."""

    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        *,
        address: str = HOST,
        properties: Mapping[str, str] | None = None,
        disk: VirtualDisk | None = None,
    ) -> None:
        self.address = address
        self.config = ServerConfig({**PROPERTIES, **(properties or {})})
        self.disk = disk if disk is not None else VirtualDisk()
        self.up = False
        self.fatal_errors: list[BaseException] = []
        self.clock = VirtualClock(scheduler)
        self.node: Node | None = None
        self.driver: SimDriver | None = None
        self._scheduler = scheduler
        self._network = network
        self._dispatcher: Dispatcher | None = None
        self._connections: dict[ServerEnd, None] = {}
        if disk is None:
            for path in self.config.log_dirs:
                self.disk.make_dirs(path)
            self.disk.sync_dir("/")

    # -- its life --

    def start(self) -> bool:
        """Starts a process on the disk as it is; False when a planned crash ended it before it served."""
        assert not self.up, "the broker is up"
        self.clock.boot_ms = self._scheduler.random.random() * 1e7
        driver = SimDriver(self._scheduler, self.clock, on_fatal=self._task_failed, on_crash=self._crashed)
        self.driver = driver
        node = Node(
            self.config,
            clock=self.clock,
            disk=self.disk,
            chance=random.Random(self._scheduler.random.getrandbits(64)),
            driver=driver,
            fatal=self._fatal,
            cleaning=CleaningInPlace(self.disk, self.clock),
        )
        self.node = node
        self._dispatcher = Dispatcher(node)
        self.up = True
        try:
            node.start([Endpoint("PLAINTEXT", HOST, PORT, SecurityProtocol.PLAINTEXT)])
        except SimulatedCrash as crash:
            self._crashed(crash)
            return False
        except (OSError, BadMetaProperties) as error:
            self.fatal_errors.append(error)  # it refuses to start: no crash of an honest disk may do that
            self._down()
            return True
        self._network.listen(self.address, self)
        return True

    def stop(self) -> bool:
        """A clean shutdown; False when a planned crash came first. `restart` follows."""
        assert self.up and self.node is not None
        try:
            self.node.shutdown()
        except SimulatedCrash as crash:
            self._crashed(crash)
            return False
        self._down()
        return True

    def crash(self) -> None:
        """The process ends, now and without a word. `restart` decides what became of the page cache."""
        if self.up:
            self._down()

    def next_disk(self, *, power_loss: bool, survival: Survival = WORST) -> None:
        """What the next process will find, after `stop`, `crash` or a planned crash."""
        assert not self.up
        self.disk = self.disk.restart(self._scheduler.random, power_loss=power_loss, survival=survival)

    def _crashed(self, _: SimulatedCrash) -> None:
        self._down()

    def _down(self) -> None:
        self.up = False
        self._network.stop_listening(self.address)
        self.disk.crash()
        assert self.driver is not None
        self.driver.kill()
        connections, self._connections = self._connections, {}
        for connection in connections:
            connection.crashed()

    def _task_failed(self, name: str, error: BaseException) -> None:
        self._fatal(AssertionError(f"background task {name!r}: {error!r}"))

    def _fatal(self, error: BaseException) -> None:
        """A real process would end here; it is for the simulation to say whether that was right."""
        self.fatal_errors.append(error)
        self.crash()

    # -- the network's acceptor --

    def accept(self, connection: ServerEnd) -> None:
        self._connections[connection] = None

    def on_frame(self, connection: ServerEnd, frame: memoryview) -> None:
        driver, dispatcher = self.driver, self._dispatcher
        assert driver is not None and dispatcher is not None
        driver.guard(lambda: dispatcher.on_frame(connection, frame))

    def on_closed(self, connection: ServerEnd) -> None:
        self._connections.pop(connection, None)
