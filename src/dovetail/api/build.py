"""From text and options to a query; mistakes are found here."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from dovetail.api.functions import functions
from dovetail.api.options import check_options
from dovetail.api.query import Query
from dovetail.errors import QueryError, nearest
from dovetail.model.asof import AsOf
from dovetail.model.budget import Budget
from dovetail.model.check_asof import answered
from dovetail.model.check_streams import check_named, check_several, check_streams
from dovetail.model.choice import as_choice
from dovetail.model.combinations import refusal
from dovetail.model.how import HOWS, as_how, hidden, words_of
from dovetail.model.intervals import with_implied_windows
from dovetail.model.match import only_matches
from dovetail.model.order import Adaptive
from dovetail.model.query import JoinQuery
from dovetail.model.steps import with_own_conditions
from dovetail.model.stream import Stream
from dovetail.model.ties import check_tied
from dovetail.model.tree import Tree
from dovetail.model.window import Window, as_window

if TYPE_CHECKING:
    from dovetail.sql import Statement


def join(
    *streams: Stream,
    on: str,
    select: str | None = None,
    how: str | Mapping[str, str] = "inner",
    window: str | timedelta | Window | None = None,
    order: str | Adaptive = "none",
    late: str = "drop",
    budget: Budget | None = None,
    algorithm: str | Mapping[str, str] = "auto",
    plan: str | Tree = "auto",
    partitions: int | None = None,
    invalidation: str = "auto",
    on_error: str = "raise",
    **unknown: Any,
) -> Query:
    """A query over two or more streams; mistakes in it are found here.

    A batch that fails, in a function of the user's own for example, raises and leaves the run as it was before; with
    ``on_error="divert"`` its rows go to ``run.late`` instead, and the run goes on.

    ``how`` is one of "inner", "left", "right", "full", "semi" and "anti". For more than two streams it has a word for
    each stream after the first, "inner" if it has none: ``{"B": "left", "C": "full"}``. They are joined one after the
    other, as SQL joins them, and a condition belongs to the last stream that it names. In an as-of join (streams with
    ``asof=``) the words are "inner" and "left", for all of them or for each.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> a, b = (dv.stream(name, time="ts", schema=schema) for name in "AB")
    >>> dv.join(a, b, on="A.k = B.k", select="A.k", window="10 seconds").schema.names
    ['result_time', 'k']
    """
    from dovetail.sql import Condition, Statement, bind_condition, bind_list

    check_options(unknown)
    windowed = only_matches(_windowed(streams, window))
    windowed, word = _with_words(windowed, how)
    _check_text("on", on, "a condition as text, like 'A.k = B.k'")
    if select is not None:
        _check_text("select", select, "columns as text, like 'A.k, B.v AS value', or None for all")
    condition = bind_condition(on, windowed, functions)
    if answered(windowed) is None:
        stepwise = ", " in word
        if stepwise:
            condition = Condition(*with_own_conditions(windowed, condition.predicates, condition.filters))
        words = words_of(word, [each.name for each in windowed]) if stepwise else None
        windowed = with_implied_windows(windowed, condition.predicates, words)
        check_streams(windowed)
    cross = on.strip().upper() == "TRUE"
    if not cross:
        check_tied([each.name for each in windowed], condition.predicates, f" in {on!r}")
    unseen = hidden(word, [each.name for each in windowed])
    chosen = bind_list(select, [each for each in windowed if each.name not in unseen], functions, unseen)
    bound = Statement(windowed, condition, chosen.outputs, word, chosen.aggregation, cross)
    chosen_by_hand: dict[str, Any] = {"algorithm": algorithm, "plan": plan, "invalidation": invalidation}
    chosen_by_hand["on_error"] = on_error
    return _query(bound, order=order, late=late, budget=budget, partitions=partitions, **chosen_by_hand)


def sql(text: str, *streams: Stream, **options: Any) -> Query:
    """The same from text: SELECT ... FROM ... WHERE ... WINDOW ..., over streams by their names.

    ``options`` are those of ``join`` that the text does not state.

    >>> import dovetail as dv, pyarrow as pa
    >>> schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    >>> orders, payments = (dv.stream(name, time="ts", schema=schema) for name in ("Orders", "Payments"))
    >>> query = dv.sql("SELECT O.k FROM Orders O, Payments P WHERE O.k = P.k WINDOW 1 HOUR", orders, payments)
    >>> query.schema.names
    ['result_time', 'k']
    """
    from dovetail.sql import bind_statement

    check_options(options, dict.fromkeys(("on", "select", "how"), "is stated in the text of the query"))
    _check_text("the query", text, "it as text, like 'SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 MINUTE'", "sql")
    check_named(streams)
    window = options.pop("window", None)
    bound = bind_statement(text, streams, functions, None if window is None else as_window(window))
    return _query(bound, **options)


def _query(bound: "Statement", **options: Any) -> Query:
    condition = bound.condition
    parts = (bound.streams, condition.predicates, condition.filters, bound.select, bound.how)
    return Query(JoinQuery(*parts, aggregation=bound.aggregation, cross=bound.cross, **options))


def _windowed(streams: tuple[Stream, ...], window: Any) -> tuple[Stream, ...]:
    """The streams, each with a window of its own or that of the query, if there is one."""
    check_several(streams)
    common = None if window is None else as_window(window)
    return tuple(replace(stream, window=stream.window or common) for stream in streams)


def _with_words(streams: tuple[Stream, ...], how: Any) -> tuple[tuple[Stream, ...], str]:
    """As-of streams with the word that ``how`` has for each, and the word for the whole query."""
    if answered(streams) is None:
        return streams, as_how(how, [stream.name for stream in streams])
    names = [stream.name for stream in streams if stream.asof is not None]
    words = how if isinstance(how, Mapping) else dict.fromkeys(names, how)
    for name, word in words.items():
        if name not in names:
            raise QueryError(f"how: there is no as-of stream {name!r}; {nearest(name, names)}")
        _check_missing(as_choice("how", word, HOWS))
    given = tuple(each if each.asof is None else _worded(each, each.asof, words) for each in streams)
    return given, "left" if "left" in words.values() else "inner"


def _check_missing(word: str) -> None:
    combination = {"windows": "as of", "how": word}
    found = refusal(combination)
    if found is not None:
        raise QueryError(found.text(combination))


def _worded(stream: Stream, asof: AsOf, words: Mapping[str, Any]) -> Stream:
    return replace(stream, asof=replace(asof, how=words.get(stream.name, "inner")))


def _check_text(option: str, value: Any, needed: str, call: str = "join") -> None:
    if not isinstance(value, str):
        raise QueryError(f"{call}: {option} is {value!r}; give {needed}")
