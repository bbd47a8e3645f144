"""Runs the Python blocks of Markdown pages with the Dovetail that is installed: python scripts/run_pages.py PAGE ...

Needs nothing but the standard library, so it works in an environment where a newcomer has just installed the package.
A ``text`` block right after a Python block is what that must print. Blocks that use a Spark session are left out.
"""

import contextlib
import io
import re
import sys
import time
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?^```text\n(.*?)^```)?", re.MULTILINE | re.DOTALL)


def run(page: Path) -> float:
    """Seconds it took; an error if anything fails or prints something else."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    began = time.perf_counter()
    for code, shown in BLOCK.findall(page.read_text()):
        if "spark" in code:
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(code, str(page), "exec"), namespace)
        if printed.getvalue().rstrip() != shown.rstrip():
            raise SystemExit(f"{page} shows\n{shown}\nbut printed\n{printed.getvalue()}")
    return time.perf_counter() - began


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: as printed, {run(Path(name)):.1f} s")
