"""Settings of window harvesting: look only where most results are."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from dovetail.errors import QueryError
from dovetail.model.duration import duration_us
from dovetail.model.number import as_count, as_number, as_share

Solver = Literal["exhaustive", "greedy", "reverse", "double-sided"]
Metric = Literal["output", "output per cost", "delta"]
Rule = Literal["spare", "paper"]

SOLVERS = ("exhaustive", "greedy", "reverse", "double-sided")
METRICS = ("output", "output per cost", "delta")
RULES = ("spare", "paper")


@dataclass(frozen=True)
class Harvest:
    """Settings of window harvesting; ``slice_us``: None for a tenth of each window, ``buffer``: rows per stream."""

    interval_us: int = 5_000_000
    boost: float = 1.2
    sample: float = 0.1
    slice_us: int | None = None
    buffer: int | None = None
    solver: Solver = "double-sided"
    metric: Metric = "delta"
    throttle: Rule = "spare"

    def __post_init__(self) -> None:
        _check_word("harvest(solver", self.solver, SOLVERS)
        _check_word("harvest(metric", self.metric, METRICS)
        _check_word("harvest(throttle", self.throttle, RULES)
        boost = as_number(self.boost)
        if boost is None or not boost > 1:
            raise QueryError(
                f"harvest(boost={self.boost!r}): it is a number above 1, the factor by which the throttle opens"
            )
        if self.buffer is not None and as_count(self.buffer) is None:
            raise QueryError(f"harvest(buffer={self.buffer!r}): it is a number of rows, 1 or more, or None")
        object.__setattr__(self, "boost", boost)
        object.__setattr__(self, "sample", as_share("harvest(sample", self.sample))
        _check_length("interval", self.interval_us)
        if self.slice_us is not None:
            _check_length("slice", self.slice_us)


def harvest(
    interval: str | timedelta = "5 seconds",
    boost: float = 1.2,
    sample: float = 0.1,
    slice: str | timedelta | None = None,
    buffer: int | None = None,
    solver: str = "double-sided",
    metric: str = "delta",
    throttle: str = "spare",
) -> Harvest:
    """For ``policy=`` of a budget: "harvest" with its settings.

    ``interval``: how often the throttle is set. ``throttle``: "spare", by the time that was left or short, or "paper",
    which opens by ``boost`` whatever there is to spare. ``sample``: share of arrivals
    that look evenly through all windows, to learn where results are. ``slice``: length of the parts of a window
    that are chosen or not (a tenth of it). ``buffer``: how many rows of a stream may wait for the CPU before the
    rest are dropped at the door (as many as come in an interval). ``solver``: "double-sided", "greedy", "reverse"
    or "exhaustive"; ``metric``: "delta", "output per cost" or "output".

    >>> import dovetail as dv
    >>> dv.harvest(interval="1 second", slice="500 milliseconds").interval_us
    1000000
    """
    every, part = _length_us("interval", interval), None if slice is None else _length_us("slice", slice)
    words: Any = solver, metric, throttle
    return Harvest(every, boost, sample, part, buffer, *words)


def _length_us(option: str, value: Any) -> int:
    try:
        us = duration_us(value)
    except ValueError as error:
        raise QueryError(f"harvest({option}): {error}") from error
    if us <= 0:
        raise QueryError(f"harvest({option}={value!r}): it must be longer than 0")
    return us


def _check_length(option: str, us: Any) -> None:
    if as_count(us) is None:
        raise QueryError(f"harvest({option}): it is a whole number of microseconds, 1 or more, not {us!r}")


def _check_word(option: str, value: Any, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        raise QueryError(f"{option}={value!r}): it is one of {', '.join(map(repr, choices))}")
