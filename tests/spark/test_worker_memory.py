"""A worker keeps what it has freed; told in a process of its own, because it is for good."""

import subprocess
import sys

PROGRAM = """
import resource
import numpy as np, pyarrow as pa
from dovetail.runtime.spark.worker_memory import keep_memory
told = keep_memory()
def faults_of_a_batch():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    block = np.ones(1 << 20)
    table = pa.table({"x": block}).take(pa.array(range(0, 1 << 20, 8)))
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
first, *others = [faults_of_a_batch() for _ in range(5)]
print(told, pa.default_memory_pool().backend_name, first, min(others))
"""


def test_a_second_batch_finds_its_pages_again() -> None:
    printed = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    told, pool, first, others = printed.split()
    if told == "True":  # the C library is that of GNU
        assert pool == "system"
        assert int(others) < int(first) / 10
    else:
        assert pool != "system"
