"""`ottla config`: read and change the configuration of topics, groups and brokers while they run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ottla.cli.session import bootstrap_option, json_option, key_values, open_client, print_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from ottla.client.admin import ConfigResourceType


@click.group(
    epilog="""\b
Examples:
  ottla config describe --topic clicks --all
  ottla config alter --topic clicks --add retention.ms=3600000"""
)
def config() -> None:
    """Read and change the configuration of topics, groups and brokers while they run."""


def resource_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "--broker-defaults", is_flag=True, help="What all brokers have unless they have their own."
        ),
        click.option("--broker", metavar="ID", help="One broker."),
        click.option("--group", metavar="ID", help="One consumer group, which need not exist yet."),
        click.option("--topic", metavar="NAME", help="One topic."),
    ):
        command = option(command)
    return command


def chosen_resource(
    topic: str | None, group: str | None, broker: str | None, broker_defaults: bool
) -> tuple[ConfigResourceType, str]:
    from ottla.client.admin import ConfigResourceType

    if (topic is not None) + (group is not None) + (broker is not None) + broker_defaults != 1:
        raise click.UsageError(
            "say whose configuration: --topic NAME, --group ID, --broker ID or --broker-defaults"
        )
    if topic is not None:
        return ConfigResourceType.TOPIC, topic
    if group is not None:
        return ConfigResourceType.GROUP, group
    return ConfigResourceType.BROKER, broker or ""


@config.command(
    epilog="""\b
Examples:
  ottla config describe --topic clicks --all
  ottla config describe --broker 1"""
)
@resource_options
@click.option("--all", "show_all", is_flag=True, help="Also what is at its default.")
@click.option("--doc", is_flag=True, help="With what each key means.")
@json_option
@bootstrap_option
def describe(
    topic: str | None,
    group: str | None,
    broker: str | None,
    broker_defaults: bool,
    show_all: bool,
    doc: bool,
    as_json: bool,
    bootstrap_server: str,
) -> None:
    """Show a configuration, with where each value comes from."""
    resource, name = chosen_resource(topic, group, broker, broker_defaults)
    with open_client(bootstrap_server) as client:
        described = client.run(client.admin.describe_configs(resource, [name], documentation=doc)).all()
    entries = [entry for entry in described.get(name, []) if show_all or not entry.is_default]
    if as_json:
        print_json(
            [
                {
                    "name": e.name,
                    "value": e.value,
                    "source": e.source.name,
                    "read_only": e.read_only,
                    "sensitive": e.sensitive,
                    **({"doc": e.documentation} if doc else {}),
                }
                for e in entries
            ]
        )
        return
    for entry in entries:
        value = "(hidden)" if entry.sensitive else "" if entry.value is None else entry.value
        click.echo(f"{entry.name}={value}  ({entry.source.name.lower().replace('_', ' ')})")
        if doc and entry.documentation:
            click.echo(click.wrap_text(entry.documentation, 100, "    ", "    "))
    if not entries and not show_all:
        click.echo("everything is at its default (see it with --all)", err=True)


@config.command(
    short_help="Change a configuration, at once and for good.",
    epilog="""\b
Examples:
  ottla config alter --topic clicks --add retention.ms=3600000 --delete segment.ms
  ottla config alter --group billing --add consumer.session.timeout.ms=50000
  ottla config alter --broker-defaults --add log.retention.ms=86400000""",
)
@resource_options
@click.option("--add", multiple=True, metavar="KEY=VALUE", help="Set a key.")
@click.option("--delete", multiple=True, metavar="KEY", help="Remove a key's value: the next layer's holds.")
@click.option("--append", multiple=True, metavar="KEY=VALUE", help="Add an item to a list.")
@click.option("--subtract", multiple=True, metavar="KEY=VALUE", help="Take an item from a list.")
@click.option("--validate-only", is_flag=True, help="Only check whether it would be accepted.")
@bootstrap_option
def alter(
    topic: str | None,
    group: str | None,
    broker: str | None,
    broker_defaults: bool,
    add: tuple[str, ...],
    delete: tuple[str, ...],
    append: tuple[str, ...],
    subtract: tuple[str, ...],
    validate_only: bool,
    bootstrap_server: str,
) -> None:
    """Change a configuration; it takes effect at once and survives a restart."""
    from ottla.client.admin import ConfigChange, ConfigOperation, ConfigResourceType

    resource, name = chosen_resource(topic, group, broker, broker_defaults)
    changes = [
        ConfigChange(key, operation, value)
        for operation, items, option in (
            (ConfigOperation.SET, add, "--add"),
            (ConfigOperation.APPEND, append, "--append"),
            (ConfigOperation.SUBTRACT, subtract, "--subtract"),
        )
        for key, value in key_values(items, option).items()
    ]
    changes += [ConfigChange(key, ConfigOperation.DELETE) for key in delete]
    names = [change.name for change in changes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise click.UsageError(f"{', '.join(twice)}: one change of a key at a time")
    if not changes:
        raise click.UsageError("nothing to do: give --add, --delete, --append or --subtract")
    with open_client(bootstrap_server) as client:
        if resource == ConfigResourceType.TOPIC:
            client.run(client.cluster.discover([name]))
        client.run(client.admin.alter_configs(resource, name, changes, validate_only=validate_only))
    owner = f"{resource.name.lower()} {name}" if name else "all brokers"
    click.echo(f"{'could alter' if validate_only else 'altered'} the configuration of {owner}")
