"""Which query a snapshot or checkpoint belongs to: a short digest of everything that shapes the state."""

from hashlib import sha256

from dovetail.model.expression import Column, Expression, Literal
from dovetail.model.predicate import Residual
from dovetail.model.query import JoinQuery


def fingerprints(query: JoinQuery) -> tuple[str, str]:
    """Under which a state of this query may be found: as it is written now, and as format 1 (0.1) wrote it."""
    return fingerprint(query), fingerprint(query, named=True)


def fingerprint(query: JoinQuery, named: bool = False) -> str:
    """Equal for queries that can go on from each other's state.

    How results are computed (algorithms, probe orders, partitions) does not enter: state is slices. Nor do the names of
    the result's columns, which rows that wait go without, unless aggregates go by them; format 1 had them (``named``).
    """
    parts: list[object] = [query.how, query.order, query.late]
    for stream in query.streams:
        fields = [(field.name, str(field.type)) for field in stream.schema]
        parts.append((stream.name, fields, stream.time, str(stream.window), stream.delay_us, stream.idle_us))
        parts += [("ahead", stream.ahead_us)] if stream.ahead_us is not None else []
        parts += [stream.asof] if stream.asof is not None else []
        parts += [stream.table] if stream.table is not None else []
        parts += [("offset", stream.asof.offset_us)] if stream.asof is not None and stream.asof.offset_us else []
        parts += [stream.dedup] if stream.dedup is not None else []
    for predicate in query.predicates:
        if isinstance(predicate, Residual):
            parts.append(("residual", _text(predicate.expression)))
        else:
            parts.append((str(predicate), _text(predicate.left), _text(predicate.right)))
    parts += [(name, _text(expression)) for name, expression in query.filters]
    named_select: list[object] = [(output.name, _text(output.expression)) for output in query.select]
    parts += named_select if named else [_text(output.expression) for output in query.select]
    if query.aggregation:
        parts += [] if named else [[output.name for output in query.select]]
        parts.append((query.aggregation.keys, [str(each) for each in query.aggregation.aggregates]))
        parts += [(output.name, _text(output.expression)) for output in query.aggregation.select]
        parts += [] if query.aggregation.having is None else [("having", _text(query.aggregation.having))]
    return sha256(repr(parts).encode()).hexdigest()[:32]


def _text(expression: Expression) -> str:
    if isinstance(expression, Column):
        return f"{expression.stream!r}.{expression.name!r}:{expression.type}"
    if isinstance(expression, Literal):
        return f"{expression.value!r}:{expression.type}"
    name = expression.user.name if expression.user else expression.function
    return f"{name}({', '.join(map(_text, expression.arguments))}):{expression.type}"
