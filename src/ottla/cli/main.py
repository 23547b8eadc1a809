"""The `ottla` command: the table of subcommands, and the one place where errors become exit codes.

0 means done, 1 that it failed, 2 that the command line was wrong, 130 that Ctrl-C ended it. An error is one
line on stderr that says what to do. Nothing heavy is imported here: `ottla --help` has to answer at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from ottla import __version__
from ottla.cli.lazy_group import LazyCommand, LazyGroup

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141

COMPLETION_VARIABLE = "_OTTLA_COMPLETE"
"""Set by the shell's completion: `eval "$(_OTTLA_COMPLETE=bash_source ottla)"`."""

COMMANDS = {
    "start": LazyCommand("ottla.cli.start", "start", "Run a broker in the foreground, or a whole cluster."),
    "storage": LazyCommand("ottla.cli.storage", "storage", "Format data directories, look into their files."),
    "topic": LazyCommand("ottla.cli.topic", "topic", "Create, list, describe, alter and delete topics."),
    "config": LazyCommand("ottla.cli.config", "config", "Read and change configurations while running."),
    "produce": LazyCommand("ottla.cli.produce", "produce", "Publish records from standard input or a file."),
    "consume": LazyCommand("ottla.cli.consume", "consume", "Read records and print them."),
    "records": LazyCommand("ottla.cli.records", "records", "Delete the oldest records of a topic."),
    "group": LazyCommand(
        "ottla.cli.group", "group", "List, describe and delete consumer groups, reset their offsets."
    ),
    "txn": LazyCommand("ottla.cli.txn", "txn", "List, describe and abort transactions, find hanging ones."),
    "load": LazyCommand("ottla.cli.load", "load", "Load topics into a table of files, each record once."),
    "publish": LazyCommand("ottla.cli.publish", "publish", "Publish files, or a table, to a topic."),
    "streams": LazyCommand(
        "ottla.cli.streams", "streams", "Run programs written with ottla.streams, on Spark."
    ),
    "perf": LazyCommand("ottla.cli.perf", "perf", "Measure how fast a cluster is, and how late."),
    "cluster": LazyCommand(
        "ottla.cli.cluster", "cluster", "Show whether the cluster is well, its brokers, its quorum."
    ),
    "reassign": LazyCommand("ottla.cli.reassign", "reassign", "Move replicas to other brokers."),
    "leader": LazyCommand("ottla.cli.leader", "leader", "Elect the leaders of partitions anew."),
    "features": LazyCommand("ottla.cli.features", "features", "Show and change what the nodes agreed on."),
}

CONTEXT_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.group(
    cls=LazyGroup,
    lazy=COMMANDS,
    context_settings=CONTEXT_SETTINGS,
    epilog="""\b
Example:
  ottla start --data /var/lib/ottla &
  ottla topic create clicks --partitions 3
  echo hello | ottla produce clicks
  ottla consume clicks --from-beginning -e""",
)
@click.version_option(__version__, "-V", "--version", message="ottla %(version)s")
def cli() -> None:
    """Event streaming that speaks Apache Kafka's wire protocol."""


def run(command: click.Command, args: Sequence[str] | None, program: str) -> int:
    """Runs a click command and turns whatever happens into an exit code and at most one line."""
    try:
        given = sys.argv[1:] if args is None else list(args)
        if COMPLETION_VARIABLE in os.environ:
            from click.shell_completion import shell_complete

            return shell_complete(command, {}, program, COMPLETION_VARIABLE, os.environ[COMPLETION_VARIABLE])
        # Not command.main(), which would answer Ctrl-C with an empty line on stderr.
        with command.make_context(program, given) as context:
            result = command.invoke(context)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        # A group alone asks for its help; it is still no command, so scripts see that something was missing.
        print(error.format_message(), file=sys.stderr)
        return EXIT_USAGE
    except click.UsageError as error:
        where = f" (see: {error.ctx.command_path} --help)" if error.ctx is not None else ""
        complain(f"{error.format_message()}{where}", program)
        return EXIT_USAGE
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        complain(error.format_message(), program)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        line = explain(error)
        if line is None:
            raise
        complain(line, program)
        return EXIT_FAILURE
    return result if isinstance(result, int) else 0


def explain(error: Exception) -> str | None:
    """One line for an error that a user can do something about; None for one of our own."""
    from ottla.client.errors import BrokerUnavailable, OttlaError, ServerError, sentence_for
    from ottla.model.errors import ErrorCode, KafkaError

    if isinstance(error, BrokerUnavailable):
        why = f" ({error.reason})" if error.reason and "refused" not in error.reason else ""
        return f"no broker answers at {error.address}{why}: is it running? start one with: ottla start"
    if isinstance(error, ServerError) and error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        kind, _, name = error.subject.partition(" ")
        if kind == "topic" and error.message == sentence_for(error.code):
            return f"topic {name} does not exist: create it with: ottla topic create {name}"
    if isinstance(error, OttlaError | KafkaError):
        return " ".join(str(error).split())
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return None


def complain(line: str, program: str = "ottla") -> None:
    """Writes an error to stderr, after whatever stdout still holds."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    print(f"{program.split()[0]}: {line}", file=sys.stderr)


def silence_stdout() -> None:
    """After the reader of our output has gone: keeps the interpreter's last flush from complaining."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(args: Sequence[str] | None = None) -> NoReturn:
    sys.exit(run(cli, args, "ottla"))


if __name__ == "__main__":
    main()
