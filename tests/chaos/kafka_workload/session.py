"""One run of the workload: broker, proxy, workers and faults, then the final reads and the check.

Whatever ends it, also Ctrl-C, the broker is ended with it. A run that touched little proves little, so the
outcome says what was exercised, by kind and result.
"""

from __future__ import annotations

import faulthandler
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from chaos.kafka_workload import brokers
from chaos.kafka_workload.brokers import Broker
from chaos.kafka_workload.checker import CLASSES, CLIENTS_OWN_SKIP, Report, check
from chaos.kafka_workload.cluster_faults import ClusterBroker, ClusterFaults
from chaos.kafka_workload.faults import Faults
from chaos.kafka_workload.fetch_audit import FetchAudit
from chaos.kafka_workload.final_reads import final_reads
from chaos.kafka_workload.history import History
from chaos.kafka_workload.other_clients import make_other_workers
from chaos.kafka_workload.ottla_clients import make_ottla_workers
from chaos.kafka_workload.own_process import OwnProcess
from chaos.kafka_workload.proxy import Plant, Proxy
from chaos.kafka_workload.second_generation import SecondGeneration
from chaos.kafka_workload.shared import PARTITIONS, TOPICS, Shared
from chaos.kafka_workload.workload import Worker, make_workers
from ottla.wire.messages.index import ApiKey

PROGRESS_S = 15.0
WORKER_END_S = 90.0

Say = Callable[[str], None]


@dataclass
class Outcome:
    report: Report
    faults: Counter[str]
    events: Counter[str]
    requests: Counter[str]
    harness: list[str] = field(default_factory=list)
    segments: int = 0
    seconds: float = 0.0
    check_seconds: float = 0.0

    def problems(self) -> list[str]:
        return [f"{name}: {count}" for name, count in self.report.errors.items()] + self.harness

    def summary(self) -> str:
        rolls = self.segments - len(TOPICS) * PARTITIONS
        lines = [
            describe(self.report),
            _table("faults", self.faults),
            _table("clients", self.events),
            _table("requests", self.requests),
            f"segments rolled   {rolls}",
            f"ran {self.seconds:.0f} s, checked in {self.check_seconds:.1f} s",
        ]
        return "\n".join(lines + [f"BROKEN  {problem}" for problem in self.problems()])


def describe(report: Report) -> str:
    by_kind: dict[str, Counter[str]] = {}
    for (kind, outcome), count in report.operations.items():
        by_kind.setdefault(kind, Counter())[outcome] += count
    lines = [
        f"operations  {kind:<8} ok {counts['ok']}, fail {counts['fail']}, info {counts['info']}"
        for kind, counts in sorted(by_kind.items())
    ]
    ended = report.transactions
    lines.append(
        f"transactions      committed {ended['ok']}, aborted {ended['fail']}, unknown {ended['info']}"
    )
    lines.append(
        f"records           sent {report.values}, acknowledged {report.values_acknowledged},"
        f" polled {report.records_polled}"
    )
    lines.append(_table("resets of readers", report.resets))
    lines.append(f"fetches followed  {report.fetches_followed} answers with records")
    lines.append(_table("keys read to end", Counter(report.keys_decided)))
    for name in (*CLASSES, CLIENTS_OWN_SKIP):
        lines.append(f"  {name:<28} {report.counts[name]}")
        lines += [f"      {example}" for example in report.examples.get(name, [])[:5]]
    return "\n".join(lines)


def _table(name: str, counts: Counter[str]) -> str:
    return f"{name:<18}" + ", ".join(f"{what} {count}" for what, count in sorted(counts.items()))


class Session:
    def __init__(
        self,
        system: str,
        seed: int,
        folder: Path,
        say: Say,
        *,
        plant: Plant | None = None,
        nodes: int = 1,
        **shared: Any,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.seed = seed
        self.say = say
        self.history = History(folder / "history.jsonl")
        self.audit = FetchAudit(self.history.stamp)
        self.proxy = Proxy(plant, self.audit, nodes)
        self.proxy.start()
        self.shared = Shared(self.proxy.bootstrap, self.history, seed, **shared)
        self.proxy.dead = self.shared.dead
        self.nodes = nodes
        self.broker: Broker = (
            brokers.make_broker(system, folder, self.proxy.port)
            if nodes == 1
            else ClusterBroker(system, folder, self.proxy, nodes)
        )
        self.harness: list[str] = []

    def run(
        self,
        seconds: float,
        *,
        is_small: bool = False,
        plan: list[str] | None = None,
        with_faults: bool = True,
        reads_finally: bool = True,
        workers: Callable[[Shared], list[Worker]] | None = None,
    ) -> Outcome:
        """Faults for that long, or through the plan; then the end of it all."""
        began_s = time.monotonic()
        self.broker.start()
        try:
            self._point_proxy()
            self._make_topics()
            if workers is not None:
                crew = workers(self.shared)
            else:
                crew = make_workers(self.shared, is_small=is_small, make=OwnProcess)
                crew += make_other_workers(self.shared)
                crew += make_ottla_workers(self.shared, is_small=is_small)
                crew.append(SecondGeneration(self.shared, "second-generation"))
            for worker in crew:
                worker.start()
            kind = ClusterFaults if isinstance(self.broker, ClusterBroker) else Faults
            faults = kind(self.broker, self.proxy, self.shared, crew, self.seed, self.say)
            if plan is not None:
                faults.run_plan(plan)
            else:
                self._disturb(faults, seconds, with_faults=with_faults)
            faults.heal()
            self._point_proxy()
            self._end_workers(crew)
            if reads_finally:
                self.harness += final_reads(self.shared, self.say)
            segments = brokers.segments(self.broker, list(TOPICS))
            if isinstance(self.broker, ClusterBroker):
                self.harness += self.broker.compared_replicas(list(TOPICS), PARTITIONS)
            self.harness += self.shared.failures + self.broker.complaints()
        finally:
            self.shared.stop.set()
            self.broker.kill()
            self.proxy.close()
            self.history.note_wire(self.audit.facts.to_json())
            self.history.close()
        ran_s = time.monotonic() - began_s
        self.say(f"checking {len(self.history.operations)} operations")
        check_began_s = time.monotonic()
        self.harness += self.audit.unreadable[:5]
        report = check(self.history.operations + self.history.under_way(), self.audit.facts)
        if report.unfollowed:
            self.harness.append(f"the audit missed the fetches of {report.unfollowed[:10]}")
        done = Counter(self.proxy.done)
        requests = Counter(
            {f"{ApiKey(key).name} v{version}": count for (key, version), count in self.proxy.seen.items()}
        )
        return Outcome(
            report,
            faults.counts + done,
            self.shared.events,
            requests,
            self.harness,
            segments,
            ran_s,
            time.monotonic() - check_began_s,
        )

    def _point_proxy(self) -> None:
        """One broker may have another port after a start; a cluster's nodes keep theirs."""
        if self.nodes == 1:
            self.proxy.broker_port = self.broker.port

    def _make_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self.proxy.bootstrap, "log_level": 0})
        config = {"retention.ms": "-1", "retention.bytes": "-1"}
        replicas = min(self.nodes, 3)
        topics = [NewTopic(topic, PARTITIONS, replicas, config=config) for topic in TOPICS]
        for future in admin.create_topics(topics, operation_timeout=20, request_timeout=30).values():
            future.result(60)

    def _disturb(self, faults: Faults, seconds: float, *, with_faults: bool) -> None:
        failed: list[BaseException] = []

        def disturb() -> None:
            try:
                faults.run()
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=disturb, name="faults", daemon=True)
        if with_faults:
            thread.start()
        deadline_s = time.monotonic() + seconds
        try:
            while (left_s := deadline_s - time.monotonic()) > 0 and not failed:
                self.shared.stop.wait(min(left_s, PROGRESS_S))
                counts = Counter(operation.outcome for operation in self.history.operations)
                self.say(
                    f"{sum(counts.values())} operations: ok {counts['ok']}, fail {counts['fail']},"
                    f" info {counts['info']}"
                )
        finally:
            faults.stop.set()
            if with_faults:
                thread.join(200)
        self.harness += [f"a fault could not be done: {error!r}" for error in failed]

    def _end_workers(self, crew: list[Worker]) -> None:
        self.say("faults are over, clients end")
        self.shared.stop.set()
        deadline_s = time.monotonic() + WORKER_END_S
        for worker in crew:
            worker.join(max(deadline_s - time.monotonic(), 0))
        stuck = [worker for worker in crew if worker.is_alive()]
        if stuck:
            faulthandler.dump_traceback()
            self.harness += [
                f"{worker.process} does not end; its requests without an answer: "
                f"{self.proxy.unanswered(worker.process)}"
                for worker in stuck
            ]
