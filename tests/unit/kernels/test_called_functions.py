"""Functions that numba kernels call are compiled once for all kernels."""

from __future__ import annotations

from ttnn_jit.kernels.numba import scalar_math
from ttnn_jit.kernels.numba.compiled_routine import compiled, written_in_rows

LOAD = "@called\ndef load(element):\n    return {kind}(element)\n"


def load(kind="f64", above="", **names):
    """The function `load` of a separate module."""
    scope = {**vars(scalar_math), **names}
    exec(above + LOAD.format(kind=kind), scope)
    return scope["load"]


def test_functions_of_equal_code_are_compiled_once_wherever_they_are_defined():
    assert load() is load(above="# f32 scalar\n\n")


def test_functions_of_other_code_or_that_call_others_are_other_functions():
    assert len({load(), load("f32"), load("widen"), load("widen", widen=scalar_math.exp)}) == 4


def test_functions_that_define_functions_which_call_others_are_other_functions():
    text = "@called\ndef outer(x):\n    def inner(y):\n        return kind(y)\n    return inner(x)\n"
    made = []
    for kind in (scalar_math.f32, scalar_math.f64):
        scope = {**vars(scalar_math), "kind": kind}
        exec(text, scope)
        made.append(scope["outer"])
    assert made[0] is not made[1]


def test_functions_whose_closures_hold_others_are_other_functions():
    first, second = load(), load("f32")
    called = scalar_math.called
    assert called(written_in_rows(first, second)) is called(written_in_rows(first, second))
    assert called(written_in_rows(first, second)) is not called(written_in_rows(second, first))


def test_a_routine_with_equal_loads_and_stores_is_one_loop():
    assert compiled("topk", load(), load("f32")) is compiled("topk", load(), load("f32"))
    assert compiled("topk", load(), load("f32")) is not compiled("topk", load("f32"), load())
    assert compiled("topk", load(), load("f32")) is not compiled("sort", load(), load("f32"))
