"""As-of joins beside DuckDB's ASOF JOIN and pandas' merge_asof: disorder, NULL keys and equal times among the rows.

Where they mean something else, or nothing, they are given other rows:

    equal times      DuckDB takes any of several rows, pandas the one that stands last (backward) or first (forward);
                     here the one with the largest values. Both get that row alone.
    NULL keys        DuckDB joins none of them, as here, unless with IS NOT DISTINCT FROM. pandas knows no keys that are
                     equal to none: it gets -1 for NULL, and with = no such rows on the right.
    disorder         DuckDB does not mind, as here. pandas refuses it: it gets rows in order of time.
    nearest          DuckDB has none. Of two at one distance pandas takes the earlier, as here.
    tolerance        DuckDB has none: answers that are too far away are taken out of what it gives.
"""

from collections import Counter
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from tests.properties.queries import Draw

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "s": pa.string(), "v": pa.int64()})
KEYS = [1, 1, 2, None]
TEXTS = ["a", "a", "b", None]
DELAY = 30  # more than all times: rows may come in any order
Rows = list[dict[str, Any]]


@st.composite
def rows(draw: Draw) -> Rows:
    """Rows of a few times and keys, in any order; ``v`` tells them apart."""
    cell = st.tuples(st.integers(0, 20), st.sampled_from(KEYS), st.sampled_from(TEXTS))
    cells = draw(st.lists(cell, max_size=16))
    numbers = draw(st.permutations(range(len(cells))))
    return [{"ts": ts, "k": k, "s": s, "v": v} for (ts, k, s), v in zip(cells, numbers, strict=True)]


def found(left: Rows, right: Rows, asof: dv.AsOf, on: str, draw: Draw) -> Counter[tuple[Any, Any]]:
    """Pairs of ``v``, rows pushed in some pieces."""
    tables = {"T": pa.Table.from_pylist(left, SCHEMA), "Q": pa.Table.from_pylist(right, SCHEMA)}
    streams = [
        dv.stream(name, time="ts", schema=SCHEMA, delay=f"{DELAY} us", asof=asof if name == "Q" else None)
        for name in tables
    ]
    run = dv.join(*streams, on=on, select="T.v AS t, Q.v AS q", how="left").local()
    pieces = [(name, at) for name, table in tables.items() for at in range(0, table.num_rows, 4)]
    given = [run.push(name, tables[name].slice(at, 4)) for name, at in draw(st.permutations(pieces))]
    table = pa.concat_tables([*given, run.close()])
    return Counter(zip(table["t"].to_pylist(), table["q"].to_pylist(), strict=True))


@settings(max_examples=60)
@given(rows(), rows(), st.sampled_from([">=", ">", "<=", "<"]), st.sampled_from([None, 0, 2, 6]), st.data())
def test_duckdb(left: Rows, right: Rows, sign: str, tolerance: int | None, data: st.DataObject) -> None:
    equal = "=" in sign
    tolerance = tolerance if equal or tolerance != 0 else None
    on = data.draw(st.sampled_from(["T.k = Q.k", "T.k = Q.k AND T.s = Q.s", "T.k IS NOT DISTINCT FROM Q.k"]))
    keys = "k, s" if "T.s" in on else "k"
    t_rows = pa.Table.from_pylist(left, SCHEMA)  # noqa: F841  # found by its name
    q_rows = pa.Table.from_pylist(right, SCHEMA)  # noqa: F841
    relation = duckdb.sql(
        f"SELECT T.v, Q.v, T.ts, Q.ts FROM t_rows T ASOF LEFT JOIN "
        f"(SELECT {keys}, ts, max(v) AS v FROM q_rows GROUP BY ALL) Q ON {on} AND T.ts {sign} Q.ts"
    )
    assert relation is not None
    expected = Counter[tuple[Any, Any]]()
    for t, q, asked, answer in relation.fetchall():
        far = answer is not None and tolerance is not None and abs((asked - answer) / pd.Timedelta("1us")) > tolerance
        expected[t, None if far else q] += 1
    asof = dv.AsOf("backward" if ">" in sign else "forward", tolerance, equal)
    assert found(left, right, asof, on, data.draw) == expected


def frame(each: Rows) -> pd.DataFrame:
    """In order of time, and of equal times with the largest values last; NULL is -1, which no key is."""
    table = pa.Table.from_pylist(sorted(each, key=lambda row: (row["ts"], row["v"])), SCHEMA).to_pandas()
    return table.assign(k=table["k"].fillna(-1).astype("int64"), s=table["s"].fillna("-1"))


@settings(max_examples=60)
@given(rows(), rows(), st.sampled_from(["backward", "forward", "nearest"]), st.sampled_from([None, 0, 2, 6]), st.data())
def test_pandas(left: Rows, right: Rows, direction: Any, tolerance: int | None, data: st.DataObject) -> None:
    equal = data.draw(st.booleans())
    tolerance = tolerance if equal or tolerance != 0 else None
    on = data.draw(st.sampled_from(["T.k = Q.k", "T.k = Q.k AND T.s = Q.s", "T.k IS NOT DISTINCT FROM Q.k"]))
    keys = ["k", "s"] if "T.s" in on else ["k"]
    there = right if "IS NOT" in on else [row for row in right if all(row[key] is not None for key in keys)]
    merged = pd.merge_asof(
        frame(left),
        frame(there).drop_duplicates([*keys, "ts"], keep="last"),
        on="ts",
        by=keys,
        direction=direction,
        tolerance=None if tolerance is None else pd.Timedelta(tolerance, "us"),
        allow_exact_matches=equal,
    )
    answers = [None if pd.isna(value) else int(value) for value in merged["v_y"]]
    expected = Counter(zip(merged["v_x"].tolist(), answers, strict=True))
    assert found(left, right, dv.AsOf(direction, tolerance, equal), on, data.draw) == expected
