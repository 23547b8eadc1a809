"""Which settings are secrets, so that neither Spark nor we show them.

Spark prints the options of a source in the plans of streaming queries (`explain`, the SQL page of its UI,
event logs, the log of a failed query), and its own configuration on the page of the environment. It hides the
values whose *name* matches `spark.redaction.regex` or `spark.sql.redaction.options.regex`, whose defaults
know nothing of `sasl.jaas.config` or of a private key as PEM. What is secret is said where the client's
settings are declared (type PASSWORD), and the expressions are made from there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from ottla.client.config_tables import TABLES
from ottla.model.config_key import PASSWORD

HIDDEN: Final = "[hidden]"
CORE_REGEX: Final = "spark.redaction.regex"
OPTIONS_REGEX: Final = "spark.sql.redaction.options.regex"
SPARK_DEFAULTS: Final = {
    CORE_REGEX: "(?i)secret|password|token|access[.]?key",
    OPTIONS_REGEX: "(?i)url",
}
_WORDS: Final = ("secret", "password", "passphrase", "token", "access[.]?key")
"""In the names of settings that the tables do not know: a newer client's, a connector's."""


def _secret_names() -> list[str]:
    names = {
        name for table in TABLES.values() for name, setting in table.items() if setting.key.type is PASSWORD
    }
    # What a word finds needs no mention of its own.
    return sorted(name for name in names if not re.search("|".join(_WORDS), name))


# The dot as a class of one, which is the same in Java's expressions and survives every layer of quoting.
PATTERN: Final = f"(?i:{'|'.join([*_WORDS, *(name.replace('.', '[.]') for name in _secret_names())])})"
_IS_SECRET: Final = re.compile(PATTERN)


def is_secret(name: str) -> bool:
    """Whether the value of a setting or an option of this name must not be shown."""
    return _IS_SECRET.search(name) is not None


def shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings as they may be printed."""
    return {name: HIDDEN if is_secret(name) else value for name, value in settings.items()}


def redaction(given: Mapping[str, Any] = SPARK_DEFAULTS) -> dict[str, str]:
    """Spark's two settings of what it hides: our names beside those that somebody chose."""
    return {
        name: _joined(str(given.get(name) or default), PATTERN) for name, default in SPARK_DEFAULTS.items()
    }


def _joined(theirs: str, ours: str) -> str:
    """Matches what either does; theirs first, since it may begin with flags for the whole."""
    return theirs if ours in theirs else f"{theirs}|{ours}"
