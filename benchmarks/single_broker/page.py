"""From figures to a page: the goals first, then every row with a ratio, the null test, the profile, the other
pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from single_broker import further_pages, plots
from single_broker.figures import FIGURES
from single_broker.goals import against_best_peer, judge
from single_broker.plan import AGAIN, OURS, SYSTEMS
from spread import table, words

NULL_FIGURES = ("mb_per_s", "read_mb_per_s", "cpu_s_per_gb", "p50_ms", "p99_ms", "start_ms", "rss_mb")

Figures = dict[str, Any]


def markdown(result: Figures, results: Path) -> str:
    sections = [
        _heading(result),
        _goals(result),
        _parts(result),
        _null_test(result),
        _last_words(result),
        _plots(result),
        _profile(result),
        _further(results),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def goals(result: Figures) -> str:
    """The first thing a reader wants, also at the end of a run."""
    return _goals(result)


def _heading(result: Figures) -> str:
    facts = result["machine"]
    lines = [
        "# One broker beside Apache Kafka, measured",
        "",
        "Written by `make bench`; how to read and repeat it: [docs/benchmarks.md](../../docs/benchmarks.md).",
        "",
        f"- Machine: {facts['cores']} cores ({facts['cpu']}), {facts['memory']} memory, Linux "
        f"{facts['kernel']}, Python {facts['python']}, {facts['java']}; clients and brokers share it.",
        f"- Apache Kafka {result['kafka_version']}, one node in KRaft mode: `kafka` as it is shipped (1 GB "
        "of heap), `kafka recommended` as its documentation recommends. `mock` is librdkafka's mock cluster, "
        "RAM only, no checks: a ceiling, not a peer.",
        f"- Every row {result['repeats']} times for each system, in turns, after a warm-up; figures are "
        "medians (lowest to highest). A ratio is ours to the better one of Kafka's.",
        f"- Mode: {result['mode']}.",
    ]
    lines += [f"- Missing: {name}: {why}" for name, why in result["missing"].items()]
    rows = []
    for name, part in result["parts"].items():
        load, cost = part["load_average"], part["page_cache"]
        rows.append(
            [
                *(name, part["measured_at"], f"{part['took_s']:.0f}"),
                f"{load['begin']:.2f} to {load['end']:.2f}",
                f"{cost['reused_cpu_s_per_gb']:.2f}, {cost['forgotten_cpu_s_per_gb']:.2f}",
                f"{_others(result, name):.2f}",
            ]
        )
    head = ["part", "measured", "s", "load average", "writing a file, CPU-s/GB (reused, fresh memory)"]
    return "\n".join(lines) + "\n\n" + table([*head, "cores busy with other things (median)"], rows)


def _others(result: Figures, part: str) -> float:
    values = sorted(
        run["others_cores"]
        for row in result["rows"].values()
        if row["part"] == part
        for runs in row["runs"].values()
        for run in runs
        if "others_cores" in run
    )
    return float(values[len(values) // 2]) if values else 0.0


def _goals(result: Figures) -> str:
    rows = []
    for goal, found in judge(result["rows"]):
        if found is None:
            rows.append([goal.what, goal.words, "", "", "", "not measured in this mode"])
            continue
        verdict = "reached" if found.reached else "**not reached**"
        rows.append(
            [goal.what, goal.words, _short(found.ours), _short(found.theirs), f"{found.ratio:.2f}x", verdict]
        )
    return "## Goals\n\n" + table(["what", "goal", "ottla", "best of Kafka's", "ratio", ""], rows)


def _parts(result: Figures) -> str:
    lines = []
    for part in result["parts"]:
        rows = {key: row for key, row in result["rows"].items() if row["part"] == part}
        if not rows:
            continue
        asked = {name for row in rows.values() for name in (*row["systems"], *row["failed"])}
        columns = [name for name in SYSTEMS if name in asked and name != AGAIN]
        lines.append(f"## {part.capitalize()}")
        for row in rows.values():
            lines.append(f"### {row['title']}")
            lines.append(table(["figure", *columns, "ratio"], _lines(row, columns)))
            lines += [f"`{name}` failed: {why}" for name, why in row["failed"].items()]
    return "\n\n".join(lines)


def _lines(row: Figures, columns: list[str]) -> list[list[str]]:
    lines = []
    for figure in row["shows"]:
        cells = [words(row["systems"].get(name, {}).get(figure)) for name in columns]
        if not any(cells):
            continue
        found = against_best_peer(row, figure)
        ratio = f"{found[0] / found[1]:.2f}x" if found and found[1] else ""
        lines.append([FIGURES[figure].words, *cells, ratio])
    return lines


def _null_test(result: Figures) -> str:
    rows = []
    for row in result["rows"].values():
        first, second = row["systems"].get(OURS, {}), row["systems"].get(AGAIN, {})
        for figure in NULL_FIGURES:
            if figure in row["shows"] and figure in first and figure in second:
                ratio = second[figure]["median"] / first[figure]["median"] if first[figure]["median"] else 1.0
                cells = [FIGURES[figure].words, words(first[figure]), words(second[figure])]
                rows.append([row["title"], *cells, f"{ratio:.2f}x"])
    if not rows:
        return ""
    return (
        "## Null test: Ottla against itself\n\n"
        "The same system under two names, in the same turns. By how much a ratio differs from 1 is the "
        "machine's noise: a difference between two systems that is not larger says nothing.\n\n"
        + table(["row", "figure", OURS, AGAIN, "ratio"], rows)
    )


def _last_words(result: Figures) -> str:
    rows = [
        [name, f"{said['lag_p99_ms']:.3g}", f"{said['lag_max_ms']:.3g}"]
        for name, said in result["last_words"].items()
        if "lag_p99_ms" in said
    ]
    if not rows:
        return ""
    about = "Over all rows of one process, told by the broker when it stops."
    head = ["system", "p99, ms", "at most, ms"]
    return f"## How late Ottla's event loop was\n\n{about}\n\n{table(head, rows)}"


def _plots(result: Figures) -> str:
    name = "single-broker-quick" if result["mode"] == "quick" else "single-broker"
    pictures = [f"![{what}]({name}-{what}.svg)" for what in plots.draw(result["rows"])]
    return "## Pictures\n\n" + "\n\n".join(pictures) if pictures else ""


def _profile(result: Figures) -> str:
    profiles = result.get("profiles")
    if profiles is None:
        return "## Profile\n\nMissing: py-spy is not installed, or the part was not asked for."
    lines = [
        "## Profile",
        "py-spy, self time per function in % of the samples in which Ottla ran; a function that makes a "
        "system call is charged with it.",
    ]
    for name, parts in profiles.items():
        for kind, functions in parts.items():
            rows = [[f"{share * 100:.1f}", f"`{function}`"] for function, share in functions]
            lines += [f"### {kind}: {name}", table(["%", "function"], rows)]
    return "\n\n".join(lines)


def _further(results: Path) -> str:
    lines = ["## Further pages", "Their newest results, each measured by a command of its own."]
    for name, page in further_pages.PAGES.items():
        found, why = further_pages.newest(name, results)
        lines.append(f"### [{page.about}]({name}.md)" if found else f"### {page.about}: {why}")
        rows = [
            [what, _short(ours), _short(theirs), f"{ours / theirs:.2f}x"]
            for what, ours, theirs in found
            if theirs
        ]
        if rows:
            lines.append(table(["what", "ours", "theirs", "ratio"], rows))
    return "\n\n".join(lines)


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
