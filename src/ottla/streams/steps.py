"""Steps that streams and tables share, and the checks of what a user gives to them."""

from __future__ import annotations

from typing import Any

from ottla.streams import ddl
from ottla.streams.builder import returned
from ottla.streams.errors import TopologyError
from ottla.streams.expressions import Expression, Types
from ottla.streams.functions import arguments_of, checked
from ottla.streams.plan import Apply, Function, Node, Step


def types_of(node: Node) -> Types:
    """What an expression finds on the records of a node."""
    return Types(key=node.key_type, value=node.value_type, windowed=node.windowed)


def expression_type(expression: Expression, types: Types, where: str) -> str:
    """The type of an expression of the user's; what is wrong with it is said with the place."""
    if any(leaf.whole for leaf in expression.leaves()):
        raise TopologyError(f"{where}: {expression.sql} is an aggregate, which belongs into aggregate(...)")
    try:
        return expression.type_in(types)
    except TopologyError as error:
        raise TopologyError(f"{where}: {error}") from None


def check_predicate(predicate: Any, types: Types, where: str) -> None:
    if isinstance(predicate, Expression):
        if (of := expression_type(predicate, types, where)) != "boolean":
            raise TopologyError(f"{where} takes a condition; {predicate.sql} is of type {of}")
    else:
        checked(predicate, "(key, value)", where)


def check_joiner(
    joiner: Any, types: Types, where: str, returns: str | None, *, key_allowed: bool
) -> tuple[str, bool]:
    """The type that a joiner makes, and whether it wants the key."""
    if isinstance(joiner, Expression):
        return expression_type(joiner, types, where), False
    allowed = {2: "(left value, right value)"}
    if key_allowed:
        allowed[3] = "(key, left value, right value)"
    return returned(returns), arguments_of(joiner, allowed, where) == 3


def check_same_builder(one: Any, other: Any, where: str) -> None:
    if one._builder is not other._builder:
        raise TopologyError(f"{where}: the two belong to different builders; one builder is one application")


def values_step(parent: Node, step: Step, mapper: Any, where: str, returns: str | None) -> Apply:
    """A step on values, of a stream or a table; the name is still to be given."""
    with_key = False
    function: Function | None = None
    if isinstance(mapper, Expression):
        value_type = expression_type(mapper, types_of(parent), where)
        if step is Step.FLAT_MAP_VALUES:
            of = ddl.element(value_type)
            if of is None:
                raise TopologyError(
                    f"{where} takes an expression that is an array; {mapper.sql} is of type {value_type}"
                )
            value_type = of
    else:
        with_key = arguments_of(mapper, {1: "(value)", 2: "(key, value)"}, where) == 2
        function = mapper
        value_type = returned(returns)
    return Apply(
        name="",
        parents=(parent,),
        step=step,
        function=function,
        value=mapper if isinstance(mapper, Expression) else None,
        with_key=with_key,
        key_type=parent.key_type,
        value_type=value_type,
        windowed=parent.windowed,
        table=parent.table,
    )


def filter_step(parent: Node, step: Step, predicate: Any) -> Apply:
    """A filter of a stream or a table; the name is still to be given."""
    check_predicate(predicate, types_of(parent), step.value)
    by_expression = isinstance(predicate, Expression)
    return Apply(
        name="",
        parents=(parent,),
        step=step,
        function=None if by_expression else predicate,
        value=predicate if by_expression else None,
        key_type=parent.key_type,
        value_type=parent.value_type,
        windowed=parent.windowed,
        table=parent.table,
    )
