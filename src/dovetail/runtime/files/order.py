"""In which order files are read, and which must come together so that no row is late behind another file's.

    file   times            delay 0: b begins before a has ended, so they come together; c may come later
    a      12:00 .. 12:10
    b      12:05 .. 12:15   delay 5 minutes: after a the watermark is 12:05, and b may come by itself
    c      12:15 .. 12:20

Where the footers of Parquet files tell, order is that of event time. Copying files changes when they were written, and
not the times in them. Files that do not tell are taken in the order of their last change, as Spark does.
"""

from collections.abc import Sequence

from dovetail.model.files import Files
from dovetail.runtime.files.listing import Known, Seen

_LEAST = -(1 << 63)  # files without statistics come first


def tell_times(files: Sequence[Known]) -> bool:
    """Whether the times of all files are known; a Parquet file without rows has none to tell."""
    return all(file.times is not None or file.empty for file in files)


def in_order(seen: Sequence[Seen], known: Sequence[Known]) -> list[Known]:
    """By the first time in them, or else by the time of their last change."""
    pairs = list(zip(seen, known, strict=True))
    if tell_times(known):
        pairs.sort(key=lambda pair: (*(pair[1].times or (_LEAST, _LEAST)), pair[1].path))
    else:
        pairs.sort(key=lambda pair: (pair[0].changed_ns, pair[0].path))
    return [file for _, file in pairs]


def admitted(files: Sequence[Known], limits: Files, delay_us: int) -> int:
    """How many of the files, which are in order, make the next batch: what limits allow, at least one, and overlaps."""
    allowed = len(files) if limits.max_files is None else min(limits.max_files, len(files))
    rows = count = 0
    for file in files[:allowed]:
        rows += file.rows
        if count and limits.max_rows is not None and rows > limits.max_rows:
            break
        count += 1
    return _with_overlaps(files, count, delay_us) if tell_times(files) else count


def _with_overlaps(files: Sequence[Known], count: int, delay_us: int) -> int:
    """As many files more as would have late rows behind those."""
    newest = max((file.times[1] for file in files[:count] if file.times), default=_LEAST)
    while count < len(files) and (times := files[count].times) is not None and times[0] < newest - delay_us:
        newest = max(newest, times[1])
        count += 1
    return count


def together(files: Sequence[Known]) -> list[list[Known]]:
    """Files, in order, in groups between which no row is late; one group if they do not tell their times."""
    if not tell_times(files):
        return [list(files)]
    groups: list[list[Known]] = []
    at = 0
    while at < len(files):
        end = at + _with_overlaps(files[at:], 1, 0)
        groups.append(list(files[at:end]))
        at = end
    return groups
