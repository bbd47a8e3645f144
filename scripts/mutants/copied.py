"""The copy of the package that mistakes are made in, and that all processes of a run load."""

import compileall
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from py_compile import PycInvalidationMode

_KEPT = ".kept"  # the end of a file's name while another with a mistake has its place


def begin_with_the_copy(root: Path, folder: Path) -> None:
    """Make this program one that loads the copy, which is made if there is none, unless it is that already.

    Byte code goes by contents, as a mistake may leave size and time.
    """
    if os.environ.get("PYTHONPATH", "").split(":")[0] == str(folder / "src"):
        return
    if not folder.exists():
        shutil.copytree(root / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
        compileall.compile_dir(folder / "src", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        (folder / "numba").mkdir()
    for kept in folder.rglob(f"*{_KEPT}"):  # of a run that was killed
        kept.replace(kept.with_suffix(".py"))
    shutil.rmtree(folder / "left", ignore_errors=True)
    (folder / "left").mkdir()  # files that a mutant makes for ever are not everybody's
    paths = {"PYTHONPATH": f"{folder}/src:{root}", "PYTHONDONTWRITEBYTECODE": "1"}
    paths |= {"NUMBA_CACHE_DIR": f"{folder}/numba", "TMPDIR": f"{folder}/left"}
    os.chdir(root)
    os.execve(sys.executable, [sys.executable, "-m", "scripts.mutants", *sys.argv[1:]], os.environ | paths)


@contextmanager
def on_disk(file: Path, mutated: str) -> Iterator[None]:
    """The mistake in the file; afterwards it is as it was, also by its times, which Numba goes by."""
    kept = file.with_suffix(_KEPT)
    shutil.copy2(file, kept)
    file.write_text(mutated)
    try:
        yield
    finally:
        kept.replace(file)
