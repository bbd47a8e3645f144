"""One combination of features, tried: a query that has it, rows, and what the oracle says about what came out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import dovetail as dv
from dovetail.model.combinations import AXES, REFUSALS, Combination
from dovetail.model.how import BY_STREAM
from dovetail.testing import Close, Event, Push, Script, Tick, assert_same_rows, assert_subset, oracle, ordered, play

SCHEMA = pa.schema({"ts": pa.timestamp("us", tz="UTC"), "k": pa.int64(), "n": pa.int64(), "row": pa.int64()})
SECOND = 1_000_000
BATCHES, ROWS = 4, 14
BUDGETS: Mapping[str, dict[str, Any]] = {
    "cpu harvest": {"cpu": 0.5},
    "cpu drop": {"cpu": 0.5, "policy": "drop"},
    "memory harvest": {"memory": dv.tuples(24)},
    "memory spill": {"memory": dv.tuples(24), "policy": "spill"},
    "memory fail": {"memory": dv.tuples(10_000), "policy": "fail"},
    "cpu and memory harvest": {"cpu": 0.5, "memory": dv.tuples(24)},
    "cpu and memory drop": {"cpu": 0.5, "memory": dv.tuples(24), "policy": "drop"},
}
WINDOWS = {"rows": dv.rows(5), "rows per key": dv.rows(2, per="key"), "unbounded": dv.unbounded()}


def whole(some: Combination) -> dict[str, str]:
    """A combination with every axis in it."""
    return {axis: some.get(axis, words[0]) for axis, words in AXES.items()}


def names_of(cell: Combination) -> str:
    """Its streams: a tree takes three, and so does a join with a word for each."""
    return "ABC" if "tree" in cell["runs"] or cell["how"] == BY_STREAM else "AB"


def query_of(cell: Combination, data: Mapping[str, Any], window: str = "4 seconds") -> dv.Query:
    """A query with these features; the last stream has the row window, if there is one."""
    *names, last = data
    options: dict[str, Any] = {axis: cell[axis] for axis in ("how", "order", "late", "algorithm", "on_error")}
    options["budget"] = None if cell["budget"] == "none" else dv.budget(**BUDGETS[cell["budget"]])
    trees = {"tree": ((*names,), last), "deep tree": (names[0], (*names[1:], last))}
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


def script_of(cell: Combination, seed: int) -> Script:
    """Batches that overlap, and some late rows where the oracle says what becomes of them; time passes between."""
    random, events = np.random.default_rng(seed), list[Event]()
    calm = cell["late"] == "keep" and (cell["how"] != "inner" or cell["aggregates"] == "yes")
    for batch in range(BATCHES):
        for name in names_of(cell):
            times = (batch * 2.5 + random.random(ROWS) * 3) * SECOND
            if batch == BATCHES - 1 and not calm:
                times[:2] -= 20 * SECOND
            pushed = rows(random, times.astype(np.int64), batch * 1000)
            repeats = pushed.slice(5, 4 if cell["dedup"] == "yes" else 0)
            events += [Push.of(name, pushed), *([Push.of(name, repeats)] if repeats.num_rows else [])]
        events.append(Tick(10**15 + batch * (SECOND if calm or batch < 2 else 100 * SECOND)))
    return [*events, Close()]


def rows(random: np.random.Generator, times: Any, first: int) -> pa.Table:
    count = len(times)
    stamps = pa.array(times).cast(SCHEMA.field("ts").type)
    columns = [random.integers(0, 5, count), random.integers(0, 50, count), np.arange(first, first + count)]
    return pa.Table.from_arrays([stamps, *map(pa.array, columns)], schema=SCHEMA)


def attempt(cell: Combination, seed: int = 0, spark: Any = None) -> str:
    """``run``, ``refused``, or what was wrong."""
    cell = whole(cell)
    says = [each for each in REFUSALS if each.meets(cell)]
    try:
        _on_spark(cell, seed, spark) if cell["runtime"] == "spark" else _embedded(cell, seed)
    except (dv.QueryError, dv.PlanError) as error:
        named = any(each.why in str(error) for each in says)
        return "refused" if named else f"refused, and not for a reason in the table: {error}"
    except Exception as error:
        return f"wrong: {type(error).__name__}: {error}"
    return "it ran, and the table says that it is refused" if says else "run"


def _embedded(cell: Combination, seed: int) -> None:
    script, data = script_of(cell, seed), dict.fromkeys(names_of(cell), SCHEMA)
    if cell["runs"] == "shared":
        near, far = query_of(cell, data, "2 seconds").named("near"), query_of(cell, data).named("far")
        together = play(dv.share(near, far).local(), script)
        for query in (near, far):
            check(cell, query, _of(together, query), script)
        return
    query = query_of(cell, data)
    run = query.local()
    check(cell, query, play(run, script), script)
    if cell["late"] == "divert":
        late = sum(oracle(query.model, script).late.values())
        found = run.late["reason"].to_pylist().count("late")
        assert found == late, f"{found} late rows were handed over instead of {late}"


def _on_spark(cell: Combination, seed: int, spark: Any) -> None:
    """Static inputs: one batch, of which no row is late."""
    pushes = [event for event in script_of(cell, seed) if isinstance(event, Push)]
    data = {name: pa.concat_tables(p.batch[name] for p in pushes if name in p.batch) for name in names_of(cell)}
    script = [Push(data)]
    if cell["runs"] == "shared":
        near, far = query_of(cell, data, "2 seconds").named("near"), query_of(cell, data).named("far")
        shared = dv.share(near, far)
        together = shared.spark(spark).toArrow().cast(shared.schema)
        for query in (near, far):
            check(cell, query, _of(together, query), script)
        return
    query = query_of(cell, data)
    check(cell, query, query.spark(spark).toArrow().cast(query.schema), script)


def _of(together: pa.Table, query: dv.Query) -> pa.Table:
    """One query's rows among those of all."""
    return together.filter(pc.equal(together["query"], query.name)).select(query.schema.names)


def check(cell: Combination, query: dv.Query, rows: pa.Table, script: Script) -> None:
    """AssertionError unless rows and order are as the oracle has them."""
    outcome = oracle(query.model, script)
    if "harvest" in cell["budget"] or "drop" in cell["budget"]:
        assert_subset(rows, outcome.rows)
    elif not outcome.exact:
        assert_subset(rows, outcome.rows)
        assert_subset(oracle(query.replace(late="drop").model, script).rows, rows)
    else:
        assert_same_rows(rows, outcome.rows)
    assert query.model.order == "none" or ordered(rows), "results out of order"
