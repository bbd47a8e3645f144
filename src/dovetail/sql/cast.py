"""CAST, TRY_CAST and ``::``: the names of types, and which casts there are.

CAST(T.text AS BIGINT)   ->   cast(T.text as int64), NULL where a text is no number
DATE '2026-01-31'        ->   that date, at once; CAST('soon' AS DATE) is refused at once
"""

from datetime import datetime

import pyarrow as pa
from sqlglot import exp

from dovetail.errors import QueryError
from dovetail.model.expression import Expression, Literal
from dovetail.sql.build import coerce
from dovetail.sql.dialect import sql_text
from dovetail.sql.literal import time_literal
from dovetail.sql.term import Term, describe
from dovetail.sql.types import is_bytes, is_instant, is_number, is_text

_NAMED = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "UTINYINT": pa.uint8(),
    "USMALLINT": pa.uint16(),
    "UINT": pa.uint32(),
    "UBIGINT": pa.uint64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "CHAR": pa.string(),
    "VARCHAR": pa.string(),
    "TEXT": pa.string(),
    "BINARY": pa.binary(),
    "VARBINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us"),
    "TIMESTAMPNTZ": pa.timestamp("us"),
    "DATETIME": pa.timestamp("us"),
    "TIMESTAMPTZ": pa.timestamp("us", tz="UTC"),
    "TIMESTAMPLTZ": pa.timestamp("us", tz="UTC"),
}


def bind_cast(value: Term, node: exp.Cast) -> Expression:
    """The cast of a bound value to the type that the node names."""
    if node.args.get("default"):
        raise QueryError(f'"{sql_text(node)}": a CAST has no DEFAULT; write COALESCE(TRY_CAST(...), ...)')
    target = _named_type(node.to, node)
    source = value.expression.type
    if not castable(source, target):
        raise QueryError(f'cannot cast {describe(value)} to {target} in "{sql_text(node)}"')
    made = _constant(value.expression, target)
    lost = isinstance(made, Literal) and made.value is None and getattr(value.expression, "value", None) is not None
    if lost and not isinstance(node, exp.TryCast):
        raise QueryError(f'{value.text} is not a {target} in "{sql_text(node)}"')
    return made


def _constant(expression: Expression, target: pa.DataType) -> Expression:
    """Times that are written out are read more freely than a column of texts is."""
    if isinstance(expression, Literal) and isinstance(expression.value, str) and is_instant(target):
        try:
            read = time_literal(expression.value, pa.timestamp("us", tz="UTC"))
        except (ValueError, OverflowError):
            return Literal(None, target)
        if pa.types.is_date(target):
            return Literal(read.value.date(), target)
        return coerce(read, pa.timestamp("us", tz="UTC") if _has_offset(expression.value) else target)
    return coerce(expression, target)


def _has_offset(text: str) -> bool:
    """Whether a written time names an instant of its own, whatever zone it stands in."""
    return datetime.fromisoformat(text.strip()).tzinfo is not None


def castable(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether values of one type can be read as another."""
    if source == target or pa.types.is_null(source):
        return True
    if is_text(source) or is_text(target):
        return not pa.types.is_nested(source) and not pa.types.is_duration(source) and not is_bytes(source)
    if is_number(source) and is_number(target):
        return True
    if is_instant(source) and is_instant(target):
        return True
    booleans = pa.types.is_boolean(source), pa.types.is_boolean(target)
    whole = pa.types.is_integer(target) if booleans[0] else booleans[1] and pa.types.is_integer(source)
    return bool(whole)


def _named_type(named: exp.DataType, node: exp.Expr) -> pa.DataType:
    name = getattr(named.this, "value", str(named.this))
    if name == "DECIMAL":
        return _decimal(named, node)
    if name not in _NAMED or (named.expressions and name not in ("VARCHAR", "CHAR")):
        raise QueryError(f'"{sql_text(node)}": there is no type {sql_text(named)}')
    return _NAMED[name]


def _decimal(named: exp.DataType, node: exp.Expr) -> pa.DataType:
    sizes = [int(size.name) for size in named.expressions if size.name.isdigit()] or [18, 3]
    precision, scale = sizes[0], sizes[1] if len(sizes) > 1 else 0
    if not 1 <= precision <= 38 or scale > precision:
        raise QueryError(f'"{sql_text(node)}": a DECIMAL has 1 to 38 digits, and no more of them after the point')
    return pa.decimal128(precision, scale)
