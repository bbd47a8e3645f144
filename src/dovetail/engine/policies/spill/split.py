"""Partitions that have grown are split before a pass, which reads each part of one stream for each part of another.

    9 parts of A and 9 of B       81 pairs; split twice, four partitions of 2 or 3 parts each: 25 pairs

As in a hash join that partitions again: by one more bit of the hash at a time, two parts' worth of tuples in memory,
until all streams but one have few parts in it. Splitting reads and writes each tuple once per bit, so that a pass costs
n log n and not n squared. Tuples of one key cannot be split: a half that has nearly all of them is left as it is.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import count

import numpy as np
import pyarrow as pa

from dovetail.engine.policies.spill.choose import Coordinated
from dovetail.engine.policies.spill.flush import Flush
from dovetail.engine.policies.spill.merge import Together, fitting, write_together
from dovetail.engine.policies.spill.part import Part, place_of
from dovetail.engine.policies.spill.store import PartStore
from dovetail.errors import BudgetError

_FEW = 2  # full parts of a stream: splitting two with two would cost as much as the pairs that it saves
_NEARLY_ALL = 0.9  # of a partition's tuples in one half: they have one key, or few
_DEEPEST = 1 << 24  # places in the tree of halves: 2^24 partitions of one part each are more than any disk holds


def split_parts(store: PartStore, flush: Flush, parts: Iterable[Part], number: int) -> list[Part]:
    """The same tuples in finer partitions, new parts numbered from ``number`` on."""
    if not isinstance(flush.choice, Coordinated):
        return list(parts)
    numbers, done = count(number), list[Part]()
    waiting: defaultdict[int, list[Part]] = defaultdict(list)
    for part in parts:
        if part.span.partition is None:
            done.append(part)
        else:
            waiting[place_of(part.span.partition)].append(part)
    while waiting:
        place = min(waiting)
        some = waiting.pop(place)
        if place >= _DEEPEST or not _is_large(flush, some):
            done += some
            continue
        halves = _split(store, flush, some, numbers)
        rows = sum(part.rows for part in some)
        for part in halves:
            half = place_of(part.span.partition or 0)
            share = sum(each.rows for each in halves if each.span.partition == part.span.partition) / rows
            if half == place or share > _NEARLY_ALL:
                done.append(part)
            else:
                waiting[half].append(part)
    return done


def _is_large(flush: Flush, parts: list[Part]) -> bool:
    """Whether two streams have more than a few parts' worth of tuples."""
    rows: defaultdict[str, int] = defaultdict(int)
    for part in parts:
        rows[part.stream] += part.rows
    return sum(count > _FEW * flush.most_rows(name) for name, count in rows.items()) > 1


def _split(store: PartStore, flush: Flush, parts: list[Part], numbers: Iterator[int]) -> list[Part]:
    alike: defaultdict[object, list[Part]] = defaultdict(list)
    for part in sorted(parts, key=lambda part: (part.span.earliest, part.number)):
        alike[part.stream, part.span.probes].append(part)
    found = list[Part]()
    for some in alike.values():
        for group in fitting(some, 2 * flush.most_rows(some[0].stream)):
            found += _halves(store, flush, group, numbers)
    return found


def _halves(store: PartStore, flush: Flush, parts: list[Part], numbers: Iterator[int]) -> list[Part]:
    """The tuples of some parts by their half; the parts as they are, if there is no room to write it."""
    read = [store.read(part.number) for part in parts]
    if any(rows.schema.names != read[0].schema.names for rows in read):
        return parts  # queries that joined or left in between stored other columns
    first, most = parts[0], flush.most_rows(parts[0].stream)
    assert isinstance(flush.choice, Coordinated)
    assert first.span.partition is not None
    some = Together.of(parts, pa.concat_batches(read))
    upper = flush.choice.in_upper_half(first.stream, some.rows, first.span.partition)
    written = list[Part]()
    try:
        for side in (0, 1):
            places = np.flatnonzero(upper == side)
            for start in range(0, len(places), max(1, most)):
                piece = some.take(places[start : start + most])
                half = 2 * place_of(first.span.partition) + side
                written.append(write_together(store, next(numbers), piece, half))
    except BudgetError:
        for part in written:
            store.delete(part.number)
        return parts
    for part in parts:
        store.delete(part.number)
    return written
