"""Functions of the user's: whether each takes what it will be given, asked when the program is written."""

from __future__ import annotations

import inspect
from typing import Any

from ottla.streams.errors import TopologyError
from ottla.streams.plan import Function


def arguments_of(function: Any, allowed: dict[int, str], where: str) -> int:
    """With how many arguments the function is called: the first of the allowed numbers that it takes.

    `allowed` says for each number what the arguments are: {1: "(value)", 2: "(key, value)"}.
    """
    wanted = " or ".join(allowed.values())
    if not callable(function):
        raise TopologyError(f"{where} takes a function of {wanted}, not {function!r}")
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):  # some built-in functions do not tell
        return next(iter(allowed))
    least, most = 0, 0.0
    for parameter in signature.parameters.values():
        required = parameter.default is parameter.empty
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            least += required
            most += 1
        elif parameter.kind is parameter.VAR_POSITIONAL:
            most = float("inf")
        elif parameter.kind is parameter.KEYWORD_ONLY and required:
            raise TopologyError(
                f"{where} takes a function of {wanted}; this one needs {parameter.name}= as well"
            )
    for number in allowed:
        if least <= number <= most:
            return number
    raise TopologyError(f"{where} takes a function of {wanted}; this one takes {signature}")


def checked(function: Any, arguments: str, where: str) -> Function:
    """The function, if it can be called with those: "(key, value)"."""
    count = 0 if arguments == "()" else arguments.count(",") + 1
    arguments_of(function, {count: arguments}, where)
    found: Function = function
    return found
