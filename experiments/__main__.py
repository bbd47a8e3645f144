"""The command line: ``python -m experiments [NAME ...] [--all] [--quick] [--json] [--record] [--spark]``."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.outcome import Figure
from experiments.page import write_page, write_picture
from experiments.papers import PAPERS, figure_named, figures_of, module_of
from experiments.recorded import FOLDER, record, recorded, verdicts
from experiments.report import as_json, as_text
from experiments.summary import write_summary


def main(words: Sequence[str] | None = None) -> int:
    """Run what was asked for; a claim that does not hold is a finding and not a failure."""
    options = _parse(words)
    if options.verdicts:
        print(json.dumps(verdicts(options.to)) if options.json else _counted(verdicts(options.to)))
        return 0
    names = list(PAPERS) if options.all else options.names
    if not names:
        print("\n".join(name for paper in PAPERS for name in (paper, *(f"  {each}" for each in figures_of(paper)))))
    unknown = [name for name in names if name not in PAPERS and not figure_named(name, options.spark)]
    if unknown:
        print(
            f"no experiment {unknown[0]!r}{' on Spark' if options.spark else ''}; `python -m experiments` lists them",
            file=sys.stderr,
        )
        return 2
    for name in names:
        for each in figures_of(name, options.spark) if name in PAPERS else (name,):
            figure = figure_named(each, options.spark)
            assert figure is not None
            _show(figure, options)
    if names and options.record:
        _pages(options.to)
    return 0


def _counted(found: dict[str, object]) -> str:
    return "\n".join(f"{name}: {', '.join(each) if isinstance(each, list) else each}" for name, each in found.items())


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments", description="The figures of the papers, run again.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a figure (order-8), or a paper and its page (order)")
    parser.add_argument("--all", action="store_true", help="every paper")
    parser.add_argument("--quick", action="store_true", help="shorter runs")
    parser.add_argument("--json", action="store_true", help="only the line of JSON")
    parser.add_argument("--spark", action="store_true", help="on a Spark session, those figures that run there")
    parser.add_argument("--verdicts", action="store_true", help="count what holds, by the runs that were recorded")
    parser.add_argument("--record", action="store_true", help="write down what came out, and the pages anew")
    parser.add_argument("--to", type=Path, default=FOLDER, metavar="FOLDER", help="where pages are (docs/papers)")
    return parser.parse_args(words)


def _pages(folder: Path) -> None:
    """All pages and the table of all figures, from what was recorded."""
    for paper in PAPERS:
        found = [each for each in (recorded(name, folder) for name in figures_of(paper)) if each is not None]
        if found:
            short = [outcome.name for outcome, is_short in found if is_short]
            spark = {name: each[0] for name in figures_of(paper) if (each := recorded(name, folder, spark=True))}
            write_page(paper, module_of(paper).INTRO, [outcome for outcome, _ in found], folder, short, spark)
    write_summary(folder)


def _show(figure: Figure, options: argparse.Namespace) -> None:
    outcome = figure(options.quick)
    if not options.json:
        print(as_text(outcome))
    print(as_json(outcome), flush=True)
    if options.record:
        record(outcome, options.quick, options.to, options.spark)
        if not options.spark:
            write_picture(outcome, options.to)


if __name__ == "__main__":
    sys.exit(main())
