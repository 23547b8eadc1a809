"""Reads schema/: the text of every message, turned into `Message`, `Struct` and `Field` objects.

The format is described in schema/README.md. Two programs read it: the generator beside this file, and the
tests, which make random messages from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

FOREVER = 32767  # no version is higher; API versions are int16

INTEGERS = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q"}
FIXED_FORMATS = {**INTEGERS, "bool": "?", "float64": "d", "uuid": "16s"}
FIXED_BYTES = {
    "int8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "bool": 1,
    "float64": 8,
    "uuid": 16,
}
SCALARS = {*FIXED_FORMATS, "string", "bytes", "records"}

MESSAGE_KINDS = ("request", "response", "header", "data", "key", "value", "record")


class SchemaError(Exception):
    """A line of a schema file that makes no sense; carries file and line number."""


@dataclass(frozen=True)
class Versions:
    """A closed range of versions; `low > high` is the empty one."""

    low: int
    high: int

    def __contains__(self, version: int) -> bool:
        return self.low <= version <= self.high

    def within(self, other: Versions) -> Versions:
        return Versions(max(self.low, other.low), min(self.high, other.high))

    @property
    def empty(self) -> bool:
        return self.low > self.high


NONE = Versions(1, 0)


@dataclass
class Field:
    name: str  # Kafka's spelling
    type: str  # a scalar, or a struct's name as the schema spells it
    array: bool
    versions: Versions
    nullable: Versions = NONE
    tag: int | None = None
    never_compact: bool = False
    ignorable: bool = False
    secret: bool = False
    default: str | None = None  # as written after `=`; None where nothing is
    struct: Struct | None = None

    @property
    def attribute(self) -> str:
        return snake_case(self.name)


@dataclass
class Struct:
    name: str
    fields: list[Field] = field(default_factory=list)
    class_name: str = ""  # differs from `name` where two structs of one file share it
    reach: Versions = NONE  # the versions in which a message can contain it


@dataclass
class Message:
    kind: str
    name: str
    key: int | None  # of a record key, record value or metadata record
    versions: Versions
    first_flexible: int | None
    root: Struct
    structs: list[Struct]  # nested ones, innermost first


@dataclass
class SchemaFile:
    path: Path
    api_key: int | None = None
    api_name: str | None = None
    listeners: tuple[str, ...] = ()
    unstable: int | None = None  # the version that is still being designed
    messages: list[Message] = field(default_factory=list)


def snake_case(name: str) -> str:
    """Kafka's spelling in Python's: KRaftVersion -> kraft_version, Enable2Pc -> enable_2pc."""
    name = name.replace("KRaft", "Kraft").replace("2Pc", "_2pc")
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    return re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name).lower()


def parse_versions(text: str) -> Versions:
    if text == "none":
        return NONE
    match = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", text)
    if match is None:
        raise ValueError(f"no version range: {text!r}")
    low = int(match[1])
    return Versions(low, FOREVER if match[2] else int(match[3]) if match[3] else low)


def read_schema_directory(root: Path) -> list[SchemaFile]:
    """Every schema file below `root`, in a fixed order."""
    return [read_schema_file(path) for path in sorted(root.rglob("*.txt"))]


def read_schema_file(path: Path) -> SchemaFile:
    schema = SchemaFile(path)
    stack: list[tuple[int, Struct]] = []  # (indentation of its fields, the struct)
    known: dict[str, Struct] = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            depth = len(line) - len(line.lstrip(" "))
            if depth == 0:
                known = {}
                stack = _read_heading(schema, words)
                continue
            while stack and stack[-1][0] > depth:
                stack.pop()
            message = schema.messages[-1]
            if words[0] == "struct":
                common = known.setdefault(words[1], Struct(words[1]))
                stack = [(2, message.root), (depth + 2, common)]
                continue
            if not stack or stack[-1][0] != depth:
                raise ValueError(f"unexpected indentation of {depth}")
            made = _read_field(words)
            stack[-1][1].fields.append(made)
            if made.type not in SCALARS:
                made.struct = known.setdefault(made.type, Struct(made.type))
                stack.append((depth + 2, made.struct))
        except (ValueError, IndexError, KeyError) as error:
            raise SchemaError(f"{path.name}:{number}: {error}") from error
    for message in schema.messages:
        _set_reach(message)
    _name_classes(schema)
    return schema


def _read_heading(schema: SchemaFile, words: list[str]) -> list[tuple[int, Struct]]:
    if words[0] == "api":
        schema.api_key, schema.api_name = int(words[1]), words[2]
        return []
    if words[0] == "listeners":
        schema.listeners = tuple(words[1:])
        return []
    if words[0] == "unstable":
        schema.unstable = int(words[1])
        return []
    kind = words[0]
    if kind not in MESSAGE_KINDS:
        raise ValueError(f"unknown heading {kind!r}")
    key = None
    if words[1].isdigit():
        key = int(words.pop(1))
    if words[2] != "versions" or words[4] != "flexible":
        raise ValueError("a heading reads: kind [key] Name versions RANGE flexible RANGE")
    flexible = parse_versions(words[5])
    root = Struct(words[1])
    schema.messages.append(
        Message(
            kind=kind,
            name=words[1],
            key=key,
            versions=parse_versions(words[3]),
            first_flexible=None if flexible.empty else flexible.low,
            root=root,
            structs=[],
        )
    )
    return [(2, root)]


def _read_field(words: list[str]) -> Field:
    type_name = words[1]
    made = Field(
        name=words[0],
        type=type_name.removeprefix("[]"),
        array=type_name.startswith("[]"),
        versions=parse_versions(words[2]),
    )
    rest = words[3:]
    while rest:
        word = rest.pop(0)
        if word == "nullable":
            made.nullable = parse_versions(rest.pop(0))
        elif word == "tag":
            made.tag = int(rest.pop(0))
        elif word == "never-compact":
            made.never_compact = True
        elif word == "ignorable":
            made.ignorable = True
        elif word == "secret":
            made.secret = True
        elif word == "=":
            made.default = rest.pop(0)
        else:
            raise ValueError(f"unknown word {word!r}")
    return made


def _set_reach(message: Message) -> None:
    """Give each struct the versions in which it can occur, and order them innermost first."""
    ordered: list[Struct] = []

    def visit(struct: Struct, reach: Versions) -> None:
        struct.reach = (
            reach
            if struct.reach.empty
            else Versions(min(struct.reach.low, reach.low), max(struct.reach.high, reach.high))
        )
        for each in struct.fields:
            if each.struct is not None:
                visit(each.struct, each.versions.within(reach))
        if struct is not message.root and struct not in ordered:
            ordered.append(struct)

    visit(message.root, message.versions)
    message.structs = ordered


def _name_classes(schema: SchemaFile) -> None:
    """A struct keeps Kafka's name, with its message's in front where two messages of one file use it."""
    taken: dict[str, int] = {}
    for message in schema.messages:
        for struct in (message.root, *message.structs):
            taken[struct.name] = taken.get(struct.name, 0) + 1
    for message in schema.messages:
        message.root.class_name = message.root.name
        for struct in message.structs:
            struct.class_name = struct.name if taken[struct.name] == 1 else message.name + struct.name
