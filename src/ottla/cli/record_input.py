"""How `ottla produce` reads records: one a line, as plain text with an optional key and headers, or as JSON.

Lines are bytes and stay bytes: a value goes into the topic as it was typed, without its newline. A line that
cannot be understood is an `InputError` with its number, so that the rest of the file can be repaired.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import select
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ottla.client.records import OutgoingRecord
from ottla.model.limits import REQUEST_BYTES_MAX

READ_BYTES = 256 * 1024


class InputError(ValueError):
    """A line that is not a record."""


LineParser = Callable[[bytes, int], OutgoingRecord]
"""From a line (without its newline) and its number, counted from 1, to a record."""


@dataclass(frozen=True, slots=True)
class TextLines:
    """Plain lines: `[headers TAB] [key SEPARATOR] value`, the shape that Kafka's console producer reads."""

    key_separator: bytes | None = None
    headers_delimiter: bytes | None = None
    """What ends the headers at the start of a line; None when lines have none."""
    headers_separator: bytes = b","
    header_key_separator: bytes = b":"
    null_marker: bytes | None = None
    key: bytes | None = None
    """The key of every record, where lines carry none."""
    headers: tuple[tuple[str, bytes | None], ...] = ()
    """Headers that every record gets, before its own."""
    partition: int | None = None
    timestamp_ms: int | None = None
    lenient: bool = False
    """A line without the separator is a value without a key, instead of an error."""

    def __call__(self, line: bytes, number: int) -> OutgoingRecord:
        headers = self.headers
        rest = line
        if self.headers_delimiter is not None:
            head, found, rest = rest.partition(self.headers_delimiter)
            if not found:
                if not self.lenient:
                    raise InputError(
                        f"line {number} has no {_shown(self.headers_delimiter)} after its headers"
                    )
                head, rest = b"", line
            headers += self._headers(head, number)
        key = self.key
        if self.key_separator is not None:
            head, found, tail = rest.partition(self.key_separator)
            if found:
                key, rest = head, tail
            elif not self.lenient:
                raise InputError(f"line {number} has no {_shown(self.key_separator)} between key and value")
        value: bytes | None = rest
        if self.null_marker is not None:
            key = None if key == self.null_marker else key
            value = None if value == self.null_marker else value
        return OutgoingRecord(value, key, headers, self.partition, self.timestamp_ms)

    def _headers(self, text: bytes, number: int) -> tuple[tuple[str, bytes | None], ...]:
        if text == b"" or text == self.null_marker:
            return ()
        found = []
        for item in text.split(self.headers_separator):
            name, separator, content = item.partition(self.header_key_separator)
            if not separator and not self.lenient:
                raise InputError(
                    f"line {number} has no {_shown(self.header_key_separator)} in its header {_shown(item)}"
                )
            is_null = not separator or content == self.null_marker
            found.append((_header_name(name, number), None if is_null else content))
        return tuple(found)


def _header_name(name: bytes, number: int) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"line {number} has a header whose name is not UTF-8") from None


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Lines of JSON objects with `value`, and optionally `key`, `headers`, `partition` and `timestamp`.

    Bytes are text, null, or `{"base64": "..."}`; what `ottla consume --json` writes is read back, its
    `partition`, `offset` and `topic` aside unless partitions are to be kept.
    """

    keep_partition: bool = False
    keep_timestamp: bool = True
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None

    def __call__(self, line: bytes, number: int) -> OutgoingRecord:
        try:
            item = json.loads(line)
        except (UnicodeDecodeError, ValueError) as error:
            raise InputError(f"line {number} is not JSON: {error}") from None
        if not isinstance(item, dict):
            raise InputError(f"line {number} is not a JSON object")
        if "value" not in item:
            raise InputError(f'line {number} has no "value" (null makes a tombstone)')
        partition = self.partition
        if partition is None and self.keep_partition:
            partition = _integer(item, "partition", number)
        timestamp_ms = _integer(item, "timestamp", number) if self.keep_timestamp else None
        return OutgoingRecord(
            _bytes_from_json(item["value"], "value", number),
            _bytes_from_json(item.get("key"), "key", number),
            self.headers + _headers_from_json(item.get("headers"), number),
            partition,
            timestamp_ms if timestamp_ms is None or timestamp_ms >= 0 else None,
        )


def _integer(item: dict[str, Any], name: str, number: int) -> int | None:
    value = item.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool):
        raise InputError(f'line {number}: "{name}" is not an integer')
    return value


def _bytes_from_json(value: Any, name: str, number: int) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, dict) and set(value) == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except binascii.Error:
            raise InputError(f'line {number}: "{name}" is not base64') from None
    if name == "value":  # any other JSON is an event by itself
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    raise InputError(f'line {number}: "{name}" is neither text, null, nor {{"base64": ...}}')


def _headers_from_json(value: Any, number: int) -> tuple[tuple[str, bytes | None], ...]:
    if value is None:
        return ()
    pairs = list(value.items()) if isinstance(value, dict) else value
    if not isinstance(pairs, list):
        raise InputError(f'line {number}: "headers" is neither an object nor a list of pairs')
    found = []
    for pair in pairs:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise InputError(f"line {number}: a header is not a pair of name and value")
        found.append((pair[0], _bytes_from_json(pair[1], f"header {pair[0]}", number)))
    return tuple(found)


def _shown(data: bytes) -> str:
    return repr(data.decode("utf-8", "backslashreplace"))


class LineReader:
    """Reads lines from a descriptor in large pieces. A file, a pipe and a terminal are all the same to it.

    `wait` and `read` are apart because a signal may interrupt a wait and lose nothing, but not a read. A last
    line without a newline counts.
    """

    def __init__(self, fd: int, *, strip_cr: bool = False, line_bytes_max: int = REQUEST_BYTES_MAX) -> None:
        self._fd = fd
        self._strip_cr = strip_cr
        self._line_bytes_max = line_bytes_max
        self._pieces: list[bytes] = []  # the beginning of a line whose end has not come
        self._pieces_bytes = 0
        self._ended = False
        self.bytes_read = 0

    def wait(self, wait_ms: float | None, wakeup_fd: int | None = None) -> bool:
        """Whether there is something to read, or the end, within the time (None: however long it takes).
        Comes back early when `wakeup_fd` has something to read.
        """
        if self._ended:
            return True
        watched = [self._fd] if wakeup_fd is None else [self._fd, wakeup_fd]
        ready = select.select(watched, [], [], None if wait_ms is None else wait_ms / 1000)[0]
        return self._fd in ready

    def read(self) -> list[bytes] | None:
        """The whole lines that one read brought, perhaps none; None at the end."""
        if self._ended:
            return None
        chunk = os.read(self._fd, READ_BYTES)
        self.bytes_read += len(chunk)
        if not chunk:
            self._ended = True
            rest = b"".join(self._pieces)
            self._pieces = []
            return self._cleaned([rest]) if rest else None
        lines = chunk.split(b"\n")
        rest = lines.pop()
        if lines and self._pieces:
            lines[0] = b"".join(self._pieces) + lines[0]
            self._pieces = []
            self._pieces_bytes = 0
        if rest:
            self._pieces.append(rest)
            self._pieces_bytes += len(rest)
            if self._pieces_bytes > self._line_bytes_max:
                raise InputError(f"a line is longer than {self._line_bytes_max} bytes")
        return self._cleaned(lines)

    def _cleaned(self, lines: list[bytes]) -> list[bytes]:
        if self._strip_cr:
            return [line[:-1] if line.endswith(b"\r") else line for line in lines]
        return lines
