"""`ottla group`: list, describe and delete consumer groups, show their lag, reset their offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError

WATCH_SECONDS = 2.0


class Seconds(click.FloatRange):
    """The value of --watch, which may be left out: then what follows is easily taken for it."""

    name = "number of seconds (a group's name goes before --watch)"


watch_option = click.option(
    "-w",
    "--watch",
    "watch_s",
    is_flag=False,
    flag_value=WATCH_SECONDS,
    type=Seconds(0.1),
    metavar="[SECONDS]",
    help=f"Show it again and again (every {WATCH_SECONDS:g} seconds) until Ctrl-C.",
)


@click.group(
    epilog="""\b
Examples:
  ottla group list
  ottla group describe billing --watch
  ottla group reset-offsets billing --topic clicks --to-earliest --execute"""
)
def group() -> None:
    """List, describe and delete consumer groups, reset their offsets."""


def show(
    bootstrap_server: str,
    watch_s: float | None,
    as_json: bool,
    gather: Callable[[Client], Any],
    text: Callable[[Any], str],
) -> int:
    """Prints what `gather` finds, as JSON or as `text` puts it; once, or again and again."""
    with open_client(bootstrap_server) as client:
        if watch_s is not None:
            from ottla.cli.group_watch import watch

            return watch(client, gather, text, watch_s, as_json=as_json)
        document = gather(client)
    if as_json:
        print_json(document)
    else:
        click.echo(text(document))
    return 0


@group.command(
    "list",
    epilog="""\b
Examples:
  ottla group list
  ottla group list --state Stable --type consumer""",
)
@click.option(
    "--state", "states", multiple=True, metavar="STATE", help="Only groups in this state: Empty, ..."
)
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only groups of this type: classic, ...")
@watch_option
@json_option
@bootstrap_option
def list_groups(
    states: tuple[str, ...],
    types: tuple[str, ...],
    watch_s: float | None,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """List the groups of the cluster with their type and state."""
    from ottla.cli.group_tables import listing_document, listing_text

    wanted_states, wanted_types = chosen_states(states), chosen_types(types)

    def gather(client: Client) -> Any:
        return listing_document(client.run(client.groups.list_groups(wanted_states, wanted_types)))

    return show(bootstrap_server, watch_s, as_json, gather, listing_text)


def chosen_states(given: Sequence[str]) -> list[str]:
    from ottla.client.group_views import STATES

    known = {state.lower(): state for state in STATES}
    return [_one_of(item, known, "--state") for text in given for item in text.split(",")]


def chosen_types(given: Sequence[str]) -> list[str]:
    known = {kind: kind for kind in ("classic", "consumer", "share", "streams")}
    return [_one_of(item, known, "--type") for text in given for item in text.split(",")]


def _one_of(text: str, known: dict[str, str], option: str) -> str:
    found = known.get(text.strip().lower().replace("_", ""))
    if found is None:
        raise click.UsageError(f"{option} {text}: write one of {', '.join(known.values())}")
    return found


@group.command(
    epilog="""\b
Examples:
  ottla group describe billing
  ottla group describe --watch 5"""
)
@click.argument("names", nargs=-1, metavar="[GROUP]...")
@click.option(
    "--state", "states", multiple=True, metavar="STATE", help="Only groups in this state: Stable, ..."
)
@click.option(
    "--type", "types", multiple=True, metavar="TYPE", help="Only groups of this type: consumer, ..."
)
@watch_option
@json_option
@bootstrap_option
def describe(
    names: tuple[str, ...],
    states: tuple[str, ...],
    types: tuple[str, ...],
    watch_s: float | None,
    as_json: bool,
    bootstrap_server: str,
) -> int:
    """Describe groups (all, without a name): state, members, and the lag of every partition."""
    from ottla.cli.group_tables import lag_document, lags_text

    wanted_states, wanted_types = chosen_states(states), chosen_types(types)

    def gather(client: Client) -> Any:
        from ottla.client.errors import OttlaError
        from ottla.client.group_lag import GroupLags

        chosen = choose(client, names, wanted_states, wanted_types)
        found = client.run(GroupLags(client.cluster, client.admin, client.groups).of(chosen))
        documents = []
        for name in chosen:
            item = found[name]
            if isinstance(item, OttlaError):
                if names:
                    raise explained(item, name)
                continue  # it went away between the two questions
            documents.append(lag_document(item))
        return documents

    return show(bootstrap_server, watch_s, as_json, gather, lags_text)


def explained(error: OttlaError, name: str) -> Exception:
    """The error, or for a group that is not there what to do about it."""
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    if isinstance(error, ServerError) and error.code == ErrorCode.GROUP_ID_NOT_FOUND:
        return click.ClickException(f"group {name} does not exist: see those that do with: ottla group list")
    return error


def choose(
    client: Client, names: Sequence[str], states: Sequence[str] = (), types: Sequence[str] = ()
) -> list[str]:
    """The groups to speak of: those named, or all consumer groups; then by state and type."""
    if names and not states and not types:
        return list(dict.fromkeys(names))
    listed = client.run(client.groups.list_groups(states, types))
    return [g.group_id for g in listed if g.is_consumer_group and (not names or g.group_id in names)]


@group.command(
    epilog="""\b
Example:
  ottla group members billing"""
)
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@watch_option
@json_option
@bootstrap_option
def members(names: tuple[str, ...], watch_s: float | None, as_json: bool, bootstrap_server: str) -> int:
    """Show the members of groups, and what is assigned to each."""
    from ottla.cli.group_tables import members_document, members_text

    def gather(client: Client) -> Any:
        from ottla.client.errors import OttlaError

        documents = []
        found = client.run(client.groups.describe_groups(list(dict.fromkeys(names))))
        for name, item in found.items():
            if isinstance(item, OttlaError):
                raise explained(item, name)
            documents.append(members_document(item))
        return documents

    return show(bootstrap_server, watch_s, as_json, gather, members_text)


@group.command(
    epilog="""\b
Example:
  ottla group delete billing"""
)
@click.argument("names", nargs=-1, required=True, metavar="GROUP...")
@click.option("--if-exists", is_flag=True, help="A group that is not there is no error.")
@bootstrap_option
def delete(names: tuple[str, ...], if_exists: bool, bootstrap_server: str) -> int:
    """Delete groups that have no members, with the offsets they committed."""
    from ottla.cli.main import complain
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    with open_client(bootstrap_server) as client:
        results = client.run(client.groups.delete_groups(list(dict.fromkeys(names))))
    failed = 0
    for name, error in results.items():
        code = error.code if isinstance(error, ServerError) else None
        if error is None:
            click.echo(f"deleted group {name}")
        elif code == ErrorCode.GROUP_ID_NOT_FOUND and if_exists:
            click.echo(f"group {name} does not exist")
        else:
            failed += 1
            complain(str(error))
    return 1 if failed else 0


@group.command(
    "delete-offsets",
    epilog="""\b
Examples:
  ottla group delete-offsets billing --topic clicks
  ottla group delete-offsets billing --topic clicks:0,3""",
)
@click.argument("name", metavar="GROUP")
@click.option(
    "--topic", "topics", multiple=True, required=True, metavar="TOPIC[:0,1]", help="Of which topic."
)
@json_option
@bootstrap_option
def delete_offsets(name: str, topics: tuple[str, ...], as_json: bool, bootstrap_server: str) -> int:
    """Forget what a group has committed for topics that it no longer subscribes to."""
    from ottla.cli.group_reset import parse_scope
    from ottla.cli.main import complain
    from ottla.client.errors import OttlaError
    from ottla.model.types import TopicPartition

    scope = parse_scope(topics)
    with open_client(bootstrap_server) as client:
        # Offsets outlive topics, so what the group knows counts, not what the cluster has.
        committed = client.run(client.groups.committed_offsets(name))
        chosen = [
            tp
            for tp in sorted(committed)
            if tp.topic in scope and ((only := scope[tp.topic]) is None or tp.partition in only)
        ]
        if not chosen:
            (found,) = client.run(client.groups.describe_groups([name])).values()
            if isinstance(found, OttlaError):
                raise explained(found, name)
            raise click.ClickException(f"group {name} has committed nothing for {', '.join(topics)}")
        results = client.run(client.groups.delete_consumer_group_offsets(name, chosen))
    if as_json:
        print_json(
            [
                {"topic": tp.topic, "partition": tp.partition, "error": str(error) if error else None}
                for tp, error in sorted(results.items(), key=lambda item: item[0])
            ]
        )
    failed = results.failed
    for tp in sorted(set(chosen) - set(failed)):
        if not as_json:
            click.echo(f"deleted the offset of {TopicPartition(*tp)}")
    for error in failed.values():
        complain(f"{error}: stop its consumers first")
    return 1 if failed else 0


@group.command(
    "reset-offsets",
    epilog="""\b
Examples:
  ottla group reset-offsets billing --topic clicks --to-earliest
  ottla group reset-offsets billing --topic clicks:0,1 --to-offset 1500 --execute
  ottla group reset-offsets billing --all-topics --by-duration PT2H30M --execute
  ottla group reset-offsets billing --from-file offsets.csv --execute

\b
A file has lines of TOPIC,PARTITION,OFFSET or GROUP,TOPIC,PARTITION,OFFSET, as --export prints them.""",
)
@click.argument("name", metavar="GROUP")
@click.option(
    "--topic", "topics", multiple=True, metavar="TOPIC[:0,1]", help="Which topic, which partitions."
)
@click.option("--all-topics", is_flag=True, help="Every partition that the group has committed.")
@click.option("--to-earliest", is_flag=True, help="To the oldest record.")
@click.option("--to-latest", is_flag=True, help="To the end.")
@click.option("--to-current", is_flag=True, help="To where it is; to the end where it has committed nothing.")
@click.option("--to-offset", type=click.IntRange(0), metavar="N", help="To this offset.")
@click.option("--shift-by", type=int, metavar="N", help="By so many, back where it is negative.")
@click.option(
    "--to-datetime", metavar="TIME", help="To a time like 2024-05-01T12:00:00.000 (UTC without a zone)."
)
@click.option("--by-duration", metavar="P1DT2H", help="To so long ago, as an ISO 8601 duration.")
@click.option(
    "--from-file", type=click.Path(exists=True, dir_okay=False), metavar="CSV", help="To a file's offsets."
)
@click.option("--execute", is_flag=True, help="Do it. Without this the plan is shown and nothing changes.")
@click.option("--dry-run", is_flag=True, help="Only show the plan (the default).")
@click.option("--export", is_flag=True, help="Print the plan as CSV, for --from-file.")
@json_option
@bootstrap_option
def reset_offsets(
    name: str,
    topics: tuple[str, ...],
    all_topics: bool,
    execute: bool,
    dry_run: bool,
    export: bool,
    as_json: bool,
    bootstrap_server: str,
    **target: Any,
) -> int:
    """Move the committed offsets of a group that has no active members."""
    from ottla.cli.group_reset import ResetRequest, reset

    if execute and dry_run:
        raise click.UsageError("--execute and --dry-run exclude each other")
    request = ResetRequest.parse(name, topics, all_topics, target)
    with open_client(bootstrap_server) as client:
        return reset(client, request, execute=execute, export=export, as_json=as_json)
