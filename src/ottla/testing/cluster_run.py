"""One simulated story of a whole cluster: quorum, controllers, replicas, coordinators and clients.

Three to five nodes, on a network that is cut, slow and broken, are killed, lose their power, are paused,
stopped, wiped and started again (`cluster_faults`), while clients work (`client_stage`) and an operator moves
things about (`cluster_operator`). `cluster_checker` looks into all nodes meanwhile.

Then everything heals. Within bounded time there has to be one controller, every broker, every leader and
every replica in sync; all clients come to their end; and what they were promised and given is compared with
the logs of the leaders, the logs with each other, and the metadata of all nodes.

Each seed picks its cast and its faults: many short stories that differ show more than a long one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from ottla.client.admin_topics import NewTopic
from ottla.log.log import Log
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TopicPartition
from ottla.testing.broker_run import FREQUENT
from ottla.testing.client_books import ClientBooks
from ottla.testing.client_producers import PlainWriter
from ottla.testing.client_stage import (
    PIPELINE_GROUP,
    PLAIN,
    SPLIT,
    TRANSACTIONAL,
    TRANSFORMED,
    ClientStage,
)
from ottla.testing.cluster_checker import ClusterChecker, counted_truncations
from ottla.testing.cluster_faults import KINDS, ClusterFaults
from ottla.testing.cluster_operator import ClusterOperator
from ottla.testing.group_run import GROUP_PROPERTIES
from ottla.testing.internal_errors import InternalErrors
from ottla.testing.ledger import Violation
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.sim_cluster import SimCluster
from ottla.testing.txn_run import TXN_PROPERTIES

LOOSE: Final = "clickstream"
"""Written with acks=1: what was acknowledged may be lost, and only that."""
TABLE: Final = "accounts"
"""Compacted."""
LOOK_MS: Final = 40.0
ACTIONS_MS: Final = 1_200.0
START_MS_MAX: Final = 60_000.0

QUICK: Final = {
    "broker.session.timeout.ms": "1500",
    "broker.heartbeat.interval.ms": "300",
    "initial.broker.registration.timeout.ms": "600000",
    "controller.quorum.election.timeout.ms": "400",
    "controller.quorum.fetch.timeout.ms": "800",
    "controller.quorum.election.backoff.max.ms": "300",
    "controller.quorum.request.timeout.ms": "700",
    "replica.lag.time.max.ms": "1500",
    "replica.fetch.wait.max.ms": "200",
    "replica.fetch.backoff.ms": "100",
    "replica.socket.timeout.ms": "1000",
    "leader.imbalance.check.interval.seconds": "3",
    "default.replication.factor": "3",
    "min.insync.replicas": "2",
}
"""Time-outs are short, so that a story of seconds has many of them."""


class LooseBooks(ClientBooks):
    """What may be lost may also be overwritten: offsets prove nothing here."""

    def _is_at(self, tp: TopicPartition, offset: int, value: bytes) -> None:
        pass


class ClusterRun(ClientStage):
    def __init__(
        self, seed: int, *, steps: int = 8, faults: bool = True, kinds: Mapping[str, int] = KINDS
    ) -> None:
        """`steps`: how many things happen, to nodes and to clients; `kinds`: what happens to nodes."""
        self.seed = seed
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.0, 0.003, 0.01)),
                break_before_reply=rng.choice((0.0, 0.0, 0.003, 0.01)),
                break_after_reply=rng.choice((0.0, 0.0, 0.005)),
                slow_rate=rng.choice((0.0, 0.0, 0.01)),
            ),
        )
        super().__init__(scheduler, network)
        self._faulty = faults
        shape = rng.random()
        if shape < 0.7:
            roles = {"combined": 3}
        elif shape < 0.85:
            roles = {"combined": 0, "controllers": 3, "brokers": 2}
        else:
            roles = {"combined": 3, "brokers": 1}
        self.report[f"clusters_of_{'_'.join(str(each) for each in roles.values())}"] += 1
        brokers = roles["combined"] + roles.get("brokers", 0)
        self._factor = min(3, brokers)
        self.cluster = SimCluster(
            scheduler,
            network,
            properties={
                **FREQUENT,
                **TXN_PROPERTIES,
                **GROUP_PROPERTIES,
                **QUICK,
                "offsets.topic.replication.factor": str(self._factor),
                "transaction.state.log.replication.factor": str(self._factor),
                "transaction.state.log.min.isr": str(self._factor - 1),
                "min.insync.replicas": str(self._factor - 1),
                "offsets.topic.num.partitions": str(rng.randint(1, 2)),
                "transaction.state.log.num.partitions": str(rng.randint(1, 2)),
                "group.initial.rebalance.delay.ms": str(rng.choice((0, 300))),
                "num.replica.fetchers": str(rng.choice((1, 1, 2))),
            },
            **roles,
        )
        self.checker = ClusterChecker(self.cluster, self.report)
        self.faults = ClusterFaults(self.cluster, self.report, self.checker.is_safe, kinds)
        self.faults.clients = self._client_names
        self._begin_cast(steps)
        self._factors: dict[str, int] = {}
        self._side_writers: list[PlainWriter] = []
        self._next_look_ms = 0.0

    def run(self) -> Counter[str]:
        try:
            with InternalErrors(), self._failures, counted_truncations(self.report):
                self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part cluster --seed {self.seed}"
                f" --steps {self.steps}"
            ) from error
        finally:
            self._clients.kill()
            self.cluster.end()
        self._sum_up()
        return self.report

    def _advance(self) -> None:
        self._step()
        self.cluster.check()
        self._failures.check()
        self.faults.event_over()
        if self.scheduler.now_ms >= self._next_look_ms:
            self._next_look_ms = self.scheduler.now_ms + LOOK_MS
            self.checker.look()

    # -- the story --

    def _run(self) -> None:
        rng = self.random
        self.cluster.start()
        self._until_none(self._not_started, START_MS_MAX)
        self._prepare()
        self._choose_the_cast()
        operator = ClusterOperator(
            self._admin,
            self.report,
            rng,
            [each.node_id for each in self.cluster.brokers],
            self.topics,
            self._factors,
        )
        for _ in range(self.steps):
            self._run_for(rng.random() * ACTIONS_MS)
            kind = rng.random()
            if kind < 0.6:
                if self._faulty:
                    self.faults.strike()
            elif kind < 0.8:
                self._operate(operator.do_something())
            elif self._makers or self.writers:
                self._something_happens()
        self._run_for(rng.random() * ACTIONS_MS)
        self._calm = True
        self.faults.end()
        self._until_none(self.checker.unsettled_cluster)
        self._calm_the_cast()
        self._until_none(lambda: "the operator works" if self._operations else None)
        self._settle()
        self._until_none(self.checker.unsettled)
        self.checker.look()
        self.checker.check_at_the_end()
        self._check()

    def _not_started(self) -> str | None:
        missing = [each.name for each in self.cluster.nodes.values() if not each.serving]
        return f"{missing} do not serve" if missing else None

    def _prepare(self) -> None:
        rng = self.random
        strict = {"min.insync.replicas": str(self._factor - 1)}
        self.topics = {PLAIN: rng.randint(1, 2), SPLIT: 1, TRANSACTIONAL: rng.randint(1, 2), TRANSFORMED: 1}
        self._factors = dict.fromkeys(self.topics, self._factor)
        self._factors[SPLIT] = 2
        loose = {"min.insync.replicas": "1"}
        for name, count in self.topics.items():
            configs = loose if name == SPLIT else strict
            self._result(self._create(NewTopic(name, count, self._factors[name], configs=configs)))
        self._result(self._create(NewTopic(LOOSE, 1, self._factor, configs=loose)))
        compacted = {
            **strict,
            "cleanup.policy": "compact",
            "segment.ms": "700",
            "min.cleanable.dirty.ratio": "0.01",
        }
        self._result(self._create(NewTopic(TABLE, 1, self._factor, configs=compacted)))
        self.checker.cleaned.add(TABLE)
        # A client that begins at a broker which is behind would be told that there is no such topic.
        self._until_none(self.checker.unsettled_metadata, START_MS_MAX)

    def _choose_the_cast(self) -> None:
        """Some of what there is, never nothing."""
        rng = self.random
        for number in range(rng.randint(1, 2)):
            self._add_plain_writer(hasty=number == 1 and rng.random() < 0.5)
        if rng.random() < 0.5:
            self._add_transactional_writer("id-0")
        if rng.random() < 0.4:
            self._add_assigned_reader()
        if rng.random() < 0.3:
            self._add_side_writer(LOOSE, acks=1, enable_idempotence=False)
        if rng.random() < 0.25:
            self._add_side_writer(TABLE, keyed=True)
        self._plan_groups()
        chosen = [each for each in self._makers if rng.random() < (0.25 if each == PIPELINE_GROUP else 0.35)]
        for name in list(self._makers):
            if name not in chosen:
                del self._makers[name], self.books.groups[name], self._group_topics[name]
        for group in chosen:
            for _ in range(rng.randint(1, 2)):
                self._add_member(group)
        self.report["pipelines_run"] += PIPELINE_GROUP in chosen

    def _add_side_writer(self, topic: str, **given: Any) -> None:
        writer = PlainWriter(
            self.network, LooseBooks(Counter()), Counter(), self._name("s"), hasty=False, **given
        )
        self._side_writers.append(writer)
        self.report["side_writers"] += 1
        self._go(writer.run([TopicPartition(topic, 0)], 40 + self.random.randrange(4 * self.steps)))

    def _client_names(self) -> list[str]:
        return [each.name for each in self.writers] + [each.name for each in self.readers]

    # -- the end --

    def _busy_writers(self) -> str | None:
        busy = [each.name for each in self._side_writers if not each.done]
        return f"{busy} are not done" if busy else super()._busy_writers()

    def _log_of(self, tp: TopicPartition) -> Log:
        """The leader's, or whoever comes nearest to that."""
        found = [
            (each.partitions[tp].is_leader, each.partitions[tp].leader_epoch, each.partitions[tp].log)
            for each in self.cluster.running()
            if tp in each.partitions
        ]
        if not found:
            raise Violation(f"{tp} is nowhere")
        return max(found, key=lambda each: each[:2])[2]

    def _offset_logs(self) -> list[Log]:
        partitions = {
            tp for each in self.cluster.running() for tp in each.partitions if tp[0] == CONSUMER_OFFSETS_TOPIC
        }
        return [self._log_of(TopicPartition(*tp)) for tp in sorted(partitions)]

    def _sum_up(self) -> None:
        self.report.update(self.network.stats)
        for each in self.cluster.nodes.values():
            self.report.update(each.disk.stats)
        self.report["runs"] += 1
        self.report["virtual_seconds"] += int(self.scheduler.now_ms / 1000)
        self.report["events"] += self.scheduler.events_run
