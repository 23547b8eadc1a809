"""From figures to a page: goals, a table per protocol and kind of round, the null test, the clients' cost."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from typing import Any

Figures = dict[str, Any]
Figure = dict[str, float] | None

OTHERS_CORES_MAX = 0.2
STABLE_S_MAX, ACK_P99_MS_MAX = 5.0, 50.0
PROTOCOL_NAMES = {"classic": "classic protocol", "consumer": "consumer protocol (KIP-848)"}
KIND_NAMES = {
    "paced": "rounds as clients learn of them, by their next heartbeat",
    "at_once": "rounds that everybody learns of at once",
}
ROUND_ROWS = {
    "stable_s": "all groups stable after the last join, s",
    "stable_p50_s": "half of the groups stable, s",
    "after_news_ms": "all stable after the last heartbeat that told of it left, ms",
    "heartbeat_p50_ms": "heartbeat p50, ms",
    "heartbeat_p99_ms": "heartbeat p99, ms",
    "heartbeat_max_ms": "heartbeat max, ms",
    "sync_p99_ms": "SyncGroup p99, ms",
    "commit_p99_ms": "OffsetCommit p99, ms",
    "ack_p99_ms": "producer's acknowledgement p99, ms",
    "e2e_p99_ms": "producer to consumer p99, ms",
    "probe_p99_ms": "ApiVersions probe p99, ms",
    "probe_max_ms": "ApiVersions probe max, ms",
    "broker_cpu_s": "broker CPU-s in the round",
    "broker_cores": "broker, cores",
}
REST_ROWS = {
    key: title
    for key, title in ROUND_ROWS.items()
    if "stable" not in key and key not in ("after_news_ms", "sync_p99_ms")
}
WHOLE_ROWS = {
    "loaded_rss_mb": "resident, steady load only, MB",
    "grouped_rss_mb": "resident with the groups, MB",
    "rss_mb_max": "resident at its highest, MB",
    "lag_p99_ms": "own loop's lag p99, whole run, ms",
    "lag_max_ms": "own loop's lag max, whole run, ms",
}
CLIENT_ROWS = {
    "members_cores": "members' process, cores",
    "members_lag_p99_ms": "members' loop lag p99, ms",
    "members_lag_max_ms": "members' loop lag max, ms",
    "beside_cores": "producer, consumer and probe, cores",
    "others_cores": "others, cores",
}
NULL_ROWS = ("stable_s", "after_news_ms", "heartbeat_p99_ms", "ack_p99_ms", "e2e_p99_ms", "broker_cpu_s")


def as_json(result: Figures) -> str:
    return json.dumps(_rounded(result), indent=1) + "\n"


def _rounded(value: Any) -> Any:
    """Four digits after the point are more than any of these figures has."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return round(value, 4) if isinstance(value, float) else value


def markdown(result: Figures) -> str:
    sections = [_heading(result), _goals(result), _missing(result)]
    for protocol, systems in result["protocols"].items():
        if systems:
            sections.append(_protocol(result, protocol, systems))
    sections.append(_null_test(result))
    return "\n\n".join(section for section in sections if section) + "\n"


def _heading(result: Figures) -> str:
    facts = result["machine"]
    warm = (
        "after a warm-up"
        if result["warmed_up"]
        else "which in the quick mode has just started and still compiles itself"
    )
    return (
        "# Groups that rebalance at once, measured\n\n"
        "Written by `make bench-groups`; how to read and repeat it: "
        "[docs/benchmarks.md](../../docs/benchmarks.md).\n\n"
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, "
        f"Linux {facts['kernel']}, Python {facts['python']}; clients and broker share it.\n"
        f"- {result['groups']} groups of {result['members']} members over a topic of "
        f"{result['partitions']} partitions, held by {_count(result['processes'], 'process')}, beside one "
        f"producer and one consumer at {result['mb_per_s']:.0f} MB/s of 1 KB records.\n"
        f"- {_count(result['repeats'], 'run')} of each system, interleaved; figures are medians over runs "
        f"and rounds (lowest to highest). Apache Kafka {result['kafka_version']}, one process for all runs, "
        f"{warm}; Ottla in a fresh process for each.\n"
        f"- Load average at the beginning {result['load_average']['begin']:.2f}, at the end "
        f"{result['load_average']['end']:.2f}. Mode: {result['mode']}, {result['took_s']:.0f} s.\n"
        f"- {_others(result)}"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{'es' if noun.endswith('s') else 's'}"


def _others(result: Figures) -> str:
    """How busy the machine was with something else."""
    cores = [
        each["others_cores"]
        for systems in result["protocols"].values()
        for found in systems.values()
        for run in found["runs"]
        for kind in KIND_NAMES
        for each in run[kind]
    ]
    busy = statistics.median(cores) if cores else 0.0
    told = f"Processes outside the measurement kept {busy:.2f} cores busy (median of all rounds)"
    return f"**{told}: too much, repeat the run.**" if busy > OTHERS_CORES_MAX else f"{told}."


def goals(result: Figures) -> Iterable[tuple[str, str, float | None, float, str]]:
    """(what, goal, measured, limit, unit): the slowest round of all runs counts for the first, the median
    for the second.
    """
    for protocol, systems in result["protocols"].items():
        for kind, kind_name in KIND_NAMES.items():
            found = systems.get("ottla", {}).get(kind, {})
            name = f"{protocol}, {kind_name}"
            stable = found.get("stable_s")
            left = found.get("not_stable", {}).get("max", 0)
            slowest = None if stable is None else float("inf") if left else stable["max"]
            yield f"{name}: all stable, slowest round", f"< {STABLE_S_MAX:.0f} s", slowest, STABLE_S_MAX, "s"
            ack = found.get("ack_p99_ms")
            yield (
                f"{name}: producer p99",
                f"< {ACK_P99_MS_MAX:.0f} ms",
                ack and ack["median"],
                ACK_P99_MS_MAX,
                "ms",
            )


def _goals(result: Figures) -> str:
    rows = [
        [
            what,
            goal,
            "missing" if value is None else f"{value:.3g} {unit}",
            "" if value is None else "reached" if value < limit else "not reached",
        ]
        for what, goal, value, limit, unit in goals(result)
    ]
    return "## Goals\n\n" + table(["what", "goal", "measured", ""], rows)


def _missing(result: Figures) -> str:
    if not result["missing"]:
        return ""
    return "## Missing\n\n" + "\n".join(f"- {what}: {why}" for what, why in result["missing"].items())


def _protocol(result: Figures, protocol: str, systems: Figures) -> str:
    title = PROTOCOL_NAMES[protocol]
    parts = [f"## {title[0].upper()}{title[1:]}"]
    for kind, kind_name in KIND_NAMES.items():
        parts += [
            f"### {kind_name[0].upper()}{kind_name[1:]}",
            _compared(result, systems, kind, ROUND_ROWS),
            _checks(systems, kind),
        ]
    parts += ["### At rest: heartbeats and commits only", _compared(result, systems, "rest", REST_ROWS)]
    forming = {key: ROUND_ROWS[key] for key in ("stable_s", "ack_p99_ms", "probe_max_ms", "broker_cpu_s")}
    parts += ["### All members join at once", _compared(result, systems, "form", forming)]
    parts += ["### Memory and loop lag", _compared(result, systems, "whole", WHOLE_ROWS)]
    parts += ["### What the clients cost, rounds at once", _compared(result, systems, "at_once", CLIENT_ROWS)]
    return "\n\n".join(part for part in parts if part)


def _compared(result: Figures, systems: Figures, period: str, rows: dict[str, str]) -> str:
    names = [name for name in result["systems"] if name in systems]
    both = {"ottla", "kafka"} <= set(names)
    lines = []
    for key, title in rows.items():
        figures = [systems[name].get(period, {}).get(key) for name in names]
        if any(figures):
            ratio = [_ratio(systems, period, key, "ottla", "kafka")] if both else []
            lines.append([title, *(spread(figure) for figure in figures), *ratio])
    return table(["", *names, *(["ottla : kafka"] if both else [])], lines)


def _checks(systems: Figures, kind: str) -> str:
    """What did not go as it should."""
    told = []
    for name, found in systems.items():
        rounds = [each for run in found["runs"] for each in run[kind]]
        errors: dict[str, int] = {}
        for each in rounds:
            for error, count in each["errors"].items():
                errors[error] = errors.get(error, 0) + count
        counts = [each["confirmed"] for each in rounds]
        listed = ", ".join(f"{error} ({count} times)" for error, count in errors.items()) or "none"
        lost = sum(each["not_stable"] for each in rounds)
        told.append(
            f"{name}: groups not stable within a minute {lost}; fewest groups that the coordinator itself "
            f"called stable after a round {min(counts, default=0)}; errors {listed}."
        )
    return "\n".join(f"- {line}" for line in told)


def _null_test(result: Figures) -> str:
    rows = []
    for protocol, systems in result["protocols"].items():
        if "ottla again" in systems and "ottla" in systems:
            rows += [
                [
                    f"{protocol}, {kind.replace('_', ' ')}",
                    ROUND_ROWS[key],
                    spread(systems["ottla"][kind].get(key)),
                    spread(systems["ottla again"][kind].get(key)),
                    _ratio(systems, kind, key, "ottla again", "ottla"),
                ]
                for kind in KIND_NAMES
                for key in NULL_ROWS
                if key in systems["ottla"].get(kind, {})
            ]
    if not rows:
        return ""
    return (
        "## Null test: Ottla against itself\n\n"
        "By how much the ratio differs from 1 is the machine's noise: a difference between two systems that "
        "is not larger says nothing.\n\n"
        + table(["", "figure", "Ottla", "Ottla again", "ratio of medians"], rows)
    )


def _ratio(systems: Figures, period: str, key: str, above: str, below: str) -> str:
    first, second = (systems.get(name, {}).get(period, {}).get(key) for name in (above, below))
    if not first or not second or not second["median"]:
        return ""
    return f"{first['median'] / second['median']:.2f}"


def spread(figure: Figure) -> str:
    if figure is None:
        return ""
    low, high = f"{figure['min']:.3g}", f"{figure['max']:.3g}"
    return f"{figure['median']:.3g}" if low == high else f"{figure['median']:.3g} ({low} to {high})"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))
