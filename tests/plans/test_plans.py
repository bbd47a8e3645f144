"""Plans as text: what ``explain()`` must give for each query; ``python -m tests.plans.test_plans`` writes them anew."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.plan.calibrate import load_weights
from dovetail.plan.explain import explain

FOLDER = Path(__file__).parent
SCHEMA = pa.schema(
    {
        "ts": pa.timestamp("us"),
        "k": pa.int64(),
        "j": pa.int64(),
        "s": pa.string(),
        "x": pa.float64(),
        "v": pa.list_(pa.float64(), 3),
    }
)


def join(names: str, on: str, windows: dict[str, Any] | None = None, **options: Any) -> dv.Query:
    chosen = dict.fromkeys(names, "10 minutes") | (windows or {})
    streams = [dv.stream(name, time="ts", window=chosen[name], schema=SCHEMA) for name in names]
    return dv.join(*streams, on=on, **options)


RARE_PAIRS = {"rates": 1000, "keys": {"A.k": 1e9, "B.k": 1e9, "A.j": 10, "C.j": 10}}
QUERIES = {
    "star": join("ABCD", "A.k = B.k AND A.j = C.j AND A.s = D.s", select="A.x, D.k"),
    "chain": join("ABC", "A.k = B.k AND B.k = C.k", select="A.k"),
    "cycle": join("ABC", "A.k = B.k AND B.j = C.j AND A.s = C.s", {"B": "1 minute"}, select="A.k", order="hold"),
    "band": join("AB", "ABS(A.x - B.x) <= 1.5 AND A.x > 0", select="A.x", how="left", late="keep"),
    "left_anti": join(
        "ABC", "A.k = B.k AND B.s = C.s", {"C": "1 hour"}, select="A.x, B.x AS y", how={"B": "left", "C": "anti"}
    ),
    "similarity": join("AB", "COSINE_SIMILARITY(A.v, B.v) >= 0.9 AND A.k <> B.k", select="A.k, B.k AS other"),
    "residual": join("ABC", "A.k = B.k AND A.k + B.j < C.j AND (A.s = C.s OR B.x > C.x)", select="C.s"),
    "mixed": join(
        "ABC",
        "A.k = B.k AND ABS(B.j - C.j) <= 2",
        {"A": dv.rows(100, per="key"), "C": dv.rows(1000)},
        select="A.s",
        algorithm={"A": "sorted", "B": "scan", "C": "sorted"},
        partitions=8,
    ),
    "composite": join("AB", "A.k = B.k AND A.s = B.s AND A.ts <= B.ts", select="A.x, B.x AS y", how="full"),
    "aggregates": join("AB", "A.k = B.k", select="COUNT(*) AS n, AVG(B.x) AS mean"),
    "groups": dv.sql(
        "SELECT A.k, A.s, COUNT(DISTINCT B.j) AS n FROM A, B WHERE A.k = B.k GROUP BY A.k, A.s",
        *(dv.stream(name, time="ts", window="10 minutes", schema=SCHEMA) for name in "AB"),
    ),
}


MORE = {
    "cross": join("AB", "TRUE", select="A.k"),
    "rare_pairs": join("ABC", "A.k = B.k AND A.j = C.j", select="A.k"),
    "binary": join("ABC", "A.k = B.k AND B.k = C.k", select="A.k", plan="binary", invalidation="active"),
}
# What is said about the streams of some queries before any data has come.
GIVEN: dict[str, dict[str, Any]] = {
    "star": {"rates": {"A": 10_000, "B": 10, "C": 100, "D": 100}, "keys": {"A.j": 5, "C": 5, "A.k": 2000, "B.k": 500}},
    "chain": {"rates": {"A": 2, "B": 2, "C": 200}, "keys": 2},
    "band": {"rates": 500},
    "cross": {"rates": {"A": 5, "B": 0}},
    "rare_pairs": RARE_PAIRS,
    "binary": {"rates": 10, "keys": 100},
}
FORMS = {
    **{name: (query, {}) for name, query in QUERIES.items()},
    **{f"{name}_given": ((QUERIES | MORE)[name], given) for name, given in GIVEN.items()},
    "binary": (MORE["binary"], {}),
    "chain_short": (QUERIES["chain"], {"costs": False}),
}


@pytest.fixture(autouse=True)
def typical_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    load_weights.cache_clear()


@pytest.mark.parametrize("name", FORMS)
def test_the_plan_is_as_written(name: str) -> None:
    query, options = FORMS[name]
    assert query.explain(**options) + "\n" == (FOLDER / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", GIVEN)
def test_the_plan_as_values_says_the_same(name: str) -> None:
    query, given = FORMS[f"{name}_given"]
    report = query.plan_report(**given)
    assert json.loads(json.dumps(report)) == report
    assert explain(report) == query.explain(**given)


if __name__ == "__main__":
    for name, (query, options) in FORMS.items():
        (FOLDER / f"{name}.txt").write_text(query.explain(**options) + "\n")
