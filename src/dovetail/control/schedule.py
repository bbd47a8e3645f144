"""LWO, SWF and Greedy: whose window is looked through next (Hammad, Franklin, Aref, Elmagarmid: shared window joins).

    largest    LWO: an arrival looks through the largest window, then comes the next arrival
    smallest   SWF: every arrival looks through the smallest window before any goes on to the next larger one
    greedy     whatever is smallest comes next: the smallest window, or what a larger one adds to the one before it

The priorities are fixed while the set of queries is: they depend on the sizes alone. Windows of 10, 12 and 60 s:

    >>> [urgency(name, [10, 12, 60]) for name in ("smallest", "greedy")]
    [(0, 1, 2), (1, 0, 2)]

so under Greedy an arrival that has looked through 10 s goes on to 12 s before the next arrival begins. A thousand
queries do not mean a thousand passes: windows are gathered into at most ``MOST_STAGES`` stages.
"""

from collections.abc import Mapping, Sequence

from dovetail.model.schedule import Schedule
from dovetail.plan.share_queries import ScheduleName, SharedPlan, window_sizes

MOST_STAGES = 8  # each stage is one more pass over the batch

Sizes = Mapping[str, int]


def schedule_windows(shared: SharedPlan) -> Schedule:
    """The schedule of a group of queries."""
    stages = nested_stages([window_sizes(member.query) for member in shared.members])
    if shared.schedule == "largest" or len(stages) == 1:
        return Schedule((stages[-1],), (0,))
    totals = [sum(stage.values()) for stage in stages]
    return Schedule(stages, urgency(shared.schedule, totals), early=shared.schedule == "greedy")


def urgency(schedule: ScheduleName, sizes: Sequence[float]) -> tuple[int, ...]:
    """The stages, the most urgent first, given the sizes of ever larger windows."""
    steps = [size - before for size, before in zip(sizes, [0, *sizes], strict=False)]
    if schedule == "greedy":
        return tuple(sorted(range(len(sizes)), key=lambda stage: (steps[stage], stage)))
    return tuple(range(len(sizes)))


def nested_stages(windows: Sequence[Sizes]) -> tuple[Sizes, ...]:
    """Stages that each hold the one before; every query's windows are held by one of them."""
    distinct = sorted({tuple(sizes.items()) for sizes in windows}, key=lambda items: sum(size for _, size in items))
    stages: list[dict[str, int]] = []
    for sizes in map(dict, distinct):
        before = stages[-1] if stages else dict.fromkeys(sizes, 0)
        stages.append({name: max(size, before[name]) for name, size in sizes.items()})
    kept = [stages[at * len(stages) // MOST_STAGES - 1] for at in range(1, MOST_STAGES + 1)]
    return tuple(kept if len(stages) > MOST_STAGES else stages)
