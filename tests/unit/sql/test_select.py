"""Names and types of the columns of a result."""

import pyarrow as pa
import pytest

from dovetail.model.stream import Stream
from dovetail.sql import bind_select
from tests.unit.sql.streams import STREAMS

TIMES = pa.schema({"location": pa.string(), "ts": pa.timestamp("us")})
TWO = (Stream("A", TIMES, "ts"), Stream("B", TIMES.append(pa.field("result_time", pa.int64())), "ts"))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("T.location, T.value AS temperature", {"location": "T.location", "temperature": "T.value"}),
        ("T.n + 1 AS x, T.n - 1 y", {"x": "add(T.n, 1)", "y": "subtract(T.n, 1)"}),
        ("T.ts, H.ts", {"T_ts": "T.ts", "H_ts": "H.ts"}),
        ("T.ts, H.n AS ts", {"T_ts": "T.ts", "ts": "H.n"}),
        ("ABS(T.n) + 1", {"abs(t.n) + 1": "add(abs(T.n), 1)"}),
        ("only, T.code", {"only": "H.only", "code": "cast(T.code as string)"}),
        ("5 AS five, 'x' AS x", {"five": "5", "x": "'x'"}),
    ],
)
def test_names(text: str, columns: dict[str, str]) -> None:
    assert {output.name: str(output.expression) for output in bind_select(text, STREAMS, {})} == columns


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, ["A_location", "A_ts", "B_location", "B_ts", "B_result_time"]),
        ("*", ["A_location", "A_ts", "B_location", "B_ts", "B_result_time"]),
        ("A.*", ["location", "ts"]),
        ("A.*, B.ts", ["location", "A_ts", "B_ts"]),
        ("B.result_time", ["B_result_time"]),
    ],
)
def test_stars(text: str | None, names: list[str]) -> None:
    assert [output.name for output in bind_select(text, TWO, {})] == names


@pytest.mark.parametrize(
    ("text", "type"),
    [
        ("T.small + 1", pa.int64()),
        ("T.n / 2", pa.float64()),
        ("T.single + T.n", pa.float64()),
        ("T.price + 1", pa.decimal128(23, 2)),
        ("T.ts - H.ts", pa.duration("us")),
        ("T.ts + INTERVAL '1' HOUR", pa.timestamp("us")),
        ("H.tz - INTERVAL '1' HOUR", pa.timestamp("us", "UTC")),
        ("COALESCE(T.small, T.n)", pa.int64()),
        ("CAST(T.n AS VARCHAR)", pa.string()),
        ("T.n::double", pa.float64()),
        ("DATE '2026-01-31'", pa.date32()),
        ("EXTRACT(YEAR FROM T.ts)", pa.int64()),
        ("LENGTH(T.code)", pa.int64()),
    ],
)
def test_types(text: str, type: pa.DataType) -> None:
    (output,) = bind_select(text, STREAMS, {})
    assert output.expression.type == type
