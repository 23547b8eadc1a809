"""Errors are one line that says what to do, and exit codes are what scripts expect."""

from __future__ import annotations

import socket

import click
import pytest

from ottla.cli.kafka.__main__ import TOOLS
from ottla.cli.kafka.__main__ import run as run_tool
from ottla.cli.main import COMMANDS, cli, explain, run
from ottla.client.errors import BrokerUnavailable, ServerError


@pytest.fixture
def nobody() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize(
    "command",
    [
        ["topic", "list"],
        ["topic", "describe", "t"],
        ["config", "describe", "--topic", "t"],
        ["produce", "t"],
        ["consume", "t"],
        ["consume", "t", "--group", "g"],
        ["consume", "t", "--group", "g", "--protocol", "consumer"],
        ["group", "list"],
        ["group", "list", "--watch"],
        ["group", "describe", "g"],
        ["group", "members", "g"],
        ["group", "delete", "g"],
        ["group", "delete-offsets", "g", "--topic", "t"],
        ["group", "reset-offsets", "g", "--topic", "t", "--to-offset", "0"],
        ["records", "delete", "t", "--all"],
        ["txn", "list"],
        ["txn", "list", "--watch"],
        ["txn", "describe", "t"],
        ["txn", "producers", "t"],
        ["txn", "find-hanging"],
        ["txn", "abort", "t", "--yes"],
        ["txn", "abort", "--topic", "t", "--partition", "0", "--start-offset", "0", "--yes"],
        ["cluster"],
        ["cluster", "status", "--quiet"],
        ["cluster", "brokers"],
        ["cluster", "unregister", "4"],
        ["cluster", "quorum"],
        ["cluster", "quorum", "remove", "1"],
        ["topic", "describe", "--under-replicated"],
        ["reassign", "plan", "--remove-broker", "4"],
        ["reassign", "status"],
        ["reassign", "cancel", "--all"],
        ["leader", "elect", "--all"],
        ["features"],
        ["features", "upgrade", "--release", "4.2"],
    ],
    ids=" ".join,
)
def test_without_a_broker_every_command_says_how_to_start_one(
    command: list[str], nobody: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, [*command, "--bootstrap-server", nobody], "ottla") == 1
    expected = f"ottla: no broker answers at {nobody}: is it running? start one with: ottla start\n"
    assert capfd.readouterr().err == expected


def test_the_bootstrap_server_comes_from_the_environment(
    nobody: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OTTLA_BOOTSTRAP_SERVERS", nobody)
    assert run(cli, ["topic", "list"], "ottla") == 1
    assert nobody in capsys.readouterr().err


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        (["topci"], "did you mean 'topic'?"),
        (["topic", "create"], "Missing argument 'NAME...'"),
        (["topic", "create", "t", "-c", "x"], "write --config key=value"),
        (["topic", "create", "t", "--assignment", "a"], "not a list of brokers"),
        (["topic", "alter", "t"], "nothing to do"),
        (["config", "describe"], "say whose configuration"),
        (["group", "describe", "--watch", "g"], "a group's name goes before --watch"),
        (
            ["config", "alter", "--topic", "t", "--add", "a=1", "--delete", "a"],
            "one change of a key at a time",
        ),
        (["consume", "t", "--from-beginning", "--offset", "3"], "exclude each other"),
        (["consume", "t", "--offset", "x"], "write a number"),
        (["consume", "t", "--timestamp", "x"], "is not a time"),
        (["consume", "t", "--format", "%q"], "%q in the format"),
        (["consume", "t", "--protocol", "consumer"], "need --group"),
        (["consume", "t", "--group", "g", "--offset", "3"], "ottla group reset-offsets"),
        (["consume", "t", "--group", "g", "-p", "1"], "ottla group reset-offsets"),
        (["consume", "t", "--group", "g", "--assignor", "best"], "roundrobin"),
        (["consume", "t", "--group", ""], "must not be empty"),
        (
            ["consume", "t", "--group", "g", "--protocol", "consumer", "--assignor", "a", "--assignor", "b"],
            "give one --assignor",
        ),
        (["group", "list", "--state", "asleep"], "Reconciling"),
        (["group", "describe", "--type", "odd"], "classic"),
        (["group", "reset-offsets", "g", "--topic", "t"], "exactly one of"),
        (["group", "reset-offsets", "g", "--topic", "t", "--to-latest", "--shift-by", "0"], "exactly one of"),
        (["group", "reset-offsets", "g", "--to-latest"], "say what to reset"),
        (["group", "reset-offsets", "g", "--topic", "t:x", "--to-latest"], "TOPIC:0,1"),
        (["group", "reset-offsets", "g", "--topic", "t", "--to-datetime", "noon"], "is not a time"),
        (["group", "reset-offsets", "g", "--topic", "t", "--by-duration", "2h"], "is not a duration"),
        (["group", "reset-offsets", "g", "--topic", "t", "--to-latest", "--execute", "--dry-run"], "exclude"),
        (["group", "delete-offsets", "g"], "--topic"),
        (["txn", "list", "--state", "asleep"], "PrepareCommit"),
        (["txn", "list", "--duration", "soon"], "write 90s, 15m, 2h or milliseconds"),
        (["txn", "list", "--duration", "9" * 30], "is not a duration"),
        (["txn", "list", "--producer-id", "-1"], "is not in the range"),
        (["txn", "describe"], "Missing argument 'ID...'"),
        (["txn", "find-hanging", "--partition", "0"], "--partition needs --topic"),
        (["txn", "abort"], "say which transaction"),
        (["txn", "abort", "t", "--topic", "t"], "say which transaction"),
        (["txn", "abort", "--topic", "t"], "say where"),
        (["txn", "abort", "--topic", "t", "-p", "0"], "give --start-offset, or --producer-id"),
        (["txn", "abort", "--topic", "t", "-p", "0", "--producer-id", "1"], "and --coordinator-epoch"),
        (
            ["txn", "abort", "--topic", "t", "-p", "0", "--start-offset", "1", "--producer-id", "1"],
            "give --start-offset, or",
        ),
        (["txn", "abort", "--topic", "t", "-p", "0", "--producer-epoch", "40000"], "is not in the range"),
        (["produce", "t", "-X", "ack=1"], "did you mean acks?"),
        (["produce", "t", "-X", "acks=2"], "expected one of: all, -1, 0, 1"),
        (["produce", "t", "-X", "acks=1", "-X", "enable.idempotence=true"], "needs acks=all"),
        (["produce", "t", "--json", "--key", "k"], "in the lines themselves"),
        (["records", "delete", "t"], "say what to delete"),
        (["records", "delete", "t", "--before", "7"], "write PARTITION:OFFSET"),
        (["topic", "list", "-b", "nonsense:x"], "write host:port"),
        (["start", "--set", "x"], "write --set key=value"),
        (["start", "--host", "h"], "--host goes with --brokers"),
        (["reassign", "plan"], "say what to change"),
        (["reassign", "plan", "--brokers", "1,x"], "write ids with commas between"),
        (["reassign", "plan", "--brokers", "1", "--remove-broker", "2"], "exclude each other"),
        (["reassign", "start", "plan.json", "--throttle", "fast"], "write bytes per second"),
        (["reassign", "cancel"], "say what to cancel"),
        (["leader", "elect"], "say which partitions"),
        (["leader", "elect", "--all", "--topic", "t"], "say which partitions"),
        (["leader", "elect", "--all", "--partition", "0"], "--partition needs --topic"),
        (["leader", "elect", "--all", "--preferred", "--unclean"], "exclude each other"),
        (["features", "upgrade"], "say what to change"),
        (["features", "upgrade", "group.version"], "write name=level"),
        (["features", "upgrade", "--release", "1.0"], "unknown release 1.0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_explained_in_one_line(
    args: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(cli, args, "ottla")
    error = capsys.readouterr().err
    assert problem in error and error.startswith("ottla: ") and error.count("\n") == 1
    assert code == (1 if "nonsense" in args[-1] else 2)


@pytest.mark.parametrize(
    "args",
    [[], ["topic"], ["storage"], ["config"], ["records"], ["group"], ["txn"], ["reassign"], ["leader"]],
    ids=" ".join,
)
def test_a_group_without_a_command_shows_its_help_and_ends_with_2(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, args, "ottla") == 2
    error = capsys.readouterr().err
    assert error.startswith(f"Usage: {' '.join(['ottla', *args])} [OPTIONS]")
    assert "ottla" in error.partition("Example")[2] and "(see:" not in error


def test_ctrl_c_is_130() -> None:
    @click.command()
    def interrupted() -> None:
        raise KeyboardInterrupt

    assert run(interrupted, [], "ottla") == 130


def test_an_error_of_our_own_is_not_dressed_up() -> None:
    @click.command()
    def broken() -> None:
        raise AssertionError("an invariant")

    with pytest.raises(AssertionError):
        run(broken, [], "ottla")


def test_a_missing_topic_comes_with_the_command_that_makes_it() -> None:
    line = explain(ServerError(3, subject="topic clicks"))
    assert line == "topic clicks does not exist: create it with: ottla topic create clicks"


def test_a_broker_that_refuses_and_one_that_hangs_are_told_apart() -> None:
    assert "timed out" in (explain(BrokerUnavailable("a:1", "the connection timed out")) or "")
    assert "refused" not in (explain(BrokerUnavailable("a:1", "Connection refused")) or "")


def all_commands() -> list[list[str]]:
    context = click.Context(cli)
    found = []
    for name in COMMANDS:
        command = cli.get_command(context, name)  # type: ignore[attr-defined]
        if isinstance(command, click.Group):
            found += [[name, child] for child in command.commands]
        else:
            found.append([name])
    return found


@pytest.mark.parametrize("command", all_commands(), ids=" ".join)
def test_every_command_has_help_with_an_example(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(cli, [*command, "--help"], "ottla") == 0
    text = capsys.readouterr().out
    assert "Example" in text and f"ottla {' '.join(command)}" in text.partition("Example")[2]


@pytest.mark.parametrize("tool", sorted(set(TOOLS) - {"server-stop"}))
def test_kafkas_tools_show_their_usage_without_arguments_and_end_with_1(
    tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool(tool, []) == 1
    assert f"usage: kafka-{tool}.sh" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("tool", "args", "problem"),
    [
        ("topics", ["--list"], "--bootstrap-server"),
        ("topics", ["--bootstrap-server", "a:1"], "exactly one action"),
        ("topics", ["--bootstrap-server", "a:1", "--create"], "--create needs --topic"),
        ("configs", ["--bootstrap-server", "a:1", "--describe", "--entity-type", "users"], "not available"),
        ("console-consumer", ["--bootstrap-server", "a:1"], "--include/--topic"),
        (
            "console-consumer",
            ["--bootstrap-server", "a:1", "--topic", "t", "--group", "g", "--partition", "0"],
            "group and partition cannot be specified together",
        ),
        (
            "console-consumer",
            [
                "--bootstrap-server",
                "a:1",
                "--topic",
                "t",
                "--group",
                "g",
                "--consumer-property",
                "group.id=h",
            ],
            "do not match",
        ),
        ("consumer-groups", ["--bootstrap-server", "a:1"], "exactly one action"),
        ("consumer-groups", ["--bootstrap-server", "a:1", "--list", "--describe"], "exactly one action"),
        ("consumer-groups", ["--bootstrap-server", "a:1", "--describe"], "[group], [all-groups]"),
        ("consumer-groups", ["--bootstrap-server", "a:1", "--list", "--members"], "[describe]"),
        (
            "consumer-groups",
            ["--bootstrap-server", "a:1", "--describe", "--group", "g", "--members", "--state"],
            "at most one of",
        ),
        (
            "consumer-groups",
            ["--bootstrap-server", "a:1", "--reset-offsets", "--group", "g", "--to-latest", "--dry-run"],
            "One of the reset scopes",
        ),
        (
            "consumer-groups",
            ["--bootstrap-server", "a:1", "--reset-offsets", "--group", "g", "--topic", "t", "--execute"],
            "requires one of the following scenarios",
        ),
        ("consumer-groups", ["--bootstrap-server", "a:1", "--delete-offsets", "--group", "g"], "[topic]"),
        ("consumer-groups", ["--bootstrap-server", "a:1", "--list"], "no broker answers"),
        ("console-producer", ["--topic", "t"], "bootstrap-server"),
        ("storage", ["format", "-t", "x"], "--config"),
        ("cluster", ["cluster-id"], "--bootstrap-server"),
        (
            "cluster",
            ["list-endpoints", "--bootstrap-controller", "a:1", "--include-fenced-brokers"],
            "only supported with --bootstrap-server",
        ),
        (
            "leader-election",
            ["--bootstrap-server", "a:1", "--all-topic-partitions"],
            "option(s): election-type",
        ),
        (
            "leader-election",
            ["--bootstrap-server", "a:1", "--election-type", "preferred"],
            "One and only one of the following options",
        ),
        (
            "leader-election",
            ["--bootstrap-server", "a:1", "--election-type", "preferred", "--topic", "t"],
            "option(s): partition",
        ),
        ("metadata-quorum", ["--bootstrap-server", "a:1", "describe"], "One of --status or --replication"),
        ("metadata-quorum", ["--bootstrap-server", "a:1", "add-controller"], "the controller you are adding"),
        ("reassign-partitions", ["--bootstrap-server", "a:1"], "exactly one action"),
        ("reassign-partitions", ["--bootstrap-server", "a:1", "--execute"], "[reassignment-json-file]"),
        ("reassign-partitions", ["--bootstrap-server", "a:1", "--list", "--throttle", "5"], "[throttle]"),
        ("reassign-partitions", ["--list"], "--bootstrap-controller"),
        ("server-start", ["/nowhere/server.properties"], "No such file"),
    ],
)
def test_kafkas_tools_explain_a_wrong_command_line(
    tool: str, args: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_tool(tool, args) == 1
    assert problem in capsys.readouterr().err.splitlines()[0]
