"""One result, and the moment at which it is certain: what the watermarks must have passed.

    a match                      certain when its last row has come, since nothing can undo it
    ... with a row window        that stream has passed its result time: nothing can push the row out any more
    a row without a partner      the other stream has passed its time plus its window
    ... of a row window          both have passed the time of the row that pushed it out
    a row of a semi join         both have come to its result time: no earlier match can follow
    an as-of result              each as-of stream has passed the time up to which it must be known (``asof``)
    of three streams and more    what lacks a partner: see ``stepwise``

A watermark has passed a time if it is larger, so that no row of that very time can come any more. With an order a
result also waits until all streams have come to its time. With "sync" (and "adaptive", which begins so) rows wait at
the door until then, and hold their stream back; an as-of join has no such door.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dovetail.testing.history import History, Tuple

Members = Mapping[str, Tuple]


@dataclass(frozen=True)
class Result:
    """A result's time (None: that of the end) and its members; a missing side has no member.

    ``passed``: the times that streams must have passed for it to be certain. Of several ways one is enough; if there is
    none, it is certain at the end of all input.
    """

    time_us: int | None
    members: Members
    passed: tuple[Mapping[str, int], ...] = ({},)

    def is_certain(self, history: History) -> bool:
        """Whether nothing that may still follow this history can change it, or in an ordered output come before it."""
        marks = {name: mark for name, mark in history.watermarks.items() if mark is not None}
        if history.query.order != "none":
            frontier = min(marks.values()) if len(marks) == len(history.watermarks) else None
            if frontier is None or self.time_us is None or self.time_us > frontier:
                return False
            marks = _held_back(history, marks, frontier)
        return any(all(name in marks and marks[name] > us for name, us in way.items()) for way in self.passed)


def _held_back(history: History, marks: dict[str, int], frontier: int) -> dict[str, int]:
    """How far streams have come where rows after the frontier wait at the door."""
    if history.query.order == "hold" or history.query.answered is not None:
        return marks
    waiting = {name: [row.time_us for row in rows if row.time_us > frontier] for name, rows in history.tuples.items()}
    return {name: min([mark, *waiting[name]]) for name, mark in marks.items()}
