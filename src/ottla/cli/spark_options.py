"""Options of commands that run on Spark: where, with which settings, and how its tasks reach the cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ottla.cli.session import key_values

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

F = TypeVar("F", bound="Callable[..., Any]")

LOCAL_MASTER = "local[*]"
SUBMITTED = "PYSPARK_GATEWAY_PORT"
"""Set under spark-submit, which has said where."""


def spark_options(command: F) -> F:
    """Adds `--master` and `--conf`; the command gets `master` and `spark_conf`, a dictionary."""
    command = click.option(
        "--conf",
        "spark_conf",
        metavar="NAME=VALUE",
        multiple=True,
        callback=lambda context, parameter, items: key_values(items, "--conf"),
        help="A setting of Spark; repeatable.",
    )(command)
    return click.option(
        "--master",
        metavar="URL",
        help=f"Where Spark runs: spark://host:7077, yarn, ... (default: {LOCAL_MASTER}, this machine).",
    )(command)


def client_options(command: F) -> F:
    """Adds `--command-config`; the command gets the file's settings as a dictionary, `command_config`."""
    return click.option(
        "--command-config",
        metavar="FILE",
        callback=_properties,
        help="A properties file for the clients (security, ...).",
    )(command)


def _properties(context: click.Context, parameter: click.Parameter, path: str | None) -> dict[str, str]:
    from ottla.cli.server_properties import load_properties

    return {} if path is None else load_properties(path)


def check_spark() -> None:
    """One line where Spark, or what it needs, is not installed."""
    from ottla.pipelines.spark_session import check_packages

    try:
        check_packages()
    except ImportError as error:
        raise click.ClickException(str(error)) from None


@contextmanager
def started_later(
    master: str | None, app_name: str, conf: dict[str, str]
) -> Iterator[Callable[[], SparkSession]]:
    """A function that starts Spark; it is stopped in the end, unless it ran before. SIGTERM ends the command
    as Ctrl-C does.
    """
    started: list[SparkSession] = []
    ours = True

    def start() -> SparkSession:
        nonlocal ours
        if not started:
            check_spark()
            from pyspark import SparkContext

            from ottla.pipelines.spark_session import session

            ours = SparkContext._active_spark_context is None

            chosen = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", **conf}
            where = master
            if where is None and SUBMITTED not in os.environ:
                where = conf.get("spark.master", LOCAL_MASTER)
            started.append(session(where, app_name=app_name, conf=chosen, quiet=True))
        return started[0]

    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield start
    finally:
        signal.signal(signal.SIGTERM, before)
        for spark in started if ours else ():
            spark.stop()


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt
