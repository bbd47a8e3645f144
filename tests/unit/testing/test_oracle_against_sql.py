"""The oracle against a database: a window join over a finite history is one ordinary query."""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from dovetail.model.predicate import Band, Equality
from dovetail.testing import Push, assert_same_rows, oracle
from tests.unit.testing.build import SCHEMA, key, number, query, stream

SQL = """
WITH S AS (SELECT *, epoch_us(ts) AS t FROM s_rows), T AS (SELECT *, epoch_us(ts) AS t FROM t_rows),
     U AS (SELECT *, epoch_us(ts) AS t FROM u_rows),
     R AS (SELECT greatest(S.t, T.t, U.t) AS newest, S.t AS S, S.x AS S_x, T.t AS T, T.x AS T_x, U.t AS U, U.x AS U_x
           FROM S, T, U WHERE S.k = T.k AND abs(T.x - U.x) <= 1)
SELECT make_timestamp(newest) AS result_time, R.* EXCLUDE newest
FROM R WHERE newest - S <= 5 AND newest - T <= 9 AND newest - U <= 2
"""


def rows(random: np.random.Generator, count: int) -> pa.Table:
    columns: dict[str, Any] = {
        "ts": pa.array(random.integers(0, 40, count), pa.int64()).cast(pa.timestamp("us")),
        "k": pa.array(random.integers(0, 3, count), mask=random.random(count) < 0.1),
        "x": pa.array(random.integers(0, 8, count).astype(float), mask=random.random(count) < 0.1),
    }
    return pa.table(columns, SCHEMA)


@pytest.mark.parametrize("seed", range(3))
def test_three_streams_with_their_own_windows(seed: int) -> None:
    random = np.random.default_rng(seed)
    s_rows, t_rows, u_rows = (rows(random, 40) for _ in range(3))
    predicates = (Equality(key("S"), key("T")), Band(number("T"), number("U"), -1.0, 1.0))
    join = query(stream("S", 5), stream("T", 9), stream("U", 2), predicates=predicates)
    relation = duckdb.sql(SQL)
    assert relation is not None
    expected = relation.to_arrow_table().cast(join.schema)
    assert expected.num_rows > 100
    outcome = oracle(join, [Push({"S": s_rows, "T": t_rows, "U": u_rows})])
    assert_same_rows(outcome.rows, expected)
