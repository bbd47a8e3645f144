"""Too little memory for six streams, as in MJoin's table 2: flushed in coordination, at random, and as a tree.

S1 and S4 have n tuples, one a millisecond, each with a key of its own; the others ten times as many, one in five
milliseconds, with the same keys. Two triples are joined on those keys, and their results on another attribute. As in
the paper the coordination is inside each triple: of only two streams a tuple meets no fewer partners at random. Memory
holds half of each triple; the tree, of operators for two streams each, has as much in all. Counted are the results
that have come out at every tenth between the first flush and the end of input, before what is left is made from disk;
in the end all plans must have given the same rows.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

import dovetail as dv
from benchmarks.checksum import Sum, sum_of
from benchmarks.report import Report
from benchmarks.settings import Settings
from dovetail.engine.policies.spill.choose import AtRandom
from dovetail.engine.policies.spill.spill import Spill

Flushing = Literal["coordinated", "random", "tree"]
PLANS: tuple[Flushing, ...] = ("coordinated", "random", "tree")
TRIPLES = (("S1", "S2", "S3"), ("S4", "S5", "S6"))
TREE = ((("S1", "S2"), "S3"), (("S4", "S5"), "S6"))
NAMES = tuple(name for triple in TRIPLES for name in triple)
ON = "S1.u = S2.t AND S1.u = S3.t AND S4.u = S5.t AND S4.u = S6.t AND S2.v = S5.v"
SELECT = "S1.u AS a, S2.v AS v, S3.v AS b, S4.u AS c, S6.v AS d"
TIME = pa.timestamp("us")
TENTHS = 10


@dataclass(frozen=True)
class Curve:
    """Results after each batch, at which batch the first flush was, and all rows in one number."""

    results: list[int]
    first_flush: int
    total: Sum

    def tenths(self, first: int) -> list[int]:
        """Results at each tenth from a batch to the end of input."""
        places = np.linspace(first, len(self.results) - 1, TENTHS + 1).round().astype(int)[1:]
        return [self.results[place] for place in places]


def run(settings: Settings) -> Report:
    """All three plans over the same batches."""
    small = settings.size(1_000, 60)
    curves = {plan: curve(plan, small) for plan in PLANS}
    first = max(each.first_flush for each in curves.values())
    tenths = {plan: each.tenths(first) for plan, each in curves.items()}
    ahead = all(ours >= theirs for ours, theirs in zip(tenths["coordinated"], tenths["random"], strict=True))
    fields: dict[str, Any] = {
        "rows": 42 * small,
        "results": curves["coordinated"].total.rows,
        "results_equal": len({each.total for each in curves.values()}) == 1,
        "at_every_tenth": tenths,
        "coordinated_never_behind_random": ahead,
    }
    lines = [(f"{10 * at} %", *(tenths[plan][at - 1] for plan in PLANS)) for at in range(1, TENTHS + 1)]
    return Report("Spill: results so far, by flushing", ("input after the first flush", *PLANS), lines, fields)


def curve(plan: Flushing, small: int) -> Curve:
    """One plan over all input, then to the end."""
    run = query(plan, small).local(threads=1)
    for spill, streams in zip(spills(run), streams_of(run), strict=True):
        if plan == "random" or (plan == "coordinated" and streams == len(TRIPLES)):
            spill.flush_by(AtRandom())
    results, total, first = [0], Sum(), 0
    for at, (name, rows) in enumerate(batches(small), 1):
        given = run.push(name, rows)
        total += sum_of(given, given.schema.names)
        results.append(total.rows)
        first = first or (at if any(spill.counts["flushes"] for spill in spills(run)) else 0)
    rest = run.close()
    return Curve(results, first, total + sum_of(rest, rest.schema.names))


def spills(run: Any) -> list[Spill]:
    """What keeps the memory of each operator."""
    return [each.line.memory for each in run.operator.statistics()]


def streams_of(run: Any) -> list[int]:
    """How many streams each operator joins."""
    return [len(each.plan.query.names) for each in run.operator.statistics()]


def query(plan: Flushing, small: int, partitions: int | None = None) -> dv.Query:
    """Two triples and a join of their results, each triple in one operator or in two."""
    streams = [dv.stream(name, time="ts", window="1 day", schema=_schema(name)) for name in NAMES]
    budget = dv.budget(memory=dv.tuples(30 * small), policy="spill")
    tree = TREE if plan == "tree" else TRIPLES
    return dv.join(*streams, on=ON, select=SELECT, budget=budget, plan=tree, partitions=partitions)


def _schema(name: str) -> pa.Schema:
    small = name in ("S1", "S4")
    return pa.schema({"ts": TIME, "u": pa.int64()} if small else {"ts": TIME, "t": pa.int64(), "v": pa.int64()})


def streams(small: int) -> dict[str, pa.Table]:
    """Each in order of arrival."""
    random = np.random.default_rng(2)
    return {name: _table(name, small, random) for name in NAMES}


def batches(small: int) -> list[tuple[str, pa.Table]]:
    """The streams as they arrive, in a hundred batches each."""
    made = []
    for name, table in streams(small).items():
        size = -(-table.num_rows // 100)
        parts = [table.slice(start, size) for start in range(0, table.num_rows, size)]
        made += [(part["ts"][0].value, name, part) for part in parts]
    return [(name, part) for _, name, part in sorted(made, key=lambda each: each[:2])]


def _table(name: str, small: int, random: np.random.Generator) -> pa.Table:
    if name in ("S1", "S4"):
        times, columns = np.arange(small) * 1000, [random.permutation(small)]
    else:
        large = 10 * small
        times, columns = np.arange(large) * 5000, [random.permutation(large) % small, random.permutation(large)]
    return pa.table([pa.array(times).cast(TIME), *map(pa.array, columns)], _schema(name))
