"""Compiled kernels on disk without those that a mistake is part of.

Numba keeps what it has compiled by the file of the kernel, and does not know that a kernel has parts in other files. So
a mutant of a kernel has a copy of the kept ones without its own file and all files that use it.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KERNELS = "dovetail/engine/kernels"


@contextmanager
def cache_without(folder: Path, path: str) -> Iterator[None]:
    """For one mutant: where Numba keeps and finds compiled kernels, in this process and those that it starts."""
    if not path.startswith(KERNELS):
        yield
        return
    kept, own = folder / "numba", folder / "numba-mutant"
    shutil.rmtree(own, ignore_errors=True)
    stale = users(folder / "src" / KERNELS, Path(path).stem)
    shutil.copytree(kept, own, ignore=lambda _, names: [name for name in names if name.partition(".")[0] in stale])
    _set(own)
    try:
        yield
    finally:
        _set(kept)


def users(kernels: Path, name: str) -> set[str]:
    """The file and all that import it, directly or not."""
    imports = {file.stem: set(re.findall(r"kernels\.(\w+) import", file.read_text())) for file in kernels.glob("*.py")}
    found, left = {name}, [name]
    while left:
        used = left.pop()
        more = {file for file, names in imports.items() if used in names} - found
        found |= more
        left += more
    return found


def _set(folder: Path) -> None:
    from numba.core import config

    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    vars(config)["CACHE_DIR"] = str(folder)
