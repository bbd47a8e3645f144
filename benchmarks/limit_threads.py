"""One thread for every library that would take more. Import this before NumPy."""

import os

for library in ("OMP", "MKL", "OPENBLAS", "NUMBA"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def limit_arrow(threads: int = 1) -> None:
    """Arrow asks for its pools at run time."""
    import pyarrow as pa

    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
