"""What befalls a simulated cluster: crashes, losses of power, pauses, and a network that comes apart.

Every trouble ends by itself after a while: a node comes back, a pause is over, a cut heals; several may be
under way at once. The one restriction is what a cluster without synchronous flushes promises: what no disk
has synced survives in the memory of the others. So power is only lost while every replica is in sync, and
then nothing else happens until they are again. `kill -9`, which leaves the page cache, may hit anybody at any
time, also all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ottla.testing.sim_cluster import SimCluster, SimNode, some_of

KINDS: Final = {
    "kill": 18,
    "kill_controller": 8,
    "kill_leader": 8,
    "kill_all": 2,
    "crash_at_disk": 10,
    "power": 10,
    "wipe": 3,
    "stop": 10,
    "pause": 14,
    "isolate": 12,
    "one_way": 8,
    "halves": 8,
    "pair": 8,
    "slow_link": 5,
    "break": 6,
}


class ClusterFaults:
    def __init__(
        self,
        cluster: SimCluster,
        report: Counter[str],
        is_safe: Callable[[], bool],
        kinds: Mapping[str, int] = KINDS,
    ) -> None:
        """`is_safe`: whether one may lose data without anybody's loss. `kinds`: what happens, and
        how often in relation to each other.
        """
        self._kinds = kinds
        self._cluster = cluster
        self._scheduler = cluster.scheduler
        self._random = cluster.scheduler.random
        self._report = report
        self._is_safe = is_safe
        self._returning: dict[int, bool] = {}
        """Nodes that will be started again, and whether they have lost their power."""
        self._stopping: dict[int, None] = {}
        self._cuts = 0
        self._delicate = False
        """Somebody has lost data: the others are needed."""
        self.over = False
        self.clients: Callable[[], Iterable[str]] = lambda: ()

    # -- one more --

    def strike(self) -> None:
        if self._delicate:
            if not self._is_safe():
                self._report["faults_withheld"] += 1
                return
            self._be_careful(False)
        kinds = list(self._kinds)
        kind = self._random.choices(kinds, [self._kinds[each] for each in kinds])[0]
        if getattr(self, f"_{kind}")():
            self._report[f"fault_{kind}"] += 1

    def _be_careful(self, careful: bool) -> None:
        self._delicate = careful
        nodes = self._cluster.nodes.values()
        self._cluster.network.spared = frozenset(each.name for each in nodes) if careful else frozenset()

    def _some_node(self) -> SimNode | None:
        alive = [each for each in self._cluster.nodes.values() if each.up and not each.is_paused]
        return self._random.choice(alive) if alive else None

    # -- ends of processes --

    def _kill(self) -> bool:
        return self._end(self._some_node())

    def _kill_controller(self) -> bool:
        found = self._cluster.active_controller()
        return found is not None and self._end(self._cluster.nodes[found.node_id])

    def _kill_leader(self) -> bool:
        """Whoever leads most."""
        led = {
            each.node_id: sum(partition.is_leader for partition in each.partitions.values())
            for each in self._cluster.running()
        }
        return bool(led) and self._end(self._cluster.nodes[max(led, key=lambda each: (led[each], each))])

    def _kill_all(self) -> bool:
        for each in self._cluster.nodes.values():
            self._end(each)
        return True

    def _crash_at_disk(self) -> bool:
        node = self._some_node()
        if node is None:
            return False
        when = self._random.choice(("before", "torn", "after"))
        node.disk.crash_at(node.disk.operations + self._random.randrange(60), when)  # type: ignore[arg-type]
        return True

    def _end(self, node: SimNode | None) -> bool:
        if node is None or not node.up:
            return False
        self._report["crashes"] += 1
        node.crash()
        self._return_later(node, power_loss=False)
        return True

    def _power(self) -> bool:
        node = self._some_node()
        if node is None or not self._is_untroubled():
            return False
        self._be_careful(True)
        self._report["crashes"] += 1
        node.crash(unseen=True)
        self._return_later(node, power_loss=True)
        return True

    def _wipe(self) -> bool:
        """A broker gets a new disk. A controller's disk holds its vote, and is not replaced like that."""
        brokers = [each for each in self._cluster.nodes.values() if not each.is_controller and each.up]
        if not brokers or not self._is_untroubled():
            return False
        node = self._random.choice(brokers)
        self._be_careful(True)
        node.crash()
        node.wipe()
        self._return_later(node, power_loss=False)
        return True

    def _is_untroubled(self) -> bool:
        """Everything is in sync, and nothing is planned that would change that."""
        nodes = self._cluster.nodes.values()
        if self._stopping or self._cluster.network.is_troubled or not self._is_safe():
            return False
        if any(each.is_paused for each in nodes):
            return False
        for each in nodes:
            each.disk.cancel_crash()
        return True

    def _stop(self) -> bool:
        node = self._some_node()
        if node is None or node.node_id in self._stopping or not node.serving:
            return False
        self._stopping[node.node_id] = None

        def stopped(cleanly: bool) -> None:
            self._report["clean_shutdowns"] += cleanly

        node.leave_and_stop(stopped)
        return True

    def event_over(self) -> None:
        """Whoever is down for whatever reason comes back."""
        for each in self._cluster.nodes.values():
            if not each.up and each.node_id not in self._returning:
                if each.node_id not in self._stopping:
                    self._report["crashes"] += 1
                self._return_later(each, power_loss=False)

    def _return_later(self, node: SimNode, *, power_loss: bool) -> None:
        self._stopping.pop(node.node_id, None)
        self._returning[node.node_id] = power_loss
        down_ms = self._random.random() * self._random.choice((100.0, 1_000.0, 5_000.0))

        def back() -> None:
            if self._returning.pop(node.node_id, None) is not None:
                self._cluster.restart_node(node, power_loss=power_loss)

        self._scheduler.call_after(down_ms, back)

    # -- pauses and the network --

    def _pause(self) -> bool:
        node = self._some_node()
        if node is None:
            return False
        node.pause()
        life = node.lives

        def over() -> None:
            if node.lives == life and node.is_paused:
                node.go_on()

        self._scheduler.call_after(self._random.random() * self._random.choice((500.0, 6_000.0)), over)
        return True

    def _isolate(self) -> bool:
        """One node from all others, and perhaps from the clients."""
        node = self._random.choice(list(self._cluster.nodes.values()))
        others = [each.name for each in self._cluster.nodes.values() if each is not node]
        if self._random.random() < 0.5:
            others += self.clients()
        return self._cut([node.name], others)

    def _one_way(self) -> bool:
        node = self._random.choice(list(self._cluster.nodes.values()))
        others = [each.name for each in self._cluster.nodes.values() if each is not node]
        ends = ([node.name], others)
        return self._cut(*(ends if self._random.random() < 0.5 else ends[::-1]), both_ways=False)

    def _halves(self) -> bool:
        one, other = some_of(self._random, list(self._cluster.nodes.values()))
        for client in self.clients():
            self._random.choice((one, other)).append(client)
        return self._cut(one, other)

    def _pair(self) -> bool:
        one, other = self._random.sample([each.name for each in self._cluster.nodes.values()], 2)
        return self._cut([one], [other], both_ways=self._random.random() < 0.6)

    def _cut(self, one: list[str], other: list[str], *, both_ways: bool = True) -> bool:
        self._cluster.network.cut(one, other, both_ways=both_ways)
        self._cuts += 1
        number = self._cuts

        def heal() -> None:
            if self._cuts == number:
                self._cluster.network.heal()

        self._scheduler.call_after(self._random.random() * self._random.choice((800.0, 6_000.0)), heal)
        return True

    def _slow_link(self) -> bool:
        one, other = self._random.sample([each.name for each in self._cluster.nodes.values()], 2)
        self._cluster.network.slow(one, other, self._random.choice((100.0, 800.0, 3_000.0)))
        self._cuts += 1
        number = self._cuts

        def heal() -> None:
            if self._cuts == number:
                self._cluster.network.heal()

        self._scheduler.call_after(self._random.random() * 5_000.0, heal)
        return True

    def _break(self) -> bool:
        one, other = self._random.sample([each.name for each in self._cluster.nodes.values()], 2)
        self._cluster.network.break_between(one, other)
        return True

    # -- the end --

    def end(self) -> None:
        """Everything is well again, at once."""
        self.over = True
        self._cluster.heal()
        returning, self._returning = self._returning, {}
        for node_id, power_loss in returning.items():
            self._cluster.restart_node(self._cluster.nodes[node_id], power_loss=power_loss)
