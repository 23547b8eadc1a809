"""`kafka-consumer-groups.sh`: list, describe and delete consumer groups, and reset their offsets.

Options, tables and messages are those of Kafka 4.2. Like Kafka's, it ends with 1 when the command line is
wrong and with 0 when the cluster refused: the refusal is printed as `Error: ...`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ottla.cli.kafka.arguments import Arguments, UsageError, client_properties, open_client

if TYPE_CHECKING:
    from ottla.cli.group_reset import ResetRequest
    from ottla.client.blocking import Client
    from ottla.client.group_views import GroupDescription
    from ottla.client.offset_reset import PlannedOffset

ACTIONS = ("list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex")
SCENARIOS = (
    "to_offset",
    "to_earliest",
    "to_current",
    "to_latest",
    "by_duration",
    "to_datetime",
    "from_file",
    "shift_by",
)
TYPES = {"consumer": "Consumer", "classic": "Classic"}
UNSET = object()
"""The value of `--state` and `--type` when they are not given; given without a value they are None."""

NO_EXECUTE = (
    "WARN: No action will be performed as the --execute option is missing. Add --dry-run to say so, or "
    "--execute to do it: version 5.0 of Kafka's command will require one of them."
)


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-consumer-groups.sh",
        "List, describe and delete consumer groups, reset their offsets.",
        epilog="example: kafka-consumer-groups.sh --bootstrap-server localhost:9092 --describe --group g",
    )
    parser.add_bootstrap()
    actions = parser.add_argument_group("actions")
    actions.add_argument("--list", action="store_true", help="list the groups")
    actions.add_argument("--describe", action="store_true", help="offsets and lag, members, or the state")
    actions.add_argument("--delete", action="store_true", help="delete groups without members")
    actions.add_argument("--reset-offsets", action="store_true", help="move committed offsets")
    actions.add_argument("--delete-offsets", action="store_true", help="forget committed offsets")
    actions.add_argument("--validate-regex", metavar="REGEX", help="check a regular expression")
    parser.add_argument("--group", action="append", metavar="GROUP", help="which group; may be repeated")
    parser.add_argument("--all-groups", action="store_true", help="every consumer group")
    parser.add_argument(
        "--topic", action="append", metavar="TOPIC[:0,1]", help="which topic, which partitions"
    )
    parser.add_argument("--all-topics", action="store_true", help="every topic with a committed offset")
    parser.add_argument(
        "--timeout", type=int, default=5000, metavar="MS", help="how long each request may take"
    )
    describing = parser.add_argument_group("with --describe")
    describing.add_argument("--offsets", action="store_true", help="partitions with their lag (the default)")
    describing.add_argument("--members", action="store_true", help="the members")
    describing.add_argument("--verbose", action="store_true", help="more columns")
    listing = parser.add_argument_group("with --list, and --state also with --describe")
    listing.add_argument(
        "--state", nargs="?", default=UNSET, metavar="STATES", help="with states, or only these"
    )
    listing.add_argument(
        "--type", nargs="?", default=UNSET, metavar="TYPES", help="with types, or only these"
    )
    resetting = parser.add_argument_group("with --reset-offsets")
    resetting.add_argument("--dry-run", action="store_true", help="only show the plan")
    resetting.add_argument("--execute", action="store_true", help="do it")
    resetting.add_argument("--export", action="store_true", help="print the plan as CSV")
    resetting.add_argument("--to-earliest", action="store_true", help="to the oldest record")
    resetting.add_argument("--to-latest", action="store_true", help="to the end")
    resetting.add_argument("--to-current", action="store_true", help="to where it is")
    resetting.add_argument("--to-offset", type=int, metavar="N", help="to this offset")
    resetting.add_argument("--shift-by", type=int, metavar="N", help="by so many, back where negative")
    resetting.add_argument("--to-datetime", metavar="TIME", help="like 2024-05-01T12:00:00.000")
    resetting.add_argument("--by-duration", metavar="P1DT2H", help="so long ago")
    resetting.add_argument("--from-file", metavar="CSV", help="to the offsets of a file")
    return parser


def run(args: Sequence[str]) -> int:
    from ottla.client.errors import OttlaError

    parser = arguments()
    options = parser.parse(args)
    try:
        check(options)
        if options.validate_regex is not None:
            return validate_regex(options.validate_regex)
        properties = client_properties(options.command_config)
        properties.setdefault("request.timeout.ms", str(max(1, options.timeout)))
        with open_client(options.bootstrap_server, properties, client_id="adminclient-1") as client:
            client.cluster.operation_timeout_ms = max(1, options.timeout)
            try:
                act(client, options)
            except OttlaError as error:
                if not client.cluster.contacted:
                    raise
                print_error(f"Executing consumer group command failed due to {reason_of(error)}")
    except UsageError as error:
        raise UsageError(str(error), error.usage or parser.format_usage().rstrip()) from None
    return 0


def check(options: argparse.Namespace) -> None:
    """Kafka's rules for what goes with what."""
    chosen = [name for name in ACTIONS if getattr(options, name.replace("-", "_"))]
    if len(chosen) != 1:
        raise UsageError(
            "Command must include exactly one action: " + ", ".join(f"--{name}" for name in ACTIONS)
        )
    (action,) = chosen
    scoped = bool(options.group) or options.all_groups
    if options.group and options.all_groups:
        raise UsageError('Option "[group]" can\'t be used with option "[all-groups]"')
    if action in ("describe", "delete", "reset-offsets") and not scoped:
        raise UsageError(f"Option [{action}] takes one of these options: [group], [all-groups]")
    if action == "list" and options.group:
        raise UsageError('Option "[list]" can\'t be used with option "[group]"')
    if action == "describe":
        if options.members + options.offsets + (options.state is not UNSET) > 1:
            raise UsageError(
                "Option [describe] takes at most one of these options: [members], [offsets], [state]"
            )
        if options.state is not UNSET and options.state is not None:
            raise UsageError("Option [describe] does not take a value for [state]")
    if action != "describe" and (options.members or options.offsets or options.verbose):
        raise UsageError("Options [members], [offsets] and [verbose] need option [describe]")
    if options.type is not UNSET and action != "list":
        raise UsageError("Option [type] needs option [list]")
    if options.state is not UNSET and action not in ("list", "describe"):
        raise UsageError("Option [state] needs option [list] or [describe]")
    if action == "delete" and options.topic:
        raise UsageError(
            "The consumer does not support topic-specific offset deletion from a consumer group."
        )
    if action == "delete-offsets" and not (options.group and options.topic):
        raise UsageError("Option [delete-offsets] takes the following options: [topic], [group]")
    if action == "reset-offsets":
        check_reset(options)


def check_reset(options: argparse.Namespace) -> None:
    if options.dry_run and options.execute:
        raise UsageError("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
    if not options.dry_run and not options.execute:
        print(NO_EXECUTE, file=sys.stderr)
    values = {name: getattr(options, name) for name in SCENARIOS}
    given = [name for name, value in values.items() if value is not None and value is not False]
    if len(given) > 1:
        first, second = (name.replace("_", "-") for name in given[:2])
        raise UsageError(f'Option "[{first}]" can\'t be used with option "[{second}]"')
    if not options.all_topics and not options.topic and options.from_file is None:
        raise UsageError("One of the reset scopes should be defined: --all-topics, --topic.")
    if not given:
        names = ", ".join(f"[{name.replace('_', '-')}]" for name in SCENARIOS)
        raise UsageError(f"Option '[reset-offsets]' requires one of the following scenarios: [{names}]")


def reason_of(error: Exception) -> str:
    """In the words that Kafka's tool would pass on."""
    from ottla.client.errors import ServerError, sentence_for
    from ottla.model.errors import ErrorCode

    if isinstance(error, ServerError):
        if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
            return f"org.apache.kafka.common.errors.GroupIdNotFoundException: {error.message}"
        if error.code.name in EXCEPTIONS and error.message == sentence_for(error.code):
            return EXCEPTIONS[error.code.name][1]
    return str(error)


def act(client: Client, options: argparse.Namespace) -> None:
    if options.list:
        list_groups(client, options)
    elif options.describe:
        describe(client, options)
    elif options.delete:
        delete(client, options)
    elif options.reset_offsets:
        reset(client, options)
    else:
        delete_offsets(client, options)


def print_error(message: str) -> None:
    print(f"\nError: {message}")


def show(lines: Sequence[str]) -> None:
    """A table, with the empty line that Kafka puts before each."""
    print()
    for line in lines:
        print(line)


def validate_regex(pattern: str) -> int:
    """Checked as the broker checks a subscription (RE2)."""
    import re2

    quiet = re2.Options()
    quiet.log_errors = False
    try:
        re2.compile(pattern, quiet)
    except re2.error as error:
        reason = error.args[0]
        text = reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
        print(f"The regular expression `{pattern}` is invalid: {text}.")
    else:
        print(f"The regular expression `{pattern}` is valid.")
    return 0


# -- list and describe


def list_groups(client: Client, options: argparse.Namespace) -> None:
    from ottla.cli.kafka.group_columns import listing

    with_types, with_states = options.type is not UNSET, options.state is not UNSET
    types = types_of(options.type) if with_types and options.type else []
    states = states_of(options.state) if with_states and options.state else []
    found = client.run(client.groups.list_groups(states, types))
    groups = [group for group in found if group.is_consumer_group]
    if with_types or with_states:
        for line in listing(groups, types=with_types, states=with_states):
            print(line)
    else:
        for group in groups:
            print(group.group_id)


def states_of(text: str) -> list[str]:
    from ottla.client.group_views import STATES

    known = {state.lower(): state for state in STATES}
    found = [known.get(item.strip().lower().replace("_", "")) for item in text.split(",")]
    if None in found:
        raise UsageError(f"Invalid state list '{text}'. Valid states are: {', '.join(STATES)}")
    return [state for state in found if state is not None]


def types_of(text: str) -> list[str]:
    wanted = [item.strip().lower() for item in text.split(",")]
    if any(item not in TYPES for item in wanted):
        raise UsageError(f"Invalid types list '{text}'. Valid types are: {', '.join(TYPES.values())}")
    return wanted


def chosen_groups(client: Client, options: argparse.Namespace) -> list[str]:
    if not options.all_groups:
        return sorted(set(options.group))
    return [g.group_id for g in client.run(client.groups.list_groups()) if g.is_consumer_group]


def describe(client: Client, options: argparse.Namespace) -> None:
    from ottla.cli.kafka import group_columns
    from ottla.client.errors import OttlaError
    from ottla.client.group_lag import GroupLags

    names = chosen_groups(client, options)
    verbose = options.verbose
    if options.members or options.state is not UNSET:
        described = client.run(client.groups.describe_groups(names))
        for found in described.values():
            if isinstance(found, OttlaError):
                raise found
            worth_showing(found)
            if options.members:
                show(group_columns.members(found, verbose=verbose))
            else:
                show(group_columns.state(found, verbose=verbose))
        return
    lags = client.run(GroupLags(client.cluster, client.admin, client.groups).of(names))
    for item in lags.values():
        if isinstance(item, OttlaError):
            raise item
        if worth_showing(item.group) and item.partitions:
            show(group_columns.offsets(item, verbose=verbose))


def worth_showing(group: GroupDescription) -> bool:
    """Says on stderr what is special about the group's state."""
    if group.state == "Dead":
        print_error(f"Consumer group '{group.group_id}' does not exist.")
        return False
    sys.stdout.flush()
    if group.state == "Empty":
        print(f"\nConsumer group '{group.group_id}' has no active members.", file=sys.stderr)
    elif group.state != "Stable":
        print(f"\nWarning: Consumer group '{group.group_id}' is rebalancing.", file=sys.stderr)
    return True


# -- delete


EXCEPTIONS = {
    "GROUP_ID_NOT_FOUND": ("GroupIdNotFoundException", "The group id does not exist."),
    "NON_EMPTY_GROUP": ("GroupNotEmptyException", "The group is not empty."),
    "GROUP_AUTHORIZATION_FAILED": (
        "GroupAuthorizationException",
        "Not authorized to access group: Group authorization failed.",
    ),
    "INVALID_GROUP_ID": ("InvalidGroupIdException", "The configured groupId is invalid."),
    "UNKNOWN_TOPIC_OR_PARTITION": (
        "UnknownTopicOrPartitionException",
        "This server does not host this topic-partition.",
    ),
    "GROUP_SUBSCRIBED_TO_TOPIC": (
        "GroupSubscribedToTopicException",
        "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
    ),
    "TOPIC_AUTHORIZATION_FAILED": ("TopicAuthorizationException", "Topic authorization failed."),
}
"""The names and sentences that scripts look for in this tool's output."""


def as_java(error: Exception) -> str:
    from ottla.client.errors import ServerError

    if isinstance(error, ServerError) and error.code.name in EXCEPTIONS:
        name, sentence = EXCEPTIONS[error.code.name]
        return f"org.apache.kafka.common.errors.{name}: {sentence}"
    return str(error)


def delete(client: Client, options: argparse.Namespace) -> None:
    results = client.run(client.groups.delete_groups(chosen_groups(client, options)))
    done = [f"'{group}'" for group in results.succeeded]
    failed = results.failed
    if not failed:
        print(f"Deletion of requested consumer groups ({', '.join(done)}) was successful.")
        return
    print_error("Deletion of some consumer groups failed:")
    for group, error in failed.items():
        print(f"* Group '{group}' could not be deleted due to: {as_java(error)}")
    if done:
        print(f"\nThese consumer groups were deleted successfully: {', '.join(done)}")


def delete_offsets(client: Client, options: argparse.Namespace) -> None:
    from ottla.cli.group_reset import parse_scope
    from ottla.cli.kafka.group_columns import columns
    from ottla.client.errors import ServerError
    from ottla.model.types import TopicPartition

    group = options.group[-1]
    scope = parse_scope(options.topic)
    outcome: dict[tuple[str, int], Exception | None] = {}
    wanted: list[TopicPartition] = []
    whole = sorted(topic for topic, indexes in scope.items() if indexes is None)
    view = client.run(client.cluster.refresh(whole))
    for topic, indexes in scope.items():
        if indexes is None:
            try:
                indexes = [p.index for p in view.topic(topic).partitions]
            except ServerError as error:
                outcome[topic, -1] = error
                continue
        wanted += [TopicPartition(topic, index) for index in indexes]
    whole_error: ServerError | None = None
    try:
        if wanted:
            outcome.update(client.run(client.groups.delete_consumer_group_offsets(group, wanted)).items())
    except ServerError as error:
        whole_error = error
        outcome.update(dict.fromkeys(wanted, error))
    if whole_error is not None:
        print_error(as_java(whole_error).partition(": ")[2] or str(whole_error))
    elif any(outcome[tp] is not None for tp in wanted):
        print_error("Encountered some partition-level error, see the follow-up details.")
    else:
        print(f"Request succeeded for deleting offsets from group {group}.")
    rows = [
        (topic, index if index >= 0 else "-", "Successful" if error is None else f"Error: {as_java(error)}")
        for (topic, index), error in sorted(outcome.items(), key=lambda item: item[0])
    ]
    width = max([15, *(len(topic) for topic, _ in outcome)])
    show(columns([("TOPIC", "PARTITION", "STATUS"), *rows], [width, 10, 15]))


# -- reset


def reset(client: Client, options: argparse.Namespace) -> None:
    from ottla.client.errors import InvalidArgument

    plans: dict[str, list[PlannedOffset]] = {}
    for group in chosen_groups(client, options):
        request = reset_request(options, group)
        if request is None:
            print_error(f"No reset plan for group {group} found")
            plans[group] = []
            continue
        try:
            plans[group] = reset_one(client, request, execute=options.execute)
        except InvalidArgument as error:
            raise UsageError(str(error)) from None
    single = len(options.group or ()) == 1
    if options.export:
        for group, plan in plans.items():
            for entry in plan:
                tp = entry.topic_partition
                head = "" if single else f"{group},"
                print(f"{head}{tp.topic},{tp.partition},{entry.new}")
        print()
        return
    print_plans(plans)


def reset_request(options: argparse.Namespace, group: str) -> ResetRequest | None:
    """What is asked for one group; None when the file has nothing for it."""
    from click import UsageError as WrongArgument

    from ottla.cli.group_reset import BadInput, ResetRequest, parse_plan, parse_scope, parse_target

    try:
        if options.from_file is not None:
            single = group if len(options.group or ()) == 1 else None
            with open(options.from_file, encoding="utf-8", newline="") as file:
                offsets = parse_plan(file, single).get(group)
            return None if offsets is None else ResetRequest(group, None, None, offsets)
        values = ((name, getattr(options, name)) for name in SCENARIOS)
        key, value = next((k, v) for k, v in values if v is not None and v is not False)
        scope = None if options.all_topics else parse_scope(options.topic)
        return ResetRequest(group, scope, parse_target(key, value))
    except BadInput as error:
        raise UsageError(str(error)) from None
    except WrongArgument as error:
        raise UsageError(error.format_message()) from None


def reset_one(client: Client, request: ResetRequest, *, execute: bool) -> list[PlannedOffset]:
    from ottla.cli.group_reset import active_state, make_plan
    from ottla.client.offset_reset import Adjusted, OffsetResets

    state = active_state(client, request.group)
    if state is not None:
        print_error(
            f"Assignments can only be reset if the group '{request.group}' is inactive, "
            f"but the current state is {state}."
        )
        return []
    plan = make_plan(client, request)
    for entry in plan:
        tp = entry.topic_partition
        if entry.adjusted is Adjusted.NO_RECORD:
            print(
                f"\nWarn: Partition {tp.partition} from topic {tp.topic} is empty. "
                "Falling back to latest known offset."
            )
        elif entry.adjusted is not Adjusted.NO:
            edge = "higher than latest" if entry.adjusted is Adjusted.ABOVE_END else "lower than earliest"
            print(
                f"WARN New offset ({entry.asked}) is {edge} offset for topic partition {tp}. "
                f"Value will be set to {entry.new}",
                file=sys.stderr,
            )
    if execute and plan:
        resets = OffsetResets(client.cluster, client.admin, client.groups)
        for error in client.run(resets.execute(request.group, plan)).values():
            raise error
    return plan


def print_plans(plans: dict[str, list[PlannedOffset]]) -> None:
    from ottla.cli.kafka.group_columns import columns

    rows: list[tuple[Any, ...]] = [
        (group, entry.topic_partition.topic, entry.topic_partition.partition, entry.new)
        for group, plan in plans.items()
        for entry in plan
    ]
    widths = [
        max([15, *(len(row[0]) for row in rows)]),
        max([15, *(len(row[1]) for row in rows)]),
        10,
        0,
    ]
    show(columns([("GROUP", "TOPIC", "PARTITION", "NEW-OFFSET"), *rows], widths))
