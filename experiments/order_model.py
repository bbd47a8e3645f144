"""How long tuples wait for ordered output, in formulas (Hammad, Aref, Elmagarmid: in-order execution).

Two streams with windows of ``window_s`` seconds, a slow and a fast one (tuples per second), regular
arrivals; comparing two tuples takes ``compare_s``. While the slow stream is silent, n = fast / slow
tuples of the fast one gather; joining one of them takes C = compare_s * window_s * slow.

Example: half a millisecond, a minute, rates 1 and 10.

    >>> load = Workload(compare_s=0.0005, window_s=60, slow=1, fast=10)
    >>> round(overlap(load), 3), round(gain(load), 3), round(busy(load), 3)
    (0.3, 0.231, 0.6)
    >>> round(sync_response(load), 3), round(hold_response(load), 3)
    (0.715, 0.55)
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """What the formulas need to know."""

    compare_s: float
    window_s: float
    slow: float
    fast: float

    @property
    def gathered(self) -> float:
        """The paper's n."""
        return self.fast / self.slow

    @property
    def service_s(self) -> float:
        """The paper's C: joining one tuple of the fast stream."""
        return self.compare_s * self.window_s * self.slow


def hold_response(load: Workload) -> float:
    """Seconds from arrival to output if output waits (equation 5): the wait for the slow stream, and nothing else."""
    return 1 / load.slow - (load.gathered - 1) / (2 * load.fast)


def sync_response(load: Workload) -> float:
    """Seconds from arrival to output if input waits (equation 3): what has gathered is joined only afterwards."""
    return hold_response(load) + (load.gathered + 1) / 2 * load.service_s


def overlap(load: Workload) -> float:
    """The paper's x = c w l1 l2: the part of the time that joining the fast stream takes."""
    return load.compare_s * load.window_s * load.slow * load.fast


def gain(load: Workload) -> float:
    """By which part holding output is quicker than holding input (equation 7)."""
    return overlap(load) / (1 + overlap(load))


def busy(load: Workload) -> float:
    """The part of the time that one server works: joining the slow stream takes as long as joining the fast one."""
    return 2 * overlap(load)


def largest_compare_s(window_s: float, slow: float, fast: float) -> float:
    """Above this, one server that carries both streams falls behind (x = 1/2)."""
    return 1 / (2 * window_s * slow * fast)
