"""Regular expressions in subscriptions (KIP-848): RE2, which takes time in proportion to its input,
whatever the expression.

An expression is checked when a member brings it and matched against the whole name of every topic, internal
ones too, in slices. Size and memory of a compiled one are bounded, so that the slowest match of one name is
a bounded slice.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable
from functools import cache
from typing import Any, Final

from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import GROUP_REGEX_BYTES_MAX, GROUP_REGEX_CHARS_MAX, GROUP_REGEX_PROGRAM_MAX

REFRESH_INTERVAL_MIN_MS: Final = 10_000
"""A group's expressions are matched again at most this often, as in Kafka: many topics may come in a row."""

_SLICE: Final = 1_600
"""Instructions of expressions per slice, each name counted with its expression's: about 100 µs."""

_NAME_COST: Final = 40
"""What calling RE2 costs, in the same unit."""


@cache
def _engine() -> tuple[Any, Any]:
    """RE2 and the options of every expression; loaded with the first one, since it takes 2.5 MB."""
    import re2

    options = re2.Options()
    options.max_mem = GROUP_REGEX_BYTES_MAX
    options.log_errors = False
    options.never_capture = True
    return re2, options


def compile_regex(regex: str) -> Any:
    """Raises INVALID_REGULAR_EXPRESSION."""
    if len(regex) > GROUP_REGEX_CHARS_MAX:
        raise _invalid(
            regex[:64] + "…", f"it has {len(regex)} characters, {GROUP_REGEX_CHARS_MAX} are allowed"
        )
    re2, options = _engine()
    try:
        compiled = re2.compile(regex, options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0] if error.args else ""
        raise _invalid(
            regex, reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        ) from None
    if compiled.programsize > GROUP_REGEX_PROGRAM_MAX:
        raise _invalid(regex, "pattern too large")
    return compiled


def _invalid(regex: str, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {reason}.",
    )


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
            compiled = compile_regex(regex)
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
