"""Similar vectors by matrix products: tile by tile, then a threshold.

A matrix product may sum in any order, so its last bits depend on the shape of the tile. Pairs whose
score lies near the threshold are therefore scored again one by one, always summed first to last:
what matches does not depend on how the input was cut.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from dovetail.engine.buffer.window import Window
from dovetail.engine.combine.partial import Ids, Partial
from dovetail.engine.kernels import first_at_least, pair_products
from dovetail.model.predicate import Similarity
from dovetail.plan.physical import SimilarityAccess

_ROWS, _COLUMNS = 256, 512  # products of a megabyte, which stay in the second cache

Matrix = npt.NDArray[np.float64]


def similar_pairs(
    access: SimilarityAccess, bound: Window, window: Window, partial: Partial, lows: Ids
) -> Iterator[tuple[Ids, Ids]]:
    """Pieces of (parent, id) pairs whose vectors are similar and whose times fit."""
    if not len(window) or not len(partial):
        return
    ours: Matrix = bound.attribute(access.bound)
    theirs: Matrix = window.attribute(access.own)
    if ours.shape[1] != theirs.shape[1]:
        return
    slots = partial.ids[access.bound_stream] - bound.base
    for start in range(0, len(partial), _ROWS):
        rows = slice(start, min(start + _ROWS, len(partial)))
        for stored in _tiles(window, int(lows[rows].min()), int(partial.expiry[rows].max())):
            parents, found = _similar(access.similarity, ours, slots[rows], theirs, stored)
            parents += start
            times = window.times[found]
            fits = (times >= lows[parents]) & (times <= partial.expiry[parents])
            yield parents[fits], found[fits] + window.base


def _tiles(window: Window, low: int, high: int) -> Iterator[Ids]:
    """Slots of the tuples whose time can lie in [low, high], a tile at a time."""
    start = first_at_least(window.clock, window.tail - window.base, window.shown - window.base, low)
    stop = first_at_least(window.clock, start, window.shown - window.base, high + window.slack + 1)
    for at in range(start, stop, _COLUMNS):
        yield np.arange(at, min(at + _COLUMNS, stop))


def _similar(wanted: Similarity, ours: Matrix, mine: Ids, theirs: Matrix, stored: Ids) -> tuple[Ids, Ids]:
    left, right = ours[mine], theirs[stored[0] : stored[-1] + 1]
    lengths = np.sqrt((left**2).sum(axis=1))[:, None] * np.sqrt((right**2).sum(axis=1))[None, :]
    scores = left @ right.T
    bar = wanted.threshold if wanted.measure == "inner_product" else wanted.threshold * lengths
    margin = 1e-14 * left.shape[1] * (lengths + np.abs(bar))
    parents, columns = np.nonzero(scores >= bar - margin)
    near = scores[parents, columns] <= (bar + margin)[parents, columns]
    keep = np.ones(len(parents), np.bool_)
    keep[near] = is_similar(wanted, ours, mine[parents[near]], theirs, stored[columns[near]])
    return parents[keep], stored[columns[keep]]


def is_similar(
    wanted: Similarity, left: Matrix, left_slots: Ids, right: Matrix, right_slots: Ids
) -> npt.NDArray[np.bool_]:
    """The exact test of row pairs; a zero vector has no direction, so no cosine."""
    scores = pair_products(left, left_slots, right, right_slots)
    if wanted.measure == "cosine_similarity":
        ours = np.sqrt(pair_products(left, left_slots, left, left_slots))
        theirs = np.sqrt(pair_products(right, right_slots, right, right_slots))
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = scores / (ours * theirs)
    similar: npt.NDArray[np.bool_] = scores > wanted.threshold if wanted.strict else scores >= wanted.threshold
    return similar
