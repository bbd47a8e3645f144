"""The figures that run on Spark: how streams are cut into micro-batches, their clock, and each in its short form."""

from typing import Any

import pyarrow as pa
import pytest

from experiments.papers import PAPERS, figure_named, figures_of


def test_there_is_a_figure_of_every_paper() -> None:
    assert [len(figures_of(paper, spark=True)) for paper in PAPERS] == [1] * len(PAPERS)


def test_streams_are_cut_at_the_ends_of_micro_batches() -> None:
    from experiments.spark.session import cut

    rows = {name: pa.table({"ts": pa.array(times, pa.timestamp("us"))}) for name, times in
            (("A", [0, 999_999, 1_000_000]), ("B", [1_500_000, 3_000_000]))}  # fmt: skip
    batches = cut(rows, [1.0, 2.0, 2.5])
    assert [{name: part.num_rows for name, part in batch.items()} for batch in batches] == [
        {"A": 2, "B": 0},
        {"A": 1, "B": 1},
        {"A": 0, "B": 0},
    ]


def test_a_tuple_has_left_when_it_is_joined_and_both_streams_have_come_as_far() -> None:
    from experiments.spark.order import clocked

    worked = [[("S", 100_000, 9.0)], [("T", 1_200_000, 1.0)], [("S", 2_200_000, 0.5)]]
    newest = [{"S": 100_000}, {"T": 1_200_000}, {"S": 2_200_000}]
    left, shown = clocked(worked, newest, ends_s=[1.0, 2.0, 3.0], factor=1.0)
    assert [*left, *shown] == pytest.approx([1.8, 2.3])
    left, shown = clocked(worked, newest, ends_s=[1.0, 2.0, 3.0], factor=4.0)
    assert [*left, *shown] == pytest.approx([4.8, 6.8]), "the second batch waits for the first"


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for paper in PAPERS for name in figures_of(paper, spark=True)])
def test_every_figure_runs_in_its_short_form(name: str, spark: Any) -> None:
    figure = figure_named(name, spark=True)
    assert figure is not None
    outcome = figure(True)
    assert outcome.name == name
    assert outcome.checks
