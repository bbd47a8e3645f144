"""Finite input: streams that need no window, the first results, and fields of structures in files."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.json as pajson
import pyarrow.parquet as pq
import pytest

import dovetail as dv
from dovetail.runtime import first_rows
from dovetail.testing import assert_same_rows, ordered

PLACE = pa.struct({"id": pa.int64(), "at": pa.struct({"x": pa.float64()})})
NESTED = pa.schema({"ts": pa.timestamp("us"), "p": PLACE, "text": pa.string()})


def table(seed: int, rows: int, keys: int = 50, first: int = 0) -> pa.Table:
    """Rows in no order."""
    random = np.random.default_rng(seed)
    times = pa.array(random.integers(first, first + 10**9, rows), pa.timestamp("us"))
    return pa.table({"ts": times, "k": random.integers(0, keys, rows), "v": np.arange(rows)})


def nested(rows: int) -> pa.Table:
    points = [None if at % 5 == 0 else {"id": at % 7, "at": {"x": at / 2}} for at in range(rows)]
    return pa.table(
        [pa.array(range(0, rows * 10**6, 10**6), pa.timestamp("us")), pa.array(points, PLACE), ["text"] * rows], NESTED
    )


def test_tables_are_joined_as_duckdb_joins_them() -> None:
    tables = {name: table(at, 800) for at, name in enumerate("ABC")}
    streams = [dv.stream(name, data, time="ts") for name, data in tables.items()]
    found = dv.join(*streams, on="A.k = B.k AND B.k = C.k AND A.v < B.v AND B.v < C.v - 500",
                    select="A.v AS a, B.v AS b, C.v AS c").collect()  # fmt: skip
    with duckdb.connect() as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        expected = connection.sql(
            "SELECT greatest(a.ts, b.ts, c.ts) AS result_time, a.v AS a, b.v AS b, c.v AS c FROM a, b, c "
            "WHERE a.k = b.k AND b.k = c.k AND a.v < b.v AND b.v < c.v - 500"
        ).to_arrow_table()
    assert expected.num_rows > 100
    assert_same_rows(found, expected.cast(found.schema))


def test_a_stream_that_goes_on_needs_a_window_beside_another() -> None:
    live = [dv.stream(name, time="ts", schema=table(0, 1).schema) for name in "AB"]
    known = dv.stream("T", table(1, 5), time="ts")
    windows = {each.name: str(each.window) for each in dv.join(live[0], known, on="A.k = T.k").model.streams}
    assert windows == {"A": "unbounded", "T": "unbounded"}
    with pytest.raises(dv.QueryError, match=r"stream 'A' has no window; .* Only what ends needs none"):
        dv.join(*live, known, on="A.k = B.k AND A.k = T.k")
    query = dv.join(*live, known, on="A.k = B.k AND A.k = T.k", window=dv.unbounded())
    assert {str(each.window) for each in query.model.streams} == {"unbounded"}


def test_rows_of_a_stream_beside_a_table_are_not_kept() -> None:
    live, known = dv.stream("A", time="ts", schema=table(0, 1).schema), dv.stream("T", table(1, 5), time="ts")
    run = dv.join(live, known, on="A.k = T.k", select="A.v, T.k AS found", how="left").local()
    run.push("T", table(1, 5))
    run.advance("T", 1 << 62)
    given = sum(run.push("A", table(seed, 100, first=seed * 10**9)).num_rows for seed in range(2, 6))
    assert given >= 400
    assert run.metrics()["streams"]["A"]["stored"] == 0


@pytest.mark.parametrize("order", ["none", "hold"])
@pytest.mark.parametrize("window", [None, "1 minute"])
def test_the_first_results(order: str, window: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_rows, "FIRST_ROWS", 16)
    streams = [dv.stream(name, table(at, 1500 // (at + 1)), time="ts") for at, name in enumerate("AB")]
    query = dv.join(*streams, on="A.k = B.k", select="A.v AS a, B.v AS b", order=order, window=window)
    whole = query.collect()
    for limit in (1, 7, 500, whole.num_rows, 10**6):
        found = query.collect(limit=limit)
        assert found.num_rows == min(limit, whole.num_rows)
        assert len({tuple(row.items()) for row in found.to_pylist()}) == found.num_rows
        rows = {tuple(row.items()) for row in whole.to_pylist()}
        assert {tuple(row.items()) for row in found.to_pylist()} <= rows
        if order == "hold":
            assert ordered(found)
            assert found["result_time"] == whole["result_time"].slice(0, limit)


def test_the_first_results_take_few_rows_whatever_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """All rows of one table are older than all of the other: in order of time nothing would come for long."""
    joined: list[int] = []
    pieces = first_rows.in_growing_pieces

    def counted(*given: Any) -> Any:
        for piece in pieces(*given):
            joined.append(sum(rows.num_rows for rows in piece.values()))
            yield piece

    monkeypatch.setattr("dovetail.runtime.local.in_growing_pieces", counted)
    streams = [dv.stream(name, table(at, 50_000, first=at * 10**10), time="ts") for at, name in enumerate("AB")]
    assert dv.join(*streams, on="A.k = B.k").collect(limit=100).num_rows == 100
    assert joined == [512]


def test_a_limit_reads_no_more_files_than_it_needs(tmp_path: Path) -> None:
    rows = nested(900)
    for part in range(3):
        for name in "AB":
            (tmp_path / name).mkdir(exist_ok=True)
            pq.write_table(rows.slice(part * 300, 300), tmp_path / name / f"{part}.parquet")
    streams = [dv.stream(n, dv.files(tmp_path / n, static=True), time="ts", window="1 second") for n in "AB"]
    query = dv.join(*streams, on="A.p.id = B.p.id AND A.ts = B.ts", order="hold")
    assert query.collect().num_rows == 720
    for name in "AB":
        (tmp_path / name / "2.parquet").write_bytes(b"PAR1" + bytes((tmp_path / name / "2.parquet").read_bytes()[4:]))
    assert query.collect(limit=50).num_rows == 50


@pytest.mark.parametrize("limit", [0, -1, 1.5, "3", True])
def test_a_limit_is_a_number_of_rows(limit: Any) -> None:
    query = dv.join(*(dv.stream(name, table(0, 3), time="ts") for name in "AB"), on="A.k = B.k")
    with pytest.raises(dv.QueryError, match=r"limit=.*: it is a whole number of rows, 1 or more, or None for all"):
        query.collect(limit=limit)


@pytest.mark.parametrize("form", ["parquet", "arrow", "json"])
def test_only_the_fields_that_are_named_are_read(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = nested(60)
    for name in "AB":
        file = str(tmp_path / f"{name}.{form}")
        if form == "parquet":
            pq.write_table(rows, file)
        elif form == "arrow":
            with ipc.new_file(file, rows.schema) as writer:
                writer.write_table(rows)
        else:
            Path(file).write_text(rows.to_pandas().to_json(orient="records", lines=True, date_format="iso"))
            assert pajson.read_json(file).num_rows == 60
    read: list[list[str]] = []
    iterate = pq.ParquetFile.iter_batches

    def noted(*given: Any, **options: Any) -> Any:
        read.append(options["columns"])
        return iterate(*given, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", noted)
    streams = [
        dv.stream(n, dv.files(tmp_path / f"{n}.{form}", form, static=True), time="ts", schema=NESTED) for n in "AB"
    ]
    query = dv.join(*streams, on="A.p.id = B.p.id", select="A.p.at.x, B.p.id")
    given = [dv.stream(name, rows, time="ts") for name in "AB"]
    assert_same_rows(query.collect(), dv.join(*given, on="A.p.id = B.p.id", select="A.p.at.x, B.p.id").collect())
    assert read == ([["ts", "p.at.x", "p.id"], ["ts", "p.id"]] if form == "parquet" else [])
