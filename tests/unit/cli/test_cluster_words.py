"""What the commands about a cluster say, with an admin client whose answers are written down."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ottla.cli.cluster_tables import brokers_document, brokers_text, quorum_document, quorum_text
from ottla.cli.kafka.arguments import UsageError
from ottla.cli.kafka.cluster import endpoint_lines
from ottla.cli.kafka.leader_election import as_java, partitions_from_json
from ottla.cli.kafka.metadata_quorum import controller_file, replication_text, status_text
from ottla.cli.kafka.topics import partition_line
from ottla.cli.main import cli, run
from ottla.cli.partition_health import Counts, Verdict, partition_health
from ottla.client.admin import (
    BrokerDescription,
    ClusterDescription,
    ConfigEntry,
    ConfigSource,
    PartitionDescription,
    Results,
    TopicDescription,
)
from ottla.client.admin_cluster import FeatureMetadata, QuorumDescription, QuorumReplica, RaftEndpoint
from ottla.client.admin_partitions import PartitionReassignment
from ottla.client.errors import ServerError
from ottla.client.view import Address
from ottla.log.meta_properties import MetaProperties, write_meta_properties
from ottla.model.errors import ErrorCode
from ottla.model.types import TopicPartition
from ottla.model.uuids import uuid_from_text
from ottla.net.disk import OsDisk

A0 = TopicPartition("a", 0)
DIRECTORIES = [uuid_from_text(f"AAAAAAAAQACAAAAAAAAAA{letter}") for letter in "Agw"]
BROKERS = tuple(BrokerDescription(n, Address("h", 9090 + n), f"r{n}") for n in (1, 2, 3))
QUORUM = QuorumDescription(
    2,
    7,
    58,
    (
        QuorumReplica(1, DIRECTORIES[0], 55, 900, 800),
        QuorumReplica(2, DIRECTORIES[1], 59, 1_000, 1_000),
    ),
    (QuorumReplica(3, DIRECTORIES[2], 59, None, None),),
    {n: (RaftEndpoint("CONTROLLER", "h", 9190 + n),) for n in (1, 2)},
)


def partition(leader: int, replicas: tuple[int, ...], isr: tuple[int, ...]) -> PartitionDescription:
    return PartitionDescription(0, leader, 1, replicas, isr, ())


def topic(*partitions: PartitionDescription) -> TopicDescription:
    numbered = tuple(p._replace(partition=n) for n, p in enumerate(partitions))
    return TopicDescription("a", bytes(15) + b"\1", False, numbered)


class FakeAdmin:
    """Answers at once: `run` of the client gives back what a method returned."""

    def __init__(self, described: TopicDescription, *, min_isr: str = "2") -> None:
        self.topic = described
        self.min_isr = min_isr
        self.brokers = BROKERS
        self.ongoing: dict[TopicPartition, PartitionReassignment] = {}
        self.calls: list[tuple[str, Any]] = []
        self.elections: dict[TopicPartition, ServerError | None] = {}

    def describe_cluster(self, **options: Any) -> ClusterDescription:
        return ClusterDescription("cluster", 1, self.brokers)

    def describe_features(self) -> FeatureMetadata:
        return FeatureMetadata([], -1)

    def describe_log_dirs(self, *asked: Any) -> Results[int, Any]:
        return Results()

    def describe_metadata_quorum(self) -> QuorumDescription:
        return QUORUM

    def describe_topics(self, names: Any) -> Results[str, TopicDescription]:
        return Results({"a": self.topic})

    def describe_configs(self, kind: Any, names: Any, **options: Any) -> Results[str, list[ConfigEntry]]:
        entry = ConfigEntry(
            "min.insync.replicas", self.min_isr, ConfigSource.STATIC_BROKER_CONFIG, False, False
        )
        return Results({name: [entry] for name in names})

    def list_offsets_once(self, asked: Any) -> dict[TopicPartition, Any]:
        return {tp: ServerError(ErrorCode.LEADER_NOT_AVAILABLE) for tp in asked}

    def list_partition_reassignments(self, partitions: Any = None) -> dict[TopicPartition, Any]:
        return {tp: m for tp, m in self.ongoing.items() if partitions is None or tp in partitions}

    def alter_partition_reassignments(self, wanted: Any, **options: Any) -> Results[TopicPartition, None]:
        self.calls.append(("reassign", dict(wanted)))
        return Results(dict.fromkeys(wanted))

    def incremental_alter_configs(self, changes: Any) -> Results[Any, None]:
        if changes:
            self.calls.append(("configs", changes))
        return Results(dict.fromkeys(changes))

    def remove_raft_voter(self, voter_id: int, directory_id: bytes) -> None:
        self.calls.append(("remove", (voter_id, directory_id)))

    def elect_leaders(self, kind: Any, partitions: Any) -> Results[TopicPartition, None]:
        self.calls.append(("elect", (kind.name, partitions)))
        return Results(self.elections)


class FakeClient:
    def __init__(self, admin: FakeAdmin) -> None:
        self.admin = admin

    def run(self, answer: Any) -> Any:
        return answer

    def __enter__(self) -> FakeClient:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> FakeAdmin:
    fake = FakeAdmin(topic(partition(1, (1, 2, 3), (1, 2, 3)), partition(2, (2, 3, 1), (2, 3, 1))))
    for module in ("cluster", "topic", "reassign", "leader", "features"):
        monkeypatch.setattr(f"ottla.cli.{module}.open_client", lambda *args, **kw: FakeClient(fake))
    return fake


def test_a_partitions_health_goes_by_its_replicas_and_the_minimum() -> None:
    live = {1, 2, 3}
    assert partition_health(partition(1, (1, 2, 3), (1, 2, 3)), 2, live) == (False, False, False, False)
    assert partition_health(partition(1, (1, 2, 3), (1, 2)), 2, live) == (True, True, False, False)
    assert partition_health(partition(1, (1, 2, 3), (1,)), 2, live) == (True, False, True, False)
    assert partition_health(partition(-1, (1, 2, 3), ()), 2, live) == (True, False, True, True)
    assert partition_health(partition(4, (4,), (4,)), 1, live).unavailable
    # A replica that is only being added is not missing yet.
    assert not partition_health(partition(1, (3, 1, 2), (1, 2)), 2, live, adding=(3,)).under_replicated


def test_the_state_of_the_cluster_is_one_sentence() -> None:
    well = partition_health(partition(1, (1,), (1,)), 1, {1})
    thin = partition_health(partition(1, (1, 2, 3), (1, 2)), 2, {1, 2})
    dead = partition_health(partition(-1, (3,), ()), 1, {1, 2})
    counts = Counts.of(1, [well], 0)
    assert counts.verdict is Verdict.WELL and counts.sentence.startswith("well: all 1 partitions")
    counts = Counts.of(2, [well, thin], 1)
    assert counts.verdict is Verdict.DEGRADED
    assert counts.sentence == "degraded: 1 partition under-replicated, 1 broker fenced (of 2)"
    counts = Counts.of(3, [well, thin, dead], 0)
    assert counts.verdict is Verdict.BROKEN
    assert counts.sentence == (
        "broken: 1 partition without a leader, 1 partition below min.insync.replicas, "
        "2 partitions under-replicated (of 3)"
    )


@pytest.mark.parametrize(
    ("isr", "code", "word"), [((1, 2, 3), 0, "well"), ((1, 2), 3, "degraded"), ((1,), 4, "broken")]
)
def test_the_status_is_an_exit_code_for_scripts(
    admin: FakeAdmin, isr: tuple[int, ...], code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    admin.topic = topic(partition(1, (1, 2, 3), isr))
    assert run(cli, ["cluster", "--quiet"], "ottla") == code
    assert capsys.readouterr().out.startswith(f"{word}: ")
    assert run(cli, ["cluster", "--json"], "ottla") == code
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["controller"]) == (word, 2)
    assert document["under_replicated"] == (0 if word == "well" else 1)


def test_topics_are_described_by_what_is_wrong_with_them(
    admin: FakeAdmin, capsys: pytest.CaptureFixture[str]
) -> None:
    admin.topic = topic(
        partition(1, (1, 2, 3), (1, 2, 3)), partition(2, (2, 3, 1), (2, 3)), partition(-1, (3, 1, 2), ())
    )
    for option, expected in (
        ("--under-replicated", [1, 2]),
        ("--at-min-isr", [1]),
        ("--under-min-isr", [2]),
        ("--unavailable", [2]),
    ):
        assert run(cli, ["topic", "describe", option, "--json"], "ottla") == 0
        (document,) = json.loads(capsys.readouterr().out)
        assert [p["partition"] for p in document["partitions"]] == expected
    admin.topic = topic(partition(1, (1,), (1,)))
    assert run(cli, ["topic", "describe", "--unavailable"], "ottla") == 0
    assert capsys.readouterr() == ("", "no such partitions\n")


def test_replicas_that_come_and_go_are_marked(admin: FakeAdmin, capsys: pytest.CaptureFixture[str]) -> None:
    admin.topic = topic(partition(1, (3, 2, 1), (1, 2))._replace(elr=(3,), last_known_elr=()))
    admin.ongoing = {A0: PartitionReassignment((3, 2, 1), (3,), (1,))}
    assert run(cli, ["topic", "describe"], "ottla") == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:5] == ["0", "1", "[+3],2,[-1]", "1,2", "3"]
    assert partition_line("a", admin.topic.partitions[0], admin.ongoing[A0]) == (
        "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 3,2,1\tIsr: 1,2\tAdding Replicas: 3\t"
        "Removing Replicas: 1\tElr: 3\tLastKnownElr: "
    )


def test_a_plan_is_started_with_a_throttle_and_cancelled(
    admin: FakeAdmin, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    admin.topic = topic(partition(1, (1, 2), (1, 2)))
    assert run(cli, ["reassign", "plan", "--remove-broker", "2", "-o", str(plan)], "ottla") == 0
    assert "1 partition would change, 1 replicas be copied" in capsys.readouterr().err
    back = tmp_path / "back.json"
    args = ["reassign", "start", str(plan), "--throttle", "1MB", "--rollback", str(back)]
    assert run(cli, args, "ottla") == 0
    assert capsys.readouterr().out == "started to move 1 partition\ndone\n"
    assert json.loads(back.read_text())["partitions"][0]["replicas"] == [1, 2]
    topics, brokers, (_, moves) = admin.calls
    assert [c.value for changes in topics[1].values() for c in changes] == ["0:1,0:2", "0:3"]
    assert {resource.name for resource in brokers[1]} == {"1", "2", "3"}
    assert {c.value for changes in brokers[1].values() for c in changes} == {"1000000"}
    assert moves == {A0: (1, 3)}
    assert run(cli, ["reassign", "status", str(plan)], "ottla") == 4  # the fake has moved nothing
    admin.ongoing = {A0: PartitionReassignment((1, 3, 2), (3,), (2,))}
    assert run(cli, ["reassign", "status"], "ottla") == 3
    assert run(cli, ["reassign", "cancel", "--all"], "ottla") == 0
    assert admin.calls[-1] == ("reassign", {A0: None})
    assert "cancelled the move of 1 partition" in capsys.readouterr().out


def test_leaders_are_elected_and_the_failures_told(
    admin: FakeAdmin, capsys: pytest.CaptureFixture[str]
) -> None:
    b0 = TopicPartition("b", 0)
    admin.elections = {
        A0: ServerError(ErrorCode.ELECTION_NOT_NEEDED),
        b0: ServerError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE, subject="b-0"),
        TopicPartition("c", 0): None,
    }
    assert run(cli, ["leader", "elect", "--all"], "ottla") == 1
    shown = capsys.readouterr()
    assert shown.out == "a-0: the right one leads already\nc-0: has a new leader\n"
    assert shown.err.startswith("ottla: b-0: ")
    admin.elections = {}
    assert run(cli, ["leader", "elect", "--unclean", "--topic", "a"], "ottla") == 0
    assert admin.calls[-1] == ("elect", ("UNCLEAN", [A0, TopicPartition("a", 1)]))


def test_a_voter_is_removed_by_its_number(admin: FakeAdmin, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(cli, ["cluster", "quorum", "remove", "1"], "ottla") == 0
    assert admin.calls == [("remove", (1, DIRECTORIES[0]))]
    assert run(cli, ["cluster", "quorum", "remove", "3"], "ottla") == 1
    assert "controller 3 is not a voter (voters: 1, 2)" in capsys.readouterr().err


def test_the_quorum_is_a_table() -> None:
    document = quorum_document(QUORUM)
    assert [node["lag"] for node in document["nodes"]] == [4, 0, 0]
    lines = quorum_text(document, 1_500).splitlines()
    assert lines[0] == "leader 2  epoch 7  high watermark 58"
    assert lines[3].split() == [
        *("1", "voter", "55", "4", "0.6", "s", "ago", "0.7", "s", "ago"),
        *lines[3].split()[-2:],
    ]
    assert lines[5].split()[1:6] == ["observer", "59", "0", "-", "-"]


def test_the_quorum_is_described_in_kafkas_words() -> None:
    assert status_text("id", QUORUM).splitlines() == [
        "ClusterId:              id",
        "LeaderId:               2",
        "LeaderEpoch:            7",
        "HighWatermark:          58",
        "MaxFollowerLag:         4",
        "MaxFollowerLagTimeMs:   200",
        'CurrentVoters:          [{"id": 1, "directoryId": "AAAAAAAAQACAAAAAAAAAAA", "endpoints": '
        '["CONTROLLER://h:9191"]}, {"id": 2, "directoryId": "AAAAAAAAQACAAAAAAAAAAg", "endpoints": '
        '["CONTROLLER://h:9192"]}]',
        'CurrentObservers:       [{"id": 3, "directoryId": "AAAAAAAAQACAAAAAAAAAAw"}]',
    ]
    rows = [line.split("\t") for line in replication_text(QUORUM, 1_100).splitlines()]
    assert [cell.strip() for cell in rows[1]] == [
        *("2", "AAAAAAAAQACAAAAAAAAAAg", "59", "0", "100 ms ago", "100 ms ago", "Leader", "")
    ]
    assert rows[3][4].strip() == "-1" and rows[3][6].strip() == "Observer"


def test_a_new_controller_is_read_from_its_properties(tmp_path: Path) -> None:
    pairs = {
        "node.id": "4",
        "process.roles": "controller",
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://:9094",
        "log.dirs": str(tmp_path),
    }
    with pytest.raises(UsageError, match=r"meta\.properties"):
        controller_file(pairs)
    write_meta_properties(OsDisk(), str(tmp_path), MetaProperties(4, "id", DIRECTORIES[1]))
    found = controller_file(pairs)
    assert found == (4, DIRECTORIES[1], (RaftEndpoint("CONTROLLER", "localhost", 9094),))
    for key, problem in (
        ("node.id", "node.id not found"),
        ("process.roles", "did not contain 'controller'"),
        ("controller.listener.names", "was not found"),
        ("listeners", "controller listener name: CONTROLLER"),
        ("log.dirs", "Neither metadata.log.dir nor log.dirs"),
    ):
        with pytest.raises(UsageError, match=problem):
            controller_file({k: v for k, v in pairs.items() if k != key})


def test_brokers_are_listed_also_those_that_are_gone() -> None:
    described = ClusterDescription("id", 1, (BROKERS[0], BROKERS[1]._replace(fenced=True)))
    document = brokers_document(described, [topic(partition(1, (1, 2, 9), (1,)))], {})
    assert [(b["id"], b["state"], b["leaders"], b["replicas"], b["in_sync"]) for b in document] == [
        (1, "active", 1, 1, 1),
        (2, "fenced", 0, 1, 0),
        (9, "missing", 0, 1, 0),
    ]
    assert brokers_text(document).splitlines()[3].split()[:4] == ["9", "-", "-", "missing"]


def test_endpoints_are_listed_in_kafkas_columns() -> None:
    assert (
        endpoint_lines(BROKERS[:1], of_controllers=False)[1]
        == "1          h 9091       r1 unfenced   broker         "
    )
    nodes = [BROKERS[0]._replace(rack=None)]
    assert (
        endpoint_lines(nodes, of_controllers=True)[1] == "1          h 9091       null       controller     "
    )


def test_elections_are_read_from_kafkas_file_and_failures_have_javas_names() -> None:
    assert partitions_from_json('{"partitions":[{"topic":"a","partition":0}]}') == [A0]
    for text, problem in (
        ("", "is empty"),
        ("{}", 'missing "partitions"'),
        ('{"partitions":[{"topic":"a"}]}', "no topic with its partition"),
        (
            '{"partitions":[{"topic":"a","partition":0},{"topic":"a","partition":0}]}',
            "duplicate partitions: a-0",
        ),
    ):
        with pytest.raises(UsageError, match=problem):
            partitions_from_json(text)
    assert as_java(ServerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "No such partition")) == (
        "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: No such partition"
    )
