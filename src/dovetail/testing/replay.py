"""Telling a script to a run: anything with the four methods of an embedded run will do."""

from typing import Any, Protocol

import pyarrow as pa

from dovetail.testing.script import Advance, Close, Event, Push, Script, Tick


class Runs(Protocol):
    """What a script needs of a running query; every call gives the results it caused."""

    def push(self, stream: str, rows: Any, /) -> pa.Table: ...

    def advance(self, stream: str, time: Any, /) -> pa.Table: ...

    def tick(self, now: Any, /) -> pa.Table: ...

    def close(self) -> pa.Table: ...


def play(run: Runs, script: Script) -> pa.Table:
    """Tell a whole script; all results in the order in which they came."""
    return pa.concat_tables([play_event(run, event) for event in script])


def play_event(run: Runs, event: Event) -> pa.Table:
    """Tell one event; the results it caused. The streams of a batch are pushed one after the other."""
    if isinstance(event, Push):
        return pa.concat_tables([run.push(name, rows) for name, rows in event.batch.items()])
    if isinstance(event, Advance):
        return run.advance(event.stream, moment(event.time_us))
    if isinstance(event, Tick):
        return run.tick(moment(event.now_us))
    assert isinstance(event, Close)
    return run.close()


def moment(time_us: int) -> Any:
    """A time without a zone, as a datetime."""
    return pa.scalar(time_us, pa.timestamp("us")).as_py()
