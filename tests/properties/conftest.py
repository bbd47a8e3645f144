"""For the properties: windows so small that they are compacted all the time.

A window moves its live tuples to the front of its arrays once they are full, a row window per key is stored anew once
most of it has left, and memory is given back once much is free. With the sizes of real use a script of a few dozen rows
would never get there, and what translates a tuple's id into a place would go untested after the first move.
"""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def small_windows() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("dovetail.engine.buffer.window._SMALLEST", 3)
        patched.setattr("dovetail.engine.buffer.window._SPARE", 6)
        patched.setattr("dovetail.engine.combine.row_windows._SPARE", 2)
        yield
