"""``plan="auto"`` splits a query while it runs where that costs clearly less, and puts it together again."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.control.shaped import Shaped, shape_of
from dovetail.testing import assert_same_rows

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "j": pa.int64()})
STEP_US, ROWS = 100_000, 100


def query(plan: str) -> dv.Query:
    streams = [dv.stream(name, time="ts", window="2 seconds", schema=SCHEMA) for name in "ABC"]
    return dv.join(*streams, on="A.k = B.k AND A.j = C.j", select="A.k AS k, B.j AS b, C.k AS c", plan=plan)


def batches(steps: range, k: int, j: int) -> Iterator[tuple[str, pa.Table]]:
    """A thousand rows a second of each stream, with so many values of each key."""
    for step in steps:
        for at, name in enumerate("ABC"):
            random = np.random.default_rng(step * 10 + at)
            times = pa.array(step * STEP_US + np.sort(random.integers(0, STEP_US, ROWS))).cast(pa.timestamp("us"))
            keys = [pa.array(random.integers(0, most, ROWS)) for most in (k, j)]
            yield name, pa.Table.from_arrays([times, *keys], schema=SCHEMA)


def test_rare_pairs_are_joined_first_and_all_together_when_they_are_not_rare_any_more() -> None:
    auto, one = query("auto").local(threads=1), query("multiway").local(threads=1)
    assert isinstance(auto.operator, Shaped)
    shapes, found, wanted = [auto.operator.tree], [], []
    for steps, k, j in ((range(60), 10**9, 40), (range(60, 300), 60, 10**9)):
        for name, rows in batches(steps, k, j):
            found.append(auto.push(name, rows))
            wanted.append(one.push(name, rows))
            if auto.operator.tree != shapes[-1]:
                shapes.append(auto.operator.tree)
    found.append(auto.close())
    wanted.append(one.close())
    assert shapes[:2] == [None, (("A", "B"), "C")]
    assert shapes[-1] != (("A", "B"), "C")
    assert auto.metrics()["reshaped"] == len(shapes) - 1 <= 4
    assert_same_rows(pa.concat_tables(found), pa.concat_tables(wanted))


def test_the_plan_says_why_it_is_a_tree() -> None:
    run = query("auto").local(threads=1)
    for name, rows in batches(range(60), 10**9, 40):
        run.push(name, rows)
    assert run.plan_report()["plan"] == "((A, B), C)"
    assert run.plan_report()["plan_why"] == "cheapest"


def test_a_tree_is_read_back_from_the_names_of_its_operators() -> None:
    header = {"tree": [["A", "B"], ["C", "D"], ["(A, B)", "(C, D)", "E"]]}
    assert shape_of(header) == (("A", "B"), ("C", "D"), "E")
    assert shape_of({"sections": {}}) is None
