"""Rows of whatever library: the same results from each, given as data or pushed."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dovetail as dv

TABLE = pa.table(
    {
        "ts": pa.array([datetime(2026, 7, 1, 12, 0, second) for second in (1, 2, 9)], pa.timestamp("us")),
        "k": [1, 2, 1],
        "name": ["a", None, "ü"],
    }
)
FORMS: dict[str, Callable[[pa.Table], Any]] = {
    "Arrow table": lambda table: table,
    "Arrow batch": lambda table: table.to_batches()[0],
    "Arrow reader": lambda table: table.to_reader(),
    "pandas": lambda table: table.to_pandas(),
    "pandas, with an index": lambda table: table.to_pandas().iloc[[2, 0, 1]],
    "Polars": pl.from_arrow,
    "Polars, lazy": lambda table: pl.from_arrow(table).lazy(),  # type: ignore[union-attr]  # a frame, not a series
    "DuckDB relation": lambda table: duckdb.from_arrow(table).filter("k > 0"),
    "list of dicts": lambda table: table.to_pylist(),
}
EXPECTED = [(1, "a", "a"), (1, "ü", "ü"), (2, None, None)]


def pairs(results: pa.Table) -> list[tuple[Any, ...]]:
    columns = zip(*(results[name].to_pylist() for name in ("k", "a", "b")), strict=True)
    return sorted(columns, key=str)


@pytest.mark.parametrize("form", [form for form in FORMS if form != "list of dicts"])
def test_as_data_of_a_stream(form: str) -> None:
    a, b = (dv.stream(name, FORMS[form](TABLE), time="ts", window="1 second") for name in "AB")
    query = dv.join(a, b, on="A.k = B.k", select="A.k, A.name AS a, B.name AS b")
    assert pairs(query.collect()) == EXPECTED
    assert pairs(query.collect()) == EXPECTED, "what could be read once was kept"


@pytest.mark.parametrize("form", FORMS)
def test_as_pushed_rows(form: str) -> None:
    a, b = (dv.stream(name, schema=TABLE.schema, time="ts", window="1 second") for name in "AB")
    run = dv.join(a, b, on="A.k = B.k", select="A.k, A.name AS a, B.name AS b").local()
    found = [run.push("A", FORMS[form](TABLE)), run.push("B", FORMS[form](TABLE)), run.close()]
    assert pairs(pa.concat_tables(found)) == EXPECTED


def test_results_go_to_whatever_library() -> None:
    a, b = (dv.stream(name, TABLE, time="ts", window="1 second") for name in "AB")
    results = dv.join(a, b, on="A.k = B.k", select="A.k, A.name AS a, B.name AS b").collect()
    assert len(results.to_pandas()) == len(pl.DataFrame(results)) == 3
    assert duckdb.query_df(results.to_pandas(), "results", "SELECT sum(k) FROM results").fetchall() == [(4,)]


def test_a_frame_changed_afterwards_changes_nothing() -> None:
    frame: pd.DataFrame = TABLE.to_pandas()
    a, b = (dv.stream(name, frame, time="ts", window="1 second") for name in "AB")
    query = dv.join(a, b, on="A.k = B.k", select="A.k, A.name AS a, B.name AS b")
    frame["k"] = 7
    assert pairs(query.collect()) == EXPECTED


def test_what_is_none_of_them_is_refused() -> None:
    with pytest.raises(
        dv.StreamError, match=r"stream 'A': data is a dict; give a Spark DataFrame, .* a DuckDB relation"
    ):
        dv.stream("A", {"ts": []}, time="ts", window="1 second")
