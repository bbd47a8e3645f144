"""The windows of all streams, and what is known of where their tuples are written."""

import pyarrow as pa

import dovetail as dv
from dovetail.engine.operator.engine import Engine


def test_which_slices_are_written_is_known_whoever_asks_for_the_sections() -> None:
    """A group of queries assembles its state anew whenever queries come, go or are read back."""
    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64()})
    streams = [dv.stream(name, time="ts", window="1 second", schema=schema) for name in "AB"]
    engine = Engine(dv.join(*streams, on="A.k = B.k").plan)
    list(engine.push({"A": pa.Table.from_pylist([{"ts": 1, "k": 1}], schema)}))
    log = next(each for each in engine.sections() if each.section == "window/A")
    assert [*log.changes()[0]] == [("window/A", 0)]
    again = next(each for each in engine.sections() if each.section == "window/A")
    assert not again.changes()[0], "it was written before"
