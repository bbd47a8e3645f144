"""What the engine's work costs on this machine."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def calibrate() -> "Path":
    """Measure what the engine's work costs on this machine, once, in a few seconds; returns the file that keeps it.

    Plans are reckoned with it from then on; until then with typical values.

    >>> import dovetail as dv
    >>> dv.calibrate().name  # doctest: +SKIP
    'weights.json'
    """
    from dovetail.plan.calibrate import save_weights
    from dovetail.runtime.calibration import calibrate as measure

    return save_weights(measure())
