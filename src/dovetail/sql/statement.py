"""A whole query as text, bound to the streams it names.

    SELECT T.location, H.value AS humidity
    FROM Temperature T, Humidity H
    WHERE T.location = H.location AND T.value > 40
    [GROUP BY T.location [HAVING COUNT(*) > 3]]
    WINDOW 10 MINUTES

The words after WINDOW are read by ``window_clause``, the rest by sqlglot, and then: ``from_clause`` (streams and kind
of join), ``inputs`` (names and windows), ``condition`` (ON and WHERE together), ``select`` (columns of the result,
with ``aggregates``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType, exp

from dovetail.errors import QueryError
from dovetail.model.aggregate import Aggregation
from dovetail.model.check_asof import answered, check_asof_streams
from dovetail.model.expression import Expression, UserFunction
from dovetail.model.how import hidden
from dovetail.model.match import only_matches
from dovetail.model.output import Output
from dovetail.model.predicate import Predicate
from dovetail.model.stream import Stream
from dovetail.model.ties import untied
from dovetail.model.window import Window
from dovetail.sql.asof_clause import check_where, check_without_windows, marked, with_own_words, with_settings
from dovetail.sql.condition import Condition, condition_of
from dovetail.sql.dialect import parse_select
from dovetail.sql.from_clause import From, Input, read_from
from dovetail.sql.inputs import bounded, check_keys, named_streams, windowed
from dovetail.sql.place import PlacedError, Source
from dovetail.sql.reader import check_parentheses, span, words_of
from dovetail.sql.scope import Scope
from dovetail.sql.select import Items, Selected, selected
from dovetail.sql.unavailable import refuse_unavailable
from dovetail.sql.window_clause import split_window

_EXAMPLE = "SELECT T.a, H.b FROM T, H WHERE T.k = H.k WINDOW 10 MINUTES"
_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "distinct")


@dataclass(frozen=True)
class Statement:
    """What a text says: the streams under the names they have in it, each with its window, and how they are joined."""

    streams: tuple[Stream, ...]
    condition: Condition
    select: tuple[Output, ...]
    how: str
    aggregation: Aggregation | None = None
    cross: bool = False


def bind_statement(
    text: str, streams: Sequence[Stream], functions: Mapping[str, UserFunction], window: Window | None = None
) -> Statement:
    """The query that a text states over some of the streams; QueryError points at what is wrong with it.

    ``window`` is for streams that have none of their own and get none from the text.
    """
    source = Source(text)
    try:
        return _bound(source, streams, functions, window)
    except PlacedError as mistake:
        raise source.shown(mistake) from None
    except RecursionError:
        raise QueryError("cannot read the query: it is nested too deeply") from None


def _bound(
    source: Source, streams: Sequence[Stream], functions: Mapping[str, UserFunction], window: Window | None
) -> Statement:
    every = _one_query(source)
    refuse_unavailable(source, every)
    check_parentheses(source, every)
    words, windows = split_window(source, every)
    select = parse_select(source, words)
    _check_clauses(select, words, source)
    said = read_from(select, source)
    known = named_streams(said.inputs, streams, source)
    if any(stream.match is not None for stream in known):
        return _asof(select, said, only_matches(windowed(known, windows, window, source)), functions, source)
    if said.asof or any(stream.asof is not None for stream in known):
        check_without_windows(windows, source)
        return _asof(select, said, known, functions, source)
    scope = Scope(windowed(known, windows, window, source), functions)
    condition, cross = _condition(select, said, scope, source)
    named = bounded(said, scope.streams, condition, source)
    seen = _seen(Scope(named, functions), said)
    check_keys(named, condition, windows, source)
    found = _selected(select, seen, source)
    return Statement(named, condition, found.outputs, said.how, found.aggregation, cross)


def _asof(
    select: exp.Select, said: From, known: Sequence[Stream], functions: Mapping[str, UserFunction], source: Source
) -> Statement:
    """A query in which only the best rows of some streams count."""
    said = with_own_words(said, known, source)
    scope = Scope(marked(known, said), functions)
    check_asof_streams(scope.streams, answered(scope.streams) or "")
    where = select.args.get("where")
    if where and said.how == "inner":
        check_where(where, condition_of((where.this,), scope), scope.streams, source)
    condition, _ = _condition(select, said, scope, source)
    named, condition = with_settings(scope.streams, known, said, condition, source)
    found = _selected(select, scope, source)
    return Statement(named, condition, found.outputs, said.how, found.aggregation, cross=True)


def _one_query(source: Source) -> Sequence[Token]:
    """The words of the only query in the text, without the semicolon that may end it."""
    words = words_of(source)
    while words and words[-1].token_type == TokenType.SEMICOLON:
        words = words[:-1]
    if not words:
        raise QueryError(f"the text is empty; write a query such as {_EXAMPLE}")
    cut = next((word for word in words if word.token_type == TokenType.SEMICOLON), None)
    if cut is not None:
        raise source.error("the text is more than one query", span(cut))
    if words[0].token_type not in (TokenType.SELECT, TokenType.WITH):
        raise source.error(f"a query starts with SELECT: {_EXAMPLE}", span(words[0]))
    return words


def _check_clauses(select: exp.Select, words: Sequence[Token], source: Source) -> None:
    extra = [key for key, value in select.args.items() if value and key not in _CLAUSES]
    if extra:
        raise source.at(f"{extra[0].strip('_').upper()} is not part of the language", select)
    group = select.args.get("group")
    if group and (not group.expressions or any(value for key, value in group.args.items() if key != "expressions")):
        place = next(span(word) for word in words if word.token_type == TokenType.GROUP_BY)
        raise source.error("GROUP BY takes a list of columns or expressions, and nothing else", place)


def _condition(select: exp.Select, said: From, scope: Scope, source: Source) -> tuple[Condition, bool]:
    """What ON and WHERE state together, and whether they ask for every combination."""
    where = select.args.get("where")
    after = (where.this,) if where else ()
    if where and said.how not in ("inner", "semi"):
        raise source.at(
            f"WHERE after {said.words} would apply to its result, which is not available: put the condition into ON "
            "(a row to be kept that fails it there comes out without a partner)",
            where,
        )
    if after and said.how == "semi":
        condition_of(after, _seen(scope, said))
    condition = _each_on(said, scope) if said.stepwise else condition_of((*said.conditions, *after), scope)
    all_of_them = said.crossed or any(_is_true(node) for node in (*said.conditions, *after))
    if not all_of_them:
        _check_tied(said.inputs, [stream.name for stream in scope.streams], condition, source)
    return condition, all_of_them


def _each_on(said: From, scope: Scope) -> Condition:
    """What each ON says about its stream and those before it."""
    predicates: list[Predicate] = []
    filters: list[tuple[str, Expression]] = []
    for at, (stream, on) in enumerate(zip(scope.streams[1:], said.own, strict=True), start=1):
        if on is not None:
            before = _seen(Scope(scope.streams[:at], scope.functions), said)
            known = Scope((*before.streams, stream), scope.functions, before.hidden)
            own = condition_of((on,), known, stream)
            predicates += own.predicates
            filters += own.filters
    return Condition(tuple(predicates), tuple(filters))


def _seen(scope: Scope, said: From) -> Scope:
    """What can be spoken of after semi and anti joins."""
    unseen = hidden(said.how, [stream.name for stream in scope.streams])
    return Scope([each for each in scope.streams if each.name not in unseen], scope.functions, unseen)


def _is_true(node: exp.Expr) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _check_tied(inputs: Sequence[Input], names: list[str], condition: Condition, source: Source) -> None:
    apart = untied(names, condition.predicates)
    if apart is not None:
        first, second = apart
        node = inputs[names.index(second[0])].node
        raise source.at(
            f"no condition ties {', '.join(map(repr, first))} to {', '.join(map(repr, second))}; add one, or write "
            "CROSS JOIN or WHERE TRUE to join every combination within the windows",
            node,
        )


def _items_of(select: exp.Select) -> Items:
    having, distinct = select.args.get("having"), select.args.get("distinct")
    if distinct is not None and distinct.args.get("on"):
        raise QueryError("DISTINCT ON is not part of the language; write DISTINCT and the columns")
    return Items(select.expressions, select.args.get("group"), having.this if having else None, distinct is not None)


def _selected(select: exp.Select, scope: Scope, source: Source) -> Selected:
    if not select.expressions:
        raise source.at("the select list is empty; write * or some columns", select.args["from_"])
    try:
        return selected(_items_of(select), scope)
    except PlacedError:
        raise
    except QueryError as error:
        raise source.at(str(error), exp.Tuple(expressions=[node.copy() for node in select.expressions])) from None
