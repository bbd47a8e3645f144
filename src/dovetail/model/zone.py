"""Zones of time by the names that Arrow and Spark have for them."""

from datetime import datetime, tzinfo
from zoneinfo import ZoneInfo


def zone(name: str) -> tzinfo:
    """The zone of a name such as Europe/Berlin or +01:00.

    >>> zone("+01:00").utcoffset(None)
    datetime.timedelta(seconds=3600)
    """
    if name[0] not in "+-":
        return ZoneInfo(name)
    found = datetime.strptime(name, "%z").tzinfo
    assert found is not None
    return found
