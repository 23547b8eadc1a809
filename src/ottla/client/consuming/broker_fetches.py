"""The fetches to one broker: which partitions are read from it, its session, and when it is asked again.

One request is on its way at a time, as in Kafka's clients. It is sent when a partition wants data and no more
is buffered than one answer brings: then the next answer arrives while the last one is being worked on. Every
partition of the broker is in every request, also those with buffered data, and the session stays as it is.
What all brokers together
may hold is bounded: each has an equal share of `queued_max_bytes`, and no request asks for more than is left
of it (a batch that is larger than that still comes whole, alone).
"""

from __future__ import annotations

from ottla.client.consuming.fetch_sessions import FetchSession, Plan, Wanted
from ottla.client.consuming.positions import PartitionState
from ottla.client.effects import Call, Signal, Task, Versioned
from ottla.client.settings import ConsumerSettings
from ottla.model.types import TopicPartition
from ottla.wire.messages.fetch import FetchRequest


class BrokerFetches:
    def __init__(self, node_id: int, settings: ConsumerSettings) -> None:
        self.node_id = node_id
        self.session = FetchSession()
        self.wanted: dict[TopicPartition, PartitionState] = {}
        """In the order in which they should get their turn."""
        self.touched: dict[TopicPartition, None] = {}
        """Those about which the next request may have something new to say."""
        self.changed = Signal()
        self.in_flight = False
        self.waiting_bytes = 0
        """Buffered and not handed out, without what is paused."""
        self.held_bytes = 0
        """Memory of its responses, including what is handed out of a response that is not used up."""
        self.last_bytes = 0
        """How much an answer with data brought lately."""
        self.not_before_ms = 0.0
        """Back-off after a failure, or the broker's own request to slow down (KIP-219)."""
        self.failures = 0
        self.task: Task[None] | None = None
        self._settings = settings

    def want(self, state: PartitionState) -> None:
        self.wanted[state.tp] = state
        self.touched[state.tp] = None
        self.changed.notify()

    def unwant(self, state: PartitionState) -> None:
        if self.wanted.pop(state.tp, None) is not None:
            self.touched[state.tp] = None

    def touch(self, state: PartitionState) -> None:
        """The partition's position moved."""
        self.touched[state.tp] = None

    def turn_over(self, state: PartitionState) -> None:
        """The partition had its turn: in a full request others come first."""
        if self.wanted.pop(state.tp, None) is not None:
            self.wanted[state.tp] = state

    def note_size(self, size_bytes: int) -> None:
        """An answer brought so much. A small one among large ones does not yet mean that there is little."""
        if size_bytes:
            self.last_bytes = max(size_bytes, self.last_bytes // 2)

    @property
    def due(self) -> bool:
        """Whether all but one answer's worth is handed out."""
        return bool(self.wanted) and self.waiting_bytes <= self.last_bytes

    def plan(self) -> Plan:
        plan = self.session.plan(self.wanted, self.touched, self._describe)
        self.touched.clear()
        return plan

    def _describe(self, tp: TopicPartition) -> Wanted | None:
        state = self.wanted.get(tp)
        if state is None or state.position is None:
            return None
        return Wanted(
            state.topic_id,
            state.ahead if state.chunks else state.position.offset,
            state.position.leader_epoch,
            self._settings.max_partition_fetch_bytes,
        )

    def call(self, plan: Plan, max_bytes: int, *, max_wait_ms: int | None = None) -> Call:
        settings = self._settings
        wait_ms = settings.fetch_max_wait_ms if max_wait_ms is None else max_wait_ms
        template = FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=settings.fetch_min_bytes,
            max_bytes=max_bytes,
            isolation_level=1 if settings.isolation_level == "read_committed" else 0,
            rack_id=settings.client_rack,
        )
        return Call(
            self.node_id,
            Versioned(FetchRequest.API_KEY, lambda version: plan.request(version, template)),
            version_max=FetchRequest.MAX_VERSION if plan.by_id else 12,
            timeout_ms=settings.request_timeout_ms + max(0, wait_ms - settings.request_timeout_ms // 2),
        )
