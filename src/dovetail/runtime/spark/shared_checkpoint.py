"""Where the one join of several sinks keeps its state: in the checkpoint of one of them, and all remember which.

    alarms.checkpoint/shared   {"format": 1, "by": "0.1.0", "home": "alarms.checkpoint", "group": "5f3a"}
    pairs.checkpoint/shared    {"format": 1, "by": "0.1.0", "home": "alarms.checkpoint", "group": "5f3a"}

So a pipeline goes on from the same state when queries come and go, also when the one that was first goes.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any

from dovetail.model.stamp import check_stamp, stamp, unstamped

FORMAT = 1  # of this file; at first it did not say so


@dataclass(frozen=True)
class Past:
    """What a checkpoint tells: nothing (it is new), that its query ran alone, or whose join it was part of."""

    alone: bool = False
    home: str | None = None
    group: str | None = None


def past_of(session: Any, checkpoint: str) -> Past:
    """Read it, wherever it is."""
    told = lines_of(session, f"{checkpoint}/shared")
    if told:
        found = json.loads(told[0])
        check_stamp(f"{checkpoint}/shared", found, FORMAT)
        return Past(**unstamped(found))
    return Past(alone=bool(lines_of(session, f"{checkpoint}/offsets")))


def remember(session: Any, checkpoint: str, past: Past) -> None:
    """Write it, before the join starts."""
    told = session.createDataFrame([(json.dumps(stamp(FORMAT) | asdict(past)),)], "value string")
    told.coalesce(1).write.mode("overwrite").text(f"{checkpoint}/shared")


def lines_of(session: Any, path: str) -> list[str]:
    """The lines of a file or of the files of a folder; none if it is not there."""
    try:
        return [row.value for row in session.read.text(path).collect()]
    except Exception as error:
        if type(error).__name__ == "AnalysisException":
            return []
        raise
