"""``python -m benchmarks`` lists them, ``python -m benchmarks NAME`` runs one; ``--help`` tells of its options."""

import argparse
import sys
from importlib import import_module
from typing import Any

import benchmarks.limit_threads  # noqa: F401  # before anything loads NumPy
from benchmarks.settings import Settings

NAMES = {
    "embedded": "the engine on one thread against DuckDB's offline join on two; three block sizes, four workloads",
    "small": "one push of 1, 100 and 1,000 rows: its median time, and the Python calls it makes",
    "cold": "from the start of Python to the first result, embedded, on a machine that has never run it and again",
    "growth": "cost per tuple and memory per stored tuple, windows of 1,000 to 10,000,000 tuples",
    "cliffs": "hot and Zipf keys, long texts, composite keys, eight streams, a wide band, disorder: beside plain keys",
    "hot": "a key with half of all rows, split while it runs on Spark: time and memory beside even keys",
    "asof": "as-of joins at rest against DuckDB, Polars and pandas, on Spark against one by hand; 10 million keys",
    "aggregates": "what a result costs a sliding aggregate, with 1,000 to 1,000,000 results that count",
    "share": "1 to 1,000 queries in one operator, against as many separate runs and as many of Spark's own joins",
    "share_response": "how long results take under each schedule of shared queries, on the wall clock",
    "order": "ordered output as a share of the speed without order; embedded and on Spark",
    "equi": "two streams on Spark, against Spark's own join and the bare cost of handing rows to Python",
    "equi3": "three streams on Spark, against Spark's own joins one after the other",
    "equi-wide": "two streams with four columns of payload on Spark, against Spark's own join",
    "outer": "a left outer join on Spark, against Spark's own",
    "outer3": "two left joins of three streams in one operator on Spark, against two of Spark's own in a row",
    "band": "a band join on Spark, which Spark's own streams refuse; 1, 2 and 4 buckets",
    "peers": "equi, equi3, band and outer on Dovetail, Spark's own join, Flink SQL, Pathway and DuckDB offline",
    "nexmark": "the joins among the Nexmark queries, embedded; results equal to DuckDB's",
    "shed": "results under too little CPU: harvesting against dropping tuples, on a simulated machine",
    "cpu": "CPU time really used under a CPU budget, beside the time allowed, at loads of 2 to 50 times that",
    "spill": "six streams and too little memory: results so far, flushed in coordination, at random, and as a tree",
    "spill_delay": "memory for a quarter of the windows: how late results from disk are, beside one with all it wants",
    "page": "the live page watching 10 million results in bursts: memory, lost reports, how quickly it answers",
    "planner": "the planner's choice against all alternatives, its predictions against measurements",
    "adapt": "streams that change: how soon the plan follows, and its speed beside a plan made for the new situation",
    "statistics": "what it costs to observe the streams",
    "start": "from the start of a query on Spark to its first result, cold and warm, beside Spark's own join",
    "latency": "the price of a micro-batch, and the time from a row's arrival to its result",
    "price": "where the price of a small micro-batch goes, which buckets find their engines, and sockets of both kinds",
    "memory": "24,000,000 rows in one micro-batch on Spark: how large Java and the Python workers become",
}


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", nargs="?", choices=NAMES, help="which benchmark; without one they are listed")
    parser.add_argument("--json", action="store_true", help="one JSON object as the last line")
    parser.add_argument("--rows", type=int, help="rows per stream")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it works, not how fast it is")
    parser.add_argument("--threads", type=int, default=1, help="embedded: measure so many threads too, beside one")
    parser.add_argument("--record", action="store_true", help="keep its ratios and figures; later runs are compared")
    asked = parser.parse_args()
    if asked.name is None:
        for name, text in NAMES.items():
            print(f"{name:10} {text}")
        return 0
    return _run(asked.name, Settings(asked.rows, asked.quick, asked.threads), asked.json, asked.record)


def _run(name: str, settings: Settings, as_json: bool, to_record: bool) -> int:
    from benchmarks.report import show

    report = import_module(f"benchmarks.{name.replace('-', '_')}").run(settings)
    if report.valid:
        remember(name, report.fields, to_record)
    show(report, as_json)
    return 0 if report.valid else 1


def remember(name: str, fields: dict[str, Any], to_record: bool) -> None:
    """Say what changed since the recorded run, then keep this one if asked to."""
    from benchmarks.recorded import record, said
    from benchmarks.report import machine
    from benchmarks.spark_page import write_page

    print(said(name, fields), file=sys.stderr)
    if to_record:
        record(name, fields, machine())
        write_page()
    if to_record and name == "peers":
        from benchmarks.peers_page import keep

        keep(fields, machine())


if __name__ == "__main__":
    sys.exit(main())
