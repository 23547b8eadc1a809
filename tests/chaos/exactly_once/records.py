"""The records of an exactly-once run: what is loaded, and what has to come out.

Records are numbered. A number says everything else: its key, its partitions, its value and the value that the
transformation makes of it, so that the checker needs no memory of what was sent. The keys of one input
partition are spread over all output partitions, so that a transaction touches several of them, and each key
stays within one, so that its order can be judged. `TransformApp.java` does the same transformation.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

INPUT, OUTPUT, GROUP = "input", "output", "transform"
PARTITIONS = 4
KEYS = 400  # a multiple of PARTITIONS squared: every pair of partitions has the same share of the keys

SOURCE, TRANSACTION, DOOMED = "source", "transaction", "doomed"
"""Headers: where the record came from, in which transaction it was written, and that this transaction is to
be aborted: nobody who reads committed records may ever see one of those.
"""


class Seen(NamedTuple):
    """A record as some reader saw it."""

    partition: int
    offset: int
    key: str
    value: str
    source: str = ""
    transaction: str = ""
    doomed: bool = False

    def line(self) -> str:
        flag = "1" if self.doomed else ""
        return (
            f"{self.partition}\t{self.offset}\t{self.key}\t{self.value}"
            f"\t{self.source}\t{self.transaction}\t{flag}\n"
        )

    @classmethod
    def from_line(cls, line: str) -> Seen:
        partition, offset, key, value, source, transaction, flag = line.rstrip("\n").split("\t")
        return cls(int(partition), int(offset), key, value, source, transaction, flag == "1")


def key_of(number: int) -> str:
    return f"key-{number % KEYS}"


def input_partition_of(number: int) -> int:
    return number % KEYS % PARTITIONS


def output_partition_of(key: str) -> int:
    return int(key.removeprefix("key-")) // PARTITIONS % PARTITIONS


def value_of(number: int) -> str:
    return f"record {number} {hashlib.sha256(b'%d' % number).hexdigest()}"


def number_in(value: str) -> int | None:
    """The number that a loaded value or a transformed one claims to be of."""
    word, _, rest = value.partition(" ")
    digits = rest.partition(" ")[0]
    return int(digits) if word.lower() == "record" and digits.isascii() and digits.isdigit() else None


def transform(value: str) -> str:
    return f"{value.upper()} {hashlib.sha256(value.encode()).hexdigest()[:16]}"


def source_of(partition: int, offset: int) -> str:
    return f"{INPUT}/{partition}/{offset}"
