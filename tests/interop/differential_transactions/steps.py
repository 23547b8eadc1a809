"""Sequences of requests about transactions, sensible and not, drawn from a seed.

A step is data: it names producers, partitions and groups by small numbers and epochs by their distance from
what the producer was last told, so that the same step can be sent to any system, and a recorded answer
belongs to it whatever ids the system gave out. Slots 0 and 1 share a transactional id (one fences the other),
slot 2 has its own, and slot 3 is a producer without one.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

SLOTS = 4
PLAIN_SLOT = 3
PARTITIONS = (("a", 0), ("a", 1), ("b", 0))
STRANGE_PARTITIONS = (("a", 7), ("missing", 0), ("b", -1))
TIMEOUT_MS = 60_000
SHORT_TIMEOUT_MS = 150
TRANSACTION_MAX_TIMEOUT_MS = 900_000

Where = tuple[str, int]


class Step(NamedTuple):
    kind: str
    args: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(f'{name}={value!r}' for name, value in self.args.items())})"


class _Drawer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.is_tidy = self.random.random() < 0.5
        """A tidy sequence makes fewer mistakes, and so comes further."""
        self.generation = self.random.choice(["old", "new", "mixed"])

    def often(self, usual: Any, *others: Any) -> Any:
        if self.random.random() < (0.93 if self.is_tidy else 0.7):
            return usual
        return self.random.choice(others)

    def version(self, low: int, high: int, newer_from: int) -> int:
        """Of an API whose versions from `newer_from` on belong to the second generation."""
        if self.generation == "old":
            high = newer_from - 1
        elif self.generation == "new":
            low = newer_from
        return self.random.randint(low, high)

    def slot(self) -> int:
        return self.random.choice([0, 0, 0, 1, 2, 2])

    def producer(self) -> dict[str, Any]:
        return {
            "slot": self.often(self.slot(), PLAIN_SLOT),
            "epoch": self.often(0, -1, 1, -2, 5),
            "whose": self.often("own", "other", "unknown", "none"),
        }

    def partitions(self, most: int = 3) -> list[Where]:
        some = self.random.sample(PARTITIONS, self.random.randint(1, most))
        if self.often(False, True):
            some.append(self.random.choice(STRANGE_PARTITIONS))
        return some

    def group(self) -> int:
        return self.random.choice([0, 0, 1])

    # --- one method per kind ------------------------------------------------------------------------------

    def init(self) -> dict[str, Any]:
        return {
            "slot": self.often(self.slot(), PLAIN_SLOT),
            "version": self.random.randint(0, 5),
            "had": self.often(
                "none", "own", "own", "older", "newer", "other", "unknown", "id only", "epoch only"
            ),
            "timeout_ms": self.often(
                TIMEOUT_MS, 0, -1, TRANSACTION_MAX_TIMEOUT_MS + 1, TRANSACTION_MAX_TIMEOUT_MS
            ),
            "transactional_id": self.often("own", "empty"),
        }

    def go_on(self) -> dict[str, Any]:
        return {
            **self.init(),
            "version": self.random.randint(3, 5),
            "had": self.often("own", "older", "newer"),
        }

    def add(self) -> dict[str, Any]:
        version = self.random.randint(0, 3) if self.random.random() < 0.6 else self.random.randint(4, 5)
        args = {**self.producer(), "version": version, "partitions": self.partitions()}
        args["transactional_id"] = self.often("own", "empty", "unknown")
        if version >= 4:
            args["verify_only"] = self.random.random() < 0.6
            args["beside"] = self.slot() if self.random.random() < 0.3 else None
        return args

    def add_offsets(self) -> dict[str, Any]:
        return {
            **self.producer(),
            "version": self.random.randint(0, 4),
            "group": self.group(),
            "transactional_id": self.often("own", "empty", "unknown"),
        }

    def commit_offsets(self) -> dict[str, Any]:
        return {
            **self.producer(),
            "version": self.version(0, 5, 5),
            "group": self.often(self.group(), -1),
            "partitions": self.partitions(),
            "offset": self.random.randint(0, 100),
            "generation": self.often(-1, 3),
            "member": self.often("", "nobody"),
            "metadata_chars": self.often(3, 5_000),
            "transactional_id": self.often("own", "empty", "unknown"),
        }

    def produce(self) -> dict[str, Any]:
        producer = self.producer()
        if producer["whose"] == "none" and self.random.random() < 0.9:
            producer["whose"] = "own"
        return {
            **producer,
            "version": self.version(3, 13, 12),
            "partitions": self.partitions(2),
            "transactional": self.often(True, False),
            "sequence": self.often("next", "again", "gap", "zero", "negative"),
            "records": self.random.randint(1, 3),
            "acks": self.often(-1, 1, 1, 1, 0, 0, 2),
            "transactional_id": self.often("own", "null", "unknown", "other"),
            "mixed": self.often(False, True),
        }

    def end(self) -> dict[str, Any]:
        return {
            **self.producer(),
            "version": self.version(0, 5, 5),
            "committed": self.random.random() < 0.6,
            "transactional_id": self.often("own", "empty", "unknown"),
        }

    def markers(self) -> dict[str, Any]:
        version = self.random.randint(1, 2)
        return {
            "slot": self.slot(),
            "epoch": self.random.choice([0, 0, 0, 1, -1]),
            "whose": self.often("own", "unknown"),
            "version": version,
            "transaction_version": self.random.choice([0, 2]) if version == 2 else 0,
            "coordinator_epoch": self.often(0, -1),
            "committed": self.random.random() < 0.5,
            "partitions": self.partitions(2),
        }

    def time_out(self) -> dict[str, Any]:
        return {
            "slot": self.slot(),
            "partitions": self.partitions(2)[:1],
            "end_version": self.version(0, 5, 5),
            "end_committed": self.random.random() < 0.5,
            "produce_version": self.version(3, 13, 12),
            "init_version": self.random.randint(3, 5),
            "had": self.random.choice(["own", "older", "none"]),
        }

    def fetch(self) -> dict[str, Any]:
        return {
            "version": self.random.randint(4, 12),
            "partition": self.random.choice(PARTITIONS),
            "isolation": self.random.choice([0, 1, 1, 1]),
            "offset": self.random.choice([0, 0, 0, 1, 2, 5]),
        }

    def list_offsets(self) -> dict[str, Any]:
        return {
            "version": self.random.randint(2, 9),
            "partition": self.random.choice(PARTITIONS),
            "isolation": self.random.choice([0, 1]),
            "timestamp": self.random.choice([-1, -1, -2]),
        }

    def offset_fetch(self) -> dict[str, Any]:
        return {
            "version": self.random.randint(7, 9),
            "group": self.group(),
            "stable": self.random.random() < 0.6,
            "all": self.random.random() < 0.3,
        }

    def list_transactions(self) -> dict[str, Any]:
        return {
            "version": self.random.randint(0, 2),
            "states": self.random.choice([[], [], ["Ongoing"], ["CompleteAbort", "Empty"], ["Nothing"]]),
            "of_slots": self.random.choice([None, [0], [0, 2]]),
            "pattern": self.random.choice(["", "of.*", "("]),
        }

    def find_coordinator(self) -> dict[str, Any]:
        return {"version": self.random.randint(1, 6), "key_type": self.random.choice([0, 1, 7])}


_KINDS = (
    ("init", 5),
    ("go_on", 3),
    ("add", 10),
    ("add_offsets", 4),
    ("commit_offsets", 7),
    ("produce", 18),
    ("end", 12),
    ("markers", 3),
    ("time_out", 1),
    ("fetch", 6),
    ("list_offsets", 4),
    ("offset_fetch", 5),
    ("list_transactions", 1),
    ("find_coordinator", 1),
)


def sequence(seed: int) -> list[Step]:
    """It begins with producers that have their ids. Half of the sequences are steps at random, half are
    transactions as producers make them, with steps at random in between.
    """
    drawer = _Drawer(seed)
    steps = [
        Step("init", {**drawer.init(), "slot": slot, "had": "none", "timeout_ms": TIMEOUT_MS})
        for slot in drawer.random.sample([0, 2, PLAIN_SLOT], 3)
    ]
    if seed % 2:
        for _ in range(drawer.random.randint(2, 4)):
            steps += _transaction(drawer)
            steps += _at_random(drawer, drawer.random.randint(0, 3))
    else:
        steps += _at_random(drawer, drawer.random.randint(8, 30))
    return steps


def _at_random(drawer: _Drawer, count: int) -> list[Step]:
    names = [name for name, _ in _KINDS]
    weights = [weight for _, weight in _KINDS]
    kinds = drawer.random.choices(names, weights, k=count)
    return [Step("init" if kind == "go_on" else kind, getattr(drawer, kind)()) for kind in kinds]


def _transaction(drawer: _Drawer) -> list[Step]:
    """One transaction, complete but for what is left out or put in between by chance."""
    choice = drawer.random
    slot = choice.choice([0, 2])
    own = {"slot": slot, "epoch": 0, "whose": "own", "transactional_id": "own"}
    is_new = drawer.generation == "new" or (drawer.generation == "mixed" and choice.random() < 0.5)
    partitions = choice.sample(PARTITIONS, choice.randint(1, 3))
    steps: list[Step] = []
    if not is_new:
        steps.append(Step("add", {**own, "version": choice.randint(0, 3), "partitions": partitions}))
    for where in partitions * choice.randint(1, 2):
        version = choice.randint(12, 13) if is_new else choice.randint(3, 11)
        written = {"sequence": "next", "records": choice.randint(1, 3), "acks": drawer.often(-1, 1, 0)}
        again = {**written, "sequence": "again"}
        usual = {"version": version, "partitions": [where], "transactional": True, "mixed": False}
        steps.append(Step("produce", {**own, **usual, **written}))
        if choice.random() < 0.1:
            steps.append(Step("produce", {**own, **usual, **again}))
    if choice.random() < 0.5:
        group = drawer.group()
        if not is_new:
            steps.append(Step("add_offsets", {**own, "version": choice.randint(0, 4), "group": group}))
        offsets = {"offset": choice.randint(0, 100), "generation": -1, "member": "", "metadata_chars": 3}
        version = 5 if is_new else choice.randint(0, 4)
        named = {"version": version, "group": group, "partitions": partitions}
        steps.append(Step("commit_offsets", {**own, **named, **offsets}))
        steps.append(Step("offset_fetch", drawer.offset_fetch()))
    steps.append(Step("fetch", drawer.fetch()))
    end = {**own, "version": 5 if is_new else choice.randint(0, 4), "committed": choice.random() < 0.6}
    steps.append(Step("end", end))
    if choice.random() < 0.3:
        steps.append(Step("end", {**end, "epoch": drawer.random.choice([0, -1])}))
    if choice.random() < 0.5:
        steps += [Step("fetch", drawer.fetch()), Step("offset_fetch", drawer.offset_fetch())]
    if choice.random() < 0.25:
        del steps[choice.randrange(len(steps))]
    if choice.random() < 0.5:
        steps.insert(choice.randrange(len(steps) + 1), _at_random(drawer, 1)[0])
    return steps
