"""Java's `.properties` text: what `server.properties`, `meta.properties` and client files are written in.

A line is a key and a value, separated by `=`, `:` or blanks; `#` or `!` begins a comment line; a backslash at
the end continues the line and drops the blanks that begin the next; `\\t \\n \\r \\f \\uXXXX` are escapes, a
backslash before any other character is that character. A key that appears twice has its last value.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_LINE_END = re.compile(r"\r\n|\r|\n")  # str.splitlines would also split at characters that Java keeps
_UNICODE = re.compile(r"[0-9a-fA-F]{4}")


class PropertiesError(ValueError):
    """The text is not in `.properties` form; the message names the line."""


def decode_properties(data: bytes) -> dict[str, str]:
    """The pairs of a file. Java reads files as ISO-8859-1; a file that is UTF-8 is taken as UTF-8 here."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("iso-8859-1")
    return parse_properties(text)


def parse_properties(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for number, line in _logical_lines(text):
        key, value = _split(line)
        pairs[_unescape(key, number)] = _unescape(value, number)
    return pairs


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """The lines with continuations joined, without blank lines and comments, and where each begins."""
    lines: list[tuple[int, str]] = []
    pending: str | None = None
    pending_number = 0
    for number, line in enumerate(_LINE_END.split(text), 1):
        line = line.lstrip(_BLANKS)
        if pending is None:
            if not line or line[0] in "#!":
                continue
            pending, pending_number = "", number
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            pending += line[:-1]
        else:
            lines.append((pending_number, pending + line))
            pending = None
    if pending is not None:
        lines.append((pending_number, pending))
    return lines


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line):
        char = line[position]
        if char == "\\":
            position += 2
            continue
        if char in "=:" or char in _BLANKS:
            break
        position += 1
    key = line[:position]
    rest = line[position:].lstrip(_BLANKS)
    if rest and rest[0] in "=:":
        rest = rest[1:].lstrip(_BLANKS)
    return key, rest


def _unescape(text: str, line_number: int) -> str:
    if "\\" not in text:
        return text
    out: list[str] = []
    position = 0
    while position < len(text):
        char = text[position]
        position += 1
        if char != "\\":
            out.append(char)
            continue
        if position == len(text):
            break
        char = text[position]
        position += 1
        if char == "u":
            digits = text[position : position + 4]
            if not _UNICODE.fullmatch(digits):
                raise PropertiesError(
                    f"line {line_number}: \\u is followed by {digits!r}, not by 4 hex digits"
                )
            out.append(chr(int(digits, 16)))
            position += 4
        else:
            out.append(_ESCAPES.get(char, char))
    # Java's characters are UTF-16 units, so one beyond the basic plane arrives as two escapes.
    return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def format_properties(pairs: Mapping[str, str], comment: str = "") -> str:
    """Text that `parse_properties` and Java both read back to the same pairs, one line each, in order."""
    lines = [f"#{line}" for line in comment.splitlines()]
    lines += [f"{_escape(key, True)}={_escape(value, False)}" for key, value in pairs.items()]
    return "".join(line + "\n" for line in lines)


def _escape(text: str, is_key: bool) -> str:
    out: list[str] = []
    for position, char in enumerate(text):
        if char in "\\=:#!":
            out.append("\\" + char)
        elif char == " ":
            out.append("\\ " if is_key or position == 0 else " ")
        elif char in "\t\n\r\f":
            out.append({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f"}[char])
        elif " " <= char <= "~":
            out.append(char)
        else:
            units = char.encode("utf-16-be", "surrogatepass")
            out += [f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2)]
    return "".join(out)
