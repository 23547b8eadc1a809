"""Writes docs/client-configuration.md from the tables of the clients' settings.

python tools/generate_client_config_docs.py           writes the file
python tools/generate_client_config_docs.py --check   fails when the file is not what would be written
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from ottla.client.config_tables import ADMIN, CONSUMER, KAFKA_PYTHON, LIBRDKAFKA, PRODUCER, Setting  # noqa: E402
from ottla.client.settings import AdminSettings, ClientSettings, ConsumerSettings, ProducerSettings  # noqa: E402
from ottla.model.config_key import CLASS, LIST, PASSWORD  # noqa: E402
from ottla.wire.compression import GZIP_LEVEL_DEFAULT, LZ4_LEVEL_DEFAULT, ZSTD_LEVEL_DEFAULT  # noqa: E402

TARGET = ROOT / "docs" / "client-configuration.md"

HEAD = """\
# Configuration of the clients

Generated from the tables of settings by `tools/generate_client_config_docs.py`; edit the declarations in
`src/ottla/client/config_tables.py` instead.

```python
import ottla

ottla.Producer(bootstrap_servers="localhost:9092", linger_ms=5, compression_type="zstd")
ottla.Producer(config={"bootstrap.servers": "localhost:9092", "linger.ms": "5", "compression.type": "zstd"})
```

Names, types, defaults and rules are those of Kafka's Java clients. A name may be written with dots or with
underscores, a value as a text or as what it is; a keyword outdoes `config`. Sizes may be written as `64 KiB`.
A name that does not exist is an error that says which one is near, and so is a value that does not fit.

Rows in *italics* are settings of Kafka's that change nothing here; they are checked, so that a configuration
made for Kafka works unchanged. Classes of Java's serializers, partitioners and assignors are understood where
there is the same thing here (`org.apache.kafka.common.serialization.StringSerializer` is `string`); otherwise
give the Python object itself.
"""

# The dataclass has one field for what are four settings in Kafka.
LEVELS = {
    "compression.gzip.level": GZIP_LEVEL_DEFAULT,
    "compression.lz4.level": LZ4_LEVEL_DEFAULT,
    "compression.zstd.level": ZSTD_LEVEL_DEFAULT,
}


def default_text(setting: Setting, kind: type[ClientSettings]) -> str:
    key = setting.key
    if key.name == "bootstrap.servers":
        return "must be given"
    if key.name in LEVELS:
        return f"`{LEVELS[key.name]}`"
    if key.name == "client.id":
        return "made up"
    if key.name == "security.protocol":
        return "`PLAINTEXT`"
    if key.name == "acks":
        return "`all`"
    if setting.field is None:
        text = key.default_text
        return f"`{text}`" if text else "none"
    value = {field.name: field.default for field in fields(kind)}[setting.field]
    if isinstance(value, Enum):
        return f"`{value.name.lower()}`"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return f"`{','.join(value)}`" if value else "none"
    return "none" if value in (None, "") else f"`{value}`"


def type_text(setting: Setting) -> str:
    if setting.key.type is CLASS and setting.objects:
        return "name or object"
    if setting.key.type is LIST and setting.objects:
        return "list of names or objects"
    return "bytes" if setting.size else setting.key.type.name.lower()


def values_text(setting: Setting) -> str:
    return "" if setting.objects or setting.key.type is PASSWORD else setting.key.allowed()


def cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def rows(settings: Mapping[str, Setting], kind: type[ClientSettings]) -> str:
    lines = ["| setting | type | default | values | meaning |", "|---|---|---|---|---|"]
    for name, setting in sorted(settings.items()):
        shown = f"`{name}`" if setting.key.honoured else f"*`{name}`*"
        columns = [
            shown,
            type_text(setting),
            default_text(setting, kind),
            values_text(setting),
            setting.key.doc,
        ]
        lines.append("| " + " | ".join(cell(column) for column in columns) + " |")
    return "\n".join(lines) + "\n"


def document() -> str:
    security = {name: setting for name, setting in ADMIN.items() if setting.security}
    common = {
        name: setting
        for name, setting in PRODUCER.items()
        if name in CONSUMER and name in ADMIN and not setting.security and name != "default.api.timeout.ms"
    }

    def own(table: Mapping[str, Setting]) -> dict[str, Setting]:
        return {name: each for name, each in table.items() if name not in common and name not in security}

    brought = sorted({**LIBRDKAFKA, **KAFKA_PYTHON}.items())
    hints = "\n".join(f"| `{theirs}` | {ours} |" for theirs, ours in brought)
    return "\n".join(
        [
            HEAD,
            "## Every client\n",
            rows(common, ProducerSettings),
            "## Producers\n",
            rows(own(PRODUCER), ProducerSettings),
            "## Consumers and simple consumers\n",
            rows(own(CONSUMER), ConsumerSettings),
            "## Admin clients\n",
            rows(own(ADMIN), AdminSettings),
            "## Security\n",
            "Secrets are never shown, neither in logs nor by `repr`.\n",
            rows(security, AdminSettings),
            "## Coming from librdkafka or kafka-python\n",
            "These names are not accepted; the error names the setting that does the same.\n",
            "| there | here |\n|---|---|",
            hints + "\n",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/client-configuration.md from the tables.")
    parser.add_argument("--check", action="store_true", help="fail when the file is stale; write nothing")
    arguments = parser.parse_args()
    text = document()
    if arguments.check:
        if not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
            print(f"{TARGET.relative_to(ROOT)} is stale: run python tools/generate_client_config_docs.py")
            return 1
        return 0
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
