"""Tells random stories of everything that can happen around the operator on Spark, and looks for rows that suffer.

python -m scripts.simulate --seeds 10000 --json      so many seeds; --first: the seed to begin with
python -m scripts.simulate --minutes 10              as many seeds as there is time for
python -m scripts.simulate --seed 4711               one seed again, made small if it fails
python -m scripts.simulate --plant "the token"       with a mistake planted: the first seed that finds it

A run that is ended early (Ctrl-C or SIGTERM) still reports the seeds it has told.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count, takewhile
from time import monotonic

from tests.simulation.judge import Verdict, judge
from tests.simulation.planted import PLANTED, planted
from tests.simulation.shrink import shrink, told
from tests.simulation.story import story_of


def main() -> int:
    """Whether anything was found, as the exit code."""
    asked = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = next((name for name in PLANTED if asked.plant and asked.plant in name), None)
    with planted(found) if found else nullcontext():
        verdicts = _tell(asked)
        bad = [verdict for verdict in verdicts if not verdict.good]
        _report(verdicts, asked.json)
        for verdict in bad[:3]:
            small = shrink(story_of(verdict.seed), lambda story: not judge(story).good)
            print(f"\n{told(small)}\n{judge(small)}", file=sys.stderr)
    return int(bool(bad))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A deterministic simulation of Spark around the operator.")
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--plant")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _tell(asked: argparse.Namespace) -> list[Verdict]:
    if asked.seed is not None:
        return [judge(story_of(asked.seed))]
    verdicts: list[Verdict] = []
    try:
        for seed in _seeds(asked):
            verdicts.append(judge(story_of(seed)))
            if asked.plant and not verdicts[-1].good:
                break
    except KeyboardInterrupt:
        print(f"ended after {len(verdicts)} seeds", file=sys.stderr)
    return verdicts


def _seeds(asked: argparse.Namespace) -> Iterator[int]:
    if asked.minutes is None:
        return iter(range(asked.first, asked.first + asked.seeds))
    ends = monotonic() + 60 * asked.minutes
    return takewhile(lambda _: monotonic() <= ends, count(asked.first))


def _report(verdicts: list[Verdict], as_json: bool) -> None:
    told = {
        "seeds": len(verdicts),
        "faults": sum(verdict.faults for verdict in verdicts),
        **{name: sum(getattr(verdict, name) for verdict in verdicts) for name in ("lost", "repeated", "wrong")},
        "unexplained": sum(len(verdict.unexplained) for verdict in verdicts),
        "failing": [verdict.seed for verdict in verdicts if not verdict.good],
    }
    print(json.dumps(told) if as_json else "\n".join(f"{name:12} {value}" for name, value in told.items()))


if __name__ == "__main__":
    sys.exit(main())
