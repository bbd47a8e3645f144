"""The reference is what the docstrings say, and every public name is in it."""

import dovetail
from scripts.write_reference import PAGE, reference


def test_the_reference_is_up_to_date() -> None:
    assert PAGE.read_text() == reference(), "the page is older than the docstrings: make reference"


def test_every_public_name_is_in_it() -> None:
    page = reference()
    missing = [name for name in dovetail.__all__ if f"dv.{name}" not in page and f"## {name}\n" not in page]
    assert not missing
