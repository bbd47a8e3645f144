"""The exit of an operator that many queries share: results found once, handed to every query they belong to.

Each query's own windows and conditions make a box (``boxes``); what it selects is gathered once for all
(``wide``). A ``Subscription`` is a query's place in a running group: a number that is never given again, and from
which tuples on it takes part. Tuples are told apart by the ``epoch`` in which they arrived, which counts the changes
of the group:

    epoch 0: q1 alone     epoch 1: q2 joins, since = 1     q2 sees results whose last member arrived in epoch 1 or later
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.check import values
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.deliver.ages import Ages
from dovetail.engine.deliver.boxes import Boxes, Comparison, Places, Range, ages_among, comparison, flags, places_among
from dovetail.engine.deliver.wide import WideRows
from dovetail.errors import StateError
from dovetail.model.expression import Expression, columns_of
from dovetail.model.window import RowWindow
from dovetail.model.window import Window as WindowSize
from dovetail.plan.share_queries import Member, SharedPlan, window_size

MEMBERSHIP = "\x00epoch"
_FOREVER = (1 << 31) - 1  # ranges are 32-bit numbers
_MOST_CHANGES = 1 << 24  # of a group in its life: weeks of a change every tenth of a second


@dataclass(frozen=True)
class Subscription:
    """A query's place in a running group.

    ``since``: at least one member of its results arrived in this epoch or later; ``whole``: the epoch from which on a
    stream's tuples have all columns that it reads; ``complete_from``: from this result time on nothing is missing;
    ``settled_from``: from this event time on it is known of a tuple whether it has a partner.
    """

    name: str
    number: int
    fingerprint: str
    since: int = 0
    whole: Mapping[str, int] = field(default_factory=dict)
    complete_from: int | None = None
    settled_from: int | None = None

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> "Subscription":
        """Back from plain values."""
        whole = {stream: checked_count(epoch) for stream, epoch in values["whole"].items()}
        number, since = checked_count(values["number"]), checked_count(values["since"])
        times = (values["complete_from"], values.get("settled_from"))
        complete, settled = (None if time is None else int(time) for time in times)
        return Subscription(str(values["name"]), number, str(values["fingerprint"]), since, whole, complete, settled)


def checked_count(value: Any) -> int:
    """A number of changes or queries that was read back; StateError unless a group can have had so many."""
    count = int(value)
    if not 0 <= count <= _MOST_CHANGES:
        raise StateError(f"the state tells of {count} changes of a group; 0 to {_MOST_CHANGES} are possible")
    return count


class Router:
    """Results in, rows of queries out: result time, number of the query, the columns of all."""

    def __init__(
        self,
        shared: SharedPlan,
        subscriptions: Sequence[Subscription],
        certain: Sequence[str],
        windows: Mapping[str, Window],
        ages: Ages,
    ) -> None:
        self._shared = shared
        self._certain = certain
        self._windows = windows
        self._ages = ages
        self._numbers = np.array([each.number for each in subscriptions], np.int64)
        self._wide = WideRows([member.query for member in shared.members], inner_schema(shared), windows)
        self._boxes = Boxes(ranges=[[] for _ in shared.members])
        self._ask_conditions()
        self._ask_windows()
        self._ask_epochs(subscriptions)
        self._boxes.close()

    def routed(self, results: Partial) -> Iterator[tuple[Partial, Ids]]:
        """Every result once for each query that it belongs to, with the place of that query."""
        for start in range(0, len(results), self._boxes.most):
            part = results.at(slice(start, start + self._boxes.most))
            found, queries = self._boxes.inside(part, len(part))
            if len(found):
                yield part.at(found), queries

    def rows(self, results: Partial, queries: Ids) -> Iterator[pa.RecordBatch]:
        """Routed results as rows."""
        return self._wide.batches(results, queries, self._numbers[queries])

    def _ask(self, asking: Sequence[tuple[int, int, int]], reader: Callable[[Partial], Places]) -> None:
        """A coordinate, and the range (query, low, high) that each query asks of it."""
        coordinate = self._boxes.coordinate(reader)
        for query, low, high in asking:
            self._boxes.ranges[query].append(Range(coordinate, low, high))

    def _ask_conditions(self) -> None:
        compared: dict[Expression, list[tuple[int, Comparison]]] = {}
        others: dict[Expression, list[int]] = {}
        for at, member in enumerate(self._shared.members):
            for stream, condition in member.query.filters:
                if condition_text(stream, condition) in self._certain:
                    continue
                found = comparison(condition)
                if found is not None:
                    compared.setdefault(found.operand, []).append((at, found))
                else:
                    others.setdefault(condition, []).append(at)
        for operand, asking in compared.items():
            bounds = sorted({each.bound for _, each in asking})
            self._ask([(at, *each.range(bounds)) for at, each in asking], self._places(operand, bounds))
        for condition, queries in others.items():
            self._ask([(at, 1, 1) for at in queries], self._flags(condition))

    def _ask_windows(self) -> None:
        for stream in self._shared.plan.query.streams:
            sizes = [_oldest(member.query.stream(stream.name).window) for member in self._shared.members]
            limits = sorted(set(sizes))
            narrow = [(at, 0, limits.index(size)) for at, size in enumerate(sizes) if size < limits[-1]]
            if narrow:
                self._ask(narrow, self._age(stream.name, limits))

    def _ask_epochs(self, subscriptions: Sequence[Subscription]) -> None:
        since = [(at, each.since, _FOREVER) for at, each in enumerate(subscriptions) if each.since]
        if since:
            self._ask(since, lambda results: np.max([self._epochs(name, results) for name in results.ids], axis=0))
        for name in self._windows:
            whole = [(at, each.whole[name], _FOREVER) for at, each in enumerate(subscriptions) if name in each.whole]
            if whole:
                self._ask(whole, partial(self._epochs, name))

    def _epochs(self, stream: str, results: Partial) -> Places:
        epochs: Places = self._windows[stream].take(MEMBERSHIP, results.ids[stream]).to_numpy()
        return epochs

    def _places(self, operand: Expression, bounds: Sequence[int | float]) -> Callable[[Partial], Places]:
        return lambda results: places_among(values(operand, self._windows, results), bounds)

    def _flags(self, condition: Expression) -> Callable[[Partial], Places]:
        return lambda results: flags(values(condition, self._windows, results))

    def _age(self, stream: str, limits: Sequence[int]) -> Callable[[Partial], Places]:
        return lambda results: ages_among(self._ages.of(stream, results), limits)


def _oldest(size: WindowSize | None) -> int:
    """The largest age that is inside a window."""
    return window_size(size) - isinstance(size, RowWindow)


def inner_schema(shared: SharedPlan) -> pa.Schema:
    """Rows as they wait inside the operator: result time, number of the query, the columns of all queries."""
    columns = [field for field in shared.schema if field.name not in ("query", "result_time")]
    return pa.schema([shared.schema.field("result_time"), pa.field("query", pa.int32()), *columns])


def condition_text(stream: str, condition: Expression) -> str:
    """A condition on one stream, as it is told from others."""
    return f"{stream}: {condition}"


def member_columns(member: Member, stream: str) -> set[str]:
    """The columns of a stream that a member reads above the join."""
    expressions = [output.expression for output in member.query.select] + list(member.query.filters_of())
    return {column.name for each in expressions for column in columns_of(each) if column.stream == stream}
