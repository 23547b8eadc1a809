"""Writes src/ottla/cli/record_fields.py from schema/: how the records of internal topics are shown as JSON.

    python tools/generate_record_fields.py            writes it
    python tools/generate_record_fields.py --check    fails when it is not what schema/ says

The classes in wire/messages/ know how they are encoded, not which of their fields a version has, nor Kafka's
spelling of them. A tool that shows records needs both; nothing else does, so they are kept apart from them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from message_schema import Struct, read_schema_file

REPOSITORY = Path(__file__).resolve().parent.parent
SCHEMA = REPOSITORY / "schema"
OUTPUT = REPOSITORY / "src" / "ottla" / "cli" / "record_fields.py"
SOURCES = (
    "consumer_protocol.txt",
    "records/cluster_metadata.txt",
    "records/consumer_offsets.txt",
    "records/control_records.txt",
    "records/share_group_state.txt",
    "records/transaction_state.txt",
)

LINE_LENGTH = 110

HEAD = '''"""Which fields the records of internal topics have in which version, and Kafka's names for them.

Generated from schema/ by tools/generate_record_fields.py; do not edit.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Shown(NamedTuple):
    attribute: str
    name: str
    first_version: int
    last_version: int
    is_tagged: bool = False
    """Left out where it has its default."""
    is_uuid: bool = False
    """Among fields of bytes: an id, not binary data."""


FIELDS: Final[dict[str, dict[str, tuple[Shown, ...]]]] = {
'''


def text() -> str:
    lines = [HEAD]
    for source in SOURCES:
        schema = read_schema_file(SCHEMA / source)
        lines.append(f'    "{schema.path.stem}": {{\n')
        seen: set[str] = set()
        for message in schema.messages:
            for struct in (message.root, *message.structs):
                if struct.class_name not in seen:
                    seen.add(struct.class_name)
                    lines.append(entry(struct))
        lines.append("    },\n")
    lines.append("}\n")
    return "".join(lines)


def entry(struct: Struct) -> str:
    """The line or lines of one struct, as the formatter would have them."""
    made = rows(struct)
    line = f'        "{struct.class_name}": ({"".join(f"{row}," for row in made)}),\n'
    if len(made) < 2 and len(line.rstrip()) <= LINE_LENGTH:
        return line
    inner = "".join(f"            {row},\n" for row in made)
    return f'        "{struct.class_name}": (\n{inner}        ),\n'


def rows(struct: Struct) -> list[str]:
    made = []
    for field in struct.fields:
        name = field.name[0].lower() + field.name[1:]
        row = f'Shown("{field.attribute}", "{name}", {field.versions.low}, {field.versions.high}'
        if field.tag is not None:
            row += ", is_tagged=True"
        if field.type == "uuid":
            row += ", is_uuid=True"
        made.append(row + ")")
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail where it would change")
    options = parser.parse_args()
    made = text()
    if OUTPUT.exists() and OUTPUT.read_text() == made:
        return 0
    if options.check:
        print(f"{OUTPUT.relative_to(REPOSITORY)} is stale: run python tools/generate_record_fields.py")
        return 1
    OUTPUT.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
