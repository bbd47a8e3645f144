"""The examples in docstrings run."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import dovetail

MODULES = ["dovetail", *(module.name for module in pkgutil.walk_packages(dovetail.__path__, "dovetail."))]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name: str) -> None:
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testmod(module, optionflags=options)
    assert failed == 0


@pytest.mark.parametrize("name", dovetail.__all__)
def test_public_names_are_explained(name: str) -> None:
    public = getattr(dovetail, name)
    assert public.__doc__
    if inspect.isfunction(public):
        assert ">>>" in public.__doc__, "a public function shows an example"
