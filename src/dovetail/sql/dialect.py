"""The grammar: standard SQL expressions, parsed by sqlglot into its own tree.

The dialect is sqlglot's neutral one with three changes, so that nothing is read in a way a user cannot see:
names may be quoted with backticks as well as double quotes; every function call stays a call by name
(sqlglot would rename many of them and would hide a user's function of the same name); and IS binds less than a
comparison, as in DuckDB and Spark.

    T."odd name" = ABS(H.x)   ->   EQ(Column(T, odd name), Anonymous(ABS, Column(H, x)))
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from sqlglot import Token, TokenType, exp, parse, parser, tokens
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError

from dovetail.errors import QueryError
from dovetail.sql.place import Source, Span

_HEAD = "SELECT\n"
_CONSTANTS = (TokenType.NUMBER, TokenType.STRING)
_ENDS_OF_ITEM = (TokenType.COMMA, TokenType.R_PAREN)


class Dovetail(Dialect):
    """sqlglot's neutral dialect with backticks, with functions by name, and with IS below comparisons."""

    class Tokenizer(tokens.Tokenizer):
        IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`"]
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            **tokens.Tokenizer.KEYWORDS,
            "MATCH_CONDITION": TokenType.MATCH_CONDITION,
        }

    class Parser(parser.Parser):
        FUNCTIONS: ClassVar[dict[str, Any]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Any]] = {
            name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[Any, Any]] = {}
        IS_PREDICATE_PRECEDENCE: ClassVar[parser.IsPredicatePrecedence] = parser.IsPredicatePrecedence.LOW

        def _parse_select_or_expression(self, alias: bool = False) -> exp.Expr | None:
            """An item of a list; a constant between commas is taken as it is, or a long IN would take seconds."""
            if self._curr.token_type in _CONSTANTS and self._next.token_type in _ENDS_OF_ITEM:
                self._advance()
                is_string = self._prev.token_type == TokenType.STRING
                return self.expression(exp.Literal(this=self._prev.text, is_string=is_string), self._prev)
            return super()._parse_select_or_expression(alias)


def parse_items(text: str) -> list[exp.Expr]:
    """The items of a comma list."""
    try:
        statements = parse(_HEAD + text, read=Dovetail)
    except ParseError as error:
        raise QueryError(_parse_message(text, error)) from None
    except SqlglotError:
        raise QueryError(f'cannot read "{text}": a quote or a comment in it is never closed') from None
    except RecursionError:
        raise QueryError(f'cannot read "{shortened(text)}": it is nested too deeply') from None
    return _items(text, statements)


def parse_expression(text: str) -> exp.Expr:
    """The one expression that the text is."""
    items = parse_items(text)
    if len(items) != 1:
        raise QueryError(f'"{shortened(text)}" is {len(items)} expressions; a condition is one (join its parts by AND)')
    if isinstance(items[0], exp.Alias):
        raise QueryError(f'cannot read "{shortened(text)}": "{sql_text(items[0].args["alias"])}" is one word too many')
    return items[0]


def parse_select(source: Source, words: Sequence[Token]) -> exp.Select:
    """The SELECT that the words of a text are."""
    try:
        statements = Dovetail().parser(error_message_context=len(source.text)).parse(list(words), source.text)
    except ParseError as error:
        raise _misread(source, error) from None
    except (SqlglotError, RecursionError):
        raise QueryError("cannot read the query: it is nested too deeply") from None
    only = statements[0] if len(statements) == 1 else None
    if not isinstance(only, exp.Select):
        raise source.error(
            "a query is one SELECT ... FROM ... WHERE ... WINDOW ...", Span(words[0].start, words[0].end + 1)
        )
    return only


def sql_text(node: exp.Expr) -> str:
    """A node as text, for messages and for names."""
    try:
        return shortened(node.sql(Dovetail, normalize_functions=False, comments=False))
    except (RecursionError, SqlglotError, ValueError):
        return type(node).__name__


def shortened(text: str, limit: int = 200) -> str:
    """The text, or its beginning if it is long."""
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def _items(text: str, statements: list[exp.Expr | None]) -> list[exp.Expr]:
    only = statements[0] if len(statements) == 1 else None
    if not isinstance(only, exp.Select):
        raise QueryError(f'"{shortened(text)}" is not an expression')
    extra = [key for key, value in only.args.items() if value and key != "expressions"]
    if extra:
        word = extra[0].strip("_").upper()
        raise QueryError(f'"{shortened(text)}" is more than an expression: {word} has no place in it')
    if not only.expressions:
        raise QueryError("the text is empty; write an expression such as T.location = H.location")
    return list(only.expressions)


def _misread(source: Source, error: ParseError) -> QueryError:
    """With a context as long as the text, what stands before the offending word says where it starts."""
    if not error.errors:
        return QueryError(f"cannot read the query: {error}")
    found = error.errors[0]
    start, near = len(found["start_context"] or ""), found["highlight"] or ""
    return source.error(f"{_reason(found['description'])} near {near}", Span(start, start + len(near)))


def _parse_message(text: str, error: ParseError) -> str:
    if not error.errors:
        return f'cannot read "{shortened(text)}": {error}'
    found = error.errors[0]
    near = found["highlight"] or ""
    line, column = max(found["line"] - 1, 1), max(found["col"] - len(near), 0) + 1
    reason = _reason(found["description"])
    return f'cannot read "{shortened(text)}": {reason} at line {line}, column {column}, near "{near}"'


def _reason(description: str) -> str:
    """The parser's reason without the names of its classes."""
    if description.startswith("Required keyword"):
        return "an operand is missing"
    if description.startswith("Found multiple"):
        return "a clause comes a second time"
    return "unexpected text" if "Unexpected token" in description else description.lower()
