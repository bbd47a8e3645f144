"""The command line: ``python -m experiments [NAME ...] [--all] [--quick] [--json] [--to FOLDER]``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.outcome import Figure, Outcome
from experiments.page import write_page
from experiments.papers import PAPERS, figure_named, figures_of, module_of
from experiments.report import as_json, as_text

_PAGES = Path(__file__).parents[1] / "docs" / "papers"


def main(words: Sequence[str] | None = None) -> int:
    """Run what was asked for; a claim that does not hold is a finding and not a failure."""
    options = _parse(words)
    names = list(PAPERS) if options.all else options.names
    if not names:
        print("\n".join(name for paper in PAPERS for name in (paper, *(f"  {each}" for each in figures_of(paper)))))
    unknown = [name for name in names if name not in PAPERS and not figure_named(name)]
    if unknown:
        print(f"no experiment {unknown[0]!r}; `python -m experiments` lists them", file=sys.stderr)
        return 2
    for name in names:
        figure = figure_named(name)
        if figure:
            _show(figure, options)
        else:
            _paper(name, options)
    return 0


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The figures of the papers, run again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a figure (order-8), or a paper and its page (order)")
    parser.add_argument("--all", action="store_true", help="every paper")
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--json", action="store_true", help="only the line of JSON")
    parser.add_argument("--to", type=Path, default=_PAGES, metavar="FOLDER", help="where pages go (docs/papers)")
    return parser.parse_args(words)


def _paper(paper: str, options: argparse.Namespace) -> None:
    outcomes = [_show(figure, options) for figure in figures_of(paper).values()]
    short = list(figures_of(paper)) if options.quick else []
    write_page(paper, module_of(paper).INTRO, outcomes, options.to, short)


def _show(figure: Figure, options: argparse.Namespace) -> Outcome:
    outcome = figure(options.quick)
    if not options.json:
        print(as_text(outcome))
    print(as_json(outcome), flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
