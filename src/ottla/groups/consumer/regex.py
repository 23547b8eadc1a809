"""Regular expressions in subscriptions (KIP-848).

An expression is checked when a member brings it and matched against the whole name of every topic, internal
ones too, in slices.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from typing import Final

from ottla.coordination.regex import compile_regex
from ottla.model.errors import KafkaError

REFRESH_INTERVAL_MIN_MS: Final = 10_000
"""A group's expressions are matched again at most this often, as in Kafka: many topics may come in a row."""

_SLICE: Final = 1_600
"""Instructions of expressions per slice, each name counted with its expression's: about 100 µs."""

_NAME_COST: Final = 40
"""What calling RE2 costs, in the same unit."""


NAME: Final = "SubscribedTopicRegex"


def resolve_steps(
    regexes: Collection[str], names: Iterable[str]
) -> Generator[None, None, dict[str, frozenset[str]]]:
    """The topics that each expression matches. One that cannot be compiled (an older log may hold it)
    matches nothing.
    """
    found: dict[str, frozenset[str]] = {}
    every_name = list(names)
    for regex in regexes:
        try:
            compiled = compile_regex(regex, NAME)
        except KafkaError:
            found[regex] = frozenset()
            continue
        yield
        matched: set[str] = set()
        fullmatch = compiled.fullmatch
        per_slice = max(1, _SLICE // (_NAME_COST + compiled.programsize))
        for start in range(0, len(every_name), per_slice):
            matched.update(
                name for name in every_name[start : start + per_slice] if fullmatch(name) is not None
            )
            yield
        found[regex] = frozenset(matched)
    return found
