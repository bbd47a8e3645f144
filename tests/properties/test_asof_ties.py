"""Rows of one key and one time that differ in lists, structures and maps: one answer, however they arrive."""

import math
from typing import Any

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Close, Push, assert_same_rows, oracle, play

NUMBERS = [None, math.nan, -math.inf, -1.0, 0.0, 2.0]
TEXTS = [None, "", "a", "ab"]
DOMAINS: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "list": (pa.list_(pa.float64()), st.lists(st.sampled_from(NUMBERS), max_size=3)),
    "large": (pa.large_list(pa.bool_()), st.lists(st.sampled_from([None, False, True]), max_size=2)),
    "vector": (pa.list_(pa.float32(), 2), st.lists(st.sampled_from(NUMBERS), min_size=2, max_size=2)),
    "lists": (pa.list_(pa.list_(pa.string())), st.lists(st.none() | st.lists(st.sampled_from(TEXTS), max_size=2))),
    "map": (
        pa.map_(pa.string(), pa.int64()),
        st.lists(st.tuples(st.sampled_from(["", "b"]), st.sampled_from([None, 1]))),
    ),
    "structure": (
        pa.struct({"a": pa.int64(), "b": pa.list_(pa.string())}),
        st.fixed_dictionaries({"a": st.sampled_from([None, 1, 2]), "b": st.lists(st.sampled_from(TEXTS), max_size=2)}),
    ),
    "entries": (
        pa.list_(pa.struct({"a": pa.float64(), "m": pa.map_(pa.string(), pa.int64())})),
        st.lists(
            st.none()
            | st.fixed_dictionaries(
                {
                    "a": st.sampled_from(NUMBERS),
                    "m": st.none() | st.lists(st.tuples(st.just("b"), st.just(1)), max_size=1),
                }
            ),
            max_size=2,
        ),
    ),
}


@settings(max_examples=100)
@given(st.sets(st.sampled_from(list(DOMAINS)), min_size=1, max_size=3), st.data())
def test_the_largest_is_the_answer(names: set[str], data: st.DataObject) -> None:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()} | {name: DOMAINS[name][0] for name in sorted(names)})
    values = st.tuples(
        st.sampled_from([3, 3, 4]),
        st.sampled_from([1, 1, 2]),
        *(st.none() | DOMAINS[name][1] for name in sorted(names)),
    )
    rows = data.draw(st.lists(values, min_size=2, max_size=8))
    direction = data.draw(st.sampled_from(["backward", "forward", "nearest"]))
    answered = dv.stream("T", schema=schema.empty_table().select(["ts", "k"]).schema, time="ts")
    stream = dv.stream("Q", schema=schema, time="ts", delay="9 us", asof=dv.asof(direction))
    query = dv.join(answered, stream, on="T.k = Q.k", select=", ".join(f"Q.{name}" for name in sorted(names)))
    asked = Push.of("T", pa.table({"ts": [3, 3, 4], "k": [1, 2, 1]}, answered.schema))

    def pushes(order: list[tuple[Any, ...]]) -> list[Any]:
        table = pa.table([[row[at] for row in order] for at in range(len(schema))], schema)
        return [*(Push.of("Q", table.slice(at, 3)) for at in range(0, len(order), 3)), asked, Close()]

    expected = oracle(query.model, pushes(rows)).rows
    assert_same_rows(play(query.local(), pushes(rows)), expected)
    assert_same_rows(play(query.local(), pushes(data.draw(st.permutations(rows)))), expected)
