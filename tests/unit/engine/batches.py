"""Scripts whose batches bring several streams at once, as a runtime that reads all sources together does."""

from collections.abc import Mapping

import pyarrow as pa
from hypothesis import strategies as st

from dovetail.testing import Event, Push, Script
from tests.properties.queries import Draw


@st.composite
def together(draw: Draw, script: Script) -> Script:
    """Some neighbouring pushes become one batch; rows of one stream stay in order."""
    events: list[Event] = []
    for event in script:
        last = events[-1] if events else None
        if isinstance(event, Push) and isinstance(last, Push) and draw(st.booleans()):
            events[-1] = Push(joined(last.batch, event.batch))
        else:
            events.append(event)
    return events


def joined(first: Mapping[str, pa.Table], second: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    names = [*first, *(name for name in second if name not in first)]
    return {name: pa.concat_tables([batch[name] for batch in (first, second) if name in batch]) for name in names}
