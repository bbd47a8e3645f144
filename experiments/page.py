"""A paper's page: each figure with its claim, its numbers, its picture and a sentence for every difference."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from experiments.outcome import Outcome
from experiments.picture import draw
from experiments.report import numbers, verdict


def write_page(
    paper: str,
    intro: str,
    outcomes: Sequence[Outcome],
    folder: Path,
    short: Collection[str] = (),
    spark: Mapping[str, Outcome] | None = None,
) -> Path:
    """The page beside the pictures in ``folder``/``paper``; ``short``: the figures that are from short runs.

    ``spark``: the same figures on Spark, where they were run there.
    """
    page = folder / f"{paper}.md"
    pictures = {outcome.name for outcome in outcomes if (folder / paper / f"{outcome.name}.svg").exists()}
    page.write_text("\n".join(_page(intro, outcomes, short, pictures, spark or {})) + "\n")
    return page


def write_picture(outcome: Outcome, folder: Path) -> None:
    """The picture of an outcome, if it has one."""
    (folder / outcome.paper_name).mkdir(parents=True, exist_ok=True)
    if outcome.panels:
        draw(outcome.panels, folder / outcome.paper_name / f"{outcome.name}.svg")


def _page(
    intro: str,
    outcomes: Sequence[Outcome],
    short: Collection[str],
    pictures: Collection[str],
    spark: Mapping[str, Outcome],
) -> Iterator[str]:
    yield f"{intro.strip()}\n"
    if len(short) == len(outcomes):
        yield "This page shows a short run (`--quick`).\n"
    elif short:
        yield f"From short runs (`--quick`), the others from full ones: {', '.join(short)}.\n"
    yield "| figure | | claim |\n|---|---|---|"
    for outcome in outcomes:
        yield f"| [{outcome.name}](#{outcome.name}) | {outcome.title} | {verdict(outcome)} |"
    for outcome in outcomes:
        yield from _section(outcome, outcome.name in pictures)
        if outcome.name in spark:
            yield f"\n### {outcome.name} on Spark\n\nThe claim **{verdict(spark[outcome.name])}** there."
            yield from _numbers(spark[outcome.name])


def _section(outcome: Outcome, picture: bool) -> Iterator[str]:
    yield f"\n## {outcome.name}\n\n**{outcome.title}.** Claim: {outcome.claim} It **{verdict(outcome)}**."
    if picture:
        yield f"\n![{outcome.title}]({outcome.paper_name}/{outcome.name}.svg)"
    yield from _numbers(outcome)


def _numbers(outcome: Outcome) -> Iterator[str]:
    yield "\n| | paper | ours |\n|---|---|---|"
    yield from (f"| {name} | {paper} | {ours} |" for name, paper, ours in numbers(outcome))
    yield ""
    yield from (f"- {'holds' if passed else '**fails**'}: {check}" for check, passed in outcome.checks.items())
    if outcome.differences:
        yield "\nWhere we differ:\n"
        yield from (f"- {difference}" for difference in outcome.differences)
    if outcome.why:
        yield "\nWhy it does not hold:\n"
        yield from (f"- {cause.text} ({'shown' if cause.shown else 'not shown'} by a run)" for cause in outcome.why)
    yield from (f"- Not explained by a run: {check}." for check in outcome.unexplained)
