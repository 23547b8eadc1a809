"""`python -m ottla.cli.kafka TOOL ARGS`: what the scripts in `bin/` call.

The table names every tool with its module, which has a `run(args) -> exit code`. Kafka's tools end with 1
whatever the reason, a wrong command line included, so these do too.
"""

from __future__ import annotations

import sys
from importlib import import_module

TOOLS = {
    "broker-api-versions": "ottla.cli.kafka.broker_api_versions",
    "cluster": "ottla.cli.kafka.cluster",
    "configs": "ottla.cli.kafka.configs",
    "console-consumer": "ottla.cli.kafka.console_consumer",
    "console-producer": "ottla.cli.kafka.console_producer",
    "consumer-groups": "ottla.cli.kafka.consumer_groups",
    "consumer-perf-test": "ottla.cli.kafka.consumer_perf_test",
    "delete-records": "ottla.cli.kafka.delete_records",
    "dump-log": "ottla.cli.kafka.dump_log",
    "e2e-latency": "ottla.cli.kafka.e2e_latency",
    "features": "ottla.cli.kafka.features",
    "get-offsets": "ottla.cli.kafka.get_offsets",
    "leader-election": "ottla.cli.kafka.leader_election",
    "log-dirs": "ottla.cli.kafka.log_dirs",
    "metadata-quorum": "ottla.cli.kafka.metadata_quorum",
    "producer-perf-test": "ottla.cli.kafka.producer_perf_test",
    "reassign-partitions": "ottla.cli.kafka.reassign_partitions",
    "server-start": "ottla.cli.kafka.server_start",
    "server-stop": "ottla.cli.kafka.server_stop",
    "storage": "ottla.cli.kafka.storage",
    "topics": "ottla.cli.kafka.topics",
    "transactions": "ottla.cli.kafka.transactions",
}

EXIT_FAILURE = 1

SAYINGS = (
    ("ottla start", "kafka-server-start.sh config/kraft/server.properties"),
    ("ottla topic create", "kafka-topics.sh --create --topic"),
)
"""What an error recommends, in the words of these tools."""


def run(tool: str, args: list[str]) -> int:
    from click import ClickException

    from ottla.cli.kafka.arguments import UsageError
    from ottla.cli.main import EXIT_BROKEN_PIPE, EXIT_INTERRUPTED, complain, explain, silence_stdout

    program = f"kafka-{tool}"
    try:
        code: int = import_module(TOOLS[tool]).run(args)
        sys.stdout.flush()
        return code
    except UsageError as error:
        complain(f"{error}", program)
        if error.usage:
            print(error.usage, file=sys.stderr)
    except ClickException as error:
        complain(error.format_message(), program)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        silence_stdout()
        return EXIT_BROKEN_PIPE
    except Exception as error:
        line = explain(error)
        if line is None:
            raise
        for ours, theirs in SAYINGS:
            line = line.replace(ours, theirs)
        complain(line, program)
    return EXIT_FAILURE


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in TOOLS:
        print(f"usage: python -m ottla.cli.kafka TOOL ARGS (tools: {', '.join(TOOLS)})", file=sys.stderr)
        sys.exit(EXIT_FAILURE)
    sys.exit(run(sys.argv[1], sys.argv[2:]))


if __name__ == "__main__":
    main()
