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
    """Why these checks fail, and whether a run without that has shown it: there they come out."""

    text: str
    shown: bool
    explains: Sequence[str]


@dataclass(frozen=True)
class Outcome:
    """One figure, run again. ``differences`` has one sentence for each way in which we differ from the paper.

    ``causes``: why checks fail, each with a run that leaves the cause out; those of checks that hold are not told.
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
        """Whether a run has shown why, for every check that fails."""
        return not self.unexplained

    @property
    def unexplained(self) -> list[str]:
        """The checks that fail without a cause that a run has shown."""
        known = {check for cause in self.causes if cause.shown for check in cause.explains}
        return [check for check in self.failing if check not in known]

    @property
    def failing(self) -> list[str]:
        return [check for check, passed in self.checks.items() if not passed]

    @property
    def why(self) -> list[Cause]:
        """The causes of the checks that fail."""
        return [cause for cause in self.causes if set(cause.explains) & set(self.failing)]

    @property
    def holds(self) -> bool:
        return all(self.checks.values())

    @property
    def paper_name(self) -> str:
        return self.name.partition("-")[0]


Figure = Callable[[bool], Outcome]
