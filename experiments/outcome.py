"""What an experiment hands back: the claim, the paper's numbers, ours, and what to draw.

Example: an outcome holds if every one of its checks does.

    >>> outcome = Outcome("demo-1", "Twice two", "it is 4.", {"2 * 2": 4}, {"2 * 2": 4}, {"it is 4": True})
    >>> outcome.holds, outcome.paper_name
    (True, 'demo')
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Curve:
    """A line of ours."""

    label: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True)
class Mark:
    """A number that the paper states, where it belongs in the picture."""

    label: str
    x: float
    y: float


@dataclass(frozen=True)
class Panel:
    """One set of axes; with ``bars`` the labels of the curves stand where x would, one bar each."""

    x: str
    y: str
    curves: Sequence[Curve]
    marks: Sequence[Mark] = ()
    log_x: bool = False
    log_y: bool = False
    bars: bool = False


@dataclass(frozen=True)
class Cause:
    """Why a claim does not hold, and whether a run without that has shown it: there the claim comes out."""

    text: str
    shown: bool


@dataclass(frozen=True)
class Outcome:
    """One figure, run again. ``differences`` has one sentence for each way in which we differ from the paper.

    ``causes``: why the checks that fail do, each with a run that leaves the cause out.
    """

    name: str
    title: str
    claim: str
    paper: Mapping[str, Any]
    ours: Mapping[str, Any]
    checks: Mapping[str, bool]
    panels: Sequence[Panel] = ()
    differences: Sequence[str] = ()
    causes: Sequence[Cause] = ()

    @property
    def explained(self) -> bool:
        """Whether it holds, or a run has shown why it does not."""
        return self.holds or any(cause.shown for cause in self.causes)

    @property
    def holds(self) -> bool:
        return all(self.checks.values())

    @property
    def paper_name(self) -> str:
        return self.name.partition("-")[0]


Figure = Callable[[bool], Outcome]
