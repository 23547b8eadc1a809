"""The asyncio shell around a node: sockets, signals, timers, the process's limits.

`run(pairs)` is what `ottla start` calls. It binds the listeners first (an address in use should fail before
anything is touched), then starts the node, then prints one line that says where it listens, and serves
until SIGTERM or SIGINT. A second signal stops at once.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from ottla import __version__
from ottla.broker.cleaner_pool import CleanerPool
from ottla.broker.dispatch import Dispatcher, load_the_rest
from ottla.broker.driver import AsyncioDriver
from ottla.broker.node import Node
from ottla.broker.settings import NodeSettings
from ottla.log.manager import AllDirsFailed, DataDirInUse, DuplicateLog
from ottla.log.meta_properties import BadMetaProperties
from ottla.metadata.image import Endpoint
from ottla.model.errors import KafkaError
from ottla.model.listeners import Listener as ListenerAddress
from ottla.model.listeners import SecurityProtocol
from ottla.model.server_config import ServerConfig
from ottla.net.clock import SystemClock
from ottla.net.dialing import SocketDialer
from ottla.net.disk import OsDisk
from ottla.net.hub import Hub
from ottla.net.listener import Listener
from ottla.net.loop_lag import LoopLag
from ottla.net.peers import PeerLinks
from ottla.ports.effects import Steps
from ottla.wire.primitives import DecodeError
from ottla.wire.record_codec import COMPILED

logger = logging.getLogger("ottla")

OPEN_FILES_MAX = 4_096
"""Descriptors for segment files; the rest of the process's limit is for connections."""
LOADING_S = 0.02
"""Between two modules that a start has left out."""
GC_THRESHOLDS = (50_000, 20, 50)
"""The hot paths make few cycles; a young collection every 50,000 allocations costs less than a
millisecond.
"""
DRAIN_MS = 5_000
SWEEP_S = 15.0
SWEEP_FILES = 1_024
"""Segment files that were not used for one to two sweeps lose their descriptor; a sweep of 1,024 takes
about a millisecond."""


class StartError(Exception):
    """The broker cannot start; the message is one line that says what to do."""


def run(pairs: Mapping[str, str]) -> int:
    """Runs a broker until it is told to stop; the process's exit code."""
    began = time.monotonic()
    config = ServerConfig(pairs)
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("OTTLA_LOG_LEVEL", "INFO").upper(),
        format="%(asctime)s %(levelname)s %(message)s",
    )
    for warning in config.warnings:
        logger.warning("%s", warning)
    if config.without_effect:
        logger.warning("set, but not acted on by this version: %s", ", ".join(sorted(config.without_effect)))
    try:
        return asyncio.run(_serve(config, began))
    except (
        StartError,
        DataDirInUse,
        DuplicateLog,
        AllDirsFailed,
        BadMetaProperties,
        KafkaError,
        DecodeError,
        OSError,
    ) as error:
        print(f"ottla: {error}", file=sys.stderr)
        return 1


async def _serve(config: ServerConfig, began: float) -> int:
    loop = asyncio.get_running_loop()
    server = Server(config, loop)
    stopped = loop.create_future()

    def stop(code: int) -> None:
        if not stopped.done():
            stopped.set_result(code)
        elif code:
            os._exit(code)

    def serving() -> None:
        where = ", ".join(str(each) for each in server.advertised) or "controller"
        print(
            f"Ottla {__version__} ready in {time.monotonic() - began:.2f} s: {where} "
            f"(node {config.node_id}, cluster {server.node.cluster_id}, "
            f"data in {', '.join(config.log_dirs)}, {'compiled' if COMPILED else 'interpreted'} codec)",
            flush=True,
        )

    def soon() -> None:
        loop.call_soon(serving)

    server.fatal = lambda error: _fatal(error, stop)
    # Not before the handlers of signals are there: whoever reads the line may stop the broker at once.
    server.node.on_serving = soon
    await server.start()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _on_signal, number, stop, stopped)
    try:
        code: int = await stopped
    finally:
        # Also when Ctrl-C came before the handlers above were there: asyncio then cancels this wait.
        await server.stop()
    return code


def _on_signal(number: signal.Signals, stop: Callable[[int], None], stopped: asyncio.Future[int]) -> None:
    if stopped.done():
        logger.warning("a second %s: stopping without a clean shutdown", number.name)
        os._exit(130 if number == signal.SIGINT else 143)
    logger.info("%s: stopping", number.name)
    stop(0)


def _log_fatal(error: BaseException) -> None:
    logger.critical("the broker cannot go on: %s", error)


def _fatal(error: BaseException, stop: Callable[[int], None]) -> None:
    _log_fatal(error)
    stop(1)


class Server:
    """One broker in this process."""

    def __init__(self, config: ServerConfig, loop: asyncio.AbstractEventLoop) -> None:
        self.config = config
        self.advertised: list[ListenerAddress] = []
        self.fatal: Callable[[BaseException], None] = _log_fatal
        limit = raise_open_files_limit()
        clock = SystemClock()
        self._loop = loop
        self._disk = OsDisk(open_files_max=min(OPEN_FILES_MAX, max(64, limit // 2)))
        self.hub = Hub(loop)
        self.driver = AsyncioDriver(
            loop,
            clock,
            turn=self.hub.turn,
            workers=self.hub.workers,
            fatal=lambda name, error: self.fatal(error),
        )
        self.cleaners = CleanerPool(loop, clock)
        self.peers = PeerLinks(SocketDialer(loop, self.hub.turn), clock, f"node-{config.node_id}")
        self.node = Node(
            config,
            clock=clock,
            disk=self._disk,
            chance=random.SystemRandom(),
            driver=self.driver,
            fatal=lambda error: self.fatal(error),
            cleaning=self.cleaners,
            peers=self.peers,
        )
        self.hub.settings = self.node.settings.net
        self.node.on_settings = self._settings_changed
        self.lag = LoopLag(loop)
        self._listeners: list[Listener] = []
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._loading_timer: asyncio.TimerHandle | None = None

    def _settings_changed(self, settings: NodeSettings) -> None:
        self.hub.settings = settings.net

    async def start(self) -> None:
        config = self.config
        for address in config.listeners:
            if config.protocols[address.name] is not SecurityProtocol.PLAINTEXT:
                raise StartError(
                    f"listener {address.name} needs {config.protocols[address.name].name}, which "
                    "this version does not offer: use PLAINTEXT listeners"
                )
        bound: dict[str, ListenerAddress] = {}
        try:
            for address in config.listeners:
                of_controller = address.name in config.controller_listener_names
                dispatcher = Dispatcher(self.node, of_controller=of_controller)
                listener = Listener(self.hub, address.name, dispatcher.on_frame)
                try:
                    _, port = await listener.start(address.host, address.port)
                except OSError as error:
                    raise StartError(
                        f"cannot listen on {address}: {error.strerror or error}; is another broker running "
                        "there? choose another port with --port"
                    ) from error
                self._listeners.append(listener)
                bound[address.name] = address._replace(port=port)
            self.advertised = [
                _advertised(each, bound.get(each.name)) for each in config.advertised_listeners
            ]
            endpoints = [
                Endpoint(each.name, each.host, each.port, config.protocols[each.name])
                for each in self.advertised
            ]
            # Synchronous on purpose: nobody is served before it is done, and what has to be read is read
            # faster so.
            self.node.start(endpoints)
        except BaseException:
            for listener in self._listeners:
                listener.stop_accepting()
            self.driver.close()
            self.peers.close()
            self.hub.close()
            raise
        # What was loaded stays: no collection has to look at it, now (17 ms of a start) or later.
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()
        self.lag.start()
        self._sweep()
        self._load(load_the_rest())

    def _load(self, rest: Iterator[None]) -> None:
        """A module at a time, about a millisecond each, between the requests of others."""
        is_more = next(rest, rest) is not rest
        self._loading_timer = self._loop.call_later(LOADING_S, self._load, rest) if is_more else None

    def _sweep(self) -> None:
        self._disk.sweep(SWEEP_FILES)
        self._sweep_timer = self._loop.call_later(SWEEP_S, self._sweep)

    async def stop(self) -> None:
        began = time.monotonic()
        await self._steps(self.node.leave())
        for listener in self._listeners:
            listener.stop_accepting()
        self.node.quiesce()
        await self._steps(self.node.quorum.resign())
        await asyncio.gather(*(listener.stop(DRAIN_MS) for listener in self._listeners))
        self.lag.stop()
        for timer in (self._sweep_timer, self._loading_timer):
            if timer is not None:
                timer.cancel()
        self.driver.close()
        self.peers.close()
        self.cleaners.close()
        self.hub.close()
        self.node.shutdown()
        logger.info(
            "stopped in %.2f s; the loop was late by p99 %.2f ms, at most %.2f ms",
            time.monotonic() - began,
            self.lag.percentile_ms(0.99),
            self.lag.lag_ms_max,
        )

    async def _steps(self, steps: Steps[None]) -> None:
        """Lets the driver run steps to their end."""
        ended: asyncio.Future[BaseException | None] = self._loop.create_future()

        def done(_: None, error: BaseException | None) -> None:
            if not ended.done():
                ended.set_result(error)

        self.driver.run(steps, done)
        error = await ended
        if error is not None:
            logger.error("the broker could not take its leave: %s", error)


def _advertised(address: ListenerAddress, bound: ListenerAddress | None) -> ListenerAddress:
    """What clients are told: a free port becomes the real one, and every interface becomes this host's
    name.
    """
    if address.port == 0 and bound is not None:
        address = address._replace(port=bound.port)
    if address.host in ("", "0.0.0.0", "::"):
        address = address._replace(host=_host_name())
    return address


def _host_name() -> str:
    """This machine's name if it leads back to this machine, else localhost."""
    name = socket.gethostname()
    with suppress(OSError):
        socket.getaddrinfo(name, None)
        return name
    return "localhost"


def raise_open_files_limit() -> int:
    """Raises the soft limit of open files to the hard one, and returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
    return soft if soft != resource.RLIM_INFINITY else 1 << 20
