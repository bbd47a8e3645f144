"""Rows that came too late or without a time, said in words: how many of which stream, and what to do about it.

>>> streams = {"T": {"rows": 4221, "arrived": 4221, "late": 1707, "null_time": 0, "lateness_us": 90_000_000}}
>>> for line in lost_lines("alarms", streams):
...     print(line)
alarms: 1,707 of T's rows were late (40%)
>>> lost_cell(streams)
'1,707 late'
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dovetail.model.duration import duration_text

WORTH_A_WARNING = 0.01  # a share that changes what a reader concludes from the results
_SECOND_US = 1_000_000  # advice is rounded up to whole seconds

Streams = Mapping[str, Mapping[str, Any]]


def lost_cell(streams: Streams) -> str:
    """All streams together, in a few characters; nothing if nothing was lost."""
    late, untimed = (sum(own[count] for own in streams.values()) for count in ("late", "null_time"))
    words = [f"{late:,} late"] if late else []
    return ", ".join([*words, f"{untimed:,} no time"] if untimed else words)


def lost_lines(name: str, streams: Streams) -> Iterator[str]:
    """A line for each stream and reason."""
    for stream, own in streams.items():
        if own["late"]:
            yield f"{name}: {own['late']:,} of {stream}'s rows were late ({late_share(own):.0%})"
        if own["null_time"]:
            yield f"{name}: {own['null_time']:,} of {stream}'s rows had no time, and were left out"


def lost_warnings(name: str, streams: Streams) -> Iterator[str]:
    """Streams of which too many rows were late, with what would have kept them."""
    for stream, own in streams.items():
        if late_share(own) < WORTH_A_WARNING:
            continue
        needed = -(-own.get("lateness_us", 0) // _SECOND_US) * _SECOND_US
        delay = f"a delay of {duration_text(needed)} would have kept them" if needed else "a longer delay keeps them"
        yield (
            f"warning: {name}: {late_share(own):.0%} of {stream}'s rows came behind its watermark. Results miss them, "
            f"and unmatched rows of outer and anti joins may be false. In WATERMARK FOR, {delay}; of files that are "
            "not read in the order of their times see docs/how-to/run-a-pipeline-file.md"
        )


def late_share(own: Mapping[str, Any]) -> float:
    """The late among the rows that reached the join, in this run and in those that it goes on from."""
    share: float = own["late"] / max(own["arrived"], own["late"], 1)
    return share
