"""The WINDOW clause: one window for all streams of a query, or one per stream.

    WINDOW 10 MINUTES                          every stream: 10 minutes
    WINDOW T ROWS 10000, H 1 MINUTE            T: its last 10000 tuples, H: 1 minute
    WINDOW ROWS 100 PER KEY                    every stream: the last 100 tuples of each key
    WINDOW T UNBOUNDED, H 1 MINUTE             T: all tuples

It ends a query. SQL knows another clause of this name, which the language does not have.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType

from dovetail.errors import StreamError
from dovetail.model.window import Window, as_window, rows, unbounded
from dovetail.sql.place import Source, Span
from dovetail.sql.reader import Reader, depths, is_name, span

_FORMS = "a window such as 10 MINUTES, ROWS 1000, ROWS 100 PER KEY or UNBOUNDED"


@dataclass(frozen=True)
class OwnWindow:
    """A window, the stream it is for (None: all of them), and where that stands."""

    stream: str | None
    window: Window
    span: Span


def split_window(source: Source, words: Sequence[Token]) -> tuple[Sequence[Token], tuple[OwnWindow, ...]]:
    """The words before the WINDOW clause, and what the clause says."""
    starts = [at for at, depth in enumerate(depths(words)) if depth == 0 and _begins_clause(words, at)]
    if not starts:
        return words, ()
    if len(starts) > 1:
        raise source.error("a query has one WINDOW clause, and this is a second", span(words[starts[1]]))
    return words[: starts[0]], _clause(Reader(source, words, starts[0] + 1))


def _begins_clause(words: Sequence[Token], at: int) -> bool:
    """WINDOW may also be the name of a column or an alias: then a point or AS is beside it."""
    if words[at].token_type != TokenType.WINDOW:
        return False
    before = words[at - 1].token_type if at else None
    after = words[at + 1].token_type if at + 1 < len(words) else None
    return before not in (TokenType.DOT, TokenType.ALIAS) and after != TokenType.DOT


def _clause(reader: Reader) -> tuple[OwnWindow, ...]:
    found = [_own(reader)]
    while reader.takes(","):
        found.append(_own(reader))
    if reader.next is not None:
        raise reader.wanted("the end of the query")
    for at, each in enumerate(found):
        if len(found) > 1 and each.stream is None:
            raise reader.source.error("beside others a window needs the name of its stream", each.span)
        if each.stream in [other.stream for other in found[:at]]:
            raise reader.source.error(f"stream '{each.stream}' is given a second window", each.span)
    return tuple(found)


def _own(reader: Reader) -> OwnWindow:
    start, stream = reader.at, None
    if not _window_comes(reader) and reader.next is not None and is_name(reader.next):
        stream = reader.name("the name of a stream")
    window = _window(reader)
    return OwnWindow(stream, window, reader.since(start))


def _window_comes(reader: Reader) -> bool:
    """Whether the words are a window, and not the name of a stream before one."""
    if reader.sees("UNBOUNDED"):
        after = reader.words[reader.at + 1] if reader.at + 1 < len(reader.words) else None
        return after is None or after.token_type == TokenType.COMMA
    if not reader.sees("ROWS"):
        return reader.next is not None and reader.next.token_type == TokenType.NUMBER
    after = reader.words[reader.at + 1] if reader.at + 1 < len(reader.words) else None
    return after is None or after.token_type == TokenType.NUMBER


def _window(reader: Reader) -> Window:
    start = reader.at
    try:
        if reader.takes("ROWS"):
            return _rows(reader)
        if reader.takes("UNBOUNDED"):
            return unbounded()
        amount = reader.number(_FORMS)
        return as_window(f"{amount} {reader.name('a unit of time such as SECONDS, MINUTES or HOURS')}")
    except StreamError as error:
        raise reader.source.error(str(error), reader.since(start)) from None


def _rows(reader: Reader) -> Window:
    start, count = reader.at, reader.number("a number of rows")
    if not (count.isascii() and count.isdecimal() and len(count) <= 18 and int(count)):
        raise reader.source.error("a row window has a whole number of rows, 1 or more", reader.since(start))
    if not reader.takes("PER"):
        return rows(int(count))
    reader.needs("KEY")
    return rows(int(count), per="key")
