"""The state side of an engine: changes since the last call, all of it, and taking it back.

Every part of the engine that must survive is a ``Section``: windows, waiting input, notes about
stored tuples, held output. What is not rows is a small JSON header.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

import pyarrow as pa

from dovetail.engine.admit.diverted import Diverted
from dovetail.engine.admit.door import Door, Lateness
from dovetail.engine.admit.gate import Gate
from dovetail.engine.admit.horizon import Horizon
from dovetail.engine.admit.watermarks import Watermarks, whole_numbers
from dovetail.engine.buffer.header import read_header
from dovetail.engine.buffer.slices import Changes, Section, SliceKey
from dovetail.engine.buffer.window import Window
from dovetail.engine.deliver.hold import Hold
from dovetail.engine.policies.memory.account import held_bytes
from dovetail.engine.policies.memory.keeper import Keeper
from dovetail.engine.policies.shed.shedding import Shedding
from dovetail.errors import StateError
from dovetail.model.decision import Decision
from dovetail.plan.choose_plan import plan_of
from dovetail.plan.physical import Plan


class Persistent:
    """What an engine writes and reads; the parts are made by the engine itself."""

    plan: Plan
    _sections: Sequence[Section]
    _memory: Keeper | None
    _watermarks: Watermarks
    horizon: Horizon
    _windows: dict[str, Window]
    _doors: dict[str, Door]
    diverted: Diverted
    _gate: Gate
    _hold: Hold
    decision: Decision
    _counts: Counter[str]
    _latest: int
    shedding: Shedding | None

    def __init__(self, plan: Plan) -> None:
        raise NotImplementedError

    @property
    def keeper(self) -> Keeper | None:
        """Who keeps its memory."""
        return self._memory

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        self._hold.write()
        new: dict[SliceKey, pa.RecordBatch] = {}
        gone: list[SliceKey] = []
        for section in self._sections:
            written, deleted = section.changes()
            new |= written
            gone += deleted
        return Changes(new, gone, self._header())

    def state(self) -> tuple[dict[SliceKey, pa.RecordBatch], bytes]:
        """All of the state: every slice and the header."""
        self._hold.write()
        slices: dict[SliceKey, pa.RecordBatch] = {}
        for section in self._sections:
            slices |= section.state()
        return slices, self._header()

    def apply(self, changes: Changes) -> None:
        """Take over what another engine of the same plan did to the same state."""
        header = read_header(changes.header, self._header())
        if {name for name, _ in changes.new} - {section.section for section in self._sections}:
            raise StateError("the state holds spilled rows; go on with a budget(memory=..., policy='spill') as before")
        for section in self._sections:
            ours = {number: rows for (name, number), rows in changes.new.items() if name == section.section}
            section.drop({number for name, number in changes.gone if name == section.section})
            for number in sorted(ours):
                section.load(number, ours[number])
            if section.section in header["sections"]:
                section.settle(header["sections"][section.section])
        self._restore(header)
        for _ in self._settle({}):
            raise AssertionError("whoever wrote the state gave out all that was due")

    @classmethod
    def restore(cls, plan: Plan, slices: Mapping[SliceKey, pa.RecordBatch], header: bytes) -> Self:
        """An engine that goes on where the state was written."""
        engine = cls(plan)
        engine.apply(Changes(dict(slices), [], header))
        return engine

    def _settle(self, pending: Mapping[str, int]) -> Any:
        raise NotImplementedError

    def _header(self) -> bytes:
        state = {
            "watermarks": self._watermarks.state(),
            "doors": {name: door.counts for name, door in self._doors.items()},
            "lateness": {name: door.needed_us for name, door in self._doors.items()},
            "counts": self._counts,
            "results": self._hold.results,
            "out_of_order": self._hold.out_of_order,
            "latest": self._latest,
            "latest_alone": self._hold.latest_alone,
            "sync": self._gate.sync,
            "decision": self.decision.to_json(),
            "sections": {section.section: section.header() for section in self._sections},
        }
        if self.horizon.gap_us is not None:
            state["reference"] = self.horizon.reference
        if self.shedding is not None:
            state["shedding"] = self.shedding.to_json()
        if self._memory is not None:
            state["memory"] = self._memory.account()
        return json.dumps(state).encode()

    def _restore(self, header: Mapping[str, Any]) -> None:
        self._watermarks.restore(header["watermarks"])
        for name, counts in header["doors"].items():
            self._doors[name].counts = Counter(whole_numbers(counts))
        for name, needed_us in header.get("lateness", {}).items():
            self._doors[name].needed_us = int(needed_us)
        self._counts = Counter(whole_numbers(header["counts"]))
        self._hold.results = int(header["results"])
        self._hold.out_of_order = int(header["out_of_order"])
        self._latest = int(header["latest"])
        self._hold.latest_alone = int(header["latest_alone"])
        self._gate.sync = header["sync"]
        reference = header.get("reference")
        self.horizon.reference = None if reference is None else int(reference)
        decision = Decision.from_json(header["decision"])
        if any(len(order) != len(self._windows) - 1 for order in decision.orders.values()):
            raise StateError(f"the state has probe orders that leave streams out: {dict(decision.orders)}")
        if decision.version and decision != self.decision:
            self._adopt(plan_of(self.plan.query, decision))
            self.decision = decision
        if self.shedding is not None and "shedding" in header:
            self.shedding.restore(header["shedding"])
            self._gate.pace()
        if self._memory is not None:
            self._memory.resume(header.get("memory", {}))

    def _adopt(self, plan: Plan) -> None:
        raise NotImplementedError

    def arrived(self) -> dict[str, int]:
        """How many rows each stream has sent."""
        return {name: door.counts["rows"] for name, door in self._doors.items()}

    def lateness(self) -> dict[str, Lateness]:
        """Of each stream whose late rows are dropped."""
        return {name: door.lateness for name, door in self._doors.items()} if self.plan.query.late == "drop" else {}

    def metrics(self) -> dict[str, Any]:
        """Counters and sizes so far."""
        reasons = ("rows", "late", "ahead", "null_time", "filtered", "unmatchable")
        streams = {
            name: {
                **{reason: door.counts[reason] for reason in reasons},
                "lateness_us": door.needed_us,
                "watermark": self._watermarks[name],
                "stored": len(self._windows[name]),
                "bytes": self._windows[name].nbytes,
                "waiting": len(self._gate.piles[name]),
            }
            for name, door in self._doors.items()
        }
        return {
            "streams": streams,
            "results": self._hold.results,
            "late_results": self._counts["late_results"] + self._hold.out_of_order,
            "held": len(self._hold),
            "held_bytes": self._hold.nbytes,
            "waiting_bytes": sum(pile.nbytes for pile in self._gate.piles.values()),
            "order": self._gate.mode,
            "frontier": self._watermarks.frontier,
            "plan": self.decision.to_json(),
            "bytes": sum(window.resident for window in self._windows.values())
            + held_bytes(self._gate, self._hold, self.diverted),
            **({"diverted": self.diverted.metrics()} if self.diverted.wanted else {}),
            **({} if self._memory is None else {"memory": self._memory.metrics()}),
        }
