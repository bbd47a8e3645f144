"""What a user holds while something reports: where the reports are, and whether any were lost."""

from pathlib import Path
from typing import Any

from dovetail.observe.reporter import Reporter

PLAN_EVERY = 10  # a plan is the largest part of a report and seldom changes


class Reports:
    """Reports of one run or pipeline; plans, which change slowly, are in one of ``PLAN_EVERY``."""

    def __init__(self, folder: Path, name: str, about: dict[str, Any]) -> None:
        self._reporter = Reporter(folder, name, about)
        self._made = 0
        self._rows: dict[str, Any] | None = None

    @property
    def folder(self) -> Path:
        """Where the reports are."""
        return self._reporter.folder

    @property
    def lost(self) -> int:
        """How many reports could not be made or written."""
        return self._reporter.lost

    @property
    def _with_plans(self) -> bool:
        """Whether plans belong to the next report."""
        return self._made % PLAN_EVERY == 0

    def _told(self) -> None:
        """A report was made, with the rows seen until now."""
        self._made += 1
        self._rows = None
