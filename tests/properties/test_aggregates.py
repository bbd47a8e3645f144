"""Sliding aggregates give what counting everything again at every moment gives, however input is cut or paused."""

import pyarrow as pa
from hypothesis import event, given
from hypothesis import strategies as st

import dovetail as dv
from dovetail.testing import Script, assert_same_rows, oracle, ordered, play, play_event
from dovetail.testing.compare import canonical
from dovetail.testing.sliding import aggregated
from tests.properties.queries import Draw, RandomQuery, queries
from tests.properties.scripts import one_by_one, recut, scripts
from tests.properties.test_outer import outer_queries

AGGREGATES = (
    "COUNT(*) AS n{at}",
    "COUNT({a}.s) AS c{at}",
    "COUNT(DISTINCT {a}.s) AS ds{at}",
    "COUNT(DISTINCT {a}.x) AS dx{at}",
    "COUNT(DISTINCT {a}.j) AS dj{at}",
    "SUM({a}.i % 1000) AS si{at}",
    "SUM({a}.x) AS sx{at}",
    "SUM(CAST({a}.i AS DECIMAL(30, 2))) AS sd{at}",
    "AVG({a}.i) AS ai{at}",
    "AVG({a}.x) AS ax{at}",
    "MIN({a}.s || 'long prefix' || {b}.s) AS ms{at}",
    "MAX({a}.s) AS xs{at}",
    "MIN({a}.x) AS mx{at}",
    "MAX({a}.x) AS xx{at}",
    "MIN({a}.j) AS mj{at}",
    "MAX({a}.j) AS xj{at}",
    "MAX({a}.i) - MIN({b}.i) AS span{at}",
    "COALESCE(SUM({a}.x), 0) / (COUNT(*) + 1) AS q{at}",
)
KEYS = ("{a}.i", "{a}.s", "{a}.x", "{a}.j", "{a}.i % 2", "{a}.s || {b}.s")


@st.composite
def aggregating(draw: Draw, most: int = 3) -> tuple[RandomQuery, dv.Query]:
    """A random join with random aggregates, of one group or of many, in any order."""
    drawn: RandomQuery = draw(queries(most=most))
    names = [stream.name for stream in drawn.streams]
    pair = st.permutations(names)

    def made(choices: tuple[str, ...], at: int) -> str:
        a, b = draw(pair)[:2]
        return str(draw(st.sampled_from(choices)).format(a=a, b=b, at=at))

    items = [made(AGGREGATES, at) for at in range(draw(st.integers(1, 4)))]
    keys = [made(KEYS, at) for at in range(draw(st.integers(0, 2)))]
    text = ", ".join([*(f"{key} AS k{at}" for at, key in enumerate(keys)), *items])
    text = f"SELECT {text} FROM {', '.join(names)} WHERE {drawn.on}"
    text += f" GROUP BY {', '.join(keys)}" if keys else ""
    text += draw(
        st.sampled_from(["", "", " HAVING COUNT(*) > 1", f" HAVING MAX({names[0]}.x) > 0 AND COUNT(*) % 2 = 1"])
    )
    order = draw(st.sampled_from(["none", "sync", "hold", "adaptive"]))
    return drawn, dv.sql(text, *drawn.streams, order=order)


@given(st.data())
def test_aggregates_are_those_of_counting_again(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating())
    script = data.draw(scripts(drawn, ticks=True))
    expected = oracle(query.model, script).rows
    event(f"rows: {'some' if expected.num_rows else 'none'}")
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, expected)


@given(st.data())
def test_distinct_rows_come_out_when_they_appear(data: st.DataObject) -> None:
    drawn: RandomQuery = data.draw(queries(most=3))
    names = [stream.name for stream in drawn.streams]
    keys = data.draw(st.lists(st.sampled_from(KEYS), min_size=1, max_size=2, unique=True))
    items = ", ".join(f"{key.format(a=names[0], b=names[1])} AS k{at}" for at, key in enumerate(keys))
    query = dv.sql(f"SELECT DISTINCT {items} FROM {', '.join(names)} WHERE {drawn.on}", *drawn.streams)
    script = data.draw(scripts(drawn, ticks=True))
    every = oracle(query.replace(aggregation=None).model, script).rows
    rows = play(query.local(), data.draw(recut(script)) if data.draw(st.booleans()) else script)
    assert_same_rows(rows, oracle(query.model, script).rows)
    assert_same_rows(rows, appearing(every, len(keys)))


def appearing(joined: pa.Table, keys: int) -> pa.Table:
    """By definition: a row at each time of a result such that no equal result counted just before."""
    found: set[tuple[object, ...]] = set()
    times = joined["result_time"].cast(pa.int64()).to_pylist()
    rows = [
        (row["result_time"], us, row["until"], tuple(canonical(row[f"key {at}"]) for at in range(keys)), row)
        for row, us in zip(joined.to_pylist(), times, strict=True)
    ]
    kept = []
    for time, us, _, key, row in rows:
        if (us, key) in found or any(other == key and begun < us <= until + 1 for _, begun, until, other, _ in rows):
            continue
        found.add((us, key))
        kept.append({"result_time": time, **{f"k{at}": row[f"key {at}"] for at in range(keys)}})
    fields = [joined.schema.field(0), *(joined.schema.field(f"key {at}").with_name(f"k{at}") for at in range(keys))]
    return pa.Table.from_pylist(kept, pa.schema(fields))


@given(st.data())
def test_aggregates_do_not_depend_on_how_input_is_cut(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating())
    script = data.draw(scripts(drawn, late=False))
    expected = play(query.local(), one_by_one(script))
    assert_same_rows(play(query.local(), script), expected)
    assert_same_rows(play(query.local(), data.draw(recut(script))), expected)


@given(st.data())
def test_aggregates_survive_pauses(data: st.DataObject) -> None:
    drawn, query = data.draw(aggregating(most=2))
    script = data.draw(scripts(drawn))
    pauses = data.draw(st.sets(st.integers(0, len(script) - 1), max_size=3))
    assert_same_rows(paused(query, script, pauses), oracle(query.model, script).rows)


@given(st.data())
def test_kept_late_rows_change_only_what_is_still_to_come(data: st.DataObject) -> None:
    drawn, strict = data.draw(aggregating(most=2))
    query = strict.replace(late="keep")
    script = data.draw(scripts(drawn))
    rows = play(query.local(), script)
    assert ordered(rows)
    outcome = oracle(query.model, script)
    if outcome.exact:
        assert_same_rows(rows, outcome.rows)


@given(st.data())
def test_kept_late_rows_count_where_the_join_itself_gives_them(data: st.DataObject) -> None:
    drawn, strict = data.draw(aggregating(most=2))
    query = strict.replace(late="keep")
    script = data.draw(scripts(drawn))
    joined = play(query.replace(aggregation=None).local(), script)
    rows = play(query.local(), script)
    event(f"rows: {'some' if rows.num_rows else 'none'}")
    assert ordered(rows)
    assert_same_rows(rows, aggregated(query.model, joined))


@given(st.data())
def test_aggregates_of_outer_semi_and_anti_joins(data: st.DataObject) -> None:
    """An unmatched row counts at the one moment at which it leaves its window."""
    drawn = data.draw(outer_queries())
    items = ", ".join(f"COUNT(A.{column}) AS {column}" for column in "isx") + ", COUNT(*) AS n, MAX(A.x) AS m"
    both = drawn.how not in ("semi", "anti")
    order = data.draw(st.sampled_from(["none", "sync", "hold"]))
    query = drawn.build(select=items + ", SUM(B.x) AS b" if both else items, order=order)
    script = data.draw(scripts(drawn))
    rows = play(query.local(), script)
    assert ordered(rows)
    assert_same_rows(rows, oracle(query.model, script).rows)


def paused(query: dv.Query, script: Script, pauses: set[int]) -> pa.Table:
    """Play a script, going on from a snapshot at every pause."""
    run, results = query.local(), []
    for at, happening in enumerate(script):
        if at in pauses:
            run = query.local(snapshot=run.snapshot())
        results.append(play_event(run, happening))
    return pa.concat_tables(results)
