"""The numbers of stored tuples that indexes and probes compare: keys, values of bands, vectors.

Most stand in a stored column already and are read from there; the others are derived from a block's rows and stored
beside the columns.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from dovetail.engine.buffer.columns import Column, FixedColumn, Numbers
from dovetail.engine.buffer.stored_as import stored_as
from dovetail.plan.physical import Attribute

Source = Numbers | FixedColumn


class Attributes:
    """Where the numbers of each attribute stand, by slot; ``derived`` are those that no column holds."""

    def __init__(self, stream: str, columns: Mapping[str, Column], wanted: Iterable[Attribute]) -> None:
        self._stream = stream
        self._columns = columns
        self.derived: dict[Attribute, Numbers] = {}
        self._sources = {attribute: self._source(attribute) for attribute in wanted}

    def __getitem__(self, attribute: Attribute) -> Source:
        return self._sources[attribute]

    def _source(self, attribute: Attribute) -> Source:
        column = stored_as(self._stream, attribute)
        if column is not None:
            return fixed_column(self._columns, column)
        self.derived[attribute] = Numbers(np.empty(0, np.int64))
        return self.derived[attribute]

    def change(self, wanted: Iterable[Attribute]) -> set[Attribute]:
        """Keep these attributes only; returns those that are derived and were not stored before."""
        known, wanted = self._sources, tuple(wanted)
        self.derived = {attribute: self.derived[attribute] for attribute in wanted if attribute in self.derived}
        self._sources = {a: known[a] if a in known else self._source(a) for a in wanted}
        return self.derived.keys() - known.keys()

    def vector_width(self, attribute: Attribute) -> int:
        """Length of the vectors stored so far; 0 if none came yet."""
        known = self.derived.get(attribute)
        return known.data.shape[1] if known is not None and known.data.ndim == 2 else 0


def fixed_column(columns: Mapping[str, Column], name: str) -> FixedColumn:
    """A column whose values are numbers of one size."""
    column = columns[name]
    assert isinstance(column, FixedColumn), name
    return column
