"""The diverted rows of groups side by side, until somebody takes them.

Groups that share a stream each divert its late rows; they are told once, by the first that has the stream. A group that
ends leaves its rows here.
"""

from collections.abc import Iterator, Mapping
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.buffer.section import SliceKey, Slices
from dovetail.engine.deliver.route import MEMBERSHIP
from dovetail.model.stream import Stream

_SECTION = "diverted"


class _Group(Protocol):
    """What must be known of a group."""

    @property
    def streams(self) -> tuple[str, ...]: ...

    @property
    def diverted(self) -> Diverted: ...


class GroupsDiverted:
    """What ``late`` and ``take_late`` of a shared run give."""

    def __init__(self) -> None:
        self._groups: Mapping[str, _Group] = {}
        self._gathered = pa.table({})

    def follow(self, groups: Mapping[str, _Group]) -> None:
        """From now on it is the side output of these."""
        self._groups = groups

    @property
    def nbytes(self) -> int:
        """What the rows of groups that ended take; the others count their own."""
        return int(self._gathered.nbytes)

    def table(self) -> pa.Table:
        """The rows that nobody has taken yet."""
        known = [table for table in (self._gathered, *self._told()) if table.num_columns]
        return pa.concat_tables(known, promote_options="default") if known else pa.table({})

    def drain(self) -> pa.Table:
        """The same; they are forgotten here."""
        rows, self._gathered = self.table(), pa.table({})
        for group in self._groups.values():
            group.diverted.drain()
        return rows

    def failed(self, stream: Stream, rows: pa.Table, error: Exception) -> None:
        raise NotImplementedError("shared queries do not divert batches that fail")

    def gather(self) -> None:
        """Keep all rows here: some group is about to end."""
        self._gathered = self.drain()

    def _told(self) -> Iterator[pa.Table]:
        told: set[str] = set()
        for group in self._groups.values():
            rows = _without_epochs(group.diverted.table())
            yield rows.filter(pc.invert(pc.is_in(rows["stream"], pa.array(sorted(told), pa.string()))))
            if group.diverted.wanted:
                told |= set(group.streams)

    def state(self) -> Slices:
        """What groups that ended left here; the others' rows are part of their own state."""
        batches = self._gathered.combine_chunks().to_batches()
        return {(_SECTION, number): rows for number, rows in enumerate(batches)}

    def restore(self, slices: Mapping[SliceKey, pa.RecordBatch]) -> None:
        """Back from a state."""
        numbers = sorted(number for section, number in slices if section == _SECTION)
        self._gathered = pa.Table.from_batches(slices[_SECTION, each] for each in numbers) if numbers else pa.table({})


def _without_epochs(rows: pa.Table) -> pa.Table:
    for at, field in enumerate(rows.schema):
        if pa.types.is_struct(field.type):
            kept = [part for part in field.type if part.name != MEMBERSHIP]
            column = rows.column(at).combine_chunks()
            parts = [column.field(part.name) for part in kept]
            bare = pa.StructArray.from_arrays(parts, fields=kept, mask=column.is_null())
            rows = rows.set_column(at, pa.field(field.name, bare.type), bare)
    return rows
