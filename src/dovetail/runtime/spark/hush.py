"""Keeps off the screen what Spark's worker on the driver prints about itself.

Whenever a query starts, Spark declares its state in a process of its own, which prints a line or two about every step,
the whole function among them; Java passes them on to the terminal. Errors take another way and are seen as ever, and so
is the one line ("Starting ...") that comes before anything of ours is loaded.
"""

import os
import sys

_PRINTS = "pyspark.sql.streaming.transform_with_state_driver_worker"


def hush() -> None:
    """In that process nothing is printed from now on; in any other nothing changes."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    if spec is not None and spec.name == _PRINTS:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 as long as the process
