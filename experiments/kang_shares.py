"""Kang's figures about sharing what is short: CPU (8), memory (9), both (10, 11)."""

from collections.abc import Mapping

from dovetail.plan.kang_shares import kept_output_rate, output_rate, regulated_rates, share_both, shared_memory
from experiments.outcome import Curve, Mark, Outcome, Panel
from experiments.two_streams import Fed, results_per_second

_RATE = "results per second"
MEMORY_SPLITS = {
    "max A": (1000.0, 0.0),
    "max B": (0.0, 1000.0),
    "rate prop": (1000 / 6, 5000 / 6),
    "rate inverse": (5000 / 6, 1000 / 6),
    "equal": (500.0, 500.0),
}


def figure_8(quick: bool) -> Outcome:
    """Too little CPU: rates 80 and 20, windows 9 and 1 s, the join manages 10 tuples/s."""
    rates = {
        "rate prop": (8, 2),
        "rate inverse": (2, 8),
        "window prop": (9, 1),
        "window inverse": (1, 9),
        "equal": (5, 5),
    }
    a, b = Fed(80, 9, keys=50), Fed(20, 1, keys=12)
    seconds = 1000 if quick else 10_000
    model = {name: output_rate(1 / 50, *split, 9, 1) for name, split in rates.items()}
    ours = {
        name: results_per_second(a.regulated(a_rate), b.regulated(b_rate), seconds)
        for name, (a_rate, b_rate) in rates.items()
    }
    return Outcome(
        "kang-8",
        "Five ways to share too little CPU",
        "Half for each stream gives the most results; proportional and inverse differ little.",
        paper={"most results": "equal"},
        ours=_beside(ours, model),
        checks={
            "equal is best": max(ours, key=lambda name: ours[name]) == "equal",
            "the formula picks it": regulated_rates(80, 20, 10) == rates["equal"],
            "proportional and inverse differ by less than 15 %": _near(ours["rate prop"], ours["rate inverse"], 0.15)
            and _near(ours["window prop"], ours["window inverse"], 0.15),
            "all are within 10 % of equation 9": all(_near(ours[name], model[name], 0.1) for name in rates),
        },
        panels=(_bars(ours, model),),
    )


def figure_9(quick: bool) -> Outcome:
    """Too little memory: rates 10 and 50, room for 1000 tuples."""
    seconds = 200 if quick else 2000
    ours = {name: results_per_second(*memory_fed(split), seconds) for name, split in MEMORY_SPLITS.items()}
    return memory_outcome(ours)


def memory_fed(split: tuple[float, float]) -> tuple[Fed, Fed]:
    """Both streams, each window as long as its tuples need at its rate."""
    return Fed(10, split[0] / 10, keys=200), Fed(50, split[1] / 50, keys=100)


def memory_outcome(ours: Mapping[str, float], *differences: str) -> Outcome:
    """Figure 9 from the results per second of each way."""
    model = {name: kept_output_rate(1 / 200, 10, 50, *split) for name, split in MEMORY_SPLITS.items()}
    return Outcome(
        "kang-9",
        "Five ways to share too little memory",
        "All memory for the slower stream gives the most results, all for the faster one the fewest.",
        paper={"most results": "max A", "fewest results": "max B"},
        ours=_beside(ours, model),
        checks={
            "max A is best": max(ours, key=lambda name: ours[name]) == "max A",
            "max B is worst": min(ours, key=lambda name: ours[name]) == "max B",
            "the formula picks max A": shared_memory(10, 50, 1000) == MEMORY_SPLITS["max A"],
            "all are within 10 % of the formula": all(_near(ours[name], model[name], 0.1) for name in MEMORY_SPLITS),
        },
        panels=(_bars(ours, model),),
        differences=differences,
    )


def figure_10(quick: bool) -> Outcome:
    """Too little of both: 10 tuples/s, room for 100, selectivity 0.01; no window above 60 s."""
    share = share_both(capacity=10, memory=100, window_s=60)
    few, many = share.kept_rate, share.probing_rate
    splits = {
        "max A, max rate A": (many, few, 100.0, 0.0),
        "max A, max rate B": (few, many, 100.0, 0.0),
        "max B, max rate A": (many, few, 0.0, 100.0),
        "max B, max rate B": (few, many, 0.0, 100.0),
        "equal": (5.0, 5.0, 50.0, 50.0),
    }
    model = {name: kept_output_rate(0.01, *split) for name, split in splits.items()}
    ours = {name: _kept(*split, quick) for name, split in splits.items()}
    crossed = [ours["max A, max rate B"], ours["max B, max rate A"]]
    same = [ours["max A, max rate A"], ours["max B, max rate B"]]
    return Outcome(
        "kang-10",
        "Five ways to share too little CPU and memory",
        "All memory for one stream and the rate for the other is best, equal shares are next, both for the same "
        "stream is worst.",
        paper={"bound, results/s": 10.0},
        ours=_beside(ours, model),
        checks={
            "crossed is best, equal next, same side worst": min(crossed) > ours["equal"] > max(same),
            "the best is s M (u - M / T)": _near(min(crossed), share.output_rate(0.01), 0.1),
            "all are within 15 % of the formula": all(_near(ours[name], model[name], 0.15) for name in splits),
        },
        panels=(_bars(ours, model),),
        differences=(
            "The paper gives one stream all of the rate; its partner would stop and its window drain. Ours keeps the "
            f"rate {few:.2f} that fills 100 tuples within 60 s, so the best is {share.output_rate(0.01):.2f}/s.",
        ),
    )


def figure_11(quick: bool) -> Outcome:
    """Equation 14 over the share of the rate and of the memory that A gets."""
    shares = (0.1, 0.5, 0.9) if quick else (0.1, 0.3, 0.5, 0.7, 0.9)
    memories = (0.0, 50.0, 100.0) if quick else (0.0, 25.0, 50.0, 75.0, 100.0)
    ours = {(x, kept): _kept(10 * x, 10 - 10 * x, kept, 100 - kept, quick) for x in shares for kept in memories}
    model = {(x, kept): 0.01 * (x * 10 * 100 - (2 * x - 1) * 10 * kept) for x, kept in ours}
    ranked = sorted(ours, key=lambda point: ours[point])
    return Outcome(
        "kang-11",
        "Results over both shares",
        "Two maxima and two minima, at the corners: crossed shares are best, shares for the same stream worst.",
        paper={"bound, results/s": 10.0},
        ours={
            "most, results/s": ours[ranked[-1]],
            "most by equation 14": model[ranked[-1]],
            "fewest, results/s": ours[ranked[0]],
            "fewest by equation 14": model[ranked[0]],
        },
        checks={
            "the two best are the crossed corners": set(ranked[-2:]) == {(0.1, 100.0), (0.9, 0.0)},
            "the two worst are the other corners": set(ranked[:2]) == {(0.1, 0.0), (0.9, 100.0)},
            "all are within 15 % of equation 14": all(_near(ours[point], model[point], 0.15) for point in ours),
        },
        panels=(
            Panel(
                "share of the rate that A gets",
                _RATE,
                tuple(Curve(f"A keeps {kept:.0f}", shares, [ours[x, kept] for x in shares]) for kept in memories),
                tuple(Mark("", x, rate) for (x, _), rate in model.items()),
            ),
        ),
        differences=("Shares of 0 and 1 would stop a stream; ours go from 0.1 to 0.9, and crosses are equation 14.",),
    )


def _kept(a_rate: float, b_rate: float, a_tuples: float, b_tuples: float, quick: bool) -> float:
    """The real join, each window as long as its tuples need at its rate."""
    a, b = Fed(a_rate, a_tuples / a_rate, keys=100), Fed(b_rate, b_tuples / b_rate, keys=100)
    return results_per_second(a, b, seconds=1000 if quick else 10_000)


def _near(ours: float, expected: float, part: float) -> bool:
    return abs(ours - expected) <= part * expected


def _beside(ours: Mapping[str, float], model: Mapping[str, float]) -> dict[str, str]:
    """The winner and the loser, and each rate beside that of equation 9."""
    best, worst = (pick(ours, key=lambda name: ours[name]) for pick in (max, min))
    rates = {f"{name}, results/s": f"{ours[name]:.3g} (formula {model[name]:.3g})" for name in ours}
    return {"most results": best, "fewest results": worst, **rates}


def _bars(ours: Mapping[str, float], model: Mapping[str, float]) -> Panel:
    bars = tuple(Curve(name, [number], [rate]) for number, (name, rate) in enumerate(ours.items()))
    return Panel(
        "", _RATE, bars, tuple(Mark("", number, rate) for number, rate in enumerate(model.values())), bars=True
    )
