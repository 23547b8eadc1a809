"""Writes src/ottla/wire/messages/ from schema/: one module per schema file, and the index of all APIs.

    python tools/generate_messages.py            writes what changed
    python tools/generate_messages.py --check    fails when anything written is not what schema/ says

For each struct the generator emits a plain class with slots and straight-line `encode` and decode code.
Version conditions that hold in every version a struct can occur in are dropped; neighbouring fixed-size
fields under the same condition become one `struct` call; lengths are read in line. Nothing in the output
depends on time, place or dict order, so that `--check` can compare bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from message_schema import (
    FIXED_BYTES,
    FIXED_FORMATS,
    INTEGERS,
    Field,
    Message,
    SchemaFile,
    Struct,
    Versions,
    read_schema_directory,
    snake_case,
)

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMA = REPOSITORY / "schema"
OUTPUT = REPOSITORY / "src" / "ottla" / "wire" / "messages"

PYTHON_TYPES = {
    **dict.fromkeys(INTEGERS, "int"),
    "bool": "bool",
    "float64": "float",
    "uuid": "bytes",
    "string": "str",
    "bytes": "bytes",
    "records": "Records",
}


class Writer:
    """Lines of Python under construction, with the current indentation."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 0

    def __call__(self, line: str = "") -> None:
        self.lines.append("    " * self.depth + line if line else "")

    def indent(self) -> None:
        self.depth += 1

    def dedent(self) -> None:
        self.depth -= 1


def condition(versions: Versions, reach: Versions) -> str | None:
    """The test for `versions` among those of `reach`: '' where it always holds, None where it never does."""
    shared = versions.within(reach)
    if shared.empty:
        return None
    tests = []
    if shared.low > reach.low:
        tests.append(f"version >= {shared.low}")
    if shared.high < reach.high:
        tests.append(f"version <= {shared.high}")
    return " and ".join(tests)


def negation(versions: Versions, reach: Versions) -> str:
    """The test for the versions of `reach` outside `versions`; '' where all are."""
    shared = versions.within(reach)
    if shared.empty:
        return ""
    tests = []
    if shared.low > reach.low:
        tests.append(f"version < {shared.low}")
    if shared.high < reach.high:
        tests.append(f"version > {shared.high}")
    return " or ".join(tests)


def least_bytes(struct: Struct, first_flexible: int | None, version: int) -> int:
    """The smallest encoding of a struct in one version."""
    flexible = first_flexible is not None and version >= first_flexible
    size = 1 if flexible else 0
    for field in struct.fields:
        if field.tag is None and version in field.versions:
            size += least_field_bytes(field, first_flexible, version)
    return size


def least_field_bytes(field: Field, first_flexible: int | None, version: int) -> int:
    flexible = first_flexible is not None and version >= first_flexible and not field.never_compact
    if field.array:
        return 1 if flexible else 4
    if field.type in FIXED_BYTES:
        return FIXED_BYTES[field.type]
    if field.type == "string":
        return 1 if flexible else 2
    if field.struct is None:
        return 1 if flexible else 4
    if version in field.nullable:
        return 1
    return least_bytes(field.struct, first_flexible, version)


class ModuleGenerator:
    """Generates one module."""

    def __init__(self, schema: SchemaFile) -> None:
        self.schema = schema
        self.formats: set[str] = set()
        self.names: set[str] = set()  # what is imported from primitives
        self.message: Message = schema.messages[0]
        self.struct: Struct = self.message.root
        self.with_default_test = {
            id(field.struct)
            for message in schema.messages
            for struct in (message.root, *message.structs)
            for field in struct.fields
            if field.struct is not None and not field.array and field.default is None
        }
        self.w = Writer()

    def use(self, name: str) -> str:
        self.names.add(name)
        return name

    def pack(self, format: str) -> str:
        self.formats.add(format)
        return "_pack_" + _format_name(format)

    def unpack(self, format: str) -> str:
        self.formats.add(format)
        return "_unpack_" + _format_name(format)

    # ---- facts about fields ----

    def label(self, field: Field) -> str:
        return f"{self.struct.class_name}.{field.attribute}"

    def flexibility(self, field: Field | None = None) -> str:
        """'always', 'never', or 'sometimes' over the versions the current struct (or field) occurs in."""
        first = self.message.first_flexible
        reach = self.struct.reach if field is None else field.versions.within(self.struct.reach)
        if first is None or first > reach.high or (field is not None and field.never_compact):
            return "never"
        return "always" if first <= reach.low else "sometimes"

    @staticmethod
    def item_type(field: Field) -> str:
        return field.struct.class_name if field.struct is not None else PYTHON_TYPES[field.type]

    def annotation(self, field: Field) -> str:
        inner = self.item_type(field)
        if inner == "Records":
            return self.use("Records")
        base = f"list[{inner}]" if field.array else inner
        return base if field.nullable.empty else f"{base} | None"

    @staticmethod
    def default(field: Field) -> str:
        """The default as an expression; for lists and structs one that makes a fresh object."""
        if field.default == "null":
            return "None"
        if field.array:
            return "[]"
        if field.struct is not None:
            return f"{field.struct.class_name}()"
        if field.type == "records":
            return "None"
        if field.type == "string":
            return f'"{field.default or ""}"'
        if field.type == "bytes":
            return 'b""'
        if field.type == "uuid":
            return "ZERO_UUID"
        if field.type == "bool":
            return "True" if field.default == "true" else "False"
        if field.type == "float64":
            return repr(float(field.default or "0"))
        return str(int(field.default or "0"))

    def differs(self, field: Field) -> str:
        """The test for a value that is not the default."""
        value = f"self.{field.attribute}"
        default = self.default(field)
        if default == "None":
            return f"{value} is not None"
        if field.array or default.endswith("()"):
            test = value if field.array else f"not {value}._is_default()"
            return test if field.nullable.empty else f"{value} is None or {test}"
        if field.type == "bool":
            return f"not {value}" if default == "True" else value
        if default == "ZERO_UUID":
            self.use("ZERO_UUID")
        return f"{value} != {default}"

    # ---- classes ----

    def generate(self) -> str:
        for message in self.schema.messages:
            self.message = message
            for struct in message.structs:
                self.struct = struct
                self.write_class()
            self.struct = message.root
            self.write_class()
        self.write_tables()
        return self.head() + "\n".join(self.w.lines).rstrip() + "\n"

    def head(self) -> str:
        source = self.schema.path.relative_to(SCHEMA).as_posix()
        head = Writer()
        title = self.schema.api_name or self.schema.path.stem
        head(f'"""{title}. Generated from schema/{source} by tools/generate_messages.py; do not edit."""')
        head()
        head("from __future__ import annotations")
        head()
        if self.formats:
            head("from struct import Struct")
        if "_pack_n" in self.names or "_unpack_n" in self.names:
            names = []
            if "_pack_n" in self.names:
                names.append("pack as _pack_n")
            if "_unpack_n" in self.names:
                names.append("unpack_from as _unpack_n")
            head(f"from struct import {', '.join(names)}")
        head("from typing import Any, ClassVar, Final")
        head()
        head("from ottla.wire.primitives import (")
        for name in sorted(name for name in self.names if not name.startswith("_")):
            head(f"    {name},")
        head(")")
        head()
        if "_EMPTY" in self.names:
            head("_EMPTY: Final[list[Any]] = []")
        for format in sorted(self.formats):
            name = _format_name(format)
            head(f'_pack_{name} = Struct(">{format}").pack')
            head(f'_unpack_{name} = Struct(">{format}").unpack_from')
        head()
        head()
        return "\n".join(head.lines) + "\n"

    def write_class(self) -> None:
        w, struct, message = self.w, self.struct, self.message
        is_message = struct is message.root
        w(f"class {struct.class_name}:")
        w.indent()
        w(f'"""{self.describe()}"""')
        w()
        slots = ", ".join(f'"{field.attribute}"' for field in struct.fields)
        w(f"__slots__ = ({slots}{',' if len(struct.fields) == 1 else ''})")
        w()
        if is_message:
            if self.schema.api_key is not None:
                w(f"API_KEY: ClassVar[int] = {self.schema.api_key}")
            elif message.key is not None:
                w(f"RECORD_TYPE: ClassVar[int] = {message.key}")
            w(f"MIN_VERSION: ClassVar[int] = {message.versions.low}")
            w(f"MAX_VERSION: ClassVar[int] = {message.versions.high}")
            first = message.first_flexible
            w(f"FIRST_FLEXIBLE_VERSION: ClassVar[int] = {32767 if first is None else first}")
            w()
        for field in struct.fields:
            w(f"{field.attribute}: {self.annotation(field)}")
        if struct.fields:
            w()
        self.write_init()
        self.write_eq_and_repr()
        if id(struct) in self.with_default_test:
            self.write_default_test()
        self.write_encode(is_message)
        if is_message:
            self.write_entry_point()
            w()
        w.dedent()
        w()
        self.write_reader()

    def describe(self) -> str:
        message = self.message
        if self.struct is not message.root:
            return f"Part of {message.name}."
        versions = message.versions
        text = f"Versions {versions.low} to {versions.high}"
        if versions.low == versions.high:
            text = f"Version {versions.low}"
        if self.flexibility() == "sometimes":
            text += f", flexible from {message.first_flexible}"
        return text + "."

    def write_init(self) -> None:
        w, fields = self.w, self.struct.fields
        if not fields:
            w("def __init__(self) -> None:")
            w("    pass")
            w()
            return
        w("def __init__(")
        w("    self,")
        w("    *,")
        for field in fields:
            default = self.default(field)
            annotation = self.annotation(field)
            if default == "[]":
                default = self.use("_EMPTY")
            elif default.endswith("()"):
                # A nullable struct takes None at its word, so its absence needs another mark.
                if field.nullable.empty:
                    default, annotation = "None", f"{annotation} | None"
                else:
                    default, annotation = "...", "Any"
            elif default == "ZERO_UUID":
                self.use("ZERO_UUID")
            w(f"    {field.attribute}: {annotation} = {default},")
        w(") -> None:")
        w.indent()
        for field in fields:
            name = field.attribute
            default = self.default(field)
            if default == "[]":
                w(f"self.{name} = [] if {name} is _EMPTY else {name}")
            elif default.endswith("()"):
                mark = "None" if field.nullable.empty else "..."
                w(f"self.{name} = {default} if {name} is {mark} else {name}")
            else:
                w(f"self.{name} = {name}")
        w.dedent()
        w()

    def write_eq_and_repr(self) -> None:
        w, struct = self.w, self.struct
        w("def __eq__(self, other: object) -> bool:")
        w.indent()
        w(f"if not isinstance(other, {struct.class_name}):")
        w("    return NotImplemented")
        if struct.fields:
            w("return (")
            for number, field in enumerate(struct.fields):
                name = field.attribute
                w(f"    {'and ' if number else ''}self.{name} == other.{name}")
            w(")")
        else:
            w("return True")
        w.dedent()
        w()
        w("def __repr__(self) -> str:")
        shown = []
        for field in struct.fields:
            if field.secret:
                shown.append(f"{field.attribute}=<hidden>")
            elif field.type == "records":
                shown.append(f"{field.attribute}={{{self.use('size_of')}(self.{field.attribute})}}")
            else:
                shown.append(f"{field.attribute}={{self.{field.attribute}!r}}")
        prefix = "f" if any("{" in each for each in shown) else ""
        w(f'    return {prefix}"{struct.class_name}({", ".join(shown)})"')
        w()

    def write_default_test(self) -> None:
        w, fields = self.w, self.struct.fields
        w("def _is_default(self) -> bool:")
        tests = " or ".join(f"({self.differs(field)})" for field in fields)
        w(f"    return not ({tests})" if tests else "    return True")
        w()

    def write_entry_point(self) -> None:
        w, name, versions = self.w, self.struct.class_name, self.message.versions
        w("@staticmethod")
        w(f"def decode(buf: {self.use('Buffer')}, pos: int, end: int, version: int) -> tuple[{name}, int]:")
        w.indent()
        w('"""The message in buf[pos:end] and the position after it; raises DecodeError."""')
        w(f"if version < {versions.low} or version > {versions.high}:")
        w(f'    raise {self.use("decode_failed")}("{name}", version, "no such version")')
        w("if pos < 0 or end > len(buf):")
        w(f'    raise decode_failed("{name}", version, "the range lies outside the buffer")')
        w("view = buf if isinstance(buf, memoryview) else memoryview(buf)")
        w("try:")
        w(f"    message, pos = _read_{name}(view, pos, end, version)")
        w(f"except {self.use('DECODE_FAILURES')} as error:")
        w(f'    raise decode_failed("{name}", version, error) from error')
        w("if pos > end:")
        w(f'    raise decode_failed("{name}", version, "truncated")')
        w("return message, pos")
        w.dedent()

    # ---- encoding ----

    def write_encode(self, is_message: bool) -> None:
        w, struct = self.w, self.struct
        w(f"def encode(self, out: {self.use('Encoder')}, version: int) -> None:")
        w.indent()
        if is_message:
            name, versions = struct.class_name, self.message.versions
            w('"""Append this message to `out`; raises EncodeError."""')
            w(f"if version < {versions.low} or version > {versions.high}:")
            w(f'    raise {self.use("encode_failed")}("{name}", version, "no such version")')
            w("try:")
            w.indent()
        start = len(w.lines)
        self.write_version_checks()
        self.write_encode_body()
        if len(w.lines) == start:
            w("pass")
        if is_message:
            w.dedent()
            w(f"except {self.use('ENCODE_FAILURES')} as error:")
            w(f'    raise encode_failed("{struct.class_name}", version, error) from error')
        w.dedent()
        w()

    def write_version_checks(self) -> None:
        """Refuse what this version would silently lose."""
        w, reach = self.w, self.struct.reach
        groups: dict[str, list[Field]] = {}
        for field in self.struct.fields:
            present = condition(field.versions, reach)
            if present == "" or field.ignorable:
                continue
            groups.setdefault(negation(field.versions, reach), []).append(field)
        for test, fields in groups.items():
            if test:
                w(f"if {test}:")
                w.indent()
            for field in fields:
                w(f"if {self.differs(field)}:")
                w(f'    raise {self.use("field_unsupported")}("{self.label(field)}", version)')
            if test:
                w.dedent()

    def write_encode_body(self) -> None:
        w, struct = self.w, self.struct
        if struct.fields or self.flexibility() != "never":
            w("buf = out.buf")
        if self.flexibility() == "sometimes":
            w(f"flexible = version >= {self.message.first_flexible}")
        plain = [field for field in struct.fields if field.tag is None]
        for test, run in self.runs(plain):
            if test:
                w(f"if {test}:")
                w.indent()
            if run[0].type in FIXED_FORMATS and not run[0].array:
                for field in run:
                    if field.type == "uuid":
                        w(f"if len(self.{field.attribute}) != 16:")
                        w(f'    raise {self.use("uuid_written")}("{self.label(field)}")')
                values = ", ".join(f"self.{field.attribute}" for field in run)
                w(f"buf += {self.pack(''.join(FIXED_FORMATS[field.type] for field in run))}({values})")
            else:
                self.write_value(run[0], "buf", "out")
            if test:
                w.dedent()
        self.write_tags()

    def runs(self, fields: list[Field]) -> list[tuple[str, list[Field]]]:
        """Neighbouring fields under one condition: fixed-size ones together, others alone."""
        made: list[tuple[str, list[Field]]] = []
        last_fixed = False
        for field in fields:
            test = condition(field.versions, self.struct.reach)
            if test is None:
                continue
            fixed = field.type in FIXED_FORMATS and not field.array
            if fixed and last_fixed and made[-1][0] == test:
                made[-1][1].append(field)
            else:
                made.append((test, [field]))
            last_fixed = fixed
        return made

    def write_by_flexibility(self, field: Field, compact: list[str], classic: list[str]) -> None:
        w, kind = self.w, self.flexibility(field)
        if kind == "always":
            for line in compact:
                w(line)
        elif kind == "never":
            for line in classic:
                w(line)
        else:
            w("if flexible:")
            for line in compact:
                w("    " + line)
            w("else:")
            for line in classic:
                w("    " + line)

    def write_value(self, field: Field, buf: str, out: str, *, not_null: bool = False) -> None:
        """One variable-size field (or, within tags, any field) appended to the bytearray named `buf`."""
        w = self.w
        value = f"self.{field.attribute}"
        if field.type in FIXED_FORMATS and not field.array:
            if field.type == "uuid":
                w(f"if len({value}) != 16:")
                w(f'    raise {self.use("uuid_written")}("{self.label(field)}")')
            w(f"{buf} += {self.pack(FIXED_FORMATS[field.type])}({value})")
            return
        nullable = not field.nullable.empty or field.type == "records"
        branches = nullable and not not_null
        if branches:
            local = f"v_{field.attribute}"
            w(f"{local} = {value}")
            value = local
            w(f"if {value} is None:")
            w.indent()
            allowed = field.versions.within(self.struct.reach)
            test = condition(field.nullable, allowed)
            if test is None:
                w(f'raise {self.use("null_written")}("{self.label(field)}", version)')
            else:
                if test:
                    w(f"if {negation(field.nullable, allowed)}:")
                    w(f'    raise {self.use("null_written")}("{self.label(field)}", version)')
                if field.struct is not None and not field.array:
                    # Kafka marks a null struct with int8 -1, except in a tagged field: there, with varint 0.
                    w(f"{buf}.append({255 if field.tag is None else 0})")
                else:
                    width = 2 if field.type == "string" and not field.array else 4
                    null = 'b"' + "\\xff" * width + '"'
                    self.write_by_flexibility(field, [f"{buf}.append(0)"], [f"{buf} += {null}"])
            w.dedent()
            w("else:")
            w.indent()
        if field.array:
            self.write_array(field, value, buf, out)
        elif field.struct is not None:
            if nullable:
                w(f"{buf}.append(1)")
            w(f"{value}.encode({out}, version)")
        elif field.type == "string":
            self.write_string(field, value, buf)
        else:
            w(f"n = len({value})")
            self.write_length(field, buf)
            w(f"{out}.attach({value})" if field.type == "records" else f"{buf} += {value}")
        if branches:
            w.dedent()

    def write_length(self, field: Field, buf: str) -> None:
        self.write_by_flexibility(
            field,
            [
                "if n < 127:",
                f"    {buf}.append(n + 1)",
                "else:",
                f"    {self.use('write_uvarint')}({buf}, n + 1)",
            ],
            [f"{buf} += {self.pack('i')}(n)"],
        )

    def write_string(self, field: Field, value: str, buf: str) -> None:
        w = self.w
        w(f"data = {value}.encode()")
        w("n = len(data)")
        self.write_by_flexibility(
            field,
            [
                "if n < 127:",
                f"    {buf}.append(n + 1)",
                "else:",
                f"    {self.use('write_string_length')}({buf}, n)",
            ],
            [f"{buf} += {self.pack('h')}(n)"],
        )
        w(f"{buf} += data")

    def write_array(self, field: Field, value: str, buf: str, out: str) -> None:
        w = self.w
        w(f"n = len({value})")
        self.write_length(field, buf)
        if field.type in FIXED_FORMATS and field.type != "uuid":
            self.use("_pack_n")
            test = "if n:"
            if field.type == "int32":
                w(f"if n < {self.use('INT32_ARRAY_SHORT')}:")
                w(f"    {buf} += {self.use('INT32_PACK')}[n](*{value})")
                test = "else:"
            w(test)
            w(f'    {buf} += _pack_n(f">{{n}}{FIXED_FORMATS[field.type]}", *{value})')
            return
        item = f"i_{field.attribute}"
        w(f"for {item} in {value}:")
        w.indent()
        if field.struct is not None:
            w(f"{item}.encode({out}, version)")
        elif field.type == "uuid":
            w(f"if len({item}) != 16:")
            w(f'    raise {self.use("uuid_written")}("{self.label(field)}")')
            w(f"{buf} += {item}")
        elif field.type == "string":
            self.write_string(field, item, buf)
        else:
            raise NotImplementedError(f"arrays of {field.type}")
        w.dedent()

    def write_tags(self) -> None:
        w, struct, kind = self.w, self.struct, self.flexibility()
        if kind == "never":
            return
        if kind == "sometimes":
            w("if flexible:")
            w.indent()
        tagged = self.tagged()
        if not tagged:
            w("buf.append(0)")
        else:
            flexible_reach = struct.reach.within(Versions(self.message.first_flexible or 0, 32767))
            tests = {}
            for field in tagged:
                present = condition(field.versions, flexible_reach)
                differs = self.differs(field)
                if present:
                    differs = f"{present} and ({differs})"
                tests[field.attribute] = differs
            w("count = 0")
            for field in tagged:
                w(f"if {tests[field.attribute]}:")
                w("    count += 1")
            w("buf.append(count)")
            w("if count:")
            w.indent()
            for field in tagged:
                w(f"if {tests[field.attribute]}:")
                w.indent()
                if field.type in FIXED_FORMATS and not field.array:
                    w(f'buf += b"\\x{field.tag:02x}\\x{FIXED_BYTES[field.type]:02x}"')
                    self.write_value(field, "buf", "out")
                else:
                    if field.type == "records":
                        raise NotImplementedError("records in a tagged field")
                    w(f"sub = {self.use('Encoder')}()")
                    w("sub_buf = sub.buf")
                    self.write_value(field, "sub_buf", "sub", not_null=self.default(field) == "None")
                    w(f"buf.append({field.tag})")
                    w(f"{self.use('write_uvarint')}(buf, len(sub_buf))")
                    w("buf += sub_buf")
                w.dedent()
            w.dedent()
        if kind == "sometimes":
            w.dedent()

    def tagged(self) -> list[Field]:
        reach = self.struct.reach
        found = [
            field
            for field in self.struct.fields
            if field.tag is not None and condition(field.versions, reach) is not None
        ]
        return sorted(found, key=lambda field: field.tag or 0)

    # ---- decoding ----

    def write_reader(self) -> None:
        w, struct = self.w, self.struct
        name = struct.class_name
        w(f"def _read_{name}(buf: memoryview, pos: int, end: int, version: int) -> tuple[{name}, int]:")
        w.indent()
        if self.flexibility() == "sometimes":
            w(f"flexible = version >= {self.message.first_flexible}")
        w(f"self = {name}.__new__({name})")
        plain = [field for field in struct.fields if field.tag is None]
        for test, run in self.runs(plain):
            if test:
                w(f"if {test}:")
                w.indent()
            if run[0].type in FIXED_FORMATS and not run[0].array:
                self.read_fixed(run)
            else:
                self.read_value(run[0])
            if test:
                w.dedent()
                w("else:")
                for field in run:
                    w(f"    self.{field.attribute} = {self.default(field)}")
                    self.note_default(field)
        for field in struct.fields:
            absent = condition(field.versions, struct.reach) is None
            if field.tag is not None or absent:
                w(f"self.{field.attribute} = {self.default(field)}")
                self.note_default(field)
        self.read_tags()
        w("return self, pos")
        w.dedent()
        w()
        w()

    def note_default(self, field: Field) -> None:
        if self.default(field) == "ZERO_UUID":
            self.use("ZERO_UUID")

    def read_fixed(self, run: list[Field]) -> None:
        w = self.w
        if len(run) == 1 and run[0].type == "bool":
            w(f"self.{run[0].attribute} = buf[pos] != 0")
            w("pos += 1")
            return
        targets = ", ".join(f"self.{field.attribute}" for field in run)
        if len(run) == 1:
            targets = f"({targets},)"
        w(f"{targets} = {self.unpack(''.join(FIXED_FORMATS[field.type] for field in run))}(buf, pos)")
        w(f"pos += {sum(FIXED_BYTES[field.type] for field in run)}")

    def read_value(self, field: Field) -> None:
        """One field at `pos` into its attribute."""
        w = self.w
        target = f"self.{field.attribute}"
        if field.type in FIXED_FORMATS and not field.array:
            self.read_fixed([field])
            return
        allowed = field.versions.within(self.struct.reach)
        null_test = condition(field.nullable, allowed)
        if field.struct is not None and not field.array:
            if null_test is None:
                w(f"{target}, pos = _read_{field.struct.class_name}(buf, pos, end, version)")
                return
            if null_test:
                raise NotImplementedError("a struct that is nullable in some of its versions")
            w("if buf[pos] > 127:" if field.tag is None else "if buf[pos] == 0:")
            w("    pos += 1")
            w(f"    {target} = None")
            w("else:")
            w(f"    {target}, pos = _read_{field.struct.class_name}(buf, pos + 1, end, version)")
            return
        self.read_length(field)
        w("if n < 0:")
        w.indent()
        if null_test is None:
            w(f'raise {self.use("null_read")}("{self.label(field)}")')
        else:
            if null_test:
                w(f"if {negation(field.nullable, allowed)}:")
                w(f'    raise {self.use("null_read")}("{self.label(field)}")')
            w(f"{target} = None")
        w.dedent()
        if null_test is None:
            self.read_sized(field, target)
        else:
            w("else:")
            w.indent()
            self.read_sized(field, target)
            w.dedent()

    def read_length(self, field: Field) -> None:
        string = field.type == "string" and not field.array
        tail = "read_string_length_tail" if string else "read_uvarint_tail"
        if self.flexibility(field) != "never":
            self.use(tail)
        if self.flexibility(field) != "always":
            unpack = self.unpack("h" if string else "i")
        else:
            unpack = ""
        self.write_by_flexibility(
            field,
            [
                "n = buf[pos] - 1",
                "pos += 1",
                "if n > 126:",
                f"    n, pos = {tail}(n + 1, buf, pos)",
                "    n -= 1",
            ],
            [f"(n,) = {unpack}(buf, pos)", f"pos += {2 if string else 4}"],
        )

    def read_sized(self, field: Field, target: str) -> None:
        """What follows a length `n` that is not null."""
        w = self.w
        label = self.label(field)
        if field.array:
            self.read_array(field, target)
            return
        w("stop = pos + n")
        w("if stop > end:")
        w(f'    raise {self.use("length_read")}("{label}", n, end - pos)')
        if field.type == "string":
            w(f'{target} = str(buf[pos:stop], "utf-8")')
        elif field.type == "bytes":
            w(f"{target} = bytes(buf[pos:stop])")
        else:
            w(f"{target} = buf[pos:stop]")
        w("pos = stop")

    def read_array(self, field: Field, target: str) -> None:
        w = self.w
        least = self.least_item_bytes(field)
        w(f"if n * {least} > end - pos:" if least > 1 else "if n > end - pos:")
        w(f'    raise {self.use("length_read")}("{self.label(field)}", n, end - pos)')
        if field.type in FIXED_FORMATS and field.type != "uuid":
            self.use("_unpack_n")
            if field.type == "int32":
                w(f"if n < {self.use('INT32_ARRAY_SHORT')}:")
                w(f"    {target} = list({self.use('INT32_UNPACK')}[n](buf, pos))")
                w("else:")
                w(f'    {target} = list(_unpack_n(f">{{n}}i", buf, pos))')
                w("pos += n * 4")
                return
            w(f'{target} = list(_unpack_n(f">{{n}}{FIXED_FORMATS[field.type]}", buf, pos))')
            w(f"pos += n * {FIXED_BYTES[field.type]}")
            return
        items, item = f"l_{field.attribute}", f"i_{field.attribute}"
        w(f"{items}: list[{self.item_type(field)}] = []")
        w("for _ in range(n):")
        w.indent()
        if field.struct is not None:
            w(f"{item}, pos = _read_{field.struct.class_name}(buf, pos, end, version)")
            w(f"{items}.append({item})")
        elif field.type == "uuid":
            w(f"{items}.append(bytes(buf[pos : pos + 16]))")
            w("pos += 16")
        elif field.type == "string":
            element = Field(field.name, "string", False, field.versions, never_compact=field.never_compact)
            self.read_length(element)
            w("if n < 0:")
            w(f'    raise {self.use("null_read")}("{self.label(field)}")')
            w("stop = pos + n")
            w("if stop > end:")
            w(f'    raise {self.use("length_read")}("{self.label(field)}", n, end - pos)')
            w(f'{items}.append(str(buf[pos:stop], "utf-8"))')
            w("pos = stop")
        else:
            raise NotImplementedError(f"arrays of {field.type}")
        w.dedent()
        w(f"{target} = {items}")

    def least_item_bytes(self, field: Field) -> int:
        """The smallest element: what a claimed count is multiplied with before it is believed."""
        if field.struct is None:
            return FIXED_BYTES.get(field.type, 1)
        within = field.versions.within(self.struct.reach)
        least = min(
            least_bytes(field.struct, self.message.first_flexible, version)
            for version in range(within.low, within.high + 1)
        )
        if least < 1:
            raise ValueError(f"{self.label(field)}: elements of no size would allow any count")
        return least

    def read_tags(self) -> None:
        w, struct, kind = self.w, self.struct, self.flexibility()
        if kind == "never":
            return
        if kind == "sometimes":
            w("if flexible:")
            w.indent()
        tagged = self.tagged()
        w("if buf[pos] == 0:")
        w("    pos += 1")
        w("else:")
        w.indent()
        if not tagged:
            w(f"pos = {self.use('skip_tagged_fields')}(buf, pos, end)")
        else:
            uvarint = self.use("read_uvarint")
            flexible_reach = struct.reach.within(Versions(self.message.first_flexible or 0, 32767))
            w(f"count, pos = {uvarint}(buf, pos)")
            w("if count * 2 > end - pos:")
            w(f'    raise {self.use("length_read")}("{struct.class_name} tags", count, end - pos)')
            w("for _ in range(count):")
            w.indent()
            w(f"tag, pos = {uvarint}(buf, pos)")
            w(f"size, pos = {uvarint}(buf, pos)")
            w("tag_end = pos + size")
            w("if tag_end > end:")
            w(f'    raise length_read("{struct.class_name} tag", size, end - pos)')
            word = "if"
            for field in tagged:
                present = condition(field.versions, flexible_reach)
                w(f"{word} tag == {field.tag}{' and ' + present if present else ''}:")
                w.indent()
                self.read_value(field)
                w.dedent()
                word = "elif"
            w("else:")
            w("    pos = tag_end")
            w("if pos != tag_end:")
            w(
                f"    raise {self.use('DecodeError')}"
                f'(f"{struct.class_name}: tag {{tag}} does not fill its {{size}} bytes")'
            )
            w.dedent()
        w.dedent()
        if kind == "sometimes":
            w.dedent()

    # ---- tables of record types ----

    def write_tables(self) -> None:
        """For logs whose records say their type: the class for each number."""
        for kind, table in (("key", "KEY_TYPES"), ("value", "VALUE_TYPES"), ("record", "RECORD_TYPES")):
            found = [message for message in self.schema.messages if message.kind == kind]
            if found:
                self.w(f"{table}: Final[dict[int, type[Any]]] = {{")
                for message in found:
                    self.w(f"    {message.key}: {message.root.class_name},")
                self.w("}")
                self.w()


def _format_name(format: str) -> str:
    """A struct format as part of an identifier, with runs counted: hii16s -> h2iu."""
    name = format.replace("16s", "u").replace("?", "z")
    made = ""
    while name:
        same = len(name) - len(name.lstrip(name[0]))
        made += (str(same) if same > 1 else "") + name[0]
        name = name[same:]
    # Upper-case letters stay apart from lower-case ones, as in struct itself.
    return made


def generate_index(files: list[SchemaFile]) -> str:
    """The table of APIs, importable without any message module."""
    apis = sorted((file for file in files if file.api_key is not None), key=lambda file: file.api_key or 0)
    w = Writer()
    w('"""Every API, its versions and modules. Generated by tools/generate_messages.py; do not edit.')
    w()
    w("Importing this module imports no message module; `request_class` and `response_class` do, when asked.")
    w('"""')
    w()
    w("from __future__ import annotations")
    w()
    w("from enum import IntEnum")
    w("from importlib import import_module")
    w("from typing import Any, Final")
    w()
    w()
    w("class ApiKey(IntEnum):")
    w('    """Kafka\'s number for each API."""')
    w()
    for file in apis:
        w(f"    {snake_case(file.api_name or '').upper()} = {file.api_key}")
    w()
    w()
    w("class Api:")
    w('    """One API. `unstable_version` is the version whose design is not final, or None."""')
    w()
    w("    __slots__ = (")
    slots = {
        "key": "int",
        "name": "str",
        "module": "str",
        "min_version": "int",
        "max_version": "int",
        "first_flexible_version": "int",
        "listeners": "tuple[str, ...]",
        "unstable_version": "int | None",
    }
    for slot in slots:
        w(f'        "{slot}",')
    w("    )")
    w()
    w("    def __init__(")
    w("        self,")
    for slot, type_name in slots.items():
        w(f"        {slot}: {type_name},")
    w("    ) -> None:")
    for slot in slots:
        w(f"        self.{slot} = {slot}")
    w()
    w("    def __repr__(self) -> str:")
    w('        return f"Api({self.key} {self.name} {self.min_version}-{self.max_version})"')
    w()
    w("    def is_flexible(self, version: int) -> bool:")
    w('        """Whether this version has compact types and tagged fields (and so the newer headers)."""')
    w("        return version >= self.first_flexible_version")
    w()
    w()
    w("APIS: Final[dict[int, Api]] = {")
    w("    api.key: api")
    w("    for api in (")
    for file in apis:
        message = file.messages[0]
        first = 32767 if message.first_flexible is None else message.first_flexible
        w(
            f'        Api({file.api_key}, "{file.api_name}", "{file.path.stem}", {message.versions.low}, '
            f"{message.versions.high}, {first}, {_tuple(file.listeners)}, {file.unstable}),"
        )
    w("    )")
    w("}")
    w()
    w("API_KEYS: Final[dict[str, int]] = {api.name: api.key for api in APIS.values()}")
    w()
    w()
    for word in ("request", "response"):
        cache = f"_{word}_classes"
        w(f"{cache}: Final[dict[int, type[Any]]] = {{}}")
        w()
        w()
        w(f"def {word}_class(api_key: int) -> type[Any]:")
        w(f'    """The class of the API\'s {word}; KeyError for an API that does not exist."""')
        w(f"    found = {cache}.get(api_key)")
        w("    if found is None:")
        w("        api = APIS[api_key]")
        w('        module = import_module(f"ottla.wire.messages.{api.module}")')
        w(f'        found = {cache}[int(api_key)] = getattr(module, f"{{api.name}}{word.title()}")')
        w("    return found")
        w()
        w()
    return "\n".join(w.lines).rstrip() + "\n"


def _tuple(words: tuple[str, ...]) -> str:
    return "(" + ", ".join(f'"{word}"' for word in words) + ("," if len(words) == 1 else "") + ")"


def generate_all() -> dict[str, str]:
    """File name -> text of everything below the output directory."""
    files = read_schema_directory(SCHEMA)
    made = {f"{file.path.stem}.py": ModuleGenerator(file).generate() for file in files}
    if len(made) != len(files):
        raise ValueError("two schema files have the same name")
    made["index.py"] = generate_index(files)
    made["__init__.py"] = (
        '"""Kafka\'s messages, one module per API, and `index`. Generated by tools/generate_messages.py."""\n'
    )
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the message modules from schema/.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail when anything is stale")
    check = parser.parse_args().check
    made = generate_all()
    present = {path.name: path.read_text() for path in OUTPUT.glob("*.py")} if OUTPUT.exists() else {}
    stale = sorted(name for name in made if present.get(name) != made[name])
    surplus = sorted(set(present) - set(made))
    if check:
        for name in stale:
            print(f"stale: {name}", file=sys.stderr)
        for name in surplus:
            print(f"not generated from any schema file: {name}", file=sys.stderr)
        if stale or surplus:
            print("run: python tools/generate_messages.py", file=sys.stderr)
            return 1
        return 0
    OUTPUT.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (OUTPUT / name).write_text(made[name])
    for name in surplus:
        (OUTPUT / name).unlink()
    print(f"{len(made)} modules, {len(stale)} written, {len(surplus)} removed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
