"""Run by Pathway's own Python: python pathway_job.py TASK, where TASK is JSON; the answer is the last line."""

import json
import os
import sys
import time

os.environ["PATHWAY_THREADS"] = "2"

import pathway as pw

TYPES = {"int": int, "float": float}


def read(table):
    """A folder of CSV files, all there is."""
    schema = pw.schema_from_types(**{name: TYPES[kind] for name, kind in table["columns"].items()})
    return pw.io.csv.read(table["path"], schema=schema, mode="static")


def joined(task, tables):
    """One interval join after the other; what the later ones do not bound is filtered."""
    names, width = list(tables), task["width"]
    interval = pw.temporal.interval(-width, width)
    first, second = tables[names[0]], tables[names[1]]
    join = first.interval_join_left if task["how"] == "left" else first.interval_join_inner
    found = join(second, first.us, second.us, interval, first.k == second.k).select(
        k=first.k, a_ts=first.us, b_ts=second.us, a_v=first.v, b_v=second.v
    )
    for name in names[2:]:
        third, low = tables[name], name.lower()
        found = found.interval_join_inner(third, found.a_ts, third.us, interval, found.k == third.k).select(
            *(found[column] for column in found.column_names()), **{f"{low}_ts": third.us, f"{low}_v": third.v}
        )
        gap = pw.this[f"{low}_ts"] - pw.this.b_ts
        found = found.filter((gap <= width) & (gap >= -width))
    return found


def summed(task, found):
    """Count and checksum, step by step."""
    prime, factor, start, null = (task["hash"][name] for name in ("prime", "factor", "start", "null"))
    hashed = found.select(*(pw.this[name] for name in task["checked"]), h=start)
    for name in task["checked"]:
        number = pw.coalesce(pw.this[name], null)
        hashed = hashed.with_columns(h=(pw.this.h * pw.this.h + number % prime * factor + 1) % prime)
    hashed = hashed.select(h=(pw.this.h * pw.this.h + 1) % prime)
    return hashed.reduce(rows=pw.reducers.count(), total=pw.reducers.sum(pw.this.h))


def main(task):
    """Refused without a key; otherwise run once, whole."""
    if not task["keyed"]:
        return {"refused": "an interval join is on one interval: a band within a time window would be a cross join"}
    last = {}

    def note(key, row, time, is_addition):
        if is_addition:
            last.update(row)

    pw.io.subscribe(summed(task, joined(task, {name: read(table) for name, table in task["tables"].items()})), note)
    started = time.perf_counter()
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return {"seconds": time.perf_counter() - started, "rows": last["rows"], "total": last["total"]}


if __name__ == "__main__":
    print(json.dumps(main(json.loads(sys.argv[1]))))
