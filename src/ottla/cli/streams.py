"""`ottla streams run FILE`: run a program of the streams DSL on Spark until Ctrl-C.

Ctrl-C and SIGTERM end it between two micro-batches: what a batch read it has written, and the next start goes
on behind it. A second Ctrl-C ends it at once; then the batch is done again at the next start.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import BOOTSTRAP_VARIABLE, DEFAULT_BOOTSTRAP_SERVER, key_values
from ottla.cli.spark_options import LOCAL_MASTER, client_options, spark_options

if TYPE_CHECKING:
    from ottla.streams.runtime import StreamsApplication

PROGRESS_S = 1.0


@click.group()
def streams() -> None:
    """Run programs of the streams DSL (ottla.streams) on Spark."""


@streams.command(
    epilog="""\b
Examples:
  ottla streams run wordcount.py
  ottla streams run wordcount.py --describe                  # the plan; neither Spark nor a broker is needed
  ottla streams run wordcount.py --available-now             # what is there, then end
  ottla streams run delays.py --guarantee exactly_once_v2 --master spark://spark:7077 \\
      --checkpoint hdfs:///checkpoints/delays

\b
FILE has a StreamsBuilder at its top level. The checkpoint holds the application's place in its topics and its
state; it belongs to one application.
Exit codes: 0 ended (also by Ctrl-C), 1 failed, 2 wrong options, 130 a second Ctrl-C."""
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="Which StreamsBuilder of FILE, if it has several.")
@click.option("--application-id", metavar="ID", help="The application's name (default: that of FILE).")
@click.option(
    "-b",
    "--bootstrap-servers",
    "--bootstrap-server",
    "bootstrap_servers",
    metavar="HOST:PORT,...",
    envvar=BOOTSTRAP_VARIABLE,
    default=DEFAULT_BOOTSTRAP_SERVER,
    show_default=True,
    help=f"Brokers to begin with (or ${BOOTSTRAP_VARIABLE}).",
)
@click.option(
    "--checkpoint", metavar="DIR", help="Where its state is kept (default: in the user's state folder)."
)
@click.option(
    "--guarantee",
    type=click.Choice(["at_least_once", "exactly_once_v2"]),
    default="at_least_once",
    show_default=True,
    help="Kafka Streams' processing.guarantee.",
)
@click.option("--available-now", is_flag=True, help="Process what is there, then end.")
@click.option(
    "--interval-ms", type=click.IntRange(0), help="Begin a micro-batch that often (default: one by one)."
)
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    help="Of source and sink: maxOffsetsPerTrigger=..., kafka.NAME=...; repeatable.",
)
@click.option("--describe", is_flag=True, help="Print the plan and end.")
@click.option("--quiet", is_flag=True, help="No progress lines.")
@client_options
@spark_options
def run(
    file: Path,
    name: str | None,
    application_id: str | None,
    bootstrap_servers: str,
    checkpoint: str | None,
    guarantee: str,
    available_now: bool,
    interval_ms: int | None,
    options: tuple[str, ...],
    describe: bool,
    quiet: bool,
    command_config: dict[str, str],
    master: str | None,
    spark_conf: dict[str, str],
) -> int:
    """Run the program in FILE until Ctrl-C."""
    from ottla.cli import streams_program

    if available_now and interval_ms is not None:
        raise click.UsageError("--available-now and --interval-ms exclude each other")
    given = {f"kafka.{key}": value for key, value in command_config.items()}
    given |= key_values(options, "--option")
    module = streams_program.load(file)
    if name is None:
        program = streams_program.find(module, file)
    else:
        program = streams_program.pick(module, name, file)
    chosen_id = application_id or file.stem
    with _errors_in_one_line():
        if describe:
            from ottla.streams.describe import describe as described
            from ottla.streams.plan import Topology

            topology = program if isinstance(program, Topology) else program.build()
            click.echo(described(topology, chosen_id))
            return 0
        from ottla.pipelines.shipping import is_local
        from ottla.pipelines.spark_session import check_packages

        check_packages()
        where = master or spark_conf.get("spark.master") or LOCAL_MASTER
        if checkpoint is None:
            if not is_local(where):
                raise click.UsageError(f"--checkpoint: on {where} it has to be a folder that all workers see")
            checkpoint = str(state_folder() / chosen_id)
        streams_program.send_as_code(file)
        from ottla.streams.runtime import run as start

        trigger: dict[str, Any] | None = None
        if available_now:
            trigger = {"availableNow": True}
        elif interval_ms is not None:
            trigger = {"processingTime": f"{interval_ms} milliseconds"}
        say(f"{chosen_id}: {bootstrap_servers}, Spark on {where}, checkpoint {checkpoint}", quiet)
        application = start(
            program,
            application_id=chosen_id,
            bootstrap_servers=bootstrap_servers,
            checkpoint=checkpoint,
            processing_guarantee=guarantee,
            trigger=trigger,
            master=where,
            conf=spark_settings(spark_conf, local=is_local(where)),
            options=given,
        )
        return follow(application, quiet)


def spark_settings(given: dict[str, str], *, local: bool) -> dict[str, str]:
    """Here an error is told at the end in one line, without Java's stacks; a cluster has news of its own (no
    free cores, a lost worker) that nobody else tells.
    """
    from ottla.pipelines.spark_session import quiet_settings

    settings = {"spark.ui.showConsoleProgress": "false", **given}
    return quiet_settings("off", {"spark.ui.enabled": "false", **settings}) if local else settings


def state_folder() -> Path:
    """Where the states of programs are that were given no folder: it has to outlive a restart."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "ottla" / "streams"


def follow(application: StreamsApplication, quiet: bool) -> int:
    """Tells how far it is until it ends, or until a signal says so."""
    from ottla.cli.interrupt import Interrupted, Interruptible

    told: dict[str, float] = {}
    with Interruptible() as signals:
        try:
            while True:
                with signals.waiting():
                    ended = application.await_termination(PROGRESS_S)
                tell_progress(application.progress(), told, quiet)
                if ended:
                    say("done", quiet)
                    return 0
        except Interrupted:
            say("stopping after the current batch (Ctrl-C again: at once)", quiet)
            application.stop()
            tell_progress(application.progress(), told, quiet)
            say("stopped", quiet)
            return 0


def tell_progress(progress: dict[str, dict[str, float]], told: dict[str, float], quiet: bool) -> None:
    """One line for each stage that has done a batch with records since the last look."""
    for stage, now in progress.items():
        if now["batch"] != told.get(stage, -1):
            told[stage] = now["batch"]
            if now["rows"]:
                say(
                    f"{time.strftime('%H:%M:%S')} {stage}: batch {now['batch']:.0f}, "
                    f"{now['rows']:,.0f} records, {now['rows_per_second']:,.0f} records/s, "
                    f"{now['lag']:,.0f} behind",
                    quiet,
                )


def say(line: str, quiet: bool) -> None:
    """On stderr: stdout belongs to the program."""
    if not quiet:
        click.echo(line, err=True)


class _errors_in_one_line:
    """What a user can do something about, without a stack."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is None or isinstance(error, click.ClickException):
            return
        from ottla.pipelines.spark_session import SparkMissing
        from ottla.streams.errors import RecordError, SerdeError, TopologyError
        from ottla.streams.running.failures import ApplicationFailed, ForeignCheckpoint, MissingTopic

        known = (
            *(SparkMissing, TopologyError, RecordError, SerdeError),
            *(ApplicationFailed, ForeignCheckpoint, MissingTopic),
        )
        if isinstance(error, known):
            raise click.ClickException(" ".join(str(error).split())) from error
