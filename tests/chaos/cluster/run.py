"""`make cluster-chaos`: idempotent writers on a replicated topic while brokers are killed and the network is
cut, and a check of everything that is left.

    python tests/chaos/cluster/run.py --records 2000000 --kills 30 --cuts 10 --seed 7
    python tests/chaos/cluster/run.py --system kafka --records 60000 --kills 3 --cuts 1
    python tests/chaos/cluster/run.py --plant lost

Replication factor 3, acks=all, min.insync.replicas=2; half of the writers are librdkafka's, half Ottla's; a
consumer group reads and commits along. In the end every acknowledged record has to be there once and in order
(`checker.py`), the replicas have to be equal byte for byte up to the high watermark (`replicas.py`), the
group's commits have to be there, and every node has to end cleanly without having written down an internal
error. `--plant` damages what was written before the check, which then has to find it.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

from chaos.cluster import own_world, replicas
from chaos.cluster.checker import Found, PartitionCheck, Verdict, check_commits, check_reads
from chaos.cluster.cluster import SYSTEMS, Cluster
from chaos.cluster.faults import Faults, drawn_plan
from chaos.cluster.network import Loopback, Namespaces, Network
from chaos.cluster.pace import UNLIMITED, Pace
from chaos.cluster.plants import PLANTS, Plant
from chaos.cluster.records import ACK, COMMITTED, SEEN, entries, load_written

TOPIC = "chaos"
GROUP = "chaos-readers"
SETTINGS = {
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "replica.lag.time.max.ms": "5000",
    "group.min.session.timeout.ms": "1000",
}
"""A broker that is gone is noticed in seconds, so that a run has room for many faults."""
FIRST_FAULT_S = 10.0
"""What a fault is guessed to take, until some are over."""
FINISH_S = 600.0
READ_S = 600.0

Say = Callable[[str], None]


@dataclass
class Plan:
    system: str = "ottla"
    nodes: int = 3
    records: int = 2_000_000
    partitions: int = 12
    writers: int = 4
    kills: int = 30
    cuts: int = 10
    pauses: int = 3
    restarts: int = 2
    wipes: int = 1
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    plant: str = ""


@dataclass
class Outcome:
    records: int = 0
    acked: int = 0
    read: int = 0
    read_along: int = 0
    commits: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    leader_epochs: int = 0
    controller_epoch: int = 0
    silence_s_max: float = 0.0
    silence: str = ""
    produced_in_s: float = 0.0
    checked_in_s: float = 0.0
    batches: int = 0
    replica_bytes: int = 0
    problems: list[str] = field(default_factory=list)

    def summary(self) -> str:
        faults = ", ".join(f"{name} {count}" for name, count in sorted(self.faults.items()))
        lines = [
            f"records           sent {self.records:,}, acknowledged {self.acked:,}, read back {self.read:,}",
            f"read along        {self.read_along:,} records, {self.commits:,} commits acknowledged",
            f"kills             {self.faults['kills']}, cuts {self.faults['cuts']} ({faults})",
            f"elections         {self.leader_epochs} of partition leaders, "
            f"{self.controller_epoch} epochs of controllers",
            f"longest pause     {self.silence_s_max:.1f} s without an acknowledgement in one partition"
            f"{self.silence}",
            f"replicas compared {self.batches:,} batches, {self.replica_bytes / 1e6:.0f} MB",
            f"took              {self.produced_in_s:.0f} s to write, {self.checked_in_s:.0f} s to check",
        ]
        return "\n".join(lines + [f"BROKEN  {problem}" for problem in self.problems])


class Run:
    def __init__(self, plan: Plan, folder: Path, network: Network, say: Say) -> None:
        self.plan = plan
        self.folder = folder
        self.say = say
        self.cluster = Cluster(
            SYSTEMS[plan.system](), folder, network, range(1, plan.nodes + 1), {**SETTINGS, **plan.settings}
        )
        self.outcome = Outcome(records=plan.records)
        self._pace = Pace(folder / "pace", plan.writers)
        self._shares = [
            plan.records // plan.writers + (at < plan.records % plan.writers) for at in range(plan.writers)
        ]
        self._writers: list[subprocess.Popen[bytes]] = []
        self._reader: subprocess.Popen[bytes] | None = None
        self._settled = threading.Event()
        self._faults_done = 0
        self._faults_wanted = 0

    def run(self) -> Outcome:
        plan, cluster = self.plan, self.cluster
        try:
            cluster.start()
            cluster.create_topic(
                TOPIC, plan.partitions, min_insync_replicas="2", segment_bytes="16777216", retention_ms="-1"
            )
            self.say(f"{plan.nodes} nodes are up, {plan.partitions} partitions with three replicas each")
            began_s = time.monotonic()
            self._start_clients()
            self._disturb()
            self._finish_writing()
            self.outcome.produced_in_s = time.monotonic() - began_s
            began_s = time.monotonic()
            self._check()
            self.outcome.checked_in_s = time.monotonic() - began_s
        except BaseException:
            self.say(cluster.seen(TOPIC))
            raise
        finally:
            self._settled.set()
            for process in [*self._writers, *([self._reader] if self._reader else [])]:
                process.kill()
                process.wait()
            cluster.close()
        return self.outcome

    # --- the clients --------------------------------------------------------------------------------------

    def _start_clients(self) -> None:
        plan = self.plan
        here = Path(__file__).parent
        task: dict[str, Any] = {"bootstrap": self.cluster.bootstrap, "topic": TOPIC}
        for writer, share in enumerate(self._shares):
            task |= {
                "client": "librdkafka" if writer % 2 == 0 else "ottla",
                "writer": writer,
                "records": share,
                "partitions": plan.partitions,
                "pace": str(self.folder / "pace"),
                "acks": str(self.folder / f"acks-{writer}"),
                "summary": str(self.folder / f"summary-{writer}"),
            }
            self._writers.append(
                subprocess.Popen([sys.executable, str(here / "writer.py"), json.dumps(task)])
            )
        task |= {
            "group": GROUP,
            "seen": str(self.folder / "seen"),
            "committed": str(self.folder / "committed"),
        }
        self._reader = subprocess.Popen(
            [sys.executable, str(here / "reader.py"), json.dumps(task)], stdin=subprocess.PIPE
        )
        threading.Thread(target=self._keep_pace, name="pace", daemon=True).start()

    def _acked(self) -> int:
        return sum(
            path.stat().st_size // ACK.size
            for writer in range(self.plan.writers)
            if (path := self.folder / f"acks-{writer}").exists()
        )

    def _keep_pace(self) -> None:
        """Lets the writers send as much as is left in the time that the faults which are left will take."""
        began_s = time.monotonic()
        sent = 0.0
        last_s = began_s
        while not self._settled.wait(0.05):
            now_s = time.monotonic()
            left = self._faults_wanted - self._faults_done
            if self._faults_wanted and left <= 0:
                break
            each_s = FIRST_FAULT_S
            if self._faults_done >= 3:
                each_s = (now_s - began_s) / self._faults_done
            rate = (self.plan.records - sent) / ((left + 1) * each_s)
            sent += rate * (now_s - last_s)
            last_s = now_s
            for writer, share in enumerate(self._shares):
                self._pace.allow(writer, int(share * sent / self.plan.records))
        for writer in range(self.plan.writers):
            self._pace.allow(writer, UNLIMITED)

    def _disturb(self) -> None:
        plan = self.plan
        faults = Faults(
            self.cluster, TOPIC, plan.partitions, plan.seed, self._say_progress, progress=self._acked
        )
        self.outcome.faults = faults.counts
        names = drawn_plan(
            plan.seed,
            kills=plan.kills,
            cuts=plan.cuts,
            pauses=plan.pauses,
            restarts=plan.restarts,
            wipes=plan.wipes,
        )
        self._faults_wanted = max(1, len(names))
        moving = max(1, plan.records // (len(names) + 1) // 10)
        faults.wait_for_progress(moving)
        for name in names:
            self._watch_clients()
            faults.do(name)
            faults.wait_for_progress(moving)
            self._faults_done += 1
        self._faults_done = self._faults_wanted
        faults.heal()

    def _say_progress(self, line: str) -> None:
        self.say(f"{self._acked():>9,} acknowledged  {line}")

    def _watch_clients(self) -> None:
        for writer, process in enumerate(self._writers):
            assert process.poll() in (None, 0), f"writer {writer} ended with {process.returncode}"
        assert self._reader is not None and self._reader.poll() is None, "the reader ended"

    def _finish_writing(self) -> None:
        self.say("the faults are over, the writers finish")
        deadline_s = time.monotonic() + FINISH_S
        for writer, process in enumerate(self._writers):
            try:
                code = process.wait(max(0.0, deadline_s - time.monotonic()))
            except subprocess.TimeoutExpired:
                raise AssertionError(
                    f"writer {writer} does not finish: {self._acked()} of {self.plan.records} are"
                    f" acknowledged; {self.cluster.seen(TOPIC)}"
                ) from None
            assert code == 0, f"writer {writer} ended with {code}"
            summary = json.loads((self.folder / f"summary-{writer}").read_text())
            if summary["silence_s_max"] > self.outcome.silence_s_max:
                self.outcome.silence_s_max = summary["silence_s_max"]
                self.outcome.silence = (
                    f" (partition {summary['slowest_partition']}, writer {writer}, until"
                    f" {summary['silence_ended_at']})"
                )
            if summary["errors"]:
                self.outcome.problems.append(
                    f"writer {writer}: {summary['errors']} records failed, {summary['first_errors']}"
                )
        assert self._reader is not None and self._reader.stdin is not None
        self._reader.stdin.close()
        assert self._reader.wait(60) == 0, "the reader did not end"
        self.cluster.wait_in_sync(TOPIC, self.plan.partitions)

    # --- the check ----------------------------------------------------------------------------------------

    def _check(self) -> None:
        plan, cluster, outcome = self.plan, self.cluster, self.outcome
        plant = PLANTS[plan.plant] if plan.plant else Plant()
        states = cluster.partitions(TOPIC)
        outcome.leader_epochs = sum(state.leader_epoch for state in states)
        quorum = cluster.quorum()
        outcome.controller_epoch = -1 if quorum is None else quorum.epoch
        written = []
        for writer in range(plan.writers):
            summary = json.loads((self.folder / f"summary-{writer}").read_text())
            written.append(load_written(self.folder / f"acks-{writer}", summary["sent"]))
        outcome.acked = sum(each.acked for each in written)
        verdict = Verdict()
        checks = {at: PartitionCheck(at, written, verdict) for at in range(plan.partitions)}
        self.say("reading everything back")
        ends = self._read_all(checks, plant)
        for partition, check in checks.items():
            check.finish(ends[partition])
        outcome.read = verdict.read
        seen = plant.seen(entries(self.folder / "seen", SEEN))
        outcome.read_along = check_reads(seen, checks, verdict)
        committed = plant.committed(self._committed())
        outcome.commits = check_commits(entries(self.folder / "committed", COMMITTED), committed, verdict)
        for problem in verdict.problems():
            outcome.problems.append(problem)
        self.say("stopping all nodes, comparing the replicas' files")
        codes = cluster.stop()
        if any(code not in (0, 143) for code in codes):
            outcome.problems.append(f"the nodes ended with {codes}")
        for state in states:
            folders = {
                node: cluster.nodes[node].data_dir / f"{TOPIC}-{state.partition}" for node in state.replicas
            }
            plant.files(folders)
            compared = replicas.compare(folders, ends[state.partition])
            outcome.batches += compared.batches
            outcome.replica_bytes += compared.bytes
            outcome.problems += [f"replicas of {state.partition}: {each}" for each in compared.problems[:5]]
        outcome.problems += cluster.complaints()[:5]

    def _read_all(self, checks: Mapping[int, PartitionCheck], plant: Plant) -> dict[int, int]:
        """Hands every record to its partition's check; the high watermarks."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.cluster.bootstrap,
                "group.id": "unused",
                "enable.auto.commit": False,
                "check.crcs": True,
                "log_level": 2,
            }
        )
        try:
            ends: dict[int, int] = {}
            for partition in checks:
                low_high = consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), timeout=30)
                assert low_high is not None, f"no watermark of partition {partition}"
                ends[partition] = low_high[1]
            waiting = {partition for partition, end in ends.items() if end}
            consumer.assign([TopicPartition(TOPIC, partition, OFFSET_BEGINNING) for partition in waiting])
            deadline_s = time.monotonic() + READ_S
            while waiting:
                assert time.monotonic() < deadline_s, (
                    f"partitions {sorted(waiting)} cannot be read to their ends"
                )
                for message in consumer.consume(10_000, 0.5):
                    assert message.error() is None, message.error()
                    partition, offset = message.partition(), message.offset()
                    assert partition is not None and offset is not None
                    found = Found(offset, bytes(message.key() or b""), bytes(message.value() or b""))
                    for record in plant.read(partition, found):
                        checks[partition].record(record)
                    if offset + 1 >= ends[partition]:
                        waiting.discard(partition)
            return ends
        finally:
            consumer.close()

    def _committed(self) -> dict[int, int]:
        consumer = Consumer({"bootstrap.servers": self.cluster.bootstrap, "group.id": GROUP, "log_level": 2})
        try:
            asked = [TopicPartition(TOPIC, partition) for partition in range(self.plan.partitions)]
            found = consumer.committed(asked, timeout=60)
            return {each.partition: each.offset for each in found if each.error is None}
        finally:
            consumer.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").split("\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    plan = Plan()
    parser.add_argument("--system", choices=list(SYSTEMS), default=plan.system)
    parser.add_argument("--nodes", type=int, choices=[3, 5], default=plan.nodes)
    for name in ("records", "partitions", "writers", "kills", "cuts", "pauses", "restarts", "wipes"):
        parser.add_argument(f"--{name}", type=int, default=getattr(plan, name))
    parser.add_argument("--seed", type=int, default=None, help="replays a plan; drawn and printed otherwise")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a broker's setting")
    parser.add_argument("--plant", choices=list(PLANTS), default="", help="damage that has to be found")
    parser.add_argument(
        "--folder", type=Path, default=None, help="kept; a temporary one is not, when all is well"
    )
    parser.add_argument("--quiet", action="store_true", help="only the report")
    arguments = parser.parse_args()
    seed = random.randrange(1_000_000) if arguments.seed is None else arguments.seed
    if arguments.seed is None:
        sys.orig_argv += ["--seed", str(seed)]
    has_network = own_world.enter(network=True)
    if not has_network and arguments.cuts:
        sys.exit("cutting the network needs namespaces: run as root, or with --cuts 0")
    # `timeout` and the like end everything, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    names = vars(arguments).keys() & Plan.__dataclass_fields__.keys()
    settings = dict(pair.split("=", 1) for pair in arguments.set)
    plan = Plan(**{name: getattr(arguments, name) for name in names} | {"seed": seed, "settings": settings})
    folder = arguments.folder or Path(tempfile.mkdtemp(prefix="cluster-chaos-"))
    print(f"seed {seed}, {plan.system}, {plan.nodes} nodes, everything in {folder}", flush=True)
    began_s = time.monotonic()

    def say(line: str) -> None:
        if not arguments.quiet:
            print(f"  {time.monotonic() - began_s:7.1f} s  {line}", flush=True)

    nodes = range(1, plan.nodes + 1)
    try:
        outcome = Run(plan, folder, Namespaces(nodes) if has_network else Loopback(nodes), say).run()
    except KeyboardInterrupt:
        sys.exit("interrupted; everything was ended")
    print(outcome.summary(), flush=True)
    if plan.plant:
        sys.exit(_judge_plant(plan.plant, outcome))
    if outcome.problems:
        sys.exit(f"promises were broken, see {folder}; replay with --seed {seed}")
    print("every acknowledged record is there once and in order, and all replicas are equal")
    if arguments.folder is None:
        shutil.rmtree(folder)


def _judge_plant(name: str, outcome: Outcome) -> str | int:
    wanted = PLANTS[name].expected
    if any(wanted in problem for problem in outcome.problems):
        print(f"planted {name}: found")
        return 0
    return f"planted {name}: MISSED"


if __name__ == "__main__":
    main()
