"""Scenarios: a stream test as a table that a person can check, in a Markdown file.

A heading names it, a block with the word ``query`` says what is joined, and a table lists what
arrives, in order, with the rows each arrival must cause beside it:

    # A hot room is reported once it is wet

    ~~~query
    stream T(room string) window 6 seconds
    stream H(room string) window 6 seconds delay 2 seconds
    on T.room = H.room
    select T.room AS room
    ~~~

    | push  | time | room | results |
    |-------|------|------|---------|
    | T     | 1    | a    |         |
    | H     | 7    | a    | 7: a    |
    | close |      |      |         |

(The block is fenced by three backticks or tildes.) Times are seconds, in the column ``time`` of every stream. A result
is ``result time: value, value``; several are separated by ``;``. Cells may say NULL and NaN, ``''`` is the empty text,
and vectors are written ``[1 2]``. Besides the name of a stream the first cell may be ``+`` (one more row of the same
batch), ``advance T``, ``tick`` or ``close``.

Lines of the block: ``stream name(column type, ...)`` followed by ``window``, ``delay``, ``idle``, ``ahead``, each with
a duration (a window may also be ``3 rows`` or ``3 rows per key``), then ``on``, ``select``, ``how``, ``order``,
``late``. A stream of an as-of join has no window; all but one have ``asof``, with ``left`` if that is how it is joined,
a direction, ``unequal`` if equal times do not count, and ``within`` a duration.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dovetail.model.stream import Stream
from dovetail.testing.cells import read_cell
from dovetail.testing.compare import difference, ordered
from dovetail.testing.replay import Runs, play_event
from dovetail.testing.script import Close, Event, Script


@dataclass(frozen=True)
class Step:
    """One event and the results it must cause, each as its time and the texts of its values."""

    line: int
    event: Event
    results: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Scenario:
    """A query's streams and options, and what must happen step by step."""

    title: str
    streams: tuple[Stream, ...]
    options: Mapping[str, str]
    steps: tuple[Step, ...]

    @property
    def script(self) -> Script:
        """The events without their results, to be given to the oracle."""
        return [step.event for step in self.steps]

    def expected(self, schema: pa.Schema) -> pa.Table:
        """All results together, typed as the query's."""
        return pa.concat_tables([schema.empty_table(), *(_results(step, schema) for step in self.steps)])

    def check(self, run: Runs, schema: pa.Schema) -> None:
        """Play the scenario on a run; fail at the first step that gives other rows than it says."""
        given = [schema.empty_table()]
        for step in self.steps:
            rows = play_event(run, step.event)
            text = difference(_results(step, schema), rows)
            assert not text, f"{self.title}, line {step.line}: {_named(step.event)}\n{text}"
            given.append(rows)
        if self.options.get("order", "none") != "none":
            assert ordered(pa.concat_tables(given)), f"{self.title}: result times go back"


def _results(step: Step, schema: pa.Schema) -> pa.Table:
    rows: list[list[Any]] = []
    for result in step.results:
        if len(result) != len(schema):
            raise ValueError(f"line {step.line}: result {result} has {len(result)} values, the query {len(schema)}")
        rows.append([read_cell(text, type_) for text, type_ in zip(result, schema.types, strict=True)])
    columns = [[row[place] for row in rows] for place in range(len(schema))]
    return pa.table([pa.array(values, type_) for values, type_ in zip(columns, schema.types, strict=True)], schema)


def _named(event: Event) -> str:
    return "close" if isinstance(event, Close) else repr(event)[:200]
