"""`KStream`: records one after the other, and every step that can follow them.

A method checks what it is given, makes the node (`plan.py`) and returns the stream (or table, or group)
that follows. Functions may be Python callables or expressions (`expressions.py`), which run in the JVM.
What a callable returns is a Python object of unknown type unless `returns=` (or `key_type=`, `value_type=`)
names one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from ottla.streams import ddl
from ottla.streams.branches import BranchedKStream
from ottla.streams.builder import StreamsBuilder, check_topic, returned
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Types
from ottla.streams.functions import checked
from ottla.streams.plan import (
    OBJECT,
    Apply,
    ForEach,
    Function,
    GlobalJoin,
    How,
    Merge,
    Node,
    Process,
    Repartition,
    Sink,
    Step,
    StreamJoin,
    StreamTableJoin,
    ToTable,
)
from ottla.streams.serdes import Serde, SerdeLike
from ottla.streams.shapes import (
    check_key_kinds,
    check_partitions,
    key_converted,
    key_serde_for,
    object_copy,
    value_serde_for,
)
from ottla.streams.steps import (
    check_joiner,
    check_same_builder,
    expression_type,
    filter_step,
    types_of,
    values_step,
)
from ottla.streams.windows import JoinWindows

if TYPE_CHECKING:
    from ottla.streams.kgrouped import KGroupedStream
    from ottla.streams.ktable import GlobalKTable, KTable


class KStream:
    """A stream of records. Not made by hand: `StreamsBuilder.stream` is the beginning."""

    def __init__(self, builder: StreamsBuilder, node: Node) -> None:
        self._builder = builder
        self.node = node

    def __repr__(self) -> str:
        return f"<KStream {self.node.name}: {self.node.key_type}, {self.node.value_type}>"

    def _next(self, node: Node) -> KStream:
        return KStream(self._builder, node)

    # --- record by record ---

    def map(
        self,
        mapper: Function | None = None,
        *,
        key: Expression | None = None,
        value: Expression | None = None,
        key_type: str | None = None,
        value_type: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """A new key and value for each record: a function to (key, value), or one expression for each of
        them.
        """
        parent, types = self.node, types_of(self.node)
        if mapper is None:
            if not isinstance(key, Expression) and not isinstance(value, Expression):
                raise TopologyError(
                    "map takes a function of (key, value), or the expressions key= and value="
                )
            new_key = parent.key_type if key is None else expression_type(key, types, "map(key=...)")
            new_value = (
                parent.value_type if value is None else expression_type(value, types, "map(value=...)")
            )
            windowed = parent.windowed and key is None
        else:
            if key is not None or value is not None or isinstance(mapper, Expression):
                raise TopologyError(
                    "map takes either a function of (key, value), or the expressions key= and value="
                )
            checked(mapper, "(key, value)", "map")
            new_key, new_value, windowed = returned(key_type), returned(value_type), False
        return self._next(
            Apply(
                name=self._builder.name_for("KSTREAM-MAP", name),
                parents=(parent,),
                step=Step.MAP,
                function=mapper,
                key=key,
                value=value,
                key_type=new_key,
                value_type=new_value,
                windowed=windowed,
            )
        )

    def map_values(
        self, mapper: Function | Expression, *, returns: str | None = None, name: str | None = None
    ) -> KStream:
        """A new value: a function of (value) or (key, value), or an expression."""
        step = values_step(self.node, Step.MAP_VALUES, mapper, "map_values", returns)
        return self._next(replace(step, name=self._builder.name_for("KSTREAM-MAPVALUES", name)))

    def flat_map(
        self,
        mapper: Function,
        *,
        key_type: str | None = None,
        value_type: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """Any number of records for each one: a function of (key, value) to an iterable of (key, value)."""
        if isinstance(mapper, Expression):
            raise TopologyError(
                "flat_map takes a function; flat_map_values takes an expression that is an array, too"
            )
        return self._next(
            Apply(
                name=self._builder.name_for("KSTREAM-FLATMAP", name),
                parents=(self.node,),
                step=Step.FLAT_MAP,
                function=checked(mapper, "(key, value)", "flat_map"),
                key_type=returned(key_type),
                value_type=returned(value_type),
            )
        )

    def flat_map_values(
        self, mapper: Function | Expression, *, returns: str | None = None, name: str | None = None
    ) -> KStream:
        """Any number of values for each one: a function to an iterable, or an expression that is an array."""
        step = values_step(self.node, Step.FLAT_MAP_VALUES, mapper, "flat_map_values", returns)
        return self._next(replace(step, name=self._builder.name_for("KSTREAM-FLATMAPVALUES", name)))

    def filter(self, predicate: Function | Expression, *, name: str | None = None) -> KStream:
        """The records for which the predicate of (key, value) holds."""
        return self._filter(Step.FILTER, predicate, name)

    def filter_not(self, predicate: Function | Expression, *, name: str | None = None) -> KStream:
        """The records for which it does not."""
        return self._filter(Step.FILTER_NOT, predicate, name)

    def _filter(self, step: Step, predicate: Function | Expression, name: str | None) -> KStream:
        node = filter_step(self.node, step, predicate)
        return self._next(replace(node, name=self._builder.name_for("KSTREAM-FILTER", name)))

    def select_key(
        self, selector: Function | Expression, *, returns: str | None = None, name: str | None = None
    ) -> KStream:
        """A new key: a function of (key, value), or an expression."""
        return self._select_key(selector, returns, name, "select_key")

    def _select_key(self, selector: Any, returns: str | None, name: str | None, where: str) -> KStream:
        by_expression = isinstance(selector, Expression)
        if by_expression:
            key_type = expression_type(selector, types_of(self.node), where)
        else:
            checked(selector, "(key, value)", where)
            key_type = returned(returns)
        return self._next(
            Apply(
                name=self._builder.name_for("KSTREAM-KEY-SELECT", name),
                parents=(self.node,),
                step=Step.SELECT_KEY,
                function=None if by_expression else selector,
                key=selector if by_expression else None,
                key_type=key_type,
                value_type=self.node.value_type,
            )
        )

    def peek(self, action: Function, *, name: str | None = None) -> KStream:
        """Calls the function of (key, value) for its effect; the records go on unchanged."""
        node = Apply(
            name=self._builder.name_for("KSTREAM-PEEK", name),
            parents=(self.node,),
            step=Step.PEEK,
            function=checked(action, "(key, value)", "peek"),
            key_type=self.node.key_type,
            value_type=self.node.value_type,
            windowed=self.node.windowed,
        )
        return self._next(node)

    def for_each(self, action: Function, *, name: str | None = None) -> None:
        """Calls the function of (key, value) for its effect: an end."""
        self._builder.end(
            ForEach(
                name=self._builder.name_for("KSTREAM-FOREACH", name),
                parents=(self.node,),
                function=checked(action, "(key, value)", "for_each"),
                key_type=self.node.key_type,
                value_type=self.node.value_type,
                windowed=self.node.windowed,
            )
        )

    # --- several streams ---

    def branch(self, *predicates: Function | Expression, name: str | None = None) -> list[KStream]:
        """One stream per predicate: each record goes to the first that holds, or nowhere."""
        if not predicates:
            raise TopologyError("branch needs a predicate at least")
        split = self.split(name=name)
        for predicate in predicates:
            split.branch(predicate)
        return list(split.no_default_branch().values())

    def split(self, *, name: str | None = None) -> BranchedKStream:
        """`stream.split().branch(predicate, "big").default_branch("rest")` is a dict of streams."""
        return BranchedKStream(self._builder, self, name)

    def merge(self, *others: KStream, name: str | None = None) -> KStream:
        """The records of all of them; order is kept within each."""
        streams = (self, *others)
        if len(streams) < 2:
            raise TopologyError("merge needs another stream")
        for stream in others:
            if not isinstance(stream, KStream):
                raise TopologyError(f"merge takes streams, not {stream!r}")
            check_same_builder(self, stream, "merge")
        if len({stream.node.windowed for stream in streams}) == 2:
            raise TopologyError("merge: the keys of one stream are windowed, those of the other are not")
        name = self._builder.name_for("KSTREAM-MERGE", name)
        nodes = [stream.node for stream in streams]
        if len({node.key_type for node in nodes}) > 1 or len({node.value_type for node in nodes}) > 1:
            keys = {node.key_type for node in nodes}
            values = {node.value_type for node in nodes}
            key_type = keys.pop() if len(keys) == 1 else OBJECT
            value_type = values.pop() if len(values) == 1 else OBJECT
            nodes = [
                object_copy(node, f"{name}-{number}", key_type, value_type)
                for number, node in enumerate(nodes)
            ]
        return self._next(
            Merge(
                name=name,
                parents=tuple(nodes),
                key_type=nodes[0].key_type,
                value_type=nodes[0].value_type,
                windowed=self.node.windowed,
            )
        )

    def repartition(
        self,
        partitions: int | None = None,
        *,
        key_serde: SerdeLike | None = None,
        value_serde: SerdeLike | None = None,
        name: str | None = None,
    ) -> KStream:
        """Through an internal topic, of as many partitions as said."""
        if partitions is not None and (not isinstance(partitions, int) or partitions < 1):
            raise TopologyError(f"repartition needs a number of partitions of at least 1, not {partitions!r}")
        key = key_serde_for(self.node, key_serde, "repartition", internal=True)
        value = value_serde_for(self.node, value_serde, "repartition", internal=True)
        return self._repartition(None, partitions, key, value, name, "repartition")

    def through(
        self,
        topic: str,
        *,
        key_serde: SerdeLike | None = None,
        value_serde: SerdeLike | None = None,
        name: str | None = None,
    ) -> KStream:
        """Through a topic of the user's."""
        check_topic(topic)
        key = key_serde_for(self.node, key_serde, "through")
        value = value_serde_for(self.node, value_serde, "through")
        return self._repartition(topic, None, key, value, name, "through")

    def _repartition(
        self,
        topic: str | None,
        partitions: int | None,
        key: Serde,
        value: Serde,
        name: str | None,
        where: str,
    ) -> KStream:
        for serde, which in ((key, "key"), (value, "value")):
            if not serde.reads:
                raise TopologyError(
                    f"{where}: the type of the {which} is not known, and what is written has to be read "
                    "again: give "
                    f"{which}_serde=, or say the type with returns= at the function that makes it"
                )
        return self._next(
            Repartition(
                name=self._builder.name_for(
                    "KSTREAM-REPARTITION" if topic is None else "KSTREAM-THROUGH", name
                ),
                parents=(self.node,),
                topic=topic,
                partitions=partitions,
                key_serde=key,
                value_serde=value,
                key_type=key.type,
                value_type=value.type,
                windowed=self.node.windowed,
            )
        )

    # --- groups ---

    def group_by_key(self) -> KGroupedStream:
        """By the key that the records have."""
        from ottla.streams.kgrouped import KGroupedStream

        return KGroupedStream(self._builder, self.node)

    def group_by(
        self, selector: Function | Expression, *, returns: str | None = None, name: str | None = None
    ) -> KGroupedStream:
        """By a new key: a function of (key, value), or an expression."""
        return self._select_key(selector, returns, name, "group_by").group_by_key()

    # --- joins ---

    def join(
        self,
        other: KStream | KTable | GlobalKTable,
        joiner: Function | Expression,
        windows: JoinWindows | None = None,
        *,
        selector: Function | Expression | None = None,
        returns: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """With another stream (within `windows`), with a table, or with a global table (by `selector`)."""
        return self._join("inner", other, joiner, windows, selector, returns, name)

    def left_join(
        self,
        other: KStream | KTable | GlobalKTable,
        joiner: Function | Expression,
        windows: JoinWindows | None = None,
        *,
        selector: Function | Expression | None = None,
        returns: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """As `join`, and every record of this stream without a partner joins None."""
        return self._join("left", other, joiner, windows, selector, returns, name)

    def outer_join(
        self,
        other: KStream,
        joiner: Function | Expression,
        windows: JoinWindows,
        *,
        returns: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """As `join` of two streams, and every record of either without a partner joins None."""
        if not isinstance(other, KStream):
            raise TopologyError(
                "outer_join of a stream takes another stream: a table's changes alone join nothing"
            )
        return self._join("outer", other, joiner, windows, None, returns, name)

    def _join(
        self,
        how: How,
        other: Any,
        joiner: Any,
        windows: JoinWindows | None,
        selector: Any,
        returns: str | None,
        name: str | None,
    ) -> KStream:
        from ottla.streams.ktable import GlobalKTable, KTable

        where = {"inner": "join", "left": "left_join", "outer": "outer_join"}[how]
        if isinstance(other, GlobalKTable):
            return self._join_global(
                "inner" if how == "inner" else "left", other, joiner, windows, selector, returns, name
            )
        if not isinstance(other, (KStream, KTable)):
            raise TopologyError(f"{where} takes a stream, a table or a global table, not {other!r}")
        check_same_builder(self, other, where)
        if selector is not None:
            raise TopologyError(f"{where}: selector= is for global tables; use select_key before the join")
        of_table = isinstance(other, KTable)
        if of_table and windows is not None:
            raise TopologyError(
                f"{where} of a stream with a table has no windows: the table's value at that time counts"
            )
        if not of_table and not isinstance(windows, JoinWindows):
            raise TopologyError(
                f"{where} of two streams needs windows, such as "
                "JoinWindows.of_time_difference_with_no_grace(5_000)"
            )
        check_key_kinds(self.node, other.node, where)
        check_partitions(self.node, other.node, where)
        kind = {"inner": "JOIN", "left": "LEFTJOIN", "outer": "OUTERJOIN"}[how]
        name = self._builder.name_for(f"KSTREAM-{kind}", name)
        left = key_converted(self.node, other.node, f"{name}-left", where)
        right = other.node if of_table else key_converted(other.node, self.node, f"{name}-right", where)
        types = Types(key=left.key_type, left=left.value_type, right=right.value_type, windowed=left.windowed)
        value_type, with_key = check_joiner(joiner, types, where, returns, key_allowed=True)
        parts: dict[str, Any] = {
            "name": name,
            "parents": (left, right),
            "joiner": joiner,
            "with_key": with_key,
            "key_type": left.key_type,
            "value_type": value_type,
            "windowed": left.windowed,
        }
        if windows is None:
            return self._next(StreamTableJoin(how="inner" if how == "inner" else "left", **parts))
        return self._next(StreamJoin(how=how, windows=windows, **parts))

    def _join_global(
        self,
        how: Literal["inner", "left"],
        other: GlobalKTable,
        joiner: Any,
        windows: JoinWindows | None,
        selector: Any,
        returns: str | None,
        name: str | None,
    ) -> KStream:
        where = "join" if how == "inner" else "left_join"
        check_same_builder(self, other, where)
        if windows is not None:
            raise TopologyError(f"{where} with a global table has no windows")
        if selector is None:
            raise TopologyError(
                f"{where} with a global table needs selector=, a function of (key, value) to the table's "
                "key, "
                f"or an expression"
            )
        if isinstance(selector, Expression):
            of = expression_type(selector, types_of(self.node), f"{where}(selector=...)")
            if other.node.key_type not in (of, OBJECT):
                raise TopologyError(
                    f"{where}: the selector makes a {of}, but the table's keys are {other.node.key_type}"
                )
        else:
            checked(selector, "(key, value)", f"{where}(selector=...)")
        types = Types(
            key=self.node.key_type,
            left=self.node.value_type,
            right=other.node.value_type,
            windowed=self.node.windowed,
        )
        value_type, _ = check_joiner(joiner, types, where, returns, key_allowed=False)
        return self._next(
            GlobalJoin(
                name=self._builder.name_for("KSTREAM-JOIN" if how == "inner" else "KSTREAM-LEFTJOIN", name),
                parents=(self.node, other.node),
                how=how,
                selector=selector,
                joiner=joiner,
                key_type=self.node.key_type,
                value_type=value_type,
                windowed=self.node.windowed,
            )
        )

    # --- other forms, and ends ---

    def to_table(self, *, name: str | None = None) -> KTable:
        """The stream read as a changelog: the newest value of each key counts."""
        from ottla.streams.ktable import KTable

        node = ToTable(
            name=self._builder.name_for("KSTREAM-TOTABLE", name),
            parents=(self.node,),
            key_type=self.node.key_type,
            value_type=self.node.value_type,
            windowed=self.node.windowed,
            table=True,
        )
        return KTable(self._builder, node)

    def to(
        self,
        topic: str | Function,
        *,
        key_serde: SerdeLike | None = None,
        value_serde: SerdeLike | None = None,
        partitioner: Function | None = None,
        name: str | None = None,
    ) -> None:
        """To a topic, or to the one that a function of (key, value) names. Without serdes, those of the
        types.
        """
        if callable(topic):
            checked(topic, "(key, value)", "to")
        else:
            check_topic(topic)
        if partitioner is not None:
            checked(partitioner, "(topic, key, value, partitions)", "partitioner")
        key = key_serde_for(self.node, key_serde, "to")
        value = value_serde_for(self.node, value_serde, "to")
        self._builder.end(
            Sink(
                name=self._builder.name_for("KSTREAM-SINK", name),
                parents=(self.node,),
                topic=topic,
                key_serde=key,
                value_serde=value,
                partitioner=partitioner,
                key_type=self.node.key_type,
                value_type=self.node.value_type,
                windowed=self.node.windowed,
            )
        )

    def process(
        self,
        processor: Callable[[], Any],
        *,
        key_type: str | None = None,
        value_type: str | None = None,
        output_schema: str | None = None,
        name: str | None = None,
    ) -> KStream:
        """Code of the user's with state and timers: a `Processor` class (or a function that makes one), or a
        StatefulProcessor of pyspark's with `output_schema`, of which the columns `key` and `value` go on.
        """
        if output_schema is None:
            checked(processor, "()", "process")
        if self.node.windowed:
            raise TopologyError(
                "process: the keys are windowed; give each record a plain key first, with select_key"
            )
        key, value = returned(key_type), returned(value_type)
        schema = None
        if output_schema is not None:
            schema = ddl.type_of(output_schema)
            columns = ddl.fields(schema)
            if columns is None or not {"key", "value"} <= set(columns):
                raise TopologyError(
                    "process: output_schema needs the columns key and value, as in 'key string, value int'"
                )
            key, value = columns["key"], columns["value"]
        return self._next(
            Process(
                name=self._builder.name_for("KSTREAM-PROCESSOR", name),
                parents=(self.node,),
                processor=processor,
                output_schema=schema,
                key_type=key,
                value_type=value,
            )
        )
