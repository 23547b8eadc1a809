"""A cluster in virtual time for the fetcher: logs, leaders, sessions and long polls as brokers have them.

The client's own scheduler runs its tasks; calls are answered by `Stage` after a network delay. Brokers check
what real ones check (session ids and epochs, leader epochs, topic ids, offsets), so a client that gets its
requests wrong does not get its data. Tests add what brokers seldom do: refuse, lie, cut, die.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ottla.client.bootstrap import Directory
from ottla.client.cluster import Cluster
from ottla.client.consuming.decode import Decoder
from ottla.client.consuming.fetcher import Fetcher
from ottla.client.effects import ANY_BROKER, Call, ClientSteps, Task, Versioned
from ottla.client.errors import BrokerUnavailable, OttlaError, RequestTimedOut, UnsupportedVersion
from ottla.client.metadata import Metadata
from ottla.client.metrics import Metrics
from ottla.client.runtime.pending import CallWaiter, PendingCall
from ottla.client.runtime.scheduler import Scheduler
from ottla.client.settings import ConsumerSettings
from ottla.client.view import Address
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.wire.messages import fetch, list_offsets, metadata, offset_for_leader_epoch
from ottla.wire.messages.index import APIS
from ottla.wire.primitives import Encoder
from ottla.wire.record_batch import Record, encode_batch, read_header


class VirtualClock:
    def __init__(self) -> None:
        self.elapsed_ms = 1_000.0

    def now_ms(self) -> int:
        return 1_700_000_000_000 + int(self.elapsed_ms)

    def monotonic_ms(self) -> float:
        return self.elapsed_ms


@dataclass
class Log:
    """One partition: its batches, and who leads it."""

    leader: int = 1
    epoch: int = 0
    batches: list[bytes] = field(default_factory=list)
    start: int = 0
    next_offset: int = 0
    last_stable: int | None = None
    aborted: list[tuple[int, int]] = field(default_factory=list)
    """(producer id, first offset)"""
    offline: list[int] = field(default_factory=list)
    preferred: int = -1
    """The replica that the leader sends consumers with a rack to."""
    errors: list[int] = field(default_factory=list)
    """What the next fetches are answered with."""
    truncated: bool = False
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """(epoch, first offset)"""

    def append(self, count: int = 1, *, size: int = 10, **options: Any) -> None:
        if not self.epochs or self.epochs[-1][0] != self.epoch:
            self.epochs.append((self.epoch, self.next_offset))
        records = [
            Record(0, 1_000 * (self.next_offset + i), b"k%06d" % (self.next_offset + i), b"v" * size)
            for i in range(count)
        ]
        batch = encode_batch(records, base_offset=self.next_offset, leader_epoch=self.epoch, **options)
        self.batches.append(bytes(batch))
        self.next_offset += count

    def append_raw(self, batch: bytes) -> None:
        self.batches.append(batch)
        self.next_offset = read_header(batch).next_offset

    def truncate(self, offset: int) -> None:
        self.batches = [b for b in self.batches if read_header(b).next_offset <= offset]
        self.next_offset = offset
        self.epochs = [entry for entry in self.epochs if entry[1] < offset]

    def read(self, offset: int, max_bytes: int) -> bytes:
        found = b""
        for batch in self.batches:
            if read_header(batch).next_offset > offset:
                if found and len(found) + len(batch) > max_bytes:
                    break
                found += batch
        return found

    def end_of_epoch(self, epoch: int) -> tuple[int, int]:
        """What OffsetForLeaderEpoch answers: the largest epoch not above, and where it ends."""
        for i in reversed(range(len(self.epochs))):
            if self.epochs[i][0] <= epoch:
                end = self.epochs[i + 1][1] if i + 1 < len(self.epochs) else self.next_offset
                return self.epochs[i][0], end
        return -1, -1


class BrokerSession:
    def __init__(self, number: int) -> None:
        self.number = number
        self.epoch = 1
        self.partitions: dict[tuple[bytes, int], fetch.FetchPartition] = {}
        self.told: dict[tuple[bytes, int], tuple[int, int, int]] = {}


@dataclass(eq=False)
class Held:
    """A fetch that waits at its broker."""

    node_id: int
    request: fetch.FetchRequest
    version: int
    pending: PendingCall
    session: BrokerSession | None = None
    keys: dict[tuple[bytes, int], fetch.FetchPartition] = field(default_factory=dict)
    done: bool = False


class Stage:
    """A Host for the core, and the cluster that it talks to."""

    def __init__(self, **settings: Any) -> None:
        self.clock = VirtualClock()
        self.scheduler = Scheduler(self.clock)
        self.scheduler.caller = Wire(self)
        self.settings = ConsumerSettings(bootstrap_servers="seed:9092", **settings)
        self.directory = Directory([Address("seed", 9092)])
        self.cluster = Cluster(self.directory, self.clock, self.chance)
        self.metrics = Metrics(self.clock)
        self.host = self
        self.metadata = Metadata(self.cluster, self, self.settings)
        self.topics: dict[str, list[Log]] = {}
        self.topic_ids: dict[str, bytes] = {}
        self.topic_errors: dict[str, int] = {}
        self.nodes: set[int] = {1}
        self.dead: set[int] = set()
        self.delay_ms = 1.0
        self.versions: dict[str, int] = {}
        self.overrides: dict[str, Callable[[int, Any], Any]] = {}
        """By API: answers in the place of the broker's own; None leaves it to that."""
        self.silent: set[str] = set()
        """APIs that are not answered before their time is up."""
        self.calls: list[tuple[str, int, Any]] = []
        self.held: list[Held] = []
        self.sessions: dict[tuple[int, int], BrokerSession] = {}
        self.with_sessions = True
        self.hints = False
        """Whether brokers say who leads now (KIP-951)."""
        self.in_flight: dict[int, int] = {}
        self.in_flight_max = 0
        self._session_count = 100
        self.fetcher = Fetcher(self, self.settings, Decoder.of(self.settings))  # type: ignore[arg-type]

    # -- the host --

    def chance(self) -> float:
        return 0.5

    def spawn(self, steps: ClientSteps[Any], name: str) -> Task[Any]:
        return self.scheduler.spawn(steps, name)

    def later(self, function: Callable[[], None]) -> None:
        function()

    # -- what tests do --

    def topic(self, name: str, count: int = 1, leaders: Iterable[int] = (1,)) -> list[Log]:
        chosen = list(leaders)
        self.topics[name] = [Log(leader=chosen[i % len(chosen)]) for i in range(count)]
        self.topic_ids[name] = f"{name}/{len(self.topic_ids)}".encode().ljust(16, b"\0")[:16]
        self.nodes.update(chosen)
        return self.topics[name]

    def start(self, *tps: TopicPartition, at: int | None = 0) -> Fetcher:
        self.fetcher.start()
        self.fetcher.assign(tps)
        if at is not None:
            for tp in tps:
                self.fetcher.seek(tp, at)
        return self.fetcher

    def appended(self) -> None:
        """Tells the fetches that wait."""
        for held in list(self.held):
            self._try(held, last=False)

    def run(self, until: Callable[[], Any] | None = None, limit_ms: float = 20_000) -> Any:
        """Time passes until the condition holds; without one, until nothing happens any more or the limit."""
        end_ms = self.clock.elapsed_ms + limit_ms
        while True:
            while self.scheduler.ready:
                self.scheduler.run_ready()
            if until is not None and (found := until()):
                return found
            if self.scheduler.ready:  # the condition itself has set something going
                continue
            at_ms = self.scheduler.next_timer_ms()
            if at_ms is None or at_ms > end_ms:
                if until is not None:
                    raise AssertionError(f"did not happen within {limit_ms} ms of virtual time")
                self.clock.elapsed_ms = max(self.clock.elapsed_ms, end_ms)
                return None
            self.clock.elapsed_ms = max(self.clock.elapsed_ms, at_ms)
            self.scheduler.run_timers()

    def do(self, steps: ClientSteps[Any], limit_ms: float = 100_000) -> Any:
        task = self.scheduler.start(steps, "an operation")
        self.run(lambda: task.done, limit_ms)
        return task.result()

    def take(self, count: int, limit_ms: float = 20_000) -> list[Any]:
        """Polls until so many records are there."""
        taken: list[Any] = []

        def enough() -> bool:
            taken.extend(self.fetcher.take(count - len(taken)))
            return len(taken) >= count

        self.run(enough, limit_ms)
        return taken

    def requests(self, api: str = "Fetch") -> list[Any]:
        return [request for name, _, request in self.calls if name == api]

    # -- the network --

    def _version(self, call: Call) -> int:
        api = APIS[call.api_key]
        version = min(api.max_version, call.version_max, self.versions.get(api.name, 32767))
        if version < api.min_version:
            raise UnsupportedVersion(f"no common version of {api.name}")
        return version

    def answer(self, call: Call, pending: PendingCall) -> None:
        api = APIS[call.api_key]
        node_id = call.node_id
        if node_id == ANY_BROKER:
            alive = sorted(self.nodes - self.dead)
            if not alive:
                pending.failed(BrokerUnavailable("seed:9092"))
                return
            node_id = alive[0]
        if node_id in self.dead or node_id not in self.nodes:
            pending.failed(BrokerUnavailable(f"host{node_id}:9092"))
            return
        try:
            version = self._version(call)
            request: Any = (
                call.request.build(version) if isinstance(call.request, Versioned) else call.request
            )
        except OttlaError as error:
            pending.failed(error)
            return
        request.encode(Encoder(), version)  # raises for fields that the version does not have
        self.calls.append((api.name, node_id, request))
        override = self.overrides.get(api.name)
        if override is not None:
            try:
                answer = override(node_id, request)
            except OttlaError as error:
                pending.failed(error)
                return
            if answer is not None:
                pending.answered(answer)
                return
        if api.name == "Fetch":
            self._fetch(node_id, request, version, pending)
        elif api.name == "Metadata":
            pending.answered(self._metadata(request))
        elif api.name == "ListOffsets":
            pending.answered(self._list_offsets(node_id, request))
        else:
            assert api.name == "OffsetForLeaderEpoch", api.name
            pending.answered(self._epochs(node_id, request))

    # -- the brokers --

    def _metadata(self, request: Any) -> metadata.MetadataResponse:
        wanted = list(self.topics) if request.topics is None else [topic.name for topic in request.topics]
        return metadata.MetadataResponse(
            brokers=[
                metadata.MetadataResponseBroker(node_id=n, host=f"host{n}", port=9092)
                for n in sorted(self.nodes)
            ],
            cluster_id="cluster",
            controller_id=1,
            topics=[
                metadata.MetadataResponseTopic(
                    error_code=self.topic_errors.get(name, 0 if name in self.topics else 3),
                    name=name,
                    topic_id=self.topic_ids.get(name, bytes(16)),
                    partitions=[
                        metadata.MetadataResponsePartition(
                            partition_index=index,
                            leader_id=log.leader,
                            leader_epoch=log.epoch,
                            replica_nodes=sorted(self.nodes),
                            isr_nodes=sorted(self.nodes),
                            offline_replicas=log.offline,
                        )
                        for index, log in enumerate(self.topics.get(name, []))
                    ],
                )
                for name in wanted
            ],
        )

    def _list_offsets(self, node_id: int, request: Any) -> list_offsets.ListOffsetsResponse:
        topics = []
        for topic in request.topics:
            partitions = []
            for wanted in topic.partitions:
                log = self._log(topic.name, wanted.partition_index)
                answer = list_offsets.ListOffsetsPartitionResponse(partition_index=wanted.partition_index)
                if log is None:
                    answer.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                elif log.leader != node_id:
                    answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                elif wanted.timestamp == -2:
                    answer.offset = log.start
                elif wanted.timestamp == -1:
                    stable = log.next_offset if log.last_stable is None else log.last_stable
                    answer.offset = stable if request.isolation_level else log.next_offset
                else:
                    offset = max(log.start, -(-wanted.timestamp // 1_000))
                    if offset < log.next_offset:
                        answer.offset, answer.timestamp = offset, offset * 1_000
                partitions.append(answer)
            topics.append(list_offsets.ListOffsetsTopicResponse(name=topic.name, partitions=partitions))
        return list_offsets.ListOffsetsResponse(topics=topics)

    def _epochs(self, node_id: int, request: Any) -> Any:
        topics = []
        for topic in request.topics:
            partitions = []
            for wanted in topic.partitions:
                log = self._log(topic.topic, wanted.partition)
                answer = offset_for_leader_epoch.EpochEndOffset(partition=wanted.partition)
                if log is None or log.leader != node_id:
                    answer.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
                elif wanted.current_leader_epoch < log.epoch:
                    answer.error_code = ErrorCode.FENCED_LEADER_EPOCH
                else:
                    answer.leader_epoch, answer.end_offset = log.end_of_epoch(wanted.leader_epoch)
                partitions.append(answer)
            result = offset_for_leader_epoch.OffsetForLeaderTopicResult(
                topic=topic.topic, partitions=partitions
            )
            topics.append(result)
        return offset_for_leader_epoch.OffsetForLeaderEpochResponse(topics=topics)

    def _log(self, topic: str, index: int) -> Log | None:
        logs = self.topics.get(topic, [])
        return logs[index] if 0 <= index < len(logs) else None

    def _fetch(self, node_id: int, request: fetch.FetchRequest, version: int, pending: PendingCall) -> None:
        held = Held(node_id, request, version, pending)
        session: BrokerSession | None = None
        keys = self._keys(request, version)
        if request.session_epoch == -1:  # the end of a session
            self.sessions.pop((node_id, request.session_id), None)
        elif request.session_epoch == 0:
            self.sessions.pop((node_id, request.session_id), None)
            if self.with_sessions and version >= 7:
                self._session_count += 1
                session = BrokerSession(self._session_count)
                session.partitions = keys
                self.sessions[node_id, session.number] = session
        else:
            session = self.sessions.get((node_id, request.session_id))
            code = 0
            if session is None:
                code = ErrorCode.FETCH_SESSION_ID_NOT_FOUND
            elif session.epoch != request.session_epoch:
                code = ErrorCode.INVALID_FETCH_SESSION_EPOCH
            if code or session is None:
                pending.answered(fetch.FetchResponse(error_code=code))
                return
            session.epoch += 1
            for topic in request.forgotten_topics_data:
                for index in topic.partitions:
                    session.partitions.pop((self._key(topic, version), index), None)
            session.partitions.update(keys)
            for key in keys:
                session.told.pop(key, None)
        held.session = session
        held.keys = keys if session is None else session.partitions
        if not self._try(held, last=request.session_epoch == -1 and request.session_id != 0):
            self.held.append(held)
            self.scheduler.timer(
                self.clock.elapsed_ms + request.max_wait_ms, lambda: self._try(held, last=True)
            )

    def _key(self, topic: Any, version: int) -> bytes:
        return bytes(topic.topic_id) if version >= 13 else topic.topic.encode()

    def _keys(self, request: Any, version: int) -> dict[tuple[bytes, int], fetch.FetchPartition]:
        return {
            (self._key(topic, version), partition.partition): partition
            for topic in request.topics
            for partition in topic.partitions
        }

    def _try(self, held: Held, *, last: bool) -> bool:
        """Answers a fetch if there is something to say, or the time is up."""
        if held.done:
            return True
        request, session = held.request, held.session
        topics: dict[bytes, list[fetch.PartitionData]] = {}
        size_bytes, errors = 0, False
        left = request.max_bytes
        told: dict[tuple[bytes, int], tuple[int, int, int]] = {}
        spent: list[Log] = []
        for key, wanted in list(held.keys.items()):
            if held.version >= 13:
                name = next((n for n, i in self.topic_ids.items() if i == key[0]), None)
            else:
                name = key[0].decode()
            data = fetch.PartitionData(partition_index=key[1], high_watermark=-1, records=b"")
            log = None if name is None else self._log(name, key[1])
            if name is None:
                data.error_code = ErrorCode.UNKNOWN_TOPIC_ID
            elif log is None:
                data.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            else:
                self._look(log, held, wanted, data, left, size_bytes == 0)
                if log.errors:
                    spent.append(log)
            errors = errors or data.error_code != 0 or data.preferred_read_replica >= 0
            size_bytes += len(data.records or b"")
            left -= len(data.records or b"")
            state = (data.high_watermark, data.log_start_offset, data.error_code)
            news = data.records or data.error_code or data.preferred_read_replica >= 0
            full = request.session_epoch <= 0 or session is None
            if full or news or (session is not None and session.told.get(key) != state):
                topics.setdefault(key[0], []).append(data)
            told[key] = state
        if not last and not errors and size_bytes < request.min_bytes:
            return False
        held.done = True
        for log in spent:
            log.errors.pop(0)
        if held in self.held:
            self.held.remove(held)
        if session is not None:
            session.told.update(told)
        held.pending.answered(
            fetch.FetchResponse(
                session_id=0 if session is None else session.number,
                responses=[
                    fetch.FetchableTopicResponse(topic_id=key, partitions=partitions)
                    if held.version >= 13
                    else fetch.FetchableTopicResponse(topic=key.decode(), partitions=partitions)
                    for key, partitions in topics.items()
                ],
                node_endpoints=[
                    fetch.NodeEndpoint(node_id=n, host=f"host{n}", port=9092) for n in sorted(self.nodes)
                ]
                if self.hints
                else [],
            )
        )
        return True

    def _look(
        self,
        log: Log,
        held: Held,
        wanted: fetch.FetchPartition,
        data: fetch.PartitionData,
        left: int,
        first: bool,
    ) -> None:
        request = held.request
        stable = log.next_offset if log.last_stable is None else log.last_stable
        end = stable if request.isolation_level else log.next_offset
        follower = held.node_id == log.preferred and log.leader != held.node_id
        if log.errors:
            data.error_code = log.errors[0]
        elif log.leader != held.node_id and not follower:
            data.error_code = ErrorCode.NOT_LEADER_OR_FOLLOWER
        elif wanted.current_leader_epoch != -1 and wanted.current_leader_epoch < log.epoch:
            data.error_code = ErrorCode.FENCED_LEADER_EPOCH
        elif wanted.current_leader_epoch > log.epoch:
            data.error_code = ErrorCode.UNKNOWN_LEADER_EPOCH
        elif not log.start <= wanted.fetch_offset <= log.next_offset:
            data.error_code = ErrorCode.OFFSET_OUT_OF_RANGE
        if data.error_code:
            if self.hints:
                data.current_leader = fetch.LeaderIdAndEpoch(leader_id=log.leader, leader_epoch=log.epoch)
            return
        data.high_watermark = log.next_offset
        data.last_stable_offset = stable
        data.log_start_offset = log.start
        data.aborted_transactions = [
            fetch.AbortedTransaction(producer_id=p, first_offset=o) for p, o in log.aborted
        ]
        if log.preferred >= 0 and not follower and request.rack_id and log.preferred != held.node_id:
            data.preferred_read_replica = log.preferred
            return
        found = log.read(wanted.fetch_offset, min(wanted.partition_max_bytes, left))
        if request.isolation_level:
            kept = b""
            while found and read_header(found).base_offset < end:
                size = read_header(found).size_bytes
                kept, found = kept + found[:size], found[size:]
            found = kept
        if found and (first or len(found) <= left):
            data.records = memoryview(found)


class Wire:
    """Carries calls to the stage's brokers."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def start(self, call: Call, waiter: CallWaiter) -> PendingCall:
        stage = self._stage
        now_ms = stage.clock.elapsed_ms
        pending = PendingCall(call, waiter, now_ms, 30_000)
        if APIS[call.api_key].name == "Fetch":
            count = stage.in_flight[call.node_id] = stage.in_flight.get(call.node_id, 0) + 1
            stage.in_flight_max = max(stage.in_flight_max, count)
            pending = Counted(call, waiter, stage, now_ms)
        if APIS[call.api_key].name in stage.silent:
            limit_ms = 30_000 if call.timeout_ms is None else call.timeout_ms
            stage.scheduler.timer(
                now_ms + limit_ms, lambda: pending.failed(RequestTimedOut(f"host{call.node_id}:9092"))
            )
            return pending
        stage.scheduler.timer(now_ms + stage.delay_ms, lambda: stage.answer(call, pending))
        return pending


class Counted(PendingCall):
    """Counts how many fetches are on their way to a broker; answers travel for a while, too."""

    __slots__ = ("stage",)

    def __init__(self, call: Call, waiter: CallWaiter, stage: Stage, now_ms: float) -> None:
        super().__init__(call, waiter, now_ms, 30_000)
        self.stage = stage

    def answered(self, response: Any) -> None:
        stage = self.stage
        stage.in_flight[self.call.node_id] -= 1
        stage.scheduler.timer(
            stage.clock.elapsed_ms + stage.delay_ms, lambda: super(Counted, self).answered(response)
        )

    def failed(self, error: BaseException) -> None:
        self.stage.in_flight[self.call.node_id] -= 1
        super().failed(error)
