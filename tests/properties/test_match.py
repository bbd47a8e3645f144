"""Only the first, last or nearest partner: what is left of the oracle's ordinary join, embedded and in any cut."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.stream import MATCHES, Stream
from dovetail.model.window import TimeWindow
from dovetail.testing import Script, assert_same_rows, oracle, play
from tests.properties import rows
from tests.properties.queries import BANDS, EQUALITIES, Draw, RandomQuery
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS, resumed


@st.composite
def match_queries(draw: Draw) -> RandomQuery:
    """Rows of A with one partner in B; of the columns every one, so that partners can be told apart."""
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    match = draw(st.sampled_from(MATCHES))
    length = draw(st.integers(0, 8))
    other = length if match == "nearest" else draw(st.integers(0, 8))
    a = Stream("A", columns, "ts", TimeWindow(length), draw(st.sampled_from([0, 2, 6])))
    b = Stream("B", columns, "ts", TimeWindow(other), draw(st.sampled_from([0, 2, 6])), match=match)
    on = draw(st.sampled_from([*EQUALITIES, *EQUALITIES, *BANDS])).format(a="A", b="B")
    streams = draw(st.permutations([a, b]))
    return RandomQuery(
        tuple(streams), on, "A.ts AS at, A.i AS ai, A.s AS a_s, B.ts AS bt", draw(st.sampled_from(["inner", "left"]))
    )


def chosen(drawn: RandomQuery, script: Script) -> set[Any]:
    """Of the ordinary join of both streams, for each row of A the time of the partner that stays."""
    match = next(each.match for each in drawn.streams if each.match)
    plain = replace(drawn, streams=tuple(replace(each, match=None) for each in drawn.streams), how="inner")
    found: dict[Any, list[Any]] = {}
    for row in oracle(plain.build().model, script).rows.to_pylist():
        found.setdefault((row["at"], row["ai"], row["a_s"]), []).append(row["bt"])
    if match == "nearest":
        return {(key, min(times, key=lambda time: (abs(time - key[0]), time))) for key, times in found.items()}
    return {(key, min(times) if match == "first" else max(times)) for key, times in found.items()}


@given(st.data())
def test_the_partner_that_stays_is_the_first_last_or_nearest_of_the_ordinary_join(data: st.DataObject) -> None:
    drawn = data.draw(match_queries())
    script = data.draw(scripts(drawn, late=False))
    found = play(drawn.build().local(), script).to_pylist()
    partners = {((row["at"], row["ai"], row["a_s"]), row["bt"]) for row in found if row["bt"] is not None}
    plain_keys = {key for key, _ in partners}
    assert partners == chosen(drawn, script)
    assert not any((row["at"], row["ai"], row["a_s"]) in plain_keys for row in found if row["bt"] is None)


@given(st.data())
def test_matches_are_those_of_the_oracle_in_order_and_over_a_pause(data: st.DataObject) -> None:
    drawn = data.draw(match_queries())
    script = data.draw(scripts(drawn, tied=data.draw(st.booleans())))
    query = drawn.build(order=data.draw(st.sampled_from(ORDERS)))
    found = resumed(query, script, data.draw(st.integers(0, len(script) - 1)))
    assert_same_rows(found, oracle(query.model, script).rows)


@given(st.data())
def test_text_says_the_same(data: st.DataObject) -> None:
    drawn = data.draw(match_queries())
    script = data.draw(scripts(drawn))
    streams = sorted(drawn.streams, key=lambda each: each.name)
    words = "LEFT JOIN" if drawn.how == "left" else "JOIN"
    query = dv.sql(f"SELECT {drawn.select} FROM A {words} B ON {drawn.on}", *streams)
    assert_same_rows(play(query.local(), script), oracle(drawn.build().model, script).rows)
