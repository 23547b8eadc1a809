"""`kafka-configs.sh`: describe and alter the configuration of topics, groups and brokers."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.client.admin import ConfigChange, ConfigEntry, ConfigOperation, ConfigResourceType, ConfigSource

if TYPE_CHECKING:
    from ottla.client.blocking import Client

ENTITIES = {
    "topics": ConfigResourceType.TOPIC,
    "groups": ConfigResourceType.GROUP,
    "brokers": ConfigResourceType.BROKER,
}
OTHER_ENTITIES = ("users", "clients", "ips", "client-metrics", "broker-loggers")

_BETWEEN_PAIRS = re.compile(r",(?=[^\]]*(?:\[|$))")
"""A comma that is not inside square brackets."""


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-configs.sh",
        "Describe and change the configuration of topics, groups and brokers.",
        epilog="example: kafka-configs.sh --bootstrap-server localhost:9092 --alter --topic events "
        "--add-config retention.ms=86400000",
    )
    parser.add_bootstrap()
    parser.add_argument("--describe", action="store_true", help="list configurations")
    parser.add_argument("--alter", action="store_true", help="change configurations")
    parser.add_argument("--entity-type", action="append", metavar="TYPE", help="topics, groups or brokers")
    parser.add_argument(
        "--entity-name", action="append", metavar="NAME", help="a topic's name, a group's or a broker's id"
    )
    parser.add_argument("--entity-default", action="store_true", help="the default of all brokers")
    parser.add_argument("--topic", metavar="NAME", help="short for --entity-type topics --entity-name NAME")
    parser.add_argument("--group", metavar="ID", help="short for --entity-type groups --entity-name ID")
    parser.add_argument("--broker", metavar="ID", help="short for --entity-type brokers --entity-name ID")
    parser.add_argument("--broker-defaults", action="store_true", help="the default of all brokers")
    parser.add_argument("--all", action="store_true", help="with --describe: defaults and static values too")
    parser.add_argument("--add-config", metavar="K=V,K=[V,V]", help="keys to set")
    parser.add_argument("--add-config-file", metavar="FILE", help="a properties file with keys to set")
    parser.add_argument("--delete-config", metavar="K,K", help="keys to remove")
    parser.add_argument("--force", action="store_true", help=argparse.SUPPRESS)
    return parser


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    if options.describe == options.alter:
        raise UsageError("Command must include exactly one action: --describe or --alter")
    resource, name = entity(options)
    with connect(options) as client:
        if options.describe:
            return describe(client, resource, name, show_all=options.all)
        if name is None:
            raise UsageError("--alter needs --entity-name (or --topic, --group, --broker, --broker-defaults)")
        return alter(client, resource, name, changes(options))


def entity(options: argparse.Namespace) -> tuple[ConfigResourceType, str | None]:
    """Whose configuration; the name is None for all of a type and empty for the brokers' default."""
    if options.topic is not None:
        return ConfigResourceType.TOPIC, options.topic
    if options.group is not None:
        return ConfigResourceType.GROUP, options.group
    if options.broker is not None:
        return ConfigResourceType.BROKER, options.broker
    if options.broker_defaults:
        return ConfigResourceType.BROKER, ""
    types = options.entity_type or []
    if len(types) != 1:
        raise UsageError("give one --entity-type: topics, groups or brokers")
    if types[0] in OTHER_ENTITIES:
        raise UsageError(f"--entity-type {types[0]} is not available: only topics, groups and brokers are")
    if types[0] not in ENTITIES:
        raise UsageError(f"--entity-type {types[0]} is unknown: write topics, groups or brokers")
    resource = ENTITIES[types[0]]
    if options.entity_default:
        if resource != ConfigResourceType.BROKER:
            raise UsageError("--entity-default exists for brokers only")
        return resource, ""
    names = options.entity_name or []
    if len(names) > 1:
        raise UsageError("give one --entity-name")
    return resource, names[0] if names else None


def parse_pairs(text: str) -> dict[str, str]:
    """`k1=v1,k2=[v1,v2]`: brackets hold values with commas."""
    found = {}
    for item in _BETWEEN_PAIRS.split(text):
        name, equals, value = item.strip().partition("=")
        if not name:
            continue
        if not equals:
            raise UsageError(f"--add-config {item}: expected key=value")
        found[name.strip()] = re.sub(r"\[?([^\]]*)\]?", r"\1", value.strip())
    return found


def changes(options: argparse.Namespace) -> list[ConfigChange]:
    from ottla.cli.server_properties import load_properties

    added: dict[str, str] = {}
    if options.add_config_file is not None:
        added.update(load_properties(options.add_config_file))
    if options.add_config is not None:
        added.update(parse_pairs(options.add_config))
    deleted = [name.strip() for name in (options.delete_config or "").split(",") if name.strip()]
    if not added and not deleted:
        raise UsageError("--alter needs --add-config, --add-config-file or --delete-config")
    return [
        *(ConfigChange(name, ConfigOperation.SET, value) for name, value in added.items()),
        *(ConfigChange(name, ConfigOperation.DELETE) for name in deleted),
    ]


def dynamic_source(resource: ConfigResourceType, name: str) -> ConfigSource:
    if resource == ConfigResourceType.TOPIC:
        return ConfigSource.DYNAMIC_TOPIC_CONFIG
    if resource == ConfigResourceType.GROUP:
        return ConfigSource.DYNAMIC_GROUP_CONFIG
    return ConfigSource.DYNAMIC_BROKER_CONFIG if name else ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG


def describe(client: Client, resource: ConfigResourceType, name: str | None, *, show_all: bool) -> int:
    if name is not None:
        names = [name]
    elif resource == ConfigResourceType.TOPIC:
        names = client.run(client.admin.list_topics())
    elif resource == ConfigResourceType.GROUP:
        names = [g.group_id for g in client.run(client.groups.list_groups()) if g.is_consumer_group]
    else:
        names = [str(node) for node in sorted(client.run(client.cluster.discover(())).brokers)] + [""]
    described = client.run(client.admin.describe_configs(resource, names)).all()
    for each, entries in described.items():
        kind = resource.name.lower()
        if resource == ConfigResourceType.BROKER and each == "":
            print("Default configs for brokers in the cluster are:")
        else:
            print(f"{'All' if show_all else 'Dynamic'} configs for {kind} {each} are:")
        source = dynamic_source(resource, each)
        for entry in entries:
            if show_all or entry.source == source:
                print(entry_line(entry))
    return 0


def entry_line(entry: ConfigEntry) -> str:
    def text(value: str | None) -> str:
        return "null" if value is None else value

    synonyms = ", ".join(f"{s.source.name}:{s.name}={text(s.value)}" for s in entry.synonyms)
    sensitive = str(entry.sensitive).lower()
    return f"  {entry.name}={text(entry.value)} sensitive={sensitive} synonyms={{{synonyms}}}"


def alter(client: Client, resource: ConfigResourceType, name: str, wanted: list[ConfigChange]) -> int:
    if resource == ConfigResourceType.TOPIC:
        client.run(client.cluster.discover([name]))
    deleted = {change.name for change in wanted if change.operation == ConfigOperation.DELETE}
    if deleted:
        source = dynamic_source(resource, name)
        entries = client.run(client.admin.describe_configs(resource, [name])).all()[name]
        missing = deleted - {entry.name for entry in entries if entry.source == source}
        if missing:
            raise UsageError(f"Invalid config(s): {','.join(sorted(missing))}")
    client.run(client.admin.alter_configs(resource, name, wanted))
    kind = resource.name.lower()
    if resource == ConfigResourceType.BROKER and name == "":
        print("Completed updating default config for brokers in the cluster.")
    else:
        print(f"Completed updating config for {kind} {name}.")
    return 0
