"""`ottla start`: run a broker in the foreground."""

from __future__ import annotations

import gc

import click

from ottla.cli.server_properties import load_properties, server_properties
from ottla.cli.session import key_values


@click.command(
    epilog="""\b
Examples:
  ottla start --data /var/lib/ottla
  ottla start config/server.properties --set num.partitions=3
  ottla start --brokers 3 --port 9092 --data /var/lib/ottla-cluster"""
)
@click.argument("file", required=False, metavar="[server.properties]")
@click.option("-d", "--data", multiple=True, metavar="DIR", help="Where records are kept (log.dirs).")
@click.option("-p", "--port", type=click.IntRange(0, 65535), help="Where clients connect; 0: a free port.")
@click.option("-s", "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Any setting.")
@click.option(
    "-n", "--brokers", type=click.IntRange(1, 100), metavar="N", help="A whole cluster of so many brokers."
)
@click.option("--host", metavar="HOST", help="With --brokers: where they listen (default: 127.0.0.1).")
@click.option(
    "--controllers",
    type=click.IntRange(1, 5),
    metavar="N",
    help="With --brokers: how many of them vote in the metadata quorum, an odd number (default: 3, or 1 "
    "where there are fewer than 3 brokers).",
)
@click.option("--no-restart", is_flag=True, help="With --brokers: leave one that died as it is.")
@click.option("--supervised", is_flag=True, hidden=True, help="Stop when standard input is closed.")
def start(
    file: str | None,
    data: tuple[str, ...],
    port: int | None,
    settings: tuple[str, ...],
    brokers: int | None,
    host: str | None,
    controllers: int | None,
    no_restart: bool,
    supervised: bool,
) -> int:
    """Run a broker until Ctrl-C or SIGTERM.

    A data directory that is new is formatted by itself: the broker is a cluster of one.

    With --brokers N a whole cluster runs on this machine: N processes, on ports in a row from --port, with
    the data of each in DIR/broker-ID and its properties in DIR/broker-ID.properties. One line says when all
    are there. One Ctrl-C stops all of them, a second one kills. A broker that dies is started again, after 1
    s, then 2, then 4, up to 30 (--no-restart: it is not). Topics get three replicas, of which two have to
    have a record before it counts; --set changes that for all of them, as any setting.
    """
    given = key_values(settings, "--set")
    if brokers is not None:
        from ottla.cli.cluster_start import start_cluster

        return start_cluster(
            brokers,
            base=load_properties(file) if file is not None else {},
            data=data,
            host=host or "127.0.0.1",
            port=port,
            controllers=controllers,
            settings=given,
            restart=not no_restart,
        )
    for option, value in (("--host", host), ("--controllers", controllers), ("--no-restart", no_restart)):
        if value:
            raise click.UsageError(f"{option} goes with --brokers: one broker has --set and its properties")
    if supervised:
        from ottla.cli.supervised import stop_with_supervisor

        stop_with_supervisor()
    return run_broker(server_properties(file, data, port, given))


def run_broker(pairs: dict[str, str]) -> int:
    """Runs a broker with these properties; a configuration that cannot work is a one-line error."""
    # Loading makes many objects and no garbage; the server goes on with collecting when it is up.
    gc.disable()
    try:
        from ottla.broker.server import run
        from ottla.log.meta_properties import BadMetaProperties
        from ottla.model.config_key import ConfigError

        try:
            return run(pairs)
        except (ConfigError, BadMetaProperties) as error:
            raise click.ClickException(str(error)) from None
    finally:
        gc.enable()
