"""A compile does a constant amount of work per operation: counted, not timed."""

import gc
import sys
from collections import Counter
from contextlib import nullcontext

import pytest
from xdsl.dialects.builtin import FloatData
from xdsl.ir import Block, Operation, Region, SSAValue, Use

from ttnn_jit import ttnn
from ttnn_jit.codegen.host import host_steps
from ttnn_jit.compiler import driver
from ttnn_jit.compiler.backend import Code
from ttnn_jit.compiler.request import FunctionRequest
from ttnn_jit.specs.options import CompileOptions
from ttnn_jit.specs.target import PRESETS
from ttnn_jit.specs.tensor_spec import DataType, Layout, TensorSpec

IR = (Operation, Region, Block, SSAValue, Use)
SPEC = TensorSpec((32, 64), DataType.FLOAT32, Layout.TILE)


def chain(x, y, count):
    value = x
    for _ in range(count):
        value = ttnn.add(ttnn.multiply(value, y), x)
    return value


def squares(x, y, count):
    """None of its operations fuses with another, because each reads one value twice."""
    value = x
    for _ in range(count):
        value = ttnn.add(ttnn.multiply(value, value), y)
        value = ttnn.subtract(value, value)
    return value


def results(x, y, count):
    """Results that one loop cannot hold: each is live to the end."""
    values = [ttnn.add(x, y)]
    for number in range(count):
        values.append(ttnn.multiply(values[-1], float(number)))
    return values


def separate(x, y, count):
    """Kernels that all read one tensor, and nothing of each other, with a long chain."""
    return chain(x, y, count), *(ttnn.add(x, float(number)) for number in range(count)), *results(x, y, 40)


def request_of(count, target, written):
    """A program of `count` groups of operations."""

    def program(x, y):
        return written(x, y, count)

    return FunctionRequest(program, {"x": SPEC, "y": SPEC}, PRESETS[target], CompileOptions())


def calls_of_a_compile(count, target, written=chain):
    """Function -> the number of its calls while a program of `count` groups of operations was compiled."""
    request = request_of(count, target, written)
    host_steps.forget_loops()
    calls = Counter()

    def count_call(frame, event, _):
        if event == "call":
            calls[frame.f_code] += 1

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        driver.compile_program(request, use_disk=False)
    finally:
        sys.setprofile(before)
    return calls


@pytest.fixture(autouse=True)
def _without_assembly(monkeypatch):
    monkeypatch.setattr(Code, "assembled", lambda code: nullcontext(lambda: dict.fromkeys(code.texts, b"")))


@pytest.mark.parametrize(
    ("target", "written"),
    [("cpu", chain), ("wormhole_b0", chain), ("wormhole_b0", squares), ("cpu", separate)],
)
def test_compile_time_work_grows_linearly_with_the_operations(target, written):
    # One-time work of a process, and of the numbers of the longest program, is done now.
    driver.compile_program(request_of(40, target, written), use_disk=False)
    few, some, many = (sum(calls_of_a_compile(count, target, written).values()) for count in (10, 20, 40))
    assert many - some <= 2.1 * (some - few)


def test_a_constant_is_compared_with_constants_of_its_own_number_alone():
    calls = calls_of_a_compile(20, "cpu", results)
    assert calls[FloatData.__eq__.__code__] <= 20


def ir_left_by_a_compile(count, target, written):
    """The amount of IR that the collector has to free after a compile of `count` groups of operations."""
    request = request_of(count, target, written)
    gc.disable()
    gc.freeze()  # existing objects are not traversed
    try:
        driver.compile_program(request, use_disk=False)
        return sum(issubclass(type(each), IR) for each in gc.get_objects())
    finally:
        gc.enable()


@pytest.mark.parametrize(("target", "written"), [("cpu", chain), ("wormhole_b0", squares)])
def test_a_compile_leaves_no_garbage_that_grows_with_the_program(target, written):
    ir_left_by_a_compile(3, target, written)
    few, many = (ir_left_by_a_compile(count, target, written) for count in (5, 40))
    assert many <= few + 10
