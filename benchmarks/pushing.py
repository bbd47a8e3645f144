"""The embedded engine fed in blocks, streams taking turns."""

import time
from collections.abc import Iterator
from itertools import pairwise

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.checksum import Sum, sum_of
from benchmarks.workloads import Workload
from dovetail import Query

Blocks = list[tuple[str, pa.RecordBatch]]


def blocks_of(workload: Workload, size: int) -> Blocks:
    """The rows of all streams cut into blocks, a block of each in turn."""
    longest = max(table.num_rows for table in workload.tables.values())
    cut = {name: table.combine_chunks() for name, table in workload.tables.items()}
    turns = ((name, table.slice(at, size)) for at in range(0, longest, size) for name, table in cut.items())
    return [(name, batch) for name, block in turns for batch in block.to_batches()]


def results_of(query: Query, blocks: Blocks, threads: int = 1) -> Iterator[pa.Table]:
    """Results push by push, and what the end of input brings."""
    run = query.local(threads=threads)
    for name, block in blocks:
        yield run.push(name, block)
    yield run.close()


def checked(query: Query, blocks: Blocks, columns: tuple[str, ...], threads: int = 1) -> Sum:
    """Count and checksum of the results."""
    return sum((sum_of(table, columns) for table in results_of(query, blocks, threads) if table.num_rows), Sum())


def in_order(query: Query, blocks: Blocks) -> bool:
    """Whether result times never fall, over the whole output."""
    newest = None
    for table in results_of(query, blocks):
        times = table.column("result_time").cast(pa.int64())
        if len(times):
            falls = len(times) > 1 and pc.min(pc.pairwise_diff(times.combine_chunks())).as_py() < 0
            if falls or (newest is not None and times[0].as_py() < newest):
                return False
            newest = times[-1].as_py()
    return True


def part_seconds(query: Query, blocks: Blocks, parts: int = 20) -> list[float]:
    """CPU time of all pushes, a twentieth of them at a time; the end of input goes with the last."""
    run, ends = query.local(threads=1), [len(blocks) * part // parts for part in range(parts + 1)]
    spent = []
    for start, stop in pairwise(ends):
        began = time.process_time()
        for name, block in blocks[start:stop]:
            run.push(name, block)
        if stop == len(blocks):
            run.close()
        spent.append(time.process_time() - began)
    return spent


def seconds(query: Query, blocks: Blocks, repeats: int, threads: int = 1) -> tuple[float, int]:
    """The best time for all pushes, and how many results they gave."""
    best, rows = float("inf"), 0
    for _ in range(repeats):
        started = time.perf_counter()
        rows = sum(table.num_rows for table in results_of(query, blocks, threads))
        best = min(best, time.perf_counter() - started)
    return best, rows
