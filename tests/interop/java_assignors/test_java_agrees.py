"""Every assignor beside Kafka's own, and the hash of keys, over 10,000 random cases each, in one JVM.

Where Java walks a hash map of members, its result depends on how their ids hash. The ids `p0` to `p9` hash to
their own order, in which our assignors walk them too, so results have to be equal, lists in the same order.
Java's answers are kept in the git-ignored cache: they change only with the cases or with Kafka's version.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ottla.assignors import cooperative_sticky, server_range, sticky, uniform
from ottla.assignors.group_spec import GroupSpec, MemberSpec
from ottla.assignors.protocol import CLIENT_ASSIGNORS
from ottla.assignors.subscription import Subscription
from ottla.assignors.user_data import encode_generation, encode_previous_assignment
from ottla.model.types import TopicPartition
from ottla.wire.record_writer import murmur2
from support.java_client import JVM_OPTIONS, class_path
from support.tools import CACHE, machine_lock, tool

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

SOURCE = Path(__file__).parent / "AssignorOracle.java"
CASES_EACH = 10_000
RUN_TIMEOUT_S = 120
Case = dict[str, Any]
Assigned = dict[str, list[TopicPartition]]
Answers = dict[str, list[tuple[Case, Any]]]


def oracle_class_path() -> str:
    jars = class_path()
    digest = hashlib.sha256(SOURCE.read_bytes() + jars.encode()).hexdigest()
    classes = CACHE / f"assignor-oracle-{digest[:12]}"
    with machine_lock("java"):
        if not classes.exists():
            staging = classes.with_suffix(".part")
            staging.mkdir(exist_ok=True)
            subprocess.run([tool("javac"), "-d", str(staging), "-cp", jars, str(SOURCE)], check=True)
            staging.rename(classes)
    return f"{classes}:{jars}"


@pytest.fixture(scope="module")
def answers() -> Answers:
    """By assignor, each case with Java's answer."""
    cases = [case for name, maker in MAKERS.items() for case in maker(name)]
    lines = ask_java("".join(json.dumps(case) + "\n" for case in cases))
    assert len(lines) == len(cases)
    found: Answers = {name: [] for name in MAKERS}
    for case, line in zip(cases, lines, strict=True):
        answer = json.loads(line)
        assert "ok" in answer, f"{answer} for {case}"
        found[case["assignor"]].append((case, answer["ok"]))
    return found


def ask_java(cases: str) -> list[str]:
    """The oracle's answers, a line for each; asked once for the same cases."""
    classes = oracle_class_path()
    digest = hashlib.sha256(f"{classes}\n{cases}".encode()).hexdigest()
    kept = CACHE / f"assignor-answers-{digest[:12]}.gz"
    with machine_lock("assignor-answers"):
        if not kept.exists():
            done = subprocess.run(
                [tool("java"), *JVM_OPTIONS, "-cp", classes, "AssignorOracle"],
                input=cases,
                capture_output=True,
                text=True,
                timeout=RUN_TIMEOUT_S,
                check=True,
            )
            assert done.stdout.count("\n") == cases.count("\n"), done.stderr[-2000:]
            staging = kept.with_suffix(".part")
            staging.write_bytes(gzip.compress(done.stdout.encode(), 1))
            staging.rename(kept)
        return gzip.decompress(kept.read_bytes()).decode().splitlines()


# The cases. A member is what Subscription is, as JSON.


def make_client_cases(name: str) -> list[Case]:
    chance = random.Random(f"assignors {name}")
    return [make_client_case(name, chance) for _ in range(CASES_EACH)]


def make_client_case(name: str, chance: random.Random) -> Case:
    counts = {f"t{number}": chance.randint(1, 8) for number in range(chance.randint(1, 5))}
    equal = chance.random() < 0.4
    some = sorted(chance.sample(sorted(counts), chance.randint(1, len(counts))))
    with_racks = chance.random() < 0.3
    members: dict[str, Any] = {}
    for member_id in sorted(chance.sample([f"p{digit}" for digit in range(10)], chance.randint(1, 8))):
        topics = some if equal else chance.sample(sorted(counts), chance.randint(1, len(counts)))
        members[member_id] = {
            "topics": topics,
            "owned": [],
            "generation": -1,
            "rack": f"r{chance.randint(0, 2)}" if with_racks and chance.random() < 0.8 else None,
            "instance_id": f"i{chance.randint(0, 99)}{member_id}" if chance.random() < 0.3 else None,
            "user_data": None,
        }
    subscribed = {topic for member in members.values() for topic in member["topics"]}
    counts = {topic: count for topic, count in counts.items() if topic in subscribed}
    racks = None
    if with_racks:
        racks = {
            topic: [sorted(chance.sample(["r0", "r1", "r2"], chance.randint(0, 2))) for _ in range(count)]
            for topic, count in counts.items()
        }
    case = {"assignor": name, "counts": counts, "racks": racks, "members": members}
    if name in (sticky.NAME, cooperative_sticky.NAME) and chance.random() < 0.85:
        add_history(case, chance)
    return case


def add_history(case: Case, chance: random.Random) -> None:
    """What members had: a result for some of them, or anything, with stale and contradicting claims."""
    members, counts = case["members"], case["counts"]
    cooperative = case["assignor"] == cooperative_sticky.NAME
    owned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in members}
    if chance.random() < 0.6:
        before = dict(chance.sample(sorted(members.items()), chance.randint(1, len(members))))
        owned |= run_client({**case, "members": before})
    else:
        for topic, count in counts.items():
            for number in range(count):
                if chance.random() < 0.8:
                    owned[chance.choice(sorted(members))].append(TopicPartition(topic, number))
    generations = {member_id: 5 if chance.random() < 0.8 else chance.randint(2, 4) for member_id in members}
    old_form = cooperative and chance.random() < 0.2
    if chance.random() < 0.4 and not old_form:
        for topic, count in counts.items():
            for number in range(count):
                twin = chance.choice(sorted(members))
                if chance.random() < 0.2 and (topic, number) not in owned[twin]:
                    owned[twin].append(TopicPartition(topic, number))
    newest = max(generations.values())
    for member_id, member in members.items():
        # Java may give a stale member's partition back to it though it no longer subscribes to the topic.
        partitions = [
            each
            for each in owned[member_id]
            if generations[member_id] == newest or each.topic in member["topics"]
        ]
        member["generation"] = generations[member_id]
        if not cooperative:
            data = encode_previous_assignment(partitions, generations[member_id])
        else:
            member["owned"] = partitions
            data = encode_generation(generations[member_id])
            if old_form:
                member["generation"] = -1
        member["user_data"] = base64.b64encode(data).decode()


def make_server_cases(name: str) -> list[Case]:
    chance = random.Random(f"assignors {name}")
    return [make_server_case(name, chance) for _ in range(CASES_EACH)]


def make_server_case(name: str, chance: random.Random) -> Case:
    counts = {str(number): chance.randint(1, 9) for number in range(1, chance.randint(2, 6))}
    equal = chance.random() < 0.5
    some = sorted(chance.sample(sorted(counts), chance.randint(1, len(counts))))
    names = sorted(chance.sample([f"p{digit}" for digit in range(10)], chance.randint(1, 8)))
    members: dict[str, Any] = {
        member_id: {
            "topics": some if equal else chance.sample(sorted(counts), chance.randint(1, len(counts))),
            "owned": [],
            "instance_id": f"i{chance.randint(0, 99)}{member_id}" if chance.random() < 0.3 else None,
        }
        for member_id in names
    }
    if chance.random() < 0.7:
        for topic, count in counts.items():
            for number in range(count):
                if chance.random() < 0.8:
                    owner = members[chance.choice(names)]
                    if topic in owner["topics"]:
                        owner["owned"].append([topic, number])
    return {"assignor": name, "counts": counts, "racks": None, "members": members}


def make_keys(name: str) -> list[Case]:
    """Keys of every length around the words of four bytes that the hash takes, and some long ones."""
    chance = random.Random(f"keys {name}")
    lengths = [n % 40 if n % 10 else chance.randint(40, 2000) for n in range(CASES_EACH)]
    return [
        {"assignor": name, "key": base64.b64encode(chance.randbytes(length)).decode()} for length in lengths
    ]


MAKERS: dict[str, Callable[[str], list[Case]]] = {
    **dict.fromkeys(CLIENT_ASSIGNORS, make_client_cases),
    "server-range": make_server_cases,
    "server-uniform": make_server_cases,
    "murmur2": make_keys,
}


# What ours make of a case.


def run_client(case: Case) -> Assigned:
    members = {
        member_id: Subscription(
            tuple(member["topics"]),
            tuple(TopicPartition(*each) for each in member["owned"]),
            member["generation"],
            member["rack"],
            member["instance_id"],
            None if member["user_data"] is None else base64.b64decode(member["user_data"]),
        )
        for member_id, member in case["members"].items()
    }
    racks = case["racks"] and {
        TopicPartition(topic, number): frozenset(each)
        for topic, of_topic in case["racks"].items()
        for number, each in enumerate(of_topic)
    }
    return CLIENT_ASSIGNORS[case["assignor"]].assign(case["counts"], members, racks)


def topic_id(topic: str) -> bytes:
    return int(topic).to_bytes(16, "big")


def run_server(case: Case) -> Assigned:
    members = {}
    for member_id, member in case["members"].items():
        owned: dict[bytes, set[int]] = {}
        for topic, number in member["owned"]:
            owned.setdefault(topic_id(topic), set()).add(number)
        members[member_id] = MemberSpec(
            member["instance_id"],
            None,
            frozenset(map(topic_id, member["topics"])),
            {topic: frozenset(numbers) for topic, numbers in owned.items()},
        )
    spec = GroupSpec(members, {topic_id(topic): count for topic, count in case["counts"].items()})
    assign = server_range.assign if case["assignor"] == "server-range" else uniform.assign
    return {
        member_id: [
            TopicPartition(str(int.from_bytes(topic, "big")), number)
            for topic, numbers in sorted(assigned.items())
            for number in sorted(numbers)
        ]
        for member_id, assigned in assign(spec).items()
    }


def from_json(answer: Any) -> Assigned:
    return {
        member_id: [TopicPartition(*each) for each in partitions] for member_id, partitions in answer.items()
    }


def equal_subscriptions(case: Case) -> bool:
    return len({frozenset(member["topics"]) for member in case["members"].values()}) == 1


def moves(case: Case, result: Assigned) -> int:
    """How many partitions are now with a member that did not have them."""
    return sum(
        len(set(partitions).difference(TopicPartition(*each) for each in case["members"][member_id]["owned"]))
        for member_id, partitions in result.items()
    )


@pytest.mark.parametrize("name", sorted(CLIENT_ASSIGNORS))
def test_the_client_s_assignors_give_what_java_s_give(answers: Answers, name: str) -> None:
    """KIP-54, KIP-429 and KIP-881 included: racks, static members, stale and contradicting claims."""
    assert len(answers[name]) == CASES_EACH
    for case, answer in answers[name]:
        assert run_client(case) == from_json(answer), case


def test_the_hash_of_a_key_is_java_s(answers: Answers) -> None:
    """The compiled hash that chooses partitions."""
    assert len(answers["murmur2"]) == CASES_EACH
    for case, answer in answers["murmur2"]:
        assert murmur2(base64.b64decode(case["key"])) == answer, case


def test_the_coordinator_s_range_is_java_s_to_the_letter(answers: Answers) -> None:
    for case, answer in answers["server-range"]:
        theirs = {member_id: sorted(partitions) for member_id, partitions in from_json(answer).items()}
        assert run_server(case) == theirs, case


def test_uniform_with_equal_subscriptions_is_as_even_as_java_s_and_moves_as_little(answers: Answers) -> None:
    """Which member gets an odd partition that nobody has is Java's hash order, so only that may differ."""
    with_history = 0
    for case, answer in answers["server-uniform"]:
        if equal_subscriptions(case):
            ours, theirs = run_server(case), from_json(answer)
            assert sorted(map(len, ours.values())) == sorted(map(len, theirs.values())), case
            assert moves(case, ours) == moves(case, theirs), case
            with_history += any(member["owned"] for member in case["members"].values())
    assert with_history > CASES_EACH // 4


def test_uniform_with_unequal_subscriptions_is_on_the_whole_as_even_and_as_sticky_as_java_s(
    answers: Answers,
) -> None:
    """Neither finds the optimum each time, so a single case may go either way."""
    pairs = [
        (case, run_server(case), from_json(answer))
        for case, answer in answers["server-uniform"]
        if not equal_subscriptions(case)
    ]
    assert len(pairs) > CASES_EACH // 4
    unevenness = sum(square_sum(ours) for _, ours, _ in pairs)
    moved = sum(moves(case, ours) for case, ours, _ in pairs)
    assert unevenness <= 1.01 * sum(square_sum(theirs) for *_, theirs in pairs)
    assert moved <= 1.02 * sum(moves(case, theirs) for case, _, theirs in pairs)


def square_sum(result: Assigned) -> int:
    """Least where loads are most even."""
    return sum(len(partitions) ** 2 for partitions in result.values())
