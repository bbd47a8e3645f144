"""ASOF JOIN as text, of one stream or several, as Snowflake and as DuckDB write it: what calls and the oracle give."""

from dataclasses import dataclass, replace

from hypothesis import event, given, settings
from hypothesis import strategies as st

import dovetail as dv
from dovetail.model.asof import AsOf
from dovetail.model.stream import Stream
from dovetail.testing import assert_same_rows, oracle, play
from tests.properties import rows
from tests.properties.queries import EQUALITIES, FILTERS, NULL_SAFE, Draw, RandomQuery
from tests.properties.scripts import scripts


@dataclass(frozen=True)
class Spelled(RandomQuery):
    """A query as calls, and the same as text."""

    text: str = ""


def shifted(column: str, us: int) -> str:
    return f"{column} {'+' if us > 0 else '-'} INTERVAL '{abs(us) / 1_000_000:.6f}' SECOND" if us else column


def comparison(draw: Draw, name: str, sign: str, us: int) -> str:
    """A.ts [sign] B.ts + us, in one of the ways to write it."""
    other = {">": "<", ">=": "<=", "<": ">", "<=": ">="}[sign]
    return str(
        draw(
            st.sampled_from(
                [
                    f"A.ts {sign} {shifted(f'{name}.ts', us)}",
                    f"{shifted('A.ts', -us)} {sign} {name}.ts",
                    f"{shifted(f'{name}.ts', us)} {other} A.ts",
                ]
            )
        )
    )


@st.composite
def settings_with_text(draw: Draw, name: str) -> tuple[AsOf, str, str]:
    """Which row is the best; the comparison that says so, and the bound that is its tolerance, if any."""
    backward, equal = draw(st.booleans()), draw(st.booleans())
    tolerance = draw(st.sampled_from([None, None, 1, 3, 8]))
    sides = [0, 0, -3, -1] if backward else [0, 0, 2, 5]  # with a tolerance both bounds lie on one side of the row
    offset = draw(st.sampled_from(sides if tolerance is not None else [0, 0, -3, 2]))
    nearer, farther = (">", "<") if backward else ("<", ">")
    best = comparison(draw, name, nearer + "=" * equal, -offset)
    bound = ""
    if tolerance is not None:
        last = -offset + (tolerance if backward else -tolerance)
        strict = draw(st.booleans())
        bound = comparison(draw, name, farther + "=" * (not strict), last + strict * (1 if backward else -1))
    return AsOf("backward" if backward else "forward", tolerance, equal, offset_us=offset), best, bound


@st.composite
def spelled_queries(draw: Draw) -> Spelled:
    names = list("ABCD"[: draw(st.sampled_from([2, 3, 3, 4]))])
    columns = rows.schema(draw(st.sampled_from(list(rows.KEYS))))
    streams = [Stream("A", columns, "ts", delay_us=draw(st.sampled_from([0, 2])))]
    on, joins, how = list[str](), list[str](), dict[str, str]()
    for name in names[1:]:
        asof, best, bound = draw(settings_with_text(name))
        key = draw(st.sampled_from([*EQUALITIES, *NULL_SAFE])).format(a="A", b=name)
        own = [draw(st.sampled_from(FILTERS)).format(a=name)] if draw(st.integers(0, 4)) == 4 else []
        how[name] = draw(st.sampled_from(["inner", "left"]))
        word = "ASOF LEFT JOIN" if how[name] == "left" else "ASOF JOIN"
        further = [key, *own, *([bound] if bound else [])]
        if draw(st.booleans()):
            joins.append(f"{word} {name} MATCH_CONDITION ({best}) ON {' AND '.join(further)}")
        else:
            joins.append(f"{word} {name} ON {' AND '.join(draw(st.permutations([best, *further])))}")
        on += [key, *own]
        streams.append(Stream(name, columns, "ts", delay_us=draw(st.sampled_from([0, 2, 6])), asof=asof))
    select = ", ".join(f"{name}.ts AS {name}t, {name}.i AS {name}i, {name}.x AS {name}x" for name in names)
    where = ""
    if "left" not in how.values() and draw(st.booleans()):
        where = draw(st.sampled_from(FILTERS)).format(a="A")
        on.append(where)
    text = f"SELECT {select} FROM A {' '.join(joins)}{' WHERE ' if where else ''}{where}"
    event(f"{len(joins)} ASOF JOINs")
    return Spelled(tuple(streams), " AND ".join(on), select, how, text)  # type: ignore[arg-type]


@settings(max_examples=60)
@given(st.data())
def test_text_calls_and_the_oracle_agree(data: st.DataObject) -> None:
    drawn = data.draw(spelled_queries())
    script = data.draw(scripts(drawn, tied=data.draw(st.booleans())))
    called = drawn.build()
    written = dv.sql(drawn.text, *(replace(each, asof=None) for each in drawn.streams))
    assert [each.asof for each in written.model.streams] == [each.asof for each in called.model.streams]
    expected = oracle(called.model, script).rows
    assert_same_rows(play(called.local(), script), expected)
    assert_same_rows(play(written.local(), script), expected)
