"""Keys that share a hash are still told apart: every text and every key of several columns gets the same code here."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dovetail.engine import kernels
from dovetail.engine.admit import derive
from dovetail.testing import assert_same_rows, oracle, play
from tests.properties.queries import queries
from tests.properties.scripts import scripts
from tests.properties.test_outer import outer_queries


def same_for_all(offsets: Any, data: Any) -> Any:
    return np.zeros(len(offsets) - 1, np.int64)


def same_for_both(codes: Any, more: Any) -> Any:
    return np.zeros(len(codes), np.int64)


@settings(max_examples=30)
@given(st.data())
def test_results_do_not_depend_on_hashes(data: st.DataObject) -> None:
    drawn = data.draw(queries(most=3) | outer_queries())
    script = data.draw(scripts(drawn))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(derive, "hash_bytes", same_for_all)
        patched.setattr(derive, "combine_codes", same_for_both)
        patched.setattr(kernels, "combine_codes", same_for_both)
        query = drawn.build()
        assert_same_rows(play(query.local(), script), oracle(query.model, script).rows)
