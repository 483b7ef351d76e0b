"""The programs for the shapes of loops: each has the loop of its name."""

from typing import get_args
from unittest import mock

import pytest

from benchmarks.harness.loop_shapes import LOOP_SHAPES
from ttnn_jit.codegen.host import host_program
from ttnn_jit.codegen.schedules.device_exchange import Exchange, RankExchange
from ttnn_jit.codegen.schedules.kernel import Copy, Kernel, LoopNest, Loops, Move
from ttnn_jit.runtime.native import panels

CASES = [(shape, dtype) for shape in LOOP_SHAPES for dtype in shape.dtypes]


@pytest.mark.parametrize(("shape", "dtype"), CASES, ids=[f"{shape.name} {dtype}" for shape, dtype in CASES])
def test_a_program_has_the_loop_that_it_is_named_after(shape, dtype):
    function, tensors = shape.jitted(), shape.tensors(dtype)
    text = function.ir(*tensors, stage="host")
    assert "launch 0" in text
    assert shape.schedule in text


def kind_of_loops(kernel):
    """The kinds of loops of a kernel."""
    match kernel:
        case LoopNest():
            return kernel.loops, bool(kernel.tables)
        case Copy():
            return type(kernel.move)
        case _:
            return type(kernel)


def test_every_kind_of_kernel_has_a_program():
    with mock.patch.object(host_program, "kernel_of", wraps=host_program.kernel_of) as kernel_of:
        for shape in LOOP_SHAPES:
            shape.jitted().ir(*shape.tensors(shape.dtypes[0]), stage="codegen")
    found = {kind_of_loops(call.args[0]) for call in kernel_of.call_args_list}
    nests = {(loops, False) for loops in Loops} | {(Loops.ELEMENTS, True)}
    kinds = set(get_args(Kernel)) - {LoopNest, Copy, Exchange, RankExchange}  # exchanges have no code
    assert found == nests | set(get_args(Move)) | kinds


def test_the_weight_of_the_panel_product_is_packed_while_it_is_timed():
    (shape,) = (each for each in LOOP_SHAPES if each.name == "panel product")
    function, (x, weight) = shape.jitted(), shape.tensors(*shape.dtypes)
    for _ in range(100):
        function(x, weight)
    assert panels.is_packed(weight)
