"""Spark's parent of Python workers, with all imported that tasks need: every worker is warm when it is forked.

    python -m pyspark.daemon pyspark.worker                    each worker imports for itself, over a second of CPU
    python -m dovetail.runtime.spark.daemon pyspark.worker     imported once, before the first fork

Spark's own imports nothing before it forks, because libraries start threads, and a lock that one of them holds is never
released in a child. Spark tells OpenBLAS to start none, ``session`` tells Arrow, and if there is one all the same (who
asks for OMP_NUM_THREADS=4 has four), Spark's own takes over. Parents of processes that only plan import nothing either.
"""

import gc
import os
import sys


def threads() -> int:
    """How many this process has, those that Python does not know of as well."""
    return len(os.listdir("/proc/self/task"))


def warm() -> bool:
    """Import what tasks need; whether this process may still be forked."""
    import pyspark.worker  # noqa: F401

    import dovetail.runtime.spark.operator
    import dovetail.runtime.spark.source.read  # noqa: F401

    gc.freeze()  # what is imported is not garbage: workers need not look, after every task
    return threads() == 1


if __name__ == "__main__":
    from pyspark.daemon import manager

    if sys.platform == "linux" and sys.argv[1:] == ["pyspark.worker"] and not warm():
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    manager()
