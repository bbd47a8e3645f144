"""The headers of a state that is gathered from cells or dealt out to them.

What every cell knows alike (how far streams have come, the plan) stays as it is. What is counted is added up, and
after dealing only the first cell has it, so that sums over the cells stay right.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.engine.buffer.section import Slices
from dovetail.plan.partition_grid import Grid

Headers = Mapping[str, Any]

_TIMES = ("latest_alone", "frontier")  # up to which results were given out; everything else there is counted


def headers_together(grid: Grid, cells: Sequence[Headers], slices: Slices, extra: Mapping[str, int]) -> dict[str, Any]:
    """The headers of the one operator whose slices these are; ``extra``: rows that several cells have counted."""
    together = dict(cells[0]) | _numbers(cells[0], slices)
    inputs = [cell["inputs"] for cell in cells]
    together["inputs"] = {
        "latest": max(each["latest"] for each in inputs),
        "counts": {name: _counted(grid, name, inputs, extra[name]) for name in inputs[0]["counts"]},
        "lateness": {name: max(each["lateness"].get(name, 0) for each in inputs) for name in inputs[0]["counts"]},
    }
    given = [cell["delivered"] for cell in cells]
    together["delivered"] = {name: (max if name in _TIMES else sum)(each[name] for each in given) for name in given[0]}
    together["diverted"] = together["diverted"] | {"forgotten": sum(c["diverted"]["forgotten"] for c in cells)}
    if "decision" in together:  # an as-of join decides nothing
        together["decision"] = {name: part for name, part in together["decision"].items() if name != "load"}
    if "group" in together:
        rows = sum((Counter(cell["group"]["delivered"]) for cell in cells), Counter[str]())
        together["group"] = together["group"] | {"delivered": dict(rows)}
    for name in [name for name in together if name.partition("/")[0] in ("waiting", "held", "live", "dedup")]:
        together[name] = together[name] | {"limit": max(cell[name]["limit"] for cell in cells)}
    return together


def _counted(grid: Grid, stream: str, inputs: Sequence[Headers], extra: int) -> dict[str, int]:
    """What cells have counted of a stream; of those that all of it is copied to, one speaks for all."""
    counts = [Counter(each["counts"].get(stream, {})) for each in inputs]
    together = sum((counts[cell] for cell in speaking(grid, stream)), Counter[str]())
    return dict(together | {"rows": together["rows"] - extra}) if extra else dict(together)


def speaking(grid: Grid, stream: str) -> list[int]:
    """The cells that together have every row of a stream; a row that bands copy to two of them is in both."""
    cells = [0]
    for axis in grid.axes:
        copied = axis.copies(stream) == axis.size
        cells = [cell * axis.size + own for cell in cells for own in ([0] if copied else range(axis.size))]
    return cells


def header_of_cell(whole: Headers, cell: int, slices: Slices) -> dict[str, Any]:
    """The headers of one cell; the first has all that was counted so far."""
    own = dict(whole) | _numbers(whole, slices)
    if cell:
        inputs = whole["inputs"]
        none = {name: value if name in _TIMES else 0 for name, value in whole["delivered"].items()}
        own |= {"inputs": inputs | {"counts": {name: {} for name in inputs["counts"]}}, "delivered": none}
        own["diverted"] = whole["diverted"] | {"forgotten": 0}
        if "group" in own:
            own["group"] = own["group"] | {"delivered": {}}
    return own


def _numbers(headers: Headers, slices: Slices) -> dict[str, Any]:
    """Headers that say how many rows or slices there are."""
    counted: dict[str, Any] = {}
    for name, header in headers.items():
        numbers = [(number, rows.num_rows) for (section, number), rows in slices.items() if section == name]
        if name.startswith("window/"):
            counted[name] = {"tail": 0, "end": sum(rows for _, rows in numbers)}
        elif "next" in header:
            counted[name] = header | {"next": max((number + 1 for number, _ in numbers), default=0)}
        elif name == "open":  # under which number its only slice is, for the one who replaces it
            counted[name] = {"number": max((number for number, _ in numbers), default=0)}
    return counted
