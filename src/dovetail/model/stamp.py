"""What everything that is stored says of itself: the number of its format, and the release that wrote it.

What has no number is of format 1. A number that is newer than this code is refused, and the message names the release
that wrote it.

    >>> check_stamp("this state", {"format": 3, "by": "7.1.0"}, newest=2)
    Traceback (most recent call last):
    dovetail.errors.StateError: this state has format 3 and was written by Dovetail 7.1.0; this is ...
"""

import sys
from collections.abc import Mapping
from typing import Any

from dovetail.errors import StateError


def release() -> str:
    """This release; looked up, not imported, because the package itself is above all of its layers."""
    return str(sys.modules["dovetail"].__version__)


def stamp(number: int) -> dict[str, Any]:
    """For the front of something that is written in this format."""
    return {"format": number, "by": release()}


def check_stamp(what: str, told: Mapping[str, Any], newest: int) -> int:
    """The number of the format of something; StateError if this release reads only up to the newest."""
    number = told.get("format", 1)
    if not isinstance(number, int) or not 1 <= number <= newest:
        raise too_new(what, number, told.get("by", "of another release"), newest)
    return number


def too_new(what: str, number: object, by: str, newest: int) -> StateError:
    """What to say of something that this release cannot read."""
    return StateError(
        f"{what} has format {number!r} and was written by Dovetail {by}; this is {release()}, which reads formats 1 to "
        f"{newest}. Go on with the release that wrote it, or a newer one."
    )


def unstamped(told: Mapping[str, Any]) -> dict[str, Any]:
    """What was written, without what it said of itself."""
    return {name: value for name, value in told.items() if name not in ("format", "by")}
