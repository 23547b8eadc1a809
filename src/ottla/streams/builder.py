"""Where a program begins: topics as streams and tables, and the names of everything that follows.

    builder = StreamsBuilder()
    builder.stream("clicks").filter(lambda key, value: value).to("clean-clicks")
    topology = builder.build()

Each call makes a node of `plan.py` and hands back a small object around it (`KStream`, `KTable` ...). Names
are Kafka Streams': what kind of step it is and a number that counts up, KSTREAM-FILTER-0000000001. They
name state and internal topics, so a program that is changed and shall keep its state gives names of its own
(`name=`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from ottla.model.topics import topic_name_problem
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Types
from ottla.streams.functions import arguments_of
from ottla.streams.plan import OBJECT, Function, GlobalSource, Node, Source, Topology
from ottla.streams.serdes import Serde, SerdeLike, WindowedSerde, serde_of

if TYPE_CHECKING:
    from ottla.streams.kstream import KStream
    from ottla.streams.ktable import GlobalKTable, KTable

_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}\Z")


class StreamsBuilder:
    """Collects a program. One builder is one application."""

    def __init__(self) -> None:
        self._ends: list[Node] = []
        self._names: set[str] = set()
        self._index = 0

    def stream(
        self,
        topics: str | Iterable[str] | re.Pattern[str],
        *,
        key_serde: SerdeLike = "string",
        value_serde: SerdeLike = "string",
        offset_reset: Literal["earliest", "latest"] = "earliest",
        timestamp_extractor: Function | Expression | None = None,
        name: str | None = None,
    ) -> KStream:
        """The records of a topic, of several, or of all whose names a pattern (`re.compile(...)`) matches."""
        from ottla.streams.kstream import KStream

        key, value = _reading(key_serde, "key_serde"), _reading(value_serde, "value_serde")
        pattern: str | None = None
        names: tuple[str, ...] = ()
        if isinstance(topics, re.Pattern):
            pattern = topics.pattern
        else:
            names = (topics,) if isinstance(topics, str) else tuple(topics)
            if not names:
                raise TopologyError("stream() needs a topic at least")
            for topic in names:
                check_topic(topic)
        if offset_reset not in ("earliest", "latest"):
            raise TopologyError(f"offset_reset is 'earliest' or 'latest', not {offset_reset!r}")
        _check_extractor(timestamp_extractor, key, value)
        node = Source(
            name=self.name_for("KSTREAM-SOURCE", name),
            topics=names,
            pattern=pattern,
            key_serde=key,
            value_serde=value,
            key_type=key.type,
            value_type=value.type,
            windowed=isinstance(key, WindowedSerde),
            offset_reset=offset_reset,
            timestamp_extractor=timestamp_extractor,
        )
        return KStream(self, node)

    def table(
        self,
        topic: str,
        *,
        key_serde: SerdeLike = "string",
        value_serde: SerdeLike = "string",
        timestamp_extractor: Function | Expression | None = None,
        name: str | None = None,
    ) -> KTable:
        """A topic as a table: the newest value of each key counts, null deletes. Read from its beginning."""
        from ottla.streams.ktable import KTable

        key, value = _reading(key_serde, "key_serde"), _reading(value_serde, "value_serde")
        check_topic(topic)
        _check_extractor(timestamp_extractor, key, value)
        node = Source(
            name=self.name_for("KTABLE-SOURCE", name),
            topics=(topic,),
            key_serde=key,
            value_serde=value,
            key_type=key.type,
            value_type=value.type,
            windowed=isinstance(key, WindowedSerde),
            table=True,
            timestamp_extractor=timestamp_extractor,
        )
        return KTable(self, node)

    def global_table(
        self,
        topic: str,
        *,
        key_serde: SerdeLike = "string",
        value_serde: SerdeLike = "string",
        name: str | None = None,
    ) -> GlobalKTable:
        """A topic as a table that every task has whole: streams join it by any key."""
        from ottla.streams.ktable import GlobalKTable

        key, value = _reading(key_serde, "key_serde"), _reading(value_serde, "value_serde")
        check_topic(topic)
        node = GlobalSource(
            name=self.name_for("GLOBALKTABLE-SOURCE", name),
            topic=topic,
            key_serde=key,
            value_serde=value,
            key_type=key.type,
            value_type=value.type,
            table=True,
        )
        return GlobalKTable(self, node)

    def build(self) -> Topology:
        """The program as a plan: all that ends in a topic or in an effect."""
        if not self._ends:
            raise TopologyError(
                "the program has no end: nothing is written to a topic with to(...) or given to for_each(...)"
            )
        topology = Topology(ends=tuple(self._ends))
        names: set[str] = set()
        for node in topology.nodes():  # also those of nodes that a step makes besides its own
            if node.name in names:
                raise TopologyError(
                    f"there are two steps with the name {node.name!r}: names are unique within a program"
                )
            names.add(node.name)
        return topology

    def describe(self, application_id: str = "<application_id>") -> str:
        """The plan as text: sub-topologies as Kafka prints them, the queries they become, and internal
        topics.
        """
        from ottla.streams.describe import describe

        return describe(self.build(), application_id)

    # --- for the classes of the DSL ---

    def name_for(self, kind: str, name: str | None) -> str:
        """A name for the next node: the user's, or the kind and a number. The number counts in both cases,
        so that giving one step a name does not rename those behind it.
        """
        number = self._index
        self._index += 1
        if name is None:
            name = f"{kind}-{number:010d}"
        elif not is_name(name):
            raise TopologyError(
                f"{name!r} cannot be the name of a step: it becomes part of a topic's name, so letters, "
                "digits, '.', '_' "
                f"and '-' are allowed, 200 at most"
            )
        if name in self._names:
            raise TopologyError(
                f"there are two steps with the name {name!r}: names are unique within a program"
            )
        self._names.add(name)
        return name

    def end(self, node: Node) -> None:
        self._ends.append(node)


def is_name(name: object) -> bool:
    return isinstance(name, str) and _NAME.match(name) is not None


def check_topic(topic: object) -> None:
    if not isinstance(topic, str):
        raise TopologyError(f"a topic is named by a text, not by {topic!r}")
    if (problem := topic_name_problem(topic)) is not None:
        raise TopologyError(f"{topic!r} cannot be the name of a topic: {problem}")


def _reading(serde: SerdeLike, argument: str) -> Serde:
    found = serde_of(serde)
    if not found.reads:
        raise TopologyError(f"{argument}: the serde {found.name!r} can only write")
    return found


def _check_extractor(extractor: Function | Expression | None, key: Serde, value: Serde) -> None:
    if extractor is None:
        return
    if not isinstance(extractor, Expression):
        arguments_of(extractor, {3: "(key, value, record's timestamp in ms)"}, "timestamp_extractor")
        return
    of = extractor.type_in(Types(key=key.type, value=value.type, windowed=isinstance(key, WindowedSerde)))
    if of not in ("timestamp", "bigint", "int"):
        raise TopologyError(f"timestamp_extractor has to be a timestamp or milliseconds (bigint), not {of}")


def returned(returns: str | None, default: str = OBJECT) -> str:
    """The type that a function's results have, as far as the user said."""
    from ottla.streams.ddl import type_of

    return default if returns is None else type_of(returns)
