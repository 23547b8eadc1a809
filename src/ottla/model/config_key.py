"""One configuration key: its name, type, default and bounds, and how its text becomes a value.

The tables of keys are in `config_keys_*.py`; `config.py` joins them. Validation, the documentation and
DescribeConfigs all read the same declaration, so a key is described in one place only. The rules for text
are those of Java's ConfigDef: blanks around a value do not count, booleans are `true` or `false` in any case,
lists are separated by commas and never hold the same element twice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import Final, TypeAlias


class ConfigType(IntEnum):
    """The numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


BOOLEAN: Final = ConfigType.BOOLEAN
STRING: Final = ConfigType.STRING
INT: Final = ConfigType.INT
SHORT: Final = ConfigType.SHORT
LONG: Final = ConfigType.LONG
DOUBLE: Final = ConfigType.DOUBLE
LIST: Final = ConfigType.LIST
CLASS: Final = ConfigType.CLASS
PASSWORD: Final = ConfigType.PASSWORD

HIGH: Final = "high"
MEDIUM: Final = "medium"
LOW: Final = "low"

READ_ONLY: Final = "read-only"
"""Only the file sets it; a change needs a restart."""
PER_BROKER: Final = "per-broker"
"""May be set for one running broker."""
CLUSTER_WIDE: Final = "cluster-wide"
"""May be set for one running broker or for all of them at once."""


class Password:
    """A secret: it prints as `[hidden]` wherever it ends up, so that no log line shows it by accident."""

    __slots__ = ("secret",)

    def __init__(self, secret: str) -> None:
        self.secret = secret

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and other.secret == self.secret

    def __hash__(self) -> int:
        return hash(self.secret)

    def __repr__(self) -> str:
        return "[hidden]"


ConfigValue: TypeAlias = bool | int | float | str | tuple[str, ...] | Password | None


class ConfigError(ValueError):
    """A value that cannot be taken. The message names the key, the value and what is allowed."""

    def __init__(self, message: str, key: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.key = key


_INTEGER = re.compile(r"[+-]?[0-9]{1,20}\Z")
_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
_COMMA = re.compile(r"\s*,\s*")
_THROTTLED_REPLICAS = re.compile(r"\d+:\d+(,\d+:\d+)*\Z")
_INTEGER_RANGES: Final[Mapping[ConfigType, tuple[int, int]]] = {
    INT: (-(2**31), 2**31 - 1),
    SHORT: (-(2**15), 2**15 - 1),
    LONG: (-(2**63), 2**63 - 1),
}
_SHOWN_CHARS_MAX: Final = 200
"""A value repeated in an error message is cut here: a client may send megabytes."""


class ConfigKey:
    """The declaration of one key."""

    __slots__ = (
        "name",
        "type",
        "default",
        "doc",
        "low",
        "high",
        "also",
        "choices",
        "any_case",
        "non_empty",
        "throttled_replicas",
        "importance",
        "dynamic",
        "honoured",
        "internal",
        "synonyms",
    )

    def __init__(
        self,
        name: str,
        type: ConfigType,
        default: ConfigValue,
        doc: str,
        *,
        low: float | None = None,
        high: float | None = None,
        also: int | None = None,
        choices: tuple[str, ...] | None = None,
        any_case: bool = False,
        non_empty: bool = False,
        throttled_replicas: bool = False,
        importance: str = MEDIUM,
        dynamic: str = READ_ONLY,
        honoured: bool = False,
        internal: bool = False,
        synonyms: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.type = type
        self.default = default
        self.doc = doc
        self.low = low
        self.high = high
        self.also = also  # one number outside the bounds that has a meaning of its own, like -1
        self.choices = choices
        self.any_case = any_case  # choices are compared without regard to case
        self.non_empty = non_empty
        self.throttled_replicas = throttled_replicas
        self.importance = importance
        self.dynamic = dynamic
        self.honoured = honoured  # whether Ottla acts on it, or only accepts and shows it
        self.internal = internal  # accepted, but left out of the documentation as Kafka does
        self.synonyms = synonyms  # broker keys that give the value when this one is not set, nearest first

    def __repr__(self) -> str:
        return f"ConfigKey({self.name})"

    @property
    def sensitive(self) -> bool:
        return self.type is PASSWORD

    def parse(self, text: str) -> ConfigValue:
        """The value that `text` stands for; raises ConfigError."""
        type = self.type
        if type is PASSWORD:
            return Password(text.strip())
        text = text.strip()
        if type is BOOLEAN:
            lowered = text.lower()
            if lowered not in ("true", "false"):
                raise self._refused(text)
            return lowered == "true"
        if type is DOUBLE:
            if not _DECIMAL.match(text):
                raise self._refused(text)
            return self._bounded(float(text), text)
        if type is LIST:
            return self._parse_list(text)
        if type in _INTEGER_RANGES:
            low, high = _INTEGER_RANGES[type]
            if not _INTEGER.match(text) or not low <= int(text) <= high:
                raise self._refused(text)
            return self._bounded(int(text), text)
        if self.choices is not None and not self._is_choice(text):
            raise self._refused(text)
        if self.non_empty and not text:
            raise self._refused(text)
        return text

    def _parse_list(self, text: str) -> tuple[str, ...]:
        elements = _COMMA.split(text) if text else []
        if self.non_empty and not elements:
            raise self._refused(text)
        if any(not element for element in elements):
            raise self._refused(text, "an element of the list is empty; ")
        if self.choices is not None and not all(self._is_choice(element) for element in elements):
            raise self._refused(text)
        if (
            self.throttled_replicas
            and text not in ("", "*")
            and not _THROTTLED_REPLICAS.match(",".join(elements))
        ):
            raise self._refused(text)
        return tuple(dict.fromkeys(elements))

    def _is_choice(self, text: str) -> bool:
        assert self.choices is not None
        if self.any_case:
            return text.lower() in {choice.lower() for choice in self.choices}
        return text in self.choices

    def _bounded(self, number: int | float, text: str) -> int | float:
        if self.also is not None and number == self.also:
            return number
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise self._refused(text)
        return number

    def _refused(self, text: str, why: str = "") -> ConfigError:
        shown = text if len(text) <= _SHOWN_CHARS_MAX else text[:_SHOWN_CHARS_MAX] + "..."
        return ConfigError(
            f"Invalid value {shown!r} for configuration {self.name}: {why}expected {self.allowed()}",
            self.name,
        )

    def allowed(self) -> str:
        """What a value may be, in words: the second half of an error message, a column of the docs."""
        type = self.type
        if type is BOOLEAN:
            return "true or false"
        if self.throttled_replicas:
            return "'*' or a list of partition:broker pairs"
        if self.choices is not None:
            names = ", ".join(self.choices)
            if type is LIST:
                return f"{'one or more' if self.non_empty else 'any'} of: {names}"
            return f"one of: {names}"
        if type in _INTEGER_RANGES or type is DOUBLE:
            return self._allowed_number()
        if type is LIST:
            return "a comma-separated list" + (" that is not empty" if self.non_empty else "")
        if type is CLASS:
            return "the name of a class"
        return "a text that is not empty" if self.non_empty else "a text"

    def _allowed_number(self) -> str:
        noun = "a number" if self.type is DOUBLE else "a whole number"
        low: float | None = self.low
        high: float | None = self.high
        if self.type is not DOUBLE and (low is not None or high is None):
            type_low, type_high = _INTEGER_RANGES[self.type]
            low = type_low if low is None else low
            high = type_high if high is None else high
        bounds = ""
        if low is not None and high is not None:
            bounds = f" from {low} to {high}"
        elif low is not None:
            bounds = f" of at least {low}"
        elif high is not None:
            bounds = f" of at most {high}"
        return f"{noun}{bounds}" + (f", or {self.also}" if self.also is not None else "")

    def format(self, value: ConfigValue) -> str | None:
        """The text that stands for a value, as DescribeConfigs shows it. A secret has none."""
        if value is None or isinstance(value, Password):
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, tuple):
            return ",".join(value)
        if isinstance(value, float):
            return repr(value).replace("e+", "E").replace("e-", "E-")
        return str(value)

    @property
    def default_text(self) -> str | None:
        return self.format(self.default)
