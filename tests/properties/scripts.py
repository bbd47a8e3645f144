"""Random scripts: streams that lag, go back within their delay, repeat themselves, and now and then come late.

All streams follow one clock. A row's time is that of the clock, less the constant lag of its stream, less a step back.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from dovetail.testing import Advance, Close, Event, Push, Script, Tick
from tests.properties import rows
from tests.properties.queries import Draw, RandomQuery, key_type

ROWS = {2: 26, 3: 26, 4: 22, 5: 20, 6: 20}
SIZES = st.sampled_from([1, 1, 1, 2, 4, 8])
KINDS = st.integers(0, 19)

# How the clock moves, how far back the row goes (in thirds of its stream's delay), and what is odd about it.
MOVES = [(step, back, "") for step in (1, 0, 2, 5) for back in (0, 0, 1, 3)]
TIED = [(step, back, "") for step in (0, 0, 0, 1) for back in (0, 0, 3)]  # many rows share a time
ODD = [(1, 0, "late"), (1, 1, "late"), (1, 0, "timeless")]


@st.composite
def scripts(draw: Draw, query: RandomQuery, late: bool = True, ticks: bool = False, tied: bool = False) -> Script:
    """Batches of one stream each and promises, closed at the end; ``late=False``: no row is late however it is cut."""
    moves = TIED if tied else MOVES
    lags = {stream.name: draw(st.sampled_from([0, 0, 1, 4])) for stream in query.streams}
    row = st.tuples(
        st.sampled_from(moves + ODD if late else moves), rows.values(key_type(query), extreme=draw(KINDS) >= 18)
    )
    clock, left = draw(st.sampled_from([20, -3, 10**15])), ROWS[len(query.streams)]
    events: list[Event] = []
    places = st.integers(0, len(query.streams) - 1)
    for _ in range(draw(st.integers(1, left))):
        stream, kind = query.streams[draw(places)], draw(KINDS)
        promise = clock - lags[stream.name] - stream.delay_us
        if kind == 19:
            events.append(Advance(stream.name, promise + 3 * late))
        elif kind == 18 and ticks:
            events.append(Tick(clock))
        elif left > 0:
            batch: list[tuple[Any, ...]] = []
            for (step, back, odd), values in draw(st.lists(row, min_size=1, max_size=min(draw(SIZES), left))):
                clock += step
                time = clock - lags[stream.name] - back * stream.delay_us // 3 - 4 * (odd == "late")
                batch.append((None if odd == "timeless" else time, *values))
            batch += batch[-1:] * (kind == 17)
            left -= len(batch)
            events.append(Push.of(stream.name, rows.table(batch, stream.schema)))
    return [*events, Close()]


def one_by_one(script: Script) -> Script:
    """The same arrivals, one row at a time."""
    return list(_single_rows(script))


def _single_rows(script: Script) -> Iterator[Event]:
    for event in script:
        if isinstance(event, Push):
            for name, table in event.batch.items():
                yield from (Push.of(name, table.slice(place, 1)) for place in range(table.num_rows))
        else:
            yield event


@st.composite
def recut(draw: Draw, script: Script) -> Script:
    """The same arrivals in other batches: rows of a stream stay in order, streams may overtake each other a little."""
    single = [event for event in one_by_one(script) if isinstance(event, Push)]
    held: dict[str, list[Push]] = {}
    events: list[Event] = []
    for event in single:
        (name,) = event.batch
        held.setdefault(name, []).append(event)
        if draw(st.booleans()):
            events.append(_together(name, held.pop(name)))
    events += [_together(name, pushes) for name, pushes in held.items()]
    return [*events, Close()]


def _together(name: str, pushes: list[Push]) -> Push:
    return Push.of(name, pa.concat_tables([push.batch[name] for push in pushes]))
