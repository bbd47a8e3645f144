"""The clauses of SQL that the language does not have, refused by name before anything else is read.

    SELECT T.a FROM T, H ... LIMIT 10     ->   LIMIT is not available: a stream has no last row; ...

They are looked for outside parentheses; a word beside a point or after AS is a name.
"""

from collections.abc import Sequence

from sqlglot import Token, TokenType

from dovetail.sql.place import Source
from dovetail.sql.reader import depths, span

_AFTERWARDS = "filter the rows that come out"
_ENDLESS = "a stream has no last row; the first results of tables are query.collect(limit=...)"
_APART = "write one query for each part"
_REASONS = {
    TokenType.WITH: "name each stream in FROM",
    TokenType.QUALIFY: _AFTERWARDS,
    TokenType.ORDER_BY: "results come in order of their time with order='sync'",
    TokenType.SORT_BY: "results come in order of their time with order='sync'",
    TokenType.LIMIT: _ENDLESS,
    TokenType.FETCH: _ENDLESS,
    TokenType.OFFSET: _ENDLESS,
    TokenType.UNION: _APART,
    TokenType.INTERSECT: _APART,
    TokenType.EXCEPT: _APART,
}
_ENDS = (TokenType.FROM, TokenType.WHERE, TokenType.JOIN, TokenType.WINDOW, None)


def refuse_unavailable(source: Source, words: Sequence[Token]) -> None:
    """QueryError at the first clause that the language does not have."""
    for at, depth in enumerate(depths(words)):
        if depth == 0 and not _is_part_of_name(words, at):
            _refuse(source, words, at)


def _is_part_of_name(words: Sequence[Token], at: int) -> bool:
    """Also of a star that leaves columns out, which is refused where the select list is read."""
    before = words[at - 1].token_type if at else None
    return before in (TokenType.DOT, TokenType.ALIAS, TokenType.STAR)


def _refuse(source: Source, words: Sequence[Token], at: int) -> None:
    word, kind = words[at], words[at].token_type
    if kind in _REASONS:
        raise source.error(f"{word.text.upper()} is not available: {_REASONS[kind]}", span(word))
    following = words[at + 1].token_type if at + 1 < len(words) else None
    if kind in (TokenType.COMMA, TokenType.ON) and following in _ENDS:
        raise source.error(f"something is missing after {word.text.upper()}", span(word))
