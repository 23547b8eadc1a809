"""The message of the application: a search, how it becomes bytes, and which partition it goes to.

A search is written as one line of four fields, `ID | user | keyword | date`. A bar or a percent sign within a
field is written as %7C or %25, so that a search for "a | b" does not end its field.
"""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import ottla

SEPARATOR = " | "


class Search(NamedTuple):
    id: int
    user: str
    keyword: str
    date: datetime


class KeywordEncoder:
    """What a producer's `value_serializer` may be: an object with a method `serialize`."""

    def serialize(self, search: Search) -> bytes:
        fields = (str(search.id), search.user, search.keyword, search.date.isoformat())
        return SEPARATOR.join(map(_quoted, fields)).encode()


class KeywordDecoder:
    """The way back, for a consumer's `value_deserializer`."""

    def deserialize(self, data: bytes) -> Search:
        number, user, keyword, date = map(_unquoted, data.decode().split(SEPARATOR))
        return Search(int(number), user, keyword, datetime.fromisoformat(date))


def by_category(topic: str, key: str, value: Search, partitions: ottla.Partitions) -> int:
    """All searches of one category of users in one partition: the analysis of a category reads just that.

    Like hash(key) % count, but the same in every process and every language.
    """
    return sum(key.encode()) % partitions.count


def _quoted(text: str) -> str:
    return text.replace("%", "%25").replace("|", "%7C")


def _unquoted(text: str) -> str:
    return text.replace("%7C", "|").replace("%25", "%")
