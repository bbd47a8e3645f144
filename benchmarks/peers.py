"""The same joins on Dovetail and on what else there is, one after the other in one run; results equal, or no speed.

A peer that cannot be had here is absent and one that cannot do a join has refused it; both are said with the reason.
Those that are slow, or keep everything, get a part of the rows; speeds are rows per second.
"""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from benchmarks.peer_environment import AbsentError
from benchmarks.peer_flink import FLINK
from benchmarks.peer_pathway import PATHWAY
from benchmarks.peer_runs import (
    Finding,
    Inputs,
    dovetail_embedded,
    dovetail_spark,
    duckdb_offline,
    flink,
    pathway,
    spark,
)
from benchmarks.report import Report
from benchmarks.settings import Settings
from benchmarks.workloads import Workload, band, equi, equi3, left

Peer = Callable[[Inputs], Finding]
PEERS: dict[str, Peer] = {
    "dovetail_embedded": dovetail_embedded,
    "dovetail_spark": dovetail_spark,
    "spark_memory": lambda given: spark(given, rocksdb=False),
    "spark_rocksdb": lambda given: spark(given, rocksdb=True),
    "flink_heap": lambda given: flink(given, rocksdb=False),
    "flink_rocksdb": lambda given: flink(given, rocksdb=True),
    "pathway": pathway,
    "duckdb_offline": duckdb_offline,
}
LEAST = 2_000


@dataclass(frozen=True)
class Task:
    """A workload and how many rows per stream it has at full size, of 2,000,000."""

    make: Callable[[int], Workload]
    share: float = 1.0


TASKS = {
    "equi": Task(lambda rows: equi(rows, "UTC")),
    "equi3": Task(lambda rows: equi3(rows, "UTC"), 0.5),
    "band": Task(lambda rows: band(rows, "UTC"), 0.25),
    "outer": Task(left),
}


def run(settings: Settings) -> Report:
    """Every workload on every peer."""
    rows = settings.size(2_000_000, 40_000)
    found = {name: compare(name, round(rows * task.share)) for name, task in TASKS.items()}
    equal = all(each["results_equal"] for each in found.values())
    fields: dict[str, Any] = {"rows": rows, "results_equal": equal, "workloads": found}
    fields["results"] = {name: each["results"] for name, each in found.items()}
    fields["peer_versions"] = {each.package: each.version for each in (FLINK, PATHWAY)}
    lines = [(peer, *(shown_in(each["peers"][peer]) for each in found.values())) for peer in PEERS]
    return Report("Rows per second, two cores", ("", *TASKS), lines, fields)


def compare(name: str, rows: int) -> dict[str, Any]:
    """One workload; the slow ones over its beginning only."""
    shares = {peer: share_of(name, peer) for peer in PEERS}
    with ExitStack() as stack:
        sizes = {share: max(rows // share, LEAST) for share in set(shares.values())}
        given = {share: stack.enter_context(Inputs.of(TASKS[name].make(size))) for share, size in sizes.items()}
        findings = {peer: attempt(peer, start, given[shares[peer]]) for peer, start in PEERS.items()}
    equal = all(each.sum in (None, given[shares[peer]].expected) for peer, each in findings.items())
    peers = {peer: each.fields() for peer, each in findings.items()}
    return {"results": given[1].expected.rows, "results_equal": equal, "peers": peers, **ratios(findings)}


def share_of(workload: str, peer: str) -> int:
    """A tenth of the rows for the slow ones; Flink compares every row of a band with its whole window: a hundredth.

    >>> share_of("equi", "dovetail_spark"), share_of("equi", "flink_rocksdb"), share_of("band", "flink_heap")
    (1, 10, 100)
    """
    if workload == "band" and peer.startswith("flink"):
        return 100
    return 10 if peer in ("spark_rocksdb", "flink_rocksdb", "pathway") else 1


def attempt(name: str, peer: Peer, given: Inputs) -> Finding:
    """What came of it; whatever keeps a peer from taking part is its reason to be absent."""
    print(f"{given.workload.name}: {name} ...", file=sys.stderr, flush=True)
    try:
        return peer(given)
    except (AbsentError, ImportError, RuntimeError, OSError) as error:
        return Finding(given.workload.rows, why=f"absent: {_first_line(error)}")


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]


def ratios(findings: dict[str, Finding]) -> dict[str, float]:
    """Dovetail on Spark against each streaming peer; embedded against DuckDB offline."""
    speeds = {name: each.rows_per_s for name, each in findings.items() if each.rows_per_s}
    pairs = [(f"vs_{peer}", "dovetail_spark", peer) for peer in PEERS if not peer.startswith(("dovetail", "duckdb"))]
    pairs.append(("embedded_vs_duckdb", "dovetail_embedded", "duckdb_offline"))
    return {
        name: round(speeds[ours] / speeds[theirs], 3) for name, ours, theirs in pairs if {ours, theirs} <= speeds.keys()
    }


def shown_in(finding: dict[str, Any]) -> object:
    """A cell of the table: a speed, or the word for why there is none.

    >>> shown_in({"rows_per_s": 1200}), shown_in({"why": "absent: no such package"})
    (1200, 'absent')
    """
    return finding.get("rows_per_s") or finding["why"].split(":")[0]
