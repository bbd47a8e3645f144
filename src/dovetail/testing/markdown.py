"""Reading scenarios from Markdown; the format is described in ``dovetail.testing.scenario``.

>>> scenario = read_scenario('''
... # Equal keys meet
... ~~~query
... stream S(k int) window 6 seconds
... stream T(k int) window 2 rows
... on S.k = T.k
... ~~~
... | push | time | k | results |
... |------|------|---|---------|
... | S    | 1    | 7 |         |
... | T    | 2    | 7 | 2: 1, 7, 2, 7 |
... ''')
>>> [str(stream.window) for stream in scenario.streams], scenario.options, scenario.steps[1].results
(['6 seconds', '2 rows'], {'on': 'S.k = T.k'}, (('2', '1', '7', '2', '7'),))
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dovetail.model.asof import AsOf, Missing
from dovetail.model.dedup import Dedup
from dovetail.model.duration import duration_us
from dovetail.model.stream import Stream
from dovetail.model.window import RowWindow, TimeWindow, Window
from dovetail.testing.cells import TYPES, read_cell, seconds_us
from dovetail.testing.scenario import Scenario, Step
from dovetail.testing.script import Advance, Close, Event, Push, Tick

_STREAM = re.compile(r"stream (\w+)\((.*?)\)\s*(.*)")
_SETTING = re.compile(r"(window|delay|idle|ahead|asof|dedup) (.*?)(?= window | delay | idle | ahead | asof | dedup |$)")
_ROWS = re.compile(r"(\d+) rows?( per key)?")
_OPTIONS = ("on", "select", "how", "order", "late")

Cells = dict[str, str]


def load_scenario(path: Path) -> Scenario:
    """The scenario of a file."""
    return read_scenario(path.read_text(encoding="utf-8"))


def read_scenario(text: str) -> Scenario:
    """The scenario of a text."""
    lines = text.splitlines()
    title = next(line.removeprefix("# ") for line in lines if line.startswith("# "))
    block = re.search(r"^(```|~~~)query\n(.*?)^\1", text, re.DOTALL | re.MULTILINE)
    if block is None:
        raise ValueError(f"scenario {title!r} has no block of kind 'query'")
    streams, options = _read_query(block[2])
    return Scenario(title, streams, options, tuple(_read_steps(lines, {each.name: each for each in streams})))


def _read_query(block: str) -> tuple[tuple[Stream, ...], dict[str, str]]:
    streams, options = [], {}
    for line in filter(None, map(str.strip, block.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "stream":
            streams.append(_read_stream(line))
        elif word in _OPTIONS:
            options[word] = rest
        else:
            raise ValueError(f"{line!r} begins with none of: stream, {', '.join(_OPTIONS)}")
    return tuple(streams), options


def _read_stream(line: str) -> Stream:
    match = _STREAM.fullmatch(line)
    if match is None:
        raise ValueError(f"{line!r} does not read: stream name(column type, ...) window ...")
    columns = dict(part.split() for part in match[2].split(","))
    schema = pa.schema({"time": TYPES["time"]} | {name: TYPES[kind] for name, kind in columns.items()})
    settings = {name: text.strip() for name, text in _SETTING.findall(match[3])}
    return Stream(
        name=match[1],
        schema=schema,
        time="time",
        window=_read_window(settings["window"]) if "window" in settings else None,
        delay_us=duration_us(settings.get("delay", "0 seconds")),
        idle_us=duration_us(settings["idle"]) if "idle" in settings else None,
        ahead_us=duration_us(settings["ahead"]) if "ahead" in settings else None,
        asof=_read_asof(settings["asof"]) if "asof" in settings else None,
        dedup=Dedup(tuple(settings["dedup"].split())) if "dedup" in settings else None,
    )


def _read_asof(text: str) -> AsOf:
    """``[left] direction [unequal] [within a duration]``."""
    words, _, within = text.partition(" within ")
    direction: Any = next((word for word in words.split() if word not in ("left", "unequal")), "backward")
    how: Missing = "left" if "left" in words.split() else "inner"
    return AsOf(direction, duration_us(within) if within else None, "unequal" not in words.split(), how)


def _read_window(text: str) -> Window:
    match = _ROWS.fullmatch(text)
    if match is None:
        return TimeWindow(duration_us(text))
    return RowWindow(int(match[1]), "key" if match[2] else "stream")


def _read_steps(lines: list[str], streams: dict[str, Stream]) -> Iterator[Step]:
    """Rows of the table, with those that continue a batch gathered into one step."""
    steps: list[list[tuple[int, Cells]]] = []
    for line, cells in _read_table(lines):
        if cells["push"] == "+":
            steps[-1].append((line, cells))
        else:
            steps.append([(line, cells)])
    for rows in steps:
        results = [result for _, cells in rows for result in _read_results(cells["results"])]
        yield Step(rows[0][0], _read_event([cells for _, cells in rows], streams), tuple(results))


def _read_table(lines: list[str]) -> Iterator[tuple[int, Cells]]:
    header: list[str] = []
    for number, line in enumerate(lines, start=1):
        if not line.startswith("|") or set(line) <= set("|-: "):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if header:
            yield number, dict(zip(header, cells, strict=True))
        header = header or cells


def _read_event(rows: list[Cells], streams: dict[str, Stream]) -> Event:
    word, _, name = rows[0]["push"].partition(" ")
    if word == "close":
        return Close()
    if word == "tick":
        return Tick(seconds_us(rows[0]["time"]))
    if word == "advance":
        return Advance(name, seconds_us(rows[0]["time"]))
    schema = streams[word].schema
    columns = [pa.array([read_cell(cells[field.name], field.type) for cells in rows], field.type) for field in schema]
    return Push.of(word, pa.table(columns, schema))


def _read_results(cell: str) -> list[tuple[str, ...]]:
    results = []
    for text in filter(None, map(str.strip, cell.split(";"))):
        time, _, values = text.partition(":")
        results.append((time.strip(), *(value.strip() for value in values.split(","))))
    return results
