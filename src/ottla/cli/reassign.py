"""`ottla reassign`: plan, start, watch and cancel moves of replicas to other brokers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

from ottla.cli.session import bootstrap_option, json_option, open_client, print_json

if TYPE_CHECKING:
    from ottla.cli.reassign_plan import Plan
    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError
    from ottla.model.types import TopicPartition

INTERVAL_S = 1.0


@click.group(
    epilog="""\b
Examples:
  ottla reassign plan --remove-broker 4 -o plan.json
  ottla reassign start plan.json --throttle 50MB
  ottla reassign status
  ottla reassign cancel plan.json"""
)
def reassign() -> None:
    """Move replicas to other brokers: plan it, start it, watch it, cancel it."""


def ids(text: str | None, option: str) -> list[int]:
    try:
        return [int(item) for item in (text or "").split(",") if item.strip()]
    except ValueError:
        raise click.UsageError(f"{option} {text}: write ids with commas between, like 1,2,3") from None


# -- plan


@reassign.command(
    epilog="""\b
Examples:
  ottla reassign plan --topics clicks,views --brokers 1,2,3 -o plan.json
  ottla reassign plan --remove-broker 4 -o plan.json
  ottla reassign plan --topics clicks --replication-factor 3"""
)
@click.option("-t", "--topics", metavar="NAME,...", help="Which topics (default: all).")
@click.option("--brokers", metavar="ID,...", help="Spread them over these brokers, evenly.")
@click.option("--remove-broker", metavar="ID,...", help="Move everything away from these brokers.")
@click.option("-r", "--replication-factor", type=click.IntRange(1), help="How many replicas each is to have.")
@click.option("-o", "--output", metavar="FILE", help="Write the plan there (default: print it).")
@bootstrap_option
def plan(
    topics: str | None,
    brokers: str | None,
    remove_broker: str | None,
    replication_factor: int | None,
    output: str | None,
    bootstrap_server: str,
) -> int:
    """Make a plan that moves as few replicas as possible, spread over hosts, then racks, then brokers.

    The plan is JSON in Kafka's form: kafka-reassign-partitions.sh takes it, too. Nothing is moved yet.
    """
    from ottla.cli.reassign_plan import BadPlan, make_plan, plan_to_json
    from ottla.cli.reassign_run import brokers_of, current_replicas

    wanted, gone = ids(brokers, "--brokers"), ids(remove_broker, "--remove-broker")
    if not (wanted or gone or replication_factor):
        raise click.UsageError("say what to change: --brokers, --remove-broker or --replication-factor")
    if wanted and gone:
        raise click.UsageError("--brokers and --remove-broker exclude each other")
    with open_client(bootstrap_server) as client:
        names = [name.strip() for name in topics.split(",") if name.strip()] if topics else None
        known = brokers_of(client)
        current = current_replicas(client, names).replicas
    for node in wanted:
        if node not in known:
            listed = ", ".join(map(str, sorted(known)))
            raise click.ClickException(f"there is no broker {node} (brokers: {listed})")
    chosen = {n: p for n, p in known.items() if n in (wanted or known) and n not in gone}
    if gone:
        current = {tp: nodes for tp, nodes in current.items() if replication_factor or set(nodes) & set(gone)}
    try:
        made = make_plan(current, chosen, replication_factor=replication_factor, balance=bool(wanted))
    except BadPlan as error:
        raise click.ClickException(str(error)) from None
    copied = sum(len(set(nodes) - set(current[tp])) for tp, nodes in made.items())
    if not made:
        click.echo("nothing has to move", err=True)
        return 0
    text = plan_to_json(made, {})
    if output is None:
        click.echo(text)
    else:
        with open(output, "w", encoding="utf-8") as file:
            file.write(text + "\n")
    plural = "" if len(made) == 1 else "s"
    where = "" if output is None else f"; start it with: ottla reassign start {output}"
    click.echo(f"{len(made)} partition{plural} would change, {copied} replicas be copied{where}", err=True)
    return 0


def load_plan(path: str) -> Plan:
    from ottla.cli.reassign_plan import BadPlan, plan_from_json

    try:
        with open(path, encoding="utf-8") as file:
            return plan_from_json(file.read())
    except BadPlan as error:
        raise click.ClickException(f"{path}: {error}") from None


# -- start


_RATE = re.compile(r"(\d+)\s*([KMG]?)(?:B(?:/s)?)?", re.IGNORECASE)


def parse_rate(text: str) -> int:
    """Bytes per second: 1000000, 50MB, 1G/s."""
    match = _RATE.fullmatch(text.strip())
    if match is None or int(match[1]) == 0:
        raise click.UsageError(f"--throttle {text}: write bytes per second, like 50000000 or 50MB")
    return int(match[1]) * {"": 1, "K": 1_000, "M": 1_000_000, "G": 1_000_000_000}[match[2].upper()]


@reassign.command(
    epilog="""\b
Examples:
  ottla reassign start plan.json
  ottla reassign start plan.json --throttle 50MB --rollback back.json
  ottla reassign start plan.json --no-wait"""
)
@click.argument("path", metavar="PLAN")
@click.option("--throttle", metavar="BYTES/s", help="Copy no faster than this: 50MB.")
@click.option("--rollback", metavar="FILE", help="Write the replicas of now there, as a plan to go back.")
@click.option("--no-wait", is_flag=True, help="Only start it.")
@bootstrap_option
def start(path: str, throttle: str | None, rollback: str | None, no_wait: bool, bootstrap_server: str) -> int:
    """Start what a plan says, and show how far it is until it is done.

    Ctrl-C ends only the showing. A throttle is taken away at the end, by this command or, where it was left,
    by `ottla reassign status PLAN`. Started anew with another --throttle, a plan under way gets that one.
    """
    from ottla.cli.reassign_plan import plan_to_json, throttled_replicas
    from ottla.cli.reassign_run import (
        current_replicas,
        set_broker_throttles,
        set_topic_throttles,
    )

    rate = parse_rate(throttle) if throttle is not None else None
    wanted = load_plan(path).replicas
    with open_client(bootstrap_server) as client:
        current = current_replicas(client, {tp.topic for tp in wanted}).replicas
        missing = sorted(tp for tp in wanted if tp not in current)
        if missing:
            raise click.ClickException(f"there is no partition {missing[0]}: make the plan anew")
        ongoing = client.run(client.admin.list_partition_reassignments(wanted))
        if rollback is not None:
            back = {tp: nodes for tp, nodes in current.items() if tp in wanted}
            with open(rollback, "w", encoding="utf-8") as file:
                file.write(plan_to_json(back, {}) + "\n")
        if rate is not None:
            adding = {tp: moving.adding_replicas for tp, moving in ongoing.items()}
            throttled = throttled_replicas(current, wanted, adding)
            set_topic_throttles(client, throttled)
            set_broker_throttles(client, throttled.brokers, rate=rate)
        results = client.run(client.admin.alter_partition_reassignments(wanted))
        failed = complained(results.failed)
        started = len(results.succeeded)
        click.echo(f"started to move {started} partition{'' if started == 1 else 's'}")
        if no_wait:
            click.echo(f"look at it with: ottla reassign status {path}")
            return 1 if failed else 0
        try:
            follow(client, set(results.succeeded))
        except KeyboardInterrupt:
            click.echo(
                f"\nit goes on; look again with: ottla reassign status {path}, stop it with: ottla reassign "
                f"cancel {path}",
                err=True,
            )
            raise
        clear_throttles(client, {tp.topic for tp in wanted})
    click.echo("done" if not failed else "done with the others")
    return 1 if failed else 0


def complained(failed: dict[TopicPartition, OttlaError]) -> int:
    from ottla.cli.main import complain

    for tp, error in sorted(failed.items()):
        complain(str(error) if str(tp) in str(error) else f"{tp}: {error}")
    return len(failed)


def clear_throttles(client: Client, topics: set[str]) -> None:
    """Only those that are there: a change of a configuration is one record for each broker and topic."""
    from ottla.cli.reassign_run import (
        brokers_of,
        clear_broker_throttles,
        clear_topic_throttles,
        throttled_brokers,
        throttled_topics,
    )

    clear_broker_throttles(client, throttled_brokers(client, brokers_of(client)))
    clear_topic_throttles(client, throttled_topics(client, topics))


def follow(client: Client, partitions: set[TopicPartition]) -> None:
    """Shows how far the moves are until none is left."""
    import time

    from ottla.cli.reassign_progress import shown_progress
    from ottla.cli.reassign_run import progress_of

    with shown_progress(len(partitions)) as progress:
        while True:
            ongoing = client.run(client.admin.list_partition_reassignments(partitions))
            copying = progress_of(client, ongoing)
            progress.update(
                len(partitions) - len(ongoing),
                sum(p.copied_bytes for p in copying.values()),
                sum(p.total_bytes for p in copying.values()),
            )
            if not ongoing:
                return
            time.sleep(INTERVAL_S)


# -- status and cancel


@reassign.command(
    epilog="""\b
Examples:
  ottla reassign status
  ottla reassign status plan.json"""
)
@click.argument("path", required=False, metavar="[PLAN]")
@click.option("--wait", is_flag=True, help="Show it until it is done.")
@json_option
@bootstrap_option
def status(path: str | None, wait: bool, as_json: bool, bootstrap_server: str) -> int:
    """Show the moves under way (of a plan: of its partitions) and how far they are.

    With a plan that is done, its throttles are taken away. Exit code: 0 done, or nothing under way without a
    plan; 3 under way; 4 not under way, and not as the plan says.
    """
    from ottla.cli.reassign_run import current_replicas, progress_of

    wanted = load_plan(path).replicas if path is not None else None
    with open_client(bootstrap_server) as client:
        if wait:
            asked = set(wanted or client.run(client.admin.list_partition_reassignments()))
            follow(client, asked)
        ongoing = client.run(client.admin.list_partition_reassignments(wanted))
        copying = progress_of(client, ongoing)
        current = (
            current_replicas(client, {tp.topic for tp in wanted or ongoing}).replicas
            if wanted or ongoing
            else {}
        )
        document: list[dict[str, Any]] = []
        for tp in sorted(wanted or ongoing):
            moving = ongoing.get(tp)
            target = (wanted or {}).get(tp)
            state = "moving" if moving else "done" if target == current.get(tp) else "different"
            document.append(
                {
                    "topic": tp.topic,
                    "partition": tp.partition,
                    "state": state,
                    "replicas": list(current.get(tp, ())),
                    "adding": list(moving.adding_replicas) if moving else [],
                    "removing": list(moving.removing_replicas) if moving else [],
                    "copied_bytes": copying[tp].copied_bytes if moving else None,
                    "total_bytes": copying[tp].total_bytes if moving else None,
                }
            )
        states = {item["state"] for item in document}
        if wanted and "moving" not in states:
            clear_throttles(client, {tp.topic for tp in wanted})
    if as_json:
        print_json(document)
    else:
        click.echo(status_text(document))
    return 3 if "moving" in states else 4 if "different" in states else 0


def status_text(document: list[dict[str, Any]]) -> str:
    from ottla.cli.table import aligned, bytes_text

    if not document:
        return "nothing is being moved"

    def listed(nodes: list[int]) -> str:
        return ",".join(map(str, nodes)) or "-"

    def copied(item: dict[str, Any]) -> str:
        if item["copied_bytes"] is None:
            return "-"
        share = 100 * item["copied_bytes"] // item["total_bytes"] if item["total_bytes"] else 100
        return f"{bytes_text(item['copied_bytes'])} of {bytes_text(item['total_bytes'])} ({share}%)"

    rows = [
        (
            item["topic"],
            item["partition"],
            item["state"],
            listed(item["replicas"]),
            listed(item["adding"]),
            listed(item["removing"]),
            copied(item),
        )
        for item in document
    ]
    header = ("topic", "partition", "state", "replicas", "adding", "removing", "copied")
    return aligned(header, rows, right=" >")


@reassign.command(
    epilog="""\b
Examples:
  ottla reassign cancel plan.json
  ottla reassign cancel --all"""
)
@click.argument("path", required=False, metavar="[PLAN]")
@click.option("--all", "everything", is_flag=True, help="Whatever is under way.")
@bootstrap_option
def cancel(path: str | None, everything: bool, bootstrap_server: str) -> int:
    """Stop moves that are under way. Their partitions go back to the replicas that they had.

    What a plan has already finished stays; its throttles are taken away.
    """
    if (path is None) != everything:
        raise click.UsageError("say what to cancel: a PLAN, or --all")
    wanted = load_plan(path).replicas if path is not None else None
    with open_client(bootstrap_server) as client:
        ongoing = client.run(client.admin.list_partition_reassignments(wanted))
        results = client.run(client.admin.alter_partition_reassignments(dict.fromkeys(ongoing)))
        clear_throttles(client, {tp.topic for tp in wanted or ongoing})
    failed = complained(results.failed)
    count = len(results.succeeded)
    if not ongoing:
        click.echo("nothing of that is being moved")
    else:
        click.echo(f"cancelled the move of {count} partition{'' if count == 1 else 's'}")
    return 1 if failed else 0
