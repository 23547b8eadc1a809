"""Command lines in the manner of Kafka's tools: long options, abbreviated or not, and `--option=value`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ottla.client.blocking import Client


class UsageError(Exception):
    """The command line is wrong. `usage` is what to show after the line that says why."""

    def __init__(self, message: str, usage: str = "") -> None:
        super().__init__(message)
        self.usage = usage


class Subcommand(argparse.ArgumentParser):
    """A parser that raises UsageError instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message, self.format_usage().rstrip())


class Arguments(Subcommand):
    """A tool's whole command line."""

    def __init__(self, program: str, description: str, **settings: Any) -> None:
        super().__init__(
            prog=program,
            description=description,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            **settings,
        )

    def add_commands(self) -> argparse._SubParsersAction[Subcommand]:
        """Room for subcommands; the chosen one's name is in `command`."""
        return self.add_subparsers(dest="command", required=True, parser_class=Subcommand)

    def add_bootstrap(self, *, required: bool = True) -> None:
        self.add_argument(
            "--bootstrap-server", metavar="HOST:PORT,...", required=required, help="the brokers to connect to"
        )
        self.add_argument("--command-config", metavar="FILE", help="a properties file for the client")

    def add_bootstrap_or_controller(self) -> None:
        """For the tools that can also ask the controllers themselves."""
        where = self.add_mutually_exclusive_group(required=True)
        where.add_argument("--bootstrap-server", metavar="HOST:PORT,...", help="the brokers to connect to")
        where.add_argument(
            "--bootstrap-controller", metavar="HOST:PORT,...", help="or the controllers to connect to"
        )
        self.add_argument("--command-config", metavar="FILE", help="a properties file for the client")

    def parse(self, args: Sequence[str]) -> argparse.Namespace:
        """Like Kafka's tools, without any argument it shows how it is used."""
        if not args:
            raise UsageError("no options given", self.format_help().rstrip())
        return self.parse_args(args)


def pairs(items: Sequence[str] | None, option: str) -> dict[str, str]:
    """`k=v` values of a repeatable option; a missing value is an empty one, as in Kafka's tools."""
    found = {}
    for item in items or ():
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"{option} {item}: expected key=value")
        found[name.strip()] = value
    return found


def client_properties(path: str | None) -> dict[str, str]:
    from ottla.cli.server_properties import load_properties

    return load_properties(path) if path is not None else {}


def open_client(
    bootstrap_server: str, properties: Mapping[str, str], *, client_id: str, of_controllers: bool = False
) -> Client:
    """A client with what the properties say; those that would need more than plain text are refused."""
    from ottla.client.blocking import Client

    protocol = properties.get("security.protocol", "PLAINTEXT").upper()
    if protocol != "PLAINTEXT":
        raise UsageError(f"security.protocol={protocol} is not available: only PLAINTEXT is")
    timeout = properties.get("request.timeout.ms", "30000")
    if not timeout.isdecimal():
        raise UsageError(f"request.timeout.ms={timeout} is not a number")
    return Client(
        bootstrap_server,
        client_id=properties.get("client.id", client_id),
        request_timeout_ms=max(1, int(timeout)),
        of_controllers=of_controllers,
    )


def connect(options: argparse.Namespace, *, client_id: str = "adminclient-1") -> Client:
    """The client for `--bootstrap-server` (or `--bootstrap-controller`) and `--command-config`."""
    controllers = getattr(options, "bootstrap_controller", None)
    return open_client(
        controllers or options.bootstrap_server,
        client_properties(options.command_config),
        client_id=client_id,
        of_controllers=controllers is not None,
    )
