"""The page for those who change Dovetail: files that it names are there, and a block meets them in its order."""

import re
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pytest

import dovetail as dv
from tests.spark.feeding import random_batches
from tests.spark.test_operator import Cluster

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()
SOURCE = ROOT / "src" / "dovetail"
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})

# The call that begins a step: files do more than one thing, and some are met again on the way.
STEPS = {
    1: ("runtime/rows.py", "as_table"),
    2: ("control/controller.py", "begin"),
    3: ("engine/admit/inputs.py", "read"),
    4: ("engine/admit/door.py", "admit"),
    5: ("engine/admit/gate.py", "add"),
    6: ("engine/admit/derive.py", "valid_rows"),
    7: ("engine/combine/store.py", "store"),
    8: ("engine/combine/probe.py", "results"),
    9: ("engine/deliver/exit.py", "give"),
    10: ("engine/operator/line.py", "settle"),
    11: ("control/controller.py", "step"),
}

# Those that happen in Python while a batch is joined: 1 builds the DataFrame, 4 is Spark's, and 10 reads rows again.
HOPS = {
    2: ("runtime/spark/pack.py", "pack"),
    3: ("runtime/spark/blob.py", "write"),
    5: ("runtime/spark/arrivals.py", "read_arrivals"),
    6: ("runtime/spark/state.py", "head"),
    7: ("runtime/spark/operator.py", "_share_budget"),
    8: ("runtime/spark/output.py", "rows"),
    9: ("runtime/spark/state.py", "save"),
}


def rows_of(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    table = re.search(r"(?:^\|.*\n)+", PAGE[PAGE.index(heading) :], re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[0].splitlines()[2:]]


def files_in(cell: str) -> list[str]:
    return re.findall(r"`([\w/]+\.py)`", cell)


def test_every_file_that_is_named_is_there() -> None:
    names = {name.rpartition("/")[2] for name in files_in(PAGE)}
    assert len(names) > 40
    assert names <= {file.name for file in SOURCE.rglob("*.py")} | {
        file.name for file in (ROOT / "tests").rglob("*.py")
    }


class Calls:
    """The calls of Dovetail's own functions while it is on, in order: file and name."""

    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []

    def __enter__(self) -> "Calls":
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(str(SOURCE)):
            self.made.append((str(Path(path).relative_to(SOURCE)), frame.f_code.co_name))


def rows(*times: int) -> list[dict[str, int]]:
    return [{"ts": time, "k": 1} for time in times]


def test_a_push_goes_through_the_steps_in_the_order_of_the_page() -> None:
    run = dv.join(*(dv.stream(n, time="ts", window="1 s", schema=SCHEMA) for n in "AB"), on="A.k = B.k").local()
    run.push("A", rows(1, 2))
    with Calls() as calls:
        assert run.push("B", rows(3, 4)).num_rows == 4
    steps = rows_of("## A block's way")
    assert [int(number) for number, *_ in steps] == list(STEPS)
    for number, _, files in steps:
        assert STEPS[int(number)][0].endswith(tuple(files_in(files))), number
    assert_in_order(calls, STEPS)


def test_a_batch_goes_through_the_hops_in_the_order_of_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster("A.k = B.k", "AB", monkeypatch)
    first, second = random_batches("AB", seed=5, batches=2, count=120)
    cluster.batch(first, worker=0)
    with Calls() as calls:
        cluster.batch(second, worker=0)
    hops = rows_of("### From `query.spark()` to the sink")
    assert [int(number) for number, *_ in hops] == list(range(1, 11))
    for number, (file, _) in HOPS.items():
        assert file.endswith(tuple(files_in(hops[number - 1][2]))), number
    assert_in_order(calls, HOPS)


def assert_in_order(calls: Calls, steps: dict[int, tuple[str, str]]) -> None:
    """Each step begins after the one before it; the last one also comes between results, and last of all."""
    begun = [calls.made.index(call) for call in steps.values()]
    begun[-1] = len(calls.made) - 1 - calls.made[::-1].index([*steps.values()][-1])
    assert begun == sorted(begun)
