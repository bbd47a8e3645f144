import math
from typing import Any

import pyarrow as pa
import pytest

from dovetail.model.predicate import Band, Equality
from dovetail.model.window import rows
from dovetail.testing import Push, Script, oracle
from dovetail.testing.script import Close
from tests.unit.testing.build import above, key, number, push, query, stream, times


def test_members_are_inside_a_window_up_to_and_including_its_length() -> None:
    join = query(stream("S", 5), stream("T", 5))
    outcome = oracle(join, [push("S", (1,), (2,)), push("T", (6,), (7,))])
    assert times(outcome.rows) == [(6, 1, 6), (6, 2, 6), (7, 2, 7)]


def test_each_stream_has_its_own_window() -> None:
    join = query(stream("S", 1), stream("T", 10))
    outcome = oracle(join, [push("S", (0,), (12,)), push("T", (2,))])
    assert times(outcome.rows) == [(12, 12, 2)]


def test_a_window_of_zero_means_equal_times() -> None:
    join = query(stream("S", 0), stream("T", 0), stream("U", 0))
    outcome = oracle(join, [push("S", (1,), (2,)), push("T", (2,), (3,)), push("U", (2,), (2,))])
    assert times(outcome.rows) == [(2, 2, 2, 2), (2, 2, 2, 2)]


def test_windows_are_seen_from_the_newest_of_all_members() -> None:
    join = query(stream("S", 4), stream("T", 4), stream("U", 9))
    script = [push("S", (0,)), push("T", (4,), (5,)), push("U", (1,), (4,), (5,))]
    assert times(oracle(join, script).rows) == [(4, 0, 4, 1), (4, 0, 4, 4)]


def test_null_and_nan_match_nothing() -> None:
    on_x = query(stream("S", 9), stream("T", 9), predicates=(Equality(number("S"), number("T")),))
    rows_of = ((1, 0, math.nan), (1, 0, None), (1, 0, math.inf))
    assert times(oracle(on_x, [push("S", *rows_of), push("T", *rows_of)]).rows) == [(1, 1, 1)]


def test_band_without_a_bound_on_one_side_compares_infinities() -> None:
    at_most = query(stream("S", 9), stream("T", 9), predicates=(Band(number("S"), number("T"), None, 0),))
    below = query(
        stream("S", 9), stream("T", 9), predicates=(Band(number("S"), number("T"), None, 0, high_strict=True),)
    )
    script = [push("S", (1, 0, math.inf)), push("T", (2, 0, math.inf))]
    assert oracle(at_most, script).rows.num_rows == 1
    assert oracle(below, script).rows.num_rows == 0


def test_late_tuples_are_judged_by_the_watermark_before_their_batch() -> None:
    join = query(stream("S", 100, delay_us=2), stream("T", 100))
    script = [push("S", (10,)), push("S", (7,), (8,), (20,), (9,)), push("S", (17,), (None,)), push("T", (20,))]
    outcome = oracle(join, script)
    assert times(outcome.rows) == [(20, 10, 20), (20, 20, 20), (20, 8, 20), (20, 9, 20)]
    assert outcome.late == {"S": 2, "T": 0}
    assert outcome.null_times == {"S": 1, "T": 0}


def test_kept_late_tuples_give_the_most_that_may_come_out() -> None:
    join = query(stream("S", 100), stream("T", 100), late="keep")
    outcome = oracle(join, [push("S", (10,)), push("S", (7,)), push("T", (20,))])
    assert (times(outcome.rows), outcome.exact) == ([(20, 10, 20), (20, 7, 20)], False)


def test_nothing_counts_after_the_end() -> None:
    join = query(stream("S", 9), stream("T", 9))
    assert oracle(join, [push("S", (1,)), Close(), push("T", (1,))]).rows.num_rows == 0


def test_row_window_counts_filtered_tuples_in_total_order() -> None:
    join = query(stream("S", rows(2)), stream("T", 100), filters=(above("S", 0),))
    script = [push("S", (1, 0, 1.0), (3, 0, 1.0), (4, 0, 0.0)), push("T", (3,), (4,))]
    # Seen from T at 3 the last two of S are 1 and 3; seen from T at 4 they are 3 and 4, and 4 is filtered.
    assert times(oracle(join, script).rows) == [(3, 1, 3), (3, 3, 3), (4, 3, 4)]


@pytest.mark.parametrize("order", ["ST", "TS"])
def test_in_a_tie_the_last_tuple_of_a_row_window_is_the_one_that_others_see(order: str) -> None:
    windows: dict[str, Any] = {"S": 100, "T": rows(1)}
    join = query(*(stream(name, windows[name]) for name in order))
    script = [push("T", (5, 0, 1.0), (5, 0, 2.0)), push("S", (3,), (5,))]
    found = [(row["S"], row["T"], row["T_x"]) for row in oracle(join, script).rows.to_pylist()]
    # S at 5 sees the last T of time 5 only; beside S at 3 each T alone has the result time, so each meets it.
    assert sorted(found) == [(3, 5, 1.0), (3, 5, 2.0), (5, 5, 2.0)]


@pytest.mark.parametrize("order", ["SPO", "OPS", "POS"])
def test_a_tie_of_any_two_members_counts(order: str) -> None:
    windows: dict[str, Any] = {"S": 100, "P": rows(1), "O": 100}
    join = query(*(stream(name, windows[name]) for name in order))
    older = oracle(join, [push("P", (5,), (5,)), push("S", (1,)), push("O", (2,))])
    assert older.rows.num_rows == 2
    tied = oracle(join, [push("P", (5,), (5,)), push("S", (1,)), push("O", (5,))])
    assert tied.rows.num_rows == 1


def test_at_the_end_no_unmatched_row_is_older_than_one_before_it() -> None:
    join = query(stream("S", rows(1)), stream("T", 200), how="full")
    outcome = oracle(join, [push("S", (325, 7)), push("T", (1775, 8))])
    assert times(outcome.rows) == [(1975, 325, None), (1975, None, 1775)]


def test_row_window_per_key() -> None:
    join = query(stream("S", rows(1, per="key")), stream("T", 100))
    script = [push("S", (1, 7), (2, 8), (3, 7)), push("T", (4, 7), (4, 8))]
    assert times(oracle(join, script).rows) == [(4, 2, 4), (4, 3, 4)]


OUTER: Script = [push("S", (1, 7), (2, 8)), push("T", (3, 7), (4, 9))]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("left", [(12, 2, None), (3, 1, 3)]),
        ("right", [(24, None, 4), (3, 1, 3)]),
        ("full", [(12, 2, None), (24, None, 4), (3, 1, 3)]),
    ],
)
def test_outer_joins_give_unmatched_rows_when_their_window_ends(how: str, expected: list[tuple[int, ...]]) -> None:
    assert times(oracle(query(stream("S", 10), stream("T", 20), how=how), OUTER).rows) == expected


def test_semi_join_gives_a_row_once_at_its_first_match() -> None:
    join = query(stream("S", 10), stream("T", 20), how="semi")
    script = [push("S", (4, 7), (1, 7), (2, 8)), push("T", (9, 7), (3, 7))]
    assert times(oracle(join, script).rows) == [(3, 1), (4, 4)]


def test_anti_join_gives_rows_that_fail_their_own_predicate() -> None:
    join = query(stream("S", 10), stream("T", 20), how="anti", filters=(above("S", 0), above("T", 0)))
    script = [push("S", (1, 7, 1.0), (2, 7, 0.0), (3, 8, 1.0)), push("T", (3, 7, 1.0), (3, 8, 0.0))]
    assert times(oracle(join, script).rows) == [(12, 2), (13, 3)]


def test_unmatched_row_of_a_row_window_leaves_when_pushed_out_or_at_the_end() -> None:
    join = query(stream("S", rows(2)), stream("T", 5), how="left")
    script = [push("S", (1,), (2,), (6,)), push("T", (9, 1))]
    assert times(oracle(join, script).rows) == [(6, 1, None), (9, 2, None), (9, 6, None)]


def test_several_streams_in_one_batch_and_duplicates() -> None:
    join = query(stream("S", 5), stream("T", 5), predicates=(Equality(key("S"), key("T")),))
    batch = Push({**push("S", (1,), (1,)).batch, **push("T", (2,), (2,)).batch})
    outcome = oracle(join, [batch])
    assert times(outcome.rows) == [(2, 1, 2)] * 4
    assert outcome.rows.schema.field("result_time").type == pa.timestamp("us")
