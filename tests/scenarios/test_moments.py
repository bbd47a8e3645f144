"""The tables in ``moments``: when each tuple is processed and when each result leaves, on a simulated clock."""

from pathlib import Path

import pyarrow as pa
import pytest

import dovetail as dv
from dovetail.testing.simulate import Arrival, Log, simulate

TABLES = {path.stem: path for path in sorted((Path(__file__).parent / "moments").glob("*.md"))}
TP = 0.1
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "key": pa.string(), "id": pa.string()})


def rows_of(path: Path) -> tuple[str, list[dict[str, str]]]:
    """The order asked for, and the table as dicts."""
    lines = path.read_text().splitlines()
    order = next(line.removeprefix("order ") for line in lines if line.startswith("order "))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return order, [dict(zip(cells[0], row, strict=True)) for row in cells[2:]]


def play(order: str, rows: list[dict[str, str]]) -> Log:
    s, t = (dv.stream(name, time="ts", window="6 seconds", schema=SCHEMA) for name in "ST")
    query = dv.join(s, t, on="S.key = T.key", select="S.id AS s, T.id AS t", order=order)
    arrivals = [
        Arrival(
            float(row["arrives"]),
            row["stream"],
            {"ts": int(row["time"]) * 1_000_000, "key": row["key"], "id": row["id"]},
        )
        for row in rows
    ]
    return simulate(query, arrivals, lambda stream, run: TP)


@pytest.mark.parametrize("path", TABLES.values(), ids=TABLES)
def test_moments_are_those_of_the_table(path: Path) -> None:
    order, rows = rows_of(path)
    log = play(order, rows)
    began = {(work.stream, work.time_us // 1_000_000): work.began for work in log.processed}
    expected = {(row["stream"], int(row["time"])): float(row["processed"]) for row in rows if row["processed"]}
    assert began == pytest.approx(expected)
    released = {f"{result.row['s']} {result.row['t']}": result.at for result in log.released}
    leaving = [row["released"].split(" at ") for row in rows if row["released"]]
    assert released == pytest.approx({result: float(at) for result, at in leaving})


def test_waiting_at_the_exit_saves_three_times_the_processing_of_a_tuple() -> None:
    total = {}
    for path in TABLES.values():
        order, rows = rows_of(path)
        total[order] = sum(result.at for result in play(order, rows).released)
    assert total["sync"] - total["hold"] == pytest.approx(3 * TP)
