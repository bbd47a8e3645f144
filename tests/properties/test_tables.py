"""Tables beside streams against the oracle: versions that come in any order, rows that wait for them, pauses, cuts."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dovetail.model.asof import AsOf
from dovetail.model.stream import Stream
from dovetail.model.table import Table
from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties import rows
from tests.properties.queries import BANDS, EQUALITIES, FILTERS, RESIDUALS, Draw, RandomQuery, outputs
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_asof import asof_settings, few_rows_are_cleared_away
from tests.properties.test_orders import ORDERS, resumed

__all__ = ["few_rows_are_cleared_away"]
KEYS = [("i",), ("s",), ("j",), ("i", "s")]


@st.composite
def table_queries(draw: Draw) -> RandomQuery:
    """A stream that is answered, one or two tables, and now and then an as-of stream."""
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    names = list("ABCD"[: draw(st.integers(2, 4))])
    answered = draw(st.sampled_from(names))
    streams, on = [], []
    for name in names:
        delay, table, asof = draw(st.sampled_from([0, 0, 2, 6])), None, None
        if name != answered and (draw(st.booleans()) or len(names) == 2):
            ready = draw(st.sampled_from([None, 20, 24, 30, 10**15 + 3]))
            table, asof = (
                Table(draw(st.sampled_from(KEYS)), ready),
                AsOf(tolerance_us=draw(st.sampled_from([None, None, 1, 4]))),
            )
            on += [f"{answered}.{column} = {name}.{column}" for column in table.key]
            further = draw(st.sampled_from(["", "", *BANDS, *RESIDUALS, *EQUALITIES, *FILTERS]))
            on += [further.format(a=name, b=answered)] if further else []
        elif name != answered:
            asof = draw(asof_settings())
            on.append(draw(st.sampled_from(EQUALITIES)).format(a=answered, b=name))
        streams.append(Stream(name, columns, "ts", delay_us=delay, asof=asof, table=table))
    if draw(st.integers(0, 4)) == 4:
        on.append(draw(st.sampled_from(FILTERS)).format(a=answered))
    how = draw(st.sampled_from(["inner", "left", "left"]))
    return RandomQuery(tuple(streams), " AND ".join(on), outputs(draw, names), how)


@given(st.data())
def test_tables_give_what_the_oracle_gives(data: st.DataObject) -> None:
    drawn = data.draw(table_queries())
    script = data.draw(scripts(drawn, ticks=True, tied=data.draw(st.booleans())))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)


@given(st.data())
def test_tables_with_an_order_and_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(table_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert ordered(found)
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_tables_depend_neither_on_cuts_nor_on_the_order_of_arguments(data: st.DataObject) -> None:
    drawn = data.draw(table_queries())
    select = ", ".join(f"{each.name}.ts AS {each.name}t, {each.name}.i AS {each.name}i" for each in drawn.streams)
    without = tuple(
        replace(each, table=each.table and replace(each.table, ready_us=None)) for each in drawn.streams
    )  # what follows the others may be late, depending on the cut
    drawn = replace(drawn, select=select, streams=without)
    script = data.draw(scripts(drawn, late=False, tied=True))
    expected = play(drawn.build().local(), one_by_one(script))
    other = replace(drawn, streams=tuple(data.draw(st.permutations(drawn.streams))))
    assert_same_rows(play(other.build().local(), data.draw(recut(script))), expected)
