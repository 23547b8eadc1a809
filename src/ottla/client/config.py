"""What a user wrote becomes a client's settings: names are found, values read, rules between them kept.

A setting may be given as a keyword (`linger_ms=5`) or in a mapping under Kafka's name (`config={"linger.ms":
"5"}`, as it comes out of a properties file); a keyword outdoes the mapping, and None is as if nothing had
been given. Values may be texts, numbers, lists or, for serializers and the like, functions. A name that no
table knows is an error that says what was probably meant.

The rules between settings are those of Kafka's Java clients, which differ by whether somebody asked: acks=1
quietly switches off an idempotence that was only the default, and contradicts one that was asked for.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import index
from typing import Any, Final, TypeVar

from ottla.client import log
from ottla.client.bootstrap import parse_bootstrap
from ottla.client.config_tables import (
    ADMIN,
    CONSUMER,
    JAVA_CLASSES,
    KAFKA_PYTHON,
    LIBRDKAFKA,
    PRODUCER,
    SAME,
    TABLES,
    Setting,
)
from ottla.client.errors import InvalidArgument, InvalidConfig
from ottla.client.settings import (
    AdminSettings,
    ClientSettings,
    ConsumerSettings,
    ProducerSettings,
    SecuritySettings,
)
from ottla.model.config_key import BOOLEAN, DOUBLE, INT, LIST, LONG, PASSWORD, ConfigError, Password
from ottla.wire.codec import Codec

IN_FLIGHT_MAX_IDEMPOTENT: Final = 5
"""The broker remembers the sequences of so many batches of a producer."""

USE_ALL_IPS: Final = "use_all_dns_ips"

_NUMBERS: Final = (INT, LONG, DOUBLE)
_SIZE = re.compile(r"([0-9]+) ?([kmg])(i?b)?", re.IGNORECASE)
_SIZE_UNITS: Final = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
# As Java's Duration reads it: days, then hours, minutes and seconds, at least one of them.
_DURATION = re.compile(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", re.IGNORECASE)
_INSTANCE_ID = re.compile(r"[a-zA-Z0-9._-]{1,249}")

_producer_numbers = itertools.count(1)
_consumer_numbers = itertools.count(1)
_admin_numbers = itertools.count(1)

S = TypeVar("S", bound=ClientSettings)


def producer_settings(config: Mapping[str, Any] | None, kwargs: Mapping[str, Any]) -> ProducerSettings:
    """The settings of a producer; raises InvalidConfig."""
    given = _read("producers", PRODUCER, config, kwargs)
    settings = _fill(ProducerSettings, PRODUCER, given, _compression(given))
    if given.get("transaction.two.phase.commit.enable"):
        raise InvalidConfig("transaction.two.phase.commit.enable: transactions of two phases are not offered")
    settings = _delivery_checked(_idempotence_checked(settings, given), given)
    if "client.id" not in given:
        settings = replace(
            settings, client_id=f"producer-{settings.transactional_id or next(_producer_numbers)}"
        )
    return settings


def consumer_settings(config: Mapping[str, Any] | None, kwargs: Mapping[str, Any]) -> ConsumerSettings:
    """The settings of a consumer, or of a simple one; raises InvalidConfig."""
    given = _read("consumers", CONSUMER, config, kwargs)
    settings = _fill(ConsumerSettings, CONSUMER, given, {})
    _check_offset_reset(settings.auto_offset_reset)
    _check_group(settings, given)
    if settings.group_id is None:
        if given.get("enable.auto.commit"):
            raise InvalidConfig("enable.auto.commit: nothing can be committed without a group.id")
        settings = replace(settings, enable_auto_commit=False)
    if not given.get("client.id"):
        name = settings.group_instance_id or next(_consumer_numbers)
        settings = replace(settings, client_id=f"consumer-{settings.group_id or 'none'}-{name}")
    return settings


def admin_settings(config: Mapping[str, Any] | None, kwargs: Mapping[str, Any]) -> AdminSettings:
    """The settings of an admin client; raises InvalidConfig."""
    given = _read("admin clients", ADMIN, config, kwargs)
    settings = _fill(AdminSettings, ADMIN, given, {})
    if "client.id" not in given:
        settings = replace(settings, client_id=f"adminclient-{next(_admin_numbers)}")
    return settings


def _read(
    whose: str,
    table: Mapping[str, Setting],
    config: Mapping[str, Any] | None,
    kwargs: Mapping[str, Any],
) -> dict[str, Any]:
    """What was given, by dotted name, as checked values. What was not given is not in it."""
    merged: dict[str, Any] = {}
    for source in (config or {}, kwargs):
        written: dict[str, str] = {}
        for name, value in source.items():
            if not isinstance(name, str):
                raise InvalidConfig(f"{name!r}: the name of a setting is a text")
            dotted = name.replace("_", ".")
            dotted = SAME.get(dotted, dotted)
            if dotted not in table:
                raise _unknown(whose, table, name, dotted)
            if dotted in written:
                raise InvalidConfig(f"{dotted} is given twice: as {written[dotted]} and as {name}")
            written[dotted] = name
            if value is None:
                merged.pop(dotted, None)
            else:
                merged[dotted] = value
    if "bootstrap.servers" not in merged:
        raise InvalidConfig("bootstrap.servers: say where the cluster is, as host:port[,host:port ...]")
    return {name: _value(table[name], value) for name, value in merged.items()}


def _unknown(whose: str, table: Mapping[str, Setting], name: str, dotted: str) -> InvalidConfig:
    if dotted in LIBRDKAFKA:
        return InvalidConfig(f"{name} is librdkafka's name for {LIBRDKAFKA[dotted]}")
    if dotted in KAFKA_PYTHON:
        return InvalidConfig(f"{name} is kafka-python's name for {KAFKA_PYTHON[dotted]}")
    for others, other_table in TABLES.items():
        if dotted in other_table:
            return InvalidConfig(f"{name} is a setting of {others}, not of {whose}")
    import difflib  # only here: nobody who writes names correctly pays for it

    nearest = difflib.get_close_matches(dotted, [*table, *SAME], n=1, cutoff=0.6)
    hint = f"; did you mean {nearest[0]}?" if nearest else ""
    return InvalidConfig(f"{name}: there is no such setting{hint}")


def _value(setting: Setting, value: Any) -> Any:
    """The value as the field wants it; raises InvalidConfig naming the setting."""
    key = setting.key
    if setting.objects:
        return _objects(setting, value)
    if key.name == "bootstrap.servers":
        return _bootstrap(value)
    if isinstance(value, Password):
        value = value.secret
    if key.type is LIST and not isinstance(value, str):
        if not isinstance(value, Iterable) or isinstance(value, bytes):
            raise InvalidConfig(f"{key.name}: expected {key.allowed()}, not {type(value).__name__}")
        value = ",".join(str(item) for item in value)
    text = _text(setting, value)
    try:
        parsed = key.parse(text)
    except ConfigError as error:
        raise InvalidConfig(str(error)) from None
    if key.any_case and key.choices is not None and isinstance(parsed, str):
        parsed = next(choice for choice in key.choices if choice.lower() == parsed.lower())
    return parsed


def _text(setting: Setting, value: Any) -> str:
    """The text that stands for a Python value, so that there is one way in which values are checked."""
    key = setting.key
    if isinstance(value, str):
        size = _SIZE.fullmatch(value.strip()) if setting.size else None
        return str(int(size[1]) * _SIZE_UNITS[size[2].lower()]) if size else value
    if isinstance(value, bool):
        fits = key.type is BOOLEAN
        text = str(value).lower()
    elif hasattr(value, "__index__"):  # also numpy's, and acks=1, whose values are texts
        fits = key.type in _NUMBERS or key.choices is not None
        text = str(index(value))
    elif isinstance(value, float):
        fits = key.type is DOUBLE or (key.type in _NUMBERS and value.is_integer())
        text = str(int(value)) if value.is_integer() else repr(value)
    elif isinstance(value, os.PathLike):
        fits = key.type not in (*_NUMBERS, BOOLEAN)
        text = os.fspath(value)
    else:
        fits = False
        text = ""
    if not fits:
        shown = "this" if key.type is PASSWORD else repr(value)
        raise InvalidConfig(f"{key.name}: expected {key.allowed()}, not {shown[:200]}")
    return text


def _bootstrap(value: Any) -> str:
    """One text out of a text or a list; the addresses in it are well formed."""
    if not isinstance(value, str):
        if not isinstance(value, Iterable) or isinstance(value, bytes):
            raise InvalidConfig(f"bootstrap.servers: expected host:port, or a list of them, not {value!r}")
        value = ",".join(str(item) for item in value)
    try:
        parse_bootstrap(value)
    except InvalidArgument as error:
        raise InvalidConfig(f"bootstrap.servers: {error}") from None
    return str(value)


def _objects(setting: Setting, value: Any) -> Any:
    name = setting.key.name
    if setting.key.type is not LIST:
        return _object(name, value)
    if isinstance(value, str):
        items: list[Any] = [item.strip() for item in value.split(",")]
    elif isinstance(value, Iterable) and not isinstance(value, type):
        items = list(value)
    else:
        items = [value]
    if setting.key.non_empty and (not items or "" in items):
        raise InvalidConfig(f"{name}: the list is empty, or an element of it is")
    return tuple(_object(name, item) for item in items if item != "")


def _object(name: str, value: Any) -> Any:
    """A function or instance as it is; a class of Java's as what it is called here."""
    if isinstance(value, str):
        value = value.strip()
        if not value:
            raise InvalidConfig(f"{name}: the value is empty")
        classes = JAVA_CLASSES.get(name.removeprefix("key.").removeprefix("value."), {})
        last = value.rpartition(".")[2]
        if last in classes:
            return classes[last]
        if "." in value or (name == "interceptor.classes"):
            known = " or ".join(dict.fromkeys(classes.values()))
            advice = f"give {known}, or " if known else "give "
            raise InvalidConfig(
                f"{name}: {value} is the name of a Java class; {advice}the Python object itself"
            )
        return value
    if isinstance(value, bool | int | float | bytes):
        raise InvalidConfig(f"{name}: expected a name or an object, not {value!r}")
    return value


def _fill(
    kind: type[S], table: Mapping[str, Setting], given: Mapping[str, Any], made: Mapping[str, Any]
) -> S:
    fields: dict[str, Any] = dict(made)
    options: list[tuple[str, Any]] = []
    protocol = "PLAINTEXT"
    for name, value in given.items():
        setting = table[name]
        if setting.security:
            if name == "security.protocol":
                protocol = value
            else:
                options.append((name, value))
        elif setting.field is not None and name not in _MADE:
            fields[setting.field] = value
    if protocol.startswith("SASL") and given.get("sasl.mechanism", "GSSAPI") == "":
        raise InvalidConfig(f"sasl.mechanism: security.protocol={protocol} needs one")
    if given.get("client.dns.lookup", USE_ALL_IPS) != USE_ALL_IPS:
        raise InvalidConfig(
            f"client.dns.lookup: {given['client.dns.lookup']} is not offered, as it serves Kerberos only; "
            f"{USE_ALL_IPS} tries every address of a name"
        )
    fields["security"] = SecuritySettings(protocol=protocol, options=tuple(sorted(options)))
    if "acks" in fields:
        fields["acks"] = -1 if fields["acks"] == "all" else int(fields["acks"])
    if "reconnect.backoff.ms" in given and "reconnect.backoff.max.ms" not in given:
        fields["reconnect_backoff_max_ms"] = given["reconnect.backoff.ms"]  # as Java: no growth was asked for
    return kind(**fields)


_MADE: Final = {
    "compression.type",
    "compression.gzip.level",
    "compression.lz4.level",
    "compression.zstd.level",
}


def _compression(given: Mapping[str, Any]) -> dict[str, Any]:
    """The type as a codec, and the level that belongs to it; levels of other codecs are only checked."""
    name = given.get("compression.type", "none")
    return {
        "compression_type": Codec[name.upper()],
        "compression_level": given.get(f"compression.{name}.level"),
    }


def _idempotence_checked(settings: ProducerSettings, given: Mapping[str, Any]) -> ProducerSettings:
    asked = "enable.idempotence" in given
    if settings.enable_idempotence:
        hindrance = ""
        if settings.retries == 0:
            hindrance = "retries=0"
        elif settings.acks != -1:
            hindrance = f"acks={settings.acks}"
        if hindrance and asked:
            raise InvalidConfig(
                f"enable.idempotence needs acks=all and retries above 0, and there is {hindrance}"
            )
        if hindrance:
            log.info("idempotence is off because of %s", hindrance)
            settings = replace(settings, enable_idempotence=False)
        # Java checks this also where the rule above has just switched idempotence off.
        if settings.max_in_flight_requests_per_connection > IN_FLIGHT_MAX_IDEMPOTENT:
            raise InvalidConfig(
                f"max.in.flight.requests.per.connection: at most {IN_FLIGHT_MAX_IDEMPOTENT} with idempotence "
                f"(enable.idempotence), not {settings.max_in_flight_requests_per_connection}"
            )
    if settings.transactional_id is not None and not settings.enable_idempotence:
        raise InvalidConfig("transactional.id: transactions need idempotence (acks=all, retries above 0)")
    return settings


def _delivery_checked(settings: ProducerSettings, given: Mapping[str, Any]) -> ProducerSettings:
    least_ms = min(int(settings.linger_ms) + settings.request_timeout_ms, 2**31 - 1)
    if settings.delivery_timeout_ms >= least_ms:
        return settings
    if "delivery.timeout.ms" in given:
        raise InvalidConfig(
            f"delivery.timeout.ms: {settings.delivery_timeout_ms} is less than linger.ms and "
            f"request.timeout.ms together ({least_ms})"
        )
    log.warning("delivery.timeout.ms is raised to %d, linger.ms and request.timeout.ms together", least_ms)
    return replace(settings, delivery_timeout_ms=least_ms)


_CLASSIC_ONLY: Final = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")


def _check_group(settings: ConsumerSettings, given: Mapping[str, Any]) -> None:
    if settings.group_protocol == "consumer":
        wrong = [name for name in _CLASSIC_ONLY if name in given]
        if wrong:
            raise InvalidConfig(f"{', '.join(wrong)}: the broker decides this with group.protocol=consumer")
    elif "group.remote.assignor" in given:
        raise InvalidConfig("group.remote.assignor: only with group.protocol=consumer")
    elif settings.heartbeat_interval_ms >= settings.session_timeout_ms:
        raise InvalidConfig(
            f"heartbeat.interval.ms: {settings.heartbeat_interval_ms} must be less than session.timeout.ms "
            f"({settings.session_timeout_ms})"
        )
    instance = settings.group_instance_id
    if instance is not None and (not _INSTANCE_ID.fullmatch(instance) or instance in (".", "..")):
        raise InvalidConfig(
            f"group.instance.id: {instance[:300]!r}: up to 249 letters, digits, dots, underscores and hyphens"
        )


def _check_offset_reset(value: str) -> None:
    kind, colon, duration = value.partition(":")
    if kind in ("earliest", "latest", "none") and not colon:
        return
    if kind == "by_duration" and _DURATION.fullmatch(duration):
        return
    raise InvalidConfig(
        f"auto.offset.reset: expected earliest, latest, none or by_duration:<as in PT1H>, not {value[:200]!r}"
    )
