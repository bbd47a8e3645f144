"""The example notebook runs from its first cell to its last, and what its cells end with shows itself."""

import ast
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from tests.docs.pages import ROOT

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
EVIL = "<b onclick='x'>&"


def run_cell(source: str, namespace: dict[str, Any]) -> Any:
    """As a notebook does: the statements, then the value of the last one if it is an expression."""
    tree = ast.parse(source)
    last = tree.body[-1]
    if not isinstance(last, ast.Expr):
        return exec(compile(tree, str(NOTEBOOK), "exec"), namespace)
    exec(compile(ast.Module(tree.body[:-1], []), str(NOTEBOOK), "exec"), namespace)
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), namespace)


def test_the_notebook_runs_and_its_values_show_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    namespace: dict[str, Any] = {}
    shown = [run_cell("".join(cell["source"]), namespace) for cell in cells]
    pages = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pages) == 4, "a query, a run, some rows, a shared run"
    assert "inner join: T ⋈ H" in pages[0]
    assert "results so far" in pages[1]
    assert "measured" in pages[1]
    assert "<td>sudden</td>" in pages[3]
    assert "cost:" in capsys.readouterr().out
    assert all(not cell["outputs"] for cell in cells), "outputs are not kept: they would grow old"


def odd_streams() -> list[Any]:
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    return [dv.stream(name, schema=schema, time="ts", window="1 second") for name in (EVIL, "B", "C")]


@pytest.mark.parametrize("plan", ["auto", "binary"])
def test_names_are_only_text(plan: str) -> None:
    query = dv.join(*odd_streams(), on=f'"{EVIL}".k = B.k AND B.k = C.k', plan=plan)
    for shown in (query, query.plan, query.local()):
        page = shown._repr_html_()
        assert EVIL not in page
        assert "&lt;b onclick" in page


def test_shared_queries_show_themselves() -> None:
    first, second, _ = odd_streams()
    on = f'"{EVIL}".k = B.k'
    shared = dv.share(dv.join(first, second, on=on).named(EVIL), dv.join(first, second, on=on + " AND B.k > 1"))
    run = shared.local()
    for shown in (shared, run):
        page = shown._repr_html_()
        assert EVIL not in page
        assert "&lt;b onclick" in page
    assert "one operator for" in run.explain()
    assert Path(NOTEBOOK).exists()
