"""Snapshots: taken anywhere, refused when damaged, cut or foreign, with exactly these words."""

import json
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.engine.operator.snapshot import pack_snapshot, unpack_snapshot
from dovetail.model.fingerprint import fingerprint
from dovetail.runtime.threads.cells import Cells
from tests.properties.test_threads import small_pushes

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "l": pa.list_(pa.int64())})
NOT_ONE = (
    "this is not a Dovetail snapshot; give the bytes that run.snapshot() returned. What a query has left in a "
    "checkpoint of Spark goes on with query.migrate(checkpoint, into=...)."
)
DAMAGED = "this snapshot is damaged: its contents do not match their digest. Use an earlier one."
FOREIGN = (
    "this snapshot belongs to another query: its streams, predicates, windows or select list differ. "
    "Go on with query.resume(snapshot, of=the query that made it), or start without a snapshot."
)


def query(window: str = "1 minute", **options: Any) -> dv.Query:
    a, b = (dv.stream(name, time="ts", window=window, schema=SCHEMA) for name in "AB")
    return dv.join(a, b, **{"on": "A.k = B.k", "select": "A.l, B.k"} | options)


@pytest.fixture
def snapshot() -> bytes:
    run = query().local()
    run.push("A", [{"ts": place, "k": place, "l": [place]} for place in range(5000)])
    return run.snapshot()


def refused(data: object, join: dv.Query | None = None) -> str:
    with pytest.raises(dv.StateError) as caught:
        (join or query()).local(snapshot=data)  # type: ignore[arg-type]
    return str(caught.value)


def test_a_run_goes_on_from_its_snapshot(snapshot: bytes) -> None:
    run = query().local(snapshot=snapshot)
    assert run.push("B", [{"ts": 9999, "k": 4321}]).select(["l", "k"]).to_pylist() == [{"l": [4321], "k": 4321}]
    assert run.metrics()["streams"]["A"]["rows"] == 5000


def test_a_snapshot_is_the_same_after_coming_back(snapshot: bytes) -> None:
    assert query().local(snapshot=snapshot).snapshot() == snapshot


@pytest.mark.parametrize("data", [b"", b"hello", b"DOVETAI", "text", None.__class__, bytearray(b"DOVETAIL")])
def test_what_is_no_snapshot(data: object) -> None:
    assert refused(data) == NOT_ONE


def test_a_snapshot_cut_anywhere(snapshot: bytes) -> None:
    for end in [*range(8, 60), len(snapshot) // 2, len(snapshot) - 1]:
        assert refused(snapshot[:end]) == DAMAGED


def test_a_snapshot_with_one_bit_changed(snapshot: bytes) -> None:
    for place in [9, 24, 25, 40, len(snapshot) // 2, len(snapshot) - 1]:
        damaged = bytearray(snapshot)
        damaged[place] ^= 1
        assert refused(bytes(damaged)) == DAMAGED
    assert refused(snapshot + b"\x00") == DAMAGED


def test_a_snapshot_of_another_format(snapshot: bytes) -> None:
    other = snapshot[:8] + b"\x09" + snapshot[9:]
    assert refused(other) == (
        "this snapshot has format 9; this version of Dovetail reads format 1. Go on with the release that wrote it, "
        "or a newer one."
    )


@pytest.mark.parametrize(
    "join",
    [
        query("2 minutes"),
        query(on="A.k = B.k AND A.k > 0"),
        query(select="A.l"),
        query(how="left"),
        query(order="hold"),
        query(late="keep"),
    ],
)
def test_a_snapshot_of_another_query(snapshot: bytes, join: dv.Query) -> None:
    assert refused(snapshot, join) == FOREIGN


def test_columns_of_the_result_may_be_called_otherwise_though_rows_are_held() -> None:
    before = query(select="B.k AS old", order="hold").local()
    before.push("A", [{"ts": 10, "k": 1}])
    assert before.push("B", [{"ts": 20, "k": 1}]).num_rows == 0
    after = query(select="B.k AS new", order="hold").local(snapshot=before.snapshot())
    assert after.push("A", [{"ts": 20, "k": 1}]).column_names == ["result_time", "new"]
    assert after.metrics()["results"] > 0


def test_counters_survive() -> None:
    join = query(late="keep", order="hold")
    run = join.local()
    run.push("A", [{"ts": 10**8, "k": 1}, {"ts": 2 * 10**8, "k": 1}])
    run.push("B", [{"ts": 2 * 10**8, "k": 1}])
    run.push("A", [{"ts": 10**8 + 5 * 10**7, "k": 1}])
    run.push("B", [{"ts": 10**8, "k": 1}])
    before = run.metrics()
    after = join.local(snapshot=run.snapshot()).metrics()
    for metrics in (before, after):
        del metrics["bytes"]
        for stream in metrics["streams"].values():
            del stream["bytes"]
    assert after == before
    assert before["late_results"] > 0


@pytest.mark.parametrize("algorithm", ["hash", "scan"])
def test_rows_that_came_out_of_order_are_found_again(algorithm: str) -> None:
    """A slice holds what several pushes brought: it need not be in order by itself."""
    a, b = (dv.stream(name, time="ts", window="13 us", delay="6 us", schema=SCHEMA) for name in "AB")
    join = dv.join(a, b, on="A.k = B.k", select="A.ts AS t", algorithm=algorithm)
    run = join.local()
    for time in (21, 16):
        run.push("A", [{"ts": time, "k": 1}])
    run = join.local(snapshot=run.snapshot())
    run.push("A", [{"ts": 23, "k": 1}])
    assert run.push("B", [{"ts": 30, "k": 1}]).num_rows == 2


VALUES: list[Any] = [None, "x", "12", -1, 2**62 + 1, 2**63, -(10**30), 1.5, float("nan"), True, [], {}, [1], {"a": 1}]
KINDS: list[dict[str, Any]] = [
    {"late": "divert"},
    {"how": "full", "order": "sync"},
    {"how": "semi", "order": "hold"},
    {"window": dv.rows(3, per="key")},
    {"budget": dv.budget(memory=dv.tuples(30), policy="spill")},
]


SHORT: list[dict[str, Any]] = [
    {"budget": dv.budget(cpu=0.3)},
    {"budget": dv.budget(cpu=1e-7, policy="drop")},
    {"budget": dv.budget(memory=dv.tuples(30))},
    {"budget": dv.budget(cpu=0.3, memory=dv.tuples(30))},
    {"order": "adaptive"},
    {"on_error": "divert"},
    {"select": "COUNT(*) AS n, SUM(A.k) AS s"},
    {"on": "A.k = B.k AND B.k = C.k", "plan": "binary"},
    {"on": "A.k = B.k AND B.k = C.k", "plan": "auto", "budget": dv.budget(cpu=0.3)},
    {"threads": 2},
    {"asof": dv.asof()},
]
FEWER: list[Any] = [None, "x", -1, float("nan"), [], {"a": 1}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every field of a header; of a list its first item."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for name, part in inside:
        yield from places(part, (*path, name))


def edited(header: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The header with another value at a place; without it, if that is ``edited`` itself."""
    copy = json.loads(json.dumps(header))
    inner = copy
    for name in path[:-1]:
        inner = inner[name]
    if new is edited:
        del inner[path[-1]]
    else:
        inner[path[-1]] = new
    return copy


@pytest.mark.parametrize("options", KINDS, ids=str)
def test_a_header_edited_anywhere_is_refused_or_works(options: dict[str, Any], tmp_path: Path) -> None:
    if "budget" in options:
        options = {"budget": replace(options["budget"], folder=str(tmp_path))}
    streams = [dv.stream(n, time="ts", schema=SCHEMA, idle="5 us") for n in "AB"]
    join = dv.join(*streams, **{"on": "A.k = B.k", "select": "A.k", "window": "20 us"} | options)
    run = join.local()
    for name in "AB":
        run.push(name, [{"ts": time, "k": time % 3} for time in range(25)])
    run.tick(0)
    state = unpack_snapshot(run.snapshot(), fingerprint(join.model))
    whole = json.loads(state.header)
    for path in places(whole):
        for new in (*VALUES, edited):
            other = replace(state, header=json.dumps(edited(whole, path, new)).encode())
            with suppress(dv.StateError):
                go_on(join.local(snapshot=pack_snapshot(fingerprint(join.model), other)))


@pytest.mark.parametrize("options", SHORT, ids=str)
def test_what_control_and_budgets_wrote_is_refused_or_works(options: dict[str, Any]) -> None:
    """Of every kind of operator, the parts of its header that others do not have."""
    given = {"on": "A.k = B.k", "select": "A.k", **options}
    threads, asof = given.pop("threads", 1), given.pop("asof", None)
    names = "ABC" if "C.k" in given["on"] else "AB"
    window = {"asof": asof} if asof else {"window": "20 us"}
    streams = [dv.stream(n, time="ts", schema=SCHEMA, **window if n != "A" or not asof else {}) for n in names]
    join = dv.join(*streams, **given)
    run = join.local(threads=threads)
    with small_pushes():
        for turn in range(3):
            for name in names:
                run.push(name, [{"ts": 9 * turn + at, "k": at % 3} for at in range(9)])
            run.tick(6_000_000 * turn)
    assert threads == 1 or (isinstance(run.operator, Cells) and len(run.operator.cells) == threads)
    state = unpack_snapshot(run.snapshot(), fingerprint(join.model))
    whole, tried = json.loads(state.header), 0
    for path in places(whole):
        if not {"window", "inputs", "watermarks", "delivered"} & {str(part).partition("/")[0] for part in path}:
            for new in (*FEWER, edited):
                tried += 1
                other = replace(state, header=json.dumps(edited(whole, path, new)).encode())
                with suppress(dv.StateError), warnings.catch_warnings(action="ignore"):
                    go_on(join.local(snapshot=pack_snapshot(fingerprint(join.model), other), threads=threads), names)
    assert tried > 20


def shared(*windows: str) -> dv.SharedQuery:
    return dv.share(*(query(f"{window} seconds").named(f"q{window}") for window in windows))


def shared_snapshot() -> bytes:
    """Of a group in which one query has been from the start, and another joined it later."""
    run = shared("1").local()
    run.push("A", [{"ts": 10**6, "k": 1}])
    run.add(query("3 seconds").named("q3"))
    run.push("B", [{"ts": 10**6, "k": 1}])
    return run.snapshot()


@pytest.mark.parametrize("windows", [("1", "3"), ("3",), ("1",), ("3", "1"), ("2", "3")], ids=str)
def test_a_group_goes_on_with_whichever_queries(windows: tuple[str, ...]) -> None:
    run = shared(*windows).local(snapshot=shared_snapshot())
    assert set(run.push("A", [{"ts": 10**6, "k": 1}])["query"].to_pylist()) == {f"q{window}" for window in windows}
    assert shared(*windows).local(snapshot=run.snapshot()).metrics() == run.metrics()


def test_a_header_of_a_group_edited_anywhere_is_refused_or_works() -> None:
    state = unpack_snapshot(shared_snapshot(), "shared")
    whole = json.loads(state.header)
    ((place, own),) = whole["operators"].items()
    group = json.loads(own)
    for path in places(group["sections"]["group"], ("sections", "group")):
        for new in (*VALUES, edited):
            whole["operators"][place] = json.dumps(edited(group, path, new))
            with suppress(dv.StateError):
                other = replace(state, header=json.dumps(whole).encode())
                run = shared("1", "3").local(snapshot=pack_snapshot("shared", other))
                run.add(query("5 seconds").named("q5"))
                go_on(run)


def go_on(run: Any, names: str = "AB") -> None:
    for name in names:
        run.push(name, [{"ts": 30, "k": 1}])
    run.tick(30_000_000)
    run.advance("A", 40)
    run.metrics()
    run.snapshot()
    run.close()
