"""One query as a tree of operators: each joins some streams and the results of operators below it.

    (("A", "B"), "C")      an operator joins A and B; another joins its results, a stream named "(A, B)", with C

A result of the lower operator carries the columns that those above still need, and two numbers about its members:

    result_time   the newest member's time: its time as a tuple of the stream "(A, B)"
    expiry        the smallest time_i + w_i: the last moment at which all members are still inside their windows

A tuple u of another stream fits in time exactly if ``u.time <= expiry`` (a band like any other) and the newest member
is within u's own window (which the operator tests anyway): the one rule, over all members. So the results are those of
one operator over all streams.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from dovetail.model.aggregate import UNTIL, until
from dovetail.model.algorithm import Algorithm
from dovetail.model.expression import Call, Column, Expression, columns_of
from dovetail.model.output import Output
from dovetail.model.predicate import Band, Equality, Predicate, operands, predicate_streams, rewritten
from dovetail.model.query import JoinQuery
from dovetail.model.stream import Stream
from dovetail.model.tree import Tree, leaves, left_deep, tree_text
from dovetail.model.window import TimeWindow
from dovetail.plan.join_graph import close_equalities, key_classes

EXPIRY = "expiry"
_ANY_TIME = 1 << 55  # microseconds, a thousand years


@dataclass(frozen=True)
class Operator:
    """One node: a query over base streams and over the results of the operators below, by their names."""

    query: JoinQuery
    below: Mapping[str, "Operator"]

    @property
    def tree(self) -> Tree:
        """The nesting that it stands for."""
        return tuple(self.below[name].tree if name in self.below else name for name in self.query.names)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The streams that come in, at any depth."""
        return leaves(self.tree)

    @property
    def operators(self) -> list["Operator"]:
        """All operators of the tree, those below before those above."""
        return [operator for child in self.below.values() for operator in child.operators] + [self]


def asked_tree(query: JoinQuery) -> Tree | None:
    """The tree that a query asks for; None if it leaves one operator for all streams."""
    if query.plan in ("auto", "multiway") or len(query.streams) < 3:
        return None
    return left_deep(query.names) if query.plan == "binary" else query.plan


def split_query(query: JoinQuery, tree: Tree) -> Operator:
    """The operators of a tree, the last one giving the query's own results; ``share_budget`` shares its budget out."""
    closed = replace(query, predicates=close_equalities(query.predicates))
    return _operator(closed, tree, query.select, top=True)


def operator_over(query: JoinQuery, tree: Tree, top: bool) -> JoinQuery:
    """The query of one operator of some tree, over streams and trees; below the top it gives what those above need."""
    if top:
        return _operator(query, tree, query.select, top=True).query
    inside = set(leaves(tree))
    needed = {column for output in query.select for column in columns_of(output.expression)}
    needed |= {c for p in query.predicates if not predicate_streams(p) <= inside for c in _columns(p)}
    return _below(query, tree, needed).query


def _operator(query: JoinQuery, tree: Tree, select: tuple[Output, ...], top: bool) -> Operator:
    parts = {tree_text(part): part for part in tree}
    own = _distinct([predicate for predicate in query.predicates if _belongs(predicate, tree)], query, parts)
    aggregation = query.aggregation if top else None
    plain = [output for output in select if aggregation is None or output.name != UNTIL]
    needed = {column for output in plain for column in columns_of(output.expression)}
    needed |= {column for predicate in own for column in _columns(predicate)}
    below = {name: _below(query, part, needed) for name, part in parts.items() if not isinstance(part, str)}
    streams = tuple(_stream(query, name, below.get(name), part) for name, part in parts.items())
    where = {leaf: name for name, part in parts.items() if not isinstance(part, str) for leaf in leaves(part)}
    predicates = tuple(_moved(predicate, where) for predicate in own) + tuple(_in_time(streams))
    outputs = {output.name: moved(output.expression, where) for output in plain}
    if aggregation is not None or not top:
        outputs[UNTIL if top else EXPIRY] = until(streams)
    made = JoinQuery(
        streams,
        predicates,
        tuple((name, condition) for name, condition in query.filters if name in parts),
        tuple(Output(name, expression) for name, expression in outputs.items()),
        order=query.order if top else "none",
        late=query.late,
        algorithm=query.algorithm if isinstance(query.algorithm, str) else _of_these(query.algorithm, parts),
        partitions=query.partitions,
        invalidation=query.invalidation,
        plan="multiway",
        aggregation=aggregation,
        budget=query.budget,
        cross=True,  # a tree may put streams together that only meet higher up
    )
    return Operator(made, below)


def _of_these(algorithm: Mapping[str, Algorithm], parts: Mapping[str, Tree]) -> dict[str, Algorithm]:
    return {name: word for name, word in algorithm.items() if name in parts}


def _distinct(own: list[Predicate], query: JoinQuery, parts: Mapping[str, Tree]) -> list[Predicate]:
    """Without equalities that follow from another: members of a part that share a key are equal there already."""
    classes, seen, kept = key_classes(query.predicates), set(), []
    for predicate in own:
        if isinstance(predicate, Equality):
            of = next(at for at, members in enumerate(classes) if predicate.left in members)
            sides = frozenset(name for name, part in parts.items() if predicate_streams(predicate) & set(leaves(part)))
            if (of, sides) in seen:
                continue
            seen.add((of, sides))
        kept.append(predicate)
    return kept


def _belongs(predicate: Predicate, tree: Tree) -> bool:
    """Whether a predicate is tested here: all its streams are below, and not all below one part."""
    streams = predicate_streams(predicate)
    return streams <= set(leaves(tree)) and not any(streams <= set(leaves(part)) for part in tree)


def _below(query: JoinQuery, part: Tree, needed: Iterable[Column]) -> Operator:
    inside = sorted({column for column in needed if column.stream in leaves(part)}, key=str)
    return _operator(query, part, tuple(Output(str(column), column) for column in inside), top=False)


def _stream(query: JoinQuery, name: str, below: Operator | None, part: Tree) -> Stream:
    """A base stream as it is; the results of an operator as a stream of their own.

    Its tuples come out of order by at most the largest window and delay of its members; results that wait for CPU time
    or for a join from disk, or of streams without a window, by any time, and then only the operator's own frontier says
    how far it has come.
    """
    if below is None:
        return query.stream(name)
    members = [query.stream(leaf) for leaf in leaves(part)]
    widths = {stream.name: _width(stream) for stream in members}
    delay = max(widths[stream.name] + stream.delay_us for stream in members)
    window = TimeWindow(max(widths.values()))
    may_wait = query.budget is not None and (query.budget.cpu is not None or query.budget.policy == "spill")
    if may_wait or window.unbounded:
        delay = _ANY_TIME
    return Stream(name, below.query.schema, "result_time", window, delay, expiry=EXPIRY)


def _width(stream: Stream) -> int:
    assert isinstance(stream.window, TimeWindow)
    return stream.window.length_us


def _in_time(streams: tuple[Stream, ...]) -> Iterable[Predicate]:
    """No member is newer than the last moment at which an intermediate result's members are all inside."""
    for stream in streams:
        if stream.expiry is not None:
            last = Column(stream.name, stream.expiry, pa.int64())
            yield from (Band(_time(other), last, None, 0) for other in streams if other.name != stream.name)


def is_in_time(predicate: Predicate) -> bool:
    """Whether a predicate is such a test of time."""
    return isinstance(predicate, Band) and isinstance(predicate.right, Column) and predicate.right.name == EXPIRY


def _time(stream: Stream) -> Expression:
    return Call("epoch_us", (Column(stream.name, stream.time, stream.time_type),), pa.int64())


def _columns(predicate: Predicate) -> Iterable[Column]:
    return (column for operand in operands(predicate) for column in columns_of(operand))


def _moved(predicate: Predicate, where: Mapping[str, str]) -> Predicate:
    return rewritten(predicate, lambda expression: moved(expression, where))


def moved(expression: Expression, where: Mapping[str, str]) -> Expression:
    """The expression over intermediate results: column k of A, which is in (A, B), is column "A.k" there."""
    if isinstance(expression, Column) and expression.stream in where:
        return Column(where[expression.stream], str(expression), expression.type)
    if isinstance(expression, Call):
        return replace(expression, arguments=tuple(moved(argument, where) for argument in expression.arguments))
    return expression
