"""As-of joins of any number of streams against the oracle."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.model.asof import AsOf
from dovetail.model.stream import Stream
from dovetail.runtime.threads import pays
from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties import rows
from tests.properties.queries import (
    ALTERNATIVES,
    BANDS,
    DERIVED,
    EQUALITIES,
    FILTERS,
    NULL_SAFE,
    RESIDUALS,
    SIMILARITIES,
    Draw,
    RandomQuery,
    outputs,
)
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_orders import ORDERS, resumed

KEYED = [EQUALITIES, EQUALITIES, DERIVED, NULL_SAFE]
FURTHER = [BANDS, SIMILARITIES, RESIDUALS, ALTERNATIVES]


@pytest.fixture(scope="module", autouse=True)
def few_rows_are_cleared_away() -> Iterator[None]:
    """Rows that are gone are cleared away all the time, as with many rows they are now and then."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dovetail.engine.asof.chains._FEW", 1)
        patched.setattr("dovetail.engine.asof.chains._PAIRS", 3)
        patched.setattr("dovetail.engine.asof.stored._SLICE_ROWS", 3)
        yield


@st.composite
def asof_settings(draw: Draw) -> AsOf:
    direction = draw(st.sampled_from(["backward", "backward", "forward", "nearest"]))
    tolerance = draw(st.sampled_from([None, None, 1, 3, 8]))
    offset = draw(st.sampled_from([0, 0, 0, -3, 2]))
    return AsOf(direction, tolerance, draw(st.booleans()), offset_us=offset)


@st.composite
def asof_queries(draw: Draw) -> RandomQuery:
    """One answered stream among one to three as-of streams, each tied to it."""
    names = list("ABCD"[: draw(st.integers(2, 4))])
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    answered = draw(st.sampled_from(names))
    streams, on = [], []
    for name in names:
        delay = draw(st.sampled_from([0, 0, 2, 6]))
        asof = None if name == answered else draw(asof_settings())
        streams.append(Stream(name, columns, "ts", delay_us=delay, asof=asof))
        if asof is not None:
            further = draw(st.integers(0, 3)) == 3 and asof.tolerance_us is not None
            kinds = [*KEYED, *FURTHER] if further else KEYED
            on.append(draw(st.sampled_from(draw(st.sampled_from(kinds)))).format(a=answered, b=name))
            if further:
                on.append(draw(st.sampled_from(draw(st.sampled_from(FURTHER)))).format(a=name, b=answered))
        if draw(st.integers(0, 5)) == 5:
            on.append(draw(st.sampled_from(FILTERS)).format(a=name))
    how = draw(st.sampled_from(["inner", "left", "left"]))
    return RandomQuery(tuple(streams), " AND ".join(on), outputs(draw, names), how)


def with_a_word_each(draw: Draw, drawn: RandomQuery) -> dict[str, str]:
    return {each.name: draw(st.sampled_from(["inner", "left"])) for each in drawn.streams if each.asof is not None}


@given(st.data())
def test_asof_joins_give_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries())
    script = data.draw(scripts(drawn, ticks=True, tied=data.draw(st.booleans())))
    query = drawn.build(how=with_a_word_each(data.draw, drawn))
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_asof_joins_in_order_with_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert ordered(found)
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_asof_joins_in_threads_with_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    threads = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pays, "LARGE_ROWS", 2)
        patched.setattr(pays, "_FEW_PUSHES", 1)
        found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)), threads)
    assert query.model.order == "none" or ordered(found)
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_asof_joins_depend_neither_on_cuts_nor_on_the_order_of_arguments(data: st.DataObject) -> None:
    drawn = data.draw(asof_queries())
    names = [each.name for each in drawn.streams]
    select = ", ".join(f"{name}.ts AS {name}t, {name}.i AS {name}i, {name}.v AS {name}v" for name in names)
    drawn = replace(drawn, select=select)
    script = data.draw(scripts(drawn, late=False, tied=True))
    expected = play(drawn.build().local(), one_by_one(script))
    other = replace(drawn, streams=tuple(data.draw(st.permutations(drawn.streams))))
    assert_same_rows(play(other.build().local(), data.draw(recut(script))), expected)
