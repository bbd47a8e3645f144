"""Where the one join of several sinks keeps its state: in the checkpoint of one of them, and all remember which.

    alarms.checkpoint/shared   {"home": "alarms.checkpoint", "group": "5f3a"}
    pairs.checkpoint/shared    {"home": "alarms.checkpoint", "group": "5f3a"}

So a pipeline goes on from the same state when queries come and go, also when the one that was first goes.
"""

import json
from dataclasses import asdict, dataclass
from typing import Any


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
        return Past(**json.loads(told[0]))
    return Past(alone=bool(lines_of(session, f"{checkpoint}/offsets")))


def remember(session: Any, checkpoint: str, past: Past) -> None:
    """Write it, before the join starts."""
    told = session.createDataFrame([(json.dumps(asdict(past)),)], "value string")
    told.coalesce(1).write.mode("overwrite").text(f"{checkpoint}/shared")


def lines_of(session: Any, path: str) -> list[str]:
    """The lines of a file or of the files of a folder; none if it is not there."""
    try:
        return [row.value for row in session.read.text(path).collect()]
    except Exception as error:
        if type(error).__name__ == "AnalysisException":
            return []
        raise
