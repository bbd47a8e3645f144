"""Nothing that a user, a file or a socket says is executed, and what is not ours to trust ends in a clear error."""

import ast
import json
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dovetail as dv

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "src" / "dovetail").rglob("*.py"))
RUNS_TEXT = {"eval", "exec", "compile", "__import__"}
READS_OBJECTS = {
    "pickle",
    "cPickle",
    "cloudpickle",
    "dill",
    "marshal",
    "shelve",
    "joblib",
    "jsonpickle",
    "yaml",
    "ctypes",
}
ALLOWED = {
    "runtime/spark/processor.py": {"cloudpickle"},  # part of a function that Spark has sent and read in the same way
    "runtime/spark/source/work.py": {"cloudpickle"},  # a query with its user's functions, sent by the driver likewise
    "runtime/spark/worker_memory.py": {"ctypes"},  # two settings of the C library, both constants
}
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "name": pa.string()})
START = len(b"DOVETAIL\x01") + 16


def names_called(tree: ast.AST) -> set[str]:
    return {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}


def modules_imported(tree: ast.AST) -> set[str]:
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(alias.name for alias in node.names)}
    return {name.partition(".")[0] for name in found}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT / "src")))
def test_no_text_is_run_and_no_object_is_read(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert not names_called(tree) & RUNS_TEXT
    allowed = ALLOWED.get(path.relative_to(ROOT / "src" / "dovetail").as_posix(), set())
    assert modules_imported(tree) & READS_OBJECTS == allowed
    shells = [
        word for node in ast.walk(tree) if isinstance(node, ast.keyword) for word in [node.arg] if word == "shell"
    ]
    assert not shells, "no command goes through a shell"


def query() -> dv.Query:
    a, b = (dv.stream(name, time="ts", window="10 seconds", schema=SCHEMA) for name in "AB")
    return dv.join(a, b, on="A.k = B.k", order="hold")


def rows() -> list[dict[str, Any]]:
    return [{"ts": 1_000_000 * at, "k": at % 3, "name": f"row {at}"} for at in range(8)]


def alone() -> bytes:
    run = query().local()
    for name in "AB":
        run.push(name, rows())
    return run.snapshot()


def together() -> bytes:
    run = dv.share(query().named("one")).local()
    for name in "AB":
        run.push(name, rows())
    return run.snapshot()


def resume(kind: str, snapshot: bytes) -> None:
    run = query().local(snapshot) if kind == "alone" else dv.share(query().named("one")).local(snapshot)
    run.push("A", rows())
    run.close()


SNAPSHOTS = {"alone": alone(), "together": together()}


def signed(body: bytes) -> bytes:
    """With a digest that is right: as if somebody had written it on purpose."""
    return b"DOVETAIL\x01" + blake2b(body, digest_size=16).digest() + body


def changed(value: Any, path: list[int], to: Any) -> Any:
    """A copy of a JSON value with one place in it replaced."""
    if not path or not isinstance(value, dict | list) or not value:
        return to
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[path[0] % len(keys)]
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[key] = changed(value[key], path[1:], to)
    return copy


ODD: st.SearchStrategy[Any] = st.sampled_from([None, -1, 0, 10**18, "", "x", "A", [], {}, [[]], True, 1.5, {"A": 1}])


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(["alone", "together"]), path=st.lists(st.integers(0, 9), min_size=1, max_size=6), to=ODD,
    inner=st.booleans(),
)  # fmt: skip
def test_a_snapshot_that_somebody_changed_ends_in_a_clear_error(
    kind: str, path: list[int], to: Any, inner: bool
) -> None:
    body = SNAPSHOTS[kind][START:]
    size = int.from_bytes(body[:8], "little")
    head, blobs = json.loads(body[8 : 8 + size]), body[8 + size :]
    if inner:
        head["header"] = json.dumps(changed(json.loads(head["header"]), path, to))
    else:
        head = changed(head, path, to)
    text = json.dumps(head).encode()
    with suppress(dv.DovetailError):
        resume(kind, signed(len(text).to_bytes(8, "little") + text + blobs))


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(["alone", "together"]), data=st.data())
def test_slices_that_somebody_changed_end_in_a_clear_error(kind: str, data: st.DataObject) -> None:
    body = bytearray(SNAPSHOTS[kind][START:])
    size = int.from_bytes(body[:8], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        body[data.draw(st.integers(8 + size, len(body) - 1))] = data.draw(st.integers(0, 255))
    with suppress(dv.DovetailError):
        resume(kind, signed(bytes(body)))
