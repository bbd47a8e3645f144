"""The state of one shape of operators dealt out to another: one operator to a tree, a tree to another, or back.

    one operator over A, B, C          window A, window B, window C, held results
    ((A, B), C)                        window A, window B | window (A, B), window C, held results

All combinations of stored tuples have been made before. So the stored tuples of every stream are pushed into the new
shape and what comes out of it is thrown away: its intermediate results are then where they belong. Held results move
as rows; how far streams have come, and what was counted of them, as numbers. Nothing may wait at a gate.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail.engine.operator.contract import Operator
from dovetail.engine.operator.line import Line


def can_be_redealt(operator: Operator) -> bool:
    """Whether nothing waits on its way in, so that all that came has met all that is stored."""
    return not any(each.waiting for each in operator.statistics())


def redeal(before: Operator, after: Operator, names: Sequence[str]) -> None:
    """Let ``after``, which is new, go on where ``before`` is; ``names``: the streams of the query."""
    old, new = _lines(before), _lines(after)
    old[-1].exit.hold.materialise()
    homes = {name: line for line in old for name in names if name in line.store.windows}
    for name, line in homes.items():
        window = line.store.windows[name]
        if len(window):
            for _ in after.push({name: window.batch(window.tail, window.end)}):
                pass
    new[-1].exit.take_over(old[-1].exit)
    for name, line in homes.items():
        for rows in after.advance(name, line.inputs.watermarks[name]):
            assert not rows.num_rows, "whoever held results gave out all that were due"
    for line in new:
        _go_on(line, homes)


def _lines(operator: Operator) -> list[Line]:
    return [each.line for each in operator.statistics()]


def _go_on(line: Line, homes: Mapping[str, Line]) -> None:
    """What is known of the streams that come in here, as their lines before knew it."""
    for part in (line.inputs.watermarks, line.inputs):
        own = part.header()
        for name in line.store.windows:
            if name in homes:
                known = homes[name].inputs.watermarks if part is line.inputs.watermarks else homes[name].inputs
                own = _with(own, known.header(), name)
        part.restore(own)


def _with(header: dict[str, Any], other: dict[str, Any], name: str) -> dict[str, Any]:
    """A header with what another says of one stream, and of all streams together where that is not about one."""
    made: dict[str, Any] = {}
    for key, value in header.items():
        if isinstance(value, dict):
            made[key] = value | {name: other[key][name]}
        elif isinstance(value, list) and key == "spoke":
            made[key] = sorted(({*value} - {name}) | ({name} & {*other[key]}))
        else:
            made[key] = max(value, other[key]) if isinstance(value, int) else other[key]
    return made
