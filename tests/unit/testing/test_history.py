from dovetail.testing.history import History
from dovetail.testing.script import Advance, Event, Script, Tick
from tests.unit.testing.build import push, query, stream

BUSY = stream("S", 9, delay_us=1)
QUIET = stream("T", 9, idle_us=10)


def test_watermarks_follow_the_largest_time_and_promises() -> None:
    history = History.of(query(BUSY, QUIET), [push("S", (5,), (3,)), Advance("T", 7), Advance("T", 6)])
    assert history.watermarks == {"S": 4, "T": 7}


def test_a_silent_stream_is_carried_along_and_stays_there() -> None:
    script: Script = [push("T", (1,)), Tick(0), Tick(10), push("S", (21,)), Tick(11), push("S", (31,)), Tick(12)]
    script = [*script, push("T", (25,)), push("S", (41,)), Tick(13)]
    history = History.of(query(BUSY, QUIET), script)
    assert history.watermarks == {"S": 40, "T": 30}
    assert len(history.late["T"]) == 1


def test_silence_counts_from_the_first_tick_after_a_stream_spoke() -> None:
    for said in (push("T", (1,)), Advance("T", 1)):
        waiting: list[Event] = [Tick(0), push("S", (21,)), said, Tick(5), Tick(15)]
        assert History.of(query(BUSY, QUIET), waiting).watermarks == {"S": 20, "T": 1}
        assert History.of(query(BUSY, QUIET), [*waiting, Tick(16)]).watermarks == {"S": 20, "T": 20}


def test_nothing_is_raised_while_another_stream_has_shown_no_time() -> None:
    history = History.of(query(BUSY, QUIET, stream("U", 9)), [Tick(0), push("S", (21,)), Tick(11)])
    assert history.watermarks == {"S": 20, "T": None, "U": None}


def test_when_all_are_idle_the_largest_watermark_counts() -> None:
    both = query(stream("S", 9, idle_us=3), QUIET)
    history = History.of(both, [push("S", (5,)), push("T", (8,)), Tick(0), Tick(11)])
    assert history.watermarks == {"S": 8, "T": 8}
