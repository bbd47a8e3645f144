"""The last recorded run of each benchmark, kept beside the code: its ratios, its figures, and what changed since.

Ratios within a run are what can be compared between days; a change of less than ``NOISE`` is none. Figures (seconds,
rows per second, megabytes) are kept for readers and for the page, and never compared.

    >>> before, now = {"vs_native": 6.0, "vs_floor": 0.4}, {"vs_native": 7.5, "vs_duckdb": {"1000": 2.0}}
    >>> for line in changes(before, ratios_of(now)): print(line)
    vs_native: 7.5, was 6 (25 % better)
    vs_floor: not measured, was 0.4
    vs_duckdb.1000: 2, new
    >>> figures_of({"start": {"cold_s": 2.5}, "curve_rows_per_s": {"100": 7}, "vs_native": 6.0, "rows": 3})
    {'start.cold_s': 2.5, 'curve_rows_per_s.100': 7}
"""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "recorded.json"
NOISE = 0.1
UNITS = ("_s", "_mb")  # how the names of figures with a unit end: seconds, rows per second, megabytes


def ratios_of(fields: Mapping[str, Any]) -> dict[str, float]:
    """All numbers under a name with ``vs_`` in it, by their path."""
    return {path: float(number) for path, number in _numbers("", fields, lambda name: "vs_" in name, False)}


def figures_of(fields: Mapping[str, Any]) -> dict[str, float]:
    """All numbers under a name that ends in a unit, by their path."""
    return dict(_numbers("", fields, lambda name: name.endswith(UNITS), False))


def _numbers(path: str, value: Any, wanted: Callable[[str], bool], inside: bool) -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from _numbers(f"{path}.{name}" if path else name, each, wanted, inside or wanted(str(name)))
    elif inside and isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def changes(before: Mapping[str, float], now: Mapping[str, float]) -> list[str]:
    """One line for each ratio that is new, gone, or different by more than noise."""
    names = [*before, *(name for name in now if name not in before)]
    return [line for name in names if (line := _change(name, before.get(name), now.get(name)))]


def _change(name: str, before: float | None, now: float | None) -> str:
    if before is None:
        return f"{name}: {now:g}, new"
    if now is None:
        return f"{name}: not measured, was {before:g}"
    moved = now / before - 1 if before else 0.0
    if abs(moved) <= NOISE:
        return ""
    return f"{name}: {now:g}, was {before:g} ({abs(moved):.0%} {'better' if moved > 0 else 'worse'})".replace("%", " %")


def recorded(name: str) -> dict[str, Any] | None:
    """The last recorded run: its ratios, figures, sizes and machine."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    found: dict[str, Any] | None = kept.get(name)
    return found


def record(name: str, fields: Mapping[str, Any], machine: Mapping[str, Any]) -> None:
    """Keep this run as the last one of its benchmark."""
    kept = json.loads(FILE.read_text()) if FILE.exists() else {}
    found = {"ratios": ratios_of(fields), "figures": figures_of(fields)}
    kept[name] = {"rows": fields.get("rows"), **found, "machine": dict(machine)}
    FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


def said(name: str, fields: Mapping[str, Any]) -> str:
    """What to tell whoever ran a benchmark."""
    last = recorded(name)
    if last is None:
        return f"No run of {name} is recorded; --record keeps this one."
    if last["rows"] != fields.get("rows"):
        return f"The recorded run of {name} has {last['rows']:,} rows, so this one is not compared with it."
    found = changes(last["ratios"], ratios_of(fields))
    return "\n".join([f"Since the recorded run of {name}:", *found]) if found else f"As the recorded run of {name}."
