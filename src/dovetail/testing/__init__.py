"""For tests of queries and of Dovetail itself: the oracle, scripts to feed it, comparing, and made-up streams.

oracle      what a query must give, by nested loops over the whole history
script      what happens to a query, in order: pushes, promises, ticks, the end
compare     the same rows however they are ordered, with a readable difference
"""

from dovetail.testing.compare import assert_same_rows, assert_subset, difference, ordered, same_rows
from dovetail.testing.oracle import Outcome, oracle
from dovetail.testing.script import Advance, Close, Event, Push, Script, Tick

__all__ = [
    "Advance",
    "Close",
    "Event",
    "Outcome",
    "Push",
    "Script",
    "Tick",
    "assert_same_rows",
    "assert_subset",
    "difference",
    "oracle",
    "ordered",
    "same_rows",
]
