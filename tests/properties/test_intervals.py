"""Joins whose conditions on times say all that windows would: nothing is lost, and nothing is kept for longer."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from dovetail.model.stream import Stream
from dovetail.model.window import TimeWindow
from dovetail.testing import assert_same_rows, oracle, ordered, play
from tests.properties import rows
from tests.properties.queries import EQUALITIES, Draw, RandomQuery
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS, resumed

LONG = TimeWindow(10_000)
INTERVALS = (
    "{b}.ts BETWEEN {a}.ts + INTERVAL '2' MICROSECOND AND {a}.ts + INTERVAL '5' MICROSECOND",
    "{a}.ts - {b}.ts BETWEEN INTERVAL '-3' MICROSECOND AND INTERVAL '1' MICROSECOND",
    "{b}.ts > {a}.ts AND {b}.ts < {a}.ts + INTERVAL '4' MICROSECOND",
    "{a}.ts = {b}.ts",
)


@st.composite
def interval_queries(draw: Draw, most: int = 4) -> RandomQuery:
    """A chain or star of streams without windows, an interval and perhaps an equality on every edge."""
    names = list("ABCD"[: draw(st.integers(2, most))])
    columns = rows.schema(next(iter(rows.KEYS)))
    streams = tuple(Stream(name, columns, "ts", delay_us=draw(st.sampled_from([0, 2, 6]))) for name in names)
    on = []
    for place, name in enumerate(names[1:], 1):
        other = names[draw(st.integers(0, place - 1))]
        first, second = draw(st.permutations([name, other]))
        on.append(draw(st.sampled_from(INTERVALS)).format(a=first, b=second))
        if draw(st.booleans()):
            on.append(draw(st.sampled_from(EQUALITIES)).format(a=first, b=second))
    return RandomQuery(
        streams, " AND ".join(on), ", ".join(f"{name}.ts AS {name}, {name}.i AS {name}i" for name in names)
    )


@given(st.data())
def test_implied_windows_lose_nothing(data: st.DataObject) -> None:
    drawn = data.draw(interval_queries())
    script = data.draw(scripts(drawn))
    query = drawn.build(order=data.draw(st.sampled_from(["none", *ORDERS])))
    long = drawn.with_windows(*[LONG] * len(drawn.streams)).build()
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert query.model.order == "none" or ordered(found)
    assert_same_rows(found, oracle(long.model, script).rows)


@given(st.data())
def test_rows_without_a_partner_come_out_when_their_interval_is_over(data: st.DataObject) -> None:
    drawn = data.draw(interval_queries(most=2))
    drawn = replace(drawn, how=data.draw(st.sampled_from(["left", "right", "full"])))
    script = data.draw(scripts(drawn))
    query = drawn.build()
    assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)
