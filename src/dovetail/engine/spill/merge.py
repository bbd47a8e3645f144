"""Small parts become larger ones after a pass, when nothing is owed among them.

Everything that has arrived by then has been joined with everything, so when each of their tuples arrived and departed
makes no difference any more: whatever comes later finds them on disk.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa

from dovetail.engine.spill.flush import Flush
from dovetail.engine.spill.part import Part, Span
from dovetail.engine.spill.store import PartStore
from dovetail.errors import BudgetError


def merge_parts(store: PartStore, flush: Flush, parts: Iterable[Part]) -> list[Part]:
    """The same tuples in fewer parts, each under the number of its first."""
    alike: defaultdict[tuple[str, int | None], list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (part.span.earliest, part.number)):
        alike[part.stream, part.span.partition].append(part)
    groups = [group for some in alike.values() for group in _fitting(some, flush.most_rows(some[0].stream))]
    return [part for group in groups for part in _tried(store, group)]


def _tried(store: PartStore, parts: list[Part]) -> list[Part]:
    """One part, or all as they are if there is no room to write it."""
    try:
        return parts if len(parts) == 1 else [_merged(store, parts)]
    except BudgetError:
        return parts


def _fitting(parts: list[Part], most: int) -> Iterator[list[Part]]:
    group: list[Part] = []
    for part in parts:
        if group and sum(each.rows for each in group) + part.rows > most:
            yield group
            group = []
        group.append(part)
    yield group


def _merged(store: PartStore, parts: list[Part]) -> Part:
    rows = pa.concat_batches([store.read(part.number) for part in parts])
    first, spans = parts[0], [part.span for part in parts]
    store.write(first.number, rows)
    for part in parts[1:]:
        store.delete(part.number)
    last = max(span.last for span in spans)
    span = Span(
        min(span.earliest for span in spans), max(span.latest for span in spans), last, last,
        max(span.departed for span in spans), first.span.partition,
    )  # fmt: skip
    return replace(first, rows=rows.num_rows, bytes=rows.nbytes, runs=((rows.num_rows, last),), span=span)
