"""Rules for topic names, the same as Kafka's, since names become directory names and metric names."""

from __future__ import annotations

import re

from ottla.model.limits import TOPIC_NAME_CHARS_MAX

_LEGAL = re.compile(r"[a-zA-Z0-9._-]+\Z")


def topic_name_problem(name: str) -> str | None:
    """Says what is wrong with a topic's name, or None when nothing is."""
    if not name:
        return "the topic name is empty"
    if name in (".", ".."):
        return "the topic name cannot be '.' or '..'"
    if len(name) > TOPIC_NAME_CHARS_MAX:
        return f"the topic name has {len(name)} characters, {TOPIC_NAME_CHARS_MAX} are allowed"
    if not _LEGAL.match(name):
        return f"the topic name {name!r} has characters other than ASCII letters and digits, '.', '_' and '-'"
    return None


def colliding_name(name: str) -> str:
    """Names that differ only in '.' and '_' give one metric name, so two such topics may not coexist."""
    return name.replace(".", "_")
