"""The part of docs/benchmarks.md with figures of Spark: speeds, batches, starts and memory, from recorded runs.

It is written between two comments whenever a run is recorded, and a test says if it is old.
"""

from collections.abc import Mapping
from pathlib import Path

from benchmarks.recorded import recorded
from benchmarks.report import shown, with_part

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- spark: written by each run on Spark with --record -->", "<!-- /spark -->"
PIPELINES = {
    "dovetail": "Dovetail, files read and written by itself",
    "dataframes": "Dovetail, DataFrames in and out",
    "spark_native": "Spark's own join, state in memory",
    "spark_rocksdb": "Spark's own join, RocksDB",
    "transport_floor": "the transport floor",
    "one_way_floor": "the transport floor, one way",
    "tuned_floor": "the transport floor on Dovetail's settings",
}
SPEEDS = {name: ("rows_per_s", f"`{name}`, rows per second") for name in ("equi", "equi-wide", "equi3")}
LATENCY = {
    "batch_s": "a batch of 20,000 rows, s",
    "wait_s": "arrival to result, s",
    "longest_wait_s": "longest, s",
}
START = {
    "process_s": "first result from the start of Python, s",
    "cold_s": "from `start()`, cold, s",
    "warm_s": "warm, s",
}
MEMORY = {
    "java_mb": "24,000,000 rows in one batch: Java resident, MB",
    "worker_mb": "largest Python worker, MB",
    "worker_own_mb": "without mapped files, MB",
}
CURVE = "curve_rows_per_s."


def write_page() -> None:
    """The page with its part about Spark as the recorded runs have it."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """The page with its part anew."""
    return with_part(page, BEGIN, END, part({name: _figures(name) for name in (*SPEEDS, "latency", "start", "memory")}))


def _figures(name: str) -> dict[str, float]:
    found: dict[str, float] = (recorded(name) or {}).get("figures", {})
    return found


def part(figures: Mapping[str, Mapping[str, float]]) -> str:
    """A table of each kind of which figures are recorded."""
    speeds = {heading: _column(figures[run], unit) for run, (unit, heading) in SPEEDS.items()}
    latency, start, memory = (
        {heading: _column(figures[run], unit) for unit, heading in columns.items()}
        for run, columns in {"latency": LATENCY, "start": START, "memory": MEMORY}.items()
    )
    tables = [_table(speeds), _curve(figures["equi"]), _table(latency), _table(start), _table(memory)]
    return "".join(tables) or "\nNo figures are recorded yet.\n"


def _column(figures: Mapping[str, float], unit: str) -> dict[str, float]:
    names = {pipeline: f"{pipeline}_{unit}" for pipeline in PIPELINES}
    return {pipeline: figures[name] for pipeline, name in names.items() if name in figures}


def _table(columns: Mapping[str, Mapping[str, float]]) -> str:
    """A line for each pipeline and a column for each heading that has any figure."""
    full = {heading: column for heading, column in columns.items() if column}
    lines = [
        f"| {label} | {' | '.join(shown(column.get(pipeline)) for column in full.values())} |"
        for pipeline, label in PIPELINES.items()
        if any(pipeline in column for column in full.values())
    ]
    return "\n".join(["", *_header("", *full), *lines, ""]) if lines else ""


def _curve(figures: Mapping[str, float]) -> str:
    speeds = {path.removeprefix(CURVE): speed for path, speed in figures.items() if path.startswith(CURVE)}
    line = f"| rows per second of `equi` | {' | '.join(map(shown, speeds.values()))} |"
    return "\n".join(["", *_header("rows in a batch", *(f"{int(n):,}" for n in speeds)), line, ""]) if speeds else ""


def _header(*columns: str) -> list[str]:
    return [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
