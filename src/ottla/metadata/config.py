"""The layers of configuration put together: what a key's value is here and now, and where it comes from.

A broker's key is looked up in the dynamic configs of this broker, then in those of all brokers (the resource
with the empty name), then in `server.properties`, then in its default. A topic's key is looked up in the
topic's own configs, then in the broker's layers by its synonyms: `retention.ms` as `log.retention.ms`, then
`log.retention.minutes`, then `log.retention.hours`.

A `ConfigView` belongs to one image. `after(image)` gives the view of the next, and keeps what was computed
when no config changed in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

from ottla.metadata.image import BROKER_RESOURCE, GROUP_RESOURCE, TOPIC_RESOURCE, MetadataImage
from ottla.model.config import BROKER_KEYS, GROUP_KEYS, TOPIC_KEYS, broker_key, unit_ms
from ottla.model.config_key import READ_ONLY, ConfigError, ConfigKey, ConfigType, ConfigValue
from ottla.model.errors import ErrorCode, KafkaError
from ottla.model.log_config import LogConfig
from ottla.model.server_config import ServerConfig


class ConfigSource(IntEnum):
    """The numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    DYNAMIC_TOPIC_CONFIG = 1
    DYNAMIC_BROKER_CONFIG = 2
    DYNAMIC_DEFAULT_BROKER_CONFIG = 3
    STATIC_BROKER_CONFIG = 4
    DEFAULT_CONFIG = 5
    DYNAMIC_BROKER_LOGGER_CONFIG = 6
    CLIENT_METRICS_CONFIG = 7
    GROUP_CONFIG = 8


class ConfigSynonym(NamedTuple):
    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One line of a description. A sensitive value is None."""

    name: str
    value: str | None
    read_only: bool
    source: ConfigSource
    sensitive: bool
    type: ConfigType
    doc: str | None
    synonyms: tuple[ConfigSynonym, ...]


_LOG_CONFIG_FIELDS: Final[Mapping[str, str]] = {
    name.replace(".", "_"): name for name in TOPIC_KEYS if hasattr(LogConfig, name.replace(".", "_"))
}
"""By field of LogConfig, its topic key."""

_LOG_CONFIGS_MAX: Final = 256
"""Whoever changes a topic's configs in a loop makes a new set each time; the logs keep the ones in use."""


class ConfigView:
    """The configuration that a node sees through one image."""

    __slots__ = (
        "server",
        "image",
        "node_id",
        "_own_configs",
        "_default_configs",
        "_broker_values",
        "_broker_defaults",
        "_log_configs",
    )

    def __init__(self, server: ServerConfig, image: MetadataImage) -> None:
        self.server = server
        self.image = image
        self.node_id = server.node_id
        self._own_configs = image.config(BROKER_RESOURCE, str(server.node_id))
        self._default_configs = image.config(BROKER_RESOURCE, "")
        self._broker_values: dict[str, ConfigValue] = {}
        self._broker_defaults: dict[str, Any] | None = None
        """The fields of LogConfig for a topic without configs of its own."""
        self._log_configs: dict[frozenset[tuple[str, str]], LogConfig] = {}
        """By a topic's own configs: topics that say the same share one object."""

    def after(self, image: MetadataImage) -> ConfigView:
        view = ConfigView(self.server, image)
        if (view._own_configs, view._default_configs) == (self._own_configs, self._default_configs):
            view._broker_values = self._broker_values
            view._broker_defaults = self._broker_defaults
            view._log_configs = self._log_configs
        return view

    # Values

    def broker_value(self, name: str) -> ConfigValue:
        """The value of a broker's key; `listener.name.x.key` that is not set has the value of `key`."""
        if name in self._broker_values:
            return self._broker_values[name]
        key = broker_key(name)
        if key is None:
            raise KeyError(name)
        value = self._find_broker_value(key, name)
        self._broker_values[name] = value
        return value

    def _find_broker_value(self, key: ConfigKey, name: str) -> ConfigValue:
        for layer in (self._own_configs, self._default_configs):
            text = layer.get(name)
            if text is not None:
                try:
                    return key.parse(text)
                except ConfigError:
                    continue  # accepted by another version; the next layer is better than no broker
        if name in self.server.values:
            return self.server.values[name]
        return key.default if name == key.name else self.broker_value(key.name)

    def is_set(self, name: str) -> bool:
        """Whether somebody has given a broker's key a value, here or for all brokers."""
        layers = (self._own_configs, self._default_configs, self.server.values)
        return any(name in layer for layer in layers)

    def get_int(self, name: str) -> int:
        value = self.broker_value(name)
        assert isinstance(value, int), name
        return value

    def get_float(self, name: str) -> float:
        value = self.broker_value(name)
        assert isinstance(value, (int, float)), name
        return float(value)

    def get_bool(self, name: str) -> bool:
        value = self.broker_value(name)
        assert isinstance(value, bool), name
        return value

    def get_str(self, name: str) -> str:
        value = self.broker_value(name)
        assert isinstance(value, str), name
        return value

    def get_list(self, name: str) -> tuple[str, ...]:
        value = self.broker_value(name)
        assert isinstance(value, tuple), name
        return value

    def inherited_topic_value(self, name: str) -> ConfigValue:
        """What a topic's key is when the topic does not set it."""
        key = TOPIC_KEYS[name]
        for synonym in key.synonyms:
            value = self.broker_value(synonym)
            if value is None:
                continue
            unit = unit_ms(synonym)
            if unit != 1:
                assert isinstance(value, int)
                return value * unit if value >= 0 else -1
            return value
        return key.default

    def topic_value(self, topic: str, name: str) -> ConfigValue:
        text = self.image.config(TOPIC_RESOURCE, topic).get(name)
        if text is not None:
            try:
                return TOPIC_KEYS[name].parse(text)
            except ConfigError:
                pass
        return self.inherited_topic_value(name)

    def topic_log_config(self, topic: str) -> LogConfig:
        return self.log_config(self.image.config(TOPIC_RESOURCE, topic))

    def log_config(self, own: Mapping[str, str]) -> LogConfig:
        """The resolved configuration of a log whose topic has the configs `own`."""
        cache_key = frozenset(own.items())
        found = self._log_configs.get(cache_key)
        if found is None:
            if len(self._log_configs) >= _LOG_CONFIGS_MAX:
                self._log_configs.clear()
            found = self._log_configs[cache_key] = self._make_log_config(own)
        return found

    def _make_log_config(self, own: Mapping[str, str]) -> LogConfig:
        if self._broker_defaults is None:
            self._broker_defaults = {
                field: self.inherited_topic_value(name) for field, name in _LOG_CONFIG_FIELDS.items()
            }
        fields = dict(self._broker_defaults)
        for name, text in own.items():
            field = name.replace(".", "_")
            if field in fields:
                try:
                    fields[field] = TOPIC_KEYS[name].parse(text)
                except ConfigError:
                    continue  # accepted by another version; the broker's value is better than no log
        fields["cleanup_policy"] = frozenset(fields["cleanup_policy"])
        return LogConfig(**fields)

    # Descriptions

    def describe_topic(
        self,
        topic: str,
        names: Collection[str] | None = None,
        *,
        synonyms: bool = False,
        docs: bool = False,
    ) -> list[ConfigEntry]:
        """All keys of a topic, or the named ones; names that are not keys are left out, as in Kafka."""
        return self.describe_topic_configs(
            self.image.config(TOPIC_RESOURCE, topic), names, synonyms=synonyms, docs=docs
        )

    def describe_topic_configs(
        self,
        own: Mapping[str, str],
        names: Collection[str] | None = None,
        *,
        synonyms: bool = False,
        docs: bool = False,
    ) -> list[ConfigEntry]:
        """The same for a topic that has the configs `own` and need not exist."""
        entries: list[ConfigEntry] = []
        for key in TOPIC_KEYS.values():
            if names is not None and key.name not in names:
                continue
            found: list[ConfigSynonym] = []
            value = key.format(self.inherited_topic_value(key.name))
            if key.name in own:
                value = own[key.name]
                found.append(ConfigSynonym(key.name, value, ConfigSource.DYNAMIC_TOPIC_CONFIG))
            found += self._broker_synonyms(key.synonyms)
            entries.append(
                ConfigEntry(
                    name=key.name,
                    value=value,
                    read_only=False,
                    source=found[0].source if found else ConfigSource.DEFAULT_CONFIG,
                    sensitive=False,
                    type=key.type,
                    doc=key.doc if docs else None,
                    synonyms=tuple(found) if synonyms else (),
                )
            )
        return entries

    def describe_broker(
        self,
        resource: str,
        names: Collection[str] | None = None,
        *,
        synonyms: bool = False,
        docs: bool = False,
    ) -> list[ConfigEntry]:
        """This broker's configs when `resource` is its number; what all brokers share when it is empty."""
        if resource == "":
            return self._describe_default(names, synonyms, docs)
        if resource != str(self.node_id):
            raise KafkaError(
                ErrorCode.INVALID_REQUEST,
                f"Unexpected broker id, expected {self.node_id} or empty string, but received {resource}",
            )
        shown = [key.name for key in BROKER_KEYS.values() if not key.internal]
        extra = {**self.server.texts, **self._default_configs, **self._own_configs}
        known = set(shown)
        shown += [name for name in extra if name not in known]
        return [
            self._describe_broker_key(name, synonyms, docs)
            for name in shown
            if names is None or name in names
        ]

    def _describe_broker_key(self, name: str, synonyms: bool, docs: bool) -> ConfigEntry:
        key = broker_key(name)
        if key is None:
            # Whatever an unknown key holds may be a secret.
            return ConfigEntry(
                name, None, True, ConfigSource.STATIC_BROKER_CONFIG, True, ConfigType.UNKNOWN, None, ()
            )
        found = self._broker_synonyms((name, *key.synonyms))
        own = [each for each in found if each.name == name]
        return ConfigEntry(
            name=name,
            value=key.format(self.broker_value(name)),
            read_only=key.dynamic == READ_ONLY,
            source=own[0].source if own else ConfigSource.DEFAULT_CONFIG,
            sensitive=key.sensitive,
            type=key.type,
            doc=key.doc if docs else None,
            synonyms=tuple(found) if synonyms else (),
        )

    def _describe_default(
        self, names: Collection[str] | None, synonyms: bool, docs: bool
    ) -> list[ConfigEntry]:
        entries: list[ConfigEntry] = []
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
        for name, text in self._default_configs.items():
            if names is not None and name not in names:
                continue
            key = broker_key(name)
            sensitive = key is None or key.sensitive
            value = None if sensitive else text
            entries.append(
                ConfigEntry(
                    name=name,
                    value=value,
                    read_only=key is not None and key.dynamic == READ_ONLY,
                    source=source,
                    sensitive=sensitive,
                    type=ConfigType.UNKNOWN if key is None else key.type,
                    doc=key.doc if docs and key is not None else None,
                    synonyms=(ConfigSynonym(name, value, source),) if synonyms else (),
                )
            )
        return entries

    def _broker_synonyms(self, names: tuple[str, ...]) -> list[ConfigSynonym]:
        """Every place where one of the names has a value, the one that counts first."""
        found: list[ConfigSynonym] = []
        for source, layer in (
            (ConfigSource.DYNAMIC_BROKER_CONFIG, self._own_configs),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG, self._default_configs),
            (ConfigSource.STATIC_BROKER_CONFIG, self.server.texts),
        ):
            found += _synonyms_in(layer, names, source)
        for name in names:
            key = BROKER_KEYS.get(name)
            if key is not None and key.default is not None:
                found.append(ConfigSynonym(name, key.default_text, ConfigSource.DEFAULT_CONFIG))
        # `log.retention.ms` in the file goes before hours that were set while running: name, then layer.
        order = {name: position for position, name in enumerate(names)}
        found.sort(key=lambda each: order[each.name])
        return found

    def describe_group(
        self,
        group: str,
        names: Collection[str] | None = None,
        *,
        synonyms: bool = False,
        docs: bool = False,
    ) -> list[ConfigEntry]:
        own = self.image.config(GROUP_RESOURCE, group)
        entries: list[ConfigEntry] = []
        for key in GROUP_KEYS.values():
            if names is not None and key.name not in names:
                continue
            is_set = key.name in own
            source = ConfigSource.GROUP_CONFIG if is_set else ConfigSource.DEFAULT_CONFIG
            value = own[key.name] if is_set else key.format(self._inherited_group_value(key))
            entries.append(
                ConfigEntry(
                    name=key.name,
                    value=value,
                    read_only=False,
                    source=source,
                    sensitive=False,
                    type=key.type,
                    doc=key.doc if docs else None,
                    synonyms=(ConfigSynonym(key.name, value, source),) if synonyms else (),
                )
            )
        return entries

    def _inherited_group_value(self, key: ConfigKey) -> ConfigValue:
        """A group's key is the broker's with `group.` in front, where there is one."""
        broker_name = f"group.{key.name}"
        return self.broker_value(broker_name) if broker_name in BROKER_KEYS else key.default


def _synonyms_in(
    layer: Mapping[str, str], names: tuple[str, ...], source: ConfigSource
) -> Iterator[ConfigSynonym]:
    for name in names:
        text = layer.get(name)
        if text is not None:
            key = broker_key(name)
            yield ConfigSynonym(name, None if key is None or key.sensitive else text.strip(), source)
