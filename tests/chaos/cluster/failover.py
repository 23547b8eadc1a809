"""`make cluster-failover`: how long partitions stand still when a broker that leads 1,000 of them goes, and
what clients see of it.

    python tests/chaos/cluster/failover.py --partitions 3000
    python tests/chaos/cluster/failover.py --system kafka --only kill_leader

A producer with default settings (librdkafka) writes to every partition of a topic with three replicas, twice
a second, and a consumer group reads. Then, with Kafka's default timeouts:

* `kill_leader`: the broker that leads most partitions, and is not the active controller, is killed with -9.
  For each partition that it led: the time from the kill to the first acknowledgement of a record that was
  sent after it, less `broker.session.timeout.ms`, for which nobody can know that it is dead.
* `kill_controller`: the same with the active controller; and the time until a new one takes a request.
* `clean_stop`: SIGTERM instead. The controller moves the leaders away first: nobody waits for a timeout.
* `rolling_restart`: every broker in turn is stopped and started. No client may see an error.

Every record that was acknowledged has to be there in the end.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from chaos.cluster import own_world
from chaos.cluster.cluster import SYSTEMS, Cluster, Node
from chaos.cluster.network import Loopback
from support.raw_client import ConnectionEnded
from support.waiting import wait_until

TOPIC = "failover"
NODES = (1, 2, 3)
SESSION_TIMEOUT_MS = 9_000
"""Kafka's default."""
GOAL_S = 1.0
INTERVAL_S = 0.5
"""Between two records for one partition."""
SETTLE_S = 180.0
SCENARIOS = ("kill_leader", "kill_controller", "clean_stop", "rolling_restart")

Say = Callable[[str], None]


class Traffic:
    """A producer and a consumer with their defaults, each in a thread, until it is closed."""

    def __init__(self, bootstrap: str, partitions: int) -> None:
        self.partitions = partitions
        self.acked = 0
        self.sent = 0
        self.received = 0
        self.errors: list[str] = []
        # Per partition, since the last mark: the first acknowledgement of a record that was sent after it.
        self.first_ack_s: dict[int, float] = {}
        self.latency_s_max = 0.0
        self._marked_s = 0.0
        # One record of a partition is under way at a time, so that a wait is not the client's own queue; and
        # one more when everything is counted afresh.
        self._waiting_since_s = [-1.0] * partitions
        self._bootstrap = bootstrap
        self._stop = threading.Event()
        self._chance = random.Random(7)
        self._threads = [
            threading.Thread(target=each, daemon=True) for each in (self._produce, self._consume)
        ]
        for thread in self._threads:
            thread.start()

    def mark(self) -> float:
        """From now on is counted afresh; what time it is."""
        self.first_ack_s = {}
        self.latency_s_max = 0.0
        self._marked_s = time.monotonic()
        return self._marked_s

    def wait_for_all(self, timeout_s: float) -> None:
        """Until every partition has acknowledged a record that was sent after the mark."""
        wait_until(
            lambda: len(self.first_ack_s) == self.partitions,
            f"all {self.partitions} partitions go on",
            timeout_s=timeout_s,
            pause_s=0.02,
        )

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)

    def _produce(self) -> None:
        producer = Producer({"bootstrap.servers": self._bootstrap, "log_level": 2})
        order = list(range(self.partitions))
        self._chance.shuffle(order)
        began_s, turns = time.monotonic(), 0
        while not self._stop.is_set():
            due = int((time.monotonic() - began_s) / INTERVAL_S * self.partitions)
            while turns < due:
                chosen = order[turns % self.partitions]
                turns += 1
                now_s = time.monotonic()
                if self._waiting_since_s[chosen] >= self._marked_s:
                    continue
                self._waiting_since_s[chosen] = now_s
                answered = partial(self._delivered, chosen, now_s)
                try:
                    producer.produce(TOPIC, b"%d" % self.sent, partition=chosen, on_delivery=answered)
                except BufferError:
                    break
                self.sent += 1
            producer.poll(0.005)
        producer.flush(60)

    def _delivered(self, partition: int, sent_s: float, error: Any, _message: Any) -> None:
        now_s = time.monotonic()
        if self._waiting_since_s[partition] == sent_s:
            self._waiting_since_s[partition] = -1.0
        if error is not None:
            self.errors.append(f"a record for partition {partition} failed: {error}")
            return
        self.acked += 1
        if sent_s >= self._marked_s:
            self.first_ack_s.setdefault(partition, now_s)
            self.latency_s_max = max(self.latency_s_max, now_s - sent_s)

    def _consume(self) -> None:
        consumer = Consumer(
            {
                "bootstrap.servers": self._bootstrap,
                "group.id": "followers",
                "auto.offset.reset": "earliest",
                "log_level": 2,
            }
        )
        consumer.subscribe([TOPIC])
        while not self._stop.is_set():
            try:
                for message in consumer.consume(1000, 0.1):
                    if message.error() is not None:
                        self.errors.append(f"a consumer was told {message.error()}")
                    else:
                        self.received += 1
            except KafkaException as error:
                self.errors.append(f"a consumer failed with {error}")
        consumer.close()


class Trial:
    def __init__(self, cluster: Cluster, partitions: int, session_ms: int, say: Say) -> None:
        self.cluster = cluster
        self.traffic = Traffic(cluster.bootstrap, partitions)
        self._partitions = partitions
        self._session_s = session_ms / 1000
        self._say = say

    def settle(self) -> None:
        """Everybody is in sync, leaders are where they belong, and records flow."""
        self.cluster.wait_for_brokers()
        self.cluster.wait_in_sync(TOPIC, self._partitions, SETTLE_S)
        self.traffic.mark()
        self.traffic.wait_for_all(SETTLE_S)

    def _led(self) -> dict[int, list[int]]:
        led: dict[int, list[int]] = {node: [] for node in self.cluster.nodes}
        for state in self.cluster.partitions(TOPIC):
            led[state.leader].append(state.partition)
        return led

    def _controller(self) -> Node:
        return self.cluster.nodes[
            wait_until(self.cluster.quorum, "an active controller", timeout_s=30, pause_s=0.1).leader
        ]

    # --- the scenarios ------------------------------------------------------------------------------------

    def kill_leader(self) -> dict[str, Any]:
        controller = self._controller()
        led = self._led()
        victim = max((node for node in led if node != controller.id), key=lambda node: len(led[node]))
        return self._kill(self.cluster.nodes[victim], led[victim])

    def kill_controller(self) -> dict[str, Any]:
        controller = self._controller()
        led = self._led()
        found: list[float] = []

        def look() -> None:
            while not found:
                with suppress(OSError, ConnectionEnded):
                    quorum = self.cluster.quorum()
                    if quorum is not None and quorum.leader != controller.id:
                        found.append(time.monotonic())
                        return
                time.sleep(0.05)

        thread = threading.Thread(target=look, daemon=True)
        killed_s = time.monotonic()
        figures = self._kill(controller, led[controller.id], before_waiting=thread.start)
        thread.join(60)
        figures["new_controller_after_s"] = round(found[0] - killed_s, 3) if found else None
        return figures

    def _kill(
        self, node: Node, led: list[int], before_waiting: Callable[[], None] | None = None
    ) -> dict[str, Any]:
        self._say(f"kill -9 node {node.id}, which leads {len(led)} partitions")
        node.kill()
        killed_s = self.traffic.mark()
        if before_waiting is not None:
            before_waiting()
        self.traffic.wait_for_all(self._session_s + 60)
        waits_s = sorted(self.traffic.first_ack_s[partition] - killed_s for partition in led)
        others_s = [
            at_s - killed_s
            for partition, at_s in self.traffic.first_ack_s.items()
            if partition not in set(led)
        ]
        node.start()
        return {
            "partitions_led": len(led),
            "first_ack_after_s": _spread(waits_s),
            "beyond_session_timeout_s": round(max(waits_s) - self._session_s, 3),
            "p99_beyond_session_timeout_s": round(_quantile(waits_s, 0.99) - self._session_s, 3),
            "other_partitions_first_ack_s": _spread(sorted(others_s)),
            "reached": max(waits_s) - self._session_s <= GOAL_S,
        }

    def clean_stop(self) -> dict[str, Any]:
        led = self._led()
        victim = max(led, key=lambda node: len(led[node]))
        node = self.cluster.nodes[victim]
        self._say(f"SIGTERM node {victim}, which leads {len(led[victim])} partitions")
        errors = len(self.traffic.errors)
        began_s = self.traffic.mark()
        code = node.stop()
        stopped_s = time.monotonic() - began_s
        self._let_flow(2.0)
        figures = {
            "partitions_led": len(led[victim]),
            "exit_code": code,
            "stopped_after_s": round(stopped_s, 3),
            "longest_wait_for_an_acknowledgement_s": round(self.traffic.latency_s_max, 3),
            "errors": len(self.traffic.errors) - errors,
            "reached": len(self.traffic.errors) == errors and code in (0, 143),
        }
        node.start()
        return figures

    def rolling_restart(self) -> dict[str, Any]:
        errors = len(self.traffic.errors)
        self.traffic.mark()
        took_s = []
        for node in self.cluster.nodes.values():
            began_s = time.monotonic()
            self._say(f"node {node.id} is restarted")
            node.stop()
            node.start()
            self.cluster.wait_for_brokers()
            self.cluster.wait_in_sync(TOPIC, self._partitions, SETTLE_S)
            took_s.append(round(time.monotonic() - began_s, 1))
        self._let_flow(2.0)
        return {
            "restarts_took_s": took_s,
            "longest_wait_for_an_acknowledgement_s": round(self.traffic.latency_s_max, 3),
            "errors": len(self.traffic.errors) - errors,
            "reached": len(self.traffic.errors) == errors,
        }

    def _let_flow(self, for_s: float) -> None:
        """Until what is sent now is acknowledged and a little later."""
        before, until_s = self.traffic.sent, time.monotonic() + for_s
        wait_until(
            lambda: self.traffic.acked >= before and time.monotonic() > until_s,
            "what was sent is acknowledged",
            timeout_s=SETTLE_S,
            pause_s=0.05,
        )

    def close(self) -> dict[str, Any]:
        """Ends the clients and looks whether everything acknowledged is there."""
        self.traffic.close()
        consumer = Consumer(
            {"bootstrap.servers": self.cluster.bootstrap, "group.id": "unused", "log_level": 2}
        )
        there = 0
        for partition in range(self._partitions):
            low_high = consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), timeout=30)
            assert low_high is not None
            there += low_high[1]
        consumer.close()
        traffic = self.traffic
        return {
            "sent": traffic.sent,
            "acknowledged": traffic.acked,
            "there": there,
            "consumed": traffic.received,
            "errors": len(traffic.errors),
            "first_errors": traffic.errors[:5],
            # A producer that is not idempotent may repeat a record; it must not lose one.
            "reached": there >= traffic.acked,
        }


def _quantile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _spread(ordered: list[float]) -> dict[str, float]:
    if not ordered:
        return {}
    figures = {"p50": statistics.median(ordered), "p99": _quantile(ordered, 0.99), "max": ordered[-1]}
    return {name: round(value, 3) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--system", choices=list(SYSTEMS), default="ottla")
    parser.add_argument("--partitions", type=int, default=3000)
    parser.add_argument("--session-ms", type=int, default=SESSION_TIMEOUT_MS)
    parser.add_argument("--only", choices=SCENARIOS, action="append", default=None)
    parser.add_argument("--folder", type=Path, default=None)
    arguments = parser.parse_args()
    own_world.enter(network=False)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="cluster-failover-"))
    print(f"{arguments.system}, {arguments.partitions} partitions, everything in {folder}", flush=True)
    began_s = time.monotonic()

    def say(line: str) -> None:
        print(f"  {time.monotonic() - began_s:7.1f} s  {line}", flush=True)

    cluster = Cluster(
        SYSTEMS[arguments.system](),
        folder,
        Loopback(NODES),
        NODES,
        {"broker.session.timeout.ms": str(arguments.session_ms)},
    )
    is_reached = True
    try:
        cluster.start()
        cluster.create_topic(TOPIC, arguments.partitions)
        say("the topic is there, all replicas in sync")
        trial = Trial(cluster, arguments.partitions, arguments.session_ms, say)
        for name in arguments.only or SCENARIOS:
            trial.settle()
            figures = getattr(trial, name)()
            is_reached &= figures["reached"]
            say(f"{name}: {json.dumps(figures)}")
        trial.settle()
        figures = trial.close()
        is_reached &= figures["reached"]
        say(f"all in all: {json.dumps(figures)}")
        for complaint in cluster.complaints():
            print(complaint, flush=True)
            is_reached = False
    finally:
        cluster.close()
    sys.exit(0 if is_reached else f"a goal was not reached; see {folder}")


if __name__ == "__main__":
    main()
