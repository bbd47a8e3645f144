"""The part of docs/benchmarks.md about peers: a table, a picture, and what each cannot do, written from a recorded run.

The run is kept in ``benchmarks/peers.json``; the page is written between two comments, and a test says if it is old.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS, TASKS
from benchmarks.report import shown, with_part

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "benchmarks" / "peers.json"
PAGE, PICTURE = ROOT / "docs" / "benchmarks.md", ROOT / "docs" / "benchmarks" / "peers.svg"
BEGIN, END = "<!-- peers: written by make bench-peers OPTIONS=--record -->", "<!-- /peers -->"
NAMES = {
    "dovetail_embedded": "Dovetail, embedded, one thread",
    "dovetail_spark": "Dovetail on Spark",
    "spark_memory": "Spark's own join, state in memory",
    "spark_rocksdb": "Spark's own join, RocksDB",
    "flink_heap": "Flink SQL, heap",
    "flink_rocksdb": "Flink SQL, RocksDB",
    "pathway": "Pathway",
    "duckdb_offline": "DuckDB, offline",
}


def keep(fields: dict[str, Any], machine: dict[str, Any]) -> None:
    """Record a run and write what follows from it."""
    KEPT.write_text(json.dumps({**fields, "machine": machine}, indent=1) + "\n")
    write_page()
    draw(fields)


def write_page() -> None:
    """The page with its part about peers as the recorded run has it."""
    PAGE.write_text(written(PAGE.read_text()))


def written(page: str) -> str:
    """The page with its part anew."""
    return with_part(page, BEGIN, END, part())


def part() -> str:
    """The table, the picture, the versions and the reasons; or that nothing is recorded."""
    if not KEPT.exists():
        return "\nNo run is recorded yet.\n"
    kept = json.loads(KEPT.read_text())
    header = [f"| rows per second | {' | '.join(f'`{name}`' for name in TASKS)} |", f"|---|{'---|' * len(TASKS)}"]
    picture = "![Rows per second of each peer on each workload](benchmarks/peers.svg)"
    blocks = [
        "",
        *header,
        *(_line(kept, peer) for peer in PEERS),
        "",
        picture,
        "",
        _versions(kept),
        "",
        *_reasons(kept),
    ]
    return "\n".join(blocks)


def _line(kept: dict[str, Any], peer: str) -> str:
    cells = (kept["workloads"][task]["peers"][peer] for task in TASKS)
    texts = (shown(cell["rows_per_s"]) if "rows_per_s" in cell else cell["why"].split(":")[0] for cell in cells)
    return f"| {NAMES[peer]} | {' | '.join(texts)} |"


def _versions(kept: dict[str, Any]) -> str:
    known = {**kept["machine"], **kept["peer_versions"]}
    versions = ", ".join(f"{name} {known[name]}" for name in ("pyspark", *kept["peer_versions"], "duckdb", "python"))
    rows = ", ".join(f"`{name}` {found['results']:,} results" for name, found in kept["workloads"].items())
    return f"Versions: {versions}; {known['cores']} cores. Counted equal: {rows}."


def _reasons(kept: dict[str, Any]) -> list[str]:
    cells = ((peer, task, kept["workloads"][task]["peers"][peer]) for peer in PEERS for task in TASKS)
    return [f"- {NAMES[peer]}, `{task}`: {cell['why']}" for peer, task, cell in cells if "why" in cell]


def draw(fields: dict[str, Any]) -> None:
    """Bars on a logarithmic scale, one group per workload."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "peers"  # the same picture for the same numbers
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(9, 4.5), layout="constrained")
    for place, peer in enumerate(PEERS):
        found = [(at, fields["workloads"][task]["peers"][peer].get("rows_per_s")) for at, task in enumerate(TASKS)]
        bars = [(at + (place - len(PEERS) / 2) * 0.1, speed) for at, speed in found if speed]
        axes.bar([at for at, _ in bars], [speed for _, speed in bars], 0.09, label=NAMES[peer])
    axes.set_yscale("log")
    axes.set_xticks(range(len(TASKS)), TASKS)
    axes.set_ylabel("rows per second")
    figure.legend(fontsize="small", ncols=4, loc="outside upper center")
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, metadata={"Date": None})
