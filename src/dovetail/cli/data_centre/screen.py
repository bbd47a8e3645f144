"""What the demo shows: a live line at the bottom of a terminal, plain lines in a file or a pipe.

    12:04:31  A-07-23   44.9 °C   88.0 %
    7 s: 412,000 rows/s in, 530 alarms/s out, lag 1.2 s, 1,020 tuples stored

The times of alarms are event times: a minute of the data centre passes in a second or two.
"""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic
from types import TracebackType
from typing import Self

import pyarrow as pa
from rich.console import Console

from dovetail.cli.data_centre.sensors import EVERY_SECONDS, RACKS, START
from dovetail.cli.data_centre.tally import Rack, Tally

SHOWN_ALARMS = 2  # new ones scroll by: two can be read
SHOWN_RACKS = 5  # as many as fit beside the counts on a small terminal
PLAIN_EVERY = 2.0  # seconds: in a log file every line stays


class Screen:
    """Where the demo writes; ``clock`` gives seconds."""

    def __init__(self, console: Console, clock: Callable[[], float] = monotonic) -> None:
        self._console = console
        self._clock = clock
        self._live = console.status("") if console.is_terminal else None
        self._shown, self._quiet_until = "", 0.0

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.rest()

    @property
    def stays(self) -> bool:
        """Whether a person is there to look."""
        return self._console.is_terminal

    def rest(self) -> None:
        """No more live line."""
        if self._live:
            self._live.stop()

    def step(self, text: str) -> None:
        """What is going on before rows flow."""
        self._live.update(text) if self._live else self.line(text)

    def line(self, text: str, style: str | None = None) -> None:
        self._console.print(text, style=style, highlight=False, markup=False, soft_wrap=True)

    def alarms(self, found: pa.Table) -> None:
        """The hottest of the new alarms."""
        hottest = found.sort_by([("temperature", "descending")]).slice(0, SHOWN_ALARMS)
        for row in hottest.to_pylist():
            self.line(alarm_line(row["result_time"], row["location"], row["temperature"], row["humidity"]), "yellow")

    def progress(self, text: str) -> None:
        """The newest progress line; in plain output not more than one in two seconds, and none twice."""
        if self._live:
            self._live.update(text)
        elif text != self._shown and self._clock() >= self._quiet_until:
            self._shown, self._quiet_until = text, self._clock() + PLAIN_EVERY
            self.line(text)


def alarm_line(time: object, location: str, temperature: float, humidity: float) -> str:
    """One alarm.

    >>> alarm_line(START, "A-07-23", 44.9, 88.0)
    '12:00:00  A-07-23   44.9 °C   88.0 %'
    """
    return f"{time:%H:%M:%S}  {location}  {temperature:5.1f} °C  {humidity:5.1f} %"


def progress_line(tally: Tally, elapsed: float) -> str:
    """How it goes, in one line."""
    pace, newest = tally.now(), tally.batches[-1]
    if len(tally.batches) == 1:
        return f"the first {newest.rows:,} rows took {newest.seconds:.1f} s, start of the workers included"
    return (
        f"{elapsed:.0f} s: {pace.rows_per_second:,.0f} rows/s in, {pace.alarms_per_second:,.0f} alarms/s out, "
        f"lag {pace.lag:.1f} s, {newest.stored:,} tuples stored"
    )


def summary_lines(tally: Tally, cores: int) -> list[str]:
    """What a person wants to know at the end."""
    if not tally.batches:
        return ["Stopped before the first micro-batch was done."]
    pace, newest, first = tally.overall(), tally.batches[-1], tally.batches[0]
    usual, slowest = tally.batch_seconds()
    replayed = timedelta(seconds=tally.rows // 2 // RACKS * EVERY_SECONDS)
    facts = {
        "read": f"{tally.rows:,} readings of {RACKS:,} racks, {pace.rows_per_second:,.0f} a second on {cores} cores",
        "event time": f"{START:%H:%M:%S} to {START + replayed:%H:%M:%S}",
        "alarms": f"{tally.alarms:,} at {len(tally.racks):,} racks, {pace.alarms_per_second:,.0f} a second",
        "late": f"{newest.late:,} readings",
        "state kept": f"{newest.stored:,} tuples in {newest.stored_bytes / 1024:,.0f} KB, all that can still matter",
        "micro-batches": f"{len(tally.batches)}; median {usual:.2f} s, slowest {slowest:.2f} s, "
        f"the first, which starts the workers, {first.seconds:.1f} s",
        "hottest racks": f"\n{'':<15}".join(map(rack_text, tally.hottest(SHOWN_RACKS))) or "none was both hot and wet",
    }
    return [f"{name:<15}{text}" for name, text in facts.items()]


def rack_text(rack: Rack) -> str:
    """The worst of one rack.

    >>> rack_text(Rack("A-07-23", 1211, 44.9, 88.0))
    'A-07-23   44.9 °C   88.0 %   1,211 alarms'
    """
    reached = f"{rack.temperature:5.1f} °C  {rack.humidity:5.1f} %"
    return f"{rack.location}  {reached}  {rack.alarms:6,} alarm{'' if rack.alarms == 1 else 's'}"
