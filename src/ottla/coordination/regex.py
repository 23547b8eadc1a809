"""Regular expressions of clients: RE2, which takes time in proportion to its input, whatever the expression.

Length, memory and size of a compiled one are bounded, so that the slowest match of one name is short.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.limits import REGEX_BYTES_MAX, REGEX_CHARS_MAX, REGEX_PROGRAM_MAX


@cache
def _engine() -> tuple[Any, Any]:
    """RE2 and the options of every expression; loaded with the first one, since it takes 2.5 MB."""
    import re2

    options = re2.Options()
    options.max_mem = REGEX_BYTES_MAX
    options.log_errors = False
    options.never_capture = True
    return re2, options


def compile_regex(regex: str, name: str) -> Any:
    """Raises INVALID_REGULAR_EXPRESSION; `name` is what the message calls the expression."""
    if len(regex) > REGEX_CHARS_MAX:
        raise _invalid(
            name, regex[:64] + "…", f"it has {len(regex)} characters, {REGEX_CHARS_MAX} are allowed"
        )
    re2, options = _engine()
    try:
        compiled = re2.compile(regex, options)
    except (re2.error, UnicodeError) as error:
        reason = error.args[0] if error.args else ""
        raise _invalid(
            name, regex, reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        ) from None
    if compiled.programsize > REGEX_PROGRAM_MAX:
        raise _invalid(name, regex, "pattern too large")
    return compiled


def _invalid(name: str, regex: str, reason: str) -> KafkaError:
    return KafkaError(
        ErrorCode.INVALID_REGULAR_EXPRESSION,
        f"{name} `{regex}` is not a valid regular expression: {reason}.",
    )
