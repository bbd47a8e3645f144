"""MJoin's figure 15: six streams that do not fit into memory, flushed in coordination, at random, and as a tree.

The workload is that of ``benchmarks/spill.py``: two triples joined on a key each, their results on another attribute.
"""

from benchmarks.spill import PLANS, TENTHS, curve
from experiments.outcome import Curve, Outcome, Panel

_SIZE = 10_000
_NAMES = {"coordinated": "MJoins, coordinated", "random": "MJoins, at random", "tree": "binary tree"}


def figure_15(quick: bool) -> Outcome:
    """Table 2, three tenths of its size (a tenth for a short run); memory for half of each triple."""
    small = 1_000 if quick else 3_000
    curves = {plan: curve(plan, small) for plan in PLANS}
    first = max(each.first_flush for each in curves.values())
    tenths = {plan: each.tenths(first) for plan, each in curves.items()}
    coordinated, at_random = tenths["coordinated"], tenths["random"]
    everything = curves["coordinated"].total.rows
    shares = [place / TENTHS for place in range(1, TENTHS + 1)]
    return Outcome(
        "mjoin-15",
        "Six streams and memory for half of them",
        "Coordinated flushing is ahead of random flushing as long as input comes.",
        paper={"ahead throughout": "coordinated flushing"},
        ours={
            "ahead throughout": "coordinated flushing" if never_behind(coordinated, at_random) else "neither",
            "results": everything,
            **{
                f"{_NAMES[plan]}: results at 50 % and 100 % of input, % of all": " ".join(
                    f"{100 * each[place] / everything:.1f}" for place in (TENTHS // 2 - 1, -1)
                )
                for plan, each in tenths.items()
            },
        },
        checks={
            "in the end all plans have given the same rows": len({each.total for each in curves.values()}) == 1,
            "memory was flushed before half of the input had come": first < len(curves["random"].results) / 2,
            "coordinated is at or above random at every tenth": never_behind(coordinated, at_random),
            "and above it at the end of input": coordinated[-1] > at_random[-1],
        },
        panels=(
            Panel(
                "share of the input after the first flush",
                "results so far",
                tuple(Curve(_NAMES[plan], shares, [float(one) for one in each]) for plan, each in tenths.items()),
            ),
        ),
        differences=(
            f"The streams are {small / _SIZE:g} of the paper's; memory, which it does not state, holds half of each "
            "triple. Results that are owed come out when input ends (or before anything expires), and are not drawn.",
        ),
    )


def never_behind(ours: list[int], theirs: list[int]) -> bool:
    return all(one >= other for one, other in zip(ours, theirs, strict=True))
