"""One combination of features, tried: a query that has it, rows, and what the oracle says about what came out."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.model.combinations import AXES, REFUSALS, SHEDS, Combination, refusal
from dovetail.model.how import BY_STREAM
from dovetail.testing import Close, Event, Push, Script, Tick, assert_same_rows, assert_subset, oracle, ordered
from scripts.trial_runs import SECOND, Shown, at_rest, embedded, read_from, streamed

SCHEMA = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64(), "n": pa.int64(), "row": pa.int64()})
BATCHES, ROWS = 4, 14
HARVEST = dv.harvest(interval="1 second")  # as long as a batch, so that there are decisions in a few batches
BUDGETS: Mapping[str, dict[str, Any]] = {
    "cpu harvest": {"cpu": 0.5, "policy": HARVEST},
    "cpu drop": {"cpu": 0.5, "policy": "drop"},
    "memory harvest": {"memory": dv.tuples(24)},
    "memory spill": {"memory": dv.tuples(24), "policy": "spill"},
    "memory fail": {"memory": dv.tuples(10_000), "policy": "fail"},
    "cpu and memory harvest": {"cpu": 0.5, "memory": dv.tuples(24), "policy": HARVEST},
    "cpu and memory drop": {"cpu": 0.5, "memory": dv.tuples(24), "policy": "drop"},
}
WINDOWS = {"rows": dv.rows(5), "rows per key": dv.rows(2, per="key"), "unbounded": dv.unbounded()}


def whole(some: Combination) -> dict[str, str]:
    """A combination with every axis in it."""
    return {axis: some.get(axis, words[0]) for axis, words in AXES.items()}


def drawn(random: np.random.Generator, fixed: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """A combination that runs: half of the axes that are not fixed to some words have their first."""
    while True:
        usual = {axis: words if random.random() < 0.5 else words[:1] for axis, words in AXES.items()}
        cell = {axis: str(random.choice(words)) for axis, words in (usual | dict(fixed)).items()}
        if refusal(cell) is None:
            return cell


def names_of(cell: Combination) -> str:
    """Its streams: a tree takes three, and so does a join with a word for each."""
    return "ABC" if "tree" in cell["runs"] or cell["how"] == BY_STREAM else "AB"


def query_of(cell: Combination, data: Mapping[str, Any], window: str = "4 seconds") -> dv.Query:
    """A query with these features; the last stream has the row window, if there is one."""
    *names, last = data
    options: dict[str, Any] = {axis: cell[axis] for axis in ("how", "order", "late", "algorithm", "on_error")}
    options["budget"] = None if cell["budget"] == "none" else dv.budget(**BUDGETS[cell["budget"]])
    trees = {"tree": ((*names,), last), "deep tree": (names[0], (*names[1:], last))}
    trees["shared tree"] = trees["tree"]
    options["plan"] = trees.get(cell["runs"], "auto")
    options["partitions"] = 2 if cell["runtime"] == "spark" else None
    if cell["how"] == BY_STREAM:
        options["how"] = {"B": "left", "C": "left"}
    shown = names[:1] if cell["how"] in ("semi", "anti") else list(data)
    select = ", ".join(f"{name}.row AS {name.lower()}" for name in shown)
    if cell["aggregates"] == "yes":
        select = "COUNT(*) AS n, MAX(A.row) AS m"
    streams = [_stream(cell, name, data[name], window if name in names else None) for name in data]
    on = " AND ".join(f"{names[0]}.k = {name}.k" for name in list(data)[1:])
    return dv.join(*streams, on=on, select=select, **options)


def _stream(cell: Combination, name: str, data: Any, window: str | None) -> Any:
    given: Any = {"schema": data} if isinstance(data, pa.Schema) else {"data": data}
    idle = "20 seconds" if cell["idle"] == "yes" else None
    ahead = "1 hour" if cell["ahead"] == "yes" else None
    given |= {"dedup": dv.dedup("row", within="3 seconds")} if cell["dedup"] == "yes" else {}
    size: Any = window or WINDOWS.get(cell["windows"], "3 seconds")
    if cell["windows"] == "as of":
        size, given["asof"] = None, dv.asof("nearest", tolerance="2 seconds") if name != "A" else None
    return dv.stream(name, time="ts", window=size, delay="3 seconds", idle=idle, ahead=ahead, **given)


def script_of(cell: Combination, seed: int, batches: int = BATCHES) -> Script:
    """Batches that overlap, and some late rows where the oracle says what becomes of them; time passes between."""
    random, events = np.random.default_rng(seed), list[Event]()
    calm = cell["late"] == "keep" and (cell["how"] != "inner" or cell["aggregates"] == "yes")
    for batch in range(batches):
        for name in names_of(cell):
            times = (batch * 2.5 + random.random(ROWS) * 3) * SECOND
            if batch == batches - 1 and not calm:
                times[:2] -= 20 * SECOND
            pushed = rows(random, times.astype(np.int64), batch * 1000)
            repeats = pushed.slice(5, 4 if cell["dedup"] == "yes" else 0)
            events += [Push.of(name, pushed), *([Push.of(name, repeats)] if repeats.num_rows else [])]
        silence = 100 * SECOND if cell["idle"] == "yes" and not calm and batch > 1 else SECOND
        events.append(Tick(10**15 + batch * silence))
    return [*events, Close()]


def inputs(cell: Combination, script: Script, spark: Any, folder: Path | None) -> tuple[dict[str, Any], Script]:
    """What streams are made of, and the story as this runtime is told it.

    On Spark it is one batch, of which no row is late, or with a folder a batch between any two ticks.
    """
    names = names_of(cell)
    if cell["runtime"] == "embedded":
        return dict.fromkeys(names, SCHEMA), script
    cuts = [at for at, event in enumerate(script) if isinstance(event, Tick)] if folder else [len(script)]
    starts = [0, *(cut + 1 for cut in cuts[:-1])]
    batches = [_at_once(script[start:cut], names) for start, cut in zip(starts, cuts, strict=True)]
    if folder is None:
        return dict(batches[0].batch), batches
    return {name: read_from(spark, folder / name, [each.batch[name] for each in batches]) for name in names}, batches


def _at_once(events: Script, names: str) -> Push:
    pushes = [event.batch for event in events if isinstance(event, Push)]
    return Push({name: pa.concat_tables(each[name] for each in pushes if name in each) for name in names})


def rows(random: np.random.Generator, times: Any, first: int) -> pa.Table:
    count = len(times)
    stamps = pa.array(times).cast(SCHEMA.field("ts").type)
    columns = [random.integers(0, 5, count), random.integers(0, 50, count), np.arange(first, first + count)]
    return pa.Table.from_arrays([stamps, *map(pa.array, columns)], schema=SCHEMA)


def attempt(cell: Combination, seed: int = 0, spark: Any = None, folder: Path | None = None) -> str:
    """``run``, ``refused`` when the query is built, or what was wrong; with a folder, Spark reads streams from it."""
    cell = whole(cell)
    says = [each for each in REFUSALS if each.meets(cell)]
    try:
        play_it = built(cell, script_of(cell, seed), spark, folder)
    except (dv.QueryError, dv.PlanError) as error:
        named = any(each.why in str(error) for each in says)
        return "refused" if named else f"refused, and not for a reason in the table: {error}"
    if says:
        return "it was built, and the table says that it is refused"
    try:
        for shown in play_it():
            check(cell, shown)
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    return "run"


def built(
    cell: Combination, script: Script, spark: Any = None, folder: Path | None = None
) -> Callable[[], list[Shown]]:
    """What runs a combination; mistakes in its query are found here."""
    shapes = ["2 seconds", "4 seconds"] if "shared" in cell["runs"] else ["4 seconds"]
    data, script = inputs(cell, script, spark, folder)
    queries = [query_of(cell, data, window).named(f"within {window}") for window in shapes]
    shared = dv.share(*queries) if len(queries) > 1 else None
    if cell["runtime"] == "embedded":
        return lambda: embedded(queries, shared, script)
    frame = (shared or queries[0]).spark(spark)
    if folder is None:
        return lambda: at_rest(queries, shared, frame, script)
    return lambda: streamed(queries, shared, frame, script, folder)


def check(cell: Combination, shown: Shown) -> None:
    """AssertionError unless rows, their order and what is said of their number are as the oracle has them."""
    query, rows, whole_rows = shown.query, shown.rows, shown.outcome.rows
    if cell["budget"] in SHEDS:
        assert_subset(rows, whole_rows)
        _check_band(cell, shown)
    elif not shown.outcome.exact:
        assert_subset(rows, whole_rows)
        assert_subset(oracle(query.replace(late="drop").model, shown.script).rows, rows)
    else:
        assert_same_rows(rows, whole_rows)
    assert query.model.order == "none" or ordered(rows), "results out of order"
    if cell["late"] == "divert" and shown.late is not None:
        late = sum(shown.outcome.late.values())
        assert shown.late == late, f"{shown.late} late rows were handed over instead of {late}"


def _check_band(cell: Combination, shown: Shown) -> None:
    """The band is one, and rows are complete where it says so; that it holds the truth is a matter of many runs."""
    told = shown.told
    assert told is not None or cell["runtime"] == "spark", "nothing is said of completeness"
    if told is not None:
        low, share, high = (told[name] for name in ("completeness_low", "completeness", "completeness_high"))
        assert 0 <= low <= share <= high <= 1, f"a band from {low} to {high} around {share}"
        if low == 1 and shown.outcome.exact:
            assert_same_rows(shown.rows, shown.outcome.rows)
