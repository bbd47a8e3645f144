"""Some operators side by side, driven as if they were one: every batch goes to each that has its stream.

When the set of queries changes, an operator that keeps some of its queries goes on from its state, one that
has none left goes, and a new one starts with the progress that the others have made: what is late for them
is late for it.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

import pyarrow as pa

from dovetail.control.schedule import schedule_windows
from dovetail.engine.admit.door import Lateness
from dovetail.engine.buffer.slices import Changes, SliceKey
from dovetail.engine.operator.engine import Rows, Stopwatch
from dovetail.engine.operator.shared import SharedEngine
from dovetail.errors import StateError
from dovetail.plan.group_queries import Groups
from dovetail.plan.share_queries import SharedPlan
from dovetail.runtime.side_output import SideOutput

State = tuple[dict[SliceKey, pa.RecordBatch], bytes]


class Operators:
    """The engines of some groups of queries, by group."""

    def __init__(self, groups: Groups, stopwatch: Stopwatch | None = None, block_rows: int | None = None) -> None:
        self._stopwatch = stopwatch
        self._block_rows = block_rows
        self.engines = {place: self._new(plan) for place, plan in groups.plans.items()}
        self._progress: dict[str, dict[str, Any]] = {}
        self.diverted = SideOutput()
        self.diverted.follow(self.engines)

    def _new(self, plan: SharedPlan) -> SharedEngine:
        return SharedEngine(plan, self._stopwatch, self._block_rows, schedule_windows(plan))

    def push(self, blocks: Mapping[str, pa.Table | pa.RecordBatch]) -> Rows:
        """One batch; rows that do not fit are found before any operator has changed."""
        asked = [
            engine.push({name: rows for name, rows in blocks.items() if name in engine.plan.query.names})
            for engine in self._with(*blocks)
        ]
        return chain.from_iterable(asked)

    def advance(self, name: str, time_us: int) -> Rows:
        return chain.from_iterable(engine.advance(name, time_us) for engine in self._with(name))

    def tick(self, now_us: int) -> Rows:
        return chain.from_iterable(engine.tick(now_us) for engine in self.engines.values())

    def close(self) -> Rows:
        return chain.from_iterable(engine.close() for engine in self.engines.values())

    def _with(self, *streams: str) -> Iterator[SharedEngine]:
        for engine in self.engines.values():
            if any(name in engine.plan.query.names for name in streams):
                yield engine

    def change(self, groups: Groups) -> None:
        """Other queries from now on."""
        self._remember()
        if self.engines.keys() - groups.plans.keys():
            self.diverted.gather()
        engines = {}
        for place, plan in groups.plans.items():
            if place in self.engines:
                engines[place] = self.engines[place].changed(plan, schedule_windows(plan))
            else:
                engines[place] = self._started_late(self._new(plan))
        self.engines = engines
        self.diverted.follow(engines)

    def _remember(self) -> None:
        """How far each stream has come."""
        for engine in self.engines.values():
            state = engine._watermarks.state()
            passed, last = state["clock"]
            for name, heard in state["heard"].items():
                self._progress[name] = {
                    "watermark": state["watermarks"][name],
                    "silent": None if heard is None else passed - heard,
                    "spoke": name in state["spoke"],
                    "clock": last,
                    "reference": engine.horizon.reference,
                }

    def _started_late(self, engine: SharedEngine) -> SharedEngine:
        known = {name: self._progress[name] for name in engine.plan.query.names if name in self._progress}
        state = engine._watermarks.state()
        spoke = {name for name in state["spoke"] if name not in known or known[name]["spoke"]}
        engine._watermarks.restore(
            {
                "watermarks": state["watermarks"] | {name: each["watermark"] for name, each in known.items()},
                "heard": state["heard"] | {name: _heard(each) for name, each in known.items()},
                "spoke": spoke,
                "clock": [0, next((each["clock"] for each in known.values() if each.get("clock") is not None), None)],
            }
        )
        references = [each["reference"] for each in known.values() if each.get("reference") is not None]
        engine.horizon.reference = max(references, default=None)
        return engine

    def metrics(self) -> dict[str, Any]:
        """Of each operator, under its group; and of each query."""
        found = {place: engine.metrics() for place, engine in self.engines.items()}
        queries = {name: each for metrics in found.values() for name, each in metrics.pop("queries").items()}
        held = sum(metrics["bytes"] for metrics in found.values()) + self.diverted.nbytes
        return {"queries": queries, "operators": found, "bytes": held}

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped, by whichever operator; one that started later has seen less."""
        found: dict[str, Lateness] = {}
        for engine in self.engines.values():
            for name, own in engine.lateness().items():
                found[name] = max(found.get(name, own), own, key=lambda each: each.rows)
        return found

    def state(self) -> State:
        """The slices of all, their sections marked with their group."""
        self._remember()
        slices: dict[SliceKey, pa.RecordBatch] = {}
        headers = {}
        for place, engine in self.engines.items():
            own, header = engine.state()
            slices |= {(f"{place}|{section}", number): rows for (section, number), rows in own.items()}
            headers[place] = header.decode()
        slices |= self.diverted.state()
        return slices, json.dumps({"operators": headers, "progress": self._progress}).encode()

    def restore(self, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> None:
        """Go on from a state, with these queries instead of those that wrote it."""
        written = json.loads(header)
        if not written["operators"].keys() & self.engines.keys():
            raise StateError(
                "this snapshot belongs to other queries: no group has the streams and predicate of these. "
                "Resume with queries over the same streams, or start without a snapshot."
            )
        self._progress = written["progress"]
        self.diverted.restore(slices)
        for place, engine in self.engines.items():
            if place in written["operators"]:
                own = {
                    (section.removeprefix(f"{place}|"), number): rows
                    for (section, number), rows in slices.items()
                    if section.startswith(f"{place}|")
                }
                engine.apply(Changes(own, [], written["operators"][place].encode()))
            else:
                self._started_late(engine)


def _heard(progress: Mapping[str, Any]) -> int | None:
    """When a stream spoke last, on a clock that begins now."""
    silent = progress.get("silent")
    return None if silent is None else -int(silent)


def written_places(header: bytes) -> dict[str, str]:
    """In which group each query was when a state was written."""
    operators = json.loads(header)["operators"]
    shared = {place: json.loads(own)["shared"] for place, own in operators.items()}
    return {each["name"]: place for place, own in shared.items() for each in own["places"]}
