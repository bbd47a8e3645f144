"""Spark's parent of Python workers, with all imported that tasks need: every worker is warm when it is forked.

    python -m pyspark.daemon pyspark.worker                    each worker imports for itself, over a second of CPU
    python -m dovetail.runtime.spark.daemon pyspark.worker     imported once, before the first fork

Spark's own imports nothing before it forks, because libraries start threads, and a lock that one of them holds is never
released in a child. ``session`` tells OpenBLAS and Arrow to start none, and if there is one all the same (who asks for
OMP_NUM_THREADS=4 has four), Spark's own takes over. Parents of processes that only plan import no engine.
"""

import atexit
import gc
import os
import shutil
import sys


def threads() -> int:
    """How many this process has, those that Python does not know of as well."""
    return len(os.listdir("/proc/self/task"))


def warm() -> bool:
    """Import what tasks need; whether this process may still be forked."""
    import pyspark.sql.streaming.stateful_processor_api_client
    import pyspark.sql.worker.create_data_source
    import pyspark.sql.worker.lookup_data_sources
    import pyspark.sql.worker.plan_data_source_read
    import pyspark.worker  # noqa: F401

    import dovetail.compiler
    import dovetail.runtime.files.feed
    import dovetail.runtime.spark.operator
    import dovetail.runtime.spark.source.read
    import dovetail.runtime.spark.source.source  # noqa: F401

    gc.freeze()  # what is imported is not garbage: workers need not look, after every task
    return threads() == 1


if __name__ == "__main__":
    from pyspark.daemon import manager

    from dovetail.runtime.spark.left_files import left_folder

    tasks = sys.argv[1:] == ["pyspark.worker"]
    if sys.platform != "linux" or not (warm() if tasks else threads() == 1):
        os.execv(sys.executable, [sys.executable, "-m", "pyspark.daemon", *sys.argv[1:]])
    left = left_folder()
    if tasks and left is not None:
        atexit.register(shutil.rmtree, left, ignore_errors=True)  # workers end without this
    manager()
