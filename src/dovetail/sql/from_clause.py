"""FROM, JOIN and ON: which streams a query is over, under which names, and how they are joined.

    FROM Temperature T, Humidity H                   inner join of Temperature as T and Humidity as H
    FROM A JOIN B ON A.k = B.k JOIN C ON B.k = C.k   inner join of three
    FROM A LEFT JOIN B ON A.k = B.k                  rows of A without a partner come out too
    FROM A LEFT JOIN B ON ... ANTI JOIN C ON ...     one stream after the other, each by its own ON
    FROM A ASOF JOIN B ON A.k = B.k AND A.t >= B.t   each row of A with the one best row of B

Commas, JOIN, INNER JOIN and CROSS JOIN mean the same for an inner join: all conditions together decide.
"""

from dataclasses import dataclass

from sqlglot import exp

from dovetail.model.asof import Missing
from dovetail.model.how import How
from dovetail.sql.dialect import sql_text
from dovetail.sql.place import Source

_KINDS: dict[tuple[str, str], How] = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("", "CROSS"): "inner",
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
    ("RIGHT", ""): "right",
    ("RIGHT", "OUTER"): "right",
    ("FULL", ""): "full",
    ("FULL", "OUTER"): "full",
    ("LEFT", "SEMI"): "semi",
    ("", "SEMI"): "semi",
    ("LEFT", "ANTI"): "anti",
    ("", "ANTI"): "anti",
}
_ASOF: dict[tuple[str, str], Missing] = {
    ("", ""): "inner",
    ("", "INNER"): "inner",
    ("LEFT", ""): "left",
    ("LEFT", "OUTER"): "left",
}
_SUPPORTED = "there are JOIN, LEFT, RIGHT and FULL JOIN, LEFT SEMI JOIN, LEFT ANTI JOIN and ASOF JOIN"


@dataclass(frozen=True)
class Input:
    """A stream by the name it was declared under, and the name it has in the query."""

    declared: str
    name: str
    node: exp.Expr


@dataclass(frozen=True)
class From:
    """The streams, the kind of join and its words, conditions, whether every combination is asked for by name.

    ``asof``: the streams of which only the best row counts, and what becomes of rows that have none.
    """

    inputs: tuple[Input, ...]
    how: str
    words: str
    conditions: tuple[exp.Expr, ...]
    crossed: bool
    asof: tuple[tuple[str, Missing], ...] = ()
    own: tuple[exp.Expr | None, ...] = ()

    @property
    def stepwise(self) -> bool:
        """Whether each of several streams is joined by its own ON, given in ``own``."""
        return ", " in self.how


def read_from(select: exp.Select, source: Source) -> From:
    """The FROM clause of a query; QueryError points at what is not part of the language."""
    first = select.args.get("from_")
    joins: list[exp.Join] = select.args.get("joins") or []
    if first is None:
        raise source.at("the query has no FROM; it names the streams, as in FROM T, H", select)
    inputs = tuple(_input(node, source) for node in (first.this, *(join.this for join in joins)))
    kinds = [_kind(join, source) for join in joins]
    if len(inputs) > 2 and kinds[0] == "right":  # A RIGHT JOIN B ... is B LEFT JOIN A ...
        inputs, kinds = (inputs[1], inputs[0], *inputs[2:]), ["left", *kinds[1:]]
    outer = [(join, kind) for join, kind in zip(joins, kinds, strict=True) if kind != "inner"]
    for join, _ in outer:
        if not join.args.get("on"):
            raise source.at(f"{_words(join)} needs its condition in ON", join.this)
    asof = {each.name: _missing(join, source) for each, join in zip(inputs[1:], joins, strict=True) if join.method}
    if outer and asof:
        raise source.at(f"{_words(outer[0][0])} and ASOF JOIN in one query are not available", outer[0][0].this)
    how: str = ", ".join(kinds) if outer else "left" if "left" in asof.values() else "inner"
    words = _words(outer[0][0]) if outer else "ASOF LEFT JOIN" if asof else "JOIN"
    conditions = tuple(join.args[part] for join in joins for part in ("match_condition", "on") if join.args.get(part))
    crossed, own = any(join.kind == "CROSS" for join in joins), tuple(join.args.get("on") for join in joins)
    return From(inputs, how, words, conditions, crossed, tuple(asof.items()), own)


def _missing(join: exp.Join, source: Source) -> Missing:
    """What becomes of rows without a best one."""
    if (join.side, join.kind) not in _ASOF:
        words = " ".join(filter(None, (join.side, join.kind, "JOIN")))
        raise source.at(f"ASOF {words} is not available; there are ASOF JOIN and ASOF LEFT JOIN", join.this)
    return _ASOF[join.side, join.kind]


def _input(node: exp.Expr, source: Source) -> Input:
    if not isinstance(node, exp.Table):
        what = "a subquery" if isinstance(node, exp.Subquery) else f'"{sql_text(node)}"'
        raise source.at(f"{what} in FROM is not available: FROM names streams", node)
    alias = node.args.get("alias")
    extra = [key for key, value in node.args.items() if value and key not in ("this", "alias")]
    if extra == ["joins"]:
        raise source.at("each JOIN is followed by its own ON: A JOIN B ON ... JOIN C ON ...", node)
    if extra or not isinstance(node.this, exp.Identifier) or (alias and alias.args.get("columns")):
        raise source.at(f'"{sql_text(node)}" is not the name of a stream; FROM takes stream or stream alias', node)
    return Input(node.name, alias.name if alias else node.name, node)


def _kind(join: exp.Join, source: Source) -> How:
    if join.args.get("using"):
        raise source.at("USING is not available; write ON with both columns, as in ON A.k = B.k", join)
    asof = join.method == "ASOF"
    kind: How | None = "inner" if asof else None if join.method else _KINDS.get((join.side, join.kind))
    known = {"this", "on", "side", "kind", *(("method", "match_condition") if asof else ())}
    if kind is None or any(value and key not in known for key, value in join.args.items()):
        words = " ".join(filter(None, (join.method, join.side, join.kind.removesuffix("_JOIN"), "JOIN")))
        raise source.at(f"{words} is not available; {_SUPPORTED}", join.this)
    return kind


def _words(join: exp.Join) -> str:
    return " ".join(filter(None, (join.side or "LEFT", join.kind.replace("OUTER", ""), "JOIN")))
