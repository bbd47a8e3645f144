"""Writes docs/reference/python.md from the docstrings of all public names: make reference.

Each name has its signature with types, then its docstring; the tests of docstrings run the examples.
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
WIDTH = 100  # of a signature on one line
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
        yield from entry(f"{prefix}{name}", each)


def methods(owner: str, kind: type) -> Iterator[str]:
    """Public methods and properties, in the order of the source."""
    for name, each in vars(kind).items():
        if name.startswith("_") or not (inspect.isfunction(each) or isinstance(each, property)):
            continue
        yield from entry(f"{CALLED[owner]}.{name}", each)


def entry(name: str, of: Any) -> Iterator[str]:
    """A heading, the signature with its types, and the docstring."""
    yield f"### `{name}`\n"
    declared = signature(name, of)
    if declared:
        yield f"```text\n{declared}\n```\n"
    yield from prose(of)


def signature(name: str, of: Any) -> str:
    """Parameters with types and defaults, on one line if they fit; nothing for errors."""
    if inspect.isclass(of) and issubclass(of, BaseException):
        return ""
    try:
        found = inspect.signature(getattr(of, "fget", of))
    except (TypeError, ValueError):
        return ""
    kept = [_parameter(each) for each in found.parameters.values() if each.name != "self"]
    hint = found.return_annotation
    returns = "" if inspect.isclass(of) or hint in (found.empty, None, "None") else f" -> {_type(hint)}"
    if isinstance(of, property):
        return f"{name}{returns.replace(' ->', ':')}"
    line = f"{name}({', '.join(kept)}){returns}"
    if len(line) <= WIDTH:
        return line
    return f"{name}(\n" + "".join(f"    {each},\n" for each in kept) + f"){returns}"


def _parameter(of: inspect.Parameter) -> str:
    stars = "*" * (of.kind == of.VAR_POSITIONAL) + "**" * (of.kind == of.VAR_KEYWORD)
    default = "" if of.default is of.empty else f" = {of.default!r}"
    return f"{stars}{of.name}{'' if of.annotation is of.empty else f': {_type(of.annotation)}'}{default}"


def _type(annotation: Any) -> str:
    """As it is written in the source, without the names of modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", text).replace("NoneType", "None").replace('"', "")


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
