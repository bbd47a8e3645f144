"""The plan in words a person can check: a tree, its streams and probes, what it costs, what was assumed."""

from collections.abc import Iterator, Mapping
from typing import Any

from dovetail.model.duration import duration_text
from dovetail.plan.asof_report import explain_asof
from dovetail.plan.draw_plan import draw_plan
from dovetail.plan.report import ASSUMED_PARTITIONS

Report = Mapping[str, Any]
_REST = {
    "harvest": "the rest is left out",
    "drop": "the rest is left out",
    "spill": "the rest is joined from disk",
    "fail": "with more the run stops",
}
_FORGETS = {"active": "what has left after every block", "lazy": "what has left when it is probed"}


def explain(report: Report, costs: bool = True) -> str:
    """A report as text; without ``costs`` only what is done, not what it takes."""
    if "asof" in report:
        return explain_asof(report)
    costs = costs and "first" not in report  # those of so few rows are no rates
    lines = [_head(report), "plan", *(f"  {line}" for line in draw_plan(report))]
    for name, operator in report.get("parts", {"": report}).items():
        lines += [f"operator {name}"] if name else []
        lines += [*_streams(operator, costs), *_probes(operator, costs), *_leaving(operator), *_aggregates(operator)]
    if costs:
        lines += [*_costs(report), *_splits(report), *_assumed(report)]
    lines += [*_first(report), *_budget(report)]
    for operator in report.get("parts", {"": report}).values():
        lines += _partitioning(operator)
    return "\n".join(lines)


def _head(report: Report) -> str:
    several = f"{report['operators']} operators ({report.get('plan_why')})"
    operators = "one operator" if report["operators"] == 1 else several
    count = len(report["streams"])
    return f"{report['how']} join of {count} streams, {operators}, order {report['order']}, late rows {report['late']}"


def _streams(report: Report, costs: bool) -> Iterator[str]:
    yield "streams"
    for name, stream in report["streams"].items():
        columns = ", ".join(stream["columns"])
        yield f"  {name}: window {stream['window']}, stored as {stream['algorithm']}, columns {columns}"
        yield from (f"    {told}" for told in stream["repeats"])
        yield from (f"    only if {condition}" for condition in stream["filters"])
        if stream["idle_us"] is not None:
            yield f"    silent for {duration_text(stream['idle_us'])}, it follows the others"
        if stream["ahead_us"] is not None:
            yield f"    rows more than {duration_text(stream['ahead_us'])} ahead of all others are handed over"
        if costs:
            keys = "".join(f", {number(count)} values of {key}" for key, count in stream["keys"].items())
            held = f"{number(stream['tuples'])} tuples held, {size(stream['bytes'])}"
            yield f"    {number(stream['rate'])} tuples/s, {held}{keys}"
            compared = ", ".join(f"{name} {share(cost)}" for name, cost in stream["costs"].items())
            yield f"    {stream['algorithm']}, {stream['why']}; its window would cost {compared}"
            yield f"    forgets {_FORGETS[stream['invalidation']]}"


def _probes(report: Report, costs: bool) -> Iterator[str]:
    yield "probes"
    for name, probe in report["probes"].items():
        yield f"  {name} arrives" + (f" ({probe['why']})" if costs and len(probe["steps"]) > 1 else "")
        for step in probe["steps"]:
            then = ", then " + " AND ".join(step["then"]) if step["then"] else ""
            matches = f": {number(step['matches'])} matches" if costs else ""
            yield f"    -> {step['stream']} {step['by']}{then}{matches}"


def _leaving(report: Report) -> Iterator[str]:
    leaving = report.get("leaving")
    if leaving:
        yield "rows without partners"
        yield f"  rows of {', '.join(leaving['look'])} look for what is missing when that is certain"
        yield f"  rows of {', '.join(leaving['kept'])} are kept until those of {leaving['first']} they meet have left"
        if not leaving["probes"]:
            yield "  rows that arrive do not probe for complete results: every result lacks a row of some stream"


def _aggregates(report: Report) -> Iterator[str]:
    if report["aggregates"]:
        yield "sliding aggregates, over the results that count at each moment"
        yield f"  {report['aggregates']}"


def _costs(report: Report) -> Iterator[str]:
    predicted, measured = report["predicted"], report["measured"]
    yield "predicted"
    yield f"  cost: {share(predicted['cost'])} of a core, {_verdict(predicted)}"
    yield f"  output: {number(predicted['output_rate'])} rows/s"
    yield f"  weights: {report['weights']}"
    if measured:
        yield "measured"
        yield f"  cost: {share(measured['cost'])} of a core"
        yield f"  output: {number(measured['output_rate'])} rows/s"
        for name, parts in measured["per_tuple"].items():
            times = ", ".join(f"{part[:-2]} {number(seconds * 1e9)} ns" for part, seconds in parts.items())
            yield f"  per tuple of {name}: {times}"


def _splits(report: Report) -> Iterator[str]:
    """One operator beside the cheapest of several, where that is a choice."""
    costs = report.get("splits", {})
    if len(costs) > 1:
        best = min((cost, tree) for tree, cost in costs.items() if tree != "one operator")
        yield f"  one operator: {share(costs['one operator'])}; several, {best[1]}: {share(best[0])}"


def _first(report: Report) -> Iterator[str]:
    """What the first results take, where only so many are wanted."""
    first = report.get("first")
    if first is None:
        return
    yield f"the first {first['limit']:,} results"
    if "rows" not in first:
        come = "in order of time" if first["by_time"] else "as an equal share of each table"
        yield f"  rows come {come}, in pieces that grow"
        return
    whole, rows = first["whole"], first["rows"]
    others = ", ".join(f"about {number(count)} rows of {name}" for name, count in rows.items() if name not in whole)
    before = f"all {', '.join(f'{number(rows[name])} rows of {name}' for name in whole)}, then " if whole else ""
    beside = f"; an equal share of each would take {number(first['shared_s'] * 1e3)}" if whole else ""
    yield f"  {before}{others}, in pieces that grow"
    yield f"  predicted: {number(first['seconds'] * 1e3)} ms of work{beside}"


def _budget(report: Report) -> Iterator[str]:
    """What the query may use, and what that means for the cost and size predicted."""
    budget = report.get("budget")
    if budget is None:
        return
    yield f"budget of the whole query: {budget['policy']}"
    if budget["cpu"] is not None:
        spent = report["predicted"]["cost"]
        effect = f"{share(budget['cpu'] / spent)} of the work" if spent > budget["cpu"] else "all of it"
        yield f"  cpu: {share(budget['cpu'])} of a core, enough for {effect}"
    if budget["memory"] is not None:
        size_of, unit = budget["memory"]["size"], budget["memory"]["unit"]
        parts = report.get("parts", {"": report}).values()
        held = sum(stream[unit] for part in parts for stream in part["streams"].values())
        effect = f"{share(size_of / held)} of what windows hold, {_REST[budget['policy']]}" if held > size_of else "all"
        yield f"  memory: {size(size_of) if unit == 'bytes' else f'{number(size_of)} tuples'}, enough for {effect}"
    if budget["folder"] is not None:
        yield f"  disk: {budget['folder']}"
    if budget["min_completeness"] is not None:
        below = "the run stops" if budget["strict"] else "the budget is exceeded"
        yield f"  completeness: {share(budget['min_completeness'])} or more, below it {below}"


def _verdict(predicted: Mapping[str, Any]) -> str:
    headroom = predicted["headroom"]
    if headroom is None:
        return "keeps up"
    if predicted["keeps_up"]:
        return "keeps up" + (f", with {headroom:.1f} times that to spare" if headroom < 100 else " easily")
    return "falls behind: give it more buckets, a smaller window, or a budget"


def _assumed(report: Report) -> Iterator[str]:
    if report["assumed"]:
        yield "assumed"
        yield from (f"  {note}" for note in report["assumed"])


def _partitioning(report: Report) -> Iterator[str]:
    found = report["partitioning"]
    session = "" if found["partitions"] else f", if the session has {ASSUMED_PARTITIONS} shuffle partitions"
    yield f"partitioning on Spark{session}"
    yield f"  {found['grid']}"
    if found["aggregated"]:
        yield f"  {found['aggregated']}"
    for name in found["seen_whole"]:
        yield f"  every cell sees all of {name}: its window counts rows of the whole stream"
    if found["unsplit"]:
        yield f"  hot keys are not split: {found['unsplit']}"
    if report["one_thread"]:
        yield f"embedded, on one thread\n  {report['one_thread']}"


def number(value: float) -> str:
    """Three digits are enough.

    >>> number(1234567.8), number(12.345), number(0.00123), number(0)
    ('1,234,568', '12.3', '0.00123', '0')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def share(cost: float) -> str:
    """Seconds per second as a percentage.

    >>> share(0.5), share(12), share(0.00012)
    ('50 %', '1,200 %', '0.012 %')
    """
    return f"{number(cost * 100)} %"


def size(count: float) -> str:
    """Bytes in a unit that fits.

    >>> size(512), size(48_000_000)
    ('512 B', '48.0 MB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return f"{count:.0f} B"
