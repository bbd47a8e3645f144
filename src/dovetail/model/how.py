"""How streams are joined: a word for two streams; for more, one word for each stream after the first.

    how="left"                          A, B: every row of A, with NULL for B where it has no partner
    how={"B": "left", "C": "anti"}      A, B, C: one stream after the other, as SQL joins them

A query keeps the words as one text in the order of its streams, "left, anti"; all of them "inner" is "inner".
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dovetail.errors import QueryError, nearest
from dovetail.model.choice import as_choice

How = Literal["inner", "left", "right", "full", "semi", "anti"]

HOWS: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")
KEEPING = ("right", "full")  # words of streams whose rows come out also where nothing before them fits
BY_STREAM = "by stream"  # the name of such a join in the table of combinations


def as_how(how: Any, names: Sequence[str]) -> str:
    """The words as a query keeps them; QueryError says which is not one, or which stream it is not for."""
    if isinstance(how, str) and ", " in how:
        how = dict(zip(names[1:], how.split(", "), strict=False)) if how.count(", ") == len(names) - 2 else how
    if isinstance(how, Mapping):
        return _text([as_choice(f"how of {name!r}", how.get(name, "inner"), HOWS) for name in _checked(how, names)])
    word = as_choice("how", how, HOWS)
    if len(names) == 2 or word == "inner":
        return word
    return _text([word] * (len(names) - 1))


def words_of(how: str, names: Sequence[str]) -> dict[str, How]:
    """The word of each stream after the first, of a join that has one for each; "inner" stands for all of them."""
    words = how.split(", ")
    return dict(zip(names[1:], words if len(words) > 1 else words * (len(names) - 1), strict=True))  # type: ignore[arg-type]


def hidden(how: str, names: Sequence[str]) -> list[str]:
    """The streams whose rows are not in the results: it only matters whether there are any."""
    return [name for name, word in zip(names[1:], how.split(", "), strict=False) if word in ("semi", "anti")]


def _text(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 or set(words) == {"inner"} else ", ".join(words)


def _checked(how: Mapping[Any, Any], names: Sequence[str]) -> Sequence[str]:
    """The streams that need a word, if all that have one do."""
    for name in how:
        if name == names[0]:
            raise QueryError(
                f"how: {name!r} is the first stream, to which the others are joined; give the words for them: "
                f"{', '.join(map(repr, names[1:]))}"
            )
        if name not in names:
            raise QueryError(f"how: there is no stream {name!r}; {nearest(str(name), list(names))}")
    return names[1:]
