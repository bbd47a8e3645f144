"""A part back in memory for as long as it is joined: a window of its own, with its notes.

Notes say what became of a tuple (unmatched so far, given out, best result time). They are columns of the part, written
again if joining changed them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dovetail.engine.buffer.window import Window
from dovetail.engine.deliver.places import Place
from dovetail.engine.policies.spill.part import EPOCH, Epochs, Part, Span, epochs_of, span_in_memory
from dovetail.engine.policies.spill.store import PartStore
from dovetail.engine.policies.stages import Stages

Notes = Mapping[str, npt.NDArray[np.int64]]
_NOTE = "note:"


@dataclass(frozen=True)
class Loaded(Place):
    """Tuples of one stream that can be joined: those in memory, or those of a part."""

    span: Span
    departures: Epochs | None = None  # by slot; None: all at the span's

    def arrived(self, ids: Epochs) -> Epochs:
        """The epochs in which these tuples arrived."""
        epochs: Epochs = self.window.note(EPOCH)[ids - self.window.base]
        return epochs

    def departed(self, ids: Epochs) -> Epochs:
        """The epochs from which on they were no longer in memory."""
        if self.departures is None:
            return np.full(len(ids), self.span.departed)
        return self.departures[ids - self.window.base]


def in_memory(stages: Stages, name: str) -> Loaded:
    """The stream's window as it is."""
    window = stages.store.windows[name]
    return Loaded(window, stages.exit.keepers(name), span_in_memory(window))


@contextmanager
def loaded(stages: Stages, store: PartStore, part: Part) -> Iterator[Loaded]:
    """The part in memory; what joining it changed about its tuples is kept."""
    rows, notes = without_notes(store.read(part.number))
    found = _window(stages, part, rows)
    kept = note_names(stages, part.stream)
    for name in notes.keys() & set(kept):
        found.window.note(name)[: part.rows] = notes[name]
    yield found
    now = {name: found.window.note(name)[: part.rows] for name in kept}
    if any(name not in notes or (now[name] != notes[name]).any() for name in kept):
        store.write(part.number, with_notes(rows, now))


def _window(stages: Stages, part: Part, rows: pa.RecordBatch) -> Loaded:
    plan, name = stages.store.plan, part.stream
    window = Window(plan.query.stream(name), plan.storage[name])
    window.keep_note(EPOCH, 0)
    keepers = [each.over(window) for each in stages.exit.keepers(name)]
    window.append(stages.store.doors[name].stored(_with_all_columns(stages, name, rows)))
    window.note(EPOCH)[: part.rows] = epochs_of(part.runs)
    departures = epochs_of(part.departures) if part.departures else None
    return Loaded(window, keepers, part.span, departures, number=part.number)


def _with_all_columns(stages: Stages, name: str, rows: pa.RecordBatch) -> pa.RecordBatch:
    """NULL in columns that were not stored when the part was written: a query that reads them has joined since."""
    plan, here = stages.store.plan, rows.schema.names
    schema = plan.query.stream(name).schema
    for column in plan.storage[name].columns:
        if column not in here:
            rows = rows.append_column(schema.field(column), pa.nulls(rows.num_rows, schema.field(column).type))
    return rows


def note_names(stages: Stages, name: str) -> list[str]:
    """The notes that tuples of a stream carry."""
    return [marks.name for each in stages.exit.keepers(name) for marks in each.sections()]


def with_notes(rows: pa.RecordBatch, notes: Notes) -> pa.RecordBatch:
    """Rows with their notes as columns behind the others."""
    arrays = [*rows.columns, *(pa.array(values) for values in notes.values())]
    return pa.RecordBatch.from_arrays(arrays, names=[*rows.schema.names, *(_NOTE + name for name in notes)])


def without_notes(rows: pa.RecordBatch) -> tuple[pa.RecordBatch, dict[str, npt.NDArray[np.int64]]]:
    """The inverse."""
    names = rows.schema.names
    notes = {name[len(_NOTE) :]: rows.column(at).to_numpy() for at, name in enumerate(names) if name.startswith(_NOTE)}
    return rows.select(names[: len(names) - len(notes)]), notes
