"""Random joins of every kind on Spark against the oracle: tables at rest, and streams over a restart to their end."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Push, assert_same_rows, oracle, ordered
from tests.spark.feeding import Folder, random_batches
from tests.spark.queries import SCHEMA, SECOND, random_rows

Draw = Callable[[st.SearchStrategy[Any]], Any]
FEW = int(os.environ.get("RANDOM_JOINS", "3"))  # of each kind; each takes Spark about a second
TIES = ["{a}.k = {b}.k", "{a}.k = {b}.k", "{a}.g = {b}.g AND {a}.n < {b}.n", "ABS({a}.x - {b}.x) <= 0.1"]
INTERVALS = [
    "{b}.ts BETWEEN {a}.ts + INTERVAL '1' SECOND AND {a}.ts + INTERVAL '3' SECOND",
    "{a}.ts - {b}.ts BETWEEN INTERVAL '-1' SECOND AND INTERVAL '2' SECOND",
    "{b}.ts BETWEEN {a}.ts - INTERVAL '2' SECOND AND {a}.ts",
    "DATE_TRUNC('second', {a}.ts) = DATE_TRUNC('second', {b}.ts)",
]
PATHS = {"ts": "t.ts", "k": "p.k", "g": "p.g", "x": "q.r.x", "n": "q.r.n"}
some = settings(max_examples=FEW, suppress_health_check=[HealthCheck.function_scoped_fixture])


@dataclass(frozen=True)
class Join:
    """A join over whatever data there will be; ``given`` are the settings of its streams.

    ``nested``: its columns are fields of structures.
    """

    names: str
    on: str
    how: dict[str, str]
    given: dict[str, dict[str, Any]] = field(default_factory=dict)
    nested: bool = False

    def query(self, data: dict[str, Any], **options: Any) -> dv.Query:
        streams = []
        for name in self.names:
            settings = {"time": PATHS["ts"] if self.nested else "ts", "delay": "3 seconds"} | self.given.get(name, {})
            streams.append((dv.table if "key" in settings else dv.stream)(name, data[name], **settings))
        shown = [name for name in self.names if self.how.get(name) not in ("semi", "anti")]
        select = ", ".join(f"{name}.row AS {name.lower()}" for name in shown)
        return dv.join(*streams, on=self.on, select=select, how=self.how, **options)

    def rows(self, plain: pa.Table) -> pa.Table:
        """Rows as its streams have them."""
        if not self.nested:
            return plain
        times, near, far = (_structure(plain, *names) for names in (("ts",), ("k", "g"), ("x", "n")))
        return pa.table({"t": times, "p": near, "q": pa.StructArray.from_arrays([far], ["r"]), "row": plain["row"]})


def _structure(rows: pa.Table, *names: str) -> pa.StructArray:
    return pa.StructArray.from_arrays([rows[name].combine_chunks() for name in names], list(names))


def of(draw: Draw, *words: Any) -> Any:
    return draw(st.sampled_from(words))


def as_of(draw: Draw) -> Join:
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
    return Join(names, _keyed(draw, names), {name: of(draw, "inner", "left") for name in names[1:]}, given)


def _keyed(draw: Draw, names: str) -> str:
    """All other streams tied to the first."""
    return " AND ".join(of(draw, "A.k = {b}.k", "A.k = {b}.k AND A.g = {b}.g").format(b=name) for name in names[1:])


def by_stream(draw: Draw) -> Join:
    how = {
        "B": of(draw, "left", "full", "semi", "anti"),
        "C": of(draw, "left", "inner", "semi", "anti", "right", "full"),
    }
    middle = of(draw, "A", "B") if how["B"] in ("left", "full") else "A"
    on = f"{of(draw, *TIES).format(a='A', b='B')} AND {of(draw, *TIES).format(a=middle, b='C')}"
    return Join("ABC", on, how, {name: {"window": of(draw, "1 second", "3 seconds", dv.unbounded())} for name in "ABC"})


def intervals(draw: Draw) -> Join:
    names = of(draw, "AB", "ABC")
    ties = [of(draw, *INTERVALS).format(a=a, b=b) for a, b in pairwise(names)]
    ties += [f"{a}.k = {b}.k" for a, b in pairwise(names)]
    return Join(names, " AND ".join(ties), {name: of(draw, "inner", "left", "full") for name in names[1:]})


def without_windows(draw: Draw) -> Join:
    given = {name: {"window": of(draw, dv.unbounded(), dv.unbounded(), "2 seconds")} for name in "AB"}
    how = of(draw, "inner", "left", "right", "full", "semi", "anti")
    return Join("AB", of(draw, *TIES).format(a="A", b="B"), {"B": how}, given)


def one_match(draw: Draw) -> Join:
    names = of(draw, "AB", "ABC")
    given: dict[str, dict[str, Any]] = {name: {"window": "2 seconds"} for name in names}
    for name in names[1:]:
        given[name]["match"] = of(draw, "first", "last", "nearest")
    return Join(names, _keyed(draw, names), {name: of(draw, "inner", "left") for name in names[1:]}, given)


def without_repeats(draw: Draw) -> Join:
    given = {name: {"window": "2 seconds", "delay": "9 seconds", "dedup": "row"} for name in "AB"}
    on = of(draw, *TIES[:3]).format(a="A", b="B")
    return Join("AB", on, {"B": of(draw, "inner", "left", "full", "anti")}, given)


def tables(draw: Draw) -> Join:
    on = of(draw, "A.k = B.k", "A.k = B.k AND B.n > 5")
    return Join("AB", on, {"B": of(draw, "inner", "left")}, {"B": {"key": "k"}})


def nested(draw: Draw) -> Join:
    plain: Join = of(draw, intervals, by_stream, without_windows, as_of, one_match)(draw)
    on = re.sub(r"\b([A-C])\.(ts|[kgxn])\b", lambda found: f"{found[1]}.{PATHS[found[2]]}", plain.on)
    return replace(plain, nested=True, on=on)


KINDS = [as_of, by_stream, intervals, without_windows, one_match, without_repeats, tables, nested]
SEEDS = st.integers(0, 10_000)


def some_rows(seed: int) -> pa.Table:
    """Times of whole seconds now and then, so that many are equal; and some rows twice."""
    rows = random_rows(seed, 60, seconds=12)
    if seed % 2:
        times = pa.array([time // SECOND * SECOND for time in rows["ts"].cast("int64").to_pylist()])
        rows = rows.set_column(0, "ts", times.cast(rows.schema.field("ts").type))
    return pa.concat_tables([rows, rows.slice(7, 9)])


@pytest.mark.parametrize("kind", KINDS)
@some
@given(st.data())
def test_tables_at_rest(spark: Any, kind: Callable[[Draw], Join], data: st.DataObject) -> None:
    join, seed = kind(data.draw), data.draw(SEEDS)
    tables = {name: join.rows(some_rows(10 * seed + place)) for place, name in enumerate(join.names)}
    order, partitions = data.draw(st.sampled_from(["none", "hold"])), data.draw(st.integers(1, 4))
    query = join.query(dict(tables), order=order, partitions=partitions)
    rows = query.spark(spark).toArrow().cast(query.schema)
    assert_same_rows(rows, oracle(query.model, [Push(tables)]).rows)
    assert order == "none" or ordered(rows)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@some
@given(st.data())
def test_streams_over_a_restart_and_to_their_end(spark: Any, kind: Callable[[Draw], Join], data: st.DataObject) -> None:
    join, empty = kind(data.draw), SCHEMA.empty_table()
    batches = [
        Push({name: join.rows(batch.batch.get(name, empty)) for name in join.names})
        for batch in random_batches(join.names, data.draw(SEEDS), batches=3)
    ]
    batches.insert(2, batches[0])
    order, partitions = data.draw(st.sampled_from(["none", "hold"])), data.draw(st.integers(1, 3))
    with TemporaryDirectory() as made:
        folder = Folder(spark, Path(made), join.names)
        for part in (batches[:2], batches[2:]):
            folder.feed(part)
            frames = {name: folder.frame(name, schema=join.rows(empty).schema) for name in join.names}
            query = join.query(frames, order=order, partitions=partitions)
            folder.run(query.spark())
        rest = query.finish(f"{made}/checkpoint", session=spark)
        assert rest is not None
        found = pa.concat_tables([folder.rows(query), rest.toArrow().cast(query.schema)])
    assert_same_rows(found, oracle(query.model, batches).rows)
