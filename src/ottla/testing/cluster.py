"""A whole broker in the simulator: the same node, dispatch table and handlers as in production.

`SimBroker` stands where the asyncio server stands: it gives the node its clock, disk, driver, randomness and
the way to other nodes, and hands it the frames that arrive on its listeners. It can be started, stopped
cleanly, killed (`kill -9`: the page cache survives), lose its power (unsynced data is lost) and be paused
(SIGSTOP), as often as one likes; the disk goes from one life to the next. A crash planned at a disk operation
ends the node in the middle of whatever it was doing.

It is a cluster of one unless its properties say otherwise (`sim_cluster.py` has the others).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from ottla.broker.dispatch import Dispatcher
from ottla.broker.node import Node
from ottla.log.meta_properties import BadMetaProperties
from ottla.metadata.image import Endpoint
from ottla.model.listeners import SecurityProtocol
from ottla.model.server_config import ServerConfig
from ottla.net.peers import PeerLinks
from ottla.testing.cleaning import CleaningInPlace
from ottla.testing.clock import VirtualClock
from ottla.testing.disk import WORST, SimulatedCrash, Survival, VirtualDisk
from ottla.testing.driver import SimDriver
from ottla.testing.network import ServerEnd, SimNetwork
from ottla.testing.peers import SimDialer
from ottla.testing.scheduler import Gate, Scheduler

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
    """`up`: a process runs, which need not serve yet when it is one of several."""

    def __init__(
        self,
        scheduler: Scheduler,
        network: SimNetwork,
        *,
        address: str = HOST,
        properties: Mapping[str, str] | None = None,
        disk: VirtualDisk | None = None,
        clock: VirtualClock | None = None,
    ) -> None:
        """`address` is its place on the network: the host of its listeners, or another one."""
        self.address = address
        self.config = ServerConfig({**PROPERTIES, **(properties or {})})
        self.disk = disk if disk is not None else VirtualDisk()
        self.up = False
        self.fatal_errors: list[BaseException] = []
        self.clock = clock if clock is not None else VirtualClock(scheduler)
        self.gate = Gate(scheduler)
        self.node: Node | None = None
        self.driver: SimDriver | None = None
        self.lives = 0
        self._scheduler = scheduler
        self._network = network
        self._dialer: SimDialer | None = None
        self._dispatchers: dict[str, Dispatcher] = {}
        self._connections: dict[ServerEnd, None] = {}
        network.gate(address, self.gate)
        if disk is None:
            self.wipe()

    # -- its life --

    def start(self) -> bool:
        """Starts a process on the disk as it is; False when a planned crash ended it before it served."""
        assert not self.up, "the broker is up"
        self.lives += 1
        self.clock.boot_ms = self._scheduler.random.random() * 1e7
        driver = SimDriver(self.gate, self.clock, on_fatal=self._task_failed, on_crash=self._crashed)
        self.driver = driver
        self._dialer = SimDialer(self._network, driver, self.address)
        node = Node(
            self.config,
            clock=self.clock,
            disk=self.disk,
            chance=random.Random(self._scheduler.random.getrandbits(64)),
            driver=driver,
            fatal=self._fatal,
            peers=PeerLinks(self._dialer, self.clock, f"node-{self.config.node_id}"),
            cleaning=CleaningInPlace(self.disk, self.clock),
        )
        self.node = node
        controller_names = self.config.controller_listener_names
        self._dispatchers = {
            each.name: Dispatcher(node, of_controller=each.name in controller_names)
            for each in self.config.listeners
        }
        self.up = True
        # The ports are bound before the node starts: other controllers may be here first.
        for listener in self.config.listeners:
            self._network.listen(f"{self.address}:{listener.port}", self, listener.name)
        try:
            node.start(
                [
                    Endpoint(each.name, each.host, each.port, SecurityProtocol.PLAINTEXT)
                    for each in self.config.broker_listeners
                ]
            )
        except SimulatedCrash as crash:
            self._crashed(crash)
            return False
        except (OSError, BadMetaProperties) as error:
            self.fatal_errors.append(error)  # it refuses to start: no crash of an honest disk may do that
            self._down()
            return True
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

    def leave_and_stop(self, stopped: Callable[[bool], None]) -> None:
        """A clean shutdown of one of several, which first gives its leaderships away; `stopped` is told
        whether it came to its end. A pause, a cut or a crash may come in between.
        """
        assert self.up and self.node is not None and self.driver is not None
        life = self.lives

        def left(_: object, error: BaseException | None) -> None:
            if error is not None:
                self._fatal(error)
            elif self.up and self.lives == life:
                stopped(self.stop())

        self.driver.run(self.node.leave(), left)

    def crash(self, *, unseen: bool = False) -> None:
        """The process ends, now and without a word; `unseen`: with its machine, so that nobody's connection
        is ended. `restart` decides what became of the page cache.
        """
        if self.up:
            self._down(unseen=unseen)

    def pause(self) -> None:
        """SIGSTOP: time passes, and nothing happens here."""
        self.gate.shut()

    def go_on(self) -> None:
        """SIGCONT: everything that fell due happens now."""
        self.gate.open()

    def next_disk(self, *, power_loss: bool, survival: Survival = WORST) -> None:
        """What the next process will find, after `stop`, `crash` or a planned crash."""
        assert not self.up
        self.disk = self.disk.restart(self._scheduler.random, power_loss=power_loss, survival=survival)

    def wipe(self) -> None:
        """A new, empty disk."""
        assert not self.up
        self.disk = VirtualDisk(stats=self.disk.stats)
        for path in self.config.log_dirs:
            self.disk.make_dirs(path)
        self.disk.sync_dir("/")

    def _crashed(self, _: SimulatedCrash) -> None:
        self._down()

    def _down(self, *, unseen: bool = False) -> None:
        self.up = False
        for listener in self.config.listeners:
            self._network.stop_listening(f"{self.address}:{listener.port}")
        self.disk.crash()
        assert self.driver is not None and self._dialer is not None
        self.driver.kill()
        self.gate.clear()
        self._dialer.crashed(unseen=unseen)
        connections, self._connections = self._connections, {}
        for connection in connections:
            connection.crashed(unseen=unseen)

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
        driver, dispatcher = self.driver, self._dispatchers[connection.listener_name]
        assert driver is not None
        driver.guard(lambda: dispatcher.on_frame(connection, frame))

    def on_closed(self, connection: ServerEnd) -> None:
        self._connections.pop(connection, None)
