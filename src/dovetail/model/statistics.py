"""What is known about the streams of a query: given by a user, measured by an engine, or assumed.

Example: A brings 1,000 tuples per second into a window of a minute, 500 distinct keys among them.

    >>> a = StreamStatistics(rate=1000, tuples=60_000, block=100)
    >>> known = Statistics({"A": a}, keys={"A.k": 500})
    >>> known.streams["A"].tuples / known.keys["A.k"]
    120.0
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

Tie = tuple[frozenset[str], str]  # the streams already bound that a probe starts from, and the stream it looks into


@dataclass(frozen=True)
class StreamStatistics:
    """One stream: tuples per second of event time, tuples in its window, tuples joined at a time.

    ``window_s`` is the length of its window; None if that counts rows, or all of them.
    """

    rate: float
    tuples: float
    block: float
    bytes: float | None = None
    window_s: float | None = None

    @property
    def span_s(self) -> float:
        """The time that the tuples of its window take to come."""
        return self.window_s if self.window_s is not None else self.tuples / self.rate if self.rate else 0.0


@dataclass(frozen=True)
class Costs:
    """Measured, for one stream: seconds per tuple that arrived, of storing, of probing with it, of forgetting."""

    insert_s: float
    probe_s: float
    expiry_s: float

    @property
    def total_s(self) -> float:
        return self.insert_s + self.probe_s + self.expiry_s


@dataclass(frozen=True)
class Statistics:
    """All streams together; ``assumed`` says in words what was neither given nor measured.

    ``keys`` holds the distinct values of a key in its window, by the key's text (``"A.k"``). A selectivity is the
    share of a window's tuples in time that match a probe; a fan-out is how many do. A lead, by arriving and stored
    stream, is how many seconds the stored one is ahead of the last tuple of an arriving block. ``alike`` is the share
    of a window's tuples that agree with a probe on its key, where more than the key decides what matches. ``seen_s`` is
    how many seconds of event time the streams have been watched; None if they were not.
    """

    streams: Mapping[str, StreamStatistics]
    keys: Mapping[str, float] = field(default_factory=dict)
    selectivities: Mapping[Tie, float] = field(default_factory=dict)
    fanouts: Mapping[Tie, float] = field(default_factory=dict)
    leads: Mapping[tuple[str, str], float] = field(default_factory=dict)
    alike: Mapping[Tie, float] = field(default_factory=dict)
    output_rate: float | None = None
    seen_s: float | None = None
    costs: Mapping[str, Costs] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()

    @property
    def busy(self) -> float | None:
        """Measured: seconds of work per second of event time; None if nothing was measured."""
        if not self.costs:
            return None
        return sum(self.streams[name].rate * cost.total_s for name, cost in self.costs.items())


def together(cells: Sequence[Statistics]) -> Statistics:
    """Of the cells of one operator: rates, tuples and results added up, all else as the first has it."""
    streams = {name: _stream([cell.streams[name] for cell in cells]) for name in cells[0].streams}
    made = [cell.output_rate for cell in cells if cell.output_rate is not None]
    return replace(cells[0], streams=streams, output_rate=sum(made) if made else None)


def _stream(cells: Sequence[StreamStatistics]) -> StreamStatistics:
    sizes = [cell.bytes for cell in cells if cell.bytes is not None]
    rate, tuples = sum(cell.rate for cell in cells), sum(cell.tuples for cell in cells)
    return replace(cells[0], rate=rate, tuples=tuples, bytes=sum(sizes) if sizes else None)
