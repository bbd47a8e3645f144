"""Hot keys on several threads: the rows of the oracle, whatever the join, the order, the pauses and what is split."""

from collections.abc import Iterator
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from dovetail.runtime.hot_keys import HotKeys
from dovetail.testing import Close, Push, assert_same_rows, oracle
from tests.properties.hot import eager_splits
from tests.properties.queries import queries
from tests.properties.test_outer import outer_queries
from tests.properties.test_threads import ORDERS, check, played, small_pushes
from tests.spark.queries import SCHEMA, build, random_rows

split: list[int] = []


@pytest.fixture(autouse=True, scope="module")
def keys_split_soon() -> Iterator[None]:
    with eager_splits(), small_pushes(), patch.object(HotKeys, "routes", noted(HotKeys.routes)):
        yield


def noted(routes: object) -> object:
    def found(self: HotKeys, splits: object) -> object:
        split.append(len(self.keys))
        return routes(self, splits)  # type: ignore[operator]

    return found


@given(st.data())
def test_inner_joins(data: st.DataObject) -> None:
    split.clear()
    check(data, data.draw(queries()), order=data.draw(st.sampled_from(ORDERS)))
    event(f"keys split: {max(split, default=0)}")


@given(st.data())
def test_outer_semi_and_anti_joins(data: st.DataObject) -> None:
    split.clear()
    check(data, data.draw(outer_queries()), order=data.draw(st.sampled_from(ORDERS)))
    event(f"keys split: {max(split, default=0)}")


@given(
    st.integers(0, 2**16),
    st.sampled_from(["inner", "left", "right", "semi", "anti", "full"]),
    st.sampled_from(ORDERS),
    st.dictionaries(st.integers(0, 11), st.integers(1, 4), max_size=2),
)
def test_planted_keys(seed: int, how: str, order: str, pauses: dict[int, int]) -> None:
    """One key after the other has most of the rows, each for a while."""
    script: list[Push | Close] = []
    for batch in range(12):
        rows = {
            name: random_rows(seed + 50 * batch + at, 12, 2 * batch, 3, 100 * batch) for at, name in enumerate("AB")
        }
        script.append(Push({name: with_hot_key(table, batch // 4) for name, table in rows.items()}))
    data = {name: SCHEMA.empty_table() for name in "AB"}
    script.append(Close())
    split.clear()
    query = build("A.k = B.k AND A.n <= B.n", data, window={"A": "2 seconds", "B": "1 second"}, how=how, order=order)
    assert_same_rows(played(query, script, pauses), oracle(query.model, script).rows)
    assert max(split) > 0 or how == "full" or pauses
    event(f"keys split: {max(split)}")


def with_hot_key(rows: pa.Table, key: int) -> pa.Table:
    keys = [key if at % 4 else old for at, old in enumerate(rows["k"].to_pylist())]
    return rows.set_column(rows.schema.get_field_index("k"), "k", pa.array(keys, pa.int64()))
