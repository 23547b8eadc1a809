"""What happens to a cluster while writers write: one seeded fault after another.

A plan is a list of names, shuffled by the seed; each names a method of `Faults`. A fault ends by itself:
whoever was killed runs again, and the network is whole. Whether the next one waits until every replica is in
sync is drawn, too: a second kill during the recovery from the first one is where bugs live. Only a wiped disk
waits for it always, before and after: a cluster that loses a disk while another replica lags may lose
records by rights.

Kills: any node, the leader of a partition, the active controller, two nodes at once (the one that is left is
a minority). Cuts: one node from all others, the controller, a leader, the cluster in halves, one direction
only, a slow node, a link that flaps.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from chaos.cluster.cluster import Cluster, Node
from support.raw_client import ConnectionEnded
from support.waiting import wait_until

KILLS = {"kill_any": 4, "kill_leader": 3, "kill_controller": 3, "kill_two": 1}
CUTS = {
    "cut_any": 2,
    "cut_leader": 2,
    "cut_controller": 2,
    "cut_halves": 1,
    "cut_one_way": 2,
    "slow_node": 1,
    "flapping_link": 1,
}
PROGRESS_S = 180.0
SYNC_S = 180.0
SYNC_SHARE = 0.6
"""How often the next fault waits until all replicas are in sync."""

Say = Callable[[str], None]


def drawn_plan(
    seed: int, *, kills: int, cuts: int, pauses: int = 0, restarts: int = 0, wipes: int = 0
) -> list[str]:
    """The faults of a run, in order. A kill of two counts for two."""
    chance = random.Random(f"{seed}/plan")
    plan = ["pause"] * pauses + ["restart"] * restarts + ["wipe"] * wipes
    plan += chance.choices(list(CUTS), list(CUTS.values()), k=cuts)
    left = kills
    while left > 0:
        (name,) = chance.choices(list(KILLS), list(KILLS.values()))
        if name == "kill_two" and left < 2:
            continue
        plan.append(name)
        left -= 2 if name == "kill_two" else 1
    chance.shuffle(plan)
    return plan


class Faults:
    def __init__(
        self,
        cluster: Cluster,
        topic: str,
        partitions: int,
        seed: int,
        say: Say,
        *,
        progress: Callable[[], int],
    ) -> None:
        """`progress` counts what clients have been acknowledged so far."""
        self.cluster = cluster
        self.counts: Counter[str] = Counter()
        self._topic = topic
        self._partitions = partitions
        self._random = random.Random(f"{seed}/faults")
        self._say = say
        self._progress = progress

    def do(self, name: str) -> None:
        getattr(self, name)()
        self.counts[name] += 1

    def wait_for_progress(self, count: int) -> None:
        """Until so many more were acknowledged; sometimes also until every replica is in sync."""
        before = self._progress()
        try:
            wait_until(
                lambda: self._progress() >= before + count,
                f"{count} more acknowledgements after {before}",
                timeout_s=PROGRESS_S,
                pause_s=0.05,
            )
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.cluster.seen(self._topic)}") from None
        if self._random.random() < SYNC_SHARE:
            self.wait_in_sync()

    def wait_in_sync(self) -> None:
        self.cluster.wait_in_sync(self._topic, self._partitions, SYNC_S)

    def heal(self) -> None:
        """Everything runs and everybody reaches everybody."""
        self.cluster.network.heal()
        for node in self.cluster.nodes.values():
            if not node.running:
                node.start()

    # --- who ----------------------------------------------------------------------------------------------

    def _any(self) -> Node:
        return self.cluster.nodes[self._random.choice(list(self.cluster.nodes))]

    def _leader(self) -> Node:
        """The leader of a partition, as far as anybody knows one."""
        with suppress(OSError, ConnectionEnded):
            states = self.cluster.partitions(self._topic)
            leaders = [state.leader for state in states if state.leader in self.cluster.nodes]
            if leaders:
                return self.cluster.nodes[self._random.choice(leaders)]
        return self._any()

    def _controller(self) -> Node:
        quorum = self.cluster.quorum()
        return self.cluster.nodes[quorum.leader] if quorum is not None else self._any()

    # --- kills --------------------------------------------------------------------------------------------

    def kill_any(self) -> None:
        self._kill("any node", self._any())

    def kill_leader(self) -> None:
        self._kill("a leader", self._leader())

    def kill_controller(self) -> None:
        self._kill("the active controller", self._controller())

    def kill_two(self) -> None:
        first, second = self._random.sample(list(self.cluster.nodes), 2)
        self._kill("two at once", self.cluster.nodes[first], self.cluster.nodes[second])

    def _kill(self, what: str, *nodes: Node) -> None:
        # So that a kill does not always meet the same moment of a batch's life.
        time.sleep(self._random.random() * 0.05)
        for node in nodes:
            node.kill()
        self.counts["kills"] += len(nodes)
        down_s = self._random.choice([0, 0, 0.5, 2, 5])
        self._say(f"kill -9 {what}: {self._named(*nodes)}, down for {down_s} s")
        time.sleep(down_s)
        for node in nodes:
            node.start()

    def pause(self) -> None:
        node = self._leader()
        for_s = self._random.choice([0.5, 2, 6])
        self._say(f"SIGSTOP for {for_s} s: {self._named(node)}")
        node.pause()
        try:
            time.sleep(for_s)
        finally:
            node.resume()

    def restart(self) -> None:
        node = self._any()
        self._say(f"clean restart: {self._named(node)}")
        code = node.stop()
        # The last: it was stopped again while Python was still loading it, before it could know of signals.
        assert code in (0, 143, -signal.SIGTERM), f"node {node.id} ended with {code}: {node.said()}"
        node.start()

    def wipe(self) -> None:
        self.wait_in_sync()
        node = self._any()
        self._say(f"disk wiped: {self._named(node)}")
        node.kill()
        self._wait_until_fenced(node)
        node.wipe()
        node.start()
        self.wait_in_sync()

    def _wait_until_fenced(self, node: Node) -> None:
        """Until no replica on it counts as in sync any more: what is on no disk must not be counted."""

        def is_out() -> bool:
            with suppress(OSError, ConnectionEnded):
                states = self.cluster.partitions(self._topic)
                return bool(states) and all(node.id not in state.in_sync for state in states)
            return False

        wait_until(is_out, f"node {node.id} out of every ISR", timeout_s=60, pause_s=0.1)

    # --- cuts ---------------------------------------------------------------------------------------------

    def cut_any(self) -> None:
        self._isolate("a node", self._any())

    def cut_leader(self) -> None:
        self._isolate("a leader", self._leader())

    def cut_controller(self) -> None:
        self._isolate("the active controller", self._controller())

    def cut_halves(self) -> None:
        nodes = list(self.cluster.nodes)
        self._random.shuffle(nodes)
        half = nodes[: len(nodes) // 2]
        for inside in half:
            for outside in nodes:
                if outside not in half:
                    self.cluster.network.cut(inside, outside)
                    self.cluster.network.cut(outside, inside)
        self._for_a_while(f"in halves, {sorted(half)} against the rest")

    def cut_one_way(self) -> None:
        source, target = self._random.sample(list(self.cluster.nodes), 2)
        self.cluster.network.cut(source, target)
        self._for_a_while(f"one way, from {source} to {target}")

    def slow_node(self) -> None:
        node = self._leader()
        rate = self._random.choice([256, 1000, 4000])
        self.cluster.network.slow(node.id, rate)
        self._for_a_while(f"slow, {self._named(node)} sends {rate} kbit/s")

    def flapping_link(self) -> None:
        first, second = self._random.sample(list(self.cluster.nodes), 2)
        self._say(f"network flaps between {first} and {second}")
        self.counts["cuts"] += 1
        for _ in range(8):
            self.cluster.network.cut(first, second)
            self.cluster.network.cut(second, first)
            time.sleep(self._random.uniform(0.1, 0.8))
            self.cluster.network.heal()
            time.sleep(self._random.uniform(0.05, 0.3))

    def _isolate(self, what: str, node: Node) -> None:
        for other in self.cluster.nodes:
            if other != node.id:
                self.cluster.network.cut(node.id, other)
                self.cluster.network.cut(other, node.id)
        self._for_a_while(f"{what} alone, {self._named(node)}")

    def _for_a_while(self, what: str) -> None:
        for_s = self._random.choice([1.5, 4, 8])
        self.counts["cuts"] += 1
        self._say(f"network cut for {for_s} s: {what}")
        try:
            time.sleep(for_s)
        finally:
            self.cluster.network.heal()

    def _named(self, *nodes: Node) -> str:
        return " and ".join(f"node {node.id}" for node in nodes)
