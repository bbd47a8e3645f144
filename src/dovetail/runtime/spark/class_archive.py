"""Java's archive of the classes that Spark loads, so that a process maps them instead of reading and checking them.

    ~/.cache/dovetail/classes/5f0c1d2e3a4b5968.jsa     one for each Java and Spark; about 180 MB

The first session of a machine writes it when its Java ends; sessions after it start in about half the CPU time. Java
takes an archive only if its version and every jar are as they were, and else starts without. The header is written
last, so a file without it is being written, or its writer was killed.
"""

import os
import shutil
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import pyspark

MAGIC = 0xF00BABA8.to_bytes(4, "little")  # of archives that are written when a process ends
OTHERS = 2  # environments beside this one that keep theirs


def archive_options() -> str:
    """Options of Java: use the archive if there is one, else write it at the end; none where none can be kept."""
    archive = _place()
    if archive is None or any(sign in str(archive) for sign in " \"'"):  # Spark would cut the option in two
        return ""
    if _is_whole(archive):
        return f"-XX:SharedArchiveFile={archive} {_QUIET}"
    try:
        archive.parent.mkdir(parents=True, exist_ok=True)
        _make_room(archive)
    except OSError:
        return ""
    return f"-XX:ArchiveClassesAtExit={archive} {_QUIET}" if os.access(archive.parent, os.W_OK) else ""


_QUIET = "-Xlog:disable -Xlog:all=warning:stderr"  # what Java says of an archive goes where Spark's chatter goes


def _place() -> Path | None:
    """Where the archive of this Java and this Spark is, or would be; None if either is not where it should be."""
    java = Path(os.environ["JAVA_HOME"], "bin/java") if "JAVA_HOME" in os.environ else shutil.which("java")
    jars = Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent, "jars")
    try:
        parts = [Path(part).resolve(strict=True) for part in (java or "", jars)]
        known = [f"{part} {part.stat().st_mtime_ns}" for part in parts]
        caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except (OSError, RuntimeError):
        return None
    return caches / "dovetail" / "classes" / f"{blake2b(repr(known).encode(), digest_size=8).hexdigest()}.jsa"


def _is_whole(archive: Path) -> bool:
    with suppress(OSError), archive.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC
    return False


def _make_room(archive: Path) -> None:
    """Remove all but the newest archives; a process that has mapped one keeps it."""
    others = [path for path in archive.parent.glob("*.jsa") if path != archive]
    for path in sorted(others, key=lambda path: path.stat().st_mtime_ns)[: max(0, len(others) - OTHERS)]:
        path.unlink(missing_ok=True)
