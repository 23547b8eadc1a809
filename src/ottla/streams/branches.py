"""`stream.split()`: one stream becomes several, by predicates that are asked in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.streams.builder import StreamsBuilder, is_name
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression
from ottla.streams.plan import Branch, Function
from ottla.streams.steps import check_predicate, types_of

if TYPE_CHECKING:
    from ottla.streams.kstream import KStream


class BranchedKStream:
    """A split under way; `default_branch` or `no_default_branch` ends it with a dict of streams by name."""

    def __init__(self, builder: StreamsBuilder, stream: KStream, name: str | None) -> None:
        self._builder = builder
        self._stream = stream
        self._prefix = builder.name_for("KSTREAM-BRANCH", name) + "-"
        self._predicates: list[Function | Expression] = []
        self._labels: list[str] = []

    def branch(self, predicate: Function | Expression, name: str | None = None) -> BranchedKStream:
        """The records for which this is the first predicate that holds."""
        check_predicate(predicate, types_of(self._stream.node), "branch")
        self._predicates.append(predicate)
        self._labels.append(self._label(name or str(len(self._predicates))))
        return self

    def default_branch(self, name: str = "0") -> dict[str, KStream]:
        """All branches, and the records for which no predicate holds."""
        label = self._label(name)
        branches = self.no_default_branch()
        branches[label] = self._made(None, label)
        return branches

    def no_default_branch(self) -> dict[str, KStream]:
        """All branches; the records for which no predicate holds are dropped."""
        return {label: self._made(index, label) for index, label in enumerate(self._labels)}

    def _label(self, name: str) -> str:
        if not is_name(name):
            raise TopologyError(
                f"split: {name!r} cannot be the name of a branch: letters, digits, '.', '_' and '-' can be"
            )
        if name in self._labels:
            raise TopologyError(f"split: there are two branches with the name {name!r}")
        return name

    def _made(self, index: int | None, label: str) -> KStream:
        from ottla.streams.kstream import KStream

        parent = self._stream.node
        node = Branch(
            name=self._prefix + label,
            parents=(parent,),
            predicates=tuple(self._predicates),
            index=index,
            key_type=parent.key_type,
            value_type=parent.value_type,
            windowed=parent.windowed,
        )
        return KStream(self._builder, node)
