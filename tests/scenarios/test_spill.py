"""The example of MJoin's section 2.7, step by step: what is in memory, what is on disk, what comes out."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dovetail as dv
from dovetail.engine.buffer.window import Window
from dovetail.engine.policies.memory.account import Account
from dovetail.engine.policies.spill.choose import AtRandom, Group, Leaving
from dovetail.engine.policies.spill.flush import Flush
from dovetail.engine.policies.spill.spill import Spill
from dovetail.model.budget import Tuples

TABLE = Path(__file__).parent / "spill" / "mjoin_2_7.md"
STREAMS = ("S1", "S2", "S3")
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.string()})


class TwoOfEach(Account):
    """Every stream has room for two tuples."""

    def held(self) -> int:
        return max(map(self.stored, STREAMS))


class Named(AtRandom):
    """A tuple named by the scenario leaves, or the oldest one where there are too many."""

    named: str | None = None

    def groups(self, windows: Mapping[str, Window], seed: int) -> Iterator[Group]:
        for name, window in windows.items():
            ids = np.arange(window.tail, window.end)
            if self.named is not None:
                ids = ids[[tuple_name(row) == self.named for row in window.batch(window.tail, window.end).to_pylist()]]
            else:
                ids = ids[: max(0, len(ids) - 2)]
            if len(ids):
                yield [Leaving(name, ids)]


def tuple_name(row: Mapping[str, Any]) -> str:
    return f"{row['k']}{row['ts'].microsecond}"


def lines() -> list[dict[str, str]]:
    rows = [line.strip("|").split("|") for line in TABLE.read_text().splitlines() if line.startswith("|")]
    header, _, *body = ([cell.strip() for cell in row] for row in rows)
    return [dict(zip(header, row, strict=True)) for row in body]


class Example:
    def __init__(self) -> None:
        streams = [dv.stream(name, time="ts", window="1 hour", schema=SCHEMA) for name in STREAMS]
        on = "S1.k = S2.k AND S2.k = S3.k"
        select = ", ".join(f"{name}.k AS k{name}, {name}.ts AS t{name}" for name in STREAMS)
        budget = dv.budget(memory=dv.tuples(2), policy="spill")
        self.run = dv.join(*streams, on=on, select=select, budget=budget).local()
        (readings,) = self.run.operator.statistics()
        spill = readings.line.memory
        assert isinstance(spill, Spill)
        self.spill, self.choice = spill, Named()
        spill._account = TwoOfEach(spill.stages, Tuples(2))
        spill._flush = Flush(spill.stages, spill._account, self.choice, spill.store)

    def step(self, words: list[str]) -> pa.Table:
        if words[0] == "close":
            return self.run.close()
        if words[0] == "pause":
            return pa.concat_tables([self.run.tick(18), self.run.tick(1000)])
        if words[0] == "flush":
            self.choice.named, limit = words[1], self.spill._account.limit
            self.spill._account.limit = 0
            self.spill._make_room()
            self.choice.named, self.spill._account.limit = None, limit
            return self.run.tick(18).slice(0, 0)
        return self.run.push(words[0], [{"k": words[1][0], "ts": int(words[1][1:])}])

    def memory(self, name: str) -> str:
        window = self.spill.stages.store.windows[name]
        return " ".join(map(tuple_name, window.batch(window.tail, window.end).to_pylist()))

    def disk(self, name: str) -> str:
        parts = [part for part in self.spill.parts.values() if part.stream == name]
        return " ".join(tuple_name(row) for part in parts for row in self.spill.store.read(part.number).to_pylist())


def test_the_example_of_section_2_7() -> None:
    example = Example()
    for line in lines():
        rows = example.step(line["step"].split()).to_pylist()
        named = [
            " ".join(tuple_name({"k": row[f"k{name}"], "ts": row[f"t{name}"]}) for name in STREAMS) for row in rows
        ]
        assert "; ".join(named) == line["results"], line
        for name in STREAMS:
            assert example.memory(name) == line[f"{name} memory"], (line, name)
            assert example.disk(name) == line[f"{name} disk"], (line, name)
