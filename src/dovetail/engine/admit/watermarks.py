"""How far each stream has come, and what may be forgotten for it.

    watermark_i = max(largest time seen - delay_i, what was promised by hand or raised for silence)
    frontier    = the smallest watermark

A tuple is late if it is older than its stream's watermark as it stood before its batch. A stored
tuple of stream i may go once every *other* stream's watermark is past ``time_i + w_i``.

Silence is measured in time passed between ticks (``Elapsed``), not in readings of a clock.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.engine.block.elapsed import Elapsed
from dovetail.engine.block.time_range import AFTER_ALL, BEFORE_ALL
from dovetail.engine.buffer.section import HeaderSection, whole_numbers
from dovetail.model.stream import Stream


class Watermarks(HeaderSection):
    """Progress of the streams of one query."""

    section = "watermarks"

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._delay = {stream.name: stream.delay_us for stream in streams}
        self._idle = {stream.name: stream.idle_us for stream in streams}
        self._value = dict.fromkeys(self._delay, BEFORE_ALL)
        self._largest = dict.fromkeys(self._delay, BEFORE_ALL)
        self._heard: dict[str, int | None] = dict.fromkeys(self._delay)
        self._spoke = set(self._delay)
        tables = {stream.name: stream.table.ready_us for stream in streams if stream.table is not None}
        self._ready = {name: ready for name, ready in tables.items() if ready is not None}
        self.clock = Elapsed()
        self.complete_from: int | None = (
            None  # before this result time some may be missing, since the query was changed
        )

    def __getitem__(self, name: str) -> int:
        return self._value[name]

    def __iter__(self) -> Any:
        return iter(self._value)

    def all(self) -> dict[str, int]:
        """The watermark of every stream."""
        return dict(self._value)

    @property
    def frontier(self) -> int:
        return min(self._value.values())

    def others(self, name: str) -> int:
        """The smallest watermark of the other streams."""
        return min(value for other, value in self._value.items() if other != name)

    def largest(self, name: str) -> int:
        """The largest time that the stream has sent."""
        return self._largest[name]

    def heard(self, name: str) -> None:
        """The stream sent something, with a time or not: it is not silent."""
        self._spoke.add(name)

    def saw(self, name: str, largest: int) -> None:
        """The stream sent tuples, the newest of them at ``largest``."""
        self._largest[name] = max(self._largest[name], largest)
        self.promise(name, largest - self._delay[name])

    def promise(self, name: str, time: int) -> None:
        """Nothing older than ``time`` will come from the stream."""
        self.heard(name)
        self._raise(name, time)

    def _raise(self, name: str, time: int) -> None:
        if time < self._ready.get(name, BEFORE_ALL):
            return  # a table that is not loaded yet promises nothing
        self._value[name] = max(self._value[name], min(time, AFTER_ALL))
        if self._ready:
            self._follow()

    def _follow(self) -> None:
        """Tables that are loaded come along with the streams that are none, their delay behind."""
        ahead = min((value for name, value in self._value.items() if name not in self._ready), default=BEFORE_ALL)
        for name, ready in self._ready.items():
            if self._value[name] >= ready:
                self._value[name] = max(self._value[name], ahead - self._delay[name])

    def tick(self, now_us: int) -> None:
        """Raise streams that have been silent for longer than their idle time along with the others."""
        now = self.clock.read(now_us)
        for name in self._value:
            if name in self._spoke or self._heard[name] is None:
                self._heard[name] = now
        self._spoke.clear()
        for name, time in self._raised(now).items():
            self._raise(name, time)

    def awaits(self, now: int) -> bool:
        """Whether a tick would change anything."""
        if self._spoke or None in self._heard.values():
            return True
        return any(time > self._value[name] for name, time in self._raised(now).items())

    def _raised(self, now: int) -> dict[str, int]:
        """The silent streams, and where the others are."""
        silent = {name for name, idle in self._idle.items() if idle is not None and now - self._since(name) > idle}
        active = [value for name, value in self._value.items() if name not in silent]
        target = min(active) if active else max(self._value.values())
        return dict.fromkeys(silent, target)

    def _since(self, name: str) -> int:
        heard = self._heard[name]
        assert heard is not None, "set by tick"
        return heard

    def close(self) -> None:
        """No stream will send anything any more."""
        self._value = dict.fromkeys(self._value, AFTER_ALL)

    def progress(self) -> dict[str, dict[str, Any]]:
        """How far each stream has come, for an operator that starts later."""
        clock = self.clock
        return {
            name: {
                "watermark": value,
                "silent": None if (heard := self._heard[name]) is None else clock.passed - heard,
                "spoke": name in self._spoke,
                "clock": clock.last,
            }
            for name, value in self._value.items()
        }

    def start_late(self, progress: Mapping[str, Mapping[str, Any]]) -> None:
        """Go on with the progress of streams that others have seen before, on a clock that begins now."""
        known = {name: progress[name] for name in self._value if name in progress}
        self._value |= {name: int(each["watermark"]) for name, each in known.items()}
        silent = {name: each.get("silent") for name, each in known.items()}
        self._heard |= {name: None if since is None else -int(since) for name, since in silent.items()}
        self._spoke = {name for name in self._spoke if name not in known or known[name]["spoke"]}
        last = next((each["clock"] for each in known.values() if each.get("clock") is not None), None)
        self.clock = Elapsed(0, last)

    def header(self) -> dict[str, Any]:
        return {
            "watermarks": self._value,
            "largest": self._largest,
            "heard": self._heard,
            "spoke": sorted(self._spoke),
            "clock": [self.clock.passed, self.clock.last],
            **({} if self.complete_from is None else {"complete_from": self.complete_from}),
        }

    def restore(self, header: Mapping[str, Any]) -> None:
        marks = whole_numbers({name: header["watermarks"][name] for name in self._value})
        self._value = {name: min(max(mark, BEFORE_ALL), AFTER_ALL) for name, mark in marks.items()}
        known = header.get("largest", {})  # a state of an older version has none
        self._largest = whole_numbers({name: known.get(name, BEFORE_ALL) for name in self._value})
        self._heard = {name: None if (time := header["heard"][name]) is None else int(time) for name in self._heard}
        self._spoke = {name for name in header["spoke"] if name in self._delay}
        since = header.get("complete_from")
        self.complete_from = None if since is None else int(since)
        latest = max((time for time in self._heard.values() if time is not None), default=None)
        passed, last = header.get("clock") or (latest or 0, latest)  # without one, silence began at clock readings
        self.clock = Elapsed(int(passed), None if last is None else int(last))
