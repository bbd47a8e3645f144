"""Random queries: two to six streams, every shape of join graph, every kind of predicate, all sorts of windows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import pyarrow as pa
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow, TimeWindow, Window
from tests.properties import rows

Draw = Callable[[st.SearchStrategy[Any]], Any]
Edge = tuple[int, int]

EQUALITIES = ("{a}.i = {b}.i", "{a}.s = {b}.s", "{a}.j = {b}.j", "{a}.x = {b}.x", "{a}.i = {b}.i AND {b}.s = {a}.s")
DERIVED = ("{a}.i + 1 = {b}.i", "LENGTH({a}.s) = {b}.i", "{a}.x = {b}.i")
BANDS = (
    "ABS({a}.i - {b}.i) <= 1",
    "ABS({a}.x - {b}.x) < 1",
    "ABS({a}.x - {b}.i) <= 0.5",
    "{a}.i - {b}.i BETWEEN -1 AND 2",
    "{a}.x BETWEEN {b}.x AND {b}.x + 1",
    "{b}.x > {a}.x - 0.1 AND {b}.x < 0.2 + {a}.x",
    "{a}.i < {b}.i",
    "{a}.x >= {b}.x",
    "{a}.i <= {b}.i AND {b}.i < {a}.i + 2",
)
COMPOSITE = (
    "{a}.i = {b}.i AND ABS({a}.x - {b}.x) <= 1",
    "{a}.i = {b}.i AND {a}.x BETWEEN {b}.x - 0.1 AND {b}.x + 1",
    "{a}.s = {b}.s AND {a}.i BETWEEN {b}.i - 1 AND {b}.i",
    "{a}.s = {b}.s AND {a}.i = {b}.i AND {a}.x < {b}.x",
)
NULL_SAFE = (
    "{a}.i IS NOT DISTINCT FROM {b}.i",
    "{a}.j IS NOT DISTINCT FROM {b}.j",
    "{a}.s <=> {b}.s AND {a}.x IS NOT DISTINCT FROM {b}.x",
)
ALTERNATIVES = (
    "({a}.i = {b}.i OR {a}.s = {b}.s)",
    "({a}.j = {b}.j OR {a}.i = {b}.i AND {a}.s = {b}.s OR {a}.x = {b}.x AND {a}.i < {b}.i)",
    "({a}.s = {b}.s OR {a}.i IS NOT DISTINCT FROM {b}.i)",
)
SIMILARITIES = (
    "INNER_PRODUCT({a}.v, {b}.v) >= 1",
    "INNER_PRODUCT({a}.v, {b}.v) > 1",
    "COSINE_SIMILARITY({a}.v, {b}.v) >= 0.7654",
    "COSINE_SIMILARITY({a}.v, {b}.v) > -0.1234",
)
RESIDUALS = (
    "NOT ({a}.i = {b}.i)",
    "NOT ({a}.x < {b}.x)",
    "{a}.s <> {b}.s",
    "({a}.i IS NULL OR {b}.x > 0)",
    "COALESCE({a}.i, 0) + COALESCE({b}.i, 0) < 3",
    "CASE WHEN {a}.x > 0 THEN {a}.i = {b}.i ELSE {a}.s = {b}.s END",
)
FILTERS = ("{a}.i > 0", "{a}.x IS NOT NULL", "{a}.s IN ('a', 'ab')", "NOT ({a}.x > 0)", "{a}.i % 2 = 1")
TRIPLES = ("{a}.i + {b}.i <= {c}.i + 1", "({a}.i = {b}.i OR {b}.i = {c}.i)", "{a}.x + {b}.x > {c}.x")
OUTPUTS = (
    "{a}.i + 1 AS {a}i",
    "{a}.s || '!' AS {a}s",
    "{a}.x AS {a}x",
    "{a}.j AS {a}j",
    "{a}.v AS {a}v",
    "{a}.ts AS {a}t",
)


@dataclass(frozen=True)
class RandomQuery:
    """The arguments of a join, to be built with further options."""

    streams: tuple[Stream, ...]
    on: str
    select: str | None
    how: str = "inner"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        declared = (f"{each.name}(window {each.window}, delay {each.delay_us})" for each in self.streams)
        printer.text(
            f"{self.how} join of {', '.join(declared)} with j {key_type(self)} on {self.on} select {self.select}"
        )

    def build(self, **options: Any) -> dv.Query:
        return dv.join(*self.streams, **{"on": self.on, "select": self.select, "how": self.how} | options)

    def with_windows(self, *windows: Window) -> Self:
        streams = (replace(stream, window=window) for stream, window in zip(self.streams, windows, strict=True))
        return replace(self, streams=tuple(streams))


def edges(draw: Draw, count: int) -> list[Edge]:
    """A connected join graph."""
    chain = [(one, one + 1) for one in range(count - 1)]
    shape = draw(st.sampled_from(["star", "chain", "cycle", "clique", "random"]))
    if shape == "star":
        return [(0, other) for other in range(1, count)]
    if shape == "clique":
        return [(one, other) for other in range(count) for one in range(other)]
    if shape == "random":
        return [(draw(st.integers(0, other - 1)), other) for other in range(1, count)]
    return [*chain, (0, count - 1)] if shape == "cycle" and count > 2 else chain


def conditions(draw: Draw, names: list[str]) -> list[str]:
    """One predicate per edge of the graph, mostly of kinds that match seldom, and now and then something more."""
    frequent, bounded = [EQUALITIES, EQUALITIES, EQUALITIES, DERIVED, NULL_SAFE, ALTERNATIVES], [BANDS, COMPOSITE]
    kinds = st.sampled_from([*frequent, *bounded, SIMILARITIES, RESIDUALS])
    made = []
    for one, other in edges(draw, len(names)):
        text = draw(st.sampled_from(draw(kinds)))
        first, second = draw(st.permutations([names[one], names[other]]))
        made.append(text.format(a=first, b=second))
    for name in names:
        if draw(st.integers(0, 5)) == 5:
            made.append(draw(st.sampled_from(FILTERS)).format(a=name))
    if len(names) > 2 and draw(st.integers(0, 5)) == 5:
        a, b, c = draw(st.permutations(names))[:3]
        made.append(draw(st.sampled_from(TRIPLES)).format(a=a, b=b, c=c))
    return made


def outputs(draw: Draw, names: list[str]) -> str | None:
    if draw(st.booleans()):
        return None
    chosen = [draw(st.sampled_from(OUTPUTS)).format(a=name) for name in names]
    return ", ".join(chosen)


def time_windows() -> st.SearchStrategy[Window]:
    return st.builds(TimeWindow, st.sampled_from([5, 0, 1, 2, 3, 8, 13, 40]))


def row_windows() -> st.SearchStrategy[Window]:
    return st.builds(RowWindow, st.integers(1, 4))


@st.composite
def queries(draw: Draw, most: int = 6) -> RandomQuery:
    """An inner join with time windows, each stream with its own window and delay."""
    count = draw(st.sampled_from([n for n in (2, 2, 3, 3, 4, 5, 6) if n <= most]))
    names = list("ABCDEF"[:count])
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    streams = tuple(
        Stream(name, columns, "ts", draw(time_windows()), delay_us=draw(st.sampled_from([0, 0, 2, 6])))
        for name in names
    )
    return RandomQuery(streams, " AND ".join(conditions(draw, names)), outputs(draw, names))


def key_type(query: RandomQuery) -> pa.DataType:
    return query.streams[0].schema.field("j").type
