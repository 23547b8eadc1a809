"""Writes docs/configuration.md from the tables of configuration keys.

python tools/generate_config_docs.py           writes the file
python tools/generate_config_docs.py --check   fails when the file is not what would be written
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from ottla.model.config import BROKER_KEYS, GROUP_KEYS, TOPIC_KEYS  # noqa: E402
from ottla.model.config_key import LIST, PASSWORD, ConfigKey  # noqa: E402

TARGET = ROOT / "docs" / "configuration.md"
LONG_MAX = 2**63 - 1
DOUBLE_MAX = 1.7976931348623157e308

HEAD = """\
# Configuration

Generated from the table of keys by `tools/generate_config_docs.py`; edit the declarations in
`src/ottla/model/config_keys_*.py` instead.

Names, types, defaults and bounds are Kafka's. A key that a file has and that is not in these tables is a
warning with the nearest known name; a bad value is an error. **Bold** keys have an effect in this version;
the others are accepted, checked and shown, so that a file made for Kafka works.

A value comes from the first of these places that has one: the topic's own configs, the dynamic configs of
this broker, the dynamic configs of all brokers, `server.properties`, the default. "Changes" says what a
running broker takes: `read-only` needs a restart, `per-broker` can be set for one broker, `cluster-wide` also
for all at once.
"""


def default_text(key: ConfigKey) -> str:
    if key.default is None:
        return "none"
    if key.default == LONG_MAX or key.default == DOUBLE_MAX:
        return "no limit"
    if key.type is LIST and not key.default:
        return "empty"
    if key.type is PASSWORD:
        return "none"
    text = key.default_text
    return f"`{text}`" if text else "empty"


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def table(keys: Iterable[ConfigKey], *, broker: bool) -> str:
    last = "changes" if broker else "else from"
    lines = [f"| key | type | default | values | {last} | meaning |", "|---|---|---|---|---|---|"]
    for key in sorted(keys, key=lambda each: each.name):
        if key.internal:
            continue
        name = f"**`{key.name}`**" if key.honoured else f"`{key.name}`"
        place = key.dynamic if broker else ", ".join(f"`{each}`" for each in key.synonyms) or "the default"
        columns = [name, key.type.name.lower(), default_text(key), key.allowed(), place, key.doc]
        lines.append("| " + " | ".join(cell(column) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def document() -> str:
    return "\n".join(
        [
            HEAD,
            "## Topics\n",
            table(TOPIC_KEYS.values(), broker=False),
            "## Brokers and controllers\n",
            table(BROKER_KEYS.values(), broker=True),
            "## Groups\n",
            table(GROUP_KEYS.values(), broker=False),
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/configuration.md from the table of keys.")
    parser.add_argument("--check", action="store_true", help="fail when the file is stale; write nothing")
    arguments = parser.parse_args()
    text = document()
    if arguments.check:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.relative_to(ROOT)} is stale: run python tools/generate_config_docs.py")
            return 1
        return 0
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
