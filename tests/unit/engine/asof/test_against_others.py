"""As-of joins against DuckDB's ASOF JOIN and pandas' merge_asof, which take tables at rest and one on the right."""

from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dovetail as dv

ROWS = 3_000


def table(seed: int, keys: int, step: int) -> pa.Table:
    """Times that are unlike within a table, because others take any of several rows of one time."""
    random = np.random.default_rng(seed)
    times = np.sort(random.permutation(ROWS * step)[:ROWS])
    texts = np.array([f"key {number}" for number in range(keys)])
    return pa.table(
        {
            "ts": pa.array(times).cast(pa.timestamp("us")),
            "k": random.integers(0, keys, ROWS),
            "s": texts[random.integers(0, keys, ROWS)],
            "v": np.arange(ROWS),
        }
    )


def found(asof: dv.AsOf, on: str, how: str, tables: dict[str, pa.Table], pieces: int = 1) -> list[tuple[Any, Any]]:
    """Pairs of row numbers, from rows that come in so many pieces."""
    streams = {
        name: dv.stream(name, time="ts", schema=rows.schema, asof=asof if name == "Q" else None)
        for name, rows in tables.items()
    }
    run = dv.join(*streams.values(), on=on, select="T.v AS t, Q.v AS q", how=how).local()
    size = -(-ROWS // pieces)
    given = [run.push(name, rows.slice(at, size)) for at in range(0, ROWS, size) for name, rows in tables.items()]
    rows = pa.concat_tables([*given, run.close()])
    return sorted(zip(rows["t"].to_pylist(), rows["q"].to_pylist(), strict=True))


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("comparison", [">=", ">", "<=", "<"])
@pytest.mark.parametrize("how", ["inner", "left"])
def test_duckdb_gives_the_same(comparison: str, how: str, pieces: int) -> None:
    tables = {"T": table(1, 9, 3), "Q": table(2, 9, 3)}
    t_rows, q_rows = tables["T"], tables["Q"]  # noqa: F841  # found by their names
    word = "LEFT" if how == "left" else ""
    text = (
        f"SELECT T.v, Q.v FROM t_rows T ASOF {word} JOIN q_rows Q ON T.k = Q.k AND T.s = Q.s AND T.ts {comparison} Q.ts"
    )
    relation = duckdb.sql(text)
    assert relation is not None
    expected = sorted(relation.fetchall())
    asof = dv.asof("backward" if comparison.startswith(">") else "forward", equal="=" in comparison)
    assert found(asof, "T.k = Q.k AND T.s = Q.s", how, tables, pieces) == expected


@pytest.mark.parametrize(
    "shifted",
    [
        "T.ts >= Q.ts + INTERVAL '5' {unit}",
        "T.ts - INTERVAL '5' {unit} > Q.ts",
        "T.ts >= Q.ts - INTERVAL '40' {unit}",
        "T.ts + INTERVAL '5' {unit} <= Q.ts",
        "T.ts < Q.ts + INTERVAL '40' {unit}",
    ],
)
def test_duckdb_gives_the_same_for_shifted_times(shifted: str) -> None:
    tables = {"T": table(5, 5, 3), "Q": table(6, 5, 3)}
    t_rows, q_rows = tables["T"], tables["Q"]  # noqa: F841  # found by their names
    text = "SELECT T.v AS t, Q.v AS q FROM {t} T ASOF LEFT JOIN {q} Q ON T.k = Q.k AND " + shifted
    relation = duckdb.sql(text.format(t="t_rows", q="q_rows", unit="MICROSECOND"))
    assert relation is not None
    streams = [dv.stream(name, rows, time="ts") for name, rows in tables.items()]
    per_second = shifted.replace("'5' {unit}", "'0.000005' SECOND").replace("'40' {unit}", "'0.00004' SECOND")
    own = dv.sql(text.format(t="T", q="Q", unit="").split(" AND ")[0] + " AND " + per_second, *streams)
    rows = own.collect()
    assert sorted(zip(rows["t"].to_pylist(), rows["q"].to_pylist(), strict=True)) == sorted(relation.fetchall())


@pytest.mark.parametrize("pieces", [1, 7])
def test_duckdb_gives_the_same_for_one_after_the_other(pieces: int) -> None:
    """Each T with the last Q, and with the last R of the key that this Q has."""
    tables = {name: table(seed, 5, 3) for seed, name in enumerate("TQR", 7)}
    t_rows, q_rows, r_rows = tables.values()
    relation = duckdb.sql(
        "SELECT T.v, Q.v, R.v FROM t_rows T ASOF LEFT JOIN q_rows Q ON T.k = Q.k AND T.ts >= Q.ts "
        "ASOF LEFT JOIN r_rows R ON Q.s = R.s AND T.ts >= R.ts"
    )
    assert relation is not None
    answered, quotes, rates = (
        dv.stream(name, time="ts", schema=rows.schema, asof=None if name == "T" else dv.asof())
        for name, rows in tables.items()
    )
    first = dv.join(answered, quotes, on="T.k = Q.k", select="T.ts, T.v AS t, Q.v AS q, Q.s", how="left", order="hold")
    both = dv.stream("TQ", time="ts", schema=first.schema.remove(0))
    then = dv.join(both, rates, on="TQ.s = R.s", select="TQ.t, TQ.q, R.v AS r", how="left")
    one, two = first.local(), then.local()
    found, size = list[pa.Table](), -(-ROWS // pieces)
    for at in range(0, ROWS, size):
        for name, rows in (("T", t_rows), ("Q", q_rows)):
            found.append(two.push("TQ", one.push(name, rows.slice(at, size)).drop_columns(["result_time"])))
        found.append(two.push("R", r_rows.slice(at, size)))
    found += [two.push("TQ", one.close().drop_columns(["result_time"])), two.close()]
    rows = pa.concat_tables(found)
    given = zip(*(rows[name].to_pylist() for name in "tqr"), strict=True)
    assert sorted(given, key=str) == sorted(relation.fetchall(), key=str)


@pytest.mark.parametrize("pieces", [1, 7])
@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("tolerance", [None, 20])
@pytest.mark.parametrize("direction", ["backward", "forward", "nearest"])
def test_pandas_gives_the_same(direction: Any, tolerance: int | None, equal: bool, pieces: int) -> None:
    tables = {"T": table(3, 5, 2), "Q": table(4, 5, 2)}
    left, right = (rows.select(["ts", "k", "v"]).to_pandas() for rows in tables.values())
    within = None if tolerance is None else pd.Timedelta(tolerance, "us")
    merged = pd.merge_asof(
        left, right, on="ts", by="k", direction=direction, tolerance=within, allow_exact_matches=equal
    )
    answers = [None if pd.isna(value) else int(value) for value in merged["v_y"]]
    expected = sorted(zip(merged["v_x"].tolist(), answers, strict=True))
    asof = dv.AsOf(direction, tolerance, equal)
    assert found(asof, "T.k = Q.k", "left", tables, pieces) == expected
