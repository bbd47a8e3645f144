"""Only the first, last or nearest partner: what is left of the oracle's ordinary join, embedded and in any cut."""

from dataclasses import dataclass, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.stream import MATCHES, Stream
from dovetail.model.window import TimeWindow
from dovetail.testing import Push, Script, assert_same_rows, oracle, play
from dovetail.testing.compare import canonical
from tests.properties import rows
from tests.properties.queries import BANDS, EQUALITIES, Draw, RandomQuery
from tests.properties.scripts import scripts
from tests.properties.test_orders import ORDERS, resumed

COMPARED = ("ts", "i", "s", "x", "j")  # columns of A that decide which partners it has
OF_A = ", ".join(f"A.{name} AS a_{name}" for name in COMPARED)


@dataclass(frozen=True)
class Matched(RandomQuery):
    """A stream A with one partner in each of the others; a word and a condition for each of them."""

    how: Any = "inner"
    ties: Any = None


@st.composite
def match_queries(draw: Draw) -> Matched:
    """One to three streams with a match each, so several matches in one query."""
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    length, delays = draw(st.integers(0, 8)), st.sampled_from([0, 2, 6])
    streams, how, ties = [Stream("A", columns, "ts", TimeWindow(length), draw(delays))], {}, {}
    for name in "BCD"[: draw(st.integers(1, 3))]:
        match = draw(st.sampled_from(MATCHES))
        own = length if match == "nearest" else draw(st.integers(0, 8))
        streams.append(Stream(name, columns, "ts", TimeWindow(own), draw(delays), match=match))
        how[name] = draw(st.sampled_from(["inner", "left"]))
        ties[name] = draw(st.sampled_from([*EQUALITIES, *EQUALITIES, *BANDS])).format(a="A", b=name)
    select = ", ".join([OF_A, *(f"{name}.ts AS {name}" for name in how)])
    return Matched(tuple(draw(st.permutations(streams))), " AND ".join(ties.values()), select, how, ties)


def key_of(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a row of A has, of a result or of the stream itself."""
    return tuple(canonical(row.get(f"a_{name}", row.get(name))) for name in COMPARED)


def chosen(drawn: Matched, script: Script, name: str) -> dict[Any, Any]:
    """Of the ordinary join of A with one other stream, for each row of A the time of the partner that stays."""
    pair = [replace(each, match=None) for each in drawn.streams if each.name in ("A", name)]
    (match,) = [each.match for each in drawn.streams if each.name == name]
    plain = dv.join(*pair, on=drawn.ties[name], select=f"{OF_A}, {name}.ts AS partner")
    own = [Push({each: event.batch[each] for each in event.batch if each in ("A", name)}) for event in _pushes(script)]
    found: dict[Any, list[Any]] = {}
    for row in oracle(plain.model, own).rows.to_pylist():
        found.setdefault((row["a_ts"], key_of(row)), []).append(row["partner"])
    if match == "nearest":
        return {key: min(times, key=lambda time: (abs(time - at), time)) for (at, key), times in found.items()}
    return {key: min(times) if match == "first" else max(times) for (_, key), times in found.items()}


def _pushes(script: Script) -> list[Push]:
    return [event for event in script if isinstance(event, Push)]


@given(st.data())
def test_the_partners_that_stay_are_the_first_last_or_nearest_of_ordinary_joins(data: st.DataObject) -> None:
    """Each other stream is matched by itself; where one that must have a partner has none, there is no result."""
    drawn = data.draw(match_queries())
    script = data.draw(scripts(drawn, late=False))
    partners = {name: chosen(drawn, script, name) for name in drawn.how}
    keys = {key_of(row) for push in _pushes(script) if "A" in push.batch for row in push.batch["A"].to_pylist()}
    expected = {
        (key, *(each.get(key) for each in partners.values()))
        for key in keys
        if all(key in partners[name] for name, word in drawn.how.items() if word == "inner")
    }
    found = play(drawn.build().local(), script).to_pylist()
    assert {(key_of(row), *(row[name] for name in partners)) for row in found} == expected


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
    joins = " ".join(f"{word} JOIN {name} ON {drawn.ties[name]}" for name, word in drawn.how.items())
    query = dv.sql(f"SELECT {drawn.select} FROM A {joins}", *streams)
    assert_same_rows(play(query.local(), script), oracle(drawn.build().model, script).rows)
