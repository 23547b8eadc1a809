"""How a command reaches a cluster: the `--bootstrap-server` option, and the client it opens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from ottla.client.blocking import Client

F = TypeVar("F", bound="Callable[..., Any]")

DEFAULT_BOOTSTRAP_SERVER = "localhost:9092"
BOOTSTRAP_VARIABLE = "OTTLA_BOOTSTRAP_SERVERS"


def bootstrap_option(command: F) -> F:
    """Adds `--bootstrap-server` to a command, which gets it as `bootstrap_server`."""
    return click.option(
        "-b",
        "--bootstrap-server",
        metavar="HOST:PORT,...",
        envvar=BOOTSTRAP_VARIABLE,
        default=DEFAULT_BOOTSTRAP_SERVER,
        show_default=True,
        help=f"Brokers to begin with (or ${BOOTSTRAP_VARIABLE}).",
    )(command)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")


def open_client(bootstrap_server: str, **settings: Any) -> Client:
    """A blocking client, to be used in a `with` statement."""
    from ottla.client.blocking import Client

    return Client(bootstrap_server, **settings)


def only_failures_logged() -> None:
    """A command says itself what went wrong, in one line: the client's warnings on the way would be more."""
    import logging

    logging.getLogger("ottla.client").setLevel(logging.ERROR)


def key_values(items: tuple[str, ...], option: str) -> dict[str, str]:
    """`k=v` arguments of a repeatable option, as a dictionary."""
    found = {}
    for item in items:
        name, equals, value = item.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"{option} {item!r}: write {option} key=value")
        found[name.strip()] = value.strip()
    return found


def print_json(value: Any) -> None:
    """One JSON document on stdout; indented for people, compact in a pipe."""
    import json
    import sys

    indent = 2 if sys.stdout.isatty() else None
    click.echo(json.dumps(value, ensure_ascii=False, indent=indent))
