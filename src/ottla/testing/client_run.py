"""One simulated story of this package's own clients: the real core, on virtual time, through everything.

Idempotent and transactional producers, consumers by assignment and in groups of both protocols, and pipelines
that do both work against a whole broker through a network that is late and breaks, while the broker is
stopped, killed, crashes at a disk operation or loses its power, and while clients are killed, dawdle and
come back. Nothing of the client is replaced but what a shell brings: sockets, clock, chance (`client_host`).

Then it calms down. Within bounded time everything that was called has to return, everything written has to be
read by every group, every client has to close and leave nothing behind; and the books (`client_books`) are
compared with the logs of the broker after a last restart.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from ottla.client.admin_cluster import FeatureUpgradeType
from ottla.client.admin_topics import NewTopic
from ottla.log.log import Log
from ottla.model.types import CONSUMER_OFFSETS_TOPIC, TopicPartition
from ottla.testing.broker_lives import BrokerLives
from ottla.testing.broker_run import FREQUENT
from ottla.testing.client_stage import PLAIN, SPLIT, TRANSACTIONAL, TRANSFORMED, ClientStage
from ottla.testing.cluster import SimBroker
from ottla.testing.group_run import GROUP_PROPERTIES
from ottla.testing.internal_errors import InternalErrors
from ottla.testing.network import NetworkFaults, SimNetwork
from ottla.testing.scheduler import Scheduler
from ottla.testing.txn_run import TXN_PROPERTIES

ACTIONS_MS: Final = 900.0
TOPIC_BYTES_MAX: Final = 420


class ClientRun(ClientStage, BrokerLives):
    def __init__(
        self, seed: int, *, steps: int = 20, crashes: int | None = None, slow_rate: float | None = None
    ) -> None:
        """`steps`: how many things happen to clients while they work."""
        self.seed = seed
        self.steps = steps
        scheduler = Scheduler(seed)
        rng = scheduler.random
        network = SimNetwork(
            scheduler,
            NetworkFaults(
                break_before_request=rng.choice((0.0, 0.01, 0.03)),
                break_before_reply=rng.choice((0.0, 0.01, 0.04)),
                break_after_reply=rng.choice((0.0, 0.02)),
                slow_rate=rng.choice((0.0, 0.03)) if slow_rate is None else slow_rate,
            ),
        )
        power_losses = rng.random() < 0.5
        properties = {
            **FREQUENT,
            **TXN_PROPERTIES,
            **GROUP_PROPERTIES,
            "offsets.topic.num.partitions": str(rng.randint(1, 2)),
            "transaction.state.log.num.partitions": str(rng.randint(1, 2)),
            "group.initial.rebalance.delay.ms": str(rng.choice((0, 300))),
            "log.roll.ms": str(rng.choice((1_500, 604_800_000))),
        }
        if power_losses:
            properties["log.flush.interval.messages"] = "1"
        broker = SimBroker(scheduler, network, properties=properties)
        super().__init__(
            scheduler,
            network,
            broker,
            crashes=max(2, steps // 6) if crashes is None else crashes,
            power_losses=power_losses,
        )
        self._begin_cast(steps)

    def run(self) -> Counter[str]:
        try:
            with InternalErrors(), self._failures:
                self._run()
        except Exception as error:
            raise AssertionError(
                f"{error}\nrepeat with: python -m ottla.testing.run --part clients --seed {self.seed}"
                f" --steps {self.steps}"
            ) from error
        finally:
            self._end()
        self._sum_up()
        return self.report

    # -- the story --

    def _run(self) -> None:
        rng = self.random
        self._start_broker()
        self._prepare()
        for number in range(rng.randint(2, 3)):
            self._add_plain_writer(hasty=number == 1 and rng.random() < 0.7)
        for number in range(rng.randint(1, 2)):
            self._add_transactional_writer(f"id-{number}")
        for _ in range(rng.randint(1, 2)):
            self._add_assigned_reader()
        for group in self._plan_groups():
            for _ in range(rng.randint(1, 3)):
                self._add_member(group)
        self._plan_crash()
        for _ in range(self.steps):
            self._run_for(rng.random() * ACTIONS_MS)
            self._something_happens()
        self._calm_down()
        self._settle()
        self._check()
        self.broker.stop()
        self.report["clean_shutdowns"] += 1
        self.broker.next_disk(power_loss=True)
        self._start_broker()
        self._check()

    def _event_over(self) -> None:
        self._failures.check()
        if not self.broker.up:
            self.report["crashes"] += 1

    def _downtime_ms(self) -> float:
        rng = self.random
        return rng.random() * rng.choice((100.0, 500.0, 4_000.0))

    def _plan_crash(self) -> None:
        if self.crashes_left <= 0:
            return
        self.crashes_left -= 1
        rng = self.random
        kind = rng.random()
        if kind < 0.5:
            when = rng.choice(("before", "torn", "after"))
            self.broker.disk.crash_at(self.broker.disk.operations + rng.randrange(600), when)  # type: ignore[arg-type]
        elif kind < 0.85:
            self.scheduler.call_after(rng.random() * 6_000.0, self._kill)
        else:
            self.scheduler.call_after(rng.random() * 6_000.0, self._stop_cleanly)

    def _kill(self) -> None:
        if not self._calm:
            self.broker.crash()

    def _stop_cleanly(self) -> None:
        if self.broker.up and not self._calm and self.broker.stop():
            self.report["clean_shutdowns"] += 1

    # -- the cast --

    def _prepare(self) -> None:
        rng, admin = self.random, self._admin.admin
        self.topics = {
            PLAIN: rng.randint(1, 3),
            SPLIT: rng.randint(1, 2),
            TRANSACTIONAL: rng.randint(1, 2),
            TRANSFORMED: rng.randint(1, 2),
        }
        configs = {SPLIT: {"max.message.bytes": str(TOPIC_BYTES_MAX)}}
        for name, count in self.topics.items():
            self._result(self._create(NewTopic(name, count, 1, configs=configs.get(name, {}))))
        if rng.random() < 0.4:
            self.report["runs_of_generation_1"] += 1
            # An EndTxn that arrives after its client gave it up ends the next transaction, and nobody can
            # tell (which KIP-890 is about): in the first generation, nothing is as late as that.
            self._never_late = True
            self.network.faults.slow_rate = 0.0
            self._result(
                self._ask(
                    lambda: admin.update_features(
                        {"transaction.version": 1}, upgrade_type=FeatureUpgradeType.SAFE_DOWNGRADE
                    ),
                    "features",
                )
            )

    # -- the end --

    def _calm_down(self) -> None:
        self.network.faults.calm()
        self.crashes_left = 0
        self._calm = True
        self.broker.disk.cancel_crash()
        if not self.broker.up:
            self._restart()
        self._calm_the_cast()

    def _log_of(self, tp: TopicPartition) -> Log:
        node = self.broker.node
        assert node is not None
        return node.partitions[tp].log

    def _offset_logs(self) -> list[Log]:
        node = self.broker.node
        assert node is not None
        return [each.log for tp, each in node.partitions.items() if tp[0] == CONSUMER_OFFSETS_TOPIC]
