"""Rows with their answers as rows of the result, and those that have none where they must."""

from collections.abc import Mapping, Sequence
from copy import copy

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.asof.answers import Answers, certain_us
from dovetail.engine.asof.side import Asked, Side
from dovetail.engine.asof.waiting import undecided
from dovetail.engine.evaluate import compile_expression
from dovetail.model.expression import columns_of
from dovetail.model.query import JoinQuery

_MOST_ROWS = 1 << 17  # of one batch of results


class Results:
    """The select list of an as-of query."""

    def __init__(self, query: JoinQuery, sides: Sequence[Side]) -> None:
        self._schema = query.schema
        self.sides = {side.name: side for side in sides}
        expressions = [output.expression for output in query.select]
        self._select = [compile_expression(expression) for expression in expressions]
        self._used = {(c.stream, c.name) for expression in expressions for c in columns_of(expression)}

    def over(self, sides: Mapping[str, Side]) -> "Results":
        """The same of rows that stand elsewhere."""
        other = copy(self)
        other.sides = dict(sides)
        return other

    def settled(
        self, asked: Asked, reach: Mapping[str, int], end: int
    ) -> tuple[list[pa.RecordBatch], Asked, dict[str, Answers]]:
        """The results that are certain of some rows, and the rows whose answers are not, with what is known of them."""
        answers = {name: side.answer(asked, reach[name]) for name, side in self.sides.items()}
        asked, answers = _only(asked, answers, ~self.hopeless(answers))
        open_ = undecided(list(answers.values()))
        return self.rows(*_only(asked, answers, ~open_), end), *_only(asked, answers, open_)

    def hopeless(self, answers: Mapping[str, Answers]) -> npt.NDArray[np.bool_]:
        """Rows that have no answer, for certain, from a stream that must give one."""
        without = [
            ~answers[name].open & (answers[name].chosen < 0)
            for name, side in self.sides.items()
            if side.asof.how == "inner"
        ]
        some = next(iter(answers.values()))
        return np.logical_or.reduce(without) if without else np.zeros(len(some.open), np.bool_)

    def rows(self, asked: Asked, answers: Mapping[str, Answers], end: int) -> list[pa.RecordBatch]:
        """The results; ``end`` is the time of those that had to wait for the end of all input."""
        pieces = [slice(at, at + _MOST_ROWS) for at in range(0, len(asked), _MOST_ROWS)]
        return [self._piece(asked, answers, piece, end) for piece in pieces]

    def _piece(self, asked: Asked, answers: Mapping[str, Answers], piece: slice, end: int) -> pa.RecordBatch:
        times = asked.times[piece]
        length, latest = len(times), times
        columns = {place: array.slice(piece.start, length) for place, array in asked.columns.items()}
        for name, side in self.sides.items():
            stored, chosen = side.chains.rows, np.maximum(answers[name].chosen[piece], -1)
            columns |= {place: stored.take(place[1], chosen) for place in self._used if place[0] == name}
            of_chosen = stored.times[chosen] if len(stored.times) else np.zeros(length, np.int64)
            latest = np.maximum(latest, certain_us(side.asof, times + side.asof.offset_us, chosen, of_chosen, end))
        stamps = pa.array(latest, pa.int64()).cast(self._schema.field(0).type)
        arrays = [expression(columns, length) for expression in self._select]
        return pa.RecordBatch.from_arrays([stamps, *arrays], schema=self._schema)


def _only(
    asked: Asked, answers: Mapping[str, Answers], which: npt.NDArray[np.bool_]
) -> tuple[Asked, dict[str, Answers]]:
    """Some of the rows."""
    if which.all():
        return asked, dict(answers)
    rows = np.flatnonzero(which)
    return asked.at(rows), {name: each.at(rows) for name, each in answers.items()}
