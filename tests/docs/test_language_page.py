"""Every piece of code in the tables of the language page is built and run; one without an example here fails."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.cli.pipeline_file import routed
from dovetail.sql import parse_pipeline

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "language.md").read_text()
_CODE = re.compile(r"`([^`]+)`")

EXPRESSIONS = {
    "= <> != < <= > >=": [f"A.k {sign} B.k" for sign in "= <> != < <= > >=".split()],
    "BETWEEN": ["A.k BETWEEN 1 AND 3"],
    "IN (...)": ["A.k IN (1, 2)"],
    "LIKE": ["A.s LIKE 'a%'"],
    "ILIKE": ["A.s ILIKE 'A%'"],
    "IS NULL": ["A.s IS NULL"],
    "IS TRUE": ["(A.k > 1) IS TRUE"],
    "IS [NOT] DISTINCT FROM": ["A.k IS DISTINCT FROM B.k", "A.k IS NOT DISTINCT FROM B.k"],
    "AND": ["A.k > 1 AND B.k > 1"],
    "OR": ["A.k > 1 OR B.k > 1"],
    "NOT": ["NOT A.k > 1"],
    "CASE": ["CASE WHEN A.k > 1 THEN 1 ELSE 0 END"],
    "COALESCE": ["COALESCE(A.s, 'x')"],
    "NULLIF": ["NULLIF(A.k, 1)"],
    "IFNULL": ["IFNULL(A.s, 'x')"],
    "+ - * / %": [f"A.k {sign} 2" for sign in "+ - * / %".split()],
    "POWER": ["POWER(A.x, 2)"],
    "MOD": ["MOD(A.k, 2)"],
    "GREATEST": ["GREATEST(A.k, B.k)"],
    "LEAST": ["LEAST(A.k, B.k)"],
    "\\|\\|": ["A.s || B.s"],
    "CONCAT": ["CONCAT(A.s, B.s)"],
    "SUBSTRING": ["SUBSTRING(A.s, 1, 1)"],
    "DATE_TRUNC('day', ...)": ["DATE_TRUNC('day', A.ts)"],
    "INTERVAL '5' SECOND": ["A.ts + INTERVAL '5' SECOND"],
    "DATE '2026-01-31'": ["DATE '2026-01-31'"],
    "EXTRACT(HOUR FROM ...)": ["EXTRACT(HOUR FROM A.ts)"],
    "INNER_PRODUCT(A.v, B.v)": ["INNER_PRODUCT(A.v, B.v)"],
    "COSINE_SIMILARITY(A.v, B.v)": ["COSINE_SIMILARITY(A.v, B.v)"],
    "CAST(... AS ...)": ["CAST(A.k AS STRING)"],
    "TRY_CAST": ["TRY_CAST(A.s AS INT)"],
    "::": ["A.k::STRING"],
    "dv.function": ["twice(A.k)"],
    "BIGINT": ["CAST(A.x AS BIGINT)"],
    "DOUBLE": ["CAST(A.k AS DOUBLE)"],
    **{name: [f"{name}(A.x)"] for name in ("ABS", "SIGN", "ROUND", "FLOOR", "CEIL", "SQRT", "EXP", "LN")},
    **{name: [f"{name}(A.s)"] for name in ("LOWER", "UPPER", "TRIM", "LENGTH")},
    **{name: [f"{name}(A.ts)"] for name in ("YEAR", "SECOND", "EPOCH_US")},
}
_END = " WHERE A.k = B.k WINDOW 1 MINUTE"
QUERIES = {
    "*": f"SELECT * FROM A, B{_END}",
    "T.*": f"SELECT A.* FROM A, B{_END}",
    "AS name": f"SELECT A.k AS name FROM A, B{_END}",
    "A, B, C": "SELECT A.k FROM A, B, C WHERE A.k = B.k AND B.k = C.k WINDOW 1 MINUTE",
    "A JOIN B ON ... JOIN C ON ...": "SELECT A.k FROM A JOIN B ON A.k = B.k JOIN C ON B.k = C.k WINDOW 1 MINUTE",
    "A CROSS JOIN B": "SELECT A.k FROM A CROSS JOIN B WINDOW 1 MINUTE",
    "A LEFT JOIN B ON ...": "SELECT A.k FROM A LEFT JOIN B ON A.k = B.k WINDOW 1 MINUTE",
    "RIGHT": "SELECT B.k FROM A RIGHT JOIN B ON A.k = B.k WINDOW 1 MINUTE",
    "FULL": "SELECT B.k FROM A FULL JOIN B ON A.k = B.k WINDOW 1 MINUTE",
    "A LEFT SEMI JOIN B ON ...": "SELECT A.k FROM A LEFT SEMI JOIN B ON A.k = B.k WINDOW 1 MINUTE",
    "LEFT ANTI": "SELECT A.k FROM A LEFT ANTI JOIN B ON A.k = B.k WINDOW 1 MINUTE",
    "A LEFT JOIN B ON ... ANTI JOIN C ON ... JOIN D ON ...": (
        "SELECT A.k FROM A LEFT JOIN B ON A.k = B.k ANTI JOIN C ON A.k + 5 = C.k JOIN D ON A.k = D.k WINDOW 1 MINUTE"
    ),
    "A ASOF [LEFT] JOIN B ON ...": "SELECT A.k FROM A ASOF LEFT JOIN B ON A.k = B.k AND A.ts >= B.ts",
    "name alias": "SELECT o.k FROM A o, B p WHERE o.k = p.k WINDOW o 1 MINUTE, p 1 MINUTE",
    "WINDOW": "SELECT o.k FROM A o, B p WHERE o.k = p.k WINDOW o 1 MINUTE, p 1 MINUTE",
    "10 MINUTES": "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 10 MINUTES",
    "ROWS 1000": "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 1000",
    "ROWS 100 PER KEY": "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW ROWS 100 PER KEY",
    "stream window": "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW A ROWS 9, B 1 MINUTE",
    "run.push": f"SELECT A.k FROM A, B{_END}",
}
DECLARED = "(k BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)"
_TYPE = {
    "DECIMAL(p, s)": "DECIMAL(9, 2)",
    "ARRAY<...>": "ARRAY<INT>",
    "MAP<..., ...>": "MAP<STRING, INT>",
    "STRUCT<name: type, ...>": "STRUCT<a: INT>",
}
PAIRS = "SELECT T.k FROM T, H WHERE T.k = H.k WINDOW 1 SECOND"
READ = "format = 'parquet', path = 'in', reader = 'dovetail', max_files = 3, max_rows = 10, static = FALSE"
READ_CSV = "format = 'csv', path = 'in', reader = 'dovetail', header = TRUE, delimiter = ';'"
PIPELINES = {
    "reader = 'dovetail'": [f"CREATE STREAM X {DECLARED} WITH ({each});" for each in (READ, READ_CSV)],
    **{
        option: [f"CREATE STREAM X {DECLARED} WITH (format = 'rate', {option});"]
        for option in ("idle = '10 seconds'", "ahead = '1 hour'", "match = 'first'")
    },
    **{
        word: [f"CREATE STREAM X {DECLARED} WITH (format = 'rate', match = '{word}');"]
        for word in ("first", "last", "nearest")
    },
    "dedup = 'device, number'": [f"CREATE STREAM X {DECLARED} WITH (format = 'rate', dedup = 'k, ts');"],
    "ready = '2026-07-01 00:00:00+00:00'": [
        "CREATE TABLE X (k BIGINT, ts TIMESTAMP, PRIMARY KEY (k), WATERMARK FOR ts AS ts) "
        "WITH (format = 'rate', ready = '2026-07-01 00:00:00+00:00');"
    ],
    "ttl = '30 days'": [
        "CREATE TABLE X (k BIGINT, ts TIMESTAMP, PRIMARY KEY (k), WATERMARK FOR ts AS ts) "
        "WITH (format = 'rate', ttl = '30 days');"
    ],
    "writer = 'dovetail'": [
        "INSERT INTO s WITH (format = 'parquet', path = 'o', writer = 'dovetail', compression = 'zstd', "
        f"checkpoint = 'c') {PAIRS};"
    ],
    "format = 'delta'": [
        f"INSERT INTO s WITH (format = 'delta', path = 'o', writer = 'dovetail', checkpoint = 'c') {PAIRS};"
    ],
    **{
        option: [f"INSERT INTO s WITH (format = 'noop', {more}{option}) {PAIRS};"]
        for option, more in {
            "checkpoint = '...'": "",
            "order = 'hold'": "",
            "late = 'keep'": "",
            "late = 'divert'": "checkpoint = 'c', late_path = 'l', ",
            "late_path = '...'": "checkpoint = 'c', late = 'divert', ",
            "cpu = 0.5": "",
            "memory = '512 MB'": "",
            "policy = 'spill'": "memory = '512 MB', ",
            "min_completeness = 0.9": "cpu = 0.5, ",
            "strict = TRUE": "cpu = 0.5, min_completeness = 0.9, ",
            "spill_folder = '...'": "memory = '512 MB', policy = 'spill', ",
            "algorithm = 'hash'": "",
            "plan = 'binary'": "",
            "partitions = 4": "",
            "invalidation = 'lazy'": "",
            "schedule = 'greedy'": "",
            "trigger = '10 seconds'": "",
        }.items()
    },
    "'1000 tuples'": [f"INSERT INTO s WITH (format = 'noop', memory = '1000 tuples') {PAIRS};"],
    "'A hash, B scan'": [f"INSERT INTO s WITH (format = 'noop', algorithm = 'T hash, H scan') {PAIRS};"],
    "'((A, B), C)'": [
        f"CREATE STREAM W {DECLARED} WITH (format = 'rate'); "
        "INSERT INTO s WITH (format = 'noop', plan = '((T, H), W)') "
        "SELECT T.k FROM T, H, W WHERE T.k = H.k AND H.k = W.k WINDOW 1 SECOND;"
    ],
    "CREATE STREAM name AS SELECT ... FROM ... WINDOW ...": [f"CREATE STREAM pairs AS {PAIRS};"],
    "CREATE STREAM name AS SELECT * FROM A UNION ALL SELECT * FROM B": [
        "CREATE STREAM both AS SELECT * FROM T UNION ALL SELECT * FROM H;"
    ],
    "INSERT INTO name SELECT ...": [f"CREATE SINK s WITH (format = 'noop'); INSERT INTO s {PAIRS};"],
    **{
        word: [f"INSERT INTO s WITH (format = 'noop', {option} = '{word}') {PAIRS};"]
        for option, words in {
            "order": ("none", "sync", "hold", "adaptive"),
            "late": ("drop", "keep"),
            "schedule": ("greedy", "smallest", "largest"),
        }.items()
        for word in words
    },
    "divert": [f"INSERT INTO s WITH (format = 'noop', checkpoint = 'c', late = 'divert', late_path = 'l') {PAIRS};"],
    **{form: [f"INSERT INTO s WITH (format = '{form}') {PAIRS};"] for form in ("console", "memory", "noop")},
}
WHOLE = f"CREATE STREAM X {DECLARED} WITH (format = 'rate'); CREATE SINK s WITH (format = 'noop', checkpoint = 'c');"
INSERT = f"INSERT INTO s WITH (format = 'noop') {PAIRS};"
PIPELINES |= {
    "format": [WHOLE],
    "result_time": [
        "CREATE STREAM p AS " + PAIRS + "; INSERT INTO s WITH (format = 'noop') "
        "SELECT p.result_time AS at FROM p, T WHERE p.k = T.k WINDOW 1 SECOND;"
    ],
    **dict.fromkeys(("path", "max_files", "max_rows", "static"), PIPELINES["reader = 'dovetail'"]),
    **dict.fromkeys(("header", "delimiter", "csv"), PIPELINES["reader = 'dovetail'"]),
    "compression": PIPELINES["writer = 'dovetail'"],
    **{
        form: [f"CREATE STREAM X {DECLARED} WITH ({READ.replace('parquet', form).replace(', max_rows = 10', '')});"]
        for form in ("parquet", "json", "arrow", "iceberg")
    },
}


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def tabled(title: str) -> list[str]:
    """The pieces of code in the tables of a section."""
    rows = [line.replace("\\|", "\0") for line in section(title).splitlines() if line.startswith("| ")]
    return [code.replace("\0", "\\|") for row in rows for code in _CODE.findall(row)]


def streams() -> list[Any]:
    columns = {
        "k": [1, 2],
        "x": [1.5, 2.5],
        "s": ["a", "b"],
        "v": pa.array([[1.0, 0.0]] * 2, pa.list_(pa.float64(), 2)),
    }
    table = pa.table({**columns, "ts": pa.array([1, 2], pa.timestamp("us"))})
    return [dv.stream(name, table, time="ts") for name in "ABCD"]


@pytest.mark.parametrize("code", dict.fromkeys(tabled("A query")))
def test_a_form_of_a_query(code: str) -> None:
    assert dv.sql(QUERIES[code], *streams()).collect().num_rows > 0 or "ANTI" in code


@pytest.mark.parametrize("code", dict.fromkeys(tabled("Expressions")))
def test_an_expression(code: str) -> None:
    if code not in EXPRESSIONS:
        pytest.fail(f"{code} is on the page and not tried")
    dv.function("twice", lambda column: pa.array([2 * each for each in column.to_pylist()]), [pa.int64()], pa.int64())
    for text in EXPRESSIONS[code]:
        one, other, *_ = streams()
        rows = dv.join(one, other, on="A.k = B.k", select=f"{text} AS e", window="1 minute").collect()
        assert rows.num_rows == 2


@pytest.mark.parametrize("code", dict.fromkeys(tabled("A pipeline file")))
def test_a_statement_or_option(code: str) -> None:
    starts = {"CREATE STREAM name (": WHOLE, "CREATE SINK name": WHOLE, "INSERT INTO name WITH": INSERT}
    whole = [text for start, text in starts.items() if code.startswith(start)]
    for text in whole or PIPELINES[code]:
        declared = "".join(f"CREATE STREAM {name} {DECLARED} WITH (format = 'rate');\n" for name in ("T", "H"))
        (route, *_) = routed(parse_pipeline(f"{declared}{text} INSERT INTO last WITH (format = 'noop') {PAIRS};"))
        assert route.query.explain()


def test_every_type_can_be_declared() -> None:
    said = section("A pipeline file").split("Types are those of Spark SQL:")[1].split(". Values of options")[0]
    types = [_TYPE.get(code, code) for code in _CODE.findall(said)]
    assert len(types) > 10
    columns = ", ".join(f"c{at} {each}" for at, each in enumerate(types))
    declared = DECLARED.replace("k BIGINT", f"k BIGINT, {columns}")
    query = "SELECT * FROM X, T WHERE X.k = T.k WINDOW 1 SECOND"
    streams = f"CREATE STREAM X {declared} WITH (format = 'rate'); CREATE STREAM T {DECLARED} WITH (format = 'rate');"
    (route,) = routed(parse_pipeline(f"{streams} INSERT INTO s WITH (format = 'noop') {query};"))
    assert len(route.query.schema.names) == len(types) + 5
