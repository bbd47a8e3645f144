"""Writes docs/reference/python.md from the docstrings of all public names: make reference.

A name's signature is its heading; its docstring follows, an example as text. The tests of docstrings run the examples.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dovetail
import dovetail.testing
from dovetail.runtime.local import Run
from dovetail.runtime.shared import SharedRun

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python.md"
CLASSES = {"Query": dovetail.Query, "Run": Run, "SharedQuery": dovetail.SharedQuery, "SharedRun": SharedRun}
CALLED = {"Query": "query", "Run": "run", "SharedQuery": "shared", "SharedRun": "run"}
HEAD = """# Python reference

Every public name, from its docstring. `make reference` writes this page. The [short reference](../reference.md) says
the same in tables.
"""


def reference() -> str:
    """The whole page."""
    parts = [HEAD]
    parts += ["## dovetail\n", *entries(dovetail, "dv.")]
    for name, kind in CLASSES.items():
        parts += [f"## {name}\n", *prose(kind), *methods(name, kind)]
    parts += ["## dovetail.testing\n", *entries(dovetail.testing, "")]
    return "\n".join(parts)


def entries(module: Any, prefix: str) -> Iterator[str]:
    """Functions and classes of a module, functions first; classes with a section of their own are left out."""
    public = {name: getattr(module, name) for name in sorted(module.__all__) if name not in CLASSES}
    functions = {name: each for name, each in public.items() if inspect.isfunction(each)}
    classes = {name: each for name, each in public.items() if inspect.isclass(each)}
    for name, each in {**functions, **classes}.items():
        yield f"### `{prefix}{name}{signature(each)}`\n"
        yield from prose(each)


def methods(owner: str, kind: type) -> Iterator[str]:
    """Public methods and properties, in the order of the source."""
    for name, each in vars(kind).items():
        if name.startswith("_") or not (inspect.isfunction(each) or isinstance(each, property)):
            continue
        yield f"### `{CALLED[owner]}.{name}{'' if isinstance(each, property) else signature(each)}`\n"
        yield from prose(each)


def signature(of: Any) -> str:
    """Names and defaults, without types: those are in the source, and editors show them."""
    if inspect.isclass(of) and issubclass(of, BaseException):
        return ""
    try:
        found = inspect.signature(of)
    except (TypeError, ValueError):
        return ""
    plain = [each.replace(annotation=inspect.Parameter.empty) for each in found.parameters.values()]
    kept = [each for each in plain if each.name != "self"]
    return str(found.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def prose(of: Any) -> Iterator[str]:
    """The docstring; what begins with >>> is an example."""
    text = inspect.getdoc(of) or ""
    if text.startswith(f"{getattr(of, '__name__', '')}("):  # the text that a dataclass gives itself
        return
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.replace("``", "`")
        yield f"```text\n{inspect.cleandoc(paragraph)}\n```\n" if ">>>" in paragraph else f"{words}\n"


if __name__ == "__main__":
    PAGE.write_text(reference())
    print(f"wrote {PAGE}", file=sys.stderr)
