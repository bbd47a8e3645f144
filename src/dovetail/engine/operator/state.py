"""The state of an operator, assembled from its sections: slices, and one header with the number of its format.

    format 2    {"format": 2, "by": "0.1.0", "sections": {"window/T": {...}, "watermarks": {...}, ...}}
    format 1    written by 0.1 before sections had all of it: read, never written

A format that is newer than this code is refused, and the message names the release that wrote it (``by``).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dovetail.engine.block.time_range import BEFORE_ALL
from dovetail.engine.buffer.header import check_header
from dovetail.engine.buffer.section import Changes, Section, Slices
from dovetail.engine.policies.spill.section import SPILLED
from dovetail.errors import StateError
from dovetail.model.stamp import check_stamp, stamp

FORMAT = 2  # of the header; a reader of every number before stays below

Header = dict[str, Any]


class State:
    """What an operator writes and reads."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections

    def changes(self) -> Changes:
        """What to write to a state store since the last call."""
        new: Slices = {}
        gone = []
        for section in self._sections:
            written, deleted = section.changes()
            new |= written
            gone += deleted
        return Changes(new, gone, self._header())

    def all(self) -> Changes:
        """Every slice and the header, without taking note of having written them."""
        slices: Slices = {}
        for section in self._sections:
            slices |= section.state()
        return Changes(slices, [], self._header())

    def _header(self) -> bytes:
        sections = {section.section: section.header() for section in self._sections}
        return json.dumps(stamp(FORMAT) | {"sections": sections}).encode()

    def apply(self, changes: Changes) -> None:
        """Take over what another operator of the same plan did to the same state."""
        headers = read_header(changes.header)["sections"]
        spilled = headers.get(SPILLED, {}).get("parts")  # on Spark their rows are not among the slices
        stored = {name for name, _ in changes.new} | ({SPILLED} if spilled else set())
        if stored - {section.section for section in self._sections}:
            raise StateError("the state holds spilled rows; go on with a budget(memory=..., policy='spill') as before")
        for section in self._sections:
            check_header(section.section, headers.get(section.section, {}), section.header())
        for section in self._sections:
            ours = {number: rows for (name, number), rows in changes.new.items() if name == section.section}
            section.drop({number for name, number in changes.gone if name == section.section})
            for number in sorted(ours):
                section.load(number, ours[number])
            if section.section in headers:
                section.restore(headers[section.section])


def read_header(header: bytes) -> Header:
    """A header of any format ever written, as the newest has it."""
    found: Header = json.loads(header)
    number = check_stamp("this state", found, FORMAT)
    return {name: value for name, value in _UPGRADES[number](found).items() if name != "by"}


def _from_1(found: Header) -> Header:
    """Sections for what 0.1 kept beside them; its adaptive order and its memory accounts were not kept at all."""
    shed = found.get("shedding")
    decision = found["decision"] | {
        "waits": "sync" if found["sync"] else "hold",
        "shed": shed["decision"] if shed else {"throttle": 1.0, "picks": None, "kept": {}, "ages": {}},
    }
    sections = found["sections"] | {
        "watermarks": found["watermarks"],
        "inputs": {"latest": found["latest"], "counts": found["doors"]},
        "delivered": {
            "results": found["results"],
            "out_of_order": found["out_of_order"],
            "late_results": found["counts"].get("late_results", 0),
            "latest_alone": BEFORE_ALL,
        },
        "decision": decision,
        "memory": {},
    }
    if shed:
        sections["shedding"] = {name: shed[name] for name in ("estimate", "logs", "counts", "dropped")}
        if shed["control"]:
            sections["control"] = {"cpu": shed["control"]}
    if "shared" in found:
        sections["group"] = {"subscriptions": found["shared"], "delivered": found["delivered"]}
    return {"format": FORMAT, "sections": sections}


_UPGRADES: Mapping[int, Callable[[Header], Header]] = {1: _from_1, 2: lambda found: found}
