"""A mistake put into code that is loaded already, so that no test needs to be collected again.

The functions of a module keep their identity and get other code; whoever holds them runs the mistake from then on. That
does not do for what runs while a module is loaded (constants, defaults, decorators): such a mutant needs a new process.
"""

import gc
from types import CodeType, FunctionType

Pairs = list[tuple[CodeType, CodeType]]


def put_into_memory(filename: str, before: str, after: str) -> bool:
    """Replace the code of the functions of a file that differ; whether that is all there is to it."""
    old, new = compile(before, filename, "exec"), compile(after, filename, "exec")
    pairs = _changed(old, new, inside=False)
    if pairs is None:
        return False
    functions = [f for f in gc.get_objects() if type(f) is FunctionType and f.__code__.co_filename == filename]
    for was, now in pairs:
        if was.co_freevars != now.co_freevars:
            return False
        for function in functions:
            if function.__code__ == was:
                function.__code__ = now
    return True


def _changed(old: CodeType, new: CodeType, inside: bool) -> Pairs | None:
    """Code that differs, each with its mutant; None if it runs while the module is loaded."""
    if old == new:
        return []
    olds, news = (_nested(code) for code in (old, new))
    if not inside and (len(olds) != len(news) or _own(old) != _own(new)):
        return None
    pairs: Pairs = [(old, new)] if inside else []
    for was, now in zip(olds, news, strict=False):
        below = _changed(was, now, inside or bool(was.co_flags & 1))  # 1: with fast locals, which is a function
        if below is None:
            return None
        pairs += below
    return pairs


def _nested(code: CodeType) -> list[CodeType]:
    return [each for each in code.co_consts if isinstance(each, CodeType)]


def _own(code: CodeType) -> tuple[object, ...]:
    """What code does by itself, without the functions inside it."""
    values = [repr(each) for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, values, code.co_names
