"""Folders of Parquet files that will be read in another order than that of their times, found before a run starts.

Spark takes files by the time of their last change, a few per batch where ``maxFilesPerTrigger`` (or the same of bytes)
says so. A file whose rows are older than those of the batches before it, by more than the delay, is late as a whole:

    changed   file        times in it      largest so far   behind
    10:00     b.parquet   12:10 .. 12:20
    10:01     a.parquet   12:00 .. 12:10   12:20            20 min: late, if the delay is less
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from dovetail.errors import DataError
from dovetail.model.duration import duration_text
from dovetail.runtime.files.listing import look
from dovetail.sql.declarations import StreamDeclaration

FILES = 2000  # footers read before a start: a second or so
_LIMITS = {"maxfilespertrigger", "maxbytespertrigger"}
_SECOND_US = 1_000_000  # advice is rounded up to whole seconds


@dataclass(frozen=True)
class Times:
    """The smallest and the largest time in a file."""

    first_us: int
    last_us: int


def order_warnings(streams: Iterable[StreamDeclaration]) -> Iterator[str]:
    """What to know about each stream whose files would be late."""
    for declared in (each for each in streams if each.time):
        if (
            declared.own
            or declared.format.lower() != "parquet"
            or not _LIMITS & {option.lower() for option in declared.options}
        ):
            continue  # without a limit, one batch has all files that there are, and nothing in it is late
        known = [times for file in files_of(declared) if (times := times_of(file, declared.time))]
        behind = [by for by in behind_us(known) if by > declared.delay_us]
        if behind:
            needed = duration_text(-(-max(behind) // _SECOND_US) * _SECOND_US)
            yield (
                f"warning: {len(behind)} of {declared.name}'s {len(known)} files have rows that will be late, because "
                "Spark takes files by the time of their last change, not by the times in them. Leave "
                "maxFilesPerTrigger out, touch the files in the order of their times, or give the stream a delay of "
                f"{needed}"
            )


def files_of(declared: StreamDeclaration) -> list[Path]:
    """The stream's files on this machine, in the order in which Spark takes them."""
    path = next((value for name, value in declared.options.items() if name.lower() == "path"), "")
    below = [Path(found) for found in sorted(glob(path.removeprefix("file:")))]
    found = [file for one in below for file in (sorted(one.rglob("*")) if one.is_dir() else [one]) if file.is_file()]
    seen = [file for file in found if not file.name.startswith(("_", "."))]
    latest_first = declared.options.get("latestFirst", "false").lower() == "true"
    return sorted(seen, key=lambda file: file.stat().st_mtime, reverse=latest_first)[:FILES]


def times_of(file: Path, column: str) -> Times | None:
    """The times in a file, from its footer; None if that does not say."""
    try:
        times = look(str(file), column, parquet=True).times
    except DataError:
        return None
    return None if times is None else Times(*times)


def behind_us(files: Iterable[Times]) -> Iterator[int]:
    """How far each file's oldest row lies behind the newest of the files before it; 0 where it does not.

    >>> list(behind_us([Times(0, 10), Times(20, 30), Times(12, 18)]))
    [0, 0, 18]
    """
    newest: int | None = None
    for times in files:
        yield max(0, newest - times.first_us) if newest is not None else 0
        newest = times.last_us if newest is None else max(newest, times.last_us)
