"""Writes the admin clients that users see, from the operations of the core: one method for each of them.

    python tools/generate_admin_facades.py            writes them
    python tools/generate_admin_facades.py --check    fails when anything written is not what the core says

`ottla.Admin` (src/ottla/client/sync/admin.py) runs each operation in the caller's thread, `ottla.aio.Admin`
(src/ottla/aio/admin.py) on the event loop. Names, parameters, types and documentation are the core's, so that
editors and type checkers see plain methods; `timeout` (seconds) takes the place of the core's `timeout_ms`.
The types that they take and give, gathered for users (src/ottla/admin.py), and the table of methods in
docs/client-admin.md come from the same place.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src"
THREADS = SOURCE / "ottla" / "client" / "sync" / "admin.py"
ASYNCIO = SOURCE / "ottla" / "aio" / "admin.py"
WORDS = SOURCE / "ottla" / "admin.py"
DOCUMENT = REPOSITORY / "docs" / "client-admin.md"

TABLE_BEGIN = "<!-- methods: written by tools/generate_admin_facades.py -->"
TABLE_END = "<!-- end of methods -->"


class Part(NamedTuple):
    title: str
    module: str
    core: str
    where: str
    """The expression that has the core's object."""
    methods: dict[str, str] | None = None
    """Core's name to public name; None: every public one but those left out below."""


LEFT_OUT = {"list_offsets_once", "committed_offsets", "commit_offsets"}
"""What members of groups and tools need; there are public methods that do the same."""

NOT_PUBLIC = {"self", "timeout_ms", "now_ms"}

PARTS = (
    Part("Topics", "admin_topics", "TopicAdmin", "self._session.admin"),
    Part("Configurations", "admin_configs", "ConfigAdmin", "self._session.admin"),
    Part("Offsets and records", "admin_offsets", "OffsetAdmin", "self._session.admin"),
    Part("Replicas and leaders", "admin_partitions", "PartitionAdmin", "self._session.admin"),
    Part("Log directories", "admin_log_dirs", "LogDirAdmin", "self._session.admin"),
    Part("Cluster and quorum", "admin_cluster", "ClusterAdmin", "self._session.admin"),
    Part("Groups", "admin_groups", "GroupAdmin", "self._session.groups"),
    Part("Offsets of groups", "admin_group_offsets", "GroupOffsetAdmin", "self._session.groups"),
    Part("Lag", "group_lag", "GroupLags", "self._lags", {"of": "describe_group_lags"}),
    Part(
        "Resets",
        "offset_reset",
        "OffsetResets",
        "self._resets",
        {"reset_consumer_group_offsets": "reset_consumer_group_offsets"},
    ),
    Part("Share groups", "admin_share_groups", "ShareGroupAdmin", "self._share_groups"),
    Part("Streams groups", "admin_streams_groups", "StreamsGroupAdmin", "self._streams_groups"),
    Part("Transactions", "admin_transactions", "TransactionAdmin", "self._session.transactions"),
    Part("ACLs", "admin_acls", "AclAdmin", "self._access"),
    Part("Client quotas", "admin_quotas", "QuotaAdmin", "self._access"),
    Part("SCRAM users", "admin_scram", "ScramAdmin", "self._access"),
    Part("Delegation tokens", "admin_tokens", "TokenAdmin", "self._access"),
)

HEAD = '''"""{what}

Generated from the operations of the core by tools/generate_admin_facades.py; do not edit.
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

{imports}

R = TypeVar("R")


class Admin:
    """Administers a cluster; {promise}

        {example}

    What concerns many things gives `Results`, a dict from each of them to its value or to the error in its
    place; `results.all()` raises the first error. What concerns one thing raises. An API that the broker does
    not have raises UnsupportedVersion. `timeout` is in seconds; without it `default.api.timeout.ms` bounds
    the retries. Settings are Kafka's, underscored as keywords or dotted in `config`.
    """

    def __init__(
        self,
        bootstrap_servers: str | list[str] | None = None,
        *,
        config: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        if bootstrap_servers is not None:
            settings["bootstrap_servers"] = bootstrap_servers
        self._settings = admin_settings(config, settings)
        self._session = {session}(self._settings)
        core = self._session
        self._access = AccessAdmin(core.cluster)
        self._share_groups = ShareGroupAdmin(core.cluster, core.coordinators)
        self._streams_groups = StreamsGroupAdmin(core.cluster, core.coordinators)
        self._lags = GroupLags(core.cluster, core.admin, core.groups)
        self._resets = OffsetResets(core.cluster, core.admin, core.groups)

    def __repr__(self) -> str:
        return f"<{name} {{self._settings.client_id}} at {{self._settings.bootstrap_servers}}>"

    {def_}{enter}(self) -> Admin:
        return self

    {def_}{exit}(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        {await_}self.close()

    {def_}close(self) -> None:
        """Closes the connections. What is under way in other {others} ends with ClientClosed."""
        {await_}self._session.close()

    def metrics(self) -> dict[str, dict[str, float]]:
        """Statistics by group and name, as Kafka names them."""
        return self._session.metrics.snapshot()

    {def_}_run(self, steps: ClientSteps[R], timeout: float | None) -> R:
        return {await_}self._session.runtime.run(steps, None if timeout is None else timeout * 1_000)
'''


WORDS_HEAD = '''"""The words of administration: what `ottla.Admin` takes and gives.

    from ottla.admin import NewTopic

Generated from the modules of the core by tools/generate_admin_facades.py; do not edit.
"""

from __future__ import annotations

'''


class Form(NamedTuple):
    """What differs between threads and asyncio."""

    path: Path
    words: dict[str, str]
    runtime_imports: tuple[str, ...]

    @property
    def is_async(self) -> bool:
        return bool(self.words["await_"])


FORMS = (
    Form(
        THREADS,
        {
            "what": "The admin client for threads: `ottla.Admin`.",
            "promise": "any number of threads may use one.",
            "example": 'with ottla.Admin("localhost:9092") as admin:\n'
            '            admin.create_topics([NewTopic("clicks", partitions=6)]).all()',
            "session": "Session.threaded",
            "name": "ottla.Admin",
            "def_": "def ",
            "await_": "",
            "enter": "__enter__",
            "exit": "__exit__",
            "others": "threads",
        },
        ("from ottla.client.session import Session",),
    ),
    Form(
        ASYNCIO,
        {
            "what": "The admin client under asyncio: `ottla.aio.Admin`.",
            "promise": "for the tasks of one event loop.",
            "example": 'async with ottla.aio.Admin("localhost:9092") as admin:\n'
            '            (await admin.create_topics([NewTopic("clicks", partitions=6)])).all()',
            "session": "AioSession.on_loop",
            "name": "ottla.aio.Admin",
            "def_": "async def ",
            "await_": "await ",
            "enter": "__aenter__",
            "exit": "__aexit__",
            "others": "tasks",
        },
        ("from ottla.aio.session import AioSession",),
    ),
)


class Method(NamedTuple):
    name: str
    signature: str
    """The parameters, as they are written, without `self`."""
    returns: str
    call: str
    """The core's operation with its arguments."""
    doc: str
    annotations: tuple[ast.expr, ...]
    defaults: tuple[ast.expr, ...]


class CoreModule:
    def __init__(self, name: str) -> None:
        self.name = f"ottla.client.{name}"
        self.tree = ast.parse((SOURCE / "ottla" / "client" / f"{name}.py").read_text(encoding="utf-8"))
        self.homes: dict[str, str] = {}
        """Each global name and the module that has it."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                self.homes.update({alias.asname or alias.name: node.module for alias in node.names})
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef):
                self.homes[statement.name] = self.name
            elif isinstance(statement, ast.Assign | ast.AnnAssign):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                self.homes.update({t.id: self.name for t in targets if isinstance(t, ast.Name)})

    def functions(self, core: str) -> list[ast.FunctionDef]:
        for statement in self.tree.body:
            if isinstance(statement, ast.ClassDef) and statement.name == core:
                return [node for node in statement.body if isinstance(node, ast.FunctionDef)]
        raise LookupError(f"{self.name} has no class {core}")


def method_of(function: ast.FunctionDef, public: str, where: str) -> Method:
    args = function.args
    taken: list[tuple[ast.arg, ast.expr | None, bool]] = []
    defaults: list[ast.expr | None] = [None] * (len(args.args) - len(args.defaults)) + list(args.defaults)
    taken += [(arg, default, False) for arg, default in zip(args.args, defaults, strict=True)]
    taken += [(arg, default, True) for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True)]
    written: list[str] = []
    passed: list[str] = []
    annotations: list[ast.expr] = []
    used_defaults: list[ast.expr] = []
    starred = False
    for arg, default, keyword in taken:
        if arg.arg == "timeout_ms":
            passed.append("timeout_ms=broker_timeout_ms(timeout)")
        if arg.arg in NOT_PUBLIC:
            continue
        assert arg.annotation is not None, f"{function.name}: {arg.arg} has no type"
        if keyword and not starred:
            written.append("*")
            starred = True
        text = f"{arg.arg}: {ast.unparse(arg.annotation)}"
        if default is not None:
            text += f" = {ast.unparse(default)}"
            used_defaults.append(default)
        written.append(text)
        annotations.append(arg.annotation)
        passed.append(f"{arg.arg}={arg.arg}" if keyword else arg.arg)
    if not starred:
        written.append("*")
    written.append("timeout: float | None = None")
    returns = function.returns
    assert isinstance(returns, ast.Subscript) and ast.unparse(returns.value) == "ClientSteps", function.name
    doc = ast.get_docstring(function)
    assert doc, f"{function.name} has no documentation"
    return Method(
        public,
        ", ".join(written),
        ast.unparse(returns.slice),
        f"{where}.{function.name}({', '.join(passed)})",
        doc,
        (*annotations, returns.slice),
        tuple(used_defaults),
    )


def methods_of(part: Part, module: CoreModule) -> list[Method]:
    found = []
    for function in module.functions(part.core):
        public = function.name if part.methods is None else part.methods.get(function.name, "_")
        if not public.startswith("_") and function.name not in LEFT_OUT:
            found.append(method_of(function, public, part.where))
    return found


def names_in(expressions: tuple[ast.expr, ...]) -> set[str]:
    return {node.id for e in expressions for node in ast.walk(e) if isinstance(node, ast.Name)}


def facade(form: Form) -> str:
    needed: set[tuple[str, str]] = set()
    for_types: set[tuple[str, str]] = {
        ("collections.abc", "Mapping"),
        ("ottla.client.effects", "ClientSteps"),
    }
    bodies: list[str] = []
    seen: set[str] = set()
    for part in PARTS:
        module = CoreModule(part.module)
        bodies.append(f"    # -- {part.title}\n")
        for method in methods_of(part, module):
            assert method.name not in seen, f"two methods are called {method.name}"
            seen.add(method.name)
            for names, imports in ((method.defaults, needed), (method.annotations, for_types)):
                imports.update((module.homes[name], name) for name in names_in(names) if name in module.homes)
            bodies.append(rendered(method, form))
    runtime = [
        *form.runtime_imports,
        "from ottla.client.admin_access import AccessAdmin",
        "from ottla.client.admin_part import broker_timeout_ms",
        "from ottla.client.admin_share_groups import ShareGroupAdmin",
        "from ottla.client.admin_streams_groups import StreamsGroupAdmin",
        "from ottla.client.config import admin_settings",
        "from ottla.client.group_lag import GroupLags",
        "from ottla.client.offset_reset import OffsetResets",
        *(f"from {home} import {name}" for home, name in needed),
    ]
    lines = [
        *runtime,
        "if TYPE_CHECKING:",
        *(f"    from {home} import {name}" for home, name in sorted(for_types - needed)),
    ]
    text = HEAD.format(**form.words, imports="\n".join(lines)) + "\n" + "\n".join(bodies)
    return formatted(text, form.path)


def rendered(method: Method, form: Form) -> str:
    indented = "\n".join(f"        {line}" if line else "" for line in method.doc.splitlines())
    ending = "\n        " if "\n" in method.doc else ""
    keyword, awaiting = ("async def", "await ") if form.is_async else ("def", "")
    return (
        f"    {keyword} {method.name}(self, {method.signature}) -> {method.returns}:\n"
        f'        """{indented.strip()}{ending}"""\n'
        f"        return {awaiting}self._run({method.call}, timeout)\n"
    )


def formatted(text: str, path: Path) -> str:
    """As `ruff format` writes it, with its imports sorted."""
    ruff = [sys.executable, "-m", "ruff"]
    named = ["--stdin-filename", str(path), "--no-cache", "-"]
    for command in (["check", "--fix", "--quiet", "--select", "I", *named], ["format", "--quiet", *named]):
        done = subprocess.run([*ruff, *command], input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"ruff cannot read what was generated: {done.stderr or done.stdout}")
        text = done.stdout
    return text


MORE_WORDS = {
    "ottla.client.admin_acls": ("WILDCARD",),
    "ottla.client.admin_offsets": (
        *("EARLIEST", "LATEST", "MAX_TIMESTAMP", "EARLIEST_LOCAL", "LATEST_TIERED"),
        "EARLIEST_PENDING_UPLOAD",
    ),
    "ottla.client.admin_quotas": ("DEFAULT",),
    "ottla.client.admin_results": ("Results",),
    "ottla.client.admin_scram": ("UserScramCredentialAlteration",),
    "ottla.client.group_views": (
        *("CommittedOffset", "GroupDescription", "GroupListing", "MemberDescription"),
    ),
    "ottla.client.records": ("OffsetAndMetadata",),
    "ottla.client.transaction_views": (
        *("FencedProducer", "OpenTransaction", "ProducerState", "TransactionDescription"),
        *("TransactionListing", "TransactionToAbort"),
    ),
    "ottla.client.view": ("Address",),
    "ottla.model.types": ("TopicPartition",),
}
"""Words that are no class of a part's own module."""


def words() -> str:
    """The module with the types of all parts."""
    found = {home: list(names) for home, names in MORE_WORDS.items()}
    cores = {part.core for part in PARTS}
    for part in PARTS:
        module = CoreModule(part.module)
        found.setdefault(module.name, []).extend(
            node.name
            for node in module.tree.body
            if isinstance(node, ast.ClassDef) and node.name not in cores
        )
    imports = [f"from {home} import {', '.join(names)}" for home, names in found.items() if names]
    everything = sorted(name for names in found.values() for name in names)
    listed = ["__all__ = [", *(f'    "{name}",' for name in everything), "]"]
    return formatted(WORDS_HEAD + "\n".join([*imports, "", *listed]) + "\n", WORDS)


def documented(current: str) -> str:
    """The document with its table of methods as it has to be."""
    before, begin, rest = current.partition(TABLE_BEGIN)
    _, end, after = rest.partition(TABLE_END)
    if not begin or not end:
        raise SystemExit(f"{DOCUMENT} has no place for the table of methods: {TABLE_BEGIN} ... {TABLE_END}")
    lines = [TABLE_BEGIN, "", "| method | what it does |", "|---|---|"]
    for part in PARTS:
        lines.append(f"| **{part.title}** | |")
        for method in methods_of(part, CoreModule(part.module)):
            paragraph = " ".join(method.doc.partition("\n\n")[0].split()).replace("|", "\\|")
            lines.append(f"| `{method.name}` | {paragraph} |")
    return before + "\n".join([*lines, "", TABLE_END]) + after


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the admin clients from the core's operations.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail on a difference")
    check = parser.parse_args().check
    outputs = {form.path: facade(form) for form in FORMS} | {WORDS: words()}
    outputs[DOCUMENT] = documented(DOCUMENT.read_text(encoding="utf-8"))
    stale = 0
    for path, text in outputs.items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if check:
            print(f"{path.relative_to(REPOSITORY)} is not what the core says: run {Path(__file__).name}")
            stale = 1
        else:
            path.write_text(text, encoding="utf-8")
    return stale


if __name__ == "__main__":
    sys.exit(main())
