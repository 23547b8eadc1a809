"""Being a member of a consumer group, without I/O: what both protocols have in common.

A membership is a state machine. `step(now_ms)` gives the next effect: a request for the coordinator,
partitions to give up or to take, a question about the cluster, or how long nothing is to be done. Whoever
drives it carries the effect out and reports (`answered`, `failed`, `revoked`, `assigned`, ...); until then
`step` asks for nothing that depends on it, but heartbeats go on while partitions are given up or taken. It
reads no clock and touches no socket, so every driver (`client/consuming/group.py`) and a simulation run the
same code.

`client/membership_classic.py` is the protocol of JoinGroup and SyncGroup; `client/membership_consumer.py`
that of KIP-848.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from ottla.assignors.racks import PartitionRacks
from ottla.client.backoff import Backoff
from ottla.client.effects import Request, Versioned
from ottla.client.errors import OttlaError, ServerError
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition

NO_GENERATION: Final = -1
FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class GroupSettings:
    """Kafka's consumer keys for group membership, with Kafka's defaults."""

    group_id: str
    instance_id: str | None = None
    """`group.instance.id`: a static member keeps its partitions over a restart (KIP-345)."""
    session_timeout_ms: int = 45_000
    heartbeat_interval_ms: int = 3_000
    rebalance_timeout_ms: int = 300_000
    """`max.poll.interval.ms`."""
    assignors: tuple[str, ...] = ("range", "cooperative-sticky")
    """`partition.assignment.strategy`, by the names that go over the wire; classic protocol only."""
    remote_assignor: str | None = None
    """`group.remote.assignor`; KIP-848 only, None for the coordinator's choice."""
    rack_id: str | None = None
    metadata_max_age_ms: int = 300_000
    leave_reason: str = "the consumer is being closed"


# -- effects


@dataclass(frozen=True, slots=True)
class Send:
    """Send this to the group's coordinator; report `answered` or `failed`."""

    request: Request | Versioned
    timeout_ms: int | None = None
    rediscover: bool = False
    """Look the coordinator up anew first: the one that was known did not answer, or is no longer it."""


@dataclass(frozen=True, slots=True)
class Revoke:
    """Stop reading these and commit what was processed of them; report `revoked`. When they are `lost`, the
    member was thrown out and others may have them already: a commit would be refused.
    """

    partitions: frozenset[TopicPartition]
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Assign:
    """Begin to read these, which are new (none: the rebalance changed nothing for us); report `assigned`."""

    partitions: frozenset[TopicPartition]


@dataclass(frozen=True, slots=True)
class CountPartitions:
    """Ask the cluster how many partitions these topics have; report `partition_counts`."""

    topics: frozenset[str]


@dataclass(frozen=True, slots=True)
class NameTopics:
    """Ask the cluster what the topics with these ids are called; report `topic_names`."""

    topic_ids: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing to do before this time on the monotonic clock."""

    until_ms: float


@dataclass(frozen=True, slots=True)
class Left:
    """No longer a member, by its own wish."""


Step: TypeAlias = Send | Revoke | Assign | CountPartitions | NameTopics | Wait | Left


class Identity(NamedTuple):
    """What a commit says about its sender."""

    member_id: str
    generation: int
    """The generation, or the member epoch of KIP-848."""
    instance_id: str | None


class Membership(Protocol):
    """What a driver needs of either protocol."""

    settings: GroupSettings
    owned: frozenset[TopicPartition]

    @property
    def identity(self) -> Identity: ...
    @property
    def joined(self) -> bool: ...
    @property
    def lost(self) -> bool: ...
    def step(self, now_ms: float) -> Step: ...
    def answered(self, response: Any, now_ms: float) -> None: ...
    def failed(self, error: OttlaError, now_ms: float) -> None: ...
    def revoked(self, now_ms: float) -> None: ...
    def assigned(self, now_ms: float) -> None: ...
    def partition_counts(
        self, counts: Mapping[str, int], now_ms: float, racks: PartitionRacks | None = None
    ) -> None: ...
    def topic_names(self, names: Mapping[bytes, str], now_ms: float) -> None: ...
    def heartbeat_now(self) -> None: ...
    def subscribe(self, topics: Iterable[str]) -> None: ...
    def rejoin(self, reason: str) -> None: ...
    def leave(self, remain: bool | None = None) -> None: ...
    def park(self) -> None: ...
    def resume(self) -> None: ...
    def dismiss(self) -> None: ...
    def abandon(self) -> None: ...


FATAL_ADVICE: Final[Mapping[ErrorCode, str]] = {
    ErrorCode.FENCED_INSTANCE_ID: (
        "another consumer joined with the same group.instance.id: give each consumer its own"
    ),
    ErrorCode.UNRELEASED_INSTANCE_ID: (
        "another consumer uses the group.instance.id: give each its own, or wait until its session ends"
    ),
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL: (
        "the group's members use another protocol, or none of these assignors: use theirs, or another group"
    ),
    ErrorCode.GROUP_MAX_SIZE_REACHED: (
        "the group has as many members as the cluster allows (group.max.size)"
    ),
    ErrorCode.INVALID_SESSION_TIMEOUT: (
        "the session timeout is not between group.min.session.timeout.ms and group.max.session.timeout.ms"
    ),
    ErrorCode.INVALID_GROUP_ID: "the group id is not legal: it must not be empty",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "not allowed in this group",
    ErrorCode.UNSUPPORTED_ASSIGNOR: "the broker has no such assignor (group.consumer.assignors)",
    ErrorCode.GROUP_ID_NOT_FOUND: "the group is of another type: use another group",
    ErrorCode.UNSUPPORTED_VERSION: (
        "the cluster does not have this protocol (the feature group.version is below 1, raise it with "
        "kafka-features.sh): use the classic one"
    ),
}


def fatal(code: int, group_id: str, message: str | None = None) -> ServerError:
    """An error that ends a membership, with what to do about it."""
    known = ErrorCode(code) if code in ErrorCode._value2member_map_ else ErrorCode.UNKNOWN_SERVER_ERROR
    return ServerError(code, FATAL_ADVICE.get(known, message), subject=f"group {group_id}")


@dataclass(slots=True)
class Pacing:
    """When to try again, and whether to look for the coordinator first."""

    chance: Callable[[], float]
    not_before_ms: float = 0.0
    rediscover: bool = False
    _backoff: Backoff = field(init=False)

    def __post_init__(self) -> None:
        self._backoff = Backoff(FOREVER, self.chance)

    def succeeded(self) -> None:
        self._backoff.attempts = 0
        self.not_before_ms = 0.0

    def back_off(self, now_ms: float, *, rediscover: bool) -> None:
        wait_ms = self._backoff.next_wait_ms(now_ms)
        assert wait_ms is not None
        self.not_before_ms = now_ms + wait_ms
        self.rediscover = self.rediscover or rediscover

    def take_rediscover(self) -> bool:
        """Whether the next request has to look for the coordinator; says so once."""
        wanted, self.rediscover = self.rediscover, False
        return wanted
