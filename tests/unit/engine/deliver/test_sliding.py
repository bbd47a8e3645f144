"""Sliding aggregates by example: what comes out when, and what must not happen on the way."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.engine.deliver.sliding.stage import Sliding
from dovetail.engine.operator.engine import Engine
from dovetail.testing import Push, assert_same_rows, oracle

SCHEMA = pa.schema(
    {"ts": pa.timestamp("us"), "k": pa.int64(), "i": pa.int64(), "x": pa.float64(), "s": pa.string()}
    | {"p": pa.decimal128(38, 2), "u": pa.uint64(), "f": pa.float32()}
)


def query(select: str, group: str = "", window: str = "10 us", **options: Any) -> dv.Query:
    streams = [dv.stream(name, time="ts", schema=SCHEMA, window=window) for name in "AB"]
    return dv.sql(f"SELECT {select} FROM A, B WHERE A.k = B.k {group}", *streams, **options)


def rows(*times: int, **columns: Any) -> list[dict[str, Any]]:
    """Rows of key 1 at these times; the values of a column are one for each."""
    return [
        {"ts": time, "k": 1} | {name: values[at] for name, values in columns.items()} for at, time in enumerate(times)
    ]


def moments(table: pa.Table) -> list[tuple[Any, ...]]:
    times = table.column(0).cast(pa.int64()).to_pylist()
    return [
        (time, *row.values()) for time, row in zip(times, table.drop_columns("result_time").to_pylist(), strict=True)
    ]


def played(made: dv.Query, a: list[dict[str, Any]], b: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    run = made.local()
    return moments(pa.concat_tables([run.push("A", a), run.push("B", b), run.close()]))


def test_a_result_counts_until_the_first_of_its_rows_leaves() -> None:
    assert played(query("COUNT(*) AS n"), rows(0, 4), rows(5)) == [(5, 2), (11, 1), (15, 0)]


def test_the_last_row_of_a_group_says_that_it_is_empty() -> None:
    select = "A.s, COUNT(*) AS n, COUNT(B.i) AS c, SUM(B.i) AS t, AVG(B.x) AS m, MIN(B.s) AS l, MAX(B.s) AS h"
    came = played(query(select, "GROUP BY A.s"), rows(0, s=["a"]), rows(3, i=[7], x=[0.5], s=["b"]))
    assert came == [(3, "a", 1, 1, 7, 0.5, "b", "b"), (11, "a", 0, 0, None, None, None, None)]


def test_a_group_that_was_empty_begins_anew() -> None:
    came = played(query("SUM(B.i) AS t"), rows(0, 100), rows(0, 100, i=[1, 2]))
    assert came == [(0, 1), (11, None), (100, 2), (111, None)]


def test_what_comes_and_goes_at_one_moment_is_one_row() -> None:
    came = played(query("COUNT(*) AS n, SUM(B.i) AS t"), rows(0, 11), rows(0, 11, i=[1, 2]))
    assert came == [(0, 1, 1), (11, 1, 2), (22, 0, None)]


def test_ties_are_taken_together_however_they_are_pushed() -> None:
    made = query("COUNT(*) AS n")
    run = made.local()
    parts = [
        run.push("A", rows(5)),
        run.push("B", rows(5)),
        run.push("A", rows(5)),
        run.push("B", rows(5)),
        run.close(),
    ]
    assert moments(pa.concat_tables(parts)) == [(5, 4), (16, 0)]


def test_null_is_a_group_and_no_value() -> None:
    came = played(
        query("A.s, COUNT(*) AS n, COUNT(DISTINCT B.s) AS d", "GROUP BY A.s"), rows(1, s=[None]), rows(1, s=[None])
    )
    assert came == [(1, None, 1, 0), (12, None, 0, 0)]


def test_a_moment_waits_until_it_is_certain() -> None:
    run = query("COUNT(*) AS n").local()
    run.push("A", rows(0, 5))
    assert moments(run.push("B", rows(5))) == []
    assert moments(run.advance("A", 6)) == []
    assert moments(run.advance("B", 6)) == [(5, 2)]
    assert moments(run.advance("A", 12)) == []
    assert moments(run.advance("B", 12)) == [(11, 1)]


def test_sums_of_doubles_do_not_drift() -> None:
    came = played(query("SUM(B.x) AS t"), rows(0, 8), rows(0, 8, x=[1e100, 1.5], k=[1, 1]))
    assert came == [(0, 1e100), (8, 2e100), (11, 1.5), (19, None)]


def test_sums_of_doubles_are_exact() -> None:
    values = [0.1] * 10 + [1e16, 1.0, -1e16, 5e-324, -5e-324, 2.0**-1060]
    came = played(query("SUM(B.x) AS t, AVG(B.x) AS m"), rows(0), rows(*[1] * len(values), x=values))
    exact = float(sum(map(Fraction, values)))
    assert came[0] == (1, exact, exact / len(values))


def test_infinities_and_nan_leave_no_trace() -> None:
    values = [float("inf"), 1.0, float("-inf"), float("nan")]
    came = played(query("SUM(B.x) AS t"), rows(0, 20, 40, 60, 61), rows(0, 20, 40, 60, 61, x=[*values, 2.0]))
    assert [str(row[1]) for row in came] == "inf None 1.0 None -inf None nan nan 2.0 None".split()


def test_the_largest_double_twice_is_infinite() -> None:
    most = np.finfo(np.float64).max
    assert [row[1] for row in played(query("SUM(B.x) AS t"), rows(0), rows(0, 1, x=[most, most]))] == [
        most,
        np.inf,
        None,
    ]


def test_a_sum_is_null_while_it_is_beyond_its_type() -> None:
    came = played(query("SUM(B.i) AS t"), rows(0, 5), rows(0, 1, 5, i=[2**62, 2**62, -1]))
    assert [row[:2] for row in came[:4]] == [(0, 2**62), (1, None), (5, None), (11, 2**62 - 1)]


def test_a_sum_may_pass_its_type_between_two_moments() -> None:
    came = played(query("SUM(B.i) AS t"), rows(0), rows(0, 0, 0, i=[2**62, 2**62, -(2**62)]))
    assert came[0] == (0, 2**62)


def test_sums_of_wide_numbers() -> None:
    columns = {"u": [2**64 - 1] * 2, "p": [Decimal(10**35)] * 2, "f": [0.5, 0.25]}
    came = played(query("SUM(B.u) AS u, SUM(B.p) AS p, SUM(B.f) AS f, MAX(B.u) AS m"), rows(0), rows(0, 0, **columns))
    assert came[0] == (0, Decimal(2**65 - 2), Decimal(2 * 10**35), 0.75, 2**64 - 1)


def test_a_sum_of_decimals_is_null_while_it_is_beyond_its_type() -> None:
    values = [Decimal(10**36 - 1), Decimal(1), Decimal(-2)]
    came = played(query("SUM(B.p) AS t"), rows(0), rows(0, 1, 2, p=values))
    assert [row[1] for row in came[:3]] == [Decimal(10**36 - 1), None, Decimal(10**36 - 2)]


def test_the_average_of_equal_values_is_their_value() -> None:
    values = [0.1, 1.7976931348623157e308, 5e-324, 0.3, 1e-310]
    for value in values:
        came = played(query("AVG(B.x) AS m, MAX(B.x) AS h"), rows(0), rows(*[0] * 7, x=[value] * 7))
        assert came[0][1:] == (value, value)
    came = played(query("AVG(B.i) AS m"), rows(0), rows(*[0] * 3, i=[2**53 + 1] * 3))
    assert came[0][1] == float(2**53 + 1)


def test_long_texts_that_begin_alike() -> None:
    texts = ["same start, then b", "same start, then a", "same start, then", "same start, then c"]
    came = played(query("MIN(B.s) AS l, MAX(B.s) AS h"), rows(0), rows(0, 1, 2, 3, s=texts))
    assert [row[1:] for row in came[:4]] == [
        (texts[0], texts[0]),
        (texts[1], texts[0]),
        (texts[2], texts[0]),
        (texts[2], texts[3]),
    ]


def test_aggregates_of_a_join_without_sql() -> None:
    streams = [dv.stream(name, time="ts", schema=SCHEMA, window="10 us") for name in "AB"]
    made = dv.join(*streams, on="A.k = B.k", select="COUNT(*) AS n, MAX(B.i) - MIN(B.i) AS span")
    assert made.model.order == "hold"
    assert played(made, rows(0), rows(0, 1, i=[3, 8])) == [(0, 1, 0), (1, 2, 5), (11, 0, None)]


def test_what_has_gone_is_forgotten() -> None:
    made = query("A.i, COUNT(DISTINCT B.i) AS d, MIN(B.i) AS m", "GROUP BY A.i")
    count = 30_000
    numbers = pa.array(np.arange(count))
    known = {"ts": numbers.cast(pa.timestamp("us")), "k": pa.array(np.zeros(count, np.int64)), "i": numbers}
    table = pa.table([known.get(field.name, pa.nulls(count, field.type)) for field in SCHEMA], SCHEMA)
    engine = Engine(made.plan)
    for start in range(0, count, 500):
        for name in "AB":
            for _ in engine.push({name: table.slice(start, 500)}):
                pass
    assert isinstance(engine.line.exit.hold, Sliding)
    assert engine.line.exit.hold._groups is not None
    assert engine.line.exit.hold._groups.size < 40_000
    assert engine.metrics()["results"] > 300_000


def test_many_groups_and_blocks_against_counting_again() -> None:
    random = np.random.default_rng(5)
    tables = {name: _random_table(random, 60) for name in "AB"}
    made = query(
        "A.s, B.f, COUNT(*) AS n, COUNT(DISTINCT B.x) AS d, SUM(A.x) AS t, MIN(A.p) AS l, MAX(B.s) AS h",
        "GROUP BY A.s, B.f",
        window="40 us",
    )
    run = made.local()
    results = [run.push(name, tables[name].slice(at, 7)) for at in range(0, 60, 7) for name in "AB"]
    assert_same_rows(pa.concat_tables([*results, run.close()]), oracle(made.model, [Push(tables)]).rows)


def _random_table(random: Any, count: int) -> pa.Table:
    columns = {
        "ts": pa.array(np.sort(random.integers(0, 60, count))).cast(pa.timestamp("us")),
        "k": pa.array(random.integers(0, 3, count)),
        "i": pa.array(random.integers(-5, 5, count)),
        "x": pa.array(random.choice([0.1, 1e300, -1e300, 5e-324, 3.5], count)),
        "s": pa.array(random.choice(["a", "b", "", "longer than eight"], count), mask=random.random(count) < 0.2),
        "p": pa.array([Decimal(int(n)) for n in random.integers(-(10**15), 10**15, count)], pa.decimal128(38, 2)),
        "u": pa.array(random.integers(0, 5, count).astype(np.uint64)),
        "f": pa.array(random.choice([0.5, -0.0, 0.0, np.nan], count).astype(np.float32), from_pandas=False),
    }
    return pa.table(columns, SCHEMA)
