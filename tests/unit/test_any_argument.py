"""Whatever is given for an argument of a public call: it works, or a DovetailError says what is wrong with it."""

import inspect
from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
ODD: list[Any] = [
    None,
    5,
    -1,
    0,
    1.5,
    True,
    "x",
    "",
    b"x",
    [],
    [5],
    {},
    {5: 5},
    (),
    ("A",),
    {"A"},
    object(),
    object,
    float("nan"),
    float("inf"),
    2**63,
    10**400,
    -(2**63),
    "\ud800",
    "1 s; DROP",
    len,
    datetime.max,
    SCHEMA,
]
TEXT = "SELECT A.k FROM A, B WHERE A.k = B.k WINDOW 1 SECOND"


def stream(name: str = "A", **options: Any) -> Any:
    return dv.stream(name, **{"time": "ts", "window": "1 s", "schema": SCHEMA} | options)


def query(**options: Any) -> dv.Query:
    return dv.join(stream("A"), stream("B"), **{"on": "A.k = B.k", "select": "A.k"} | options)


def budget(**options: Any) -> dv.Budget:
    return dv.Budget(**{"memory": 1000} | options)


def shared() -> Any:
    return dv.share(query().named("one")).local()


def keyword(call: Callable[..., Any], name: str) -> Callable[[Any], Any]:
    return lambda value: call(**{name: value})


def options_of(function: Callable[..., Any]) -> list[str]:
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [name for name, each in inspect.signature(function).parameters.items() if each.kind in named]


CALLS: dict[str, Callable[[Any], Any]] = {
    **{f"stream({name}=)": keyword(stream, name) for name in options_of(dv.stream)},
    "stream(data=) alone": lambda value: dv.stream("A", value, time="ts"),
    **{f"join({name}=)": keyword(query, name) for name in options_of(dv.join)},
    "join(*streams)": lambda value: dv.join(value, stream("B"), on="A.k = B.k"),
    "join(one stream)": lambda value: dv.join(value, on="TRUE"),
    "join(on=) by itself": lambda value: dv.join(stream("A"), stream("B"), on=value),
    **{
        f"sql({name}=)": keyword(partial(dv.sql, TEXT, stream("A"), stream("B")), name)
        for name in options_of(dv.join)
        if name not in ("on", "select", "how")
    },
    "sql(text)": lambda value: dv.sql(value, stream("A"), stream("B")),
    "sql(*streams)": lambda value: dv.sql(TEXT, value, stream("B")),
    **{f"budget({name}=)": keyword(dv.budget, name) for name in options_of(dv.budget)},
    **{f"budget({name}=) of memory": keyword(partial(dv.budget, memory="1 MB"), name) for name in ("cpu", "policy")},
    **{f"harvest({name}=)": keyword(dv.harvest, name) for name in options_of(dv.harvest)},
    **{f"Budget({name}=)": keyword(budget, name) for name in options_of(dv.Budget)},
    **{f"Harvest({name}=)": keyword(dv.Harvest, name) for name in options_of(dv.Harvest)},
    **{
        f"Files({name}=)": keyword(lambda **given: dv.Files(**{"path": "x"} | given), name)
        for name in options_of(dv.Files)
    },
    "files(path)": dv.files,
    **{f"kafka({name}=)": keyword(partial(dv.kafka, "x:1", "t"), name) for name in options_of(dv.Kafka)[2:]},
    **{
        f"Kafka({name}=)": keyword(lambda **given: dv.Kafka(**{"servers": "x", "topic": "t"} | given), name)
        for name in options_of(dv.Kafka)
    },
    "parquet(path)": dv.parquet,
    "parquet(compression=)": lambda value: dv.parquet("x", value),
    "Tuples": dv.Tuples,
    "Adaptive": dv.Adaptive,
    "tuples": dv.tuples,
    "adaptive": dv.adaptive,
    "rows(count)": dv.rows,
    "rows(per=)": lambda value: dv.rows(1, per=value),
    "function(name)": lambda value: dv.function(value, lambda a: a, ["int64"], "bool"),
    "function(callable)": lambda value: dv.function("odd", value, ["int64"], "bool"),
    "function(arguments)": lambda value: dv.function("odd", lambda a: a, value, "bool"),
    "function(arguments) of": lambda value: dv.function("odd", lambda a: a, [value], "bool"),
    "function(result)": lambda value: dv.function("odd", lambda a: a, ["int64"], value),
    "share(*queries)": lambda value: dv.share(query(), value),
    "share(schedule=)": lambda value: dv.share(query(), schedule=value),
    **{f"replace({name}=)": keyword(query().replace, name) for name in options_of(dv.join)},
    **{f"replace({name}=)": keyword(query().replace, name) for name in ("streams", "predicates", "filters", "cross")},
    "replace(aggregation=)": keyword(query().replace, "aggregation"),
    "named": lambda value: query().named(value),
    "Query": lambda value: dv.Query(value),
    "SharedQuery": lambda value: dv.SharedQuery(value),
    "explain(rates=)": lambda value: query().explain(rates=value),
    "explain(keys=)": lambda value: query().explain(keys=value),
    "planned(rates=)": lambda value: query().planned(rates=value),
    "planned(keys=)": lambda value: query().planned(keys=value),
    "plan_report(keys=)": lambda value: query().plan_report(keys=value),
    "local(snapshot=)": lambda value: query().local(snapshot=value),
    "shared.local(snapshot=)": lambda value: dv.share(query()).local(snapshot=value),
    "push(name)": lambda value: query().local().push(value, []),
    "push(rows)": lambda value: query().local().push("A", value),
    "push(rows) of": lambda value: query().local().push("A", [value]),
    "push(time)": lambda value: query().local().push("A", [{"ts": value, "k": 1}]),
    "push(key)": lambda value: query().local().push("A", [{"ts": 1, "k": value}]),
    "push(column)": lambda value: query().local().push("A", [{"ts": 1, "k": 1, str(value): 1}]),
    "push_batches(rows)": lambda value: list(query().local().push_batches("A", value)),
    "advance(name)": lambda value: query().local().advance(value, 1),
    "advance(time)": lambda value: query().local().advance("A", value),
    "tick": lambda value: query().local().tick(value),
    "add": lambda value: shared().add(value),
    "remove": lambda value: shared().remove(value),
    "report(running)": lambda value: dv.report(value),
    "report(query)": lambda value: dv.report(query().local(), value),
    "report(name=)": lambda value: dv.report(query().local(), name=value),
    "report(query) on Spark": lambda value: dv.report(SimpleNamespace(recentProgress=[]), value or 5),
    "spark_metrics": dv.spark_metrics,
}


@pytest.mark.parametrize("call", CALLS)
def test_only_our_own_errors_come_out(call: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOVETAIL_CACHE", str(tmp_path))
    monkeypatch.setattr("dovetail.api.functions.functions", {})
    wrong = []
    for value in ODD:
        try:
            CALLS[call](value)
        except dv.DovetailError as error:
            wrong += [] if str(error) else [f"{value!r}: {type(error).__name__} without a word"]
        except Exception as error:  # every other one is what this test looks for
            wrong.append(f"{type(value)!s} {repr(value)[:40] if value != 10**400 else ''}: {error!r}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ("A.k >. 0.9", "0.0.9 is not a number; write it like 0.9"),
        (
            'A.k = B.k AND A.s = "attic"',
            "no stream has a column 'attic'; there is: ts, k. For a text use single quotes: 'attic'.",
        ),
    ],
)
def test_mistakes_in_a_condition(on: str, message: str) -> None:
    with pytest.raises(dv.QueryError) as caught:
        query(on=on.replace("A.s", "'x'"))
    assert str(caught.value) == message


def test_a_missing_argument_is_pythons_own_error() -> None:
    with pytest.raises(TypeError):
        dv.join(stream("A"), stream("B"))  # type: ignore[call-arg]
