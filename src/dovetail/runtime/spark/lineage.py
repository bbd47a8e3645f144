"""What the last few batches did to a bucket's slices, so that a worker that missed some can catch up.

before "a": + (window/T, 4)      before "b": + (window/T, 5), - (window/T, 3)      token now: "c"

an engine at "b" needs slice 5 and drops 3;  one at "a" needs 4 and 5 and drops 3;  one at "x" must start afresh

As text it also has the number of the checkpoint's format, so that a newer one is known before anything else is read.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dovetail.engine.buffer.section import SliceKey
from dovetail.model.stamp import check_stamp, stamp

FORMAT = 3  # of a bucket in a checkpoint; 1 and 2 had a lineage without a number
REMEMBERED = 16  # batches; more than are ever repeated at once


@dataclass(frozen=True)
class StateChange:
    """One committed batch: the token it started from, the slices it wrote and those it deleted."""

    before: str
    new: tuple[SliceKey, ...]
    gone: tuple[SliceKey, ...]


@dataclass(frozen=True)
class Lineage:
    """The last steps, oldest first."""

    steps: tuple[StateChange, ...] = ()

    def after(self, step: StateChange) -> "Lineage":
        """This lineage with one more step."""
        return Lineage((*self.steps, step)[-REMEMBERED:])

    def since(self, token: str) -> tuple[list[SliceKey], list[SliceKey]] | None:
        """Slices to load and slices to drop for an engine at ``token``; None if that is too long ago, or never was."""
        starts = [at for at, step in enumerate(self.steps) if step.before == token]
        return _sum(self.steps[starts[0] :]) if starts else None

    def written(self, token: str) -> Iterator[tuple[str, tuple[SliceKey, ...]]]:
        """The last steps, oldest first: the token that each came to, ``token`` in the end, and what it wrote."""
        return zip([*(step.before for step in self.steps[1:]), token], (step.new for step in self.steps), strict=False)

    def to_text(self) -> str:
        """The lineage as JSON."""
        return json.dumps(stamp(FORMAT) | {"steps": [[step.before, step.new, step.gone] for step in self.steps]})

    @classmethod
    def from_text(cls, text: str) -> "Lineage":
        """The inverse of ``to_text``; StateError if a newer release wrote it."""
        told = json.loads(text)
        if isinstance(told, dict):
            check_stamp("this checkpoint", told, FORMAT)
            told = told["steps"]
        return cls(tuple(StateChange(before, _keys(new), _keys(gone)) for before, new, gone in told))


def _keys(pairs: Sequence[Sequence[object]]) -> tuple[SliceKey, ...]:
    return tuple((str(section), int(str(number))) for section, number in pairs)


def _sum(steps: Sequence[StateChange]) -> tuple[list[SliceKey], list[SliceKey]]:
    load: dict[SliceKey, None] = {}
    drop: list[SliceKey] = []
    for step in steps:
        load |= dict.fromkeys(step.new)
        for key in step.gone:
            if key in load:
                del load[key]
            else:
                drop.append(key)
    return list(load), drop
