"""Notes about stored tuples, one number per slot."""

import numpy as np

from dovetail.engine.kernels.signature import I8
from dovetail.kernel import interpretable


@interpretable(f"{I8}({I8}, {I8}, int64, int64, int64)")
def turn_notes(notes, ids, base, before, after):
    """Change the notes of these tuples where they are ``before``; returns whose were, each tuple once."""
    turned, count = np.empty(len(ids), np.int64), 0
    for tuple_id in ids:
        if notes[tuple_id - base] == before:
            notes[tuple_id - base] = after
            turned[count] = tuple_id
            count += 1
    return turned[:count].copy()


@interpretable(f"int64({I8}, int64, int64, int64)")
def first_note_from(notes, start, stop, least):
    """The first slot from ``start`` on whose note is at least ``least``; ``stop`` if there is none."""
    while start < stop and notes[start] < least:
        start += 1
    return start
