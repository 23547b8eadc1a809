"""Who takes part in an exactly-once run, and what is done to them.

librdkafka speaks the older generation of the transaction protocol (AddPartitionsToTxn before the first record
of a partition, an epoch that stays), Kafka's Java client that of KIP-890 (partitions added by Produce itself,
a new epoch after every transaction); both meet in one group. Two input partitions are loaded by an idempotent
producer, two by a transactional one, so that the application itself reads from a log with aborted records.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from chaos.exactly_once.children import CONFLUENT, JAVA

KILL_APP, KILL_LOADER, KILL_FOLLOWER = "kill an app", "kill a loader", "kill a follower"
KILL_BROKER, STOP_BROKER = "kill the broker", "stop the broker"
FREEZE, TWIN = "freeze an app", "twin of an app"


@dataclass(frozen=True)
class Seat:
    """A place among the instances of the application, with a transactional id of its own, taken by one
    process after the other.
    """

    kind: str
    static: bool = False


@dataclass(frozen=True)
class Scenario:
    name: str
    seats: tuple[Seat, ...]
    records: int = 200_000
    load_s: float = 300.0
    """How long loading takes: the loaders' pace. 0 loads everything before the application starts."""
    steps: tuple[tuple[str, int], ...] = (
        (KILL_APP, 10),
        (KILL_LOADER, 5),
        (KILL_FOLLOWER, 5),
        (KILL_BROKER, 5),
        (STOP_BROKER, 3),
        (FREEZE, 3),
        (TWIN, 3),
    )
    """What is done, and how often; the seed draws the order and whom it meets."""
    shuffled: bool = True
    followers: tuple[str, ...] = (CONFLUENT, JAVA)
    protocol: str = "classic"
    assignor: str = "range"
    session_ms: int = 6_000
    timeout_ms: int = 10_000
    """Of transactions."""
    records_max: int = 300
    """In a transaction."""
    abort_share: float = 0.1
    down_s: tuple[float, float] = (0.0, 2.0)
    """Bounds of the time before somebody who was killed is started again."""
    freeze_s: tuple[float, float] = (3.0, 13.0)
    """Bounds of the time somebody is frozen: on both sides of the group's session and of the timeout of
    transactions.
    """


_MIXED = (Seat(CONFLUENT), Seat(JAVA), Seat(CONFLUENT, static=True), Seat(JAVA, static=True))

LONG = (
    Scenario("mixed", _MIXED),
    Scenario("confluent-kafka", (Seat(CONFLUENT), Seat(CONFLUENT), Seat(CONFLUENT, static=True))),
    Scenario("java", (Seat(JAVA), Seat(JAVA), Seat(JAVA, static=True))),
    Scenario("cooperative", _MIXED, assignor="cooperative-sticky"),
    Scenario(
        "next-generation", (Seat(CONFLUENT), Seat(JAVA), Seat(CONFLUENT), Seat(JAVA)), protocol="consumer"
    ),
    Scenario(
        "preloaded",
        _MIXED,
        load_s=0.0,
        records_max=60,
        followers=(),
        steps=((KILL_APP, 8), (KILL_BROKER, 4), (STOP_BROKER, 2), (TWIN, 2)),
    ),
)

_SHORT = Scenario(
    "short",
    (),
    records=4_000,
    load_s=8.0,
    steps=((TWIN, 1), (KILL_BROKER, 1), (KILL_LOADER, 1), (KILL_FOLLOWER, 1), (KILL_APP, 1)),
    shuffled=False,
    session_ms=2_000,
    records_max=100,
    down_s=(0.0, 0.0),
)
SHORT = (
    replace(
        _SHORT, name="short-confluent-kafka", seats=(Seat(CONFLUENT), Seat(CONFLUENT)), followers=(CONFLUENT,)
    ),
    replace(_SHORT, name="short-java", seats=(Seat(JAVA), Seat(JAVA, static=True)), followers=(JAVA,)),
)
