"""A paper's page: each figure with its claim, its numbers, its picture and a sentence for every difference."""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from experiments.outcome import Outcome
from experiments.picture import draw
from experiments.report import numbers, verdict


def write_page(paper: str, intro: str, outcomes: Sequence[Outcome], folder: Path, short: Collection[str] = ()) -> Path:
    """Pictures into ``folder``/``paper``, the page beside them; ``short``: the figures that are from short runs."""
    (folder / paper).mkdir(parents=True, exist_ok=True)
    for outcome in outcomes:
        if outcome.panels:
            draw(outcome.panels, folder / paper / f"{outcome.name}.svg")
    page = folder / f"{paper}.md"
    page.write_text("\n".join(_page(intro, outcomes, short)) + "\n")
    return page


def _page(intro: str, outcomes: Sequence[Outcome], short: Collection[str]) -> Iterator[str]:
    yield f"{intro.strip()}\n"
    if len(short) == len(outcomes):
        yield "This page shows a short run (`--quick`).\n"
    elif short:
        yield f"From short runs (`--quick`), the others from full ones: {', '.join(short)}.\n"
    yield "| figure | | claim |\n|---|---|---|"
    for outcome in outcomes:
        yield f"| [{outcome.name}](#{outcome.name}) | {outcome.title} | {verdict(outcome)} |"
    for outcome in outcomes:
        yield from _section(outcome)


def _section(outcome: Outcome) -> Iterator[str]:
    yield f"\n## {outcome.name}\n\n**{outcome.title}.** Claim: {outcome.claim} It **{verdict(outcome)}**."
    if outcome.panels:
        yield f"\n![{outcome.title}]({outcome.paper_name}/{outcome.name}.svg)"
    yield "\n| | paper | ours |\n|---|---|---|"
    yield from (f"| {name} | {paper} | {ours} |" for name, paper, ours in numbers(outcome))
    yield ""
    yield from (f"- {'holds' if passed else '**fails**'}: {check}" for check, passed in outcome.checks.items())
    if outcome.differences:
        yield "\nWhere we differ:\n"
        yield from (f"- {difference}" for difference in outcome.differences)
