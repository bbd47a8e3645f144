"""Where in a text a mistake is, and how a message shows it.

    line 2, column 7: stream 'T' has no column 'vaule'; it has: value, ts. Did you mean 'value'?
        WHERE T.vaule > 40
              ^^^^^^^

sqlglot notes on names, numbers and texts at which characters they stand; a larger node spans those inside it.
"""

from dataclasses import dataclass

from sqlglot import exp

from dovetail.errors import QueryError

_WIDEST = 160  # a longer line is no help in an error


@dataclass(frozen=True)
class Span:
    """The characters from ``start`` up to, not including, ``end``."""

    start: int
    end: int


class PlacedError(QueryError):
    """A mistake in an expression, with the place it was found at; never leaves this package."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.span = span


def span_of(node: exp.Expr) -> Span | None:
    """The characters a node was read from, as far as sqlglot noted them."""
    places = [part.meta for part in node.walk() if "start" in part.meta]
    if not places:
        return None
    return Span(min(place["start"] for place in places), max(place["end"] for place in places) + 1)


def placed(error: QueryError, node: exp.Expr) -> QueryError:
    """The error with the place of the innermost node it came through."""
    span = None if isinstance(error, PlacedError) else span_of(node)
    return error if span is None else PlacedError(str(error), span)


@dataclass(frozen=True)
class Source:
    """A text that mistakes are found in."""

    text: str

    def error(self, message: str, span: Span) -> QueryError:
        """The message with line, column, and a picture of the place."""
        start = min(span.start, len(self.text))
        line, column = self.text.count("\n", 0, start) + 1, start - self.text.rfind("\n", 0, start)
        return QueryError("\n".join([f"line {line}, column {column}: {message}", *self._picture(start, span.end)]))

    def at(self, message: str, node: exp.Expr) -> QueryError:
        """The message at a node; without a place if sqlglot noted none."""
        return self.shown(placed(QueryError(message), node))

    def shown(self, error: QueryError) -> QueryError:
        """A mistake with its picture; any other error as it is."""
        return self.error(str(error), error.span) if isinstance(error, PlacedError) else error

    def _picture(self, start: int, end: int) -> list[str]:
        first = self.text.rfind("\n", 0, start) + 1
        line = self.text[first:].partition("\n")[0].rstrip()
        if not line.strip() or len(line) > _WIDEST:
            return []
        margin = "".join("\t" if letter == "\t" else " " for letter in line[: start - first])
        return [f"    {line}", f"    {margin}{'^' * max(min(end, first + len(line)) - start, 1)}"]
