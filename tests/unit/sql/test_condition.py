"""What each conjunct of a condition becomes, as a table a person can check."""

import pyarrow as pa
import pytest

from dovetail.model.expression import UserFunction
from dovetail.model.predicate import Alternatives
from dovetail.sql import bind_condition
from tests.unit.sql.streams import STREAMS


def classified(text: str) -> list[str]:
    """Every predicate and filter of a condition as one line."""
    condition = bind_condition(text, STREAMS, {})
    predicates = [f"{type(predicate).__name__} {predicate}" for predicate in condition.predicates]
    return predicates + [f"{stream}: {expression}" for stream, expression in condition.filters]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("T.location = H.location", ["Equality T.location = H.location"]),
        ("t.n = h.N", ["Equality T.n = H.n"]),
        ('T."odd name" = H.`odd name`', ["Equality T.odd name = H.odd name"]),
        ("T.small = H.n", ["Equality cast(T.small as int64) = H.n"]),
        ("T.n = H.value", ["Equality cast(T.n as double) = H.value"]),
        ("T.single = H.value", ["Equality cast(T.single as double) = H.value"]),
        ("T.u = H.n", ["Equality cast(T.u as decimal128(20, 0)) = cast(H.n as decimal128(20, 0))"]),
        ("T.price = H.n", ["Equality cast(T.price as decimal128(22, 2)) = cast(H.n as decimal128(22, 2))"]),
        ("T.code = H.location", ["Equality cast(T.code as string) = H.location"]),
        ("T.day = H.ts", ["Equality cast(T.day as timestamp[us]) = H.ts"]),
        ("T.n + 1 = H.n", ["Equality add(T.n, 1) = H.n"]),
        ("LOWER(T.location) = UPPER(H.location)", ["Equality lower(T.location) = upper(H.location)"]),
        ("T.ok = H.ok", ["Equality T.ok = H.ok"]),
        ("T.n + H.n = K.n", ["Residual eq(add(T.n, H.n), K.n)"]),
        ("T.n <> H.n", ["Residual ne(T.n, H.n)"]),
    ],
)
def test_equality(text: str, lines: list[str]) -> None:
    assert classified(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "T.n IS NOT DISTINCT FROM H.n",
            ["Equality is_null(T.n) = is_null(H.n)", "Equality coalesce(T.n, 0) = coalesce(H.n, 0)"],
        ),
        (
            "T.location <=> H.location AND T.ok",
            [
                "Equality is_null(T.location) = is_null(H.location)",
                "Equality coalesce(T.location, '') = coalesce(H.location, '')",
                "T: T.ok",
            ],
        ),
        (
            "T.small IS NOT DISTINCT FROM H.n",
            [
                "Equality is_null(T.small) = is_null(H.n)",
                "Equality coalesce(cast(T.small as int64), 0) = coalesce(H.n, 0)",
            ],
        ),
        ("T.n IS NOT DISTINCT FROM T.small", ["T: coalesce({same}, and(is_null(T.n), is_null(T.small)))"]),
        ("T.n IS DISTINCT FROM H.n", ["Residual not(coalesce(eq(T.n, H.n), and(is_null(T.n), is_null(H.n))))"]),
    ],
)
def test_equality_in_which_null_equals_null(text: str, lines: list[str]) -> None:
    same = "eq(T.n, cast(T.small as int64))"
    assert classified(text) == [line.replace("{same}", same) for line in lines]


@pytest.mark.parametrize(
    ("text", "branches"),
    [
        ("T.n = H.n OR T.location = H.location", ["T.n = H.n", "T.location = H.location"]),
        ("T.n = H.n OR H.n = T.small OR T.ok = H.ok", ["T.n = H.n", "H.n = cast(T.small as int64)", "T.ok = H.ok"]),
        ("T.n = H.n AND T.ok OR T.ok = H.ok AND T.n < H.n AND T.n = H.only", ["T.n = H.n", "T.ok = H.ok & ONLY"]),
        ("NOT (T.n <> H.n AND T.ok <> H.ok)", ["T.n = H.n", "T.ok = H.ok"]),
        (
            "T.n = H.n OR T.ok IS NOT DISTINCT FROM H.ok",
            ["T.n = H.n", "is_null(T.ok) = is_null(H.ok) & coalesce(T.ok, False) = coalesce(H.ok, False)"],
        ),
    ],
)
def test_one_of_several_equalities(text: str, branches: list[str]) -> None:
    (predicate,) = bind_condition(text, STREAMS, {}).predicates
    assert isinstance(predicate, Alternatives)
    only = "T.n = cast(H.only as int64)"
    wanted = [branch.replace("ONLY", only) for branch in branches]
    assert [" & ".join(map(str, branch)) for branch in predicate.branches] == wanted


@pytest.mark.parametrize("text", ["T.n = H.n OR T.ok", "T.n = H.n OR T.value < H.value", "T.n = H.n OR H.n = K.n"])
def test_other_disjunctions_are_evaluated(text: str) -> None:
    (line,) = classified(text)
    assert line.startswith("Residual or(")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("T.n < H.n", ["Band T.n - H.n < 0"]),
        ("H.n > T.n", ["Band T.n - H.n < 0"]),
        ("T.n >= H.n", ["Band 0 <= T.n - H.n"]),
        ("ABS(T.n - H.n) <= 2", ["Band -2 <= T.n - H.n <= 2"]),
        ("ABS(H.n - T.n) < 2", ["Band -2 < T.n - H.n < 2"]),
        ("2 >= ABS(T.n - H.n)", ["Band -2 <= T.n - H.n <= 2"]),
        ("ABS(T.n - H.n) <= 1.5", ["Band -1 <= T.n - H.n <= 1"]),
        ("T.n - H.n < 1.5", ["Band T.n - H.n <= 1"]),
        ("T.n - H.n > 1.5", ["Band 2 <= T.n - H.n"]),
        ("ABS(T.n - H.n) > 2", ["Residual gt(abs(subtract(T.n, H.n)), 2)"]),
        ("T.n BETWEEN H.n - 5 AND H.n + (2 * 3)", ["Band -5 <= T.n - H.n <= 6"]),
        ("T.n - H.n BETWEEN 1 AND 5 AND H.n - T.n > -3", ["Band 1 <= T.n - H.n < 3"]),
        ("T.n - H.n = 3", ["Band 3 <= T.n - H.n <= 3"]),
        ("T.n + H.n < 5", ["Band T.n - negate(H.n) < 5"]),
        ("T.small < H.only", ["Band cast(T.small as int64) - cast(H.only as int64) < 0"]),
        ("NOT (T.n < H.n)", ["Band 0 <= T.n - H.n"]),
        ("T.n NOT BETWEEN H.n AND H.n + 1", ["Residual or(lt(T.n, H.n), gt(T.n, add(H.n, 1)))"]),
    ],
)
def test_bands_of_integers(text: str, lines: list[str]) -> None:
    assert classified(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("ABS(T.value - H.value) <= 1.5", ["Band -1.5 <= T.value - H.value <= 1.5"]),
        ("H.value - T.value < 1", ["Band -1.0 < T.value - H.value"]),
        ("T.value < H.value", ["Band T.value - H.value < 0.0"]),
        ("T.value <= H.value + 5", ["Band T.value <= H.value + 5.0"]),
        ("T.value - 5 < H.value", ["Band T.value - 5.0 < H.value"]),
        ("T.value BETWEEN H.value - 1 AND 2 + H.value", ["Band H.value - 1.0 <= T.value <= H.value + 2.0"]),
        ("H.value > T.value - 1 AND H.value <= T.value", ["Band T.value - 1.0 < H.value <= T.value + 0.0"]),
        (
            "T.n BETWEEN H.n - 0.5 AND H.n + 5.5",
            ["Band cast(H.n as double) - 0.5 <= cast(T.n as double) <= cast(H.n as double) + 5.5"],
        ),
        (
            "T.value <= H.value + 1 AND H.value <= T.value + 1",
            ["Band T.value <= H.value + 1.0", "Band H.value <= T.value + 1.0"],
        ),
        ("T.n <= H.value", ["Band cast(T.n as double) - H.value <= 0.0"]),
        ("T.single < H.single", ["Band cast(T.single as double) - cast(H.single as double) < 0.0"]),
        ("NOT (T.value < H.value)", ["Residual not(lt(T.value, H.value))"]),
        ("T.value * H.value < 2", ["Residual lt(multiply(T.value, H.value), 2.0)"]),
    ],
)
def test_bands_of_floats_are_never_moved(text: str, lines: list[str]) -> None:
    assert classified(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("T.ts < H.ts", ["Band epoch_us(T.ts) - epoch_us(H.ts) < 0"]),
        (
            "T.day < H.day",
            ["Band cast(cast(T.day as int32) as int64) - cast(cast(H.day as int32) as int64) < 0"],
        ),
        ("T.ts - H.ts <= INTERVAL '5' SECOND", ["Band epoch_us(T.ts) - epoch_us(H.ts) <= 5000000"]),
        (
            "ABS(T.ts - H.ts) < INTERVAL '5' SECOND",
            ["Band -5000000 < epoch_us(T.ts) - epoch_us(H.ts) < 5000000"],
        ),
        (
            "T.ts BETWEEN H.ts - INTERVAL 1 MINUTE AND H.ts + INTERVAL '2 minutes'",
            ["Band -60000000 <= epoch_us(T.ts) - epoch_us(H.ts) <= 120000000"],
        ),
        ("T.ts - H.ts = INTERVAL '1' DAY", ["Band 86400000000 <= epoch_us(T.ts) - epoch_us(H.ts) <= 86400000000"]),
    ],
)
def test_bands_of_times(text: str, lines: list[str]) -> None:
    assert classified(text) == lines


@pytest.mark.parametrize("text", ["T.u < H.u", "T.u < H.n", "T.price < H.price", "T.location < H.location"])
def test_orders_without_an_index_are_residual(text: str) -> None:
    (line,) = classified(text)
    assert line.startswith("Residual lt(")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("COSINE_SIMILARITY(T.v, H.v) >= 0.9", "Similarity cosine_similarity({T}, {H}) >= 0.9"),
        ("0 < inner_product(H.v, T.v)", "Similarity inner_product({H}, {T}) > 0.0"),
        ("INNER_PRODUCT(T.v, H.v) < 1", "Residual lt(inner_product({T}, {H}), 1.0)"),
        ("INNER_PRODUCT(T.v, H.v) > T.n", "Residual gt(inner_product({T}, {H}), cast(T.n as double))"),
    ],
)
def test_similarity(text: str, line: str) -> None:
    sides = {name: f"cast({name}.v as list<item: double>)" for name in "TH"}
    assert classified(text) == [line.format(**sides)]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("T.value > 40 AND H.value > 80", ["T: gt(T.value, 40.0)", "H: gt(H.value, 80.0)"]),
        ("only = 3", ["H: eq(H.only, 3)"]),
        ("NOT (T.n = 1 OR H.n = 2)", ["T: ne(T.n, 1)", "H: ne(H.n, 2)"]),
        ("T.ok AND NOT H.ok", ["T: T.ok", "H: not(H.ok)"]),
        ("T.n IN (1, 2, NULL)", ["T: in(T.n, 1, 2, NULL)"]),
        ("T.n IN (1, H.n)", ["Residual or(eq(T.n, 1), eq(T.n, H.n))"]),
        ("T.location NOT LIKE 'a%'", ["T: not(like(T.location, 'a%'))"]),
        ("T.n = 1 OR H.n = 2", ["Residual or(eq(T.n, 1), eq(H.n, 2))"]),
        ("T.n IS NOT NULL", ["T: not(is_null(T.n))"]),
        ("T.n / 2 > 1", ["T: gt(divide(cast(T.n as double), 2.0), 1.0)"]),
        ("T.location || 'x' = 'ax'", ["T: eq(concat(T.location, 'x'), 'ax')"]),
        ("CASE WHEN T.ok THEN 1 ELSE 2.5 END > 2", ["T: gt(case(T.ok, 1.0, 2.5), 2.0)"]),
        ("CASE T.n WHEN 1 THEN TRUE END", ["T: case(eq(T.n, 1), True, NULL)"]),
        ("T.n = 1 AND 1 = 1 AND TRUE", ["T: eq(T.n, 1)"]),
        ("1 = 2", ["T: False"]),
        ("NULL", ["T: NULL"]),
    ],
)
def test_filters_and_constants(text: str, lines: list[str]) -> None:
    assert classified(text) == lines


def test_long_conditions_are_no_problem() -> None:
    text = " AND ".join(f"T.n <> {number}" for number in range(2000))
    assert len(bind_condition(text, STREAMS, {}).filters) == 2000


def test_user_functions_come_first_and_in_any_case() -> None:
    near = UserFunction("Near", lambda a, b: a, (pa.float64(), pa.list_(pa.float64())), pa.bool_())
    condition = bind_condition("NEAR(T.n, H.v) AND T.n = 1", STREAMS, {"Near": near})
    (residual,) = condition.predicates
    assert str(residual) == "Near(cast(T.n as double), cast(H.v as list<item: double>))"
    own_abs = UserFunction("abs", lambda a: a, (pa.int64(),), pa.bool_())
    assert bind_condition("ABS(T.n)", STREAMS, {"abs": own_abs}).filters[0][1].user is own_abs  # type: ignore[union-attr]
