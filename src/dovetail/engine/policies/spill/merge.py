"""Small parts become larger ones: a pass reads every part of one stream for every part of another.

    16 partitions, 30 flushes      480 parts of 200 tuples, each read 30 times; as 96 parts of 1,000, each read 6 times

Parts of a stream that share a partition and a log of probes may stand in one file, in which every tuple keeps its own
arrival and departure. After a flush they are merged once half of a full part has come together, so that no tuple is
written more than twice; after a pass, when nothing is owed among them, all that fit together.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pyarrow as pa

from dovetail.engine.policies.spill.flush import Flush
from dovetail.engine.policies.spill.part import Epochs, Part, Span, epochs_of, runs_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.errors import BudgetError


def merge_parts(store: PartStore, flush: Flush, parts: Iterable[Part], number: int, least: float = 0.0) -> list[Part]:
    """The same tuples in fewer parts, new ones numbered from ``number`` on; none smaller than this share of a full one.

    Parts that are that large already stay as they are.
    """
    alike: defaultdict[object, list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (part.span.earliest, part.number)):
        alike[part.stream, part.span.partition, part.span.probes].append(part)
    numbers, merged = count(number), list[Part]()
    for some in alike.values():
        most = flush.most_rows(some[0].stream)
        enough = least * most
        small = [part for part in some if not least or part.rows < enough]
        merged += [part for part in some if least and part.rows >= enough]
        for group in fitting(small, most):
            merged += _tried(store, group, numbers) if sum(part.rows for part in group) >= enough else group
    return merged


def _tried(store: PartStore, parts: list[Part], numbers: Iterator[int]) -> list[Part]:
    """One part, or all as they are if there is no room to write it."""
    if len(parts) == 1:
        return parts
    read = [store.read(part.number) for part in parts]
    if any(rows.schema.names != read[0].schema.names for rows in read):
        return parts  # queries that joined or left in between stored other columns
    try:
        return [_merged(store, parts, read, next(numbers))]
    except BudgetError:
        return parts


def fitting(parts: Iterable[Part], most: int) -> Iterator[list[Part]]:
    """Neighbours that have at most so many tuples together."""
    group: list[Part] = []
    held = 0
    for part in parts:
        if group and held + part.rows > most:
            yield group
            group, held = [], 0
        group.append(part)
        held += part.rows
    if group:
        yield group


def _merged(store: PartStore, parts: list[Part], read: list[pa.RecordBatch], number: int) -> Part:
    merged = write_together(store, number, Together.of(parts, pa.concat_batches(read)), parts[0].span.partition)
    for part in parts:
        store.delete(part.number)
    return merged


@dataclass(frozen=True)
class Together:
    """The tuples of some parts that are alike, with their epochs of arrival and departure."""

    parts: Sequence[Part]
    rows: pa.RecordBatch
    arrived: Epochs
    departed: Epochs

    @staticmethod
    def of(parts: Sequence[Part], rows: pa.RecordBatch) -> "Together":
        departures = [part.departures or ((part.rows, part.span.departed),) for part in parts]
        arrived, departed = (
            np.concatenate([epochs_of(r) for r in runs]) for runs in ([p.runs for p in parts], departures)
        )
        return Together(parts, rows, arrived, departed)

    def take(self, places: Epochs) -> "Together":
        return Together(self.parts, self.rows.take(pa.array(places)), self.arrived[places], self.departed[places])


def write_together(store: PartStore, number: int, some: Together, partition: int | None) -> Part:
    """A new part with these tuples."""
    store.write(number, some.rows)
    spans = [part.span for part in some.parts]
    span = Span(
        min(span.earliest for span in spans), max(span.latest for span in spans),
        int(some.arrived.min()), int(some.arrived.max()), int(some.departed.min()), partition, spans[0].probes,
    )  # fmt: skip
    arrivals, departures = runs_of(some.arrived), runs_of(some.departed)
    return Part(number, some.parts[0].stream, some.rows.num_rows, some.rows.nbytes, arrivals, span, departures)
