"""A bound query: everything the planner needs, nothing left to look up."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from dovetail.model.aggregate import Aggregation
from dovetail.model.budget import Budget
from dovetail.model.expression import Expression
from dovetail.model.predicate import Predicate
from dovetail.model.stream import Stream

How = Literal["inner", "left", "right", "full", "semi", "anti"]
Late = Literal["drop", "keep", "divert"]
Algorithm = Literal["hash", "scan", "sorted"]
Invalidation = Literal["auto", "active", "lazy"]
OnError = Literal["raise", "divert"]


@dataclass(frozen=True)
class Output:
    """One column of the result."""

    name: str
    expression: Expression


@dataclass(frozen=True)
class JoinQuery:
    """Streams in query order (each with its window), the conjuncts between them, the result's columns."""

    streams: tuple[Stream, ...]
    predicates: tuple[Predicate, ...]
    filters: tuple[tuple[str, Expression], ...]
    select: tuple[Output, ...]
    how: How = "inner"
    order: Any = "none"
    late: Late = "drop"
    budget: Budget | None = None
    algorithm: Literal["auto"] | Mapping[str, Algorithm] = "auto"
    plan: Any = "auto"
    partitions: int | None = None
    aggregation: Aggregation | None = None
    invalidation: Invalidation = "auto"
    on_error: OnError = "raise"

    def stream(self, name: str) -> Stream:
        return next(stream for stream in self.streams if stream.name == name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(stream.name for stream in self.streams)

    def filters_of(self, stream: str | None = None) -> tuple[Expression, ...]:
        """The conditions on one stream alone, of this stream or of all."""
        return tuple(condition for name, condition in self.filters if stream in (None, name))

    @property
    def preserved(self) -> tuple[str, ...]:
        """The streams whose unmatched rows come out."""
        left, right = self.names[0], self.names[-1]
        sides: dict[str, tuple[str, ...]] = {"left": (left,), "anti": (left,), "right": (right,), "full": (left, right)}
        return sides.get(self.how, ())

    @property
    def time_type(self) -> pa.DataType:
        """Type of ``result_time``: microseconds, with the zone of the first stream's time."""
        return pa.timestamp("us", tz=self.streams[0].time_type.tz)

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
