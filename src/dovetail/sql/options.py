"""The options of a declaration: what Dovetail takes of them for itself, and what is left for Spark.

WITH (format = 'parquet', path = 'in/temperature', idle = '10 seconds')

    taken    format: parquet, idle: 10 s
    left     path: in/temperature
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import TokenType

from dovetail.errors import QueryError
from dovetail.model.choice import not_one_of
from dovetail.model.duration import duration_us
from dovetail.sql.place import Source, Span
from dovetail.sql.reader import Reader
from dovetail.sql.scope import find_name

Value = TypeVar("Value")


@dataclass(frozen=True)
class Options:
    """Values by name, and where each stands; taking one removes it."""

    source: Source
    values: dict[str, str]
    places: dict[str, Span]
    end: Span

    def needed(self, name: str) -> str:
        """An option that must be there."""
        value = self.taken(name)
        if value is None:
            raise self.source.error(f"the options need {name} = '...'", self.end)
        return value

    def taken(self, name: str) -> str | None:
        """An option that may be there."""
        found = find_name(name, self.values)
        return None if found is None else self.values.pop(found)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of some words; the first if there is no such option."""
        place = self.place(name)
        value = self.taken(name)
        if value is not None and value.lower() not in choices:
            raise self.source.error(not_one_of(name, value, choices), place)
        return choices[0] if value is None else value.lower()

    def duration(self, name: str) -> int | None:
        """A length of time in microseconds."""
        return self.read(name, duration_us)

    def number(self, name: str, kind: Callable[[str], Value]) -> Value | None:
        """A number."""

        def read(text: str) -> Value:
            try:
                return kind(text)
            except ValueError:
                raise ValueError(f"must be {'a whole number' if kind is int else 'a number'}, got {text!r}") from None

        return self.read(name, read)

    def read(self, name: str, reading: Callable[[str], Value]) -> Value | None:
        """An option that is more than its text; what is wrong with it is said where it stands."""
        place = self.place(name)
        value = self.taken(name)
        try:
            return None if value is None else reading(value)
        except (ValueError, OverflowError, QueryError) as error:
            raise self.source.error(f"{name} {error}", place) from None

    def here(self, make: Callable[[], Value]) -> Value:
        """What is made of several options; what is wrong with them together is said where they stand."""
        try:
            return make()
        except QueryError as error:
            raise self.source.error(str(error), self.end) from None

    def refuse(self, name: str, reason: str) -> None:
        """QueryError if the option is there."""
        if find_name(name, self.values) is not None:
            raise self.source.error(f"{name} is not an option: {reason}", self.place(name))

    def place(self, name: str) -> Span:
        """Where an option stands, or else the end of all."""
        return self.places.get(find_name(name, self.values) or "", self.end)


def read_options(reader: Reader) -> Options:
    """Options in parentheses: names, or texts in quotes, each with its value."""
    reader.needs("(")
    values: dict[str, str] = {}
    places: dict[str, Span] = {}
    while True:
        start = reader.at
        key = _key(reader)
        if key.lower() in map(str.lower, values):
            raise reader.source.error(f"option {key!r} is given a second time", reader.since(start))
        reader.needs("=")
        values[key] = _value(reader)
        places[key] = reader.since(start)
        if not reader.takes(","):
            break
    reader.needs(")")
    return Options(reader.source, values, places, reader.since(reader.at - 1))


def _key(reader: Reader) -> str:
    if reader.next is not None and reader.next.token_type == TokenType.STRING:
        return reader.string("an option")
    return reader.name("an option such as format = 'parquet'")


def _value(reader: Reader) -> str:
    if reader.next is not None and reader.next.token_type == TokenType.NUMBER:
        return reader.number("a value")
    for word in ("TRUE", "FALSE"):
        if reader.takes(word):
            return word.lower()
    return reader.string("a value in single quotes")
