"""`ottla features`: what the nodes of the cluster have agreed to use, and changing that."""

from __future__ import annotations

import click

from ottla.cli.default_group import DefaultGroup
from ottla.cli.session import bootstrap_option, json_option, open_client, print_json


@click.group(
    cls=DefaultGroup,
    default="describe",
    epilog="""\b
Examples:
  ottla features
  ottla features upgrade --release 4.2
  ottla features disable group.version""",
)
def features() -> None:
    """Show and change what the nodes agreed on. Without a command: show it."""


@features.command(
    epilog="""\b
Example:
  ottla features describe --json"""
)
@json_option
@bootstrap_option
def describe(as_json: bool, bootstrap_server: str) -> None:
    """Show each feature: the level in force, and the levels that the brokers support."""
    from ottla.cli.kafka.features import level_text
    from ottla.cli.table import aligned

    with open_client(bootstrap_server) as client:
        found, epoch = client.run(client.admin.describe_features())
    if as_json:
        print_json({"epoch": epoch, "features": [feature._asdict() for feature in found]})
        return
    rows = [
        (
            f.name,
            level_text(f.name, f.finalized),
            *(level_text(f.name, n) for n in (f.supported_min, f.supported_max)),
        )
        for f in found
    ]
    click.echo(aligned(("feature", "level", "lowest", "highest"), rows, right=" >>>"))


dry_run_option = click.option("--dry-run", is_flag=True, help="Only check whether it could be done.")
unsafe_option = click.option("--unsafe", is_flag=True, help="Even if that loses metadata.")
release_option = click.option(
    "--release", metavar="VERSION", help="The metadata.version of a release, like 4.2 or 4.2-IV1."
)


@features.command(
    epilog="""\b
Examples:
  ottla features upgrade --release 4.2
  ottla features upgrade transaction.version=2 --dry-run"""
)
@click.argument("levels", nargs=-1, metavar="[NAME=LEVEL]...")
@release_option
@dry_run_option
@bootstrap_option
def upgrade(levels: tuple[str, ...], release: str | None, dry_run: bool, bootstrap_server: str) -> None:
    """Raise features, after every node runs a version that has them."""
    change("upgrade", wanted(levels, release), bootstrap_server, unsafe=False, dry_run=dry_run)


@features.command(
    epilog="""\b
Example:
  ottla features downgrade --release 4.1 --dry-run"""
)
@click.argument("levels", nargs=-1, metavar="[NAME=LEVEL]...")
@release_option
@unsafe_option
@dry_run_option
@bootstrap_option
def downgrade(
    levels: tuple[str, ...], release: str | None, unsafe: bool, dry_run: bool, bootstrap_server: str
) -> None:
    """Lower features, before nodes go back to an older version."""
    change("downgrade", wanted(levels, release), bootstrap_server, unsafe=unsafe, dry_run=dry_run)


@features.command(
    epilog="""\b
Example:
  ottla features disable group.version"""
)
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@unsafe_option
@dry_run_option
@bootstrap_option
def disable(names: tuple[str, ...], unsafe: bool, dry_run: bool, bootstrap_server: str) -> None:
    """Turn features off."""
    change("disable", dict.fromkeys(names, 0), bootstrap_server, unsafe=unsafe, dry_run=dry_run)


def wanted(levels: tuple[str, ...], release: str | None) -> dict[str, int]:
    from ottla.cli.kafka.arguments import UsageError
    from ottla.cli.kafka.storage import metadata_level
    from ottla.metadata.features import METADATA_VERSION

    found: dict[str, int] = {}
    for item in levels:
        name, _, text = item.partition("=")
        if not name or not text.isdecimal():
            raise click.UsageError(f"{item!r}: write name=level, like transaction.version=2")
        found[name] = int(text)
    if release is not None:
        try:
            found[METADATA_VERSION] = metadata_level(release)
        except UsageError as error:
            raise click.UsageError(str(error)) from None
    if not found:
        raise click.UsageError("say what to change: name=level, or --release")
    return found


def change(verb: str, levels: dict[str, int], bootstrap_server: str, *, unsafe: bool, dry_run: bool) -> None:
    from ottla.cli.kafka.features import SAFE_DOWNGRADE, UNSAFE_DOWNGRADE, UPGRADE, level_text

    kind = UPGRADE if verb == "upgrade" else UNSAFE_DOWNGRADE if unsafe else SAFE_DOWNGRADE
    with open_client(bootstrap_server) as client:
        client.run(client.admin.update_features(levels, upgrade_type=kind, validate_only=dry_run))
    for name, level in levels.items():
        done = "could be" if dry_run else "is"
        click.echo(f"{name} {done} {'off' if level == 0 else f'at {level_text(name, level)}'}")
