"""What a benchmark hands back: a table for people, and fields for programs."""

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

PACKAGES = ("dovetail", "pyarrow", "numpy", "numba", "duckdb", "pyspark")


@dataclass(frozen=True)
class Report:
    """``fields`` always has ``results_equal``; if that is false nobody is shown a speed."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[Sequence[object]]
    fields: dict[str, Any]

    @property
    def valid(self) -> bool:
        return bool(self.fields["results_equal"])


def show(report: Report, as_json: bool) -> None:
    """Print the table, or that results differ; the JSON object, if wanted, is the last line."""
    console = Console(width=max(100, Console().width))
    console.print(_table(report) if report.valid else f"{report.title}: results differ, so no speed is shown")
    if as_json:
        fields = report.fields if report.valid else _without_speeds(report.fields)
        print(json.dumps({**fields, "machine": machine()}))


def _table(report: Report) -> Table:
    table = Table(title=report.title, title_justify="left")
    for number, name in enumerate(report.header):
        table.add_column(name, justify="right" if number else "left")
    for row in report.rows:
        table.add_row(*(escape(shown(cell)) for cell in row))
    return table


def shown(cell: object) -> str:
    """Numbers as people read them: 1234567 is 1,234,567 and 3.14159 is 3.14.

    >>> shown(1234567), shown(3.14159), shown(51234.5), shown(None)
    ('1,234,567', '3.14', '51,234', '-')
    """
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.0f}" if abs(cell) >= 100 else f"{cell:.3g}"
    return f"{cell:,}" if isinstance(cell, int) and not isinstance(cell, bool) else str(cell)


def with_part(page: str, begin: str, end: str, part: str) -> str:
    """A page whose part between two comments is anew.

    >>> print(with_part("before <!-- a -->old<!-- /a --> after", "<!-- a -->", "<!-- /a -->", "new"))
    before <!-- a -->
    new
    <!-- /a --> after
    """
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{part}\n{end}{after}"


def _without_speeds(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name in ("rows", "results", "results_equal", "sums")}


def machine() -> dict[str, Any]:
    """Where and with what it ran."""
    versions = {name: found for name in PACKAGES if (found := _version(name)) is not None}
    return {"cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version(), **versions}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
