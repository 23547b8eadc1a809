"""`kafka-reassign-partitions.sh`: move partitions between brokers.

The output is that of Kafka's tool, line for line. What `--generate` proposes is not: it keeps the replicas
that can stay where they are, and moves the others to where hosts, racks and brokers are used evenly.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ottla.cli.kafka.arguments import Arguments, UsageError, connect
from ottla.model.types import TopicPartition

if TYPE_CHECKING:
    from ottla.cli.reassign_plan import Plan
    from ottla.client.admin_log_dirs import ReplicaLogDir, TopicPartitionReplica
    from ottla.client.admin_partitions import PartitionReassignment
    from ottla.client.blocking import Client
    from ottla.client.errors import OttlaError

ACTIONS: Final = ("verify", "generate", "execute", "cancel", "list")
REQUIRED: Final = {
    "generate": ("topics_to_move_json_file", "broker_list"),
    "execute": ("reassignment_json_file",),
    "verify": ("reassignment_json_file",),
    "cancel": ("reassignment_json_file",),
    "list": (),
}
ALLOWED: Final = {
    "generate": ("disable_rack_aware",),
    "execute": (
        *("additional", "throttle", "replica_alter_log_dirs_throttle", "timeout"),
        "disallow_replication_factor_change",
    ),
    "verify": ("preserve_throttles",),
    "cancel": ("preserve_throttles", "timeout"),
    "list": (),
}
AGAIN_S: Final = 0.1

EXISTING: Final = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this "
    "and create a new partition assignment in addition to the existing one. The --additional flag can also "
    "be used to change the throttle by resubmitting the current reassignment."
)
RUN_VERIFY: Final = (
    "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle "
    "is removed."
)


class Failed(Exception):
    """What the tool says of what it could not do, as it stands on the terminal."""


def arguments() -> Arguments:
    parser = Arguments(
        "kafka-reassign-partitions.sh",
        "Move partitions between brokers.",
        epilog="example: kafka-reassign-partitions.sh --bootstrap-server localhost:9092 --execute "
        "--reassignment-json-file plan.json\n"
        'the plan: {"version": 1, "partitions": [{"topic": "events", "partition": 0, "replicas": [1, 2]}]}',
    )
    parser.add_bootstrap_or_controller()
    texts = {
        "verify": "tell whether a plan is done; if so, take its throttles away",
        "generate": "propose a plan that puts topics on given brokers",
        "execute": "start what a plan says",
        "cancel": "stop what is under way of a plan",
        "list": "show what is under way",
    }
    for action in ACTIONS:
        parser.add_argument(f"--{action}", action="store_true", help=texts[action])
    parser.add_argument("--reassignment-json-file", metavar="FILE", help="the plan")
    parser.add_argument("--topics-to-move-json-file", metavar="FILE", help="the topics to make a plan for")
    parser.add_argument("--broker-list", metavar="1,2,3", help="the brokers to make a plan for")
    parser.add_argument("--disable-rack-aware", action="store_true", help="do not look at racks")
    parser.add_argument("--throttle", type=int, metavar="BYTES", help="bytes per second between brokers")
    parser.add_argument(
        "--replica-alter-log-dirs-throttle", type=int, metavar="BYTES", help="bytes per second between disks"
    )
    parser.add_argument("--timeout", type=int, metavar="MS", help="for moves between disks to begin (10000)")
    parser.add_argument("--additional", action="store_true", help="beside what is already under way")
    parser.add_argument("--preserve-throttles", action="store_true", help="leave the throttles as they are")
    parser.add_argument("--disallow-replication-factor-change", action="store_true")
    return parser


def run(args: Sequence[str]) -> int:
    options = arguments().parse(args)
    action = checked_action(options)
    from ottla.cli.reassign_plan import BadPlan

    try:
        with connect(options, client_id="reassign-partitions-tool") as client:
            if action == "generate":
                return generate(client, options)
            if action == "list":
                return list_ongoing(client)
            from ottla.cli.reassign_plan import plan_from_json

            with open(options.reassignment_json_file, encoding="utf-8") as file:
                plan = plan_from_json(file.read())
            if action == "execute":
                return execute(client, plan, options)
            if action == "verify":
                return verify(client, plan, preserve_throttles=options.preserve_throttles)
            return cancel(client, plan, preserve_throttles=options.preserve_throttles)
    except BadPlan as error:
        raise UsageError(str(error)) from None
    except Failed as error:
        print(error)
        return 1


def checked_action(options: argparse.Namespace) -> str:
    chosen = [action for action in ACTIONS if getattr(options, action)]
    if len(chosen) != 1:
        listed = ", ".join(f"--{action}" for action in ACTIONS)
        raise UsageError(f"Command must include exactly one action: {listed}")
    (action,) = chosen
    for name in REQUIRED[action]:
        if getattr(options, name) is None:
            raise UsageError(f'Missing required argument "[{name.replace("_", "-")}]"')
    allowed = {*REQUIRED[action], *ALLOWED[action]}
    every = {name for names in (*REQUIRED.values(), *ALLOWED.values()) for name in names}
    for name in sorted(every - allowed):
        if getattr(options, name) not in (None, False):
            raise UsageError(f'Option "[{name.replace("_", "-")}]" can\'t be used with action "[{action}]"')
    if options.bootstrap_controller and action not in ("cancel", "list"):
        raise UsageError('Option "[bootstrap-controller]" can only be used with "[cancel]" and "[list]"')
    return action


def plural(count: int) -> str:
    return "" if count == 1 else "s"


def joined(items: Iterable[object]) -> str:
    return ",".join(str(item) for item in items)


# -- the actions


def generate(client: Client, options: argparse.Namespace) -> int:
    from ottla.cli.reassign_plan import BadPlan, Place, make_plan, plan_to_json, topics_from_json
    from ottla.cli.reassign_run import brokers_of, current_replicas, with_log_dirs

    with open(options.topics_to_move_json_file, encoding="utf-8") as file:
        topics = topics_from_json(file.read())
    wanted = broker_list(options.broker_list)
    places = brokers_of(client)
    for node in wanted:
        if node not in places:
            raise BadPlan(f"Unknown broker id {node}")
    chosen = {node: places[node] for node in wanted}
    if options.disable_rack_aware:
        chosen = {node: Place(place.host) for node, place in chosen.items()}
    elif len({place.rack is None for place in chosen.values()}) > 1:
        raise BadPlan(
            "Not all brokers have rack information. Add --disable-rack-aware in command line to make replica "
            "assignment without rack information."
        )
    current = current_replicas(client, topics)
    current = with_log_dirs(client, current, current.replicas)
    proposed = {**current.replicas, **make_plan(current.replicas, chosen, balance=True)}
    print("Current partition replica assignment")
    print(plan_to_json(current.replicas, current.log_dirs))
    print()
    print("Proposed partition reassignment configuration")
    print(plan_to_json(proposed, {}))
    return 0


def broker_list(text: str) -> list[int]:
    try:
        nodes = [int(item) for item in text.split(",")]
    except ValueError:
        raise UsageError(
            f"--broker-list {text}: write the brokers' ids with commas between, like 1,2,3"
        ) from None
    twice = sorted({node for node in nodes if nodes.count(node) > 1})
    if twice:
        raise UsageError(f"Broker list contains duplicate entries: {joined(twice)}")
    return nodes


def execute(client: Client, plan: Plan, options: argparse.Namespace) -> int:
    from ottla.cli.reassign_plan import plan_to_json, throttled_replicas
    from ottla.cli.reassign_run import (
        brokers_of,
        current_replicas,
        set_broker_throttles,
        set_topic_throttles,
        with_log_dirs,
    )

    ongoing = client.run(client.admin.list_partition_reassignments())
    if ongoing and not options.additional:
        raise Failed(EXISTING)
    known = brokers_of(client)
    for node in sorted({node for nodes in plan.replicas.values() for node in nodes}):
        if node not in known:
            raise Failed(f"Error: Unknown broker id {node}")
    current = current_replicas(client, {tp.topic for tp in plan.replicas})
    for tp in plan.replicas:
        if tp not in current.replicas:
            raise Failed(f"Error: Unable to find partition: {tp}")
    current = with_log_dirs(client, current, plan.replicas)
    print("Current partition replica assignment")
    print()
    print(plan_to_json({tp: current.replicas[tp] for tp in plan.replicas}, current.log_dirs))
    print()
    print("Save this to use as the --reassignment-json-file option during rollback")
    throttle, dirs_throttle = options.throttle, options.replica_alter_log_dirs_throttle
    if throttle is not None or dirs_throttle is not None:
        print(RUN_VERIFY)
        adding = {tp: moving.adding_replicas for tp, moving in ongoing.items()}
        everything = {**{tp: moving.replicas for tp, moving in ongoing.items()}, **plan.replicas}
        now = {**{tp: moving.replicas for tp, moving in ongoing.items()}, **current.replicas}
        throttled = throttled_replicas(now, everything, adding)
        if throttle is not None:
            set_topic_throttles(client, throttled)
            set_broker_throttles(client, throttled.brokers, rate=throttle)
            print(f"The inter-broker throttle limit was set to {throttle} B/s")
        if dirs_throttle is not None:
            movers = {node for _, node in plan.log_dirs}
            set_broker_throttles(client, movers, dirs_rate=dirs_throttle)
            print(f"The replica-alter-dir throttle limit was set to {dirs_throttle} B/s")
    outcome = client.run(
        client.admin.alter_partition_reassignments(
            plan.replicas, allow_replication_factor_change=not options.disallow_replication_factor_change
        )
    )
    if outcome.failed:
        lines = "\n".join(f"{tp}: {problem(error)}" for tp, error in sorted(outcome.failed.items()))
        raise Failed(f"Error reassigning partition(s):\n{lines}")
    count = len(plan.replicas)
    print(f"Successfully started partition reassignment{plural(count)} for {joined(sorted(plan.replicas))}")
    if plan.log_dirs:
        move_directories(client, plan, 10_000 if options.timeout is None else options.timeout)
    return 0


def problem(error: OttlaError) -> str:
    """Without the partition's name, which stands before it already."""
    from ottla.client.errors import ServerError

    return error.message if isinstance(error, ServerError) else str(error)


def move_directories(client: Client, plan: Plan, timeout_ms: int) -> None:
    """Moves replicas to the directories that the plan names; a new replica takes a while to be there."""
    from ottla.client.admin_log_dirs import TopicPartitionReplica

    deadline_s = time.monotonic() + timeout_ms / 1_000
    left = {
        TopicPartitionReplica(tp.topic, tp.partition, node): path
        for (tp, node), path in plan.log_dirs.items()
    }
    while True:
        outcome = client.run(client.admin.alter_replica_log_dirs(left))
        for replica in outcome.succeeded:
            print(
                f"Successfully started moving log directory to {left[replica]} for replica {replica.topic}-"
                f"{replica.partition} with broker {replica.broker_id} "
            )
        left = {replica: left[replica] for replica in outcome.failed}
        if not left:
            return
        if time.monotonic() > deadline_s:
            names = joined(f"{r.topic}-{r.partition}-{r.broker_id}" for r in sorted(left))
            raise Failed(
                f"Timed out before log directory move{plural(len(left))} could be started for: {names}"
            )
        time.sleep(AGAIN_S)


def verify(client: Client, plan: Plan, *, preserve_throttles: bool) -> int:
    ongoing = client.run(client.admin.list_partition_reassignments())
    described = client.run(client.admin.describe_topics(sorted({tp.topic for tp in plan.replicas}))).succeeded
    replicas = {
        TopicPartition(topic.name, p.partition): p.replicas
        for topic in described.values()
        for p in topic.partitions
    }
    print("Status of partition reassignment:")
    done = True
    for tp, target in sorted(plan.replicas.items()):
        line, finished = partition_state(tp, target, replicas.get(tp, ()), ongoing.get(tp))
        done = done and finished
        print(line)
    if plan.log_dirs:
        done = directory_states(client, plan) and done
    print()
    if done and not ongoing and not preserve_throttles:
        clear_throttles(client, {tp.topic for tp in plan.replicas})
    return 0


def partition_state(
    tp: TopicPartition,
    target: Sequence[int],
    current: Sequence[int],
    moving: PartitionReassignment | None,
) -> tuple[str, bool]:
    """The line about a partition, and whether nothing more will happen to it."""
    if moving is not None:
        return f"Reassignment of partition {tp} is still in progress.", False
    if tuple(target) == tuple(current):
        return f"Reassignment of partition {tp} is completed.", True
    return (
        f"There is no active reassignment of partition {tp}, but replica set is {joined(current)} rather "
        f"than {joined(target)}.",
        True,
    )


def directory_states(client: Client, plan: Plan) -> bool:
    from ottla.client.admin_log_dirs import ReplicaLogDir, TopicPartitionReplica

    asked = {
        TopicPartitionReplica(tp.topic, tp.partition, n): path for (tp, n), path in plan.log_dirs.items()
    }
    found = client.run(client.admin.describe_replica_log_dirs(asked))
    done = True
    for replica, path in sorted(asked.items()):
        place = found.succeeded.get(replica, ReplicaLogDir())
        line, finished = directory_state(replica, path, place)
        print(line)
        done = done and finished
    return done


def directory_state(replica: TopicPartitionReplica, path: str, place: ReplicaLogDir) -> tuple[str, bool]:
    name = f"{replica.topic}-{replica.partition}"
    if place.current_path == path:
        return f"Reassignment of replica {name}-{replica.broker_id} completed successfully.", True
    if place.future_path == path:
        return f"Reassignment of replica {name}-{replica.broker_id} is still in progress.", False
    if place.current_path is None:
        return (
            f"Partition {name} cannot be found in any live log directory on broker {replica.broker_id}.",
            True,
        )
    if place.future_path is not None:
        return (
            f"Partition {name} on broker {replica.broker_id} is being moved to log dir {place.future_path} "
            f"instead of {path}.",
            True,
        )
    return (
        f"Partition {name} on broker {replica.broker_id} is not being moved from log dir "
        f"{place.current_path} to {path}.",
        True,
    )


def clear_throttles(client: Client, topics: Iterable[str]) -> None:
    from ottla.cli.reassign_run import brokers_of, clear_broker_throttles, clear_topic_throttles

    brokers = sorted(brokers_of(client))
    names = sorted(topics)
    print(f"Clearing broker-level throttles on broker{plural(len(brokers))} {joined(brokers)}")
    clear_broker_throttles(client, brokers)
    print(f"Clearing topic-level throttles on topic{plural(len(names))} {joined(names)}")
    clear_topic_throttles(client, names)


def cancel(client: Client, plan: Plan, *, preserve_throttles: bool) -> int:
    ongoing = client.run(client.admin.list_partition_reassignments())
    active = sorted(tp for tp in plan.replicas if tp in ongoing)
    if active:
        outcome = client.run(client.admin.alter_partition_reassignments(dict.fromkeys(active)))
        if outcome.failed:
            lines = "\n".join(f"{tp}: {problem(error)}" for tp, error in sorted(outcome.failed.items()))
            raise Failed(
                f"Error cancelling partition reassignment{plural(len(outcome.failed))} for:\n{lines}"
            )
        print(f"Successfully cancelled partition reassignment{plural(len(active))} for: {joined(active)}")
    else:
        print("None of the specified partition reassignments are active.")
    print("None of the specified partition moves are active.", end="")
    if not preserve_throttles:
        clear_throttles(client, {tp.topic for tp in plan.replicas})
    return 0


def list_ongoing(client: Client) -> int:
    print(ongoing_text(client.run(client.admin.list_partition_reassignments())))
    return 0


def ongoing_text(ongoing: Mapping[TopicPartition, PartitionReassignment]) -> str:
    if not ongoing:
        return "No partition reassignments found."
    lines = ["Current partition reassignments:"]
    for tp, moving in sorted(ongoing.items()):
        adding = f" adding: {joined(moving.adding_replicas)}." if moving.adding_replicas else ""
        removing = f" removing: {joined(moving.removing_replicas)}." if moving.removing_replicas else ""
        lines.append(f"{tp}: replicas: {joined(moving.replicas)}.{adding}{removing}")
    return "\n".join(lines)
