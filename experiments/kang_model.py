"""The cost model of one join of two streams (Kang, Naughton, Viglas: window joins over unbounded streams).

Costs are per second and per direction: joining A to B is A's tuples probing B's window, and B's tuples
entering and leaving it. A full join is the sum of its two directions, each with its own algorithm:

    HHJ   both windows hashed        HNJ   A's hashed, B's scanned
    NNJ   both scanned               NHJ   A's scanned, B's hashed

Example: windows of a minute, ten keys, A at 10 tuples per second. Hash is cheaper for B's window
until B brings 67 tuples per second; from there on, deleting from its buckets costs more than it saves.

    >>> weights = Weights(scan=0.5, hash=0.65)
    >>> round(crossing_rate(10, 60, 10, weights), 1), round(approximate_crossing(10, weights), 1)
    (67.0, 6.7)
    >>> a, slower, faster = Input(10, 60, 10), Input(60, 60, 10), Input(70, 60, 10)
    >>> cheaper(a, slower, weights), cheaper(a, faster, weights)
    ('hash', 'scan')
"""

from dataclasses import dataclass
from math import ceil, floor, inf, log2
from typing import Literal

Kind = Literal["hash", "scan"]


@dataclass(frozen=True)
class Weights:
    """What touching one tuple costs, scanning (C_n) and in a hash bucket (C_h); measured, in any unit."""

    scan: float
    hash: float

    @property
    def ratio(self) -> float:
        """The paper's r."""
        return self.hash / self.scan


@dataclass(frozen=True)
class Input:
    """A stream: tuples per second, seconds of window, distinct keys (which is about the number of buckets)."""

    rate: float
    window_s: float
    keys: float

    @property
    def tuples(self) -> float:
        """How many the window holds."""
        return self.rate * self.window_s

    @property
    def bucket(self) -> float:
        """How many one bucket of it holds."""
        return self.tuples / self.keys


def scan_cost(a: Input, b: Input, weights: Weights) -> float:
    """Joining A to B's scanned window (equation 2): all of it per probe, one tuple in and one out per arrival."""
    return (a.rate * b.tuples + 2 * b.rate) * weights.scan


def lazy_scan_cost(a: Input, b: Input, weights: Weights) -> float:
    """The same if tuples leave only when A probes, found by binary search."""
    search = floor(log2(ceil(b.rate / a.rate)) + 1)
    return (a.rate * (b.tuples + search) + b.rate) * weights.scan


def hash_cost(a: Input, b: Input, weights: Weights) -> float:
    """Joining A to B's hashed window (equation 3): a bucket per probe, and a bucket for every tuple that leaves."""
    return (a.rate * b.bucket + b.rate * (b.bucket + 1)) * weights.hash


def one_way_cost(a: Input, b: Input, stored: Kind, weights: Weights) -> float:
    """Joining A to B's window, stored this way."""
    return hash_cost(a, b, weights) if stored == "hash" else scan_cost(a, b, weights)


def full_cost(a: Input, b: Input, a_stored: Kind, b_stored: Kind, weights: Weights) -> float:
    """Both directions (equations 4 to 6)."""
    return one_way_cost(a, b, b_stored, weights) + one_way_cost(b, a, a_stored, weights)


def cheaper(a: Input, b: Input, weights: Weights) -> Kind:
    """How to store B's window for A's probes."""
    return "scan" if scan_cost(a, b, weights) < hash_cost(a, b, weights) else "hash"


def crossing(b: Input, weights: Weights) -> float:
    """How many times as fast as A stream B must be for scanning to win, exactly; infinite if it never does."""
    saved = b.tuples * weights.scan - b.bucket * weights.hash
    spent = b.bucket * weights.hash + weights.hash - 2 * weights.scan
    if spent <= 0:
        return inf
    return max(saved / spent, 0.0)


def approximate_crossing(keys: float, weights: Weights) -> float:
    """The same for large windows (equation 7), where only the number of keys matters."""
    return (keys - weights.ratio) / weights.ratio


def crossing_rate(a_rate: float, window_s: float, keys: float, weights: Weights) -> float:
    """The rate of B at which both cost the same: ``crossing`` solved for it, since B's tuples grow with its rate."""
    probing = a_rate * window_s * (weights.scan - weights.hash / keys)
    return (probing + 2 * weights.scan - weights.hash) * keys / (window_s * weights.hash)
