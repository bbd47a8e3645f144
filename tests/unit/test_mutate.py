"""The mistakes that mutation testing makes: each is one change, and each is still a program."""

import ast

from scripts.mutate import _mutated, _places

SOURCE = """
def f(a: int | None, b: int) -> int:
    return a + b * 2 if a < b and b is not None else 0
"""


def test_every_place_is_changed_in_one_way() -> None:
    count = len(list(_places(ast.parse(SOURCE))))
    made = {_mutated(SOURCE, number)[2] for number in range(count)}
    assert made == {
        "a + b * 2 if a < b and b is not None else 0 -> 0 if a < b and b is not None else a + b * 2",
        "a < b and b is not None -> a < b or b is not None",
        "a + b * 2 -> a - b * 2",
        "b * 2 -> b + 2",
        "a < b -> a <= b",
        "b is not None -> b is None",
    }
    assert all(_mutated(SOURCE, number)[1] == 3 for number in range(count))
    assert all(ast.parse(_mutated(SOURCE, number)[0]) for number in range(count))
