"""Queries that share an operator are planned anew by what it measures, like a query alone, and seldom."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

import dovetail as dv
from dovetail.model.decision import Decision
from dovetail.testing import assert_same_rows
from tests.unit.control.test_reshape import SCHEMA, batches


def query(name: str, window: str) -> dv.Query:
    streams = [dv.stream(each, time="ts", window=window, schema=SCHEMA) for each in "ABC"]
    select = "A.k AS k, B.j AS b, C.k AS c"
    return dv.join(*streams, on="A.k = B.k AND A.j = C.j", select=select, plan="multiway").named(name)


def decision(run: Any) -> Decision:
    (readings,) = run.operator.statistics()
    found: Decision = readings.decision
    return found


def test_a_group_probes_first_where_it_has_measured_that_fewest_match() -> None:
    queries = [query("near", "1 second"), query("far", "2 seconds")]
    run, alone = dv.share(*queries).local(), [each.local(threads=1) for each in queries]
    found, wanted, first = list[pa.Table](), [list[pa.Table]() for _ in queries], list[str]()
    for steps, k, j in ((range(60), 10**9, 40), (range(60, 160), 40, 10**9)):
        for name, rows in batches(steps, k, j):
            found.append(run.push(name, rows))
            for each, out in zip(alone, wanted, strict=True):
                out.append(each.push(name, rows))
        first.append(decision(run).orders["A"][0])
    assert first == ["B", "C"], "k has no partners at first, and then j"
    assert 1 <= decision(run).version <= 4, "plans neither stay as they were nor flutter"
    together = pa.concat_tables(found)
    for one, out in zip(queries, wanted, strict=True):
        own = together.filter(pc.equal(together["query"], one.name)).select(one.schema.names)
        assert_same_rows(own, pa.concat_tables(out))
