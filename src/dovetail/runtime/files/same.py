"""Whether a file is still the one that was planned: its size, the checksum of its end and its last change tell.

A batch may be read again much later, by another process. Of a file that is no longer than what is summed the checksum
tells all, and it may have been copied back. Of a longer one, only its last change tells that its middle is another.
"""

from typing import Any

from dovetail.errors import DataError
from dovetail.runtime.files.listing import TAIL_BYTES, Known, stamp, sum_of_end


def check_same(known: Known, now: Known) -> None:
    """DataError names a file that is not as it was when its batch was planned."""
    if now.size != known.size:
        raise DataError(
            f"file {known.path} had {known.size:,} bytes when its batch was planned and has {now.size:,} now; files "
            "must be whole when they appear: write them elsewhere, and rename them"
        )
    changed = known.changed_ns not in (None, now.changed_ns)
    if now.tail != known.tail or (changed and known.size > TAIL_BYTES):
        raise _replaced(known)


def check_opened(known: Known, file: Any, before: tuple[int, int]) -> None:
    """The same of a file that is open, with what its store said of it just before."""
    check_same(known, Known(known.path, file.size(), sum_of_end(file), changed_ns=before[1]))


def check_untouched(known: Known, store: Any, name: str, before: tuple[int, int]) -> None:
    """DataError names a file that was written to, or gave way to another, while it was read."""
    if stamp(store, name) != before:
        raise _replaced(known)


def _replaced(known: Known) -> DataError:
    """The error about another file under the name of the one that was planned."""
    return DataError(
        f"file {known.path} was replaced or written to since its batch was planned; put the old one back, with the "
        "time of its last change, and add what is new under another name"
    )
