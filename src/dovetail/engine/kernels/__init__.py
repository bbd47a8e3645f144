"""The loops that numbers pass through: arrays in, arrays out, compiled once and cached on disk.

Every probing kernel has the same shape. It extends partial results ``p, p+1, ...``: for each it
finds tuples of one window whose value fits and whose time lies in ``[lows[p], highs[p]]``, and
writes (parent, tuple id) pairs. When the output is full it returns where it stands and is called
again from there, so that an exploding join needs bounded memory.

A tuple's id counts arrivals of its stream; the window's arrays start at id ``base`` and tuples
before ``tail`` have expired. ``slack`` says how far a tuple's time may lie behind that of an
earlier arrival (0 for input in order): walking back in arrival order may stop once
``time + slack < low``.
"""

from dovetail.engine.kernels.bands import (
    EXACT,
    HAS_HIGH,
    HAS_LOW,
    HIGH_STRICT,
    LOW_STRICT,
    MOVED,
    PLAIN,
    WINDOW_IS_LEFT,
    float_ranges,
    in_band,
)
from dovetail.engine.kernels.cells import cell_insert, cell_of, cell_probe
from dovetail.engine.kernels.chains import bucket_of, hash_insert, hash_probe, last_rows_probe, push_out
from dovetail.engine.kernels.codes import (
    append_offsets,
    by_number,
    combine_codes,
    gather_bytes,
    gather_offsets,
    hash_bytes,
    spread,
)
from dovetail.engine.kernels.notes import first_note_from, turn_notes
from dovetail.engine.kernels.order import time_order
from dovetail.engine.kernels.pairs import merge_pairs, pair_probe
from dovetail.engine.kernels.products import pair_products
from dovetail.engine.kernels.runs import merge_runs, sorted_probe
from dovetail.engine.kernels.scans import first_at_least, scan_all, scan_band, scan_equal
from dovetail.engine.kernels.times import bounds_of, extend, inspect_times, running_largest

__all__ = [
    "EXACT",
    "HAS_HIGH",
    "HAS_LOW",
    "HIGH_STRICT",
    "LOW_STRICT",
    "MOVED",
    "PLAIN",
    "WINDOW_IS_LEFT",
    "append_offsets",
    "bounds_of",
    "bucket_of",
    "by_number",
    "cell_insert",
    "cell_of",
    "cell_probe",
    "combine_codes",
    "extend",
    "first_at_least",
    "first_note_from",
    "float_ranges",
    "gather_bytes",
    "gather_offsets",
    "hash_bytes",
    "hash_insert",
    "hash_probe",
    "in_band",
    "inspect_times",
    "last_rows_probe",
    "merge_pairs",
    "merge_runs",
    "pair_probe",
    "pair_products",
    "push_out",
    "running_largest",
    "scan_all",
    "scan_band",
    "scan_equal",
    "sorted_probe",
    "spread",
    "time_order",
    "turn_notes",
]
