"""Plans and numbers as small HTML tables, which notebooks show by themselves; every name goes in as text.

>>> table(["stream", "rows"], [["<T>", "1,200"]])[:60]
'<table><thead><tr><th>stream</th><th>rows</th></tr></thead><'
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from dovetail.plan.explain import explain, number, share, size

Report = Mapping[str, Any]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells of text under heads."""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def plan_html(report: Report) -> str:
    """A plan: its streams in a table, what it costs and gives, and all of ``explain`` folded away."""
    if "asof" in report:
        return title(f"as-of join: {report['asof']}") + folded("the plan in words", explain(report))
    streams = [
        [
            name,
            each["window"],
            each["algorithm"],
            number(each["rate"]),
            number(each["tuples"]),
            size(each["bytes"]),
            way,
        ]
        for name, each in report["streams"].items()
        for way in [_way(report["probes"][name])]
    ]
    heads = ["stream", "window", "stored as", "tuples/s", "tuples", "memory", "an arrival probes"]
    return title(_head(report)) + table(heads, streams) + _costs(report) + folded("the plan in words", explain(report))


def _head(report: Report) -> str:
    names = " ⋈ ".join(list(report["streams"])[:6])
    return f"{report['how']} join: {names}"


def _way(probe: Report) -> str:
    return " → ".join(step["stream"] for step in probe["steps"][:6])


def _costs(report: Report) -> str:
    expected, found = report["predicted"], report["measured"]
    rows = [["predicted", share(expected["cost"]), number(expected["output_rate"])]]
    if found:
        rows.append(["measured", share(found["cost"]), number(found["output_rate"])])
    return table(["", "cost, of a core", "results/s"], rows)


def run_html(metrics: Report) -> str:
    """What a run has done so far, from its report."""
    streams = [
        [name, *(f"{each[count]:,}" for count in ("rows", "late", "stored")), size(each["bytes"])]
        for name, each in metrics["streams"].items()
    ]
    held = f", {metrics['held']:,} held" if metrics.get("held") else ""
    parts = [title(f"{metrics['results']:,} results so far{held}")]
    parts.append(table(["stream", "rows", "late", "stored", "memory"], streams))
    if metrics.get("queries"):
        queries = [[name, f"{each['results']:,}", f"{each['held']:,}"] for name, each in metrics["queries"].items()]
        parts.append(table(["query", "results", "waiting"], queries))
    return "".join(parts)


def title(text: str) -> str:
    return f"<div><b>{escape(text)}</b></div>"


def folded(name: str, text: str) -> str:
    """Long text behind a line that opens it."""
    return f"<details><summary>{escape(name)}</summary><pre>{escape(text)}</pre></details>"
