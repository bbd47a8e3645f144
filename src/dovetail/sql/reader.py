"""Reading a text word by word: for the clauses that are Dovetail's own and that sqlglot does not know.

    WINDOW T 10 MINUTES, H ROWS 100      ->   words of the WINDOW clause
    CREATE STREAM T (...) WITH (...)     ->   words of a pipeline file

sqlglot cuts the text into words, which know where they stand, so that every complaint can point at one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import Token, TokenType
from sqlglot.errors import SqlglotError

from dovetail.errors import QueryError
from dovetail.sql.dialect import Dovetail
from dovetail.sql.place import Source, Span

_NAME = re.compile(r"[^\W\d]\w*")
_OPENED = re.compile(r"from \d+:(\d+)$")
_OPENING = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}


def words_of(source: Source) -> list[Token]:
    """The words of a text without its comments; QueryError if a quote is never closed."""
    try:
        return Dovetail().tokenize(source.text)
    except SqlglotError as error:
        opened = _OPENED.search(str(error.__cause__))
        if opened is None:
            raise QueryError("a quote or a comment in the text is never closed") from None
        raise source.error("this quote is never closed", Span(int(opened[1]), int(opened[1]) + 1)) from None


def depths(words: Sequence[Token]) -> list[int]:
    """How many parentheses are open before each word."""
    depth, found = 0, []
    for word in words:
        found.append(depth)
        depth += _OPENING.get(word.token_type, 0)
    return found


def check_parentheses(source: Source, words: Sequence[Token]) -> None:
    """QueryError at a parenthesis without its other half."""
    open_ones: list[Token] = []
    for word in words:
        if word.token_type == TokenType.L_PAREN:
            open_ones.append(word)
        elif word.token_type == TokenType.R_PAREN and not open_ones:
            raise source.error("this parenthesis was never opened", span(word))
        elif word.token_type == TokenType.R_PAREN:
            open_ones.pop()
    if open_ones:
        raise source.error("this parenthesis is never closed", span(open_ones[-1]))


def span(word: Token) -> Span:
    """The characters of a word."""
    return Span(word.start, word.end + 1)


def is_name(word: Token) -> bool:
    """Whether a word can be a name: it is quoted as one, or made of letters and digits."""
    if word.token_type == TokenType.STRING:
        return False
    return word.token_type == TokenType.IDENTIFIER or _NAME.fullmatch(word.text) is not None


@dataclass
class Reader:
    """Goes through words from left to right."""

    source: Source
    words: Sequence[Token]
    at: int = field(default=0)

    @property
    def next(self) -> Token | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def sees(self, *expected: str) -> bool:
        """Whether these words come next; a quoted name is never one of them."""
        coming = self.words[self.at : self.at + len(expected)]
        quoted = (TokenType.IDENTIFIER, TokenType.STRING)
        unquoted = [word.text.upper() for word in coming if word.token_type not in quoted]
        return unquoted == list(expected)

    def sees_after_name(self, *expected: str) -> bool:
        """Whether these words stand behind the next one."""
        return Reader(self.source, self.words, self.at + 1).sees(*expected) if self.next is not None else False

    def takes(self, *expected: str) -> bool:
        """Go past these words if they come next."""
        seen = self.sees(*expected)
        self.at += len(expected) if seen else 0
        return seen

    def needs(self, *expected: str) -> None:
        """Go past these words; QueryError if something else comes."""
        for word in expected:
            if not self.takes(word):
                raise self.wanted(word)

    def name(self, what: str) -> str:
        """A name, such as that of a stream."""
        if self.next is None or not is_name(self.next):
            raise self.wanted(what)
        return self._past()

    def number(self, what: str) -> str:
        """A number, as it is written."""
        return self._of(TokenType.NUMBER, what)

    def string(self, what: str) -> str:
        """A text in single quotes."""
        return self._of(TokenType.STRING, what)

    def wanted(self, what: str) -> QueryError:
        """The complaint that something else came, or nothing."""
        if self.next is not None:
            shown = self.source.text[self.next.start : self.next.end + 1]
            return self.source.error(f"expected {what}, and came {shown}", span(self.next))
        end = self.words[-1].end + 1 if self.words else len(self.source.text)
        return self.source.error(f"expected {what}, and nothing came", Span(end, end + 1))

    def since(self, start: int) -> Span:
        """The characters from the word at a position up to the last one read."""
        first = self.words[min(start, len(self.words) - 1)]
        return Span(first.start, self.words[max(self.at - 1, 0)].end + 1)

    def _of(self, kind: TokenType, what: str) -> str:
        if self.next is None or self.next.token_type != kind:
            raise self.wanted(what)
        return self._past()

    def _past(self) -> str:
        self.at += 1
        return self.words[self.at - 1].text
