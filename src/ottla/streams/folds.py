"""How values become an aggregate, one at a time: the four forms of `Aggregation` behind one face.

The test driver and the processors on Spark fold with this very code. A state of None is that of no record:
the first one begins with the initializer's. What is kept may differ from what others see, which is `result`.
"""

from __future__ import annotations

import copy
from typing import Any, Final

from ottla.streams.aggregate_expressions import aggregates_in
from ottla.streams.expressions import Row
from ottla.streams.plan import Aggregation

_IMMUTABLE: Final = (str, bytes, int, float, bool, type(None))


def copied(thing: Any) -> Any:
    """The same as an object of its own, where it could be changed."""
    return thing if isinstance(thing, _IMMUTABLE) else copy.deepcopy(thing)


class Fold:
    """One aggregation.

    copying: whether the user's functions get copies. In Kafka Streams and in Spark a state comes out of a
        store, so a function that changes its argument changes nothing that is stored elsewhere; who keeps
        states in memory, and shares them, asks for the same.
    """

    def __init__(self, aggregation: Aggregation, *, copying: bool = False) -> None:
        self._aggregation = aggregation
        self._copying = copying
        # States are found by the identity of these: they travel to the workers together with the expression.
        self._leaves = () if aggregation.builtin is None else tuple(aggregates_in(aggregation.builtin))

    def _own(self, thing: Any) -> Any:
        return copied(thing) if self._copying else thing

    def _start(self) -> Any:
        match self._aggregation.kind:
            case "count":
                return 0
            case "builtin":
                return tuple(leaf.start() for leaf in self._leaves)
        assert self._aggregation.initializer is not None
        return self._aggregation.initializer()

    def add(self, key: Any, value: Any, state: Any, time_ms: int) -> Any:
        adder = self._aggregation.adder
        if self._aggregation.kind == "reduce":
            assert adder is not None
            return self._own(value) if state is None else adder(self._own(state), self._own(value))
        state = self._start() if state is None else self._own(state)
        match self._aggregation.kind:
            case "count":
                return state + 1
            case "builtin":
                return self._changed(key, value, state, time_ms, 1)
        assert adder is not None
        return adder(key, self._own(value), state)

    def subtract(self, key: Any, value: Any, state: Any, time_ms: int) -> Any:
        """Takes a value out again; of nothing, nothing is left."""
        if state is None:
            return None
        subtractor = self._aggregation.subtractor
        match self._aggregation.kind:
            case "count":
                return state - 1
            case "builtin":
                return self._changed(key, value, state, time_ms, -1)
            case "reduce":
                assert subtractor is not None
                return subtractor(self._own(state), self._own(value))
        assert subtractor is not None
        return subtractor(key, self._own(value), self._own(state))

    def _changed(self, key: Any, value: Any, state: Any, time_ms: int, sign: int) -> Any:
        row = Row(key, value, time_ms)
        return tuple(leaf.add(part, row, sign) for leaf, part in zip(self._leaves, state, strict=True))

    def merge(self, key: Any, one: Any, two: Any) -> Any:
        """Two sessions as one, the earlier one first."""
        if self._aggregation.kind == "reduce":
            if one is None or two is None:
                return two if one is None else one
            assert self._aggregation.adder is not None
            return self._aggregation.adder(self._own(one), self._own(two))
        one = self._start() if one is None else self._own(one)
        match self._aggregation.kind:
            case "count":
                return one + two
            case "builtin":
                return tuple(leaf.merge(a, b) for leaf, a, b in zip(self._leaves, one, two, strict=True))
        assert self._aggregation.merger is not None
        return self._aggregation.merger(key, one, self._own(two))

    def result(self, key: Any, state: Any) -> Any:
        """The aggregate that others see."""
        if self._aggregation.kind != "builtin":
            return self._own(state)
        assert self._aggregation.builtin is not None
        states = {id(leaf): part for leaf, part in zip(self._leaves, state, strict=True)}
        return self._aggregation.builtin.compute(Row(key, aggregates=states))
