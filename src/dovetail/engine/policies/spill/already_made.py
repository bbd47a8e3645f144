"""Which combinations were made before: exactly once, by stamps and probe logs.

A combination was made
    in memory        if all members were there when the last of them arrived: latest arrival < first departure
    in a pause       if some member's part was joined with memory at the end of an epoch p, and all others were in
                     memory then: their latest arrival <= p < their first departure
    by a pass        if its last member had arrived when everything was last joined with everything

Pairs do not decide it: of (d5-9, d3-7, d17) the first two met at 5, and the pause at 17 joined the second with the
third, yet never all three; it is owed.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from dovetail.engine.block.time_range import AFTER_ALL
from dovetail.engine.policies.spill.part import Epochs, Span, share_keys

Flags = npt.NDArray[np.bool_]


def possible(spans: Mapping[str, Span], widths: Mapping[str, int]) -> bool:
    """Whether some tuples of these can be within each other's windows, and have equal keys."""
    newest = max(span.earliest for span in spans.values())
    partitions = [span.partition for span in spans.values() if span.partition is not None]
    return all(newest - span.latest <= widths[name] for name, span in spans.items()) and share_keys(partitions)


def all_made(spans: Mapping[str, Span], passed: int) -> bool:
    """Whether every combination of one tuple from each has been made in memory, or by the pass after that epoch."""
    last = max(span.last for span in spans.values())
    return last <= passed or last < min(span.departed for span in spans.values())


def owed(
    arrived: Mapping[str, Epochs], departed: Mapping[str, Epochs], spans: Mapping[str, Span], passed: int
) -> Flags:
    """Which combinations have not been made, from their members' epochs of arrival and departure."""
    newest = _latest(arrived.values())
    missing: Flags = (newest > passed) & (newest >= np.minimum.reduce(list(departed.values())))
    for name, span in spans.items():
        if span.probes:
            others = _latest(epochs for other, epochs in arrived.items() if other != name)
            first = np.minimum.reduce([epochs for other, epochs in departed.items() if other != name])
            missing &= ~_probed(np.array(span.probes), others, first)
    return missing


def _latest(arrived: Iterable[Epochs]) -> Epochs:
    latest: Epochs = np.maximum.reduce(list(arrived))
    return latest


def _probed(probes: Epochs, arrived: Epochs, departed: Epochs) -> Flags:
    """Whether a logged probe lies between an arrival and the departure."""
    after = np.searchsorted(probes, arrived)
    first: Epochs = np.append(probes, AFTER_ALL)[after]
    return first < departed
