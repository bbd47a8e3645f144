"""A bound query: everything the planner needs, nothing left to look up.

It checks itself, so that every way to make one (``join``, ``sql``, ``replace``, sharing, a pipeline file) meets the
same checks, and words that stand for values ("adaptive", one algorithm for all streams) become those values here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import pyarrow as pa

from dovetail.errors import QueryError
from dovetail.model.aggregate import Aggregation
from dovetail.model.algorithm import Algorithms, as_algorithms
from dovetail.model.budget import Budget
from dovetail.model.check_asof import answered, check_asof
from dovetail.model.check_parts import check_parts
from dovetail.model.check_streams import check_streams, with_dedup
from dovetail.model.choice import as_choice
from dovetail.model.combinations import check_combination
from dovetail.model.expression import Expression, columns_of
from dovetail.model.fitting import check_budget, check_partitions
from dovetail.model.how import HOWS, KEEPING, How, as_how, hidden, words_of
from dovetail.model.intervals import check_times
from dovetail.model.nested import with_fields
from dovetail.model.order import as_order
from dovetail.model.output import Output
from dovetail.model.predicate import Predicate, operands
from dovetail.model.steps import check_steps
from dovetail.model.stream import Stream
from dovetail.model.ties import check_tied
from dovetail.model.tree import as_plan

Late = Literal["drop", "keep", "divert"]
Invalidation = Literal["auto", "active", "lazy"]
OnError = Literal["raise", "divert"]

LATE: tuple[Late, ...] = ("drop", "keep", "divert")
INVALIDATIONS: tuple[Invalidation, ...] = ("auto", "active", "lazy")
ON_ERROR: tuple[OnError, ...] = ("raise", "divert")


@dataclass(frozen=True)
class JoinQuery:
    """Streams in query order (each with its window), the conjuncts between them, the result's columns.

    ``cross``: every combination is wanted where nothing ties streams together.
    """

    streams: tuple[Stream, ...]
    predicates: tuple[Predicate, ...]
    filters: tuple[tuple[str, Expression], ...]
    select: tuple[Output, ...]
    how: str = "inner"
    order: Any = "none"
    late: Late = "drop"
    budget: Budget | None = None
    algorithm: Algorithms = "auto"
    plan: Any = "auto"
    partitions: int | None = None
    aggregation: Aggregation | None = None
    invalidation: Invalidation = "auto"
    cross: bool = False
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        check_streams(self.streams)
        how = as_how(self.how, self.names) if self.answered is None else as_choice("how", self.how, HOWS)
        object.__setattr__(self, "how", how)
        object.__setattr__(self, "streams", _with_fields(self))
        check_parts(self.streams, self.predicates, self.filters, self.select, self.aggregation, self.seen)
        check_times(self.streams, self.predicates)
        object.__setattr__(self, "streams", tuple(with_dedup(each, self.predicates) for each in self.streams))
        if not isinstance(self.cross, bool):
            raise QueryError(f"cross={self.cross!r}: it is True or False")
        if not self.cross:
            check_tied(self.names, self.predicates)
        as_choice("late", self.late, LATE)
        as_choice("invalidation", self.invalidation, INVALIDATIONS)
        check_partitions(self.partitions)
        object.__setattr__(self, "order", as_order(self.order, self.aggregation is not None))
        object.__setattr__(self, "algorithm", as_algorithms(self.algorithm, self.names))
        object.__setattr__(self, "plan", as_plan(self.plan, self.names))
        as_choice("on_error", self.on_error, ON_ERROR)
        check_budget(self.budget)
        check_combination(self)
        if self.answered is not None:
            check_asof(self.streams, self.answered, self.predicates, self.how)
        elif self.stepwise:
            check_steps(self.names, self.words, self.predicates, self.filters, self.cross)

    @cached_property
    def answered(self) -> str | None:
        """Of an as-of join: the stream whose rows are answered, one by one, by the best rows of the others."""
        return answered(self.streams)

    def stream(self, name: str) -> Stream:
        return next(stream for stream in self.streams if stream.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(stream.name for stream in self.streams)

    @property
    def stepwise(self) -> bool:
        """Whether more than two streams are joined one after the other, and some rows come out without partners."""
        return ", " in self.how

    @cached_property
    def words(self) -> dict[str, How]:
        """How each stream after the first is joined, if ``stepwise``."""
        return words_of(self.how, self.names)

    @cached_property
    def keeping(self) -> tuple[str, ...]:
        """If ``stepwise``: the streams whose rows come out also where nothing before them fits."""
        return tuple(name for name, word in self.words.items() if word in KEEPING)

    @property
    def seen(self) -> tuple[Stream, ...]:
        """The streams whose rows are in the results: not those of which it only matters whether there are any."""
        unseen = hidden(self.how, self.names)
        return tuple(stream for stream in self.streams if stream.name not in unseen)

    @property
    def found_on_arrival(self) -> bool:
        """Whether a result with a row of every stream comes out when the last of them arrives."""
        return not self.stepwise or len(self.seen) == len(self.streams)

    def filters_of(self, stream: str | None = None) -> tuple[Expression, ...]:
        """The conditions on one stream alone, of this stream or of all."""
        return tuple(condition for name, condition in self.filters if stream in (None, name))

    def repeats_of(self, name: str) -> list[str]:
        """What becomes of a stream's repeats, in words."""
        found = self.stream(name).dedup
        return [] if found is None else [f"without repeats of {found}"]

    def columns_tested(self, name: str) -> set[str]:
        """Of a stream: its time, and every column that a predicate, filter or dedup needs to decide what matches."""
        conditions = [operand for predicate in self.predicates for operand in operands(predicate)]
        dedup = self.stream(name).dedup
        tested = {self.stream(name).time, *(dedup.compared if dedup else ())}
        return tested | _named((*conditions, *self.filters_of(name)), name)

    def columns_read(self, name: str) -> tuple[str, ...]:
        """Of a stream: its time first, then every column that a predicate, filter or output needs, in schema order.

        Late rows that are handed to the user are handed over whole.
        """
        read = self.columns_used(name)
        stream, whole = self.stream(name), self.late == "divert"
        others = [column for column in stream.schema.names if column != stream.time]
        return (stream.time, *(column for column in others if whole or column in read))

    def columns_used(self, name: str) -> set[str]:
        """Of a stream: what decides about results, or is in them."""
        return self.columns_tested(name) | _named([output.expression for output in self.select], name)

    @property
    def preserved(self) -> tuple[str, ...]:
        """The streams whose unmatched rows come out; of an as-of join, the one whose rows are answered."""
        if self.answered is not None:
            return (self.answered,)
        if self.stepwise:
            return (self.names[0], *self.keeping)
        left, right = self.names[0], self.names[-1]
        sides: dict[str, tuple[str, ...]] = {"left": (left,), "anti": (left,), "right": (right,), "full": (left, right)}
        return sides.get(self.how, ())

    @property
    def time_type(self) -> pa.DataType:
        """Type of ``result_time``: microseconds, with the zone of the first stream that has times."""
        return pa.timestamp("us", tz=next(each for each in self.streams if not each.timeless).time_type.tz)

    @property
    def schema(self) -> pa.Schema:
        """Schema of the result: ``result_time``, then the select list."""
        return self._schema_of(self.aggregation.select if self.aggregation else self.select)

    @property
    def joined(self) -> pa.Schema:
        """Schema of what the join itself gives: the result, or the rows that are aggregated into it."""
        return self._schema_of(self.select)

    def _schema_of(self, outputs: tuple[Output, ...]) -> pa.Schema:
        fields = [pa.field("result_time", self.time_type)]
        return pa.schema(fields + [pa.field(output.name, output.expression.type) for output in outputs])


def _with_fields(query: JoinQuery) -> tuple[Stream, ...]:
    """The streams with columns for the fields of structures that the query names."""
    if not any(pa.types.is_struct(field.type) for stream in query.streams for field in stream.schema):
        return query.streams
    schemas = {s.name: with_fields(s.schema, query.columns_used(s.name)) for s in query.streams}
    return tuple(replace(stream, schema=schemas[stream.name]) for stream in query.streams)


def _named(expressions: Sequence[Expression], stream: str) -> set[str]:
    return {column.name for expression in expressions for column in columns_of(expression) if column.stream == stream}
