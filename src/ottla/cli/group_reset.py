"""`ottla group reset-offsets`: what the command line asks for, and how the plan is shown and carried out."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import click

from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.client.blocking import Client
    from ottla.client.offset_reset import PlannedOffset, ResetTarget

DURATION = re.compile(
    r"([-+]?)P(?:([-+]?\d+)D)?(?:T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+(?:[.,]\d{1,9})?)S)?)?",
    re.IGNORECASE,
)

Scope = dict[str, "list[int] | None"]
"""Topics with the partitions that are meant; None for all of them."""


class BadInput(ValueError):
    """What was written cannot be understood; the message says what to write."""


def parse_scope(items: Iterable[str]) -> Scope:
    """`clicks` and `clicks:0,1`, as Kafka's tools write them."""
    scope: Scope = {}
    for item in items:
        topic, colon, numbers = item.partition(":")
        indexes = [number.strip() for number in numbers.split(",")]
        if not topic or (colon and not all(n.isascii() and n.isdecimal() for n in indexes)):
            raise click.UsageError(f"--topic {item}: write TOPIC, or TOPIC:0,1 for single partitions")
        known = scope.get(topic, [])
        if not colon or known is None:
            scope[topic] = None
        else:
            scope[topic] = [*known, *(int(number) for number in indexes)]
    return scope


def parse_datetime_ms(text: str) -> int:
    """Kafka's `YYYY-MM-DDTHH:mm:SS.sss` with or without a zone (none means UTC), in milliseconds since
    1970."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(f"{text!r} is not a time: write it like 2024-05-01T12:00:00.000") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0, int(moment.timestamp() * 1000))  # negative times mean earliest, latest and the like


def parse_duration(text: str) -> timedelta:
    """ISO 8601 in days and smaller, as Java's Duration reads it: P7D, PT1H30M, PT0.5S."""
    found = DURATION.fullmatch(text)
    if found is None or not any(found.groups()[1:]) or text[-1:].upper() == "T":
        raise BadInput(f"{text!r} is not a duration: write it like P1DT2H30M or PT15M")
    sign = -1 if found[1] == "-" else 1
    days, hours, minutes = (int(found[n] or 0) for n in (2, 3, 4))
    seconds = float((found[5] or "0").replace(",", "."))
    try:
        return sign * timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
    except OverflowError:
        raise BadInput(f"{text!r} is too long a duration") from None


def parse_plan(lines: Iterable[str], group: str | None) -> dict[str, dict[TopicPartition, int]]:
    """The offsets of a CSV file by group. Lines without a group are of `group`."""
    plan: dict[str, dict[TopicPartition, int]] = {}
    for number, row in enumerate(csv.reader(lines), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        if len(cells) == 3 and group is not None:
            cells = [group, *cells]
        if len(cells) != 4 or not cells[0] or not cells[1] or not all(c.isdecimal() for c in cells[2:]):
            raise BadInput(f"line {number}: expected TOPIC,PARTITION,OFFSET or GROUP,TOPIC,PARTITION,OFFSET")
        name, topic, partition, offset = cells
        plan.setdefault(name, {})[TopicPartition(topic, int(partition))] = int(offset)
    return plan


@dataclass(frozen=True, slots=True)
class ResetRequest:
    group: str
    topics: Scope | None
    """None for everything that the group has committed."""
    target: ResetTarget | None
    offsets: Mapping[TopicPartition, int] = field(default_factory=dict)
    """The offsets of a file, when there is no target."""

    @classmethod
    def parse(
        cls, group: str, topics: Sequence[str], all_topics: bool, target: Mapping[str, Any]
    ) -> ResetRequest:
        given = {k: v for k, v in target.items() if v is not None and v is not False}
        options = [f"--{key.replace('_', '-')}" for key in target]
        if len(given) != 1:
            raise click.UsageError(f"say where to, with exactly one of {', '.join(options)}")
        ((key, value),) = given.items()
        if key == "from_file":
            if topics or all_topics:
                raise click.UsageError("the file says which partitions: leave out --topic and --all-topics")
            try:
                with open(value, encoding="utf-8", newline="") as file:
                    plan = parse_plan(file, group)
            except BadInput as error:
                raise click.UsageError(f"--from-file {value}: {error}") from None
            if group not in plan:
                raise click.UsageError(f"--from-file {value}: there is nothing for group {group} in it")
            return cls(group, None, None, plan[group])
        if bool(topics) == all_topics:
            raise click.UsageError("say what to reset: --topic TOPIC[:0,1], or --all-topics")
        try:
            parsed = parse_target(key, value)
        except BadInput as error:
            raise click.UsageError(f"--{key.replace('_', '-')}: {error}") from None
        return cls(group, parse_scope(topics) if topics else None, parsed)


def parse_target(key: str, value: Any) -> ResetTarget:
    """The option's name in Python's spelling, and its value as it was given."""
    from ottla.client.offset_reset import ResetTarget, ResetTo

    if key == "to_datetime":
        return ResetTarget(ResetTo.TIME, parse_datetime_ms(value))
    if key == "by_duration":
        now_ms = int(datetime.now(UTC).timestamp() * 1000)
        ago_ms = parse_duration(value) // timedelta(milliseconds=1)
        return ResetTarget(ResetTo.TIME, max(0, now_ms - ago_ms))
    number = value if isinstance(value, int) and not isinstance(value, bool) else 0
    return ResetTarget(ResetTo(key.replace("_", "-")), number)


def make_plan(client: Client, request: ResetRequest) -> list[PlannedOffset]:
    from ottla.client.offset_reset import OffsetResets

    resets = OffsetResets(client.cluster, client.admin, client.groups)
    if request.target is None:
        return client.run(resets.plan_offsets(request.group, request.offsets))
    partitions = client.run(resets.partitions(request.group, request.topics))
    return client.run(resets.plan(request.group, partitions, request.target))


def active_state(client: Client, group: str) -> str | None:
    """The state of a group that has members; None when its offsets may be set (also when it does not
    exist)."""
    from ottla.client.errors import ServerError
    from ottla.model.errors import ErrorCode

    try:
        described = client.run(client.groups.describe_group(group))
    except ServerError as error:
        if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
            raise
        return None
    return described.state if described.is_active else None


def still_active(group: str, state: str) -> click.ClickException:
    return click.ClickException(
        f"group {group} has active members (state {state}): stop its consumers, wait until "
        f"'ottla group describe {group}' says Empty, then reset"
    )


def reset(client: Client, request: ResetRequest, *, execute: bool, export: bool, as_json: bool) -> int:
    from ottla.cli.main import complain
    from ottla.cli.session import print_json
    from ottla.cli.table import aligned
    from ottla.client.errors import ServerError
    from ottla.client.offset_reset import Adjusted, OffsetResets
    from ottla.model.errors import ErrorCode

    state = active_state(client, request.group)
    if state is not None:
        raise still_active(request.group, state)
    plan = make_plan(client, request)
    if not plan:
        raise click.ClickException(
            f"group {request.group} has committed nothing: name what to reset with --topic"
        )
    refused: Mapping[TopicPartition, Exception] = {}
    if execute:
        resets = OffsetResets(client.cluster, client.admin, client.groups)
        try:
            refused = client.run(resets.execute(request.group, plan))
        except ServerError as error:
            if error.code not in (ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION):
                raise
            raise still_active(request.group, "just joined") from None  # between our two questions
    if as_json:
        print_json(
            {
                "group": request.group,
                "executed": execute,
                "offsets": [
                    {
                        "topic": entry.topic_partition.topic,
                        "partition": entry.topic_partition.partition,
                        "current": entry.current,
                        "new": entry.new,
                        "adjusted": None if entry.adjusted is Adjusted.NO else entry.adjusted.value,
                        "error": str(refused[entry.topic_partition])
                        if entry.topic_partition in refused
                        else None,
                    }
                    for entry in plan
                ],
            }
        )
    elif export:
        for entry in plan:
            click.echo(f"{entry.topic_partition.topic},{entry.topic_partition.partition},{entry.new}")
    else:
        rows = [
            (
                entry.topic_partition.topic,
                entry.topic_partition.partition,
                "-" if entry.current is None else entry.current,
                entry.new,
                "" if entry.adjusted is Adjusted.NO else f"({entry.adjusted.value})",
            )
            for entry in plan
        ]
        click.echo(aligned(("topic", "partition", "current", "new", ""), rows, right=" >>>"))
        if not execute:
            click.echo("dry run, nothing was changed: add --execute to do it")
        elif not refused:
            click.echo(f"reset {len(plan)} offsets of group {request.group}")
    for reason in refused.values():
        complain(str(reason))
    return 1 if refused else 0
