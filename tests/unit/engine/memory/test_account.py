"""What is accounted is what the process really uses, within a fifth."""

import subprocess
import sys

import pytest

JOB = """
import gc, sys
import numpy as np, psutil, pyarrow as pa
import dovetail as dv

kind, size = sys.argv[1], 200_000
fields = {"ts": pa.timestamp("us"), "k": pa.int64(), "x": pa.float64(), "s": pa.string()}
columns = {"ints": ["k"], "texts": ["k", "s"], "sorted": ["k", "x"], "held": ["k", "x"]}[kind]
schema = pa.schema({name: fields[name] for name in ["ts", *columns]})


def query(windows):
    delay = "1 hour" if kind == "held" else "0 seconds"
    a, b = (dv.stream(name, time="ts", window=windows, delay=delay, schema=schema) for name in "AB")
    options = {"order": "hold" if kind == "held" else "none", "algorithm": "sorted" if kind == "sorted" else "auto"}
    texts = ", A.s AS s, B.s AS u" if kind == "texts" else ""
    return dv.join(a, b, on="A.k = B.k", select="A.k, B.ts AS t" + texts, **options)


def rows(count, start, step):
    numbers = np.arange(start, start + count)
    made = {"ts": pa.array(numbers * step).cast(pa.timestamp("us")), "k": pa.array(numbers), "x": pa.array(numbers / 7)}
    made["s"] = pa.array(numbers).cast(pa.string())
    return pa.table([made[name] for name in schema.names], schema)


def resident():
    gc.collect()
    pa.default_memory_pool().release_unused()
    return psutil.Process().memory_info().rss


def fill(run, batches):
    for batch in range(batches):
        run.push("A", rows(size, batch * size, 1))
        run.push("B", rows(size, batch * size, 1))


fill(query("1 millisecond").local(), 2)
before = resident()
run = query("1 hour").local()
fill(run, 10)
used = resident() - before
print(run.metrics()["bytes"], used)
"""


@pytest.mark.parametrize("kind", ["ints", "texts", "sorted", "held"])
def test_the_account_is_within_a_fifth_of_what_the_process_uses(kind: str) -> None:
    done = subprocess.run([sys.executable, "-c", JOB, kind], capture_output=True, text=True, check=True)
    accounted, used = map(int, done.stdout.split())
    assert used > 50_000_000
    assert abs(accounted - used) <= 0.2 * used, (accounted, used)
