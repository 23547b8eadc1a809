"""What a user wrote with `.option(...)`: names found, values read, contradictions refused before Spark plans.

Names and meanings are those of Spark's own Kafka connector, with one of ours (`columns`). Spark compares
names without regard to case. `kafka.*` are settings of the client (`client_settings`), with the connector's
refusals: where the engine decides something, a setting of the client cannot. A name that nobody knows is an
error that says what was probably meant: a misspelt `maxOffsetPerTrigger` would otherwise be no limit at all.

Nothing here knows Spark, so that every rule is tested without it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ottla.client.config import consumer_settings
from ottla.client.config_tables import ADMIN, CONSUMER, KAFKA_PYTHON, LIBRDKAFKA, PRODUCER
from ottla.client.errors import InvalidConfig
from ottla.pipelines.source.offsets import EARLIEST, LATEST, OffsetLimit, parse_offsets, parse_timestamps
from ottla.pipelines.source.subscription import Subscription

KAFKA_PREFIX: Final = "kafka."

COLUMNS: Final = ("key", "value", "topic", "partition", "offset", "timestamp", "timestampType", "headers")
"""The row's columns in their order; the last one only with `includeHeaders`, or where `columns` names it."""

SOURCE_NAMES: Final = (
    *("subscribe", "subscribePattern", "assign"),
    *("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp"),
    *("startingOffsetsByTimestampStrategy",),
    *("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp"),
    *("failOnDataLoss", "includeHeaders", "columns", "groupIdPrefix"),
    *("minPartitions", "maxRecordsPerPartition"),
    *("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"),
    *("fetchOffset.numRetries", "fetchOffset.retryIntervalMs", "kafkaConsumer.pollTimeoutMs"),
)

GENERIC_NAMES: Final = frozenset(
    {"path", "paths", "header", "inferschema", "mode", "mergeschema", "timezone"}
)
"""What Spark, or a program that passes one set of options to every format, may add: nobody means us."""

_REFUSED: Final[Mapping[str, str]] = {
    "auto.offset.reset": (
        "Spark keeps the positions, not the client; say where a query begins with the option startingOffsets"
    ),
    "key.deserializer": "keys come as binary; decode them with functions on the column",
    "value.deserializer": "values come as binary; decode them with functions on the column",
    "key.serializer": "keys are written as the bytes or the text that the column has",
    "value.serializer": "values are written as the bytes or the text that the column has",
    "enable.auto.commit": "progress is committed when Spark has finished with the rows, and only then",
    "interceptor.classes": "an interceptor could change records behind Spark's back",
}

_DELAY_UNITS_MS: Final = {
    **dict.fromkeys(("us", "microsecond", "microseconds"), 0.001),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "second", "seconds"), 1_000),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60_000),
    **dict.fromkeys(("h", "hour", "hours"), 3_600_000),
    **dict.fromkeys(("d", "day", "days"), 86_400_000),
}
_DELAY = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)

MAX_TRIGGER_DELAY_MS: Final = 15 * 60_000
FETCH_OFFSET_RETRIES: Final = 3
FETCH_OFFSET_RETRY_INTERVAL_MS: Final = 1_000


class InvalidOption(InvalidConfig):
    """An option of a source or sink that cannot be; the message names it."""


def client_settings(options: Mapping[str, str]) -> dict[str, str]:
    """The `kafka.*` options as settings of a client: without the prefix, checked, ready for `connections`."""
    found: dict[str, str] = {}
    for name, value in options.items():
        if not name.lower().startswith(KAFKA_PREFIX):
            continue
        setting = name[len(KAFKA_PREFIX) :].lower()
        if setting in _REFUSED:
            raise InvalidOption(f"kafka.{setting} is not supported: {_REFUSED[setting]}")
        if setting not in CONSUMER and setting not in PRODUCER and setting not in ADMIN:
            others = {**LIBRDKAFKA, **KAFKA_PYTHON}
            if setting in others:
                hint = f"; that is another library's name for kafka.{others[setting]}"
            else:
                hint = _nearest(setting, {*CONSUMER, *PRODUCER, *ADMIN}, KAFKA_PREFIX)
            raise InvalidOption(f"kafka.{setting}: the client has no such setting{hint}")
        found[setting] = value
    if not found.get("bootstrap.servers", "").strip():
        raise InvalidOption(
            "kafka.bootstrap.servers is missing: say where the cluster is, as host:port[,host:port ...]"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOptions:
    """Everything that a reader was told."""

    subscription: Subscription
    starting: OffsetLimit
    ending: OffsetLimit
    settings: tuple[tuple[str, str], ...] = field(repr=False)
    """Of the client, as pairs. There may be secrets among them: not to be printed."""
    columns: tuple[str, ...]
    fail_on_data_loss: bool = True
    group_id: str | None = None
    group_id_prefix: str | None = None
    partitions_min: int | None = None
    records_per_partition_max: int | None = None
    offsets_per_trigger_max: int | None = None
    offsets_per_trigger_min: int | None = None
    trigger_delay_max_ms: int = MAX_TRIGGER_DELAY_MS
    fetch_offset_retries: int = FETCH_OFFSET_RETRIES
    fetch_offset_retry_interval_ms: int = FETCH_OFFSET_RETRY_INTERVAL_MS

    @property
    def read_committed(self) -> bool:
        return dict(self.settings)["isolation.level"] == "read_committed"

    @property
    def bootstrap_servers(self) -> str:
        return dict(self.settings)["bootstrap.servers"]

    @classmethod
    def parse(cls, options: Mapping[str, str], *, streaming: bool) -> SourceOptions:
        given = _known(options)
        ending_names = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")
        if streaming and (end := next((name for name in ending_names if name in given), None)):
            raise InvalidOption(
                f"{end} is for batch queries; a stream goes on until it is stopped, or up to what is there "
                "when it starts with the trigger availableNow"
            )
        settings = client_settings(options)
        settings.setdefault("isolation.level", "read_committed")
        if "kafkaConsumer.pollTimeoutMs" in given:
            settings["default.api.timeout.ms"] = str(_number(given, "kafkaConsumer.pollTimeoutMs", least=1))
        # Values are checked here, where a user sees it at once, and not in the first task.
        consumer_settings({name: value for name, value in settings.items() if name in CONSUMER}, {})
        offsets_max = _number(given, "maxOffsetsPerTrigger", least=1)
        offsets_min = _number(given, "minOffsetsPerTrigger", least=1)
        if offsets_max is not None and offsets_min is not None and offsets_min > offsets_max:
            raise InvalidOption(
                f"minOffsetsPerTrigger is {offsets_min} and maxOffsetsPerTrigger {offsets_max}: "
                "no batch can be both"
            )
        retries = _number(given, "fetchOffset.numRetries", least=0)
        interval_ms = _number(given, "fetchOffset.retryIntervalMs", least=0)
        return cls(
            subscription=_subscription(given),
            starting=_starting(given, streaming),
            ending=_ending(given),
            settings=tuple(sorted(settings.items())),
            columns=source_columns(options),
            fail_on_data_loss=_boolean(given, "failOnDataLoss", True),
            group_id=settings.get("group.id"),
            group_id_prefix=given.get("groupIdPrefix"),
            partitions_min=_number(given, "minPartitions", least=1),
            records_per_partition_max=_number(given, "maxRecordsPerPartition", least=1),
            offsets_per_trigger_max=offsets_max,
            offsets_per_trigger_min=offsets_min,
            trigger_delay_max_ms=_delay_ms(given, "maxTriggerDelay", MAX_TRIGGER_DELAY_MS),
            fetch_offset_retries=FETCH_OFFSET_RETRIES if retries is None else retries,
            fetch_offset_retry_interval_ms=(
                FETCH_OFFSET_RETRY_INTERVAL_MS if interval_ms is None else interval_ms
            ),
        )


def source_columns(options: Mapping[str, str]) -> tuple[str, ...]:
    """The columns of the rows, in the order in which they come: the schema of a reader."""
    given = _known(options)
    headers = _boolean(given, "includeHeaders", False)
    if "columns" not in given:
        return COLUMNS if headers else COLUMNS[:-1]
    by_name = {name.lower(): name for name in COLUMNS}
    wanted: list[str] = []
    for text in given["columns"].split(","):
        name = by_name.get(text.strip().lower())
        if name is None:
            hint = _nearest(text.strip(), COLUMNS)
            raise InvalidOption(f"columns: there is no column {text.strip()!r}{hint}; {', '.join(COLUMNS)}")
        if name in wanted:
            raise InvalidOption(f"columns: {name} is named twice")
        wanted.append(name)
    return tuple(wanted)


def _known(options: Mapping[str, str]) -> dict[str, str]:
    """The source's own options under the names that the documentation has."""
    by_name = {name.lower(): name for name in SOURCE_NAMES}
    found: dict[str, str] = {}
    for name, value in options.items():
        lowered = name.lower()
        if lowered in by_name:
            found[by_name[lowered]] = value
        elif not lowered.startswith(KAFKA_PREFIX) and lowered not in GENERIC_NAMES:
            hint = _nearest(name, (*SOURCE_NAMES, "kafka.bootstrap.servers"))
            if lowered in ("topic", "topics"):
                hint = "; say what to read with subscribe"
            raise InvalidOption(f"{name}: the source has no such option{hint}")
    return found


def _nearest(name: str, known: Iterable[str], prefix: str = "") -> str:
    by_name = {each.lower(): each for each in known}
    nearest = difflib.get_close_matches(name.lower(), by_name, n=1, cutoff=0.6)
    return f"; did you mean {prefix}{by_name[nearest[0]]}?" if nearest else ""


def _subscription(given: Mapping[str, str]) -> Subscription:
    names = [name for name in ("subscribe", "subscribePattern", "assign") if name in given]
    if len(names) != 1:
        said = f"; {' and '.join(names)} are given" if names else ""
        raise InvalidOption(
            "say what to read with exactly one of subscribe (topics, with commas between them), "
            f'subscribePattern (a regular expression) and assign (JSON, as {{"clicks":[0,1]}}){said}'
        )
    try:
        return Subscription.parse(names[0], given[names[0]])
    except ValueError as error:
        raise InvalidOption(f"{names[0]}: {error}") from None


def _starting(given: Mapping[str, str], streaming: bool) -> OffsetLimit:
    default = OffsetLimit.latest() if streaming else OffsetLimit.earliest()
    limit = _limit(given, "startingTimestamp", "startingOffsetsByTimestamp", "startingOffsets", default)
    if not streaming:
        if limit.kind == "latest":
            raise InvalidOption("startingOffsets: a batch query that begins at the end reads nothing")
        if wrong := [tp for tp, offset in limit.by_partition if offset == LATEST and limit.kind == "offsets"]:
            raise InvalidOption(
                f"startingOffsets: a batch query cannot begin at the end (-1), as it is said for {wrong[0]}"
            )
    strategy = given.get("startingOffsetsByTimestampStrategy", "error").strip().lower()
    if strategy not in ("error", "latest"):
        raise InvalidOption(
            f"startingOffsetsByTimestampStrategy: {strategy!r} is neither error nor latest, "
            "which say what to do where no record is that young"
        )
    return limit.with_fallback(to_latest=strategy == "latest")


def _ending(given: Mapping[str, str]) -> OffsetLimit:
    limit = _limit(
        given, "endingTimestamp", "endingOffsetsByTimestamp", "endingOffsets", OffsetLimit.latest()
    )
    if limit.kind == "earliest":
        raise InvalidOption("endingOffsets: a batch query that ends at the beginning reads nothing")
    if wrong := [tp for tp, offset in limit.by_partition if offset == EARLIEST and limit.kind == "offsets"]:
        raise InvalidOption(
            f"endingOffsets: a batch query cannot end at the beginning (-2), as it is said for {wrong[0]}"
        )
    return limit.with_fallback(to_latest=True)


def _limit(
    given: Mapping[str, str], timestamp: str, by_timestamp: str, by_offset: str, default: OffsetLimit
) -> OffsetLimit:
    """One of three ways to say it; where several are given the first one wins, as with Spark's connector."""
    if timestamp in given:
        moment_ms = _number(given, timestamp, least=0)
        assert moment_ms is not None
        return OffsetLimit.at(moment_ms)
    name = by_timestamp if by_timestamp in given else by_offset
    if name not in given:
        return default
    text = given[name].strip()
    if name == by_offset and text.lower() in ("earliest", "latest"):
        return OffsetLimit.earliest() if text.lower() == "earliest" else OffsetLimit.latest()
    try:
        if name == by_timestamp:
            return OffsetLimit.at_each(parse_timestamps(text))
        return OffsetLimit.of(parse_offsets(text))
    except ValueError as error:
        also = "earliest, latest or " if name == by_offset else ""
        raise InvalidOption(f'{name}: expected {also}JSON as {{"clicks":{{"0":12}}}}: {error}') from None


def _number(given: Mapping[str, str], name: str, *, least: int) -> int | None:
    if name not in given:
        return None
    text = given[name].strip()
    if not re.fullmatch(r"[+-]?\d{1,19}", text):
        raise InvalidOption(f"{name}: {text!r} is not a whole number")
    if not least <= int(text) <= 2**63 - 1:
        raise InvalidOption(f"{name}: {text} is not {'positive' if least else 'a number from 0 on'}")
    return int(text)


def _boolean(given: Mapping[str, str], name: str, default: bool) -> bool:
    text = given.get(name, str(default)).strip().lower()
    if text not in ("true", "false"):
        raise InvalidOption(f"{name}: {given[name]!r} is neither true nor false")
    return text == "true"


def _delay_ms(given: Mapping[str, str], name: str, default_ms: int) -> int:
    if name not in given:
        return default_ms
    found = _DELAY.fullmatch(given[name].strip())
    # Spark reads a number without a unit as milliseconds.
    unit = _DELAY_UNITS_MS.get((found[2] or "ms").lower()) if found else None
    if found is None or unit is None:
        raise InvalidOption(f"{name}: {given[name]!r} is not a time as 30s, 15m or 1h")
    return int(int(found[1]) * unit)
