"""The groups that are put through it: short ones for every test run, long ones for `make groups-chaos`.

Who can sit together is a matter of the protocol: all four clients share the assignors range and roundrobin;
cooperative-sticky is known to Java, librdkafka and kafka-python; the KIP-848 protocol to Java and librdkafka;
and members of both protocols meet in one group while it is migrated online. Whoever waits in a JoinGroup at
the moment of the migration is answered REBALANCE_IN_PROGRESS, as by Kafka; aiokafka ends on that, so it takes
part only where the group is calm then.
"""

from __future__ import annotations

from dataclasses import replace

from chaos.groups.driver import Scenario, Seat

ALL = ("confluent-kafka", "aiokafka", "kafka-python", "java")
COOPERATIVE = ("java", "confluent-kafka", "kafka-python")
NEXT_GENERATION = ("java", "confluent-kafka")


def seats(kinds: tuple[str, ...], count: int, protocol: str = "classic", static: int = 0) -> tuple[Seat, ...]:
    """`count` seats of the kinds in turn, the first `static` of them with an instance id."""
    return tuple(Seat(kinds[n % len(kinds)], protocol, static=n < static) for n in range(count))


_SHORT = (
    Scenario(
        "every-client-range",
        seats(ALL, 4),
        steps=0,
        first=4,
        plan=(("calm", 0), ("kill", 0), ("crash", 0), ("join", 0), ("leave", 2), ("calm", 0)),
    ),
    Scenario(
        "every-client-roundrobin",
        seats(ALL, 4, static=2),
        steps=0,
        first=3,
        assignors=("roundrobin",),
        plan=(("calm", 0), ("kill", 0), ("join", 0), ("restart", 0), ("join", 3), ("leave", 1), ("calm", 0)),
    ),
    Scenario(
        "cooperative",
        seats(COOPERATIVE, 4),
        steps=0,
        first=2,
        assignors=("cooperative-sticky",),
        plan=(("calm", 0), ("join", 2), ("crash", 0), ("join", 3), ("kill", 1), ("leave", 0), ("calm", 0)),
    ),
    Scenario(
        "next-generation",
        seats(NEXT_GENERATION, 4, "consumer", static=1),
        steps=0,
        first=2,
        plan=(("calm", 0), ("join", 2), ("crash", 0), ("join", 3), ("kill", 1), ("leave", 2), ("calm", 0)),
    ),
    Scenario(
        "migration",
        (
            Seat("confluent-kafka"),
            Seat("aiokafka"),
            Seat("confluent-kafka", "consumer"),
            Seat("java", "consumer"),
        ),
        steps=0,
        first=2,
        plan=(
            ("calm", 0),
            ("join", 2),
            ("calm", 0),
            ("restart", 0),
            ("leave", 0),
            ("join", 3),
            ("kill", 1),
            ("calm", 0),
        ),
    ),
)

LONE = Scenario("lone", seats(("java",), 1), steps=6, weights=(("restart", 1), ("crash", 1), ("calm", 1)))

_LONG = (
    Scenario("every-client-range", seats(ALL, 20, static=4), steps=60),
    Scenario(
        "every-client-roundrobin",
        seats(ALL, 8),
        steps=20,
        assignors=("roundrobin", "range"),
    ),
    Scenario(
        "cooperative",
        seats(COOPERATIVE, 9, static=2),
        steps=30,
        assignors=("cooperative-sticky",),
    ),
    Scenario(
        "next-generation",
        seats(NEXT_GENERATION, 20, "consumer", static=4),
        steps=50,
    ),
    Scenario(
        "migration",
        seats(COOPERATIVE, 4) + seats(NEXT_GENERATION, 4, "consumer"),
        steps=30,
    ),
)

SHORT = tuple(
    replace(each, pause_s=(0.1, 0.4), records_per_s=400, session_ms=3000, work_ms=10) for each in _SHORT
)
LONG = (
    *(
        replace(
            each,
            first=min(6, len(each.seats)),
            session_ms=6000,
            pause_s=(0.2, 1.5),
            work_ms=60,
            weights=(("join", 8), ("leave", 3), ("kill", 3), ("restart", 1), ("crash", 1), ("calm", 1)),
        )
        for each in _LONG
    ),
    LONE,
)
