"""`ottla start`: run a broker in the foreground."""

from __future__ import annotations

import click

from ottla.cli.server_properties import server_properties
from ottla.cli.session import key_values


@click.command(
    epilog="""\b
Examples:
  ottla start --data /var/lib/ottla
  ottla start config/server.properties --set num.partitions=3"""
)
@click.argument("file", required=False, metavar="[server.properties]")
@click.option("-d", "--data", multiple=True, metavar="DIR", help="Where records are kept (log.dirs).")
@click.option("-p", "--port", type=click.IntRange(0, 65535), help="Where clients connect; 0: a free port.")
@click.option("-s", "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any setting.")
def start(file: str | None, data: tuple[str, ...], port: int | None, settings: tuple[str, ...]) -> int:
    """Run a broker until Ctrl-C or SIGTERM.

    A data directory that is new is formatted by itself: the broker is a cluster of one.
    """
    pairs = server_properties(file, data, port, key_values(settings, "--set"))
    return run_broker(pairs)


def run_broker(pairs: dict[str, str]) -> int:
    """Runs a broker with these properties; a configuration that cannot work is a one-line error."""
    from ottla.broker.server import run
    from ottla.log.meta_properties import BadMetaProperties
    from ottla.model.config_key import ConfigError

    try:
        return run(pairs)
    except (ConfigError, BadMetaProperties) as error:
        raise click.ClickException(str(error)) from None
