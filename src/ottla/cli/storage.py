"""`ottla storage`: make ids, format data directories, look into segment files."""

from __future__ import annotations

import json

import click


@click.group(
    epilog="""\b
Examples:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties
  ottla storage dump data/clicks-0/00000000000000000000.log --records"""
)
def storage() -> None:
    """Make ids, format data directories, look into segment files."""


@storage.command(
    "random-uuid",
    epilog="""\b
Example:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties""",
)
def random_uuid() -> None:
    """Print a random cluster id."""
    from ottla.cli.formatting import random_uuid_text

    click.echo(random_uuid_text())


@storage.command(
    "format",
    short_help="Give new data directories to a cluster.",
    epilog="""\b
Example:
  ottla storage format -t $(ottla storage random-uuid) -c config/server.properties""",
)
@click.option("-t", "--cluster-id", required=True, metavar="ID", help="The cluster's id (see random-uuid).")
@click.option("-c", "--config", "path", required=True, metavar="FILE", help="The node's server.properties.")
@click.option("-g", "--ignore-formatted", is_flag=True, help="Leave directories alone that are formatted.")
@click.option("-s", "--standalone", is_flag=True, help="A quorum of one, whose log says who votes.")
@click.option(
    "-I",
    "--initial-controllers",
    metavar="VOTERS",
    help="The first voters: id@host:port:directory-id, with commas between.",
)
@click.option("-N", "--no-initial-controllers", is_flag=True, help="A controller that joins a quorum later.")
def format_storage(
    cluster_id: str,
    path: str,
    ignore_formatted: bool,
    standalone: bool,
    initial_controllers: str | None,
    no_initial_controllers: bool,
) -> None:
    """Give new data directories to a cluster, before the first start."""
    from ottla.cli.formatting import CannotFormat, format_directories
    from ottla.cli.server_properties import load_properties
    from ottla.log.meta_properties import BadMetaProperties
    from ottla.model.config_key import ConfigError
    from ottla.net.disk import OsDisk

    try:
        outcome = format_directories(
            OsDisk(),
            load_properties(path),
            cluster_id,
            ignore_formatted=ignore_formatted,
            standalone=standalone,
            initial_controllers=initial_controllers,
            no_initial_controllers=no_initial_controllers,
        )
    except (CannotFormat, BadMetaProperties, ConfigError) as error:
        raise click.ClickException(str(error)) from None
    for directory in outcome.already:
        click.echo(f"{directory} is already formatted")
    for directory in outcome.formatted:
        click.echo(f"formatted {directory} for cluster {cluster_id}")


@storage.command(
    short_help="Show what is in a partition's files.",
    epilog="""\b
Examples:
  ottla storage dump data/clicks-0/00000000000000000000.log --records
  ottla storage dump data/clicks-0/*.index data/clicks-0/*.txnindex data/clicks-0/*.snapshot
  ottla storage dump data/__transaction_state-7/00000000000000000000.log --records""",
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False), metavar="FILE..."
)
@click.option("-r", "--records", "--deep", "deep", is_flag=True, help="Also every record of every batch.")
@click.option(
    "--decode",
    type=click.Choice(["auto", "offsets", "transactions", "metadata", "share", "none"]),
    default="auto",
    show_default=True,
    help="Read records as those of an internal topic; auto goes by the directory's name.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, for scripts.")
def dump(files: tuple[str, ...], deep: bool, decode: str, as_json: bool) -> int:
    """Show what is in a partition's files: .log, .index, .timeindex, .txnindex, .snapshot, checkpoints.

    Every checksum is checked. A damaged file is reported with the position where it stops making sense, and
    the exit code is 1. A file of another kind is named and passed over, and the exit code is 2.
    """
    from ottla.cli.main import EXIT_USAGE, complain
    from ottla.cli.segment_contents import described, messages_in
    from ottla.cli.segment_files import Damaged, NotASegmentFile, file_kind

    damaged = foreign = 0
    for path in files:
        try:
            file_kind(path)
        except NotASegmentFile as error:
            # `dump clicks-0/*` meets partition.metadata: what comes after it is wanted, too.
            foreign += 1
            complain(str(error))
            continue
        try:
            if not as_json:
                click.echo(path)
            for item, line in described(path, deep=deep, messages=messages_in(path, decode)):
                click.echo(
                    json.dumps({"file": path, **item}, ensure_ascii=False) if as_json else f"  {line()}"
                )
        except Damaged as error:
            damaged += 1
            if as_json:
                click.echo(json.dumps({"file": path, "damaged_at": error.position, "problem": error.problem}))
            complain(str(error))
    return 1 if damaged else EXIT_USAGE if foreign else 0
