"""Random joins of every kind on Spark against the oracle: tables at rest, and streams over a restart to their end."""

import os
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SECOND, random_rows

Draw = st.DrawFn
Build = Callable[[dict[str, Any]], dv.Query]
FEW = int(os.environ.get("RANDOM_JOINS", "4"))  # each takes Spark about a second
TIES = ["{a}.k = {b}.k", "{a}.k = {b}.k", "{a}.g = {b}.g AND {a}.n < {b}.n", "ABS({a}.x - {b}.x) <= 0.1"]
INTERVALS = [
    "{b}.ts BETWEEN {a}.ts + INTERVAL '1' SECOND AND {a}.ts + INTERVAL '3' SECOND",
    "{a}.ts - {b}.ts BETWEEN INTERVAL '-1' SECOND AND INTERVAL '2' SECOND",
    "{b}.ts BETWEEN {a}.ts - INTERVAL '2' SECOND AND {a}.ts",
    "DATE_TRUNC('second', {a}.ts) = DATE_TRUNC('second', {b}.ts)",
]
once = settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])


def of(draw: Draw, *words: Any) -> Any:
    return draw(st.sampled_from(words))


def joined(names: str, given: dict[str, dict[str, Any]], on: str, **options: Any) -> Build:
    """A query over whatever data there will be; ``given`` are the settings of its streams."""
    hidden = [name for name, word in dict(options.get("how_each", {})).items() if word in ("semi", "anti")]
    select = ", ".join(f"{name}.row AS {name.lower()}" for name in names if name not in hidden)
    how = options.pop("how_each", None) or options.pop("how", "inner")

    def build(data: dict[str, Any]) -> dv.Query:
        streams = []
        for name in names:
            settings = {"time": "ts", "delay": "3 seconds"} | given.get(name, {})
            make = dv.table if "key" in settings else dv.stream
            streams.append(make(name, data[name], **settings))
        return dv.join(*streams, on=on, select=select, how=how, **options)

    return build


def as_of(draw: Draw) -> tuple[str, Build]:
    names = of(draw, "AB", "ABC")
    given = {
        name: {
            "asof": dv.asof(
                of(draw, "backward", "forward", "nearest"),
                tolerance=of(draw, None, "1 second", "3 seconds"),
                equal=draw(st.booleans()),
            )
        }
        for name in names[1:]
    }
    on = " AND ".join(of(draw, "A.k = {b}.k", "A.k = {b}.k AND A.g = {b}.g").format(b=name) for name in names[1:])
    return names, joined(names, given, on, how={name: of(draw, "inner", "left") for name in names[1:]})


def outer_of_many(draw: Draw) -> tuple[str, Build]:
    how = {
        "B": of(draw, "left", "full", "semi", "anti"),
        "C": of(draw, "left", "inner", "semi", "anti", "right", "full"),
    }
    middle = of(draw, "A", "B") if how["B"] in ("left", "full") else "A"
    on = f"{of(draw, *TIES).format(a='A', b='B')} AND {of(draw, *TIES).format(a=middle, b='C')}"
    given = {name: {"window": of(draw, "1 second", "3 seconds", dv.unbounded())} for name in "ABC"}
    return "ABC", joined("ABC", given, on, how_each=how)


def intervals(draw: Draw) -> tuple[str, Build]:
    names = of(draw, "AB", "ABC")
    ties = [of(draw, *INTERVALS).format(a=a, b=b) for a, b in pairwise(names)]
    ties += [f"{a}.k = {b}.k" for a, b in pairwise(names)]
    how = {name: of(draw, "inner", "left", "full") for name in names[1:]}
    return names, joined(names, {}, " AND ".join(ties), how_each=how)


def without_windows(draw: Draw) -> tuple[str, Build]:
    how = of(draw, "inner", "left", "right", "full", "semi", "anti")
    given = {name: {"window": of(draw, dv.unbounded(), dv.unbounded(), "2 seconds")} for name in "AB"}
    return "AB", joined("AB", given, of(draw, *TIES).format(a="A", b="B"), **_either(how))


def one_match(draw: Draw) -> tuple[str, Build]:
    given: dict[str, dict[str, Any]] = {name: {"window": "2 seconds"} for name in "AB"}
    given["B"]["match"] = of(draw, "first", "last", "nearest")
    return "AB", joined("AB", given, "A.k = B.k AND A.g = B.g", how=of(draw, "inner", "left"))


def without_repeats(draw: Draw) -> tuple[str, Build]:
    given = {name: {"window": "2 seconds", "delay": "9 seconds", "dedup": "row"} for name in "AB"}
    how = of(draw, "inner", "left", "full", "anti")
    return "AB", joined("AB", given, of(draw, *TIES[:3]).format(a="A", b="B"), **_either(how))


def tables(draw: Draw) -> tuple[str, Build]:
    on = of(draw, "A.k = B.k", "A.k = B.k AND B.n > 5")
    return "AB", joined("AB", {"B": {"key": "k"}}, on, how=of(draw, "inner", "left"))


def _either(how: str) -> dict[str, Any]:
    return {"how_each": {"B": how}} if how in ("semi", "anti") else {"how": how}


KINDS = [as_of, outer_of_many, intervals, without_windows, one_match, without_repeats, tables]


@st.composite
def random_joins(draw: Draw) -> tuple[str, Build, int]:
    """The names of the streams, the query, and a seed for their rows."""
    kind = draw(st.sampled_from(KINDS))
    names, build = kind(draw)
    event(kind.__name__)
    return names, build, draw(st.integers(0, 10_000))


def some_rows(seed: int) -> pa.Table:
    """Times of whole seconds now and then, so that many are equal; and some rows twice."""
    rows = random_rows(seed, 60, seconds=12)
    if seed % 2:
        times = pa.array([time // SECOND * SECOND for time in rows["ts"].cast("int64").to_pylist()])
        rows = rows.set_column(0, "ts", times.cast(rows.schema.field("ts").type))
    return pa.concat_tables([rows, rows.slice(7, 9)])


@once
@given(random_joins(), st.sampled_from(["none", "hold"]), st.integers(1, 4))
def test_tables_at_rest(spark: Any, drawn: tuple[str, Build, int], order: str, partitions: int) -> None:
    names, build, seed = drawn
    data = {name: some_rows(10 * seed + place) for place, name in enumerate(names)}
    query = build(dict(data)).replace(order=order, partitions=partitions)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(data)]).rows)
    assert order == "none" or ordered(rows)


@pytest.mark.slow
@once
@given(random_joins(), st.sampled_from(["none", "hold"]), st.integers(1, 3))
def test_streams_over_a_restart_and_to_their_end(
    spark: Any, drawn: tuple[str, Build, int], order: str, partitions: int
) -> None:
    names, build, seed = drawn
    batches = random_batches(names, seed, batches=3)
    batches.insert(2, batches[0])
    with TemporaryDirectory() as made:
        folder = Folder(spark, Path(made), names)
        for part in (batches[:2], batches[2:]):
            folder.feed(part)
            query = build(folder.frames()).replace(order=order, partitions=partitions)
            folder.run(query.spark())
        rest = query.finish(f"{made}/checkpoint", session=spark)
        assert rest is not None
        found = pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)])
    assert_same_rows(found, oracle(query.model, batches).rows)
