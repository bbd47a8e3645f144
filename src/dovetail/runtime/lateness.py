"""A warning, once for each stream of a run, that its rows are dropped because they are late.

A stream without a delay whose rows come out of order has most likely been given none by mistake: its first late row is
told. Where a delay was chosen a few late rows are expected, so only more than one in a hundred are.
"""

import warnings
from collections.abc import Mapping

from dovetail.engine.admit.door import Lateness
from dovetail.errors import LateRowsWarning
from dovetail.model.duration import duration_at_least, duration_text
from dovetail.model.stream import Stream

_USER = 5  # frames up is whoever called push: past look, the reading of results, and the table made of them
_EXPECTED = 0.01  # of the rows may be late where a delay was chosen: delays are mostly set for 99 in 100


class LatenessWatch:
    """Knows which streams of a run were warned of."""

    def __init__(self) -> None:
        self._told: set[str] = set()

    def look(self, streams: Mapping[str, Stream], found: Mapping[str, Lateness]) -> None:
        """Warn of streams that have begun to lose rows."""
        for name, own in found.items():
            if own.needed_us and name not in self._told and _is_unexpected(streams[name], own):
                self._told.add(name)
                warnings.warn(_message(streams[name], own), LateRowsWarning, stacklevel=_USER)


def _is_unexpected(stream: Stream, found: Lateness) -> bool:
    return stream.delay_us == 0 or found.late > _EXPECTED * found.rows


def _message(stream: Stream, found: Lateness) -> str:
    declared = f"its delay is {duration_text(stream.delay_us)}" if stream.delay_us else "it has no delay"
    return (
        f"stream {stream.name!r}: {found.late:,} of {found.rows:,} rows so far were late and are dropped; {declared}. "
        f"stream({stream.name!r}, ..., delay={duration_at_least(found.needed_us)!r}) would have kept them; late='keep' "
        "or late='divert' says that they are expected. metrics() goes on counting; this is said once."
    )
